"""Take a document apart into pages: facts only, no pixels. Called in child processes."""

from collections.abc import Sequence
from pathlib import Path

from models.document import DocumentFacts, MediaType
from models.page import PageFacts
from tasks.work import pdf, picture


def open_document(path: Path, media_type: MediaType, passwords: Sequence[str] = ()) -> DocumentFacts:
    """What the file as a whole is. Of a picture the first frame is decoded completely.

    Raises DocumentRejected: corrupt, needs-password (after all `passwords`), zero-pages, too-large;
    SourceGone or SourceForbidden when the file cannot be reached any more.
    """
    if media_type is MediaType.PDF:
        return pdf.document_facts(path, tuple(passwords))
    return picture.document_facts(path, media_type)


def split_pages(
    path: Path, media_type: MediaType, first: int, last: int, passwords: Sequence[str] = ()
) -> tuple[PageFacts, ...]:
    """Geometry and text layer of pages `first` to `last`, counted from 1, both included.

    A page that cannot be read keeps its place with the note `unreadable-page`. Memory grows with the number
    of pages asked for, not with the document. Raises as `open_document` does.
    """
    numbers = range(first, last + 1)
    if media_type is MediaType.PDF:
        return tuple(pdf.page_facts(path, number, tuple(passwords)) for number in numbers)
    return tuple(picture.page_facts(path, media_type, number) for number in numbers)
