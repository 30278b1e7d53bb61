"""The doctor: every check says how things stand and what to do."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from cli import doctor
from cli.doctor import engine, machine, services
from cli.doctor.result import Diagnosis, Level, ok
from cli.exits import Exit
from models.settings import Settings, load_settings


def settings(home: Path, **others: object) -> Settings:
    return load_settings(home=home, **others)


class Healthy(BaseHTTPRequestHandler):
    """Answers as a Prefect server's health page does."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/api/health" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Healthy) as httpd:
        thread = threading.Thread(target=httpd.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{httpd.server_port}/api"
        httpd.shutdown()
        thread.join()


def test_this_machine_is_well(tmp_path: Path) -> None:
    here = settings(tmp_path / "home")
    checks = (machine.check_python, machine.check_packages, machine.check_home, machine.check_user)
    assert [check(here).level for check in checks] == [Level.OK] * len(checks)


def test_a_home_that_is_a_file_fails_with_advice(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    found = machine.check_home(settings(tmp_path / "home"))
    assert found.level is Level.FAIL
    assert "PAGEMILL_HOME" in found.advice


def test_the_disk_is_measured_where_the_home_will_be(tmp_path: Path) -> None:
    found = machine.check_disk(settings(tmp_path / "not" / "made" / "yet"))
    assert f"GiB free at {tmp_path}" in found.found


def test_workers_are_those_of_the_settings(tmp_path: Path) -> None:
    assert "7 worker processes" in machine.check_cores(settings(tmp_path, jobs=7)).found


def test_postgres_programs_are_found_or_not_needed(tmp_path: Path) -> None:
    assert services.check_programs(settings(tmp_path)).level is Level.OK
    own = services.check_programs(settings(tmp_path, database_url="postgresql://db/x"))
    assert "not needed" in own.found


def test_a_folder_without_postgres_programs_fails_with_advice(tmp_path: Path) -> None:
    found = services.check_programs(settings(tmp_path, postgres_bin=tmp_path))
    assert found.level is Level.FAIL
    assert "PAGEMILL_DATABASE_URL" in found.advice


def test_an_unreachable_database_fails_and_hides_its_password(tmp_path: Path) -> None:
    url = "postgresql://me:hunter2@127.0.0.1:1/x"
    found = services.check_database(settings(tmp_path, database_url=url))
    assert found.level is Level.FAIL
    assert "database-unreachable" in found.found
    assert "hunter2" not in found.found
    assert "PAGEMILL_DATABASE_URL" in found.advice


@pytest.mark.slow
def test_the_engine_reads_a_picture_made_on_the_spot(tmp_path: Path) -> None:
    found = engine.check_engine(settings(tmp_path))
    assert found.level is Level.OK, found
    assert "hello" in found.found


@pytest.mark.slow
def test_an_engine_that_is_not_installed_fails_with_its_reason(tmp_path: Path) -> None:
    found = engine.check_engine(settings(tmp_path, profile="rapidocr"))
    assert found.level in {Level.OK, Level.FAIL}
    assert found.level is Level.OK or "package-missing" in found.found


def test_a_picture_is_drawn_with_its_size_in_points(tmp_path: Path) -> None:
    image = engine.draw(tmp_path / "words.png")
    assert (tmp_path / "words.png").stat().st_size > 500
    assert image.transform.point(image.width_px, image.height_px) == (240.0, 60.0)


def test_without_a_prefect_server_all_is_well(tmp_path: Path) -> None:
    assert services.check_server(None) == ok("Prefect", "no server; flows run in this process")


def test_a_prefect_server_that_answers_is_named_without_its_path(server: str) -> None:
    found = services.check_server(server)
    assert found.level is Level.OK
    assert found.found == f"server at {server.removesuffix('/api')}"


def test_a_prefect_server_that_is_away_fails_with_advice() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        found = services.check_server(f"http://127.0.0.1:{unused.getsockname()[1]}/api")
    assert found.level is Level.FAIL
    assert "PREFECT_API_URL" in found.advice


@pytest.mark.parametrize("url", ["ftp://prefect/api", "nonsense"])
def test_a_prefect_url_that_is_none_fails(url: str) -> None:
    assert services.check_server(url).level is Level.FAIL


def test_credentials_in_a_prefect_url_are_not_shown(server: str) -> None:
    found = services.check_server(server.replace("http://", "http://me:hunter2@"))
    assert "hunter2" not in found.found


def test_a_check_that_breaks_is_a_failure_of_its_own(tmp_path: Path) -> None:
    def breaks(_settings: Settings) -> Diagnosis:
        raise RuntimeError("out of order")

    found = doctor.examine(settings(tmp_path), (("One", breaks), ("Two", lambda _: ok("Two", "fine"))))
    assert [(line.name, line.level) for line in found] == [("One", Level.FAIL), ("Two", Level.OK)]
    assert "RuntimeError: out of order" in found[0].found


def test_failures_end_with_4_and_warnings_with_0() -> None:
    lines = [Diagnosis("a", Level.OK, ""), Diagnosis("b", Level.WARN, "", "do this")]
    assert doctor.exit_of(lines) is Exit.OK
    assert doctor.exit_of([*lines, Diagnosis("c", Level.FAIL, "", "do that")]) is Exit.ENVIRONMENT


def test_advice_stands_under_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    doctor.print_all((Diagnosis("Home", Level.FAIL, "read-only [disk]", "Set PAGEMILL_HOME."),))
    text = capsys.readouterr().out
    assert text.index("read-only [disk]") < text.index("→ Set PAGEMILL_HOME.")
    assert "1 thing to put right first." in text


def test_settings_that_there_are_are_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PAGEMILL_JOBS", "PAGEMILL_RETRY__OCR__ATTEMPTS", "PAGEMILL_VLLM_PYTHON"):
        monkeypatch.setenv(name, "2")
    for name in ("PAGEMILL_DEBUG", "PAGEMILL_PROCESS"):
        monkeypatch.setenv(name, "1")
    assert machine.check_settings(settings(tmp_path)).level is Level.OK


@pytest.mark.parametrize(
    ("name", "advice"),
    [("PAGEMILL_JOB", "Did you mean PAGEMILL_JOBS?"), ("PAGEMILL_XQ", "docs/configuration.md lists them.")],
)
def test_a_setting_that_there_is_not_is_named_with_what_may_be_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, advice: str
) -> None:
    monkeypatch.setenv(name, "2")
    found = machine.check_settings(settings(tmp_path))
    assert (found.level, found.advice) == (Level.WARN, advice)
    assert name in found.found
