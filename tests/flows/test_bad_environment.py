"""Homes, databases and settings that cannot be used: a sentence, a code, an exit code, no traceback."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from db import tables
from db.engine import Database
from tests import factories
from tests.e2e.shell import Shell

# Each starts the command; `make check` has a minute.
pytestmark = pytest.mark.slow

_USAGE, _ENVIRONMENT = 2, 4


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return factories.write(tmp_path / "in" / "a.pdf", factories.pdf("Hello"))


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A folder that root cannot write either."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs", disk], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def _says(done: "subprocess.CompletedProcess[str]", code: int, *words: str) -> None:
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("Error: ")
    assert all(word in done.stderr for word in words), done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert "Internal error" not in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting takes root")
def test_a_home_on_a_read_only_disk_ends_with_4(read_only: Path, pdf: Path) -> None:
    _says(Shell(read_only / "home").run("ingest", pdf), _ENVIRONMENT, "(home-unwritable)", "PAGEMILL_HOME")


def test_a_home_below_a_file_ends_with_4(tmp_path: Path, pdf: Path) -> None:
    home = factories.write(tmp_path / "file", b"x") / "home"
    _says(Shell(home).run("ingest", pdf), _ENVIRONMENT, "(home-unwritable)")


def test_pages_that_found_no_place_in_the_store_are_read_once_that_is_mended(
    tmp_path: Path, pdf: Path, postgres: str, database: Database
) -> None:
    shell = Shell(tmp_path / "home")
    in_the_way = factories.write(tmp_path / "home" / "store", b"in the way")
    done = shell.run("ingest", pdf, PAGEMILL_DATABASE_URL=postgres)
    _says(done, _ENVIRONMENT, "Page images cannot be written", "(home-unwritable)")
    tries = sa.select(tables.claim.c.attempt).where(tables.claim.c.page_no > 0)
    assert database.run(lambda conn: conn.scalars(tries).all()) == [0]
    in_the_way.unlink()
    assert shell.run("ingest", pdf, PAGEMILL_DATABASE_URL=postgres).returncode == 0


@pytest.mark.parametrize("user", ["nobody", "no such user", "x y"])
def test_a_database_that_lets_nobody_in_ends_with_4(
    tmp_path: Path, pdf: Path, postgres: str, user: str
) -> None:
    url = sa.make_url(postgres).set(username=user, password="secret").render_as_string(hide_password=False)
    done = Shell(tmp_path / "home").run("ingest", pdf, PAGEMILL_DATABASE_URL=url)
    assert done.returncode in {_USAGE, _ENVIRONMENT}, done.stderr
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stdout + done.stderr


def test_a_host_without_a_name_ends_with_4(tmp_path: Path, pdf: Path) -> None:
    url = "postgresql://me@no-such-host.invalid/pagemill"
    done = Shell(tmp_path / "home").run("ingest", pdf, PAGEMILL_DATABASE_URL=url)
    _says(done, _ENVIRONMENT, "(database-unreachable)", "PAGEMILL_DATABASE_URL")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--profile", "../../etc/passwd"), "unknown-profile"),
        (("--recipe", "profile=x"), "unknown-recipe-key"),
        (("--recipe", "=1"), "unknown-recipe-key"),
        (("--recipe", "long_edge_px=huge"), "unknown-recipe-key"),
        (("--recipe", "long_edge_px=1e999"), "unknown-recipe-key"),
        (("--recipe", "annotations=perhaps"), "unknown-recipe-key"),
    ],
)
def test_what_does_not_exist_ends_with_2_and_says_what_does(
    tmp_path: Path, pdf: Path, options: tuple[str, ...], code: str
) -> None:
    _says(Shell(tmp_path / "home").run("ingest", pdf, *options), _USAGE, f"({code})")


def test_a_password_file_that_is_not_there_ends_with_2_before_anything_is_read(
    tmp_path: Path, pdf: Path
) -> None:
    shell = Shell(tmp_path / "home")
    done = shell.run("ingest", pdf, PAGEMILL_PASSWORD_FILE=str(tmp_path / "nowhere"))
    _says(done, _USAGE, "PAGEMILL_PASSWORD_FILE", "nowhere", "No such file")
    assert not (tmp_path / "home" / "postgres").exists()


@pytest.mark.parametrize("content", ["s3same\n".encode("utf-16"), b"\xff\xfe\xfa"])
def test_a_password_file_that_is_no_text_ends_with_2(tmp_path: Path, pdf: Path, content: bytes) -> None:
    passwords = factories.write(tmp_path / "passwords", content)
    done = Shell(tmp_path / "home").run("ingest", pdf, "--password-file", passwords)
    _says(done, _USAGE, "UTF-8", "PAGEMILL_PASSWORD_FILE")
    assert "s3same" not in done.stderr


def test_a_password_file_from_a_windows_editor_opens(
    tmp_path: Path, postgres: str, database: Database
) -> None:
    secret = factories.write(tmp_path / "in" / "a.pdf", factories.encrypted_pdf("For few", user="s3same"))
    passwords = factories.write(tmp_path / "passwords", b"\xef\xbb\xbfs3same\r\n")
    shell = Shell(tmp_path / "home")
    done = shell.run("ingest", secret, "--password-file", passwords, PAGEMILL_DATABASE_URL=postgres)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_path_that_is_not_there_ends_with_2(tmp_path: Path) -> None:
    done = Shell(tmp_path / "home").run("ingest", tmp_path / "nowhere")
    assert done.returncode == _USAGE
    assert "nowhere" in done.stderr.replace("\n", "")
    assert "Traceback" not in done.stderr


def test_a_prefect_server_that_is_away_ends_with_4_before_anything_is_read(tmp_path: Path, pdf: Path) -> None:
    shell = Shell(tmp_path / "home")
    done = shell.run("ingest", pdf, PREFECT_API_URL="http://127.0.0.1:1/api")
    _says(done, _ENVIRONMENT, "(prefect-unreachable)", "http://127.0.0.1:1/api", "unset PREFECT_API_URL")
    done = shell.run("ingest", pdf, PREFECT_API_URL="nonsense")
    _says(done, _USAGE, "(configuration)", "Write http://host:4200/api")
