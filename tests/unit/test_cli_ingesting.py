"""What is said while a run goes on."""

from dataclasses import dataclass, field

from cli.ingesting import Watched
from models.progress import Progress
from tests.unit import shown

DONE, UNDER_WAY = shown.progress((1, 1), (2, 2)), shown.progress((1, 1), (1, 2))


@dataclass
class Notes:
    """A display that remembers."""

    shown: list[Progress] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def show(self, progress: Progress) -> None:
        self.shown.append(progress)

    def say(self, text: str) -> None:
        self.said.append(text)

    def close(self) -> None:
        self.said.append("closed")


def watched(*snapshots: Progress) -> Notes:
    notes = Notes()
    watching = Watched(notes)
    for snapshot in snapshots:
        watching.show(snapshot)
    return notes


def test_every_snapshot_is_shown() -> None:
    assert watched(UNDER_WAY, DONE).shown == [UNDER_WAY, DONE]


def test_a_run_that_goes_on_after_its_own_documents_says_why_once() -> None:
    notes = watched(*[DONE] * 30)
    assert notes.said == ["These documents are done; finishing what earlier runs left."]


def test_a_run_that_ends_with_its_documents_says_nothing() -> None:
    assert watched(*[UNDER_WAY] * 30, *[DONE] * 5).said == []


def test_documents_that_appear_late_start_the_wait_anew() -> None:
    assert watched(*[DONE] * 8, UNDER_WAY, *[DONE] * 8).said == []


def test_before_any_document_is_met_nothing_is_done() -> None:
    assert watched(*[shown.progress()] * 30).said == []
