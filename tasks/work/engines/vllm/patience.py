"""How long pages wait for a server before they are given up."""

_FORGET_S = 60.0
"""Pages that were given up are tried again within this; then the next ones may wait anew."""


class Patience:
    """Runs while pages wait and no server reads; over after `wait_s` seconds of that.

    Pages that come back at once after having been given up do not wait a second time: their tries would take
    hours.
    """

    def __init__(self, wait_s: float, now: float) -> None:
        self._wait_s, self._since = wait_s, now
        self._ended: float | None = None

    def is_over(self, is_away: bool, waiting: int, now: float) -> bool:
        """Whether what waits is to be given up; `now` in seconds."""
        if not is_away:
            self._since, self._ended = now, None
            return False
        if not waiting:
            if self._ended is None or now - self._ended > _FORGET_S:
                self._since, self._ended = now, None
            return False
        if self._ended is None and now - self._since < self._wait_s:
            return False
        self._ended = now
        return True
