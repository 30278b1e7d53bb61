"""What profiles promise of their models, held against the models."""

from pathlib import Path

import pytest

from models.errors import Code, ConfigurationError
from models.profiles import PROFILES, get
from models.text import scripts
from tasks.work.engines.ppocr import FasterPaddle
from tasks.work.engines.rapidocr import RapidReader
from tasks.work.engines.reader import read_page
from tasks.work.metrics import agreement
from tests.unit import pages

pytestmark = pytest.mark.slow


def _agreement(reader: type[FasterPaddle] | type[RapidReader], name: str, page_no: int, home: Path) -> float:
    page = pages.request(pages.corpus(name), home, "check", page_no)
    layer = "\n".join(word.text for word in page.words)
    page = pages.request(pages.corpus(name), home, "ignore", page_no)
    text = read_page(reader, page, frozenset()).text
    # Spaces in Chinese and Japanese are the layer's, not the print's.
    return agreement("".join(layer.split()), "".join(text.split()))


def test_the_tiny_model_reads_chinese_and_says_so(tmp_path: Path) -> None:
    assert "han" in get("ppocr").scripts
    assert _agreement(FasterPaddle, "digital-zh-install-guide.pdf", 4, tmp_path) > 0.95


def test_the_tiny_model_reads_no_kana_and_does_not_say_so(tmp_path: Path) -> None:
    assert "kana" not in get("ppocr").scripts
    assert _agreement(FasterPaddle, "digital-ja-install-guide.pdf", 4, tmp_path) < 0.5


@pytest.mark.slow
def test_the_small_model_reads_kana_and_says_so(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    assert "kana" in get("rapidocr").scripts
    assert _agreement(RapidReader, "digital-ja-install-guide.pdf", 4, tmp_path) > 0.95


def test_the_tiny_model_reads_no_cyrillic_and_does_not_say_so(tmp_path: Path) -> None:
    assert "cyrillic" not in get("ppocr").scripts
    page = pages.request(pages.corpus("digital-ru-install-guide.pdf"), tmp_path, "ignore", 3)
    assert scripts(read_page(FasterPaddle, page, frozenset()).text)["cyrillic"] == 0


def test_an_unknown_profile_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(ConfigurationError, match="ppocr, rapidocr") as caught:
        get("nonsense")
    assert caught.value.code is Code.UNKNOWN_PROFILE


def test_every_profile_says_its_licence_and_makes_its_recipe() -> None:
    for name, profile in PROFILES.items():
        assert profile.name == name
        assert profile.licence
        assert (profile.recipe().profile, profile.recipe().revision) == (name, profile.revision)
