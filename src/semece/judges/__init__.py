"""Judges: who groups answers by meaning, and who grades the groups.

What the other rooms need is here: the protocol, the table of judges, and one question before its judges.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
