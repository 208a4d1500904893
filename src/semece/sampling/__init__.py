"""What is missing of a run is drawn and stored: settings become a job, and the job's stages ask.

What the other rooms need is here.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
