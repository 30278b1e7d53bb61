"""The client against a real vLLM: each architecture, and what the server itself refuses, stops and counts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from models.errors import Code, ConfigurationError, PageFailed
from models.reading import FinishReason, Reading
from models.vlm import RepetitionDetection, Sampling
from tasks.work.engines.vllm import VllmEngine
from tests import served
from tests.served import until
from tests.vllm.profiles import HELD, client, profile_of
from tests.vllm.real import PATIENCE_S, RealVllm

SIZES = [(448, 224), (616, 616), (224, 560), (100, 90), (333, 517)]


@contextmanager
def reading(server: RealVllm, sampling: Sampling = HELD, **vlm: Any) -> Iterator[VllmEngine]:
    engine = client(server, profile_of(server, sampling, **vlm))
    try:
        yield engine
    finally:
        engine.close()


def read(engine: VllmEngine, folder: Path, number: int = 0, **request: Any) -> Reading:
    return engine.submit(served.page(folder, number, **request)).result(PATIENCE_S)


def test_pages_are_read_and_counted_as_we_counted_them(server: RealVllm, tmp_path: Path) -> None:
    with reading(server) as engine:
        got = [read(engine, tmp_path, number, size=size) for number, size in enumerate(SIZES)]
        grid = engine._vlm.pixels
    assert all(one.text.startswith("read as ") and len(one.text) == 16 for one in got)
    assert {one.finish_reason for one in got} == {FinishReason.STOP}
    text = [(one.tokens_in or 0) - grid.tokens(*size) for one, size in zip(got, SIZES, strict=True)]
    assert len(set(text)) == 1, "what is left is the prompt, the same for all"
    assert 0 < text[0] < 96


def test_many_at_once_stay_within_the_slots_and_all_are_read(server: RealVllm, tmp_path: Path) -> None:
    before = server.metric("vllm:request_success_total")
    with reading(server) as engine:
        until(lambda: not engine.waiting_for, PATIENCE_S)
        futures = [engine.submit(served.page(tmp_path, number)) for number in range(24)]
        got = [future.result(PATIENCE_S) for future in futures]
        assert engine.slots <= 8
    assert len(got) == 24
    assert all(one.server.endswith("vllm 0.32.0") for one in got)
    assert server.metric("vllm:request_success_total") - before >= 24


def test_pictures_beyond_the_limits_are_read_after_one_scaling(server: RealVllm, tmp_path: Path) -> None:
    with reading(server) as engine:
        got = read(engine, tmp_path, size=(3_000, 2_200))
    assert got.finish_reason is FinishReason.STOP
    assert got.trial is not None
    assert got.trial.width_px * got.trial.height_px <= 400_000


def test_a_prompt_that_fits_no_context_is_told_as_too_large(glm: RealVllm, tmp_path: Path) -> None:
    recipe = served.PROFILE.recipe().model_copy(update={"task": "ask"})
    with reading(glm) as engine, pytest.raises(PageFailed) as caught:
        read(engine, tmp_path, recipe=recipe, question="word " * 9_000)
    assert caught.value.code is Code.TOO_LARGE


def test_a_sliver_that_the_processor_refuses_is_rejected_not_repeated(glm: RealVllm, tmp_path: Path) -> None:
    refused = glm.metric("http_requests_total")
    with reading(glm) as engine, pytest.raises(PageFailed) as caught:
        read(engine, tmp_path, size=(6_000, 20))
    assert caught.value.code is Code.OCR_REJECTED
    assert glm.metric("http_requests_total") >= refused


def test_a_loop_is_stopped_by_the_server_and_told(server: RealVllm, tmp_path: Path) -> None:
    loops = Sampling(
        max_tokens=800,
        repetition_detection=RepetitionDetection(max_pattern_size=8, min_count=5),
        extra={"structured_outputs": {"regex": "(row ){300}"}},
    )
    with reading(server, loops) as engine:
        got = read(engine, tmp_path)
    assert got.finish_reason is FinishReason.REPETITION
    assert (got.tokens_out or 0) < 800


def test_a_reply_that_is_cut_says_so(server: RealVllm, tmp_path: Path) -> None:
    cut = Sampling(max_tokens=40, repetition_detection=None, extra={"ignore_eos": True})
    with reading(server, cut) as engine:
        got = read(engine, tmp_path)
    assert (got.finish_reason, got.tokens_out) == (FinishReason.LENGTH, 40)


def test_confidence_is_the_servers_own(glm: RealVllm, tmp_path: Path) -> None:
    with reading(glm, logprobs=True) as engine:
        got = read(engine, tmp_path)
    assert got.confidence is not None
    assert 0 <= got.confidence <= 1


def test_a_wrong_name_is_told_with_the_right_one(glm: RealVllm) -> None:
    with pytest.raises(ConfigurationError, match="serves no model 'other' but: glm-ocr"):
        client(glm, profile_of(glm, served_name="other"))


def test_a_cancelled_page_is_aborted_in_the_engine(glm: RealVllm, tmp_path: Path) -> None:
    endless = Sampling(max_tokens=3_000, repetition_detection=None, extra={"ignore_eos": True})
    with reading(glm, endless) as engine:
        future = engine.submit(served.page(tmp_path))
        until(lambda: glm.metric("vllm:num_requests_running{") == 1, PATIENCE_S)
        assert future.cancel()
        until(lambda: glm.metric("vllm:num_requests_running{") == 0, PATIENCE_S)
