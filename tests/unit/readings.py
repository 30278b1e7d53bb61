"""Readings and pages for tests of checks."""

from dataclasses import replace

from models.geometry import Box
from models.reading import Block, BlockType, Reading, ReadingSource
from models.verdict import Finding, PageUnderCheck
from tasks.work.checks import check

PAGE = PageUnderCheck(595, 842, ink=0.01, pixels=1540 * 1089)
# A page of print, as full as most.
FULL = PageUnderCheck(595, 842, ink=0.1, pixels=1540 * 1089)
PROSE = (
    "The committee met on Tuesday to discuss the new road. Nobody objected to its course,\n"
    "but the cost of the bridge over the river was questioned by several members, who asked\n"
    "for a second estimate before the summer. The chairman promised to have it by May.\n"
)
GERMAN = (
    "Der Ausschuss trat am Dienstag zusammen, um über die neue Straße zu beraten. Niemand hatte\n"
    "etwas gegen ihren Verlauf, aber die Kosten der Brücke über den Fluss wurden von mehreren\n"
    "Mitgliedern bezweifelt, die bis zum Sommer eine zweite Schätzung haben wollten. Der\n"
    "Vorsitzende versprach, sie bis Mai vorzulegen, und schloss die Sitzung um neun Uhr.\n"
)
RUSSIAN = (
    "Комитет собрался во вторник, чтобы обсудить новую дорогу. Никто не возражал против её\n"
    "направления, но стоимость моста через реку вызвала сомнения у нескольких членов, которые\n"
    "попросили представить вторую смету до лета. Председатель обещал сделать это к маю.\n"
)
CHINESE = (
    "委员会于星期二召开会议，讨论新道路的建设问题。没有人反对道路的走向，但是有几位成员对河上桥梁的费用提出疑问，"
    "并要求在夏天之前提交第二份预算。主席答应在五月之前完成，会议于晚上九点结束。\n"
)


def page_of(text: str, **changes: object) -> Reading:
    """A reading of one paragraph, as a model that writes freely gives it."""
    blocks = (Block(BlockType.PARAGRAPH, text, Box(50, 50, 500, 700)),) if text else ()
    return replace(Reading(ReadingSource.OCR, text, blocks), **changes)


def table_of(rows: list[list[str]], **changes: object) -> Reading:
    """A reading of one table."""
    cells = tuple(map(tuple, rows))
    block = Block(BlockType.TABLE, "\n".join("\t".join(row) for row in rows), rows=cells)
    return replace(Reading(ReadingSource.OCR, block.text, (block,)), **changes)


def found(reading: Reading, code: str, page: PageUnderCheck = PAGE) -> Finding | None:
    """The finding with this code, if there is one."""
    return next((finding for finding in check(reading, page) if finding.code == code), None)


def codes(reading: Reading, page: PageUnderCheck = PAGE) -> list[str]:
    """Codes of all findings."""
    return [finding.code for finding in check(reading, page)]
