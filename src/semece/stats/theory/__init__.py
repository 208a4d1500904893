r"""Theory: how far sampled confidences are from the truth, and by how much the two estimators differ.

:math:`c^* = \max_k \pi_k` is the oracle confidence of a question with class probabilities :math:`\pi`; ECE* is the
calibration error of :math:`(c^*, a^*)`, the oracle confidence and the correctness of the most probable class.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
