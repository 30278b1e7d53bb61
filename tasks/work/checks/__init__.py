"""Judging a reading: small pure checks, each with a stable code, summed up in a verdict.

`check` runs the whole list, `verdict` sums up a page. docs/checks.md
says why each threshold is what it is.
"""

from tasks.work.checks.limits import CheckLimits
from tasks.work.checks.registry import CHECKS, Check, check
from tasks.work.checks.verdicts import verdict

__all__ = ["CHECKS", "Check", "CheckLimits", "check", "verdict"]
