"""Commands where something is wrong: clear sentences, codes and exit codes, and nothing lost."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import factories
from tests.e2e.shell import Shell

pytestmark = pytest.mark.slow

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell with a fresh home, whose Postgres is stopped at the end."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    yield shell
    shell.run("down")


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    return factories.write(tmp_path / "in" / "a.pdf", factories.pdf("Hello"))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--profile", "nonsense"), "unknown-profile"),
        (("--recipe", "colour=blue"), "unknown-recipe-key"),
        (("--recipe", "text_layer=sometimes"), "unknown-recipe-key"),
        (("--recipe", "jpeg_quality=1000"), "unknown-recipe-key"),
        (("--recipe", "nothing"), "unknown-recipe-key"),
    ],
)
def test_an_unknown_profile_or_recipe_key_ends_with_2_before_anything_starts(
    tmp_path: Path, pdf: Path, options: tuple[str, ...], code: str
) -> None:
    done = Shell(tmp_path / "home").run("ingest", pdf, *options)
    assert done.returncode == 2
    assert f"({code})" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "home" / "postgres").exists()


@pytest.mark.parametrize(
    "command", [("status",), ("search", "x"), ("timings",), ("show", "1"), ("db", "migrate")]
)
def test_an_unreachable_database_ends_with_4(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = Shell(tmp_path / "home").run(*command, PAGEMILL_DATABASE_URL=NOWHERE)
    assert done.returncode == 4
    assert "(database-unreachable)" in done.stderr
    assert "Traceback" not in done.stderr


def test_ingest_without_its_database_ends_with_4(tmp_path: Path, pdf: Path) -> None:
    done = Shell(tmp_path / "home").run("ingest", pdf, PAGEMILL_DATABASE_URL=NOWHERE)
    assert done.returncode == 4
    assert "(database-unreachable)" in done.stderr


def test_a_password_in_the_database_url_is_never_shown(tmp_path: Path) -> None:
    url = "postgresql://me:hunter2@127.0.0.1:1/nothing"
    done = Shell(tmp_path / "home").run("status", PAGEMILL_DATABASE_URL=url)
    assert "hunter2" not in done.stdout + done.stderr


def test_a_url_that_is_none_ends_with_2(tmp_path: Path) -> None:
    done = Shell(tmp_path / "home").run("status", PAGEMILL_DATABASE_URL="not a url")
    assert done.returncode == 2
    assert "PAGEMILL_DATABASE_URL" in done.stderr


def test_a_setting_that_is_wrong_is_named(tmp_path: Path) -> None:
    done = Shell(tmp_path / "home").run("status", PAGEMILL_JOBS="many")
    assert done.returncode == 2
    assert "PAGEMILL_JOBS" in done.stderr


@pytest.mark.parametrize("command", [("status",), ("ingest", "."), ("down",)])
def test_a_home_that_cannot_be_written_ends_with_4(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = Shell(factories.write(tmp_path / "home", b"a file")).run(*command)
    assert done.returncode == 4
    assert "PAGEMILL_HOME" in done.stderr
    assert "(home-unwritable)" in done.stderr


def test_the_doctor_says_what_to_do_about_a_home_and_goes_on(tmp_path: Path) -> None:
    shell = Shell(factories.write(tmp_path / "home", b"a file"))
    lines = {line["name"]: line for line in shell.json("doctor", code=4)}
    assert lines["Home"]["level"] == "fail"
    assert "PAGEMILL_HOME" in lines["Home"]["advice"]
    assert lines["OCR engine"]["level"] == "ok"


def test_a_document_that_is_not_there_ends_with_2(shell: Shell) -> None:
    for command in (
        ("show", "nothing.pdf"),
        ("status", "999"),
        ("export", "999", "--format", "md"),
        ("timings", "9"),
    ):
        done = shell.run(*command)
        assert done.returncode == 2
        assert "(not-found)" in done.stderr


def test_an_empty_knowledge_base_says_how_to_begin(shell: Shell) -> None:
    assert "pagemill ingest" in shell.run("status").stdout
    assert "pagemill ingest" in shell.run("timings").stdout
    assert shell.json("status") == []


def test_passwords_come_from_a_file(shell: Shell, tmp_path: Path) -> None:
    path = factories.write(tmp_path / "locked.pdf", factories.encrypted_pdf("Secret garden", user="s3same"))
    refused = shell.json("ingest", path, code=3)["documents"][0]
    assert (refused["status"], refused["code"]) == ("rejected", "needs-password")
    passwords = factories.write(tmp_path / "passwords", b"wrong\ns3same\n")
    opened = shell.json("ingest", path, "--password-file", passwords)["documents"][0]
    assert opened["status"] == "complete"


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX alone")
def test_a_name_that_is_not_utf8_is_read_shown_and_exported(shell: Shell, tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.pdf"))
    factories.write(path, factories.pdf("Coffee house"))
    report = shell.json("ingest", path)
    document = str(report["documents"][0]["id"])
    assert report["documents"][0]["name"].endswith("caf\\xe9.pdf")
    assert "caf\\xe9.pdf" in shell.run("status").stdout
    assert "Coffee house" in shell.run("export", document, "--format", "txt").stdout
    assert shell.json("show", path)["document"]["id"] == int(document)


def test_ctrl_c_stops_gently_and_the_next_run_goes_on(shell: Shell, tmp_path: Path) -> None:
    path = factories.long_pdf(tmp_path / "long.pdf", 40)
    stopped = shell.interrupted("ingest", path, "--jobs", 1, after="ocr")
    assert stopped.returncode == 130
    assert "Stopping after the pages in hand" in stopped.stdout
    assert "1 document not finished. Nothing that was read is lost." in stopped.stdout
    assert f"pagemill ingest {path} --jobs 1" in stopped.stdout
    before = len([page for page in shell.json("status", path)["pages"] if page["verdict"]])
    rest = shell.json("ingest", path)
    assert before + rest["pages_read"] == 40
    assert rest["documents"][0]["status"] == "complete"


def test_down_stops_postgres_and_the_next_command_starts_it_again(shell: Shell) -> None:
    assert shell.run("status").returncode == 0
    assert shell.run("down").stdout == "Postgres stopped.\n"
    assert shell.run("down").stdout == "No embedded Postgres was running.\n"
    assert shell.run("status").returncode == 0
