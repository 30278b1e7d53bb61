"""What the client sends for a page, and what it makes of the answer."""

import base64
import io
from concurrent.futures import Future
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest
from PIL import Image

from models.errors import Code, PageFailed, PictureGone
from models.reading import FinishReason, Reading, Trial
from models.vlm import Sampling
from tasks.work.doubles.vllm_server import (
    Asked,
    Model,
    Refused,
    Said,
    ScriptedVllm,
    picture_too_large,
    prompt_too_long,
)
from tasks.work.engines.vllm.picture import load, size_to_send
from tasks.work.engines.vllm.reader import SHRUNK
from tasks.work.engines.vllm.wire import Dialect, answer_of, body_of, reply_room, wish_of
from tests.served import PROFILE, VLM, page, reading


def sent(folder: Path, dialect: Dialect | None = None, **request: Any) -> dict[str, Any]:
    asked = page(folder, **request)
    wish = wish_of(VLM, asked)
    body = body_of(
        VLM, wish, [load(asked)], max_tokens=100, dialect=dialect or Dialect(), priority=asked.priority
    )
    decoded: dict[str, Any] = orjson.loads(body)
    return decoded


def read(server: ScriptedVllm, folder: Path, size: tuple[int, int] = (280, 140), **vlm: Any) -> Reading:
    with reading(server, **vlm) as engine:
        return engine.submit(page(folder, size=size)).result(120)


def test_the_stored_bytes_go_out_as_they_are_and_before_the_text(tmp_path: Path) -> None:
    asked = page(tmp_path)
    image, text = sent(tmp_path)["messages"][0]["content"]
    url = "data:image/png;base64," + base64.b64encode(asked.path.read_bytes()).decode()
    assert image == {"type": "image_url", "image_url": {"url": url}}
    assert text == {"type": "text", "text": "Text Recognition:"}


def test_sampling_is_the_profiles_with_what_the_trial_changes(tmp_path: Path) -> None:
    body = sent(tmp_path, trial=Trial("sampling", temperature=0.3, top_p=0.95))
    assert (body["model"], body["temperature"], body["top_p"]) == ("glm-ocr", 0.3, 0.95)
    assert body["repetition_detection"]["min_count"] == 40
    assert "repetition_penalty" not in body


def test_a_server_that_is_no_vllm_gets_nothing_it_does_not_know(tmp_path: Path) -> None:
    recipe = PROFILE.recipe().model_copy(update={"task": "fields"})
    body = sent(tmp_path, Dialect(is_vllm=False), recipe=recipe, priority=10)
    assert not {"repetition_detection", "structured_outputs", "priority"} & set(body)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_a_schema_is_enforced_and_shown_to_the_model(tmp_path: Path) -> None:
    recipe = PROFILE.recipe().model_copy(update={"task": "fields"})
    body = sent(tmp_path, recipe=recipe)
    assert body["structured_outputs"] == {"json": {"type": "object"}}
    assert body["messages"][0]["content"][1]["text"] == 'Fill in {"type":"object"}'


def test_a_question_is_asked_word_for_word(tmp_path: Path) -> None:
    recipe = PROFILE.recipe().model_copy(update={"task": "ask"})
    body = sent(tmp_path, recipe=recipe, question="What is {schema}?")
    assert body["messages"][0]["content"][1]["text"].startswith("What is ")


def test_priorities_go_only_to_servers_that_know_them(tmp_path: Path) -> None:
    assert "priority" not in sent(tmp_path, priority=10)
    assert sent(tmp_path, Dialect(has_priorities=True), priority=10)["priority"] == 10


def test_a_task_that_the_model_does_not_have_is_refused_by_name(tmp_path: Path) -> None:
    recipe = PROFILE.recipe().model_copy(update={"task": "sing"})
    with pytest.raises(PageFailed, match=r"no task 'sing'. Known: text, ask, fields") as caught:
        wish_of(VLM, page(tmp_path, recipe=recipe))
    assert caught.value.code is Code.OCR_REJECTED


def test_a_reply_may_take_what_picture_and_prompt_leave_of_the_context(tmp_path: Path) -> None:
    asked = page(tmp_path, size=(840, 1120))
    wish = wish_of(VLM, asked)
    assert reply_room(VLM, wish, [load(asked)], 8_192) == 8_192 - 30 * 40 - 64
    short = replace(wish, sampling=Sampling(max_tokens=500))
    assert reply_room(VLM, short, [load(asked)], 8_192) == 500
    assert reply_room(VLM, replace(wish, prompt="x" * 3_000), [load(asked)], 8_192) == 8_192 - 1_200 - 1_000


def test_reply_tokens_fit_the_servers_own_context_when_it_is_smaller(tmp_path: Path) -> None:
    with ScriptedVllm(model=Model(pixels=VLM.pixels, context=600)) as server:
        got = read(server, tmp_path)
        assert server.entries[0].asked.max_tokens == 600 - 64 - 50
    assert got.trial is not None
    assert got.trial.max_tokens == 486


def test_pictures_within_the_limits_are_not_touched(tmp_path: Path) -> None:
    picture = load(page(tmp_path, size=(280, 140)))
    assert size_to_send(picture, VLM, 8_192) == (280, 140)


