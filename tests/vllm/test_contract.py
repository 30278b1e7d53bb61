"""The scripted server and a real vLLM are held to the same claims, so that the double cannot drift."""

import base64
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tasks.work.doubles.vllm_server import Asked, Model, Said, ScriptedVllm
from tasks.work.engines.vllm.sample import read_sample
from tests import factories
from tests.vllm.conftest import KEY, KEYED
from tests.vllm.profiles import PATCH, profile_of
from tests.vllm.real import PATIENCE_S, RealVllm

PNG = factories.picture_bytes(factories.picture(size=(448, 224), font_px=32))
LOOPING = {"max_pattern_size": 8, "min_pattern_size": 1, "min_count": 5}


@dataclass
class Api:
    """A server and how to speak to it."""

    url: str
    key: str = KEY

    def ask(self, picture: bytes = PNG, timeout_s: float = PATIENCE_S, **fields: Any) -> httpx.Response:
        url = "data:image/png;base64," + base64.b64encode(picture).decode()
        parts = [
            {"type": "image_url", "image_url": {"url": url}},
            {"type": "text", "text": "Text Recognition:"},
        ]
        body = {"model": "chandra", "messages": [{"role": "user", "content": parts}], "max_tokens": 40}
        return self.send("/v1/chat/completions", body | {"temperature": 0} | fields, timeout_s)

    def send(self, path: str, body: Any = None, timeout_s: float = PATIENCE_S) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        method = "GET" if body is None else "POST"
        return httpx.request(method, self.url + path, json=body, headers=headers, timeout=timeout_s)

    def sample(self) -> Any:
        return read_sample(self.send("/metrics").text.splitlines())


def scripted(asked: Asked) -> Said:
    """What the model would say when it is held to a pattern."""
    held = asked.body.get("structured_outputs", {})
    if asked.body.get("repetition_detection"):
        return Said("abc " * 8, finish="repetition")
    if "choice" in held:
        return Said(held["choice"][0])
    slow = 600.0 if (asked.max_tokens or 0) > 1_000 else None
    return Said("gibberish " * 1_000, seconds=slow)


@pytest.fixture(params=["double", "real"])
def api(request: pytest.FixtureRequest, servers: dict[str, RealVllm]) -> Iterator[Api]:
    """One or the other."""
    real = servers[KEYED]
    if request.param == "real":
        real.wait()
        yield Api(real.url)
        return
    pixels = profile_of(real).vlm
    assert pixels is not None
    model = Model(name="chandra", context=4_096, pixels=pixels.pixels, api_key=KEY)
    with ScriptedVllm(scripted, model=model, slots=4) as server:
        yield Api(server.url)


def test_the_model_card_tells_name_owner_and_context(api: Api) -> None:
    (card,) = api.send("/v1/models").json()["data"]
    assert (card["id"], card["owned_by"], card["max_model_len"]) == ("chandra", "vllm", 4_096)
    assert card["root"]
    assert api.send("/version").json()["version"] == "0.32.0"
    assert api.send("/health").status_code == 200


def test_without_the_key_only_health_and_metrics_answer(api: Api) -> None:
    stranger = Api(api.url, key="")
    assert [stranger.send(path).status_code for path in ("/health", "/metrics")] == [200, 200]
    refused = stranger.ask()
    assert (refused.status_code, refused.json()) == (401, {"error": "Unauthorized"})


def test_a_reply_is_counted_and_says_how_it_ended(api: Api) -> None:
    held = api.ask(structured_outputs={"choice": ["yes it is"]}).json()
    assert held["choices"][0]["message"]["content"] == "yes it is"
    assert held["choices"][0]["finish_reason"] == "stop"
    long = api.ask(max_tokens=30, ignore_eos=True).json()
    assert (long["choices"][0]["finish_reason"], long["usage"]["completion_tokens"]) == ("length", 30)
    cells = (448 // (2 * PATCH[KEYED])) * (224 // (2 * PATCH[KEYED]))
    assert 0 < long["usage"]["prompt_tokens"] - cells < 64


def test_log_probabilities_come_with_each_token(api: Api) -> None:
    reply = api.ask(logprobs=True, max_tokens=20, ignore_eos=True).json()
    tokens = reply["choices"][0]["logprobs"]["content"]
    assert len(tokens) == reply["usage"]["completion_tokens"] == 20
    assert all(token["logprob"] <= 0 for token in tokens)


def test_a_loop_is_stopped_and_said_to_be_one(api: Api) -> None:
    fields: dict[str, Any] = {"structured_outputs": {"regex": "(abc ){200}"}, "repetition_detection": LOOPING}
    choice = api.ask(max_tokens=600, **fields).json()["choices"][0]
    assert (choice["finish_reason"], choice["stop_reason"]) == ("repetition", "repetition_detected")


@pytest.mark.parametrize(
    ("fields", "status", "kind", "param"),
    [
        ({"model": "gpt"}, 404, "NotFoundError", "model"),
        ({"max_tokens": 4_097}, 400, "BadRequestError", "max_tokens"),
        (
            {"messages": [{"role": "user", "content": "word " * 9_000}]},
            400,
            "BadRequestError",
            "input_tokens",
        ),
        ({"picture": b"no picture"}, 400, "BadRequestError", None),
    ],
    ids=["model", "max_tokens", "prompt", "picture"],
)
def test_faults_of_the_client_are_told_as_such(
    api: Api, fields: dict[str, Any], status: int, kind: str, param: str | None
) -> None:
    answer = api.ask(**fields)
    error = answer.json()["error"]
    assert (answer.status_code, error["type"], error["param"], error["code"]) == (status, kind, param, status)
    assert error["message"]


def test_a_stream_has_the_same_shape(api: Api) -> None:
    answer = api.ask(stream=True, stream_options={"include_usage": True}, max_tokens=20)
    events = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    assert events[-1] == "[DONE]"
    assert '"usage":{"prompt_tokens":' in events[-2]
    assert '"role":"assistant"' in events[0]


def test_metrics_tell_of_running_and_finished_requests(api: Api) -> None:
    before = api.sample()
    api.ask(max_tokens=20)
    after = api.sample()
    assert after.tokens >= before.tokens + 20
    assert after.queued == before.queued + 1
    assert after.started == before.started > 0
    assert not after.is_younger_than(before)


def test_a_client_that_goes_away_frees_its_seat(api: Api) -> None:
    with pytest.raises(httpx.ReadTimeout):
        api.ask(timeout_s=1.5, max_tokens=3_000, ignore_eos=True)
    deadline = time.monotonic() + PATIENCE_S
    while api.sample().running:
        assert time.monotonic() < deadline
        time.sleep(0.2)
