"""Judging a reading: small pure checks, each with a stable code, summed up in a verdict.

`check` runs the whole list on a page, `check_document` what only neighbouring pages tell, `verdict` sums up a
page and `badness` orders attempts at one. docs/checks.md says why each threshold is what it is.
"""

from models.limits import CheckLimits
from tasks.work.checks.kinds import Check, DocumentCheck
from tasks.work.checks.registry import CHECKS, DOCUMENT_CHECKS, check, check_document
from tasks.work.checks.verdicts import badness, verdict

__all__ = [
    "CHECKS",
    "DOCUMENT_CHECKS",
    "Check",
    "CheckLimits",
    "DocumentCheck",
    "badness",
    "check",
    "check_document",
    "verdict",
]
