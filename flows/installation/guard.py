"""`python -m flows.installation.guard`: bring the embedded Postgres up, and last as long as it does.

Kept running, it brings Postgres back after a sudden death. Without it an installation that lost Postgres
would not recover by itself: whoever could revive it waits for a server that has no database.
"""

import os
import sys
from pathlib import Path

from db import embedded, postmaster
from flows.installation.failing import told
from models.errors import EnvironmentFault
from models.settings import load_settings

# As small as a process of Python can be: it only waits.
_WAIT = "import os,select,sys;select.select([os.pidfd_open(int(sys.argv[1]))],[],[])"


def main() -> None:
    """Start Postgres, then become a process that ends when Postgres does."""
    settings = load_settings()
    embedded.start(settings.root, settings.postgres_bin)
    server = postmaster.find_server(Path(settings.root).resolve() / "postgres")
    if server is None:
        raise EnvironmentFault("Postgres ended as soon as it had started.")
    os.execv(sys.executable, [sys.executable, "-I", "-S", "-c", _WAIT, str(server.pid)])  # noqa: S606


if __name__ == "__main__":
    told(main)
