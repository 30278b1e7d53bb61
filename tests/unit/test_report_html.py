"""A run's report: one file that is safe to open, works anywhere, and says what there is to say."""

import base64
import io
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cli.report.page import render
from cli.report.thumbnails import data_url
from models.document import DocumentStatus
from models.outcome import StageOutcome
from models.review import PageToReview, Try
from models.run_report import FindingCount, RunReport
from models.stage import Stage
from models.verdict import Finding, Severity, Verdict
from tests.unit.shown import SHA, document_summary, run_summary

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
PICTURE = "data:image/jpeg;base64,/9j/4AAQ"


class Outline(HTMLParser):
    """Tags with their attributes, and whether each was closed."""

    VOID = frozenset({"meta", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def doubted(**facts: Any) -> PageToReview:
    known: dict[str, Any] = {
        "page": "7:2",
        "document_id": 7,
        "page_no": 2,
        "name": "/scans/pumps.pdf",
        "verdict": Verdict.BAD,
        "severity": Severity.ERROR,
        "code": "truncated",
        "message": "Cut off.",
        "findings": (Finding("truncated", Severity.ERROR, "Cut off."),),
        "reading_id": 5,
        "profile": "ppocr",
        "image_sha256": SHA,
        "image_suffix": ".jpg",
        "text": "half a ta",
    }
    return PageToReview(**known | facts)


def report(*pages: PageToReview, **facts: Any) -> RunReport:
    known: dict[str, Any] = {
        "summary": run_summary(
            document_summary(), document_summary(id=8, status=DocumentStatus.NEEDS_REVIEW)
        ),
        "profile": "ppocr",
        "stages": (
            StageOutcome(Stage.OCR, 2, 40, 8, 64.0, 30.0, 1),
            StageOutcome(Stage.LOAD, 2, 40, 0, 16.0, 20.0, 0),
        ),
        "findings": (
            FindingCount("truncated", Severity.ERROR, 3, 1),
            FindingCount("tokens-stripped", Severity.INFO, 6, 2),
        ),
        "worst": pages,
        "waiting": len(pages),
    }
    return RunReport(**known | facts)


def outline(shown: RunReport, pictures: dict[str, str] | None = None) -> Outline:
    return Outline(render(shown, pictures or {}))


def said(shown: RunReport) -> str:
    return " ".join(" ".join(outline(shown).words).split())


def test_every_tag_is_closed() -> None:
    found = outline(report(doubted(), doubted(page="7:3", page_no=3)), {"7:2": PICTURE})
    assert found.open == []
    assert len(found.all("article")) == 2


def test_texts_names_and_reasons_are_shown_as_they_are_and_never_run() -> None:
    evil = doubted(
        text=EVIL,
        name=f"/scans/{EVIL.replace('/', '')}.pdf",
        message=EVIL,
        code=EVIL,
        profile=EVIL,
        findings=(Finding("x", Severity.ERROR, EVIL),),
        tries=(Try(1, EVIL, EVIL, Verdict.BAD, (EVIL,), "", 1.0, False),),
    )
    shown = report(evil, profile=EVIL, findings=(FindingCount(EVIL, Severity.INFO, 1, 1),))
    found = outline(shown)
    assert found.all("script") == found.all("img") == []
    assert not [attrs for _, attrs in found.tags if any(name.startswith("on") for name in attrs)]
    assert said(shown).count("alert(1)") >= 6


def test_nothing_is_loaded_from_anywhere() -> None:
    text = render(report(doubted()), {"7:2": PICTURE})
    assert not re.search(r"(?:https?:)?//|@import|url\(|<link|<script|<iframe", text)
    (policy,) = [attrs for attrs in Outline(text).all("meta") if "http-equiv" in attrs]
    assert policy["content"] == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def test_a_page_stands_with_its_picture_text_reason_remedy_and_commands() -> None:
    found = outline(report(doubted()), {"7:2": PICTURE})
    assert [attrs["src"] for attrs in found.all("img")] == [PICTURE]
    told = said(report(doubted()))
    assert "pumps.pdf, page 2" in told
    assert "Cut off. truncated" in told
    assert "What to do: " in told
    assert "pagemill review accept 7:2" in told
    assert "half a ta" in told


def test_what_is_missing_is_said() -> None:
    told = said(report(doubted(text="", image_sha256=None, code="ocr-timeout", findings=(), message="")))
    for words in ("No picture", "No text.", "No reason is known.", "read it again"):
        assert words in told
    empty = said(report(stages=(), findings=()))
    for words in ("No work was needed.", "Nothing.", "No page waits for a person."):
        assert words in empty


def test_what_the_ladder_tried_is_told() -> None:
    tries = (
        Try(1, "ppocr", "first", Verdict.BAD, ("truncated",), "length", 2.0, False),
        Try(2, "ppocr", "larger", Verdict.SUSPECT, (), "stop", 2.0, True),
    )
    told = said(report(doubted(tries=tries)))
    assert "Tried: 1 ppocr first, bad (truncated); 2 ppocr larger, suspect" in told


def test_bars_are_as_long_as_their_share() -> None:
    rects = outline(report()).all("rect")
    assert [(rect["class"], rect["width"]) for rect in rects] == [
        ("time", "100.00"),
        ("time", "25.00"),
        ("error", "50.00"),
        ("info", "100.00"),
    ]
    assert "2.00 s" in said(report())


def test_documents_are_counted_by_status_and_pages_beyond_the_shown_are_told() -> None:
    told = said(replace(report(doubted()), waiting=1200))
    assert "1 complete 1 needs review 1,200 to look at" in told
    assert "1 of 1,200 pages that wait for a person" in told


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1240, 1754), (9000, 60), (60, 9000), (1, 1), (3000, 3000)])
def test_thumbnails_are_small_whatever_the_picture(tmp_path: Path, size: tuple[int, int]) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "page.png")
    url = data_url(tmp_path / "page.png")
    assert len(url) <= 40_960
    with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as small:
        assert small.format == "JPEG"
        assert small.width <= 420


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK"])
def test_pictures_of_every_kind_make_thumbnails(tmp_path: Path, mode: str) -> None:
    suffix = "tiff" if mode == "CMYK" else "png"
    Image.new(mode, (300, 400)).save(tmp_path / f"page.{suffix}")
    assert data_url(tmp_path / f"page.{suffix}").startswith("data:image/jpeg;base64,")


def test_a_picture_that_is_gone_or_broken_makes_none(tmp_path: Path) -> None:
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff no picture")
    assert data_url(tmp_path / "broken.jpg") == data_url(tmp_path / "gone.jpg") == ""
