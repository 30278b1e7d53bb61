"""The parts of a tuning: choices, texts compared, the profile that is written."""

import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.document import MediaType
from models.errors import ConfigurationError, EngineUnavailable
from models.page import PageFacts
from models.profiles import PROFILES
from models.vlm import ServeFlag
from tasks.work.custom import load_profile
from tasks.work.doubles.vllm_server import Drops, Kills, Said, ScriptedVllm, bad_request
from tasks.work.serving.supervisor import Patience
from tasks.work.serving.tested import OptionRecord
from tasks.work.serving.visit import why_not
from tasks.work.tuning import override, toml, trial
from tasks.work.tuning.choices import choices
from tasks.work.tuning.journal import Journal, evidence
from tasks.work.tuning.pages import Found, OwnPages
from tasks.work.tuning.row import Row
from tasks.work.tuning.stand import Stand
from tests import served
from tests.unit import vlms

GLM = PROFILES["glm-ocr"]
CHAINED = """(EngineCore pid=7) ERROR 11-30 [core.py:1] ValueError: No common block size for 16.
RuntimeError: Engine core initialization failed. See root cause above.
"""
UNTUNED = Row(what="untuned", resolution="legible", pages=8, pages_per_s=2.0)
WINNER = Row(
    what="--max-num-seqs 256", flags=("--max-num-seqs", "256"), resolution="fixed", in_flight=64,
    pages=8, pages_per_s=3.0, distance=0.002,
)  # fmt: skip


def test_choices_are_the_profile_s_options_first_and_nothing_it_does_already() -> None:
    found = [choice.name for choice in choices(GLM, is_on_gpu=True, cores=16)]
    assert found[0] == "--max-num-seqs 512 --api-server-count 4"
    assert "--ir-op-priority" in found[1]
    assert "mtp" in found[2]
    assert len(found) == len(set(found))
    assert "--max-num-batched-tokens 32768" not in found
    assert "--mm-processor-cache-gb 0" not in found
    assert "--mm-processor-cache-gb 4" in found
    assert "--mm-tensor-ipc torch_shm" in found
    assert not [name for name in found if "awq" in name or "gptq" in name]


def test_what_the_profile_knows_to_break_is_a_choice_that_is_not_tried() -> None:
    (unsafe,) = (one for one in choices(GLM, is_on_gpu=True, cores=16) if one.unsafe)
    assert unsafe.flags == ("--enable-prefix-caching",)
    assert "another" in unsafe.unsafe


def test_on_a_cpu_nothing_is_tried_that_needs_a_gpu() -> None:
    found = {choice.factor for choice in choices(vlms.profile(flags=()), is_on_gpu=False, cores=2)}
    assert found == {
        "max-num-seqs",
        "max-num-batched-tokens",
        "block-size",
        "mm-processor-cache-gb",
        "prefix-caching",
    }


def test_api_servers_are_no_more_than_the_cores_bear() -> None:
    counts = [one.flags[1] for one in choices(vlms.profile(), is_on_gpu=True, cores=8) if "api" in one.factor]
    assert counts == ["2"]


def test_a_step_is_never_too_small_for_the_largest_picture() -> None:
    found = choices(vlms.profile(), is_on_gpu=True, cores=8)
    steps = [int(one.flags[1]) for one in found if one.factor == "max-num-batched-tokens"]
    assert steps
    assert min(steps) >= vlms.PIXELS.max_pixels / vlms.PIXELS.grid_px**2


@pytest.mark.parametrize(
    ("before", "after", "apart"),
    [
        (("abcd", "efgh"), ("abcd", "efgh"), 0.0),
        (("abcd", "efgh"), ("abcx", "efgh"), 1 / 8),
        (("abcd", None), ("abcd", "much"), 0.0),
        (("", "abcd"), ("", "abc"), 1 / 5),
        ((None,), (None,), 0.0),
    ],
)
def test_answers_are_compared_by_character_over_pages_read_twice(
    before: tuple[str | None, ...], after: tuple[str | None, ...], apart: float
) -> None:
    assert trial.distance(before, after) == pytest.approx(apart)


def test_pages_are_read_so_many_at_once_and_those_that_fail_are_counted(tmp_path: Path) -> None:
    answers = [Said(f"Page {n}", seconds=0.02, tokens=4) for n in range(5)]
    with ScriptedVllm([*answers, bad_request("no picture")]) as server:
        requests = [served.page(tmp_path, n) for n in range(6)]
        outcome = trial.read(served.PROFILE, server.url, "", requests, 3)
        assert server.most_open == 3
        salts = {entry.asked.body["cache_salt"] for entry in server.entries}
    assert (len(salts), outcome.failed, outcome.tokens_out) == (1, 1, 20)
    assert sorted(filter(None, outcome.texts)) == [f"Page {n}" for n in range(5)]
    assert outcome.seconds > 0.03, "five pages by three: two after one another at least"


