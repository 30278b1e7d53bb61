"""Where exports go: standard output, one file, or a folder with a file for each document."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePath

from cli.boundary import as_environment
from cli.choices import Format
from cli.views import DocumentView, file_name
from models.errors import ConfigurationError, EnvironmentFault
from models.text import clean, printable

_LONGEST_STEM_BYTES = 200


def targets(views: Sequence[DocumentView], kind: Format, output: Path) -> list[Path]:
    """A file for each document: `output` itself for a single one, otherwise a name of its own in that folder.

    Raises ConfigurationError when several documents would go into one file.
    """
    if output.is_dir():
        return [output / name for name in file_names(views, kind)]
    if len(views) == 1:
        return [output]
    if output.exists() or output.suffix:
        raise ConfigurationError(f"{output} is a file; several documents need a folder as --output.")
    return [output / name for name in file_names(views, kind)]


def file_names(views: Sequence[DocumentView], kind: Format) -> list[str]:
    """Names after the sources; documents that share a name get the start of their hash added."""
    stems = [_stem(view) for view in views]
    shared = Counter(stem.casefold() for stem in stems)
    return [
        f"{stem}-{view.document.sha256[:8]}.{kind}" if shared[stem.casefold()] > 1 else f"{stem}.{kind}"
        for stem, view in zip(stems, views, strict=True)
    ]


def write(paths: Sequence[Path], texts: Sequence[str], *, force: bool) -> None:
    """Write all texts, each file whole or not at all.

    Raises ConfigurationError before anything is written when a file is there and `force` is not given, and
    EnvironmentFault where a file cannot be written.
    """
    there = [path for path in paths if os.path.lexists(path)]
    for path in there:
        # Writing over /dev/null would take it away from the whole machine.
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"{printable(str(path))} is no file. Choose another --output.")
    if there and not force:
        name = printable(str(there[0]))
        raise ConfigurationError(f"{name} is there already. Choose another, or overwrite it with --force.")
    for path, text in zip(paths, texts, strict=True):
        try:
            _write(path, text)
        except OSError as error:
            raise as_environment(error) or EnvironmentFault(
                f"{printable(str(path))} cannot be written: {error.strerror}. Choose another --output."
            ) from error


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Of a fixed length: beside a name as long as names can be, the name with an ending would be too long.
    partial = path.with_name(f".pagemill-{os.getpid()}")
    try:
        # Newlines as they are: a form feed or newline counts as one character everywhere.
        partial.write_text(text, "utf-8", newline="\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _stem(view: DocumentView) -> str:
    stem = clean(PurePath(file_name(view.document)).stem).replace("/", "_").lstrip(".")
    return stem.encode()[:_LONGEST_STEM_BYTES].decode(errors="ignore") or view.document.sha256[:12]
