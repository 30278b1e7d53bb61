"""The command from outside: help, versions, what it imports, wrong usage."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from cli.main import app

HEAVY = ("prefect", "sqlalchemy", "psycopg", "pymupdf", "numpy", "PIL", "rich", "pydantic")

COMMANDS = (
    *("ingest", "status", "search", "show", "timings", "export"),
    *("profiles", "checks", "doctor", "down", "db"),
)


def pagemill(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "cli.main", *arguments], capture_output=True, text=True, check=False
    )


def test_help_lists_every_command_and_every_exit_code() -> None:
    shown = pagemill("--help")
    assert shown.returncode == 0
    words = [line.split()[0] for line in shown.stdout.splitlines() if line.strip()]
    assert [name for name in COMMANDS if name not in words] == []
    assert [code for code in ("0", "1", "2", "3", "4", "130") if code not in words] == []


def test_no_line_of_help_is_cut_off() -> None:
    assert "..." not in pagemill("--help").stdout.replace("[ARGS]...", "")


def test_without_arguments_help_is_shown() -> None:
    assert "Usage:" in pagemill().stdout + pagemill().stderr


def test_help_imports_nothing_heavy() -> None:
    script = "import sys; from cli import main; print([name for name in %r if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script % (HEAVY,)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def _helps(*words: str) -> Iterator[str]:
    """The help of a command, and of all commands below it."""
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"}, prog_name="pagemill").stdout
    yield shown
    for name in re.findall(r"^  ([a-z]+)  ", shown.partition("Commands:")[2], re.MULTILINE):
        # A benchmark prints the help of its own script.
        yield from _helps(*words, name) if words != ("bench",) else ()


def test_all_help_fits_80_columns_and_speaks_of_no_types_of_python() -> None:
    helps = list(_helps())
    assert len(helps) > 30
    assert [line for text in helps for line in text.splitlines() if len(line) > 80] == []
    assert [text for text in helps if re.search(r"[{}]|<(list|str|int|float|file|path)\b|%Y", text)] == []


def test_arguments_are_shown_as_they_are_typed() -> None:
    usages = [text.splitlines()[0] for text in _helps()]
    assert "Usage: pagemill ingest [OPTIONS] PATH..." in usages
    assert "Usage: pagemill backfill compare [OPTIONS] [BACKFILL]" in usages
    assert 'Usage: pagemill ask [OPTIONS] PROFILE IMAGE... ["QUESTION"]' in usages
    assert "Usage: pagemill serve [OPTIONS] PROFILE [-- FLAG...]" in usages


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0
    assert "Usage:" in shown.stdout


def test_the_version_is_the_packages() -> None:
    assert pagemill("--version").stdout == f"pagemill {version('pagemill')}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("ingest",),
        ("ingest", "/no/such/folder"),
        ("ingest", ".", "--jobs", "0"),
        ("search", "x", "--limit", "0"),
        ("timings", "--by", "colour"),
        ("export", "1", "--format", "docx"),
        ("export", "1"),
        ("show", "1", "--page", "0"),
        ("db", "nonsense"),
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2_and_a_sentence(arguments: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert "Error:" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_profiles_come_with_licence_and_scripts() -> None:
    profiles = {one["name"]: one for one in json.loads(pagemill("profiles", "--json").stdout)}
    assert {"ppocr", "rapidocr"} <= set(profiles)
    assert "Apache" in profiles["ppocr"]["licence"]
    assert {"han", "latin"} <= set(profiles["ppocr"]["scripts"])
    assert "ppocr" in pagemill("profiles").stdout


@pytest.mark.slow
def test_checks_come_with_severity_and_a_line() -> None:
    checks = {one["code"]: one for one in json.loads(pagemill("checks", "--json").stdout)}
    assert checks["truncated"]["severity"] == "error"
    assert all(one["about"] for one in checks.values())
    assert "truncated" in pagemill("checks").stdout


def test_a_path_that_is_empty_is_not_the_folder_one_is_in() -> None:
    shown = CliRunner().invoke(app, ["ingest", ""])
    assert shown.exit_code == 2
    assert "A path is empty" in shown.stderr


@pytest.mark.parametrize("words", [["ingest", "."], ["backfill", "run"], ["review", "retry", "1:1"]])
def test_more_processes_than_a_machine_has_cores_for_are_refused(words: list[str]) -> None:
    shown = CliRunner().invoke(app, [*words, "--jobs", "100000"])
    assert shown.exit_code == 2
    assert "less than or equal to 1024" in shown.stderr
