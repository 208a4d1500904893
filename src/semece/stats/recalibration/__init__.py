"""Maps from scores to confidences: fitted, cross-fitted, judged on other questions, kept as JSON."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