def test_pages_that_nobody_waits_for_have_not_failed(tmp_path: Path) -> None:
    with ScriptedVllm([Said("Soon", seconds=0.0), Said("Late", seconds=300.0)]) as server:
        requests = [served.page(tmp_path, n) for n in range(2)]
        outcome = trial.read(served.PROFILE, server.url, "", requests, 2, most_s=5.0)
    assert (outcome.read, outcome.unread, outcome.failed) == (1, 1, 0)
    assert outcome.pages_per_s == pytest.approx(1 / outcome.seconds)


def waves(*lengths: float, wide: int = 4) -> list[tuple[float, float]]:
    """Pages that start and end together, `wide` at once."""
    ends = list(itertools.accumulate(lengths, initial=0.0))
    return [span for span in itertools.pairwise(ends) for _ in range(wide)]


def test_a_speed_is_that_of_the_time_when_the_server_was_full() -> None:
    assert trial.when_full(waves(10, 2, 2, 1)) == pytest.approx(4 / 2)
    assert trial.when_full(waves(10, 4, 2, 1)) == pytest.approx(8 / 6)
    outcome = trial.Outcome(100.0, ("text",) * 16, when_full=trial.when_full(waves(10, 2, 2, 1)))
    assert outcome.pages_per_s == 2


def test_answers_that_end_together_count_no_more_for_ending_just_in_time() -> None:
    early, late = waves(10, 2, 2, 2), waves(10, 2, 2, 2)
    late[8:] = [(start + 0.01, end + 0.01) for start, end in late[8:]]
    assert trial.when_full(late) == pytest.approx(trial.when_full(early), rel=0.01)


@pytest.mark.parametrize("spans", [[], waves(1, wide=3), waves(3, wide=8)])
def test_where_a_server_was_never_full_all_pages_count(spans: list[tuple[float, float]]) -> None:
    assert trial.when_full(spans) == 0
    assert trial.Outcome(4.0, ("text",) * 8, when_full=0.0).pages_per_s == 2


def test_of_many_pages_as_many_are_kept_as_there_is_time_for(tmp_path: Path) -> None:
    told: list[str] = []
    pages = [Found(tmp_path, MediaType.PDF, PageFacts(1, 100, 100))] * 100
    made = {"fixed": [served.page(tmp_path, n) for n in range(100)]}
    own = OwnPages(served.PROFILE, tmp_path, 1, pages, _made=made)
    plan = vlms.plan(profile=served.PROFILE.model_copy(update={"resolution": "fixed"}))
    stand = Stand(plan, own, OptionRecord(tmp_path / "tested.json"), "", tmp_path, Patience(), told.append)
    with ScriptedVllm(lambda asked: Said("A page", seconds=0.01)) as server:
        for most_s in (0.001, 60.0):
            stand.settle(server.url, most_s)
            assert (stand.pages, len(own.at("fixed"))) == (64, 64)
    assert (len(server.entries), told) == (64, ["64 pages are read each time"])


@pytest.mark.parametrize(("first_s", "start_s"), [(0.0, 900.0), (5.0, 60.0), (100.0, 300.0), (400.0, 900.0)])
def test_no_server_is_waited_for_much_longer_than_for_the_first_one(
    tmp_path: Path, first_s: float, start_s: float
) -> None:
    own = OwnPages(served.PROFILE, tmp_path, 1)
    record = OptionRecord(tmp_path / "tested.json")
    stand = Stand(vlms.plan(), own, record, "", tmp_path, Patience(), print, _first_start_s=first_s)
    assert stand._patience_now() == Patience(starts=1, start_s=start_s)


def test_a_server_that_dies_is_not_taken_for_a_slow_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_AWAY_S", 300.0)
    monkeypatch.setattr(trial, "_BUSY_S", 0.5)
    with ScriptedVllm([Kills(300.0)]) as server, pytest.raises(EngineUnavailable, match="went away"):
        trial.read(served.PROFILE, server.url, "", [served.page(tmp_path, 1)], 1, most_s=1.0)


def test_a_server_that_dies_of_the_pages_ends_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_AWAY_S", 0.5)
    with ScriptedVllm([Said("One"), Kills(60.0)], model=None) as server, pytest.raises(EngineUnavailable):
        trial.read(served.PROFILE, server.url, "", [served.page(tmp_path, n) for n in range(4)], 1)


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_what_is_written_as_toml_is_read_as_it_was(data: dict[str, Any]) -> None:
    assert tomllib.loads(toml.dump(data)) == data


