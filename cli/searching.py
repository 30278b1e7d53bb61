"""pagemill search: what the knowledge base says to a question."""

from dataclasses import dataclass, replace
from pathlib import PurePath

import sqlalchemy as sa
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from cli.choices import Mode
from cli.output import console, print_json
from cli.session import connected
from cli.views import picture_path
from db import documents, review, search
from db.engine import has_vectors
from models.errors import ConfigurationError
from models.lexemes import parse
from models.review import Gap
from models.search import Hit, QueryVector
from models.settings import Settings
from models.text import printable
from tasks.work.embedding import open_embedder

_MOST_GAPS = 10
_LONGEST_QUESTION = 2000
"""In characters. A question is matched term by term: a whole page of text would take minutes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A question and its hits, the best first."""

    query: str
    mode: Mode
    """How it was ranked: `text` where hybrid was asked for and the database has no vectors."""
    hits: tuple[Hit, ...]
    gaps: tuple[Gap, ...] = ()
    """Pages of the documents found that could not be read: what stands there nobody knows."""


def show_hits(settings: Settings, query: str, limit: int, mode: Mode, *, as_json: bool) -> None:
    """Print the best hits. Raises ConfigurationError for a question that asks for nothing or is too long."""
    check_question(query)
    with connected(settings) as connection:
        vector = _vector(connection, settings, query) if mode is Mode.HYBRID else None
        hits = search.search(connection, query, vector, limit)
        gaps = review.gaps(connection, {hit.document_id for hit in hits})
        is_empty = not hits and not documents.counts(connection)
    found = tuple(replace(gap, picture=_picture(settings, gap)) for gap in gaps)
    answer = Answer(query, Mode.TEXT if vector is None else Mode.HYBRID, hits, found)
    if as_json:
        print_json(answer)
    elif is_empty:
        console().print("The knowledge base is empty. Try: pagemill ingest FOLDER")
    else:
        print_hits(answer, console())


def check_question(query: str) -> None:
    """Raises ConfigurationError where nothing is asked, or too much, and UnicodeEncodeError for no UTF-8."""
    query.encode()
    if len(query) > _LONGEST_QUESTION:
        raise ConfigurationError(
            f"The question has {len(query):,} characters, at most {_LONGEST_QUESTION:,} are searched for."
            " Take a few of its words."
        )
    if not parse(query).groups:
        raise ConfigurationError("The question holds nothing to look for. Write a word or a number.")


def print_hits(answer: Answer, out: Console) -> None:
    """Name and place on one line, the snippet under it."""
    if not answer.hits:
        out.print("Nothing found.")
    for number, hit in enumerate(answer.hits, start=1):
        out.print(Text.assemble(f"{number:>2}. ", (hit_name(hit), "bold"), f"  {place(hit)}"), soft_wrap=True)
        if hit.headings:
            out.print(Text(f"    {' › '.join(hit.headings)}", style="dim"), soft_wrap=True)
        passage = highlighted(hit, marks=not out.is_terminal)
        if out.is_terminal:
            out.print(Padding.indent(passage, 4))
        else:
            out.print(Text("    ").append(passage), soft_wrap=True)
    for gap in answer.gaps[:_MOST_GAPS]:
        out.print(Text(gap_told(gap), style="dim"), soft_wrap=True)
    if len(answer.gaps) > _MOST_GAPS:
        out.print(Text(f"and {len(answer.gaps) - _MOST_GAPS:,} pages more.", style="dim"))


def gap_told(gap: Gap) -> str:
    """Which page could not be read, why, and where its picture is."""
    code = f" ({gap.code})" if gap.code else ""
    told = f"Document {gap.document_id}, page {gap.page_no} could not be read{code}: "
    return f"{told}{gap.message or 'no reason is known.'} {gap.picture}".rstrip()


def hit_name(hit: Hit) -> str:
    """The document's title with its file name, or the one there is."""
    name = printable(PurePath(hit.source).name) or hit.sha256[:12]
    title = printable(hit.title.strip())
    return f"{title} ({name})" if title else name


def place(hit: Hit) -> str:
    """Document id, page and box of the beginning, in points from the top left of the page."""
    pages = f"page {hit.pages[0]}" if len(hit.pages) == 1 else f"pages {hit.pages[0]}-{hit.pages[-1]}"
    if not hit.boxes:
        return f"document {hit.document_id}, {pages}"
    box = ", ".join(f"{side:.0f}" for side in hit.boxes[0].box)
    return f"document {hit.document_id}, {pages}, box {box}"


def highlighted(hit: Hit, *, marks: bool) -> Text:
    """The snippet with its terms in bold; with `marks`, between ‹ and › for outputs without colours."""
    shown, end = Text(), 0
    for start, stop in hit.highlights:
        shown.append(hit.snippet[end:start])
        term = hit.snippet[start:stop]
        shown.append(f"‹{term}›" if marks else term, style="bold yellow")
        end = stop
    return shown.append(hit.snippet[end:])


def _picture(settings: Settings, gap: Gap) -> str:
    return picture_path(settings, gap.image_sha256, gap.image_suffix)


def _vector(connection: sa.Connection, settings: Settings, query: str) -> QueryVector | None:
    if not settings.vectors or not has_vectors(connection):
        return None
    embedder = open_embedder()
    return QueryVector(embedder.name, tuple(embedder.encode([query])[0]))
