"""Pages become chunks: passages that follow headings, paragraphs and tables."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from models.chunk import Chunk, ChunkBox
from models.geometry import Box
from models.reading import Block, BlockType
from models.text import CJK_SCRIPTS, script_of
from tasks.work.passages import ChunkLimits, cut, fits, pack

_MARGINS = frozenset({BlockType.HEADER, BlockType.FOOTER})
_BREAK = "\n\n"
_ENDS = frozenset(".!?…:;。！？：；।؟۔\"'”’»)」』）")


def chunks_of(
    pages: Iterable[tuple[int, Sequence[Block]]], limits: ChunkLimits | None = None
) -> Iterator[Chunk]:
    """Chunks of a document, from its pages (number, blocks) in order. Holds one chunk in memory at a time.

    Every word of every block stands in exactly one chunk, but for descriptions of pictures, which are left
    out, and the first row of a table, which is repeated where the table is cut. A heading begins a chunk. A
    table has chunks of its own, headers and footers of a page one of kind `margin`.
    """
    chunker = _Chunker(limits or ChunkLimits())
    for page_no, blocks in pages:
        yield from chunker.page(page_no, blocks)
    yield from chunker.flush()


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of a block, as it goes into a chunk."""

    text: str
    type: BlockType
    page_no: int
    box: Box | None
    glue: str = _BREAK
    """What joins it to the part before."""


@dataclass(slots=True)
class _Chunker:
    limits: ChunkLimits
    headings: list[tuple[int, str]] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)
    ordinal: int = 0

    def page(self, page_no: int, blocks: Sequence[Block]) -> Iterator[Chunk]:
        """Take a page in; give the chunks that it completes."""
        shown = [block for block in blocks if block.type is not BlockType.PICTURE and block.text.strip()]
        for block in shown:
            if block.type is BlockType.HEADING:
                yield from self._take_heading(block, page_no)
            elif block.type is BlockType.TABLE:
                yield from self._take_table(block, page_no)
            elif block.type not in _MARGINS:
                yield from self._take_paragraph(block, page_no)
        yield from self._margin([block for block in shown if block.type in _MARGINS], page_no)

    def flush(self) -> Iterator[Chunk]:
        """The passage collected so far, if there is one."""
        if self.parts:
            yield self._chunk(self.parts, "text")
            self.parts = []

    def _take_heading(self, block: Block, page_no: int) -> Iterator[Chunk]:
        level = max(1, block.level)
        is_below = bool(self.headings) and level > self.headings[-1][0]
        if not (self._has_only_headings() and is_below):
            yield from self.flush()
        kept = [heading for heading in self.headings if heading[0] < level]
        self.headings = [*kept, (level, " ".join(block.text.split()))]
        yield from self._take_paragraph(block, page_no)

    def _take_paragraph(self, block: Block, page_no: int) -> Iterator[Chunk]:
        glue = self._glue_to(block, page_no)
        for text in cut(block.text.strip(), self.limits):
            if self.parts and not self._has_room(len(glue) + len(text), runs_on=glue != _BREAK):
                yield from self.flush()
            self.parts.append(_Part(text, block.type, page_no, block.box, glue))
            glue = _BREAK

    def _take_table(self, block: Block, page_no: int) -> Iterator[Chunk]:
        if not self._has_only_headings():
            yield from self.flush()
        above, self.parts = self.parts, []
        for text in table_texts(block.text, self.limits):
            part = _Part(text, block.type, page_no, block.box)
            yield self._chunk([*above, part], "table")
            above = []

    def _margin(self, blocks: Sequence[Block], page_no: int) -> Iterator[Chunk]:
        pieces = (
            _Part(text, block.type, page_no, block.box, "\n")
            for block in blocks
            for text in cut(block.text.strip(), self.limits)
        )
        group: list[_Part] = []
        for piece in pieces:
            if group and _size(group) + 1 + len(piece.text) > self.limits.most:
                yield self._chunk(group, "margin")
                group = []
            group.append(piece)
        if group:
            yield self._chunk(group, "margin")

    def _has_only_headings(self) -> bool:
        return all(part.type is BlockType.HEADING for part in self.parts)

    def _has_room(self, more: int, *, runs_on: bool) -> bool:
        size = _size(self.parts)
        if runs_on or self._has_only_headings():
            return size + more <= self.limits.most
        return fits(size, more, self.limits)

    def _glue_to(self, block: Block, page_no: int) -> str:
        """How `block` is joined: as the rest of a paragraph that runs over the page end, or after a break."""
        if not self.parts or block.type is not BlockType.PARAGRAPH:
            return _BREAK
        last, first = self.parts[-1], block.text.strip()[0]
        is_cut = last.type is BlockType.PARAGRAPH and last.page_no < page_no and last.text[-1] not in _ENDS
        if not is_cut or first.isupper():
            return _BREAK
        is_cjk = {script_of(last.text[-1]), script_of(first)} <= CJK_SCRIPTS
        return "" if is_cjk else " "

    def _chunk(self, parts: Sequence[_Part], kind: str) -> Chunk:
        chunk = Chunk(
            ordinal=self.ordinal,
            text=_joined(parts),
            headings=() if kind == "margin" else tuple(text for _, text in self.headings),
            pages=tuple(sorted({part.page_no for part in parts})),
            boxes=tuple(dict.fromkeys(ChunkBox(p.page_no, p.box) for p in parts if p.box is not None)),
            kind=kind,
        )
        self.ordinal += 1
        return chunk


def table_texts(text: str, limits: ChunkLimits) -> list[str]:
    """A table's text (rows by newlines) in pieces, cut between rows, each with the first row on top.

    A first row longer than a third of a chunk is not repeated; a row longer than a chunk is cut as text is.
    """
    if len(text) <= limits.most:
        return [text.strip("\n")]
    header, *rows = text.strip("\n").split("\n")
    is_repeated = bool(rows) and len(header) * 3 <= limits.most
    room = ChunkLimits(limits.target, limits.most - (len(header) + 1 if is_repeated else 0))
    units = [piece for row in ([] if is_repeated else [header]) + rows for piece in cut(row, room)]
    groups = ["\n".join(group) for group in pack(units, room, glue=1)]
    return [f"{header}\n{group}" for group in groups] if is_repeated else groups


def _joined(parts: Sequence[_Part]) -> str:
    return parts[0].text + "".join(part.glue + part.text for part in parts[1:])


def _size(parts: Sequence[_Part]) -> int:
    return len(_joined(parts)) if parts else 0
