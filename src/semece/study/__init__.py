"""A grid of runs, models x datasets, from one file: read it, price it, do what is missing of it."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
