"""Before a command works: the home, Prefect's variables, the log."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.environment import make_home, open_log, set_prefect_variables
from models.errors import Code, EnvironmentFault


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """A log that is open; the loggers are left as they were found."""
    names = ("cli", "flows", "tasks", "db", "models")
    before = [
        (logging.getLogger(n), logging.getLogger(n).level, logging.getLogger(n).propagate) for n in names
    ]
    path = tmp_path / "pagemill.log"
    open_log(path)
    yield path
    for logger, level, propagate in before:
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
            handler.close()
        logger.setLevel(level)
        logger.propagate = propagate


def test_a_home_is_made_with_its_folder_for_logs(tmp_path: Path) -> None:
    make_home(tmp_path / "a" / "home")
    assert (tmp_path / "a" / "home" / "logs").is_dir()


def test_a_home_that_is_a_file_is_told_with_its_code(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(EnvironmentFault, match="PAGEMILL_HOME") as caught:
        make_home(tmp_path / "home")
    assert caught.value.code is Code.HOME_UNWRITABLE


def test_the_home_is_for_its_owner_alone(tmp_path: Path) -> None:
    make_home(tmp_path / "home")
    assert (tmp_path / "home" / "logs").stat().st_mode & 0o077 == 0


def test_prefect_stays_in_the_home_quiet_and_without_telemetry(tmp_path: Path) -> None:
    environ: dict[str, str] = {}
    set_prefect_variables(tmp_path, environ)
    assert environ == {
        "PREFECT_HOME": str(tmp_path / "prefect"),
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
        "PREFECT_LOGGING_LEVEL": "WARNING",
    }


def test_a_server_of_ones_own_gets_all_records_and_the_terminal_no_traceback(tmp_path: Path) -> None:
    environ = {"PREFECT_API_URL": "http://prefect:4200/api"}
    set_prefect_variables(tmp_path, environ)
    assert "PREFECT_LOGGING_LEVEL" not in environ
    assert environ["PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL"] == "CRITICAL"


def test_what_is_set_already_stays(tmp_path: Path) -> None:
    environ = {"PREFECT_HOME": "/srv/prefect", "PREFECT_LOGGING_LEVEL": "DEBUG"}
    set_prefect_variables(tmp_path, environ)
    assert environ["PREFECT_HOME"] == "/srv/prefect"
    assert environ["PREFECT_LOGGING_LEVEL"] == "DEBUG"


def test_the_log_holds_infos_and_the_terminal_only_warnings(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logging.getLogger("tasks.work.split").info("pages=%d", 12)
    logging.getLogger("db.engine").warning("code=%s", "database-busy")
    written = log.read_text()
    assert "INFO tasks.work.split pages=12" in written
    assert "WARNING db.engine code=database-busy" in written
    assert capsys.readouterr().err == "WARNING: code=database-busy\n"


def test_other_peoples_records_stay_out_of_the_log(log: Path) -> None:
    logging.getLogger("somebody.else").warning("hello")
    assert log.read_text() == ""


def test_opening_the_log_twice_writes_lines_once(log: Path) -> None:
    open_log(log)
    logging.getLogger("cli").info("once")
    assert log.read_text().count("once") == 1


def test_a_log_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault) as caught:
        open_log(tmp_path / "missing" / "pagemill.log")
    assert caught.value.code is Code.HOME_UNWRITABLE
