"""Calibration for open-ended question answering, from samples alone.

Importing this costs nothing: a name is loaded when it is first used. The theory, the simulations, the diagnostics, the
tables and the figures are modules: ``semece.theory``, ``semece.simulation``, ...
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
