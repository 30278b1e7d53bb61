"""Reading by regions: requests for the parts of a page, and their readings put together as the page's."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from models.engine import OcrRequest
from models.errors import ConfigurationError, PageFailed
from models.geometry import Transform
from models.profile import Profile
from models.reading import Block, BlockType, Reading
from models.recipe import Recipe
from models.region import Region, RegionKind
from models.vlm import Vlm
from tasks.work import regions_net
from tasks.work.preprocess import SUFFIX
from tasks.work.reading_order import direction_of, ordered
from tasks.work.regions import Part, parts_of
from tasks.work.rungs import joined
from tasks.work.store import Store

EMPTY = "region-empty"
"""Note on a reading: the model wrote nothing for a region with ink that is no picture."""

_QUALITY = 95
_TYPES = {
    RegionKind.HEADING: BlockType.HEADING,
    RegionKind.CAPTION: BlockType.CAPTION,
    RegionKind.HEADER: BlockType.HEADER,
    RegionKind.FOOTER: BlockType.FOOTER,
}
"""Of paragraphs in regions of these kinds: a model that sees one line alone cannot know."""


def check(profile: Profile, recipe: Recipe) -> None:
    """Whether this profile can be asked as the recipe says.

    Raises ConfigurationError for one that is not asked by regions, EnvironmentFault (package-missing) without
    a layout detector.
    """
    if recipe.regions == "off":
        return
    if profile.vlm is None or not profile.vlm.regions:
        raise ConfigurationError(
            f"Profile '{profile.name}' lays pages out itself: leave --recipe regions={recipe.regions} out."
        )
    regions_net.require()


def by_regions(request: OcrRequest, vlm: Vlm, store_root: Path) -> tuple[OcrRequest, ...]:
    """Requests for the regions of a page, in reading order; pictures of them are put into the store.

    Raises PageFailed when the page is one region, or too many; EnvironmentFault as `regions_net.require`;
    FileNotFoundError when the page image is not in the store, StoreFull.
    """
    with Image.open(request.path) as stored:
        picture = stored.convert("RGB")
    parts = parts_of(picture, regions_net.find(picture))
    if not parts:
        raise PageFailed("The page is not of several regions.")
    return tuple(_asked(request, part, picture, vlm, Store(store_root)) for part in parts)


def joined_regions(requests: Sequence[OcrRequest], readings: Sequence[Reading]) -> Reading:
    """Readings of `requests` as one reading of the page; those of no regions as `joined` has them.

    Which way a page runs shows in what was read: regions come in its order.
    """
    regions = [request.region for request in requests if request.region]
    if not regions:
        return joined(readings)
    placed = [_placed(*pair) for pair in zip(regions, readings, strict=True)]
    way = direction_of("".join(reading.text for reading in readings), runs_down=regions[0].runs_down)
    # On the page image, which may have been turned upright; the crops differ in where they begin, no more.
    upright = requests[0].image.transform.inverse()
    places = ordered([upright.box(region.box) for region in regions], way)
    return joined([placed[place] for place in places])


def _asked(request: OcrRequest, part: Part, page: Image.Image, vlm: Vlm, store: Store) -> OcrRequest:
    cut = _cut(page, part)
    data = io.BytesIO()
    cut.save(data, "JPEG", quality=_QUALITY)
    sha256 = store.put(data.getvalue(), SUFFIX)
    whole = request.image.transform
    image = replace(
        request.image,
        sha256=sha256,
        suffix=SUFFIX,
        width_px=cut.width,
        height_px=cut.height,
        transform=whole.after(Transform(1, 0, 0, 1, part.crop.x0, part.crop.y0)),
    )
    task = vlm.regions.get(part.region.kind, "")
    return replace(
        request,
        image=image,
        path=store.path(sha256, SUFFIX),
        recipe=request.recipe.model_copy(update={"task": task}),
        region=replace(part.region, box=whole.box(part.region.box)),
    )


def _cut(page: Image.Image, part: Part) -> Image.Image:
    """The part's picture, with paper where ink of others would show."""
    left, top, right, bottom = (int(side) for side in part.crop)
    cut = page.crop((left, top, right, bottom))
    if part.foreign:
        paper = tuple(int(level) for level in np.median(np.asarray(cut), axis=(0, 1)))
        draw = ImageDraw.Draw(cut)
        for x0, y0, x1, y1 in part.foreign:
            draw.rectangle((x0 - left - 1, y0 - top - 1, x1 - left, y1 - top), fill=paper)
    return cut


def _placed(region: Region, reading: Reading) -> Reading:
    """The reading of a region: blocks lie where it lies, and are what it is."""
    blocks = tuple(_block(region, block) for block in reading.blocks)
    is_empty = not reading.text.strip() and region.kind is not RegionKind.PICTURE
    notes = (*reading.notes, EMPTY) if is_empty else reading.notes
    return replace(reading, blocks=blocks, notes=notes)


def _block(region: Region, block: Block) -> Block:
    kind = _TYPES.get(region.kind, block.type) if block.type is BlockType.PARAGRAPH else block.type
    level = block.level or int(kind is BlockType.HEADING)
    return replace(block, type=kind, level=level, box=block.box or region.box)
