"""Every error that pagemill raises on purpose, in one tree.

PagemillError
├── ConfigurationError          what was asked for does not exist or contradicts itself  (exit 2)
├── EnvironmentFault            the machine cannot do it: home, disk, database, packages (exit 4)
│   ├── DatabaseUnreachable
│   └── ScanStopped             what is to be scanned is not there, or far less than is known
├── TransientError              trying again later can help
│   ├── SourceBusy              the file changed while it was read
│   ├── SourceGone              the file vanished between listing and reading
│   ├── SourceForbidden         the file may not be read (yet)
│   ├── DatabaseBusy            deadlock, serialization failure, lost connection
│   ├── StoreFull               no space left for page images
│   ├── PictureGone             a page image is not in the store any more
│   └── EngineUnavailable       the OCR engine died or cannot be reached
└── PermanentError              the same input gives the same failure
    ├── DocumentRejected        the whole file cannot be read, with the reason
    └── PageFailed              one page cannot be read; the rest of the document goes on

The code of an error is stable: it is stored, shown, counted and tested. The message is
written for the person who has to act on it.
"""

from enum import StrEnum


class Code(StrEnum):
    """Stable error codes, in the tree's order."""

    CONFIGURATION = "configuration"
    UNKNOWN_PROFILE = "unknown-profile"
    UNKNOWN_RECIPE_KEY = "unknown-recipe-key"
    LICENCE_NOT_ACCEPTED = "licence-not-accepted"
    NOT_FOUND = "not-found"
    OUTPUT_IN_INPUT = "output-in-input"

    ENVIRONMENT = "environment"
    HOME_UNWRITABLE = "home-unwritable"
    PACKAGE_MISSING = "package-missing"
    DATABASE_UNREACHABLE = "database-unreachable"
    DATABASE_OUTDATED = "database-outdated"
    PREFECT_UNREACHABLE = "prefect-unreachable"
    PREFECT_REFUSED = "prefect-refused"
    PREFECT_OUTDATED = "prefect-outdated"
    PORT_IN_USE = "port-in-use"
    ROOT_UNAVAILABLE = "root-unavailable"
    TOO_MANY_GONE = "too-many-gone"

    SOURCE_BUSY = "source-busy"
    IGNORED_UNSETTLED = "ignored-unsettled"
    SOURCE_GONE = "source-gone"
    SOURCE_FORBIDDEN = "source-forbidden"
    DATABASE_BUSY = "database-busy"
    STORE_FULL = "store-full"
    PICTURE_GONE = "picture-gone"
    ENGINE_UNAVAILABLE = "engine-unavailable"
    WORKER_DIED = "worker-died"

    EMPTY = "empty"
    UNSUPPORTED_TYPE = "unsupported-type"
    CORRUPT = "corrupt"
    NEEDS_PASSWORD = "needs-password"  # noqa: S105 (a code, not a secret)
    ZERO_PAGES = "zero-pages"
    TOO_LARGE = "too-large"
    SPLIT_TIMEOUT = "split-timeout"
    SPLIT_CRASH = "split-crash"

    RENDER_TIMEOUT = "render-timeout"
    RENDER_CRASH = "render-crash"
    RENDER_FAILED = "render-failed"
    OCR_TIMEOUT = "ocr-timeout"
    OCR_CRASH = "ocr-crash"
    OCR_FAILED = "ocr-failed"
    OCR_REJECTED = "ocr-rejected"
    QUARANTINED = "quarantined"
    CANCELLED = "cancelled"
    LEDGER_BROKEN = "ledger-broken"
    INTERNAL = "internal"


# Failures that a later scan tries again by itself: their cause lies outside the document.
PASSING = frozenset(
    {
        Code.ENVIRONMENT,
        Code.HOME_UNWRITABLE,
        Code.PACKAGE_MISSING,
        Code.DATABASE_UNREACHABLE,
        Code.SOURCE_BUSY,
        Code.SOURCE_GONE,
        Code.SOURCE_FORBIDDEN,
        Code.DATABASE_BUSY,
        Code.STORE_FULL,
        Code.PICTURE_GONE,
        Code.ENGINE_UNAVAILABLE,
        Code.WORKER_DIED,
    }
)


class PagemillError(Exception):
    """Base of the tree: a stable `code` and a message for the person."""

    default: Code = Code.INTERNAL

    def __init__(self, message: str, code: Code | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default

    def __reduce__(self) -> tuple[type, tuple[str, Code]]:
        """Keep the code when the error crosses a process border."""
        return type(self), (self.message, self.code)


class ConfigurationError(PagemillError):
    """What was asked for does not exist or contradicts itself."""

    default = Code.CONFIGURATION


class EnvironmentFault(PagemillError):
    """The machine cannot do it: home, disk, database, packages."""

    default = Code.ENVIRONMENT


class DatabaseUnreachable(EnvironmentFault):
    """No Postgres answers at the configured place."""

    default = Code.DATABASE_UNREACHABLE


class ScanStopped(EnvironmentFault):
    """A root cannot be listed, or far fewer files are there than are known: nothing was changed."""

    default = Code.ROOT_UNAVAILABLE


class TransientError(PagemillError):
    """Trying again later can help."""


class SourceBusy(TransientError):
    """The file changed while it was read."""

    default = Code.SOURCE_BUSY


class SourceGone(TransientError):
    """The file vanished between listing and reading."""

    default = Code.SOURCE_GONE


class SourceForbidden(TransientError):
    """The file may not be read; it is tried again at the next scan."""

    default = Code.SOURCE_FORBIDDEN


class DatabaseBusy(TransientError):
    """Deadlock, serialization failure, lock timeout or lost connection."""

    default = Code.DATABASE_BUSY


class StoreFull(TransientError):
    """No space left for page images."""

    default = Code.STORE_FULL


class PictureGone(TransientError):
    """A page image was purged, or its disk is away; it is made anew when the page is tried again."""

    default = Code.PICTURE_GONE


class EngineUnavailable(TransientError):
    """The OCR engine died or cannot be reached."""

    default = Code.ENGINE_UNAVAILABLE


class PermanentError(PagemillError):
    """The same input gives the same failure."""


class DocumentRejected(PermanentError):
    """The whole file cannot be read; the code says why."""

    default = Code.CORRUPT


class PageFailed(PermanentError):
    """One page cannot be read; the rest of the document goes on."""

    default = Code.RENDER_FAILED
