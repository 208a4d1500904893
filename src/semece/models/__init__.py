"""Language models behind one protocol, opened by their spelling.

What the other rooms need is here: the protocol, and what the table of services says of a spelling.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
