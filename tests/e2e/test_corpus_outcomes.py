"""A dozen files of the corpus through the real command: each ends as its manifest says."""

import csv
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.corpus import ACCEPTED, ERRATA, PAGEMILL, Outcome, measure

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"

# Small and little to read: refusals of every kind, repaired files, blank pages, pictures.
FILES = (
    "attach-javascript.pdf",
    "bomb.gif",
    "broken-clean-zero-pages.pdf",
    "broken-header-only.pdf",
    "broken-no-xref.pdf",
    "broken-page-tree-cycle.pdf",
    "broken.png",
    "digital-blank-no-contents.pdf",
    "digital-en-invisible-text.pdf",
    "empty.pdf",
    "enc-unknown-password.pdf",
    "img-g4-orientation6.tif",
    "img-interlaced.png",
    "not-a-pdf-docx.pdf",
    "not-a-pdf-html.pdf",
    "product-fr-ingredients-png-named.jpg",
    "scan-jpx-church.pdf",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not on this machine"),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    """One ingest over a folder of copies."""
    folder, home = tmp_path_factory.mktemp("corpus"), tmp_path_factory.mktemp("home")
    for name in FILES:
        shutil.copy(CORPUS / name, folder / name)
    _copy_manifest(folder)
    try:
        outcomes, _ = measure(folder, home, [])
        yield {one.file: one for one in outcomes}
    finally:
        subprocess.run([PAGEMILL, "down"], env=os.environ | {"PAGEMILL_HOME": str(home)}, check=True)


def _copy_manifest(folder: Path) -> None:
    with (CORPUS / "manifest.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["file"] in FILES]
    with (folder / "manifest.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["file", "expected"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("name", sorted(set(FILES) - set(ERRATA)))
def test_a_file_ends_as_its_manifest_says(found: dict[str, Outcome], name: str) -> None:
    outcome = found[name]
    assert outcome.agrees, outcome


def test_every_page_of_an_accepted_file_has_a_reading_or_a_reason(found: dict[str, Outcome]) -> None:
    accepted = [one for one in found.values() if one.status in ACCEPTED]
    assert accepted
    assert all(one.pages for one in accepted)
    assert [one.file for one in accepted if one.lost_pages] == []


def test_every_refusal_has_a_sentence(found: dict[str, Outcome]) -> None:
    refused = [one for one in found.values() if one.status == "rejected"]
    assert refused
    assert [one.file for one in refused if not one.message or " " not in one.message] == []


def test_where_the_manifest_is_wrong_the_text_is_there(found: dict[str, Outcome]) -> None:
    outcome = found["img-g4-orientation6.tif"]
    assert outcome.status in ACCEPTED
    assert any(page.has_text for page in outcome.pages)
