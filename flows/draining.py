"""A drain as a flow run of its own: it works some stages of a profile until nothing is left."""

from collections.abc import Callable, Sequence
from typing import Annotated

import sqlalchemy as sa
from prefect.client.schemas.objects import State
from pydantic import Field

from db import claims
from flows.opening import open_mill
from flows.telling import ending
from models.profile import Profile
from models.stage import Stage
from tasks.drain import Lane, drain, lingering
from tasks.mill import Mill

Budget = Annotated[float, Field(gt=0)]
Linger = Annotated[float, Field(ge=0)]


def drain_stages(
    kind: str,
    stages: Sequence[Stage],
    lines_of: Callable[[Profile], Sequence[Lane]],
    profile: str,
    *,
    budget_s: float | None,
    linger_s: float,
    before: Sequence[Stage] = (),
    reads: bool = False,
    finish: Callable[[Mill], object] = lambda _: None,
) -> State[int]:
    """A run of `kind` that works off `stages` of a profile; how it ended, with its id.

    Over when for `linger_s` seconds there has been no work and nobody was at work in the stages `before`, or
    when `budget_s` are spent; `finish` is then called. `reads`: with the profile's OCR engine. Raises as
    `flows.opening.open_mill`.
    """
    with open_mill(kind, profile, [], None, reads=reads) as (mill, _):
        is_over = lingering(lambda: is_idle(mill, stages, before), linger_s)
        has_ended = drain(mill, lines_of(mill.profile), is_over, budget_s)
        finish(mill)
        return ending(mill, kind, is_stopped=not has_ended).state


def is_idle(mill: Mill, stages: Sequence[Stage], before: Sequence[Stage]) -> bool:
    """No work of the mill's profile in `stages`, and nobody at work in those before who may bring some."""

    def look(connection: sa.Connection) -> bool:
        coming = claims.outstanding(connection, before, mill.profile.name)
        return not coming.leased and not claims.outstanding(connection, stages, mill.profile.name).total

    return mill.database.run(look)
