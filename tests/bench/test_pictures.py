"""Pictures for requests: of pages that can be read, whatever the others do."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from bench import pictures
from models.errors import ConfigurationError
from tests.bench import toys


def test_pictures_are_made_of_readable_pages_that_are_not_blank(in_process: None, tmp_path: Path) -> None:
    documents = [toys.BLANK, toys.BROKEN, toys.SCAN]
    made = pictures.make(documents, toys.GLM.recipe(), tmp_path, 4, 1)
    assert {one.document for one in made} == {toys.SCAN.name}
    with Image.open(made[0].path) as image:
        assert image.size == (made[0].width_px, made[0].height_px)
    assert len(pictures.repeated(made, 5)) == 5
    with pytest.raises(ConfigurationError, match="None of the documents"):
        pictures.make([toys.BLANK, toys.BROKEN], toys.GLM.recipe(), tmp_path, 4, 1)
    assert toys.FAX in set(pictures.files([toys.DOCUMENTS]))


def dies_of_a_scan(document: Path, *page: Any) -> pictures.Picture:
    if document == toys.SCAN:
        os.kill(os.getpid(), signal.SIGKILL)
    return pictures.Picture(document, 10, 20, document.name, page[1])


@pytest.mark.slow
def test_a_page_that_kills_its_process_is_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pictures, "_make", dies_of_a_scan)
    made = pictures.make([toys.SCAN, toys.TYPED], toys.GLM.recipe(), tmp_path, 9, 1)
    assert {one.document for one in made} == {toys.TYPED.name}


@pytest.mark.slow
def test_pictures_are_made_in_processes_of_their_own(tmp_path: Path) -> None:
    made = pictures.make([toys.TYPED], toys.GLM.recipe(), tmp_path, 1, 1)
    assert [one.document for one in made] == [toys.TYPED.name]
