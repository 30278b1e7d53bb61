"""Checks on the form of an answer: layout, tables, and how deep its markup is nested."""

import re
from collections import Counter

from models.notes import BOX_UNREADABLE, SCHEMA_MISMATCH, TABLE_MISSING, UNPARSABLE
from models.verdict import Severity
from tasks.work.checks.case import Case, Evidence, Sighting, clipped

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,20})(?=[\s/>])")
_FLAT = frozenset({"br", "img", "hr", "col", "input", "p", "li"})


def layout_invalid(case: Case) -> Sighting | None:
    """What the parser could not read: JSON or HTML that is none, or not of the form that was asked for."""
    notes = case.reading.notes
    if UNPARSABLE in notes:
        return Sighting("The answer is not of the form that the model was asked for.", {"fault": UNPARSABLE})
    for note in (SCHEMA_MISMATCH, TABLE_MISSING, BOX_UNREADABLE):
        if note in notes:
            message = "The answer misses what it was asked for."
            return Sighting(message, {"fault": note}, Severity.WARNING)
    depth = _depth(case)
    if depth <= case.limits.deepest_markup:
        return None
    evidence: Evidence = {"fault": "nested", "depth": depth}
    return Sighting("The answer is nested deeper than any page.", evidence)


def table_too_large(case: Case) -> Sighting | None:
    """A table that no page can print."""
    for table in case.tables:
        cells = sum(map(len, table.rows))
        if cells > case.limits.table_cells:
            return Sighting("A table has more cells than a page.", {"cells": cells, "rows": len(table.rows)})
    return None


def table_ragged(case: Case) -> Sighting | None:
    """Rows of a table that are not as long as the others."""
    for table in case.tables:
        widths = Counter(map(len, table.rows))
        usual = widths.most_common(1)[0][0]
        odd = len(table.rows) - widths[usual]
        if odd >= case.limits.ragged_rows:
            message = f"{odd} of {len(table.rows)} rows of a table have more or fewer cells than the others."
            return Sighting(message, {"rows": odd, "columns": usual})
    return None


def column_jump(case: Case) -> Sighting | None:
    """A row of a table that is much wider or narrower than the others, or wider than a page."""
    limits = case.limits
    for table in case.tables:
        widths = [len(row) for row in table.rows]
        usual = Counter(widths).most_common(1)[0][0]
        far = [width for width in widths if _is_far(width, usual, limits.jump_columns)]
        if not far and max(widths) <= limits.most_columns:
            continue
        evidence: Evidence = {"columns": usual, "widest": max(widths), "rows": len(far)}
        return Sighting(f"The number of columns jumps from {usual} to {max(widths)} and back.", evidence)
    return None


def _is_far(width: int, usual: int, least: int) -> bool:
    low, high = sorted((width, usual))
    return high - low >= least and 2 * high >= 3 * low


def _depth(case: Case) -> int:
    """How deep the tags of the raw answer are nested; 0 where they are too few to matter."""
    raw = clipped(case.reading.raw or "", 2 * case.limits.scan_chars)
    if raw.count("<") <= case.limits.deepest_markup:
        return 0
    depth = deepest = 0
    for close, name in _TAG.findall(raw):
        if name.lower() not in _FLAT:
            depth = max(0, depth - 1) if close else depth + 1
            deepest = max(deepest, depth)
    return deepest