def test_the_winner_over_an_embedded_profile_says_only_what_is_different(tmp_path: Path) -> None:
    path = tmp_path / "glm-ocr-tuned.toml"
    override.write(path, override.override(GLM, None, WINNER, ["measured today"]))
    text, tuned = path.read_text(), load_profile(path)
    assert text.startswith(f"{override.HEAD}.\n# measured today\n")
    assert tomllib.loads(text)["base"] == "glm-ocr"
    assert tuned.vlm is not None
    assert (tuned.resolution, tuned.vlm.most_in_flight, tuned.vlm.least_in_flight) == ("fixed", 64, 4)
    assert [flag.flag for flag in tuned.vlm.flags if flag.state == "on"][-1] == "--max-num-seqs 256"
    assert GLM.vlm is not None
    assert (tuned.vlm.tasks, tuned.ladder) == (GLM.vlm.tasks, GLM.ladder)


def test_flags_that_the_winner_sets_anew_are_taken_out(tmp_path: Path) -> None:
    flags = (
        ServeFlag(flag="--max-num-seqs 64 --block-size 16", state="on", about=""),
        ServeFlag(flag="--no-enable-prefix-caching", state="on", about=""),
        ServeFlag(flag="--max-num-seqs 8", state="option", option="few", about=""),
    )
    won = WINNER.model_copy(update={"flags": ("--max-num-seqs", "256", "--enable-prefix-caching")})
    base = GLM.model_copy(update={"vlm": vlms.vlm(flags=flags)})
    told = tomllib.loads(override.override(base, None, won, []))["vlm"]["flags"]
    assert [(flag["flag"], flag["state"]) for flag in told] == [
        ("--block-size 16", "on"),
        ("--max-num-seqs 8", "option"),
        ("--max-num-seqs 256 --enable-prefix-caching", "on"),
    ]


def test_a_profile_of_one_s_own_keeps_its_prompts_and_its_served_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[vlm]\ncontext = 9000\n[vlm.tasks.text]\nprompt = "Read."\nparser = "text"\nabout = "a"\n'
    )
    tuned = tmp_path / "mine-tuned.toml"
    override.write(tuned, override.override(load_profile(path), path, WINNER, []))
    found = load_profile(tuned)
    assert found.vlm is not None
    assert (found.vlm.served_name, found.vlm.context, found.vlm.tasks["text"].prompt) == (
        "mine",
        9000,
        "Read.",
    )


def test_a_file_that_no_tuning_wrote_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    override.check_free(path)
    override.write(path, override.override(GLM, None, WINNER, []))
    override.check_free(path)
    path.write_text('title = "mine"\n')
    with pytest.raises(ConfigurationError, match=r"mine\.toml was not written by 'pagemill tune'"):
        override.check_free(path)


def test_every_row_is_kept_at_once_with_what_it_holds_for(tmp_path: Path) -> None:
    facts = {"begun": "2026-01-02T03:04:05+00:00", "gpu": "H200", "vllm": "0.25.1", "transformers": "5.17.0"}
    facts |= {"pages": "8", "documents": "3", "flags": "--dtype half"}
    journal = Journal.begun(tmp_path / "tune", GLM, facts)
    for count, row in enumerate((UNTUNED, WINNER), 1):
        journal.add(row)
        assert len(json.loads(journal.path.read_text())["rows"]) == count
    assert journal.path.name == "glm-ocr-20260102T030405.json"
    told = "\n".join(evidence(journal, UNTUNED, WINNER))
    for word in (
        "resolution fixed, 64 in flight",
        "2026-01-02",
        "H200",
        "0.25.1",
        "8 pages of 3 documents",
        "--dtype half",
        "1.50 times",
        "0.20%",
    ):
        assert word in told


def test_connections_that_break_are_no_measurement_of_a_dead_server(tmp_path: Path) -> None:
    with ScriptedVllm([Drops(), Said("One"), Said("Two")]) as server:
        outcome = trial.read(served.PROFILE, server.url, "", [served.page(tmp_path, n) for n in range(2)], 1)
    assert outcome.failed == 0


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("", "it said nothing"),
        ("loading\n\nKilled\n", "Killed"),
        (
            "serve.py: error: argument --block-size: invalid choice: '7'",
            "error: argument --block-size: invalid choice: '7'",
        ),
        (CHAINED, "ValueError: No common block size for 16."),
        ("torch.OutOfMemoryError: CUDA out of memory.\nbye", "torch.OutOfMemoryError: CUDA out of memory."),
    ],
)
def test_why_a_server_did_not_start_is_the_error_that_its_log_ends_with(
    tmp_path: Path, log: str, said: str
) -> None:
    (tmp_path / "log").write_text(log)
    assert why_not(tmp_path / "log") == said
