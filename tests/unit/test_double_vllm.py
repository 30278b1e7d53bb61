"""The scripted server answers as it was told, in vLLM's words."""

import base64
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from typing import Any

import httpx
import pytest

from models.vlm import Pixels
from tasks.work.doubles.vllm_server import (
    Asked,
    Drops,
    Hangs,
    Kills,
    Model,
    Mood,
    Refused,
    Said,
    ScriptedVllm,
    bad_request,
    overloaded,
    server_error,
)
from tests import factories
from tests.served import until

GRID = Pixels(patch_px=14, min_pixels=12_544, max_pixels=1_000_000)
PNG = factories.picture_bytes(factories.picture(size=(560, 280)))
OTHER = factories.picture_bytes(factories.picture("Another", size=(560, 280)))


def body(picture: bytes = PNG, **options: Any) -> dict[str, Any]:
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    content = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": "Text Recognition:"},
    ]
    return {"model": "glm-ocr", "messages": [{"role": "user", "content": content}]} | options


def ask(
    server: ScriptedVllm, picture: bytes = PNG, patience_s: float = 120.0, **options: Any
) -> httpx.Response:
    # Certificates are not needed here, and loading them takes longer than the request.
    url, timeout = f"{server.url}/v1/chat/completions", httpx.Timeout(120.0, read=patience_s)
    return httpx.post(url, json=body(picture, **options), timeout=timeout, verify=False)


@contextmanager
def asking(server: ScriptedVllm, **options: Any) -> Iterator[None]:
    """A request that the server has taken in; whoever made it goes away at the end."""
    content = json.dumps(body(**options)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: here\r\nContent-Length: {len(content)}\r\n\r\n"
    before = server.open
    with socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))) as line:
        line.sendall(head.encode() + content)
        until(lambda: server.open > before)
        yield


def said(answer: httpx.Response) -> str:
    text: str = answer.json()["choices"][0]["message"]["content"]
    return text


def is_up(server: ScriptedVllm) -> bool:
    try:
        return httpx.get(f"{server.url}/health").is_success
    except httpx.TransportError:
        return False


def metric(server: ScriptedVllm, name: str) -> float:
    text = httpx.get(f"{server.url}/metrics").text
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def test_a_sequence_is_answered_in_order_and_then_by_default() -> None:
    with ScriptedVllm([Said("one"), Said("two")], default=Said("more")) as server:
        assert [said(ask(server)) for _ in range(4)] == ["one", "two", "more", "more"]
        assert [entry.asked.number for entry in server.entries] == [1, 2, 3, 4]


def test_pictures_are_answered_by_their_content() -> None:
    script = {sha256(PNG).hexdigest(): [server_error(), Said("second try")]}
    with ScriptedVllm(script, default=Said("other")) as server:
        assert ask(server).status_code == 500
        assert said(ask(server, OTHER)) == "other"
        assert said(ask(server)) == said(ask(server)) == "second try"


def test_a_function_answers_what_it_likes() -> None:
    def script(asked: Asked) -> Said:
        return Said(f"{asked.prompt} {asked.body['temperature']} {len(asked.images)}")

    with ScriptedVllm(script) as server:
        assert said(ask(server, temperature=0.3)) == "Text Recognition: 0.3 1"


def test_a_reply_has_usage_finish_reason_and_log_probabilities_where_asked() -> None:
    with ScriptedVllm(Said("12345678", logprob=-0.5), model=Model(pixels=GRID)) as server:
        plain, rich = ask(server).json(), ask(server, logprobs=True).json()
    assert plain["usage"] == {"prompt_tokens": 212, "total_tokens": 214, "completion_tokens": 2}
    assert (plain["choices"][0]["finish_reason"], plain["choices"][0]["logprobs"]) == ("stop", None)
    assert [one["logprob"] for one in rich["choices"][0]["logprobs"]["content"]] == [-0.5, -0.5]


