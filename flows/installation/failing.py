"""How a process of the installation that cannot start says why: in a line of its log."""

import sys
from collections.abc import Callable

from models.errors import PagemillError


def told(main: Callable[[], None]) -> None:
    """Run `main`; an error of ours is a line on standard error and exit code 1."""
    try:
        main()
    except PagemillError as error:
        sys.stderr.write(f"{error.message} ({error.code})\n")
        sys.exit(1)
