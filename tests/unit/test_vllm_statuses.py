"""What each status and reply of a server means for the page, without a server."""

import math
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import Code, PageFailed
from models.reading import FinishReason
from models.vlm import Sampling, Task
from tasks.work.engines.vllm.faults import Away, Broken, Busy, TooLarge, raise_for, told
from tasks.work.engines.vllm.wire import Dialect, Wish, answer_of, body_of, reply_room
from tests.unit.vlms import vlm

TASK = Task(prompt="Read.", parser="text", about="all text")


def refused(status: int, message: str = "no", param: str = "", **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"error": {"message": message, "param": param}}, headers=headers)


def reply(**choice: Any) -> bytes:
    whole = {"message": {"content": "text"}, "finish_reason": "stop"} | choice
    return orjson.dumps({"choices": [whole], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})


def wish(schema: str = "", **sampling: Any) -> Wish:
    return Wish(TASK, "Read.", schema, Sampling(**sampling))


def body(wanted: Wish, dialect: Dialect, **of_vlm: Any) -> dict[str, Any]:
    decoded: dict[str, Any] = orjson.loads(body_of(vlm(**of_vlm), wanted, [], max_tokens=9, dialect=dialect))
    return decoded


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, Away),
        (403, Away),
        (404, Away),
        (413, TooLarge),
        (429, Busy),
        (500, Broken),
        (502, Broken),
        (503, Busy),
        (504, Broken),
    ],
)
def test_a_status_says_whose_fault_it_is(status: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        raise_for(refused(status))


def test_a_good_answer_raises_nothing() -> None:
    raise_for(httpx.Response(200, content=b"whatever it is"))


@pytest.mark.parametrize("status", [400, 405, 409, 415, 422])
def test_other_refusals_are_the_page_s_and_keep_the_server_s_words(status: int) -> None:
    with pytest.raises(PageFailed, match=f"{status}.*bad picture") as failed:
        raise_for(refused(status, "bad picture"))
    assert failed.value.code is Code.OCR_REJECTED


@pytest.mark.parametrize(
    ("after", "seconds"),
    [("2", 2.0), ("0", 0.1), ("-5", 0.1), ("3600", 60.0), ("soon", 1.0), ("", 1.0), ("inf", 60.0)],
)
def test_the_wait_that_a_busy_server_asks_for_is_kept_within_reason(after: str, seconds: float) -> None:
    with pytest.raises(Busy) as busy:
        raise_for(refused(503, **{"retry-after": after}))
    assert busy.value.after_s == seconds


@pytest.mark.parametrize(
    ("message", "param", "shrink"),
    [
        ("The item with length 4000 exceeds the encoder cache of size 1000", "", 0.25),
        ("max_tokens is too large", "", 1.0),
        ("too many", "max_tokens", 1.0),
        ("too many", "input_tokens", 0.5),
        ("This model's maximum context length is 4096 tokens", "", 0.5),
        ("longer than the maximum model length of 4096", "", 0.5),
        ("prompt exceeds max_model_len", "", 0.5),
    ],
)
def test_refusals_for_size_say_how_much_smaller_to_try(message: str, param: str, shrink: float) -> None:
    with pytest.raises(TooLarge) as large:
        raise_for(refused(400, message, param))
    assert large.value.shrink == shrink


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"error": {"message": "m", "param": "p"}}', ("m", "p")),
        (b'{"error": {"message": "m", "param": null}}', ("m", "")),
        (b'{"error": "m"}', ("m", "")),
        (b'{"error": null}', ("None", "")),
        (b'{"detail": "m"}', ('{"detail": "m"}', "")),
        (b"[1]", ("[1]", "")),
        (b"  <html>bad gateway</html> ", ("<html>bad gateway</html>", "")),
        (b"", ("", "")),
    ],
)
def test_an_error_is_told_whatever_its_shape(content: bytes, found: tuple[str, str]) -> None:
    assert told(httpx.Response(500, content=content)) == found