def test_a_reply_longer_than_asked_for_is_cut() -> None:
    with ScriptedVllm(Said("word" * 100)) as server:
        answer = ask(server, max_tokens=30).json()
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 30


def test_a_loop_that_the_server_stopped_says_so() -> None:
    with ScriptedVllm(Said("row " * 90, finish="repetition")) as server:
        choice = ask(server).json()["choices"][0]
        assert metric(server, 'vllm:request_success_total{engine="0",model_name="glm-ocr",finished') == 1
    assert (choice["finish_reason"], choice["stop_reason"]) == ("repetition", "repetition_detected")


def test_a_stream_ends_with_finish_reason_usage_and_done() -> None:
    with ScriptedVllm(Said("a text of more than sixteen characters")) as server:
        answer = ask(server, stream=True, stream_options={"include_usage": True})
    events = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    assert events[-1] == "[DONE]"
    assert '"usage":{' in events[-2]
    assert '"finish_reason":"stop"' in events[-3]


@pytest.mark.parametrize(
    ("options", "status", "kind", "told"),
    [
        ({"model": "gpt"}, 404, "NotFoundError", "The model `gpt` does not exist."),
        ({"max_tokens": 17_000}, 400, "BadRequestError", "maximum context length is 16384"),
        ({"priority": 5}, 400, "BadRequestError", "Priority scheduling is not enabled"),
        ({"messages": [{"content": [{"type": "image_url"}]}]}, 400, "BadRequestError", "image"),
    ],
)
def test_faulty_requests_are_refused_as_vllm_does(
    options: dict[str, Any], status: int, kind: str, told: str
) -> None:
    with ScriptedVllm() as server:
        answer = ask(server, **options)
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)
    assert told in answer.json()["error"]["message"]


def test_pictures_are_measured_by_the_models_grid() -> None:
    small = Model(pixels=GRID, context=2048, encoder_tokens=199)
    with ScriptedVllm(model=small) as server:
        assert "image item with length 200" in ask(server).json()["error"]["message"]
        assert ask(server, b"no picture").status_code == 400
    with ScriptedVllm(model=Model(pixels=GRID, context=100)) as server:
        assert ask(server).json()["error"]["param"] == "input_tokens"


def test_a_key_guards_v1_and_nothing_else() -> None:
    with ScriptedVllm(model=Model(api_key="secret")) as server:
        assert ask(server).json() == {"error": "Unauthorized"}
        assert httpx.get(f"{server.url}/v1/models").status_code == 401
        assert [httpx.get(f"{server.url}/{path}").status_code for path in ("health", "metrics")] == [200, 200]
        keyed = httpx.get(f"{server.url}/v1/models", headers={"Authorization": "Bearer secret"}).json()
    assert (keyed["data"][0]["id"], keyed["data"][0]["max_model_len"]) == ("glm-ocr", 16_384)


