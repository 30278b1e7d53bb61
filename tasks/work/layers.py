"""Pages of a document with their text layers packed in the child, where they are found."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from models.document import MediaType
from models.layer import SplitPages, pack
from tasks.work import split


def split_packed(
    path: Path, media_type: MediaType, first: int, last: int, passwords: Sequence[str] = ()
) -> SplitPages:
    """As `split_pages`. Hundreds of words a page would take longer through the pipe than to be packed."""
    pages = split.split_pages(path, media_type, first, last, passwords)
    return SplitPages(
        tuple(replace(page, words=()) for page in pages), {page.page_no: pack(page.words) for page in pages}
    )
