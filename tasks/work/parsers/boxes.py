"""Boxes in answers: four numbers on the model's scale, put on the page in points."""

import math
import re

from models.geometry import Box
from tasks.work.parsers.shapes import Sent

_NUMBER = re.compile(r"-?\d{1,7}(?:\.\d{1,6})?")


def box_of(text: str, sent: Sent) -> Box | None:
    """The box that four numbers in any notation mean ([1, 2, 3, 4] or 1 2 3 4), in page points.

    Corners in the wrong order are put right and what reaches over the picture is cut off. None for anything
    but four numbers, for an empty box, and when the model's boxes have no scale.
    """
    numbers = [float(found) for found in _NUMBER.findall(text)]
    if len(numbers) != 4 or not sent.box_scale:
        return None
    across, down = sorted(numbers[::2]), sorted(numbers[1::2])
    (x0, x1), (y0, y1) = (
        tuple(min(max(side, 0.0), sent.box_scale) for side in sides) for sides in (across, down)
    )
    if math.isclose(x0, x1) or math.isclose(y0, y1):
        return None
    wide, high = sent.width_px / sent.box_scale, sent.height_px / sent.box_scale
    return sent.transform.box(Box(x0 * wide, y0 * high, x1 * wide, y1 * high))
