"""How many requests are kept in flight at a server: as many as it can run, and a few that wait."""

from collections import deque

from tasks.work.engines.vllm.sample import Sample

_PATIENCE = 4
"""Samples with too many waiting, in a row, before there are fewer: a server that has just been given a batch
needs some steps to seat it."""

_SEEN = 0.75
"""A server that runs fewer of the open requests has not taken the others in yet: it needs no more."""


class Steering:
    """`limit`: requests that may be open, between `least` and `most`.

    Grows while all are open, the server knows of them and none waits: twofold until the first time one waits,
    by an eighth from then on. Shrinks to what runs and a reserve when more wait than that reserve for long.
    The reserve, an eighth of what runs, is what is seated at once when a request ends, so that no seat is
    ever empty.
    """

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = min(least, most), most
        self.limit = self._least
        self._is_new = True
        self._crowded = 0
        self._ran: deque[int] = deque(maxlen=2 * _PATIENCE)

    def observe(self, sample: Sample, open_now: int) -> bool:
        """Take a sample in, with the requests that are open here; says whether the limit still moves."""
        before = self.limit
        self._ran.append(sample.running)
        if sample.waiting:
            self._is_new = False
        if sample.waiting > self._reserve(sample.running):
            self._crowded += 1
            if self._crowded >= _PATIENCE:
                most_run = max(self._ran)
                self._set(min(self.limit, most_run + self._reserve(most_run)))
        else:
            self._crowded = 0
            is_seen = sample.running >= _SEEN * open_now
            if not sample.waiting and open_now >= self.limit and is_seen:
                self._set(self.limit * 2 if self._is_new else self.limit + self._reserve(self.limit))
        return self.limit != before or self._crowded > 0

    def refused(self) -> None:
        """The server took no more: three quarters of what is open is enough for now."""
        self._is_new = False
        self._set(self.limit * 3 // 4)

    def _set(self, limit: int) -> None:
        self.limit = max(self._least, min(self._most, limit))

    @staticmethod
    def _reserve(running: int) -> int:
        return max(1, running // 8)
