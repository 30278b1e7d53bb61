"""How tasks are performed: as task runs inside a flow run, as functions outside; what is tried again."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from prefect.cache_policies import NO_CACHE, CacheKeyFnPolicy
from prefect.context import FlowRunContext
from prefect.states import Failed

from flows.lines import load_lines, ocr_lines, split_lines
from models import profiles
from models.document import SourceFile
from models.errors import Code, DatabaseBusy, DocumentRejected, PageFailed, TransientError
from models.stage import STAGE_VERSION, Stage
from tasks.manifest import Entry, Manifest, Refusal
from tasks.mill import Mill
from tasks.ocr import read_pages
from tasks.policies import StageTask, cache_key, is_transient, perform, stage_task
from tasks.preprocess import make_images
from tasks.register import register_batch
from tasks.split import open_documents
from tasks.work.sources import find
from tests import factories
from tests.flows.yard import Yard, saying
from tests.served import until


@contextmanager
def inside_a_flow_run() -> Iterator[None]:
    """As far as batches can tell."""
    with FlowRunContext.model_construct(flow_run=None):
        yield


@stage_task(Stage.OCR)
def double(number: int) -> int:
    """Something small."""
    return 2 * number


def test_outside_a_flow_run_a_task_is_its_function_and_needs_no_server() -> None:
    assert perform(double, 21) == 42


@pytest.mark.parametrize("error", [TransientError("x", Code.STORE_FULL), DatabaseBusy("x")])
def test_a_transient_error_is_worth_another_try(error: Exception) -> None:
    assert is_transient(double, None, Failed(data=error))  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [PageFailed("torn", Code.OCR_FAILED), ValueError("odd")])
def test_any_other_error_is_not_tried_again(error: Exception) -> None:
    assert not is_transient(double, None, Failed(data=error))  # type: ignore[arg-type]


@pytest.mark.parametrize("task", [open_documents, make_images])
def test_pure_batches_are_kept_by_an_explicit_key(task: StageTask[..., object]) -> None:
    policy = task.task.cache_policy
    assert isinstance(policy, CacheKeyFnPolicy)
    assert policy.compute_key(None, {"key": "ours", "mill": 1}, {}) == "ours"  # type: ignore[arg-type]
    assert task.task.persist_result


@pytest.mark.parametrize("task", [read_pages, register_batch, double])
def test_batches_that_write_the_ledger_are_never_taken_from_a_cache(task: StageTask[..., object]) -> None:
    assert task.task.cache_policy is NO_CACHE
    assert not task.task.persist_result


def test_a_key_changes_with_the_stage_s_version(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache_key(Stage.SPLIT, ["content"])
    monkeypatch.setitem(STAGE_VERSION, Stage.SPLIT, STAGE_VERSION[Stage.SPLIT] + 1)
    assert cache_key(Stage.SPLIT, ["content"]) != before


def test_a_key_names_no_path_and_starts_with_its_stage() -> None:
    key = cache_key(Stage.PREPROCESS, ["/home/someone/secret.pdf"])
    assert key.startswith("preprocess-")
    assert "secret" not in key


def test_every_stage_with_work_of_its_own_has_one_line() -> None:
    lines = [*split_lines(), *ocr_lines(profiles.get("ppocr")), *load_lines()]
    assert [line.stage for line in lines] == [stage for stage in Stage if stage is not Stage.REGISTER]


def test_batches_are_larger_where_each_is_a_task_run() -> None:
    plain = ocr_lines(profiles.get("ppocr"))[0].limit
    with inside_a_flow_run():
        recorded = ocr_lines(profiles.get("ppocr"))[0].limit
    assert recorded == 16 * plain


def test_a_thousand_pages_stay_within_the_task_runs_of_one_flow_run() -> None:
    with inside_a_flow_run():
        lines = {line.stage: line.limit for line in (*split_lines(), *ocr_lines(profiles.get("ppocr")))}
    runs = sum(-(-1000 // lines[stage]) for stage in (Stage.SPLIT, Stage.PREPROCESS, Stage.OCR))
    assert runs <= 20


def test_a_mill_without_an_engine_says_so(yard: Yard) -> None:
    mill, _ = yard.mill(saying())
    bare = Mill(settings=yard.settings, database=yard.database, profile=mill.profile, run_id=mill.run_id)
    with pytest.raises(RuntimeError, match="without an OCR engine"):
        _ = bare.engine
    bare.close()
    mill.close()


def test_leases_are_renewed_while_the_body_runs(yard: Yard) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("ONE"))
    yard.settings = yard.settings.model_copy(update={"lease_s": 8.0})
    mill, recipe_id = yard.mill(saying())
    register_batch.fn(mill, [_source(yard)], recipe_id)
    (claim,) = mill.claim(Stage.SPLIT, 1)
    first = yard.rows("claim", id=claim.id)[0].leased_until
    with mill.heartbeat():
        until(lambda: yard.rows("claim", id=claim.id)[0].leased_until > first)
        assert mill.claim(Stage.SPLIT, 1) == []
    mill.close()
    assert [row.status for row in yard.rows("claim")] == ["ready"]


def test_logs_carry_ids_and_codes_and_never_the_text(yard: Yard, caplog: pytest.LogCaptureFixture) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("Confidential words"))
    with caplog.at_level(logging.DEBUG):
        yard.ingest(saying(PageFailed("torn", Code.OCR_FAILED)))
    ours = [r.getMessage() for r in caplog.records if r.name.split(".")[0] in {"tasks", "flows", "db"}]
    assert any("code=ocr-failed" in message for message in ours)
    assert not any("Confidential" in message or "Words on paper" in message for message in ours)


def _source(yard: Yard) -> SourceFile:
    found = next(iter(find([yard.inbox])))
    assert isinstance(found, SourceFile)
    return found


def test_what_an_earlier_run_was_refused_is_asked_for_again() -> None:
    refused = Entry[int](refusal=Refusal.of(DocumentRejected("secret", Code.NEEDS_PASSWORD)))
    assert Manifest[int](entries={"a": Entry(value=1)}, run_id=1).holds_for(2)
    assert Manifest[int](entries={"a": refused}, run_id=1).holds_for(1)
    assert not Manifest[int](entries={"a": Entry(value=1), "b": refused}, run_id=1).holds_for(2)
