"""Requests for regions of a page, and their readings as the page's."""

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from models import profiles
from models.backfill import Selection, Wish
from models.engine import OcrRequest
from models.errors import ConfigurationError, PageFailed
from models.geometry import Box, Transform
from models.reading import Block, BlockType
from models.region import Region, RegionKind
from tasks.backfill import recipe_of
from tasks.work import regions_net
from tasks.work.engines.fake import said
from tasks.work.regions_asked import EMPTY, by_regions, check, joined_regions
from tests import served
from tests.unit.boxes import SAME
from tests.unit.paperwork import LEFT, SIZE, found, ink_box, paper, two_columns

GLM = profiles.get("glm-ocr")
PLACE = Box(10, 20, 110, 70)
COLUMNS = [found("text", 105, 255, 600, 430), found("text", 675, 255, 1_170, 430)]


@pytest.fixture(autouse=True)
def detected(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the detector finds: it has tests of its own."""
    monkeypatch.setattr(regions_net, "find", lambda _: COLUMNS)


def request(folder: Path, page: Image.Image | None = None) -> OcrRequest:
    """A page whose pixels are half a point."""
    path = folder / "page.png"
    (page or two_columns()).save(path)
    return served.request_of(path, SIZE)


def asked(folder: Path) -> tuple[OcrRequest, ...]:
    assert GLM.vlm is not None
    return by_regions(request(folder), GLM.vlm, folder / "store")


def part(kind: RegionKind) -> OcrRequest:
    """A request for a region at PLACE; its picture is of no account."""
    page = served.request_of(Path(__file__), SIZE)
    return replace(page, region=Region(kind, PLACE))


def test_each_region_is_a_picture_of_its_own_that_lies_where_it_lies(tmp_path: Path) -> None:
    requests = asked(tmp_path)
    assert len(requests) >= 3
    for one in requests:
        assert one.region is not None
        with Image.open(one.path) as picture:
            assert picture.size == (one.image.width_px, one.image.height_px)
            shown = one.image.transform.box(Box(*ink_box(picture.convert("RGB"))))
        assert tuple(shown) == pytest.approx(tuple(one.region.box), abs=2)


def test_together_they_show_the_page(tmp_path: Path) -> None:
    whole = Box.around(one.region.box for one in asked(tmp_path) if one.region)
    assert tuple(whole) == pytest.approx([side / 2 for side in ink_box(two_columns())], abs=2)


@pytest.mark.parametrize(("kind", "task"), [("table", "table"), ("formula", "formula"), ("caption", "")])
def test_tables_and_formulas_are_asked_with_their_own_prompts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, task: str
) -> None:
    first = found(kind, 105, 255, 600, 430)
    monkeypatch.setattr(regions_net, "find", lambda _: [first, COLUMNS[1]])
    tasks = {one.region.kind.value: one.recipe.task for one in asked(tmp_path) if one.region}
    assert tasks[kind] == task
    assert tasks["text"] == "text"


def test_a_page_of_one_region_is_not_cut(tmp_path: Path) -> None:
    assert GLM.vlm is not None
    with pytest.raises(PageFailed, match="several regions"):
        by_regions(request(tmp_path, paper((LEFT, 110, 260))), GLM.vlm, tmp_path / "store")


def test_blocks_without_a_box_get_the_regions() -> None:
    reading = joined_regions([part(RegionKind.TEXT)] * 2, [said("one"), said("two")])
    assert [block.box for block in reading.blocks] == [PLACE, PLACE]
    assert reading.text == "one\n\ntwo"


def test_blocks_with_a_box_keep_it() -> None:
    box = Box(1, 2, 3, 4)
    block = Block(BlockType.PARAGRAPH, "words", box)
    reading = joined_regions([part(RegionKind.TEXT)], [replace(said("words"), blocks=(block,))])
    assert reading.blocks[0].box == box


@pytest.mark.parametrize(
    ("kind", "made", "level"),
    [("heading", "heading", 1), ("header", "header", 0), ("footer", "footer", 0), ("caption", "caption", 0)],
)
def test_a_paragraph_is_what_its_region_is(kind: str, made: str, level: int) -> None:
    reading = joined_regions([part(RegionKind(kind))], [said("words")])
    assert [(block.type.value, block.level) for block in reading.blocks] == [(made, level)]


def test_a_table_stays_a_table_wherever_it_is_found() -> None:
    table = replace(said("1\t2"), blocks=(Block(BlockType.TABLE, "1\t2", rows=(("1", "2"),)),))
    assert joined_regions([part(RegionKind.HEADER)], [table]).blocks[0].type is BlockType.TABLE


@pytest.mark.parametrize(("kind", "is_noted"), [("text", True), ("table", True), ("picture", False)])
def test_a_region_of_which_nothing_was_read_is_told(kind: str, is_noted: bool) -> None:
    reading = joined_regions([part(RegionKind.TEXT), part(RegionKind(kind))], [said("words"), said("")])
    assert (EMPTY in reading.notes) == is_noted


def test_parts_that_are_no_regions_stay_as_they_are() -> None:
    whole = replace(part(RegionKind.TEXT), region=None)
    assert joined_regions([whole], [said("words")]) == said("words")


def columns(turn: Transform = SAME, *, runs_down: bool = False) -> list[OcrRequest]:
    """A heading over two columns, asked for from the left; `turn` maps the upright picture to the page."""
    boxes = [Box(10, 0, 90, 10), Box(0, 20, 45, 90), Box(55, 20, 100, 90)]
    asked = [part(RegionKind.TEXT) for _ in boxes]
    return [
        replace(
            one,
            region=Region(RegionKind.TEXT, turn.box(box), runs_down),
            image=replace(one.image, transform=turn.after(Transform(1, 0, 0, 1, box.x0, box.y0))),
        )
        for one, box in zip(asked, boxes, strict=True)
    ]


@pytest.mark.parametrize(
    ("texts", "runs_down", "order"),
    [
        (("Title", "left", "right"), False, "012"),
        (("عنوان", "اليسار", "اليمين"), False, "021"),
        (("שער", "left", "מימין לשמאל"), False, "021"),
        (("Title", "the left one", "اليمين"), False, "012"),
        (("題", "左の文章", "右の文章"), False, "012"),
        (("題", "左の文章", "右の文章"), True, "021"),
        (("Title", "left", "right"), True, "012"),
    ],
)
@pytest.mark.parametrize("turn", [SAME, Transform(0, 1, -1, 0, 842, 0), Transform(-2, 0, 0, -2, 595, 842)])
def test_regions_come_in_the_order_of_the_script_that_was_read(
    texts: tuple[str, ...], runs_down: bool, order: str, turn: Transform
) -> None:
    reading = joined_regions(columns(turn, runs_down=runs_down), [said(text) for text in texts])
    assert reading.text == "\n\n".join(texts[int(place)] for place in order)
    assert [block.text for block in reading.blocks] == reading.text.split("\n\n")


def test_a_backfill_by_regions_is_refused_where_they_cannot_be_asked_for(tmp_path: Path) -> None:
    wish = Wish(selection=Selection(documents=(1,)), profile="chandra", options=("regions=layout",))
    with pytest.raises(ConfigurationError, match="lays pages out itself"):
        recipe_of(wish)
    assert recipe_of(wish.model_copy(update={"profile": "glm-ocr"})).regions == "layout"


def test_a_model_that_lays_pages_out_itself_is_not_asked_by_regions() -> None:
    for name in ("chandra", "ppocr"):
        profile = profiles.get(name)
        with pytest.raises(ConfigurationError, match="lays pages out itself"):
            check(profile, profile.recipe().with_options(["regions=layout"]))
        check(profile, profile.recipe())
    check(GLM, GLM.recipe().with_options(["regions=layout"]))
