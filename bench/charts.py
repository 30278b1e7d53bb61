"""Small charts as SVG without a script: lines over a number, bars over names."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from bench.facts import Value
from bench.result import shown

WIDTH, HEIGHT = 460.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 18.0, 12.0, 34.0
_INDENT, _LABEL = 12.0, 34.0
_BAR, _GAP, _NAME, _FIGURE, _MOST_CHARS = 16.0, 10.0, 196.0, 58.0, 28
_LOG_FROM = 20.0
"""Numbers that span more than this factor stand at logarithmic distances."""


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together, in order of x."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A name and its figure."""

    name: str
    value: float


def lines(title: str, x_name: str, series: Sequence[Series]) -> str:
    """Each series as a line with dots; y begins at zero. Series without points are left out."""
    drawn = [one for one in series if one.points]
    xs = sorted({x for one in drawn for x, _ in one.points})
    ticks = nice_ticks(max((y for one in drawn for _, y in one.points), default=0.0))
    across, up = _across(xs), _up(ticks[-1])
    return template("lines.svg.j2").render(
        title=title,
        x_name=x_name,
        width=WIDTH,
        height=HEIGHT,
        left=_LEFT,
        right=WIDTH - _RIGHT,
        bottom=HEIGHT - _BOTTOM,
        x_ticks=[(round(across(x), 1), shown_plain(x)) for x in _told_apart(xs, across)],
        y_ticks=[(round(up(y), 1), shown_plain(y)) for y in ticks],
        lines=[(one.name, [_dot(across(x), up(y), x, y) for x, y in one.points]) for one in drawn],
    )


def bars(title: str, found: Sequence[Bar]) -> str:
    """One bar below the other, each with its figure; all begin at zero."""
    most = max((bar.value for bar in found), default=0.0) or 1.0
    room = WIDTH - _NAME - _FIGURE
    rows = [
        (
            place * (_BAR + _GAP) + _GAP,
            bar.name,
            round(max(1.0, room * bar.value / most), 1),
            shown(bar.value),
        )
        for place, bar in enumerate(found)
    ]
    height = len(found) * (_BAR + _GAP) + _GAP
    return template("bars.svg.j2").render(
        title=title, width=WIDTH, height=height, name=_NAME, bar=_BAR, rows=rows, cut=_cut
    )


def nice_ticks(most: float, count: int = 4) -> list[float]:
    """About `count` round numbers from zero to at least `most`."""
    if most <= 0:
        return [0.0, 1.0]
    rough = most / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= rough * (1 - 1e-9))
    return [round(step * place, 10) for place in range(math.ceil(most / step - 1e-9) + 1)]


def shown_plain(value: float) -> str:
    """A number on an axis: no more digits than it has."""
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"


def number(value: Value) -> float | None:
    """A figure that can be drawn: finite and not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _dot(left: float, top: float, x: float, y: float) -> tuple[float, float, str]:
    return round(left, 1), round(top, 1), f"{shown_plain(x)}: {shown(y)}"


def _across(xs: Sequence[float]) -> Callable[[float], float]:
    """Where a number stands from left to right."""
    is_log = bool(xs) and xs[0] > 0 and xs[-1] / xs[0] > _LOG_FROM

    def at(x: float) -> float:
        return math.log(x) if is_log else x

    first, last = (at(xs[0]), at(xs[-1])) if xs else (0.0, 0.0)

    def place(x: float) -> float:
        share = (at(x) - first) / (last - first) if last > first else 0.5
        return _LEFT + _INDENT + share * (WIDTH - _LEFT - _RIGHT - 2 * _INDENT)

    return place


def _up(most: float) -> Callable[[float], float]:
    """Where a figure stands from top to bottom."""
    return lambda y: HEIGHT - _BOTTOM - y / most * (HEIGHT - _TOP - _BOTTOM)


def _told_apart(xs: Sequence[float], across: Callable[[float], float]) -> list[float]:
    """Those of the numbers whose labels do not run into each other, the last one always."""
    kept: list[float] = []
    for x in reversed(xs):
        if not kept or across(kept[-1]) - across(x) >= _LABEL:
            kept.append(x)
    return kept[::-1]


def _cut(name: str) -> str:
    return name if len(name) <= _MOST_CHARS else f"{name[: _MOST_CHARS - 1]}…"


@cache
def template(name: str) -> Template:
    """A template of this package; what is put in is escaped."""
    loader = FileSystemLoader(Path(__file__).parent / "templates")
    # trim_blocks: what stands between tags would be in every file.
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).get_template(name)
