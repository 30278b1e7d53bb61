"""The last import of a fork server: what it holds then is for good.

Python's search for garbage writes into every object it looks at, so that each child would soon have a copy of
all of them.
"""

import gc

gc.freeze()
