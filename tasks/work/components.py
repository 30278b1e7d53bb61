"""Connected pieces of ink, found with numpy alone."""

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
"""Which pixels are ink."""

Boxes = npt.NDArray[np.int64]
"""(n, 4): left, top, right, bottom in pixels; right and bottom are just outside."""


def boxes(ink: Mask) -> Boxes:
    """The upright boxes of all pieces that hang together, corner to corner too. In no order."""
    rows, starts, ends = _runs(ink)
    if not len(rows):
        return np.empty((0, 4), np.int64)
    labels = _joined(len(rows), *_touching(rows, starts, ends, ink.shape[1] + 2))
    # A piece is named by its first run, which is in its topmost row.
    first = np.flatnonzero(labels == np.arange(len(labels)))
    left, right, below = starts.copy(), ends.copy(), rows + 1
    np.minimum.at(left, labels, starts)
    np.maximum.at(right, labels, ends)
    np.maximum.at(below, labels, rows + 1)
    return np.stack([left[first], rows[first], right[first], below[first]], axis=1)


def glyphs(found: Boxes, height: int) -> Boxes:
    """Those boxes that can be letters or joined letters on a picture `height` pixels high."""
    across, down = found[:, 2] - found[:, 0], found[:, 3] - found[:, 1]
    is_letter = (down >= 3) & (across >= 2) & (down <= 0.06 * height) & (across <= 12 * down)
    result: Boxes = found[is_letter & (down <= 8 * across)]
    return result


def turned(found: Boxes, size: tuple[int, int], degrees: int) -> Boxes:
    """Boxes on a picture of `size` (width, height) where they lie once it is turned clockwise by quarters."""
    width, height = size
    left, top, right, bottom = found.T
    ways = {
        90: (height - bottom, left, height - top, right),
        180: (width - right, height - bottom, width - left, height - top),
        270: (top, width - right, bottom, width - left),
    }
    return np.stack(ways[degrees], axis=1) if degrees else found


def _runs(ink: Mask) -> tuple[Boxes, Boxes, Boxes]:
    """Row, start and end of every unbroken run of ink along a row, in reading order."""
    width = ink.shape[1] + 2
    # With white on both sides of each row, runs begin and end by turns, all rows in one line.
    row = np.pad(ink, ((0, 0), (1, 1))).ravel()
    changes = np.flatnonzero(row[1:] != row[:-1])
    rows, starts = np.divmod(changes[::2], width)
    return rows, starts, changes[1::2] - rows * width


def _touching(rows: Boxes, starts: Boxes, ends: Boxes, width: int) -> tuple[Boxes, Boxes]:
    """Pairs of runs in rows below one another that touch, by their places."""
    below = (rows + 1) * width
    first = np.searchsorted(rows * width + ends, below + starts, side="left")
    last = np.searchsorted(rows * width + starts, below + ends, side="right")
    counts = np.maximum(last - first, 0)
    upper = np.repeat(np.arange(len(rows)), counts)
    within = np.arange(len(upper)) - np.repeat(np.cumsum(counts) - counts, counts)
    return upper, first[upper] + within


def _joined(count: int, upper: Boxes, lower: Boxes) -> Boxes:
    """For each run the lowest place of any that it hangs together with."""
    labels = np.arange(count)
    while len(upper):
        one, other = labels[upper], labels[lower]
        differ = one != other
        upper, lower = upper[differ], lower[differ]
        np.minimum.at(labels, np.maximum(one, other)[differ], np.minimum(one, other)[differ])
        while True:
            shorter = labels[labels]
            if np.array_equal(shorter, labels):
                break
            labels = shorter
    return labels
