import random
from pathlib import Path
from typing import Any

import pytest

from models.document import MOST_OPEN, MediaType
from models.recipe import Recipe
from tasks.work import pdf_documents
from tasks.work.pdf_documents import opened
from tasks.work.preprocess import preprocess_page
from tasks.work.split import split_pages
from tests import factories


@pytest.fixture
def opens(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that are opened, in order."""
    found, really = list[str](), pdf_documents._open

    def noted(path: Path, passwords: tuple[str, ...]) -> Any:
        found.append(path.name)
        return really(path, passwords)

    monkeypatch.setattr(pdf_documents, "_open", noted)
    return found


def _files(home: Path, count: int) -> list[Path]:
    texts = (f"This is file {number}" for number in range(count))
    return [factories.write(home / f"{number}.pdf", factories.pdf(text)) for number, text in enumerate(texts)]


def test_the_last_documents_are_not_opened_again(tmp_path: Path, opens: list[str]) -> None:
    paths = _files(tmp_path, MOST_OPEN + 1)
    for path in [*paths, *reversed(paths[1:])]:
        opened(path, ())
    assert opens == [path.name for path in paths]
    opened(paths[0], ())
    assert opens[-1] == "0.pdf"


def test_large_documents_are_not_kept_open_beside_others(
    tmp_path: Path, opens: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _files(tmp_path, 2)
    monkeypatch.setattr(pdf_documents, "_MOST_BYTES", first.stat().st_size)
    for path in (first, first, second, first):
        opened(path, ())
    assert opens == ["0.pdf", "1.pdf", "0.pdf"]


def test_what_one_document_showed_is_never_shown_for_another(tmp_path: Path) -> None:
    paths = _files(tmp_path, MOST_OPEN + 4)
    order = random.Random(7).choices(paths, k=150)
    made: dict[str, set[str]] = {}
    for path in order:
        (facts,) = split_pages(path, MediaType.PDF, 1, 1)
        assert " ".join(word.text for word in facts.words) == f"This is file {path.stem}"
        image = preprocess_page(path, MediaType.PDF, 1, Recipe(), tmp_path / "store")
        made.setdefault(path.name, set()).add(image.sha256)
    assert all(len(pictures) == 1 for pictures in made.values())
    assert len(set.union(*made.values())) == len(paths)
