"""Exit codes: what a shell script learns from `pagemill`."""

from collections.abc import Iterable
from enum import IntEnum

from models.document import DocumentStatus
from models.errors import (
    ConfigurationError,
    EnvironmentFault,
    PagemillError,
    PermanentError,
    TransientError,
)


class Exit(IntEnum):
    """The exit codes. Documented in docs/cli.md and at the end of `pagemill --help`."""

    OK = 0
    INTERNAL = 1
    """A defect of pagemill itself."""
    USAGE = 2
    """What was asked for does not exist or contradicts itself."""
    INCOMPLETE = 3
    """The command did its work; some documents are partial, rejected, failed or could not be read."""
    ENVIRONMENT = 4
    """Home, disk, database, packages, OCR engine, or files that cannot be read now."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it: 128 + SIGINT."""
    PIPE_CLOSED = 141
    """Whoever read the output went away, as `head` does: 128 + SIGPIPE."""


MEANINGS: dict[Exit, str] = {
    Exit.OK: "all well; documents that need review count as well",
    Exit.INTERNAL: "internal error",
    Exit.USAGE: "wrong usage or configuration: unknown profile, recipe key or document",
    Exit.INCOMPLETE: "some documents are partial, rejected or failed, or files were not read",
    Exit.ENVIRONMENT: "the machine cannot do it: home, disk, database, packages",
    Exit.INTERRUPTED: "interrupted",
    Exit.PIPE_CLOSED: "whoever read the output went away, as 'head' does",
}

INCOMPLETE_STATUSES = frozenset(
    {DocumentStatus.PENDING, DocumentStatus.PARTIAL, DocumentStatus.REJECTED, DocumentStatus.FAILED}
)

_FAMILIES: tuple[tuple[type[PagemillError], Exit], ...] = (
    (ConfigurationError, Exit.USAGE),
    (EnvironmentFault, Exit.ENVIRONMENT),
    (TransientError, Exit.ENVIRONMENT),
    (PermanentError, Exit.INCOMPLETE),
)


def exit_of_error(error: PagemillError) -> Exit:
    """The exit code of an error that ended a command."""
    return next((code for family, code in _FAMILIES if isinstance(error, family)), Exit.INTERNAL)


def exit_of_documents(statuses: Iterable[DocumentStatus]) -> Exit:
    """0 when every document is in the knowledge base as a whole, 3 otherwise."""
    return Exit.INCOMPLETE if INCOMPLETE_STATUSES.intersection(statuses) else Exit.OK
