"""The border to the shell: what becomes of errors inside a command."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from cli.boundary import Boundary, as_argument, as_environment, lines_of, prepare_streams
from cli.exits import Exit
from models.errors import Code, ConfigurationError, DatabaseUnreachable, StoreFull


def run(work: Callable[[], object], *, debug: bool = False) -> Result:
    """A command that does `work`, run as from a shell."""
    app = typer.Typer(cls=Boundary)

    @app.callback()
    def options(ctx: typer.Context) -> None:
        ctx.obj = debug

    @app.command()
    def act() -> None:
        work()

    return CliRunner().invoke(app, ["act"])


def failing(error: BaseException) -> Callable[[], object]:
    def work() -> object:
        raise error

    return work


def test_a_command_that_works_ends_with_0() -> None:
    assert run(lambda: None).exit_code == Exit.OK


def test_an_error_of_ours_is_a_sentence_and_its_code_without_a_traceback() -> None:
    result = run(failing(ConfigurationError("There is no profile 'x'.", Code.UNKNOWN_PROFILE)))
    assert result.exit_code == Exit.USAGE
    assert result.stderr == "Error: There is no profile 'x'.\n       (unknown-profile)\n"
    assert result.stdout == ""


def test_an_unreachable_database_is_the_environment() -> None:
    result = run(failing(DatabaseUnreachable("No Postgres answers at postgresql://db/x.")))
    assert result.exit_code == Exit.ENVIRONMENT
    assert "(database-unreachable)" in result.stderr


def test_a_defect_says_where_the_log_is_and_hides_the_traceback() -> None:
    result = run(failing(ZeroDivisionError("division by zero")))
    assert result.exit_code == Exit.INTERNAL
    assert "ZeroDivisionError: division by zero" in result.stderr
    assert "logs/pagemill.log" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_defect_shows_its_traceback_when_asked() -> None:
    result = run(failing(ZeroDivisionError("division by zero")), debug=True)
    assert result.exit_code == Exit.INTERNAL
    assert "Traceback" in result.stderr


def test_ctrl_c_ends_with_130() -> None:
    result = run(failing(KeyboardInterrupt()))
    assert result.exit_code == Exit.INTERRUPTED
    assert result.stderr == "Interrupted.\n"


def test_a_commands_own_exit_code_passes() -> None:
    assert run(failing(typer.Exit(Exit.INCOMPLETE))).exit_code == Exit.INCOMPLETE


def test_a_usage_error_passes_with_2() -> None:
    result = run(failing(typer.BadParameter("not like this")))
    assert result.exit_code == Exit.USAGE
    assert "not like this" in result.stderr


def test_a_full_disk_is_the_environment() -> None:
    known = as_environment(OSError(errno.ENOSPC, "No space left on device"))
    assert isinstance(known, StoreFull)
    assert run(failing(OSError(errno.ENOSPC, "No space left on device"))).exit_code == Exit.ENVIRONMENT


def test_a_missing_package_is_named() -> None:
    known = as_environment(ModuleNotFoundError("No module named 'pymupdf'", name="pymupdf"))
    assert known is not None
    assert known.code is Code.PACKAGE_MISSING
    assert "pymupdf" in known.message


def test_a_forbidden_file_is_named() -> None:
    known = as_environment(PermissionError(errno.EACCES, "Permission denied", "/etc/shadow"))
    assert known is not None
    assert "/etc/shadow" in known.message


def test_any_other_error_is_a_defect() -> None:
    assert as_environment(OSError(errno.EBADF, "Bad file descriptor")) is None
    assert as_environment(ValueError("x")) is None


def test_controls_in_a_message_do_not_reach_the_terminal() -> None:
    first, _ = lines_of(ConfigurationError("no document 'a\x1b[31m\udcff'"))
    assert first == "Error: no document 'a\\x1b[31m\\xff'"


@pytest.mark.parametrize("word", ["status", "--nonsense"])
def test_unknown_words_are_usage_errors(word: str) -> None:
    app = typer.Typer(cls=Boundary)
    app.callback()(lambda: None)
    app.command("one")(lambda: None)
    assert CliRunner().invoke(app, [word]).exit_code == Exit.USAGE


def test_an_argument_that_is_no_utf8_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["pagemill", "search", "\udcff"])
    result = run("\udcff".encode)
    assert result.exit_code == Exit.USAGE
    assert result.stderr.startswith("Error: '\\xff' is no UTF-8.")


def test_a_setting_that_is_no_utf8_is_wrong_usage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGEMILL_DATABASE_URL", "\udcff")
    result = run("\udcff".encode)
    assert result.exit_code == Exit.USAGE
    assert "'PAGEMILL_DATABASE_URL=\\xff'" in result.stderr


def test_an_encoding_error_without_such_an_argument_is_a_defect() -> None:
    with pytest.raises(UnicodeEncodeError) as raised:
        "\udcff".encode()
    assert as_argument(raised.value, ["pagemill", "search", "ü"]) is None
    assert as_argument(ValueError(), ["\udcff"]) is None


def test_a_reader_that_went_away_ends_with_141_and_no_word() -> None:
    result = run(failing(BrokenPipeError()))
    assert result.exit_code == Exit.PIPE_CLOSED
    assert result.output == ""


def test_closed_streams_are_written_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setattr("sys.stderr", None)
    prepare_streams()
    with sys.stdout as out, sys.stderr as err:
        assert out.write("text") + err.write("text") == 8
        assert not out.isatty()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_help_that_finds_no_room_is_told_without_a_traceback(unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        words, env = (
            [sys.executable, "-m", "cli.main", "--help"],
            os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=env)
    assert done.returncode == Exit.ENVIRONMENT
    assert done.stderr.startswith("Error: No space left")
