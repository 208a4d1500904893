"""The run file: its tables, the texts in it, the keys of its rows.

What the other rooms need is here: the store, where replies belong, and what a judge's procedure finds in it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
