"""Attempts: every try at the pages that took more than one, or that failed after all."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from db import tables
from models.attempt import Attempt

t = tables.attempt

_SAME = (
    "number",
    "profile",
    "trial",
    "finish_reason",
    "seconds",
    "tokens_in",
    "tokens_out",
    "raw",
    "is_kept",
)
"""Fields that are columns as they are."""


def save(connection: sa.Connection, run_id: int, attempts: Sequence[Attempt]) -> None:
    """Keep attempts of a run, in order."""
    if attempts:
        connection.execute(sa.insert(t), [_row(run_id, attempt) for attempt in attempts])


def _row(run_id: int, attempt: Attempt) -> dict[str, Any]:
    return {name: getattr(attempt, name) for name in _SAME} | {
        "document_id": attempt.claim.document_id,
        "page_no": attempt.claim.page_no,
        "recipe_id": attempt.claim.recipe_id,
        "run_id": run_id,
        "verdict": attempt.verdict.value,
        "codes": attempt.codes,
    }
