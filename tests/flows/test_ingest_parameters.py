"""What a person may type into the form of flow ingest, and what is said where it is wrong."""

from pathlib import Path
from typing import Any

import pytest
from prefect.exceptions import ParameterTypeError

from flows import ingesting as module
from flows.ingest import ingest
from flows.local import run_ingest
from flows.opening import CALLER
from flows.telling import Ending
from models.errors import Code, ConfigurationError, EnvironmentFault
from models.intake import ScanRules
from models.settings import Settings, load_settings
from models.stage import Outcome
from tests import factories


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Any]:
    """What the flow would do: no mill is opened."""
    noted: dict[str, Any] = {}

    class Opened:
        run_id = 1

        def __enter__(self) -> tuple["Opened", int]:
            if caller := CALLER.get():
                caller.started(self.run_id)
            return self, 1

        def __exit__(self, *_: object) -> None:
            return None

    def work_off(mill: object, roots: list[str], recipe_id: int, rules: ScanRules) -> bool:
        noted.update(roots=roots, rules=rules)
        return True

    def ending(*_: object, **how: bool) -> Ending:
        noted.update(how)
        return Ending(Outcome.OK, "done", 1)

    monkeypatch.setenv("PAGEMILL_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(module, "get_settings", load_settings)
    monkeypatch.setattr(module, "open_mill", lambda *_, **__: Opened())
    monkeypatch.setattr(module, "work_off", work_off)
    monkeypatch.setattr(module, "ending", ending)
    return noted


@pytest.mark.parametrize(
    "wrong",
    [
        {"jobs": 0},
        {"jobs": 257},
        {"settle_s": -1},
        {"settle_s": 1e9},
        {"gone_share": 1.5},
        {"profile": ""},
        {"paths": [""]},
        {"paths": ["x"] * 1_001},
        {"options": ["long_edge_px"]},
        {"follow_links": "perhaps"},
    ],
    ids=str,
)
def test_what_is_out_of_bounds_is_refused_before_the_run(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterTypeError):
        ingest.validate_parameters({"paths": ["/srv/in"]} | wrong)


def test_the_form_shows_descriptions_and_bounds() -> None:
    fields = ingest.parameters.properties
    assert all(field["description"] for field in fields.values())
    assert fields["settle_s"]["anyOf"][0] == {"type": "number", "minimum": 0, "maximum": 86_400}
    assert fields["gone_share"]["anyOf"][0] == {"type": "number", "minimum": 0, "maximum": 1}
    assert fields["jobs"]["anyOf"][0] == {"type": "integer", "minimum": 1, "maximum": 256}


def test_a_deployments_scan_follows_the_settings_unless_it_is_told_otherwise(
    seen: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGEMILL_SETTLE_S", "7")
    monkeypatch.setenv("PAGEMILL_GONE_SHARE", "0.2")
    ingest.fn(paths=["/srv/in/", "memory://in/", "/srv/in"])
    assert seen["roots"] == ["/srv/in", "memory://in"]
    assert seen["rules"] == ScanRules(settle_s=7, gone_share=0.2, lists_all=False)
    ingest.fn(paths=["/srv/in"], settle_s=0, gone_share=1, follow_links=True)
    assert seen["rules"] == ScanRules(settle_s=0, gone_share=1, follows_links=True, lists_all=False)


def test_a_command_takes_files_at_once_and_lists_them_all(seen: dict[str, Any], tmp_path: Path) -> None:
    assert run_ingest(load_settings(home=tmp_path / "home"), [str(tmp_path / "in")], "ppocr") == 1
    assert seen["roots"] == [str(tmp_path / "in")]
    assert seen["rules"] == ScanRules(settle_s=0, lists_all=True)


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([], "name at least one folder"),
        (["nosuch://bucket/in"], "knows no nosuch://"),
        (["ftp://me:secret@host/in"], "leave the password out"),
    ],
    ids=["none", "unknown", "password"],
)
def test_a_wrong_root_is_told_before_anything_is_opened(
    seen: dict[str, Any], paths: list[str], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ingest.fn(paths=paths)
    assert seen == {}


def test_pagemills_own_home_below_a_root_is_told_before_anything_is_opened(
    seen: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        ingest.fn(paths=[str(tmp_path)])
    assert (raised.value.code, seen) == (Code.OUTPUT_IN_INPUT, {})


def test_a_missing_folder_and_a_bucket_that_is_down_end_with_one_line(
    yard_settings: Settings, tmp_path: Path
) -> None:
    for root in (str(tmp_path / "nowhere"), "memory://nowhere"):
        with pytest.raises(EnvironmentFault, match="is not there") as raised:
            run_ingest(yard_settings, [root], "ppocr", jobs=1)
        assert raised.value.code is Code.ROOT_UNAVAILABLE
        assert "\n" not in raised.value.message


@pytest.fixture
def yard_settings(postgres: str, tmp_path: Path) -> Settings:
    """Settings of a home of its own on the tests' Postgres."""
    factories.write(tmp_path / "home" / "keep", b"")
    return load_settings(home=tmp_path / "home", database_url=postgres, jobs=1, vectors=False)
