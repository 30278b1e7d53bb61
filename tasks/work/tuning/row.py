"""What was tried and what came of it, a row each."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class State(StrEnum):
    """How a try ended."""

    MEASURED = "measured"
    DIFFERENT = "too-different"
    """The answers are further from the untuned ones than is allowed, or pages failed that did not before."""
    SLOWER = "slower"
    """It was far behind the fastest so far and was not waited for: less than so many pages a second."""
    FAILED = "failed"
    """The server refused the flags, did not start, or went away while it read."""
    KNOWN = "known-to-fail"
    """It failed before, on this machine with these versions: not tried twice."""
    UNSAFE = "unsafe"
    """The profile knows that it breaks something: not tried."""
    NO_TIME = "no-time"
    """The time there was is used up: not tried."""


class Row(BaseModel):
    """One try. Speeds are to be compared with others of the same tuning only."""

    model_config = ConfigDict(frozen=True)

    what: str
    """untuned, a flag as typed, or what the client does."""
    state: State = State.MEASURED
    factor: str = ""
    flags: tuple[str, ...] = ()
    resolution: str = ""
    in_flight: int | None = None
    """Requests at once; None: as the client steers it."""
    pages: int = 0
    failed: int = 0
    seconds: float = 0.0
    pages_per_s: float = 0.0
    """While the server was full."""
    tokens_per_s: float = 0.0
    """Of replies."""
    distance: float = 0.0
    """Share of characters unlike the untuned answers."""
    start_s: float = 0.0
    """What the server's start took; 0 where it ran already."""
    said: str = ""
    """Why it failed or was not tried."""

    @property
    def speed(self) -> str:
        """Pages a second as they are shown."""
        return f"{self.bound}{self.pages_per_s:.3f}"

    @property
    def bound(self) -> str:
        """What stands before its speed where only a bound of it is known."""
        return "< " if self.state is State.SLOWER else ""
