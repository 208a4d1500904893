"""Diagnostics of a run, from class counts, correctness and stated confidences.

:func:`pool` reads off what is needed; each other function makes one table. A number that cannot be had is null, with a
reason beside it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
