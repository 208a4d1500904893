"""Figures: each ``plot_*`` draws one table on one axes, and returns the axes.

Nothing is computed here but positions. Colours, sizes and files are in :mod:`semece.show.figures.canvas`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
