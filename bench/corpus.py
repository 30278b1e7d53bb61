"""Does every file of a test corpus end as its manifest says? One ingest over a folder, then a comparison.

    python -m bench.corpus FOLDER [--home DIR] [--recipe KEY=VALUE] [--write docs/corpus.md]

FOLDER holds the documents and `manifest.csv` with at least the columns `file` and `expected`: one or more
outcomes joined by " or ", such as `ok`, `ok (empty text)`, `needs-password`, `rejected:corrupt`. A file is
accepted (`ok`) when it is complete, partial or needs review; then each of its pages must have a reading or a
reason. Without --home a fresh one is made and thrown away.
"""

import argparse
import csv
import datetime as dt
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import arguments

PAGEMILL = str(Path(sys.executable).parent / "pagemill")

ACCEPTED = frozenset({"complete", "needs_review", "partial"})

# The manifest's words for a refusal, in our codes.
CODES: Mapping[str, frozenset[str]] = {
    "not-a-pdf": frozenset({"unsupported-type"}),
    "unreadable": frozenset({"corrupt", "unsupported-type"}),
}

# Read against the files themselves: where the manifest is wrong.
ERRATA: Mapping[str, str] = {
    "img-g4-orientation6.tif": "the manifest calls it empty, but it shows the words 'This is a test file'",
}


@dataclass(frozen=True, slots=True)
class Page:
    """What became of one page."""

    page_no: int
    verdict: str | None
    code: str | None
    has_text: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a file ended. `status` is `missing` for a file that no document came from."""

    file: str
    expected: str
    status: str
    code: str | None = None
    message: str | None = None
    pages: tuple[Page, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether this is one of the outcomes that the manifest allows."""
        return any(_matches(word.strip(), self) for word in self.expected.split(" or "))

    @property
    def lost_pages(self) -> list[int]:
        """Pages of an accepted file that have neither a reading nor a reason."""
        is_accepted = self.status in ACCEPTED
        return [p.page_no for p in self.pages if is_accepted and p.verdict is None and p.code is None]


def _matches(word: str, outcome: Outcome) -> bool:
    if word.startswith("ok"):
        is_empty = not any(page.has_text for page in outcome.pages)
        return outcome.status in ACCEPTED and (is_empty or "empty text" not in word)
    wanted = word.removeprefix("rejected:")
    return outcome.status == "rejected" and outcome.code in CODES.get(wanted, {wanted})


def pagemill(home: Path, *arguments: str) -> Any:
    """What the command prints as JSON. Raises RuntimeError unless it ends with 0 or 3 (incomplete)."""
    command = [PAGEMILL, *arguments, "--json"]
    environment = os.environ | {"PAGEMILL_HOME": str(home)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in {0, 3}:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}")
    return json.loads(done.stdout)


def expectations(folder: Path) -> dict[str, str]:
    """File name to expected outcome, from the manifest."""
    with (folder / "manifest.csv").open(newline="", encoding="utf-8") as file:
        return {row["file"]: row["expected"] for row in csv.DictReader(file)}


def outcomes(folder: Path, home: Path) -> Iterator[Outcome]:
    """How each file of the manifest stands in the knowledge base of `home`, in the manifest's order."""
    documents = {source: one for one in pagemill(home, "status") for source in one["sources"]}
    for name, expected in expectations(folder).items():
        document = documents.get(str((folder / name).absolute()))
        if document is None:
            yield Outcome(name, expected, "missing")
            continue
        pages = _pages(home, document["id"]) if document["status"] in ACCEPTED else ()
        yield Outcome(name, expected, document["status"], document["code"], document["message"], pages)


def _pages(home: Path, document_id: int) -> tuple[Page, ...]:
    shown = pagemill(home, "show", str(document_id))["pages"]
    return tuple(Page(p["page_no"], p["verdict"], p["code"], bool(p["text"].strip())) for p in shown)


def report(found: Sequence[Outcome], seconds: float, command: str) -> str:
    """The comparison as Markdown."""
    wrong = [one for one in found if not one.agrees]
    lost = [f"{one.file} {one.lost_pages}" for one in found if one.lost_pages]
    statuses = Counter(one.status for one in found)
    pages = sum(len(one.pages) for one in found)
    lines = [
        "# How a corpus of real files ends",
        "",
        f"`{command}` on {dt.datetime.now(dt.UTC).date()}: {len(found)} files, the accepted ones of {pages}",
        f"pages, in {seconds / 60:.1f} minutes on a machine of {os.cpu_count()} cores: "
        + ", ".join(f"{count} {status}" for status, count in statuses.most_common())
        + ".",
        "",
        f"- as the manifest expects: {len(found) - len(wrong)} of {len(found)}",
        f"- pages of accepted files with neither a reading nor a reason: {', '.join(lost) or 'none'}",
        *(f"- {name}: {note}" for name, note in ERRATA.items() if name in {one.file for one in found}),
        "",
        "| file | expected | status | code | what pagemill says | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *(_row(one) for one in sorted(found, key=lambda one: one.agrees))]) + "\n"


def _row(one: Outcome) -> str:
    said = (one.message or "").replace("|", "\\|").replace("\n", " ")
    mark = "" if one.agrees else "differs"
    return f"| {one.file} | {one.expected} | {one.status} | {one.code or ''} | {said} | {mark} |"


def measure(folder: Path, home: Path, recipe: Sequence[str]) -> tuple[list[Outcome], float]:
    """Ingest `folder` into `home`; outcomes and wall seconds of the ingest."""
    started = time.monotonic()
    pagemill(home, "ingest", str(folder), *(word for option in recipe for word in ("--recipe", option)))
    seconds = time.monotonic() - started
    return list(outcomes(folder, home)), seconds


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.corpus", description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--home", type=Path, help="PAGEMILL_HOME to use; kept")
    parser.add_argument("--recipe", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--write", type=Path, default=Path("docs/corpus.md"), help="where the report goes")
    return parser.parse_args()


@contextmanager
def _home(given: Path | None) -> Iterator[Path]:
    """The home to use; a fresh one is stopped and removed afterwards."""
    if given:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="pagemill-") as fresh:
        try:
            yield Path(fresh)
        finally:
            subprocess.run([PAGEMILL, "down"], env=os.environ | {"PAGEMILL_HOME": fresh}, check=False)


def main() -> int:
    """0 when all files end as expected, or the manifest is known to be wrong, and no page is lost."""
    arguments = _arguments()
    command = " ".join(["python -m bench.corpus FOLDER", *(f"--recipe {one}" for one in arguments.recipe)])
    with _home(arguments.home) as home:
        found, seconds = measure(arguments.folder, home, arguments.recipe)
    text = report(found, seconds, command)
    arguments.write.write_text(text, encoding="utf-8")
    print(text)
    return int(any(one.lost_pages or (not one.agrees and one.file not in ERRATA) for one in found))


if __name__ == "__main__":
    arguments.run(main)
