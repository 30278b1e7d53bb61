"""Permissions bind everyone but root: tests of them step down."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NOBODY = 65534


@contextmanager
def as_nobody(folder: Path) -> Iterator[None]:
    """Run as a user without rights where we are root; `folder` can still be reached."""
    if os.geteuid() != 0:
        yield
        return
    for parent in folder.parents:
        if not parent.stat().st_mode & 0o001:
            parent.chmod(0o755)
    folder.chmod(0o755)
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
