"""Boxes and the transform between a page image and its page.

Page points: 1/72 inch, origin at the top left of the page as a reader sees it (after crop and
/Rotate), y downwards. Pixels: the page image as stored, origin top left, y downwards.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Box(NamedTuple):
    """Left, top, right, bottom. The unit (points or pixels) is said where a box is used."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Right minus left."""
        return self.x1 - self.x0

    @property
    def height(self) -> float:
        """Bottom minus top."""
        return self.y1 - self.y0

    @classmethod
    def around(cls, boxes: Iterable["Box"]) -> "Box":
        """The smallest box around all of them; there must be one."""
        x0, y0, x1, y1 = zip(*boxes, strict=True)
        return cls(min(x0), min(y0), max(x1), max(y1))


@dataclass(frozen=True, slots=True)
class Transform:
    """Affine map from page-image pixels to page points: x' = a·x + c·y + e, y' = b·x + d·y + f."""

    a: float
    b: float
    c: float
    d: float
    e: float = 0.0
    f: float = 0.0

    @classmethod
    def scale(cls, sx: float, sy: float) -> "Transform":
        """Points per pixel along each axis, no turn."""
        return cls(sx, 0.0, 0.0, sy)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """One pixel position in page points."""
        return self.a * x + self.c * y + self.e, self.b * x + self.d * y + self.f

    def box(self, pixels: Box) -> Box:
        """The upright box in page points around a box in pixels."""
        corners = [self.point(x, y) for x in (pixels.x0, pixels.x1) for y in (pixels.y0, pixels.y1)]
        xs, ys = [c[0] for c in corners], [c[1] for c in corners]
        return Box(min(xs), min(ys), max(xs), max(ys))

    def after(self, first: "Transform") -> "Transform":
        """The map that does `first` and then this one."""
        e, f = self.point(first.e, first.f)
        return Transform(
            self.a * first.a + self.c * first.b,
            self.b * first.a + self.d * first.b,
            self.a * first.c + self.c * first.d,
            self.b * first.c + self.d * first.d,
            e,
            f,
        )

    def inverse(self) -> "Transform":
        """The map from page points to pixels. Raises ZeroDivisionError for a flat transform."""
        det = self.a * self.d - self.b * self.c
        a, b, c, d = self.d / det, -self.b / det, -self.c / det, self.a / det
        return Transform(a, b, c, d, -(a * self.e + c * self.f), -(b * self.e + d * self.f))
