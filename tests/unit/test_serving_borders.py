"""Serving in its corners: names, addresses, flags that replace others, records, signs of life."""

import base64
import io
import json
import os
import shlex
from pathlib import Path

import pytest
from PIL import Image
from pydantic import TypeAdapter

from models.errors import ConfigurationError, EnvironmentFault
from models.vlm import ServeFlag
from tasks.work.serving.endpoints import Endpoints
from tasks.work.serving.plan import Server, check_options, find_weights, known_options
from tasks.work.serving.proof import Proof, proof_request
from tasks.work.serving.pulse import Pulse, is_up, pulse, read_pulse
from tasks.work.serving.record import Record, key_of
from tasks.work.serving.tested import OptionRecord
from tasks.work.serving.unit import unit
from tasks.work.serving.vllm import Installation
from tests.unit import vlms

NOWHERE = "http://127.0.0.1:9"


def server(**changes: object) -> Server:
    return vlms.plan(**changes).servers()[0]


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("localhost", "http://localhost:8000"),
        ("::1", "http://[::1]:8000"),
        ("0.0.0.0", "http://127.0.0.1:8000"),
        ("::", "http://127.0.0.1:8000"),
        ("192.0.2.7", "http://192.0.2.7:8000"),
        ("2001:db8::7", "http://[2001:db8::7]:8000"),
    ],
)
def test_a_server_s_address_can_be_asked_from_this_machine(host: str, url: str) -> None:
    assert server(host=host, api_key="secret").url == url


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.org", "127.0.0.2"])
def test_every_host_but_this_machine_needs_a_key(host: str) -> None:
    with pytest.raises(ConfigurationError, match="PAGEMILL_OCR_API_KEY"):
        vlms.plan(host=host)


@pytest.mark.parametrize(
    ("gpus", "is_one", "names"),
    [
        ((), False, ["vllm-tiny-cpu"]),
        ((0,), False, ["vllm-tiny-gpu0"]),
        ((2, 5), False, ["vllm-tiny-gpu2", "vllm-tiny-gpu5"]),
        ((2, 5), True, ["vllm-tiny-gpu2-gpu5"]),
    ],
)
def test_a_server_is_named_after_its_gpus(gpus: tuple[int, ...], is_one: bool, names: list[str]) -> None:
    plan = vlms.plan(gpus=gpus, is_data_parallel=is_one)
    assert [one.name for one in plan.servers()] == names


@pytest.mark.parametrize(
    ("extra", "gone", "kept"),
    [
        (("--port", "9"), "--port 8000", "--host 127.0.0.1"),
        (("--host=::1",), "--host 127.0.0.1", "--port 8000"),
        (("--max-model-len", "4096"), "--max-model-len 16384", "--served-model-name tiny"),
        (("--enforce-eager",), "", "--max-num-seqs 64"),
    ],
)
def test_a_flag_that_is_typed_takes_the_place_of_ours_with_its_value(
    extra: tuple[str, ...], gone: str, kept: str
) -> None:
    command = shlex.join(server(extra=extra).command())
    assert not gone or gone not in command
    assert kept in command
    assert command.endswith(shlex.join(extra))


def test_a_value_that_looks_like_json_stays_one_word() -> None:
    command = server(options=("mtp",)).command()
    assert command[command.index("--speculative-config") + 1] == '{"method":"mtp"}'


def test_a_cpu_server_sees_no_gpu_and_a_gpu_server_no_setting_of_cpus() -> None:
    cpu, gpu = server(gpus=()).environment(), server().environment()
    assert cpu["OMP_NUM_THREADS"] == "1"
    assert "CUDA_VISIBLE_DEVICES" not in cpu
    assert not {name for name in gpu if "CPU" in name or "OMP" in name}


