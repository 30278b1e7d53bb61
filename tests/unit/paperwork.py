"""Pictures of pages with regions in known places, for tests of what cuts pages."""

import pymupdf
from PIL import Image, ImageDraw, ImageFont

from models.geometry import Box
from models.region import RegionKind
from tasks.work.regions_net import Found

SIZE = (1_240, 1_754)
LEFT = """\
The harbour was quiet that morning and
the boats lay in two long rows. Nobody
spoke of the storm, though everybody
had heard it in the night."""
RIGHT = """\
Prices rose by a third in one season.
The council met, talked for four hours
and went home without a decision on
the matter of the mill."""
TITLE = "A quiet year in the harbour town"


def paper(*passages: tuple[str, int, int], font_px: int = 26) -> Image.Image:
    """A white page with texts at places (left, top)."""
    page = Image.new("RGB", SIZE, "white")
    draw = ImageDraw.Draw(page)
    for text, left, top in passages:
        draw.multiline_text((left, top), text, fill="black", font=ImageFont.load_default(font_px), spacing=10)
    return page


def two_columns() -> Image.Image:
    """A title, two columns and a page number."""
    return paper((TITLE, 330, 120), (LEFT, 110, 260), (RIGHT, 680, 260), ("17", 610, 1_620))


def signs(*, runs_down: bool) -> Image.Image:
    """Two passages of Japanese: beside one another, or one above the other where the lines run down."""
    text = "春は曙やうやう白くなりゆく山際すこし明りて紫だちたる雲の細くたなびきたる夏は夜月の頃はさらなり"
    page = pymupdf.open().new_page(width=595, height=842)
    for place, sign in enumerate(text * 2):
        line, sign_no = divmod(place % len(text), 12)
        along, across = 60 + 16 * sign_no + 260 * (place // len(text)), 60 + 26 * line
        x, y = (535 - across, along) if runs_down else (along, across)
        page.insert_text((x, y + 14), sign, fontsize=14, fontname="japan")
    data = page.get_pixmap(dpi=150)
    return Image.frombytes("RGB", (data.width, data.height), data.samples)


def found(kind: str, *sides: float, score: float = 0.9) -> Found:
    """As a detector says it."""
    return Found(RegionKind(kind), Box(*sides), score)


def ink_box(page: Image.Image) -> tuple[int, int, int, int]:
    """The box around all that is dark."""
    box = page.convert("L").point(lambda level: 255 * (level < 128)).getbbox()
    assert box is not None
    return box
