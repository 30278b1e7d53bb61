"""Where Prefect has to be asked whether a server is named, and where nothing could have named one."""

import subprocess
import sys
from pathlib import Path

import pytest

from cli.environment import set_prefect_variables
from flows.local import may_name_server


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """As every command makes it."""
    variables = {"PATH": "/bin", "HOME": str(tmp_path)}
    set_prefect_variables(tmp_path / "home", variables)
    return variables


def test_what_the_command_itself_sets_names_none(environ: dict[str, str], tmp_path: Path) -> None:
    assert any(name.startswith("PREFECT_") for name in environ)
    assert not may_name_server(environ, tmp_path)


@pytest.mark.parametrize(
    "name", ["PREFECT_API_URL", "prefect_api_url", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"]
)
def test_any_other_variable_of_prefect_may(environ: dict[str, str], tmp_path: Path, name: str) -> None:
    assert may_name_server(environ | {name: "x"}, tmp_path)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("home/prefect/profiles.toml", ""),
        ("prefect.toml", ""),
        (".env", "export prefect_api_url=http://host:4200/api\n"),
        ("pyproject.toml", '[tool.prefect]\napi.url = "http://host:4200/api"\n'),
        ("pyproject.toml", '[tool]\nprefect = { api = { url = "http://host:4200/api" } }\n'),
        ("pyproject.toml", "is no TOML = ="),
    ],
)
def test_a_file_that_prefect_reads_may(environ: dict[str, str], tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert may_name_server(environ, tmp_path)


def test_files_that_say_nothing_to_prefect_do_not(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PAGEMILL_JOBS=2\n")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\ndependencies = ["prefect"]\n[tool.ruff]\n'
    )
    assert not may_name_server(environ, tmp_path)
    (tmp_path / ".env").write_bytes(b"NAME=\xff\n")
    assert not may_name_server(environ, tmp_path)


def test_a_home_that_is_none_of_ours_is_looked_into(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    theirs = environ | {"PREFECT_HOME": str(tmp_path / "theirs")}
    assert not may_name_server(theirs, tmp_path)
    (tmp_path / "theirs" / "profiles.toml").write_text('active = "local"\n')
    assert may_name_server(theirs, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("told", [{}, {"PREFECT_LOCAL_STORAGE_PATH": "/srv/results"}])
def test_kept_results_are_where_prefect_keeps_them(
    environ: dict[str, str], tmp_path: Path, told: dict[str, str]
) -> None:
    code = (
        "import sys\nfrom flows.upkeep import kept_results\n"
        "found, is_asked = kept_results(), 'prefect' in sys.modules\n"
        "from prefect.settings import get_current_settings\n"
        "print(found == get_current_settings().results.local_storage_path, is_asked)"
    )
    command = [sys.executable, "-c", code]
    path = {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        command, check=True, env=environ | told | path, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.split() == ["True", str(bool(told))]


@pytest.mark.slow
@pytest.mark.parametrize("module", ["cli.maintaining", "cli.rereading", "cli.deciding", "cli.ingesting"])
def test_commands_do_without_prefect_where_no_server_is_named(module: str) -> None:
    code = f"import sys, {module}\nsys.exit('prefect' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
