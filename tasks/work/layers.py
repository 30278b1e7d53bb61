"""Pages of a document with their text layers packed in the child, where they are found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from models.document import MediaType
from models.layer import PackedLayer, pack
from models.page import PageFacts
from tasks.work import split


@dataclass(frozen=True, slots=True)
class SplitPages:
    """Some pages, and their text layers by page number."""

    pages: tuple[PageFacts, ...]
    """Without words."""
    layers: dict[int, PackedLayer]


def split_packed(
    path: Path, media_type: MediaType, first: int, last: int, passwords: Sequence[str] = ()
) -> SplitPages:
    """As `split_pages`. Hundreds of words a page would take longer through the pipe than to be packed."""
    pages = split.split_pages(path, media_type, first, last, passwords)
    return SplitPages(
        tuple(replace(page, words=()) for page in pages), {page.page_no: pack(page.words) for page in pages}
    )
