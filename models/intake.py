"""What registering a batch of files came to."""

from dataclasses import dataclass


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