def test_our_variables_win_and_empty_ones_are_taken_away() -> None:
    base = {"HF_HUB_OFFLINE": "0", "PATH": "/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    full = server(gpus=(), api_key="secret").full_environment(base)
    assert (full["HF_HUB_OFFLINE"], full["PATH"], full["VLLM_API_KEY"]) == ("1", "/bin", "secret")
    assert "PYTHONDONTWRITEBYTECODE" not in full
    assert "VLLM_API_KEY" not in server().full_environment({})


def test_only_optional_flags_can_be_switched_on() -> None:
    assert known_options(vlms.profile()) == {"mtp"}
    check_options(vlms.profile(), ["mtp", "mtp"])
    with pytest.raises(ConfigurationError, match=r"'fp8'\. Known: mtp"):
        check_options(vlms.profile(), ["mtp", "fp8"])
    with pytest.raises(ConfigurationError, match="Known: none"):
        check_options(vlms.profile(flags=()), ["mtp"])


def test_a_unit_hands_signs_of_its_own_language_to_the_server_as_they_are() -> None:
    flag = ServeFlag(flag="--note '50% of $HOME'", state="on", about="signs")
    text = unit(server(profile=vlms.profile(flags=(flag,))))
    (line,) = (line for line in text.splitlines() if line.startswith("ExecStart="))
    assert "50%% of $$HOME" in line
    assert "EnvironmentFile" not in text
    assert "EnvironmentFile=/etc/pagemill/vllm-tiny-gpu0.env" in unit(server(api_key="secret"))


@pytest.mark.parametrize("model", ["/nowhere/weights", "./weights", "../weights", ".hidden"])
def test_a_path_to_weights_that_are_not_there_is_no_published_name(model: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no folder"):
        find_weights(vlms.vlm(), model, tmp_path)


def test_a_published_name_is_found_in_the_cache_and_a_folder_by_its_config(tmp_path: Path) -> None:
    assert find_weights(vlms.vlm(), "someone/else", tmp_path) is None
    (tmp_path / "models--someone--else" / "snapshots" / "abc").mkdir(parents=True)
    (tmp_path / "models--someone--else" / "snapshots" / "abc" / "config.json").write_text("{}")
    assert find_weights(vlms.vlm(), "someone/else", tmp_path) == "someone/else"
    (tmp_path / "config.json").write_text("{}")
    assert find_weights(vlms.vlm(), str(tmp_path), tmp_path) == str(tmp_path)
    assert find_weights(vlms.vlm(), None, tmp_path) is None


def test_what_was_said_last_of_a_profile_is_what_holds(tmp_path: Path) -> None:
    places = Endpoints(tmp_path / "new" / "folder")
    assert places.of("tiny") == ()
    places.publish("tiny", ("http://a", "http://b"))
    places.publish("other", ("http://c",))
    places.publish("tiny", ("http://d",))
    assert (places.of("tiny"), places.of("other")) == (("http://d",), ("http://c",))
    places.withdraw("tiny")
    places.withdraw("tiny")
    assert (places.of("tiny"), places.of("other")) == ((), ("http://c",))
    assert [path.name for path in places.folder.iterdir()] == ["other.json"]


@pytest.mark.parametrize("content", ["", "{", '{"pid": '])
def test_a_file_of_endpoints_that_was_cut_says_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "tiny.json").write_text(content)
    assert Endpoints(tmp_path).of("tiny") == ()


@pytest.mark.parametrize(
    "content", ["[]", "7", "{}", '{"pid": 1}', '{"pid": "x", "urls": []}', '{"pid": 1, "urls": 5}']
)
def test_a_file_of_endpoints_that_somebody_else_wrote_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "tiny.json").write_text(content)
    with pytest.raises(EnvironmentFault, match=r"tiny\.json is not what 'pagemill serve' writes.*Delete it"):
        Endpoints(tmp_path).of("tiny")


def test_endpoints_are_kept_with_who_looks_after_them(tmp_path: Path) -> None:
    Endpoints(tmp_path).publish("tiny", ("http://a",))
    assert json.loads((tmp_path / "tiny.json").read_text()) == {"pid": os.getpid(), "urls": ["http://a"]}


def test_options_that_work_here_need_not_work_elsewhere(tmp_path: Path) -> None:
    record, plan = OptionRecord(tmp_path / "serve" / "tested.json"), vlms.plan(options=("mtp", "fp8"))
    record.keep(plan, "H200", works=True, said="2.1 s")
    newer = Installation(plan.installation.python, "0.26.0", plan.installation.transformers)
    known = record.of(vlms.plan(options=("fp8", "mtp")), "H200")
    assert known is not None
    assert (known.works, known.said, known.gpu) == (True, "2.1 s", "H200")
    assert record.of(plan, "L4") is None
    assert record.of(vlms.plan(options=("mtp",)), "H200") is None
    assert record.of(vlms.plan(options=plan.options, installation=newer), "H200") is None
    assert record.of(vlms.plan(options=plan.options, model="/models/other"), "H200") is None


