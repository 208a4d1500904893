r"""What a judge's errors do to the numbers, put right by people who judged some of the answers.

A judge says :math:`f_i` of every question, people say :math:`y_i` of some. The judge's mean over all questions is
moved by the weighted mean of the differences :math:`d_i = y_i - f_i` over the audited ones (prediction-powered
inference):

.. math:: \hat\theta = \frac1N \sum_{i=1}^N f_i + \sum_h \frac{N_h}{N} \frac1{m_h} \sum_{i \in S_h} d_i

with :math:`m_h` of the :math:`N_h` questions of stratum h audited, each with probability :math:`m_h / N_h`. It is
unbiased however wrong the judge is. The residual of each bin is corrected alike. Uncertainty has two parts: the
questions could have been others, and so could the audited among them; the second vanishes when all are audited.

Source: Angelopoulos, Bates, Fannjiang, Jordan & Zrnic (2023), Prediction-powered inference; the strata and their finite
size as in Cochran (1977), Sampling techniques.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