def test_scripted_refusals_have_their_status_and_no_retry_after() -> None:
    with ScriptedVllm([bad_request("torn", "x"), overloaded(), Refused(418, "tea")]) as server:
        answers = [ask(server) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [400, 503, 418]
    assert "retry-after" not in answers[1].headers


def test_requests_beyond_the_seats_wait_and_are_counted() -> None:
    with ScriptedVllm(Hangs(), slots=2) as server, ExitStack() as first, ExitStack() as others:
        first.enter_context(asking(server))
        for _ in range(4):
            others.enter_context(asking(server))
        assert metric(server, "vllm:num_requests_running") == 2
        assert metric(server, "vllm:num_requests_waiting") == 3
        first.close()
        until(lambda: metric(server, "vllm:num_requests_waiting") == 2)
        assert metric(server, "vllm:num_requests_running") == 2
        assert metric(server, "vllm:request_queue_time_seconds_count") == 3
        assert metric(server, "vllm:request_queue_time_seconds_sum") > 0
        assert server.most_open == 5


def test_a_full_queue_refuses() -> None:
    with ScriptedVllm(Hangs(), slots=1, model=Model(queue=1)) as server, asking(server):
        assert ask(server).status_code == 503
        assert metric(server, "vllm:admission_rejections_total") == 1


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_away_frees_its_seat(stream: bool) -> None:
    with ScriptedVllm([Said("slow" * 40, seconds=600)]) as server:
        with asking(server, stream=stream):
            pass
        until(lambda: server.aborted == 1)
        until(lambda: server.open == 0)


@pytest.mark.parametrize("stream", [False, True])
def test_what_was_made_of_a_reply_stays_counted_when_its_client_goes_away(stream: bool) -> None:
    made = "vllm:generation_tokens_total"
    with ScriptedVllm([Said("slow" * 40, tokens=100_000, seconds=100)]) as server:
        with asking(server, stream=stream):
            until(lambda: metric(server, made) > 0)
            before = metric(server, made)
        until(lambda: server.aborted == 1)
        after = metric(server, made)
        assert before <= after < 100_000
        assert said(ask(server)) == "Words on paper"
        assert metric(server, made) == after + 3


def test_a_wedged_engine_makes_no_tokens_and_loses_none() -> None:
    made = "vllm:generation_tokens_total"
    with ScriptedVllm([Said("slow", tokens=100_000, seconds=100)]) as server, asking(server):
        until(lambda: metric(server, made) > 0)
        server.feel(Mood.WEDGED)
        before = metric(server, made)
        assert [metric(server, made) for _ in range(3)] == [before] * 3


def test_a_dropped_connection_leaves_the_server_alive() -> None:
    with ScriptedVllm([Drops()]) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            ask(server)
        assert said(ask(server)) == "Words on paper"
        assert server.deaths == 0


@pytest.mark.slow
def test_a_killing_request_takes_the_server_down_for_a_while() -> None:
    with ScriptedVllm([Kills(0.3)]) as server:
        started = metric(server, "process_start_time_seconds")
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            ask(server)
        until(lambda: is_up(server))
        assert said(ask(server)) == "Words on paper"
        assert metric(server, "process_start_time_seconds") > started


@pytest.mark.slow
def test_a_wedged_engine_looks_healthy_and_never_answers() -> None:
    with ScriptedVllm() as server:
        server.feel(Mood.WEDGED)
        with pytest.raises(httpx.ReadTimeout):
            ask(server, patience_s=0.3)
        assert httpx.get(f"{server.url}/health").status_code == 200
        server.feel(Mood.WELL)
        assert said(ask(server)) == "Words on paper"


def test_a_dead_engine_fails_what_is_in_flight_and_health() -> None:
    with ScriptedVllm([Hangs()]) as server, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ask, server)
        until(lambda: server.open == 1)
        server.feel(Mood.DEAD)
        assert "EngineCore" in waiting.result().json()["error"]["message"]
        assert httpx.get(f"{server.url}/health").status_code == 503


@pytest.mark.slow
def test_a_server_may_be_late() -> None:
    with ScriptedVllm(down_s=0.3) as server:
        until(lambda: is_up(server))
        assert httpx.get(f"{server.url}/version").json() == {"version": "0.32.0"}


def test_proofs_of_life_are_answered_outside_the_script() -> None:
    with ScriptedVllm([Said("one")]) as server:
        assert said(ask(server, max_tokens=16)) == "PAGEMILL 42"
        assert said(ask(server, max_tokens=17)) == "one"
        assert (server.proofs, len(server.entries)) == (1, 1)


def test_urgent_requests_are_seated_first() -> None:
    with (
        ScriptedVllm([Hangs()], slots=1, model=Model(has_priorities=True)) as server,
        ThreadPoolExecutor(2) as threads,
    ):
        with asking(server):
            threads.submit(ask, server, priority=10)
            until(lambda: server.open == 2)
            threads.submit(ask, server, priority=1)
            until(lambda: server.open == 3)
        until(lambda: all(entry.ended for entry in server.entries))
        seated = sorted(server.entries, key=lambda entry: entry.seated)
    assert [entry.asked.body.get("priority") for entry in seated] == [None, 1, 10]
