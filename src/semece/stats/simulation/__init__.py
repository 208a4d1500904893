"""Simulation: populations with known class probabilities, runs drawn from them, and what the theory says of both."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
