"""Manifests: what a batch found goes through JSON and comes back as what it was."""

import json
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from pydantic import ValidationError

from models.document import DocumentFacts
from models.errors import (
    Code,
    DocumentRejected,
    EngineUnavailable,
    EnvironmentFault,
    PageFailed,
    PagemillError,
    PermanentError,
    SourceGone,
    StoreFull,
    TransientError,
)
from models.geometry import Transform
from models.page import PageImage
from tasks.manifest import Entry, Manifest, Refusal, entries_of, entry_of
from tasks.preprocess import PageImages
from tasks.split import OpenedDocuments
from tasks.work.clock import Timed, timed

FACTS = DocumentFacts(3, is_repaired=True, permissions=-4, title="Über 安", notes=("xfa-form",))
IMAGE = PageImage("ab" * 32, ".jpg", 1000, 1414, Transform.scale(0.595, 0.6), 0.03, is_blank=False)
ERRORS = [
    SourceGone("It is gone."),
    StoreFull("No space."),
    EngineUnavailable("It died.", Code.WORKER_DIED),
    TransientError("Who knows."),
    DocumentRejected("A password.", Code.NEEDS_PASSWORD),
    PageFailed("Too slow.", Code.RENDER_TIMEOUT),
    PermanentError("Broken.", Code.INTERNAL),
    EnvironmentFault("Read-only.", Code.HOME_UNWRITABLE),
]


def there_and_back(error: PagemillError) -> PagemillError:
    return Refusal.model_validate_json(Refusal.of(error).model_dump_json()).error()


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_an_error_keeps_code_message_and_family(error: PagemillError) -> None:
    again = there_and_back(error)
    assert (again.code, again.message) == (error.code, error.message)
    for family in (TransientError, PermanentError, DocumentRejected, EnvironmentFault):
        assert isinstance(again, family) == isinstance(error, family)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.code)
def test_an_error_kept_twice_is_the_same(error: PagemillError) -> None:
    assert Refusal.of(there_and_back(error)) == Refusal.of(error)


def test_a_refusal_of_an_unknown_code_is_refused_itself() -> None:
    with pytest.raises(ValidationError, match="code"):
        Refusal.model_validate({"code": "no-such-code", "message": "", "is_transient": False})


def test_an_entry_with_a_value_gives_it() -> None:
    assert Entry(value=FACTS, seconds=0.5).result() is FACTS


def test_an_entry_with_a_refusal_raises_it() -> None:
    entry = Entry[DocumentFacts](refusal=Refusal.of(DocumentRejected("Cut off.", Code.CORRUPT)))
    with pytest.raises(DocumentRejected, match=r"Cut off\.") as caught:
        entry.result()
    assert caught.value.code is Code.CORRUPT


def test_a_refusal_counts_more_than_a_value() -> None:
    with pytest.raises(PermanentError):
        Entry(value=FACTS, refusal=Refusal.of(PageFailed("No."))).result()


def test_an_entry_with_nothing_is_a_fault_of_the_program_and_not_tried_again() -> None:
    with pytest.raises(PermanentError) as caught:
        Entry[DocumentFacts]().result()
    assert caught.value.code is Code.INTERNAL


def test_a_value_that_is_false_is_a_value() -> None:
    assert Entry[int](value=0).result() == 0


def test_opened_documents_come_back_from_json_as_they_were() -> None:
    kept = OpenedDocuments(entries={"aa": Entry(value=FACTS, seconds=1.25), "bb": _refused()})
    again = OpenedDocuments.model_validate_json(kept.model_dump_json())
    assert again == kept
    assert again.entries["aa"].result() == FACTS
    assert isinstance(again.entries["bb"].refusal, Refusal)


def test_page_images_come_back_from_json_with_their_transform() -> None:
    kept = PageImages(entries={"aa:1:k": Entry(value=IMAGE)})
    again = PageImages.model_validate_json(kept.model_dump_json()).entries["aa:1:k"].result()
    assert again == IMAGE
    assert again.transform.point(1000, 1000) == pytest.approx((595, 600))


def test_a_manifest_of_pages_is_no_manifest_of_documents() -> None:
    pages = PageImages(entries={"aa:1:k": Entry(value=IMAGE)})
    with pytest.raises(ValidationError):
        OpenedDocuments.model_validate_json(pages.model_dump_json())


def test_a_manifest_cannot_be_changed() -> None:
    manifest = Manifest[int](entries={})
    with pytest.raises(ValidationError, match="frozen"):
        manifest.entries = {"a": Entry(value=1)}


def test_a_manifest_holds_neither_words_nor_pixels() -> None:
    kept = json.loads(PageImages(entries={"k": Entry(value=IMAGE)}).model_dump_json())
    assert set(kept["entries"]["k"]["value"]) == set(PageImage.__slots__)
    assert len(json.dumps(kept)) < 600


def test_the_answer_of_a_child_is_a_value_with_its_seconds() -> None:
    with ThreadPoolExecutor(1) as pool:
        entry = entry_of(pool.submit(timed, divmod, 7, 3))
    assert entry.result() == (2, 1)
    assert entry.seconds >= 0


def test_an_error_of_our_tree_is_an_entry() -> None:
    entry = entry_of(_failed(StoreFull("No space.")))
    assert entry.value is None
    with pytest.raises(TransientError, match=r"No space\."):
        entry.result()


def test_an_error_of_nobody_s_tree_is_raised_at_once() -> None:
    with pytest.raises(ZeroDivisionError):
        entry_of(_failed(ZeroDivisionError()))


def _refused() -> Entry[DocumentFacts]:
    return Entry(refusal=Refusal.of(DocumentRejected("A password.", Code.NEEDS_PASSWORD)))


def _failed(error: Exception) -> Future[Timed[int]]:
    future: Future[Timed[int]] = Future()
    future.set_exception(error)
    return future


def test_children_that_are_at_work_when_the_run_is_stopped_are_not_waited_for() -> None:
    never: Future[Timed[int]] = Future()
    refused = Refusal.of(StoreFull("No space."))
    done: Future[Timed[int]] = Future()
    done.set_result(Timed(3, 0.5))
    stopping = threading.Event()
    threading.Timer(0.1, stopping.set).start()
    entries = entries_of({"a": never, "b": refused, "c": done}, stopping)
    assert entries == {"b": Entry(refusal=refused), "c": Entry(value=3, seconds=0.5)}
    assert never.cancelled()
