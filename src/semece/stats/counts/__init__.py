"""Class counts of many questions, and the exact combinatorics of choosing a class from a random block.

A block of responses is drawn, the class with most of them is selected, and a tie is broken either uniformly at random
or in favour of the lowest index.

:class:`Counts` holds many questions end to end. :func:`subset_selection`, :func:`subset_maximum` and
:func:`population_selection` treat many questions; :func:`subset_table` and :func:`selection_table` treat one, in plain
numpy, and are what the compiled code is tested against. Functions here trust their arguments;
:mod:`semece.stats.estimators` checks them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