@given(st.text(max_size=2_000))
def test_no_more_of_an_error_is_repeated_than_a_few_lines(message: str) -> None:
    assert len(told(refused(400, message))[0]) <= 300


@pytest.mark.parametrize(
    ("choice", "finish"),
    [
        ({"finish_reason": "stop"}, FinishReason.STOP),
        ({"finish_reason": "length"}, FinishReason.LENGTH),
        ({"finish_reason": "repetition"}, FinishReason.REPETITION),
        ({"finish_reason": "stop", "stop_reason": "repetition_detected"}, FinishReason.REPETITION),
        ({"finish_reason": "stop", "stop_reason": 151_643}, FinishReason.STOP),
    ],
)
def test_every_regular_end_of_a_reply_is_known(choice: dict[str, Any], finish: FinishReason) -> None:
    assert answer_of(reply(**choice)).finish is finish


@pytest.mark.parametrize("reason", ["abort", "error", None])
def test_a_reply_that_broke_off_is_no_answer(reason: str | None) -> None:
    with pytest.raises(Broken):
        answer_of(reply(finish_reason=reason))


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"7", b"{}", b'{"choices": []}', b'{"choices": null}', b'{"choices": [{}]}'],
)
def test_what_is_no_completion_is_the_server_s_fault(content: bytes) -> None:
    with pytest.raises(Broken):
        answer_of(content)


def test_a_reply_without_words_or_counts_is_an_empty_answer() -> None:
    answer = answer_of(b'{"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}')
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("", None, None)
    assert (answer.confidence, answer.queue_s) == (None, None)


@given(st.lists(st.floats(-20, 0), min_size=1, max_size=30))
def test_confidence_lies_between_the_least_and_the_most_certain_token(logs: list[float]) -> None:
    logprobs = {"content": [{"logprob": value} for value in logs]}
    confidence = answer_of(reply(logprobs=logprobs)).confidence
    assert confidence is not None
    assert math.exp(min(logs)) * 0.999 <= confidence <= math.exp(max(logs)) * 1.001


def test_only_a_vllm_is_told_what_only_a_vllm_knows() -> None:
    wanted = wish(top_k=5, repetition_penalty=1.1, stop=("END",), extra={"min_p": 0.1})
    own, other = body(wanted, Dialect()), body(wanted, Dialect(is_vllm=False))
    known = {"top_k", "repetition_penalty", "repetition_detection", "min_p"}
    assert known <= set(own)
    assert not known & set(other)
    assert own["stop"] == other["stop"] == ["END"]


def test_a_schema_is_put_in_the_words_of_each_server() -> None:
    schema = '{"type":"object"}'
    assert body(wish(schema), Dialect())["structured_outputs"] == {"json": {"type": "object"}}
    other = body(wish(schema), Dialect(is_vllm=False))["response_format"]
    assert other["json_schema"]["schema"] == {"type": "object"}
    assert not {"structured_outputs", "response_format"} & set(body(wish(), Dialect()))


def test_log_probabilities_are_asked_for_only_where_the_profile_wants_them() -> None:
    assert "logprobs" not in body(wish(), Dialect())
    assert body(wish(), Dialect(), logprobs=True)["logprobs"] is True


def test_the_name_of_a_prompt_tells_prompts_and_schemas_apart() -> None:
    assert wish().prompt_sha256 == wish(temperature=0.7).prompt_sha256
    assert wish().prompt_sha256 != wish("{}").prompt_sha256


@given(st.integers(1, 40_000), st.integers(1, 100_000))
def test_a_reply_has_at_least_one_token_and_never_more_than_the_context_leaves(
    wanted: int, context: int
) -> None:
    room = reply_room(vlm(), wish(max_tokens=wanted), [], context)
    assert 1 <= room <= wanted
    assert room == 1 or room + vlm().prompt_tokens <= context
