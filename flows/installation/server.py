"""`python -m flows.installation.server HOST PORT`: become the Prefect server of this home.

The database is found, or made, at every start: so a server that is started again finds an embedded Postgres
that somebody has brought back, and a unit of systemd needs nothing but this command.
"""

import os
import sys

from flows.installation.database import VARIABLE, prefect_database
from flows.installation.environment import merged, server_variables
from flows.installation.failing import told
from models.settings import load_settings


def main() -> None:
    """Make the database, then become `prefect server start`."""
    host, port = sys.argv[1:]
    settings = load_settings()
    url = prefect_database(settings, os.environ.get(VARIABLE))
    variables = server_variables(settings.root, url, settings.prefect_auth)
    command = [sys.executable, "-m", "prefect", "server", "start", "--host", host, "--port", port]
    os.execve(sys.executable, command, merged(os.environ, variables))  # noqa: S606


if __name__ == "__main__":
    told(main)
