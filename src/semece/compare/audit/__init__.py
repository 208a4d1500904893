"""People judge some of a run's answers: blinded sheets for them, and what their verdicts say of the judge.

What is audited is the judge's verdict on the answer that would be deployed: the most frequent class, under a tie the
one that was given first, by its most frequent wording. A sheet says nothing of the model, the judge, the confidence or
the order; what it is a sample of is written in every row of it, so no key can be lost.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