@pytest.mark.parametrize(
    ("size", "context"), [((2_366, 1_402), 8_192), ((900, 1_100), 1_200), ((5, 3), 8_192)]
)
def test_pictures_beyond_the_limits_are_fitted_before_they_are_sent(
    size: tuple[int, int], context: int, tmp_path: Path
) -> None:
    width, height = size_to_send(load(page(tmp_path, size=size)), VLM, context)
    assert width * height <= VLM.pixels.max_pixels
    assert VLM.pixels.tokens(width, height) <= context - VLM.prompt_tokens - min(512, context // 4)
    assert min(width, height) >= VLM.pixels.grid_px


def test_a_picture_that_was_fitted_keeps_its_place_on_the_page(tmp_path: Path) -> None:
    picture = load(page(tmp_path, size=(400, 200))).resized(200, 100)
    assert picture.transform.point(200, 100) == (200.0, 100.0)
    with Image.open(io.BytesIO(picture.data)) as image:
        assert image.size == (200, 100)


@pytest.mark.slow
def test_an_oversize_page_is_read_and_says_that_it_was_shrunk(tmp_path: Path) -> None:
    with ScriptedVllm(model=Model(pixels=VLM.pixels, context=8_192)) as server:
        got = read(server, tmp_path, (3_000, 2_000))
        assert len(server.entries) == 1
    assert SHRUNK in got.notes
    assert got.trial is not None
    assert got.trial.width_px * got.trial.height_px <= VLM.pixels.max_pixels


@pytest.mark.slow
def test_a_picture_too_large_for_the_encoder_is_sent_once_more_and_smaller(tmp_path: Path) -> None:
    model = Model(pixels=VLM.pixels, context=8_192, encoder_tokens=600)
    sizes: list[int] = []

    def script(asked: Asked) -> Said:
        sizes.append(asked.tokens_in)
        return Said("read")

    with ScriptedVllm(script, model=model) as server:
        got = read(server, tmp_path, (840, 1_120))
    assert got.text == "read"
    assert 400 < sizes[0] <= 612
    assert SHRUNK in got.notes


@pytest.mark.parametrize(
    "refused", [picture_too_large(4_200, 3_721), prompt_too_long(20_000, 8_192)], ids=["encoder", "context"]
)
def test_a_page_that_fits_even_smaller_not_is_never_sent_a_third_time(
    refused: Refused, tmp_path: Path
) -> None:
    with ScriptedVllm(refused) as server, reading(server) as engine:
        with pytest.raises(PageFailed, match="does not fit the model") as caught:
            engine.submit(page(tmp_path)).result(120)
        first, second = (entry.asked.images for entry in server.entries)
    assert caught.value.code is Code.TOO_LARGE
    assert first != second


def test_a_bad_request_is_not_sent_again_and_says_what_the_server_said(tmp_path: Path) -> None:
    with ScriptedVllm(Refused(400, "Failed to load image: torn")) as server, reading(server) as engine:
        with pytest.raises(PageFailed, match="Failed to load image: torn") as caught:
            engine.submit(page(tmp_path)).result(120)
        assert len(server.entries) == 1
    assert caught.value.code is Code.OCR_REJECTED


def test_a_page_image_that_vanished_fails_alone(tmp_path: Path) -> None:
    with ScriptedVllm() as server, reading(server) as engine:
        gone, there = page(tmp_path, 1), page(tmp_path, 2)
        gone.path.unlink()
        futures: list[Future[Reading]] = [engine.submit(gone), engine.submit(there)]
        with pytest.raises(PictureGone, match="missing from the store"):
            futures[0].result(120)
        assert futures[1].result(120).text == "Words on paper"


def test_a_comparison_sends_all_pictures_in_order(tmp_path: Path) -> None:
    other = page(tmp_path, 7)
    recipe = PROFILE.recipe().model_copy(update={"task": "ask"})
    with ScriptedVllm() as server, reading(server) as engine:
        first = page(tmp_path, 1, recipe=recipe, question="Which?", others=(other.path,))
        engine.submit(first).result(120)
        assert server.entries[0].asked.images == (first.image.sha256, other.image.sha256)


def test_everything_about_the_answer_is_kept(tmp_path: Path) -> None:
    with ScriptedVllm(Said("# Title\nbody", logprob=-0.5), model=Model(pixels=VLM.pixels)) as server:
        got = read(server, tmp_path, logprobs=True)
        assert got.server == f"{server.url} vllm 0.32.0"
    assert (got.engine, got.finish_reason) == ("vllm 0.32.0 glm-ocr", FinishReason.STOP)
    assert (got.tokens_in, got.tokens_out) == (62, 3)
    assert got.confidence == pytest.approx(0.6065, abs=1e-3)
    assert got.seconds > 0
    assert got.trial is not None
    assert got.trial.prompt_sha256 == sha256(b"Text Recognition:\0").hexdigest()
    assert (got.trial.rung, got.trial.temperature, got.trial.width_px) == ("first", 0.0, 280)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (Said("<table><tr>", finish="length"), FinishReason.LENGTH),
        (Said("THIS FAR " * 400, finish="repetition"), FinishReason.REPETITION),
        (Said("word " * 20_000), FinishReason.LENGTH),
        (Said(""), FinishReason.STOP),
    ],
    ids=["cut", "loop", "endless", "empty"],
)
def test_how_the_reply_ended_is_told_and_is_no_exception(
    said: Said, reason: FinishReason, tmp_path: Path
) -> None:
    with ScriptedVllm(said) as server:
        assert read(server, tmp_path).finish_reason is reason


def test_a_servers_own_queueing_time_is_taken_where_it_tells_it() -> None:
    message = {"content": "x"}
    reply = {"choices": [{"message": message, "finish_reason": "stop"}], "metrics": {"queue_time_ms": 250.0}}
    answer = answer_of(orjson.dumps(reply))
    assert (answer.queue_s, answer.tokens_in, answer.confidence) == (0.25, None, None)


def test_a_reply_that_was_held_back_is_a_refusal() -> None:
    reply = {"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]}
    with pytest.raises(PageFailed, match="content_filter"):
        answer_of(orjson.dumps(reply))
