"""Prices as people write them, costs as they are shown, and which stage is named as the limit."""

import pytest
from rich.console import Console

from cli.costs import chart, told
from models.cost import CostReport, CostRow, Limit, Price, StageUse
from models.errors import ConfigurationError
from models.stage import Stage
from models.telemetry import DeviceUse

GPU = DeviceUse("gpu:0", 10, 0.91, 0.8, 20_480.0, 610.0, None, None)


def row(**changes: object) -> CostRow:
    values = {
        "key": "glm-ocr",
        "pages": 500,
        "wall_s": 100.0,
        "gpu_s": 200.0,
        "tokens_in": 1000,
        "tokens_out": 500,
    }
    return CostRow(**values | changes)  # type: ignore[arg-type]


def limit(*gpus: DeviceUse, **busy: tuple[float, float]) -> Limit:
    return Limit(7, tuple(StageUse(Stage(name), *seen) for name, seen in busy.items()), gpus)


def drawn(report: CostReport, names: dict[str, str] | None = None) -> list[list[str]]:
    out = Console(width=160, markup=False, highlight=False)
    with out.capture() as captured:
        out.print(chart(report, names or {}))
    return [line.split() for line in captured.get().splitlines()]


@pytest.mark.parametrize(
    ("text", "price"),
    [
        ("2.69/h", Price(2.69)),
        ("2.69", Price(2.69)),
        ("$2.69/h", Price(2.69, "$")),
        ("2,69 EUR / h", Price(2.69, "EUR")),
        ("0/h", Price(0.0)),
        ("0,526 EUR", Price(0.526, "EUR")),
        ("1000/h", Price(1000.0)),
    ],
)
def test_a_price_is_taken_as_people_write_it(text: str, price: Price) -> None:
    assert Price.parse(text) == price


@pytest.mark.parametrize("text", ["", "free", "-1/h", "1/day", "2.69/h extra", "1.2.3", "/h", "1,000/h"])
def test_what_is_no_price_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"2\.69/h"):
        Price.parse(text)


def test_an_hour_of_a_gpu_costs_its_price() -> None:
    assert Price(2.5).of(3600) == 2.5
    assert Price(2.5).of(0) == 0


def test_pages_a_second_and_gpu_seconds_a_thousand_pages_follow_from_the_sums() -> None:
    assert (row().pages_per_s, row().gpu_s_per_1000) == (5.0, 400.0)
    assert (row(wall_s=0.0).pages_per_s, row(pages=0).gpu_s_per_1000) == (0.0, 0.0)


def test_a_row_shows_speed_tokens_time_and_money() -> None:
    (_, line) = drawn(CostReport("profile", (row(),), Price(3.6, "$"), None))
    assert line == ["glm-ocr", "500", "5.00", "3", "200.0", "400", "0.20", "$", "0.40", "$"]


def test_small_sums_keep_their_digits_and_tokens_nobody_counted_are_left_out() -> None:
    cheap = row(tokens_in=0, tokens_out=0, gpu_s=1.0, key="7")
    (_, line) = drawn(CostReport("document", (cheap,), Price(0.36), None), {"7": "Pumps"})
    assert line == ["7", "Pumps", "500", "5.00", "1.0", "2", "0.0001", "0.0002"]


def test_the_busiest_stage_is_the_limit_and_all_are_told() -> None:
    lines = told(limit(split=(0.1, 0.0), preprocess=(0.98, 40.0), ocr=(0.35, 0.4), load=(0.0, 0.0)))
    assert lines[0].startswith("preprocess limits run 7: split 10% busy with 0 waiting, preprocess 98% busy")
    assert "--jobs" in lines[1]


def test_where_no_stage_had_much_work_none_is_blamed() -> None:
    (line,) = told(limit(split=(0.33, 0.0), preprocess=(0.0, 0.0), ocr=(0.33, 0.0)))
    assert line.startswith("No stage held run 7 up for long: split 33% busy with 0 waiting")


def test_of_stages_that_are_equally_busy_the_longer_queue_decides() -> None:
    lines = told(limit(preprocess=(0.99, 3.0), ocr=(0.97, 900.0)))
    assert lines[0].startswith("ocr limits run 7")
    assert "GPU" in lines[1]


def test_a_gpu_that_idles_though_pages_wait_is_said_to_want_more_requests() -> None:
    idle = DeviceUse("gpu:0", 10, 0.35, 0.1, None, None, None, None)
    lines = told(limit(idle, ocr=(1.0, 900.0)))
    assert lines[1] == "1 GPU 35% busy."
    assert "PAGEMILL_OCR_IN_FLIGHT" in lines[2]
    assert "add a GPU" in told(limit(GPU, ocr=(1.0, 900.0)))[2]


def test_gpus_are_taken_together() -> None:
    other = DeviceUse("gpu:1", 10, 0.71, 0.1, None, None, None, None)
    assert limit(GPU, other).gpu_busy == pytest.approx(0.81)
    assert limit().gpu_busy is None
    assert (limit().stage, told(limit())) == (None, [])
