"""Comparisons: several runs, two judges, a judge and people, limits for continuous integration."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
