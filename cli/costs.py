"""pagemill timings --cost: what reading takes in GPU seconds and money, and what holds the pipeline up."""

from collections.abc import Mapping

from rich.table import Table

from cli.choices import By
from cli.output import console, print_json, table
from cli.session import connected
from cli.views import called
from cli.words import plural
from db import costs, documents
from models.cost import CostReport, CostRow, Limit, Price
from models.settings import Settings
from models.stage import Stage

_COLUMNS = ("pages", "pages/s", "tokens/page", "GPU s", "GPU s/1,000", "cost", "cost/1,000")
# Costs of a stage alone would say nothing: without a wish they are told by profile.
_KEYS: dict[By, costs.By] = {
    By.STAGE: "profile",
    By.PROFILE: "profile",
    By.RUN: "run",
    By.DOCUMENT: "document",
}
_GPU_IDLE = 0.6
_LEAST_BUSY = 0.5
"""A run whose stages had work for less of the time was mostly start and end."""
_CPU_STAGE = "add CPU: --jobs, or another worker on the pool cpu"
_SMALLER = "--recipe resolution=legible, or fewer max_pixels"
_ADVICE = {
    Stage.SPLIT: _CPU_STAGE,
    Stage.PREPROCESS: f"{_CPU_STAGE}; or smaller pictures ({_SMALLER})",
    Stage.OCR: f"add a GPU or a server (PAGEMILL_OCR_URL takes several), or smaller pictures ({_SMALLER})",
    Stage.LOAD: "run load as a drain of its own, or without vectors (PAGEMILL_VECTORS=false)",
}
_HUNGRY = "its GPUs idle meanwhile: let more requests run at once (PAGEMILL_OCR_IN_FLIGHT, --max-num-seqs)"


def show_costs(settings: Settings, ref: str | None, by: By, price: Price, *, as_json: bool) -> None:
    """Print costs of all documents or of one. Raises ConfigurationError (not-found)."""
    key = _KEYS[by]
    with connected(settings) as connection:
        document = None if ref is None else documents.get(connection, ref)
        report = costs.report(connection, key, price, document.id if document else None)
        names = {str(d.id): called(d) for d in documents.listing(connection)} if by is By.DOCUMENT else {}
    if as_json:
        print_json(report)
        return
    out = console()
    if not report.rows:
        out.print("No page has been read yet. Try: pagemill ingest FOLDER")
        return
    out.print(chart(report, names))
    if report.limit is not None and report.limit.stages:
        out.print()
        out.print("\n".join(told(report.limit)))


def chart(report: CostReport, names: Mapping[str, str]) -> Table:
    """A row for each document, run or profile; `names` are of documents, by id."""
    shown = table(report.by, *_COLUMNS, numbers=frozenset(_COLUMNS))
    for row in report.rows:
        name = f"{row.key}  {names[row.key]}" if row.key in names else row.key
        shown.add_row(name, *_cells(row, report.price))
    return shown


def _cells(row: CostRow, price: Price) -> tuple[str, ...]:
    tokens = (row.tokens_in + row.tokens_out) / row.pages
    return (
        f"{row.pages:,}",
        f"{row.pages_per_s:.2f}",
        f"{tokens:,.0f}" if tokens else "",
        f"{row.gpu_s:,.1f}",
        f"{row.gpu_s_per_1000:,.0f}",
        _money(price.of(row.gpu_s), price),
        _money(price.of(row.gpu_s_per_1000), price),
    )


def _money(amount: float, price: Price) -> str:
    figure = f"{amount:,.2f}" if amount >= 0.1 else f"{amount:.4f}"
    return f"{figure} {price.currency}".strip()


def told(limit: Limit) -> list[str]:
    """Which stage holds the run up, with the figures of all, and what to change."""
    slowest = limit.stage
    if slowest is None:
        return []
    figures = ", ".join(
        f"{use.stage} {use.busy:.0%} busy with {use.queued:.0f} waiting" for use in limit.stages
    )
    if slowest.busy < _LEAST_BUSY:
        return [f"No stage held run {limit.run_id} up for long: {figures}. A longer run tells more."]
    advice = _ADVICE[slowest.stage]
    busy = limit.gpu_busy
    if slowest.stage is Stage.OCR and busy is not None and busy < _GPU_IDLE:
        advice = _HUNGRY
    lines = [f"{slowest.stage} limits run {limit.run_id}: {figures}.", f"To go faster, {advice}."]
    if busy is not None:
        lines.insert(1, f"{plural(len(limit.gpus), 'GPU')} {busy:.0%} busy.")
    return lines
