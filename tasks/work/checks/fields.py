"""Values against each other and against the page: totals and extracted fields."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from models.reading import Block
from tasks.work.checks.case import Case, Sighting

_TOTAL = re.compile(
    r"\b(?:grand )?totale?\b|\bsumm?[ea]\b|\bgesamt|\bmontant\b|\bimporte\b|合计|总计|總計|合計|итого",
    re.IGNORECASE,
)
_SUBTOTAL = re.compile(r"sub-?\s?total|zwischensumme|sous-total|netto|小计|小計", re.IGNORECASE)
_AMOUNT = re.compile(r"[-−(]?\s?[€$£¥]?\s?\d[\d.,' ]*\s?[€$£¥%]?\)?")
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
# Two characters occur on any page.
_LEAST = 3
_MOST_VALUES, _LONGEST = 500, 400
_NUMBER = re.compile(r"\d(?:[\d.,']*\d)?")
_PARTED = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?")
# Numbers of telephones and accounts are parted at will; so many digits stand together by no accident.
_LONG_NUMBER = 7


class _Witness(NamedTuple):
    """What the page says: its letters and digits, its digits, both run together, and its numbers."""

    letters: str
    digits: str
    numbers: frozenset[float]


def sums_differ(case: Case) -> Sighting | None:
    """The amounts of a column do not add up to the total under them. Optional: not every total is a sum."""
    for table in case.tables:
        for items, total, count in _sums(table):
            if abs(items - total) > case.limits.sum_slack * count + 1e-6:
                evidence: dict[str, float | int | str] = {"sum": round(items, 2), "total": total}
                return Sighting("The amounts of a table do not add up to its total.", evidence)
    return None


def field_not_on_page(case: Case) -> Sighting | None:
    """Extracted values that the page's own words do not hold: made up, or read wrongly."""
    witness = "".join(filter(str.isalnum, case.page.witness.casefold()))
    if not case.page.extracts or len(witness) < case.limits.witness_chars:
        return None
    said = _Witness(witness, re.sub(r"\D", "", witness), _numbers(case.page.witness))
    values = [row for table in case.tables for row in table.rows if len(row) > 1][:_MOST_VALUES]
    missing = [path for path, value, *_ in values if not _occurs(value, said)]
    if not missing:
        return None
    message = f"{len(missing)} of {len(values)} values do not occur on the page."
    return Sighting(message, {"missing": len(missing), "values": len(values), "field": missing[0][:80]})


def amount(cell: str) -> float | None:
    """The number that a cell holds, whatever the style of its separators; None for anything else."""
    cell = cell.strip()
    if len(cell) > 24 or not _AMOUNT.fullmatch(cell) or cell.endswith("%"):
        return None
    digits = re.sub(r"[^\d.,]", "", cell)
    last = max(digits.rfind("."), digits.rfind(","))
    places = len(digits) - last - 1
    is_decimal = last >= 0 and places != 3
    whole = re.sub(r"\D", "", digits[:last] if is_decimal else digits)
    value = float(f"{whole or '0'}.{digits[last + 1 :] or '0'}") if is_decimal else float(whole or 0)
    return -value if cell[0] in "-−(" else value


def _sums(table: Block) -> Iterator[tuple[float, float, int]]:
    """Sum of the items, total and number of items for each column over the first row that is a total."""
    at = next((n for n, row in enumerate(table.rows) if n > 1 and _is_total(row)), 0)
    rows = [row for row in table.rows[:at] if not _SUBTOTAL.search(" ".join(row))]
    for column, cell in enumerate(table.rows[at]) if at else ():
        total = amount(cell)
        items = [amount(row[column]) for row in rows if column < len(row)]
        found = [item for item in items if item is not None]
        if total is not None and len(found) > 1:
            yield sum(found), total, len(found)


def _is_total(row: tuple[str, ...]) -> bool:
    label = " ".join(cell for cell in row if amount(cell) is None)
    return bool(_TOTAL.search(label[:80])) and not _SUBTOTAL.search(label[:80])


def _numbers(text: str) -> frozenset[float]:
    """All numbers of a text, thousands parted in any way."""
    found = (amount(token) for pattern in (_NUMBER, _PARTED) for token in pattern.findall(text))
    return frozenset(abs(number) for number in found if number is not None)


def _occurs(value: str, said: _Witness) -> bool:
    date = _ISO_DATE.fullmatch(value.strip())
    if date:
        return date[1] in said.digits and date[3].lstrip("0") in said.digits
    number = amount(value)
    if number is not None:
        bare = re.sub(r"\D", "", value).lstrip("0")
        return abs(number) in said.numbers or (len(bare) >= _LONG_NUMBER and bare in said.digits)
    folded = _folded(value)
    is_word = value not in {"true", "false"} and len(folded) >= _LEAST
    return not is_word or folded in said.letters


def _folded(text: str) -> str:
    # A run of marks is normalised in time that grows with its square.
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text[:_LONGEST]).casefold()))
