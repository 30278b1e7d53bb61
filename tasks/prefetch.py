"""A bound for page images that are made and not read yet: drawing is quicker than reading."""

import math
import threading
import time
from typing import TYPE_CHECKING

from models.stage import Stage

if TYPE_CHECKING:
    from tasks.mill import Mill

_ASK_S = 1.0
_RECENT = 64
"""Page images whose mean size is taken for that of all."""


class Prefetch:
    """How large the page images are that wait to be read. One mill's; in any thread."""

    def __init__(self, most_bytes: float) -> None:
        """`most_bytes`: about so much may wait, over all machines that read for the profile."""
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._asked_at, self._is_full = -math.inf, False
        self._mean = 0.0

    def made(self, size: int) -> None:
        """A page image of so many bytes was put into the store."""
        with self._lock:
            self._mean += (size - self._mean) / _RECENT if self._mean else size

    def is_full(self, mill: "Mill") -> bool:
        """Whether to wait until some of them have been read; the ledger is asked once a second at most."""
        with self._lock:
            now = time.monotonic()
            if self._mean and now >= self._asked_at + _ASK_S:
                self._asked_at = now
                self._is_full = mill.outstanding([Stage.OCR]) * self._mean > self._most_bytes
            return self._is_full
