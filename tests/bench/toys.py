"""Toy inputs: two small samples, and the wishes of somebody who is in a hurry."""

import argparse
from pathlib import Path

from bench import sweep
from models.profiles import get
from models.vlm import Vlm

ROOT = Path(__file__).parents[2]
DOCUMENTS = ROOT / "samples" / "documents"
SCAN = DOCUMENTS / "scan-senate-1871.pdf"
TYPED = DOCUMENTS / "invoice-german.pdf"
BLANK = DOCUMENTS / "blank-page.pdf"
FAX = DOCUMENTS / "fax-3-pages.tiff"
BROKEN = DOCUMENTS / "not-really-a.pdf"
GLM = get("glm-ocr")


def vlm() -> Vlm:
    assert GLM.vlm is not None
    return GLM.vlm


def wish(*more: str) -> argparse.Namespace:
    """What the benchmarks of servers are asked for: two pages, short replies."""
    usual = ["glm-ocr", str(TYPED), "--pages", "2", "--tokens", "32", "--jobs", "1"]
    return sweep.parser(None).parse_args([*usual, *more])
