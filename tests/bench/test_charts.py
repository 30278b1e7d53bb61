"""Plots and the report of benchmarks: figures stand where they belong, and nothing is taken for markup."""

import itertools
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench import charts, report, result
from bench.charts import Bar, Series
from models.errors import ConfigurationError
from tests.bench import toys

FIGURES = toys.ROOT / "docs" / "figures"
SWEEP = tuple(
    {"in_flight": n, "pages": 8, "pages_per_s": float(n), "p50_s": 1.0, "p95_s": 2.0, "gpu_busy": None}
    for n in (1, 4, 64)
)
EVIL = "</code><script>alert(1)</script>"


def drawn(figure: str) -> ET.Element:
    """The SVG of a figure."""
    svg = ET.fromstring(figure).find("svg")
    assert svg is not None
    return svg


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(0, [0, 1]), (1, [0, 0.25, 0.5, 0.75, 1]), (11.7, [0, 5, 10, 15]), (0.3, [0, 0.1, 0.2, 0.3])],
)
def test_ticks_are_round_and_reach_the_most(most: float, ticks: list[float]) -> None:
    assert charts.nice_ticks(most) == ticks


def test_a_line_has_a_dot_for_each_point_higher_for_more() -> None:
    svg = drawn(charts.lines("Speed", "requests", [Series("pages", ((1, 2.0), (4, 8.0)))]))
    first, second = svg.findall(".//circle")
    assert float(first.attrib["cx"]) < float(second.attrib["cx"]) < charts.WIDTH
    assert float(first.attrib["cy"]) > float(second.attrib["cy"]) > 0
    assert second.findtext("title") == "pages, 4: 8"


def test_wide_ranges_stand_at_logarithmic_distances() -> None:
    def gaps(*xs: float) -> list[float]:
        svg = drawn(charts.lines("", "", [Series("", tuple((x, 1.0) for x in xs))]))
        places = [float(dot.attrib["cx"]) for dot in svg.findall(".//circle")]
        return [round(after - before) for before, after in itertools.pairwise(places)]

    even = gaps(1, 16, 256)
    assert even[0] == even[1]
    near = gaps(1, 2, 4)
    assert near[1] == pytest.approx(2 * near[0], abs=1)


def test_labels_below_a_chart_do_not_run_into_each_other() -> None:
    points = tuple((float(x), 1.0) for x in range(100, 160))
    svg = drawn(charts.lines("", "", [Series("", points)]))
    labels = [text.text for text in svg.iter("text") if text.attrib["text-anchor"] == "middle"]
    assert "159" in labels
    assert len(labels) < 20


def test_only_several_lines_need_a_legend() -> None:
    one, two = Series("p50", ((1, 1.0),)), Series("p95", ((1, 2.0),))
    assert "legend" not in charts.lines("", "", [one, Series("empty", ())])
    assert ">p95</span>" in charts.lines("", "", [one, two])


def test_bars_are_as_long_as_their_figures_and_long_names_are_cut() -> None:
    svg = drawn(charts.bars("Pages", [Bar("a" * 50, 4.0), Bar("b", 1.0), Bar("none", 0.0)]))
    long, short, none = (float(bar.attrib["width"]) for bar in svg.findall("rect"))
    assert long == pytest.approx(4 * short, rel=0.01)
    assert 0 < none <= 1
    label = svg.find("text")
    assert label is not None
    assert label.text == "a" * 27 + "…"
    assert label.findtext("title") == "a" * 50


def test_what_is_no_figure_is_not_drawn() -> None:
    assert charts.number(3) == 3
    assert [charts.number(one) for one in (None, "3", True, float("nan"), -1.0)] == [None] * 5


def test_a_sweep_is_drawn_as_lines_over_requests_in_flight() -> None:
    section = report.section(result.Result("sweep", "", SWEEP))
    assert [re.findall("<figcaption>(.*?)</", chart)[0] for chart in section.charts] == [
        "Pages a second",
        "Seconds a page waits for its answer",
    ]
    assert "requests in flight" in section.charts[0]


def test_rows_with_a_name_are_drawn_as_bars() -> None:
    rows = (
        {"what": "ingest", "pages": 9, "pages_per_s": 9.5},
        {"what": "raw", "in_flight": 4, "pages_per_s": 10.0},
    )
    (chart,) = report.charts(rows)
    assert "ingest" in chart
    assert "9.5" in chart
    clients = [{"kind": kind, "client": "pagemill", "cpu_s_per_page": 0.1} for kind in ("text", "scan")]
    assert "scan, pagemill" in next(iter(report.charts(clients)))


def test_rows_without_anything_to_draw_are_a_table_alone() -> None:
    section = report.section(result.Result("toy", "", ({"what": "task runs", "value": 7},)))
    assert section.charts == ()
    assert section.rows == (("task runs", "7"),)
    assert [column.is_number for column in section.columns] == [False, True]
    assert report.section(result.Result("nothing", "", ())).rows == ()


def test_a_report_holds_no_script_and_loads_nothing() -> None:
    # A tuning's journal is no benchmark's result.
    paths = sorted({*FIGURES.glob("gpu-*.json")} - {FIGURES / "gpu-tune.json"})
    text = report.render([result.load(path) for path in paths])
    assert "<script" not in text
    assert not re.findall(r"""(?:src|href)=["'](?!#)|url\(|@import""", text)
    assert text.count("<section") == len(paths) > 5
    ET.fromstring(re.findall("<svg.*?</svg>", text, re.DOTALL)[0])


def test_whatever_a_result_says_is_shown_as_text() -> None:
    rows = ({"what": EVIL, "pages_per_s": 1.0}, {"what": EVIL + "2", "pages_per_s": 2.0})
    text = report.render([result.Result(EVIL, EVIL, rows, {EVIL: EVIL}, EVIL)])
    assert "<script" not in text
    assert "&lt;script&gt;" in text


def test_a_run_that_ended_early_says_so() -> None:
    early = result.Result("sweep", "", SWEEP, {"complete": False})
    assert "ended early" in report.render([early])
    assert "ended early" not in report.render([result.Result("sweep", "", SWEEP)])


def test_a_report_is_written_and_never_over_another_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = result.Result("sweep", "a sweep", SWEEP).save(tmp_path)
    monkeypatch.setattr(sys, "argv", ["report", str(saved), "-o", str(tmp_path / "bench.html")])
    report.main()
    assert "a sweep" in (tmp_path / "bench.html").read_text()
    with pytest.raises(ConfigurationError, match="is there already"):
        report.main()
