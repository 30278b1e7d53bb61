"""`pagemill ingest` with a served model: one person, one server, no Prefect."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from models import profiles
from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm
from tasks.work.serving.golden import golden_pages
from tests import factories
from tests.e2e.shell import Shell

pytestmark = pytest.mark.slow

VLM = profiles.get("glm-ocr").vlm


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell with a fresh home, whose Postgres is stopped at the end."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    yield shell
    shell.run("down")


@pytest.fixture
def scans(tmp_path: Path) -> Path:
    """Two pages."""
    factories.write(tmp_path / "scans" / "manual.pdf", factories.pdf("The main pump", "Trim tabs"))
    return tmp_path / "scans"


def test_documents_are_read_by_the_server_that_was_named(shell: Shell, scans: Path) -> None:
    assert VLM is not None
    words = Said("# Hydraulics\n\nThe main pump stands behind the wall")
    with ScriptedVllm(words, model=Model(name=VLM.served_name, pixels=VLM.pixels)) as server:
        believed = {"PAGEMILL_OCR_URL": f"{server.url}/v1", "PAGEMILL_OCR_GOLDEN": "false"}
        done = shell.run("ingest", scans, "--profile", "glm-ocr", **believed)
        assert done.returncode in {0, 3}, done.stderr
        # Two pages, each a little more often where the checks doubt what the script says.
        assert 2 <= len(server.entries) <= 12
        assert {entry.asked.prompt for entry in server.entries} == {"Text Recognition:"}
    found = shell.json("search", "hydraulics pump")
    assert "main pump" in str(found)


def test_a_server_that_misreads_golden_pages_gets_nothing_of_the_archive(shell: Shell, scans: Path) -> None:
    assert VLM is not None
    with ScriptedVllm(Said("By the way"), model=Model(name=VLM.served_name, pixels=VLM.pixels)) as server:
        done = shell.run("ingest", scans, "--profile", "glm-ocr", PAGEMILL_OCR_URL=server.url)
        asked = {image for entry in server.entries for image in entry.asked.images}
    assert done.returncode == 2
    assert "misreads" in done.stderr
    assert "PAGEMILL_OCR_GOLDEN=false" in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3
    assert asked == {page.sha256 for page in golden_pages(scans)}


def test_without_a_server_one_line_says_what_to_do(shell: Shell, scans: Path) -> None:
    done = shell.run("ingest", scans, "--profile", "glm-ocr")
    assert done.returncode == 2
    assert "'pagemill serve glm-ocr'" in done.stderr
    assert "PAGEMILL_OCR_URL" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_wrong_address_ends_with_one_line(shell: Shell, scans: Path) -> None:
    done = shell.run(
        "ingest", scans, "--profile", "glm-ocr", PAGEMILL_OCR_URL="http://no-such-host.invalid:8000"
    )
    assert done.returncode == 2
    assert "PAGEMILL_OCR_URL" in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3
