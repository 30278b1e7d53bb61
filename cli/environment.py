"""What has to stand before a command works: settings, a writable home, Prefect's variables, logs."""

import atexit
import errno
import gc
import logging
import os
import sys
from collections.abc import MutableMapping
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from models.errors import Code, EnvironmentFault
from models.settings import Settings, load_settings

_LOG_BYTES, _LOG_FILES = 5_000_000, 3
_PACKAGES = ("cli", "flows", "tasks", "db", "models")


def log_path(settings: Settings) -> Path:
    """Where pagemill writes its log."""
    return settings.root / "logs" / "pagemill.log"


def enter(*, needs_home: bool = True, **overrides: Any) -> Settings:
    """Settings from the environment with `overrides`, everything around them prepared.

    Every command calls it first, before it imports what needs Prefect. `needs_home` False: a home that
    cannot be written is not an error yet. Raises ConfigurationError, EnvironmentFault (home-unwritable).
    """
    # Imports make objects by the hundred thousand, which stay: looking through them took a fifth of a start,
    # and looking through all that is left once more as Python ends a quarter of a short command.
    gc.set_threshold(100_000, 50, 100)
    atexit.register(gc.freeze)
    settings = load_settings(**overrides)
    try:
        prepare(settings)
    except EnvironmentFault:
        if needs_home:
            raise
    return settings


def prepare(settings: Settings) -> None:
    """Make the home, tell Prefect its place, open the log. Call before anything imports Prefect.

    Raises EnvironmentFault (home-unwritable).
    """
    set_prefect_variables(settings.root, os.environ)
    make_home(settings.root)
    open_log(log_path(settings))


def make_home(root: Path) -> None:
    """Make the home and its folder for logs. Raises EnvironmentFault (home-unwritable) with a sentence."""
    try:
        (root / "logs").mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(root, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise EnvironmentFault(
            f"The home {root} cannot be written: {error.strerror or error}. Set PAGEMILL_HOME to a folder of "
            "your own.",
            Code.HOME_UNWRITABLE,
        ) from error


def set_prefect_variables(root: Path, environ: MutableMapping[str, str]) -> None:
    """Keep Prefect inside the home, quiet and without telemetry; what is already set stays."""
    environ.setdefault("PREFECT_HOME", str(root / "prefect"))
    environ.setdefault("DO_NOT_TRACK", "1")
    environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    # A server of one's own gets the records of its runs all the same; the terminal shows progress, and a line
    # about what ended a run, where Prefect would show the traceback as well.
    environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "CRITICAL")
    if not environ.get("PREFECT_API_URL"):
        environ.setdefault("PREFECT_LOGGING_LEVEL", "WARNING")


def open_log(path: Path) -> None:
    """Send pagemill's own records to `path` (rotating) and its warnings to the terminal too.

    Raises EnvironmentFault (home-unwritable) when the file cannot be written.
    """
    try:
        file = RotatingFileHandler(
            path, maxBytes=_LOG_BYTES, backupCount=_LOG_FILES, encoding="utf-8", delay=False
        )
    except OSError as error:
        raise EnvironmentFault(
            f"The log {path} cannot be written: {error.strerror}.", Code.HOME_UNWRITABLE
        ) from error
    file.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s %(message)s"))
    terminal = TerminalHandler(logging.WARNING)
    terminal.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    for name in _PACKAGES:
        logger = logging.getLogger(name)
        _close_handlers(logger)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        logger.addHandler(file)
        logger.addHandler(terminal)


class TerminalHandler(logging.Handler):
    """Records on standard error as it is at that moment: a live display puts itself in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record as a line."""
        sys.stderr.write(self.format(record) + "\n")


def _close_handlers(logger: logging.Logger) -> None:
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
