"""Which names are nobody's documents: hidden, temporary, or kept by a system for itself."""

import fnmatch

from models.document import ScanProblem

_SYSTEM = {
    "thumbs.db",
    "ehthumbs.db",
    "desktop.ini",
    "__macosx",
    "@eadir",
    "#recycle",
    "#snapshot",
    "$recycle.bin",
    "recycler",
    "lost+found",
    "system volume information",
}
_TEMPORARY = ("~$*", "*.part", "*.partial", "*.crdownload", "*.download", "*.tmp", "*.temp", "*.swp", "*~")

Ignored = tuple[str, str]
"""Code and sentence of a problem."""

SPECIAL: Ignored = ("ignored-special", "This is a device, pipe or socket, not a file.")
OUTPUT: Ignored = ("ignored-output", "This is pagemill's own folder.")
LINK: Ignored = ("ignored-symlink", "Symbolic links are not followed.")
LOOP: Ignored = ("ignored-symlink", "This symbolic link leads to a folder that was listed already.")


def ignored_name(name: str) -> Ignored | None:
    """Why a file or folder with this name is passed over, whatever the case of its letters."""
    lower = name.lower()
    if lower in _SYSTEM:
        return "ignored-system", "The operating system keeps this for itself."
    if lower.startswith("."):
        return "ignored-hidden", "Hidden files and folders are passed over."
    if any(fnmatch.fnmatchcase(lower, pattern) for pattern in _TEMPORARY):
        return "ignored-temporary", "The name says that this is a temporary or unfinished file."
    return None


def passed_over(uri: str, why: Ignored) -> ScanProblem:
    """The problem that stands for what is passed over."""
    return ScanProblem(uri, *why)
