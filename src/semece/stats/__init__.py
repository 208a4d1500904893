"""The statistics: pure functions, arrays in, numbers out. Nothing here reads a file, a clock or the network."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
