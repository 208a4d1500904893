"""Confidence from the class frequencies of a question's responses.

Every function takes the labels of one question positionally, or class counts as ``counts=``: of one question as a
sequence, or of many as :class:`semece.stats.counts.Counts`. Labels are integers from 0, numbered by first appearance;
counts are listed by label.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
