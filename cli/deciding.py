"""pagemill review accept, retry, edit, ignore: what a person decides, done and told."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from cli.exits import Exit
from cli.output import console, print_json
from cli.words import status_text, verdict_text
from db.engine import open_database
from flows import review as flow
from flows.local import has_server
from models.errors import ConfigurationError
from models.review import Action, Decision, PageRef, Retried, Reviewed
from models.settings import Settings
from models.text import clean, printable
from tasks import review as work
from tasks.backfill import person as this_person


def decision(action: str, person: str, note: str) -> Decision:
    """What is to be done, by whoever that is."""
    return Decision(Action(action), printable(clean(person)).strip() or this_person(), clean(note))


def decide(settings: Settings, pages: Sequence[str], decided: Decision, *, as_json: bool) -> None:
    """Accept or ignore pages. Raises ConfigurationError, as `tasks.review.decide`."""
    refs = [PageRef.parse(page) for page in pages]
    with closing(open_database(settings)) as database:
        done = work.decide(database, settings, refs, decided)
    _tell(done, as_json=as_json)


def edit(settings: Settings, page: str, file: Path, decided: Decision, *, as_json: bool) -> None:
    """Take a person's text for a page. Raises ConfigurationError, as `tasks.review.edit`."""
    ref, is_markdown = PageRef.parse(page), file.suffix.lower() in {".md", ".markdown"}
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file} is no UTF-8 text (byte {error.start}).") from error
    with closing(open_database(settings)) as database:
        done = work.edit(database, settings, ref, text, decided, is_markdown=is_markdown)
    _tell([done], as_json=as_json)


def retry(
    settings: Settings, pages: Sequence[str], decided: Decision, how: Mapping[str, Any], *, as_json: bool
) -> Exit:
    """Read pages again; 3 where one is not shown as it was read now. Raises as `flows.review.retry`."""
    refs = [PageRef.parse(page) for page in pages]
    done = flow.retry(settings, refs, decided, **{**how, "here": how["here"] or not has_server()})
    if as_json:
        print_json(done)
    else:
        print_retried(console(), done)
    return Exit.OK if all(one.is_shown for one in done) else Exit.INCOMPLETE


def print_retried(out: Console, done: Sequence[Retried]) -> None:
    """A line for each page."""
    for one in done:
        if one.verdict is None:
            told = Text(f"{one.message}{f' ({one.code})' if one.code else ''}")
        else:
            told = Text.assemble("read as ", verdict_text(one.verdict))
            told.append(", and shown" if one.is_shown else ", no better: what was shown before stays")
        out.print(Text.assemble((one.page, "bold"), f"  {one.profile}: ", told))


def _tell(done: Sequence[Reviewed], *, as_json: bool) -> None:
    if as_json:
        print_json(done)
        return
    for one in done:
        told = f"{', '.join(one.pages)}: document {one.document_id} is "
        console().print(Text.assemble(told, status_text(one.status)))
