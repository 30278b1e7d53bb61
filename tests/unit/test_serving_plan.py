"""What is served: commands, environments, units, options, weights."""

import shlex
from pathlib import Path

import pytest

from models.errors import ConfigurationError
from tasks.work.serving.plan import check_options, find_weights
from tasks.work.serving.unit import unit
from tasks.work.serving.vllm import Installation
from tests.unit import vlms


def test_the_command_names_model_place_and_context() -> None:
    (server,) = vlms.plan().servers()
    command = shlex.join(server.command())
    assert command.startswith("/opt/vllm/bin/python -m vllm.entrypoints.cli.main serve /models/tiny")
    for part in ("--served-model-name tiny", "--host 127.0.0.1", "--port 8000", "--max-model-len 16384"):
        assert part in command


def test_safe_flags_are_given_and_flags_known_to_break_never() -> None:
    (server,) = vlms.plan(options=("mtp",)).servers()
    command = server.command()
    assert "--max-num-seqs" in command
    assert "--speculative-config" in command
    assert "--allowed-local-media-path" not in command


def test_an_option_is_off_unless_asked_for() -> None:
    (server,) = vlms.plan().servers()
    assert "--speculative-config" not in server.command()


def test_what_is_typed_wins_over_the_profile() -> None:
    (server,) = vlms.plan(extra=("--max-num-seqs", "8", "--port=9")).servers()
    command = server.command()
    assert command.count("--max-num-seqs") == 1
    assert command[-3:] == ["--max-num-seqs", "8", "--port=9"]
    assert "8000" not in command


def test_each_gpu_has_a_server_of_its_own() -> None:
    servers = vlms.plan(gpus=(0, 3)).servers()
    assert [server.url for server in servers] == ["http://127.0.0.1:8000", "http://127.0.0.1:8001"]
    assert [server.environment()["CUDA_VISIBLE_DEVICES"] for server in servers] == ["0", "3"]
    assert len({server.name for server in servers}) == 2


def test_data_parallel_puts_all_gpus_behind_one_port() -> None:
    (server,) = vlms.plan(gpus=(0, 1), is_data_parallel=True).servers()
    assert "--data-parallel-size 2" in shlex.join(server.command())
    assert server.environment()["CUDA_VISIBLE_DEVICES"] == "0,1"


def test_the_cpu_build_is_started_by_its_module() -> None:
    there = Installation(Path("/opt/cpu/bin/python"), "0.32.0", is_cpu_build=True)
    (server,) = vlms.plan(installation=there, gpus=()).servers()
    assert server.command()[1:5] == ["-m", "vllm.entrypoints.openai.api_server", "--model", "/models/tiny"]
    assert server.environment()["OMP_NUM_THREADS"] == "1"


def test_nothing_is_downloaded_unless_allowed() -> None:
    assert vlms.plan().servers()[0].environment()["HF_HUB_OFFLINE"] == "1"
    assert "HF_HUB_OFFLINE" not in vlms.plan(may_download=True).servers()[0].environment()


def test_the_api_key_is_in_the_environment_and_in_no_command_or_unit() -> None:
    (server,) = vlms.plan(api_key="s3cret", host="0.0.0.0").servers()
    assert server.full_environment({})["VLLM_API_KEY"] == "s3cret"
    assert "s3cret" not in shlex.join(server.command()) + unit(server)
    assert "EnvironmentFile=" in unit(server)


def test_a_server_that_others_can_reach_needs_a_key() -> None:
    with pytest.raises(ConfigurationError, match="PAGEMILL_OCR_API_KEY"):
        vlms.plan(host="0.0.0.0")
    assert vlms.plan(host="::1").servers()[0].url == "http://[::1]:8000"


def test_a_unit_starts_the_very_command() -> None:
    (server,) = vlms.plan(options=("mtp",)).servers()
    line = next(line for line in unit(server).splitlines() if line.startswith("ExecStart="))
    assert shlex.split(line.removeprefix("ExecStart=")) == server.command()


def test_an_unknown_option_is_refused_with_the_known_ones() -> None:
    check_options(vlms.profile(), ["mtp"])
    with pytest.raises(ConfigurationError, match=r"'fp9'.*mtp"):
        check_options(vlms.profile(), ["fp9"])


def test_weights_are_found_in_the_cache_by_their_published_name(tmp_path: Path) -> None:
    assert find_weights(vlms.vlm(), None, tmp_path) is None
    snapshot = tmp_path / "models--example--tiny" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    assert find_weights(vlms.vlm(), None, tmp_path) == "example/tiny"


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"config\.json"):
        find_weights(vlms.vlm(), str(tmp_path), tmp_path)
    with pytest.raises(ConfigurationError, match="no folder"):
        find_weights(vlms.vlm(), str(tmp_path / "gone"), tmp_path)
    (tmp_path / "config.json").write_text("{}")
    assert find_weights(vlms.vlm(), str(tmp_path), tmp_path) == str(tmp_path)