def test_a_second_try_of_the_same_options_replaces_the_first(tmp_path: Path) -> None:
    record, plan = OptionRecord(tmp_path / "tested.json"), vlms.plan(options=("mtp",))
    record.keep(plan, "", works=False, said="no such flag")
    record.keep(plan, "", works=True, said="1.0 s")
    known = record.of(plan, "")
    assert known is not None
    assert (known.works, known.said) == (True, "1.0 s")
    assert len(json.loads(record.path.read_text())) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": {"profile": "tiny"}}'])
def test_a_spoilt_record_of_options_is_told_with_the_remedy(tmp_path: Path, content: str) -> None:
    record, plan = OptionRecord(tmp_path / "tested.json"), vlms.plan(options=("mtp",))
    record.path.write_text(content)
    for ask in (lambda: record.of(plan, ""), lambda: record.keep(plan, "", works=True, said="")):
        with pytest.raises(EnvironmentFault, match=r"tested\.json is spoilt.*Delete the file"):
            ask()
    assert record.path.read_text() == content


def test_a_record_of_rows_keeps_what_others_wrote_and_leaves_no_parts(tmp_path: Path) -> None:
    mine, others = (Record(tmp_path / "a" / "rows.json", TypeAdapter(dict[str, int]), "gone.") for _ in "ab")
    assert mine.get(key_of("a", [1])) is None
    mine.put(key_of("a", [1]), 1)
    others.put(key_of("a", [2]), 2)
    assert [mine.get(key_of("a", [number])) for number in (1, 2, 3)] == [1, 2, None]
    assert [path.name for path in mine.path.parent.iterdir()] == ["rows.json"]


def test_the_same_options_with_other_flags_are_another_try(tmp_path: Path) -> None:
    record, plan = OptionRecord(tmp_path / "tested.json"), vlms.plan()
    record.keep(plan, "L4", works=False, said="no such flag", flags=("--block-size", "7"))
    assert record.of(plan, "L4") is None
    assert record.of(plan, "L4", ("--block-size", "16")) is None
    known = OptionRecord(record.path).of(plan, "L4", ("--block-size", "7"))
    assert known is not None
    assert (known.works, known.flags) == (False, ("--block-size", "7"))


def test_a_proof_asks_for_little_about_a_picture_on_the_model_s_grid() -> None:
    body = proof_request(vlms.vlm())
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("tiny", 16, 0)
    image, text = body["messages"][0]["content"]  # type: ignore[index]
    data = base64.b64decode(image["image_url"]["url"].partition("base64,")[2])
    with Image.open(io.BytesIO(data)) as picture:
        assert [side % vlms.PIXELS.grid_px for side in picture.size] == [0, 0]
        low, high = picture.convert("L").getextrema()
        assert (low < 64, high) == (True, 255)
    assert text["text"] == "Text Recognition:"


def test_a_proof_holds_unless_there_is_an_error() -> None:
    assert Proof(0.1, 3).holds
    assert not Proof(0.1, error="HTTP 500").holds


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], Pulse(0, 0, 0.0)),
        (["vllm:num_requests_running 3"], Pulse(3, 0, 0.0)),
        (['vllm:num_requests_waiting{engine="0",name="a b} c"} 2.0'], Pulse(0, 2, 0.0)),
        (['vllm:prompt_tokens_total{e="0"} 1e3', 'vllm:prompt_tokens_total{e="1"} 5'], Pulse(0, 0, 1005.0)),
        (["vllm:generation_tokens_total 4", "vllm:prompt_tokens_total 6"], Pulse(0, 0, 10.0)),
        (["# HELP vllm:num_requests_running requests", "process_cpu_seconds_total 9"], Pulse(0, 0, 0.0)),
        (['vllm:num_requests_running{e="0"} 1 1700000000000'], Pulse(1, 0, 0.0)),
    ],
)
def test_a_pulse_is_read_from_any_metrics(lines: list[str], found: Pulse) -> None:
    assert read_pulse(lines) == found


@pytest.mark.parametrize(("running", "waiting", "works"), [(0, 0, False), (1, 0, True), (0, 1, True)])
def test_a_server_with_requests_in_flight_or_in_line_is_at_work(
    running: int, waiting: int, works: bool
) -> None:
    assert Pulse(running, waiting, 0.0).in_work is works


def test_where_nobody_listens_there_is_no_sign_of_life() -> None:
    assert not is_up(NOWHERE)
    assert pulse(NOWHERE) is None
