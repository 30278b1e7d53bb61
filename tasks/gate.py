"""A gate before a stage: its lanes claim when what is ready is worth a task run."""

import math
import threading
import time

import sqlalchemy as sa

from db import claims
from models.stage import Stage
from tasks.mill import Mill


class Gate:
    """Opens for `worth` pieces of work, when stage `before` can bring no more, or after `most_s` seconds.

    For lanes that are quicker than what brings them work: without it each task run would have a few pages.
    One gate is one run's; lanes pass it one at a time, so that two of them do not share what was gathered.
    """

    def __init__(self, stage: Stage, before: Stage, worth: int, most_s: float) -> None:
        self.worth = worth
        self.lock = threading.Lock()
        """To be held from `opens` until the work is claimed."""
        self._stage, self._before, self._most_s = stage, before, most_s
        self._opened_at = -math.inf

    def opens(self, mill: Mill) -> bool:
        """Whether to claim now."""
        ready, is_coming = mill.database.run(lambda conn: self._counts(conn, mill.profile.name))
        is_time = time.monotonic() - self._opened_at >= self._most_s
        is_open = ready >= self.worth or not is_coming or is_time
        if is_open:
            self._opened_at = time.monotonic()
        return is_open

    def _counts(self, connection: sa.Connection, profile: str) -> tuple[int, bool]:
        ready = claims.outstanding(connection, [self._stage], profile).ready
        return ready, claims.outstanding(connection, [self._before], profile).total > 0
