"""Settings come from the environment, and a bad one is told by the variable's name."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.errors import ConfigurationError
from models.settings import RetryPolicy, RetrySettings, Settings, get_settings, load_settings
from models.stage import Stage

_policies = st.builds(
    RetryPolicy,
    delay_s=st.floats(0, 60),
    factor=st.floats(1, 5),
    jitter=st.floats(0, 1),
)
_chances = st.floats(0, 1)


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without settings of the machine that runs this."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"PAGEMILL_{name.upper()}", raising=False)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("home", "/srv/mill", Path("/srv/mill")),
        ("jobs", "7", 7),
        ("split_timeout_s", "0.5", 0.5),
        ("lease_s", "30", 30.0),
        ("vectors", "false", False),
        ("password_file", "/etc/words", Path("/etc/words")),
        ("profile", "rapidocr", "rapidocr"),
    ],
)
def test_a_field_is_set_by_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, expected: object
) -> None:
    monkeypatch.setenv(f"PAGEMILL_{name.upper()}", value)
    assert getattr(load_settings(), name) == expected


@pytest.mark.parametrize("name", Settings.model_fields)
def test_a_variable_set_to_nothing_is_not_set(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    usual = load_settings()
    monkeypatch.setenv(f"PAGEMILL_{name.upper()}", "")
    assert load_settings() == usual


def test_a_nested_variable_changes_one_value_of_one_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGEMILL_RETRY__OCR__ATTEMPTS", "6")
    retry = load_settings().retry
    assert retry.ocr == RetryPolicy(attempts=6)
    assert (retry.split, retry.preprocess, retry.load) == (RetryPolicy(),) * 3


def test_what_is_said_outright_counts_more_than_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGEMILL_JOBS", "7")
    assert load_settings(jobs=2).jobs == 2


def test_settings_without_any_variable_have_work_for_every_processor() -> None:
    settings = load_settings()
    assert settings.jobs >= 1
    assert settings.database_url is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("JOBS", "0"), ("JOBS", "two"), ("LEASE_S", "1"), ("LEASE_S", "inf"), ("LEASE_S", "nan")),
        *(("RENDER_TIMEOUT_S", "0"), ("SPLIT_TIMEOUT_S", "-1"), ("MAX_CRASHES", "0"), ("VECTORS", "maybe")),
        *(("HOME", "~nobody-has-this-name/x"), ("RETRY", "often"), ("RETRY", "[1]")),
        *(("RETRY__OCR__ATTEMPTS", "0"), ("RETRY__OCR__ATTEMPTS", "21"), ("RETRY__LOAD__JITTER", "1.5")),
        *(("RETRY__SPLIT__FACTOR", "0.5"), ("RETRY__OCR__DELAY_S", "inf"), ("RETRY__OCR__TRIES", "3")),
        ("RETRY__READ__ATTEMPTS", "3"),
    ],
)
def test_a_bad_value_is_told_with_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"PAGEMILL_{name}", value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    stem = "__".join(name.split("__")[:2])
    assert caught.value.message.startswith(f"PAGEMILL_{stem}")


def test_the_password_of_a_database_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGEMILL_DATABASE_URL", "postgresql://me:hunter2@host/db")
    settings = load_settings()
    assert "hunter2" not in f"{settings!r} {settings} {settings.model_dump_json()}"
    assert settings.database_url is not None
    assert "hunter2" in settings.database_url.get_secret_value()


def test_settings_of_a_process_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    get_settings.cache_clear()
    before = get_settings()
    monkeypatch.setenv("PAGEMILL_JOBS", str(before.jobs + 1))
    assert get_settings() is before
    get_settings.cache_clear()
    assert get_settings().jobs == before.jobs + 1
    get_settings.cache_clear()


def test_a_home_below_the_user_s_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    settings = load_settings(home=Path("~/mill"))
    assert settings.root == Path("/home/someone/mill")
    assert settings.store == Path("/home/someone/mill/store")


def test_a_home_named_from_here_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_settings(home=Path("mill")).root == tmp_path / "mill"


def test_a_link_on_the_way_to_the_home_is_kept(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert load_settings(home=tmp_path / "link").root == tmp_path / "link"


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_has_a_policy(stage: Stage) -> None:
    policies = {name: RetryPolicy(attempts=number) for number, name in enumerate(_NAMES, 2)}
    owner = {Stage.REGISTER: "split", Stage.VALIDATE: "ocr"}.get(stage, stage.value)
    assert RetrySettings(**policies).of(stage) is policies[owner]


_NAMES = tuple(RetrySettings.model_fields)


@given(_policies, st.integers(1, 20), _chances)
def test_a_delay_strays_by_its_jitter_at_most(policy: RetryPolicy, attempt: int, chance: float) -> None:
    middle = policy.delay(attempt, 0.5)
    low, high = middle * (1 - policy.jitter), middle * (1 + policy.jitter)
    assert 0 <= low <= high
    assert low * 0.999_999 <= policy.delay(attempt, chance) <= high * 1.000_001


@given(_policies, st.integers(1, 19))
def test_delays_grow_by_the_factor_up_to_the_longest(policy: RetryPolicy, attempt: int) -> None:
    expected = min(policy.delay(attempt, 0.5) * policy.factor, policy.most_s)
    assert policy.delay(attempt + 1, 0.5) == pytest.approx(expected)


def test_no_delay_is_longer_than_five_minutes_and_its_jitter() -> None:
    policy = RetryPolicy(attempts=20, delay_s=60, factor=100)
    assert policy.delay(19, 0.5) == 300
    assert policy.delay(19, 1.0) == pytest.approx(390)
    assert RetryPolicy(most_s=20, delay_s=60).delay(1, 0.5) == 20


def test_the_usual_delays_end_within_half_a_minute() -> None:
    policy = RetryPolicy()
    assert [policy.delay(attempt, 0.5) for attempt in range(1, policy.attempts)] == [2, 6, 18]


def test_without_jitter_chance_does_not_matter() -> None:
    policy = RetryPolicy(jitter=0)
    assert policy.delay(3, 0.0) == policy.delay(3, 1.0) == 18
