"""What is scanned how, and what registering a batch of files came to."""

import datetime as dt
from dataclasses import dataclass

from models.document import SourceFile


@dataclass(frozen=True, slots=True)
class ScanRules:
    """How a scan goes about it. The defaults are those of a command that someone waits for."""

    settle_s: float = 0.0
    """Files that were changed less than so long ago are left to the next scan."""
    gone_share: float = 0.5
    """The scan stops where a larger share of a root's known files is gone; 1 lets all go."""
    follows_links: bool = False
    lists_all: bool = True
    """Note each unchanged document and each path passed over with the run; scans that come every few minutes
    only count them."""


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A current name in the ledger, with what the file was like when it was last read or found unchanged."""

    id: int
    document_id: int
    source: SourceFile
    seen_at: dt.datetime
    """By the database's clock."""
    is_refused: bool
    """Its content was refused at first sight."""


@dataclass(frozen=True, slots=True)
class Registered:
    """Document ids of a batch; each document stands in exactly one of the four."""

    new: tuple[int, ...] = ()
    """Content never seen before."""
    known: tuple[int, ...] = ()
    """Content seen before, nothing left to do or work already under way."""
    again: tuple[int, ...] = ()
    """Known content with work to do again: another recipe, a passing failure, a password, a name won back."""
    rejected: tuple[int, ...] = ()
    """Refused at first sight."""

    @property
    def documents(self) -> tuple[int, ...]:
        """All of them, sorted."""
        return tuple(sorted(self.new + self.known + self.again + self.rejected))
