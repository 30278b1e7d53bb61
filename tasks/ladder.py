"""The retry ladder at work: what has to be made, opened or asked for a step of a page."""

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from db import pages
from models.claim import Claim
from models.engine import OcrRequest
from models.errors import Code, PageFailed, PagemillError
from models.page import PageImage
from models.reading import Reading
from tasks.hand import PageInHand
from tasks.mill import Mill
from tasks.places import read_in_child
from tasks.work.clock import Timed
from tasks.work.custom import find_profile
from tasks.work.elsewhere import Elsewhere
from tasks.work.ladder import Step, next_step, steps_of, trial_of

if TYPE_CHECKING:
    from tasks.work.regions_asked import by_regions
    from tasks.work.rungs import drawn_larger, layer_reading, variants
    from tasks.work.variants import retouch
else:
    by_regions = Elsewhere("tasks.work.regions_asked", "by_regions")
    drawn_larger = Elsewhere("tasks.work.rungs", "drawn_larger")
    layer_reading = Elsewhere("tasks.work.rungs", "layer_reading")
    variants = Elsewhere("tasks.work.rungs", "variants")
    retouch = Elsewhere("tasks.work.variants", "retouch")

log = logging.getLogger(__name__)

Made = Reading | tuple[OcrRequest, ...]
"""Of a step: the requests to send, or the reading itself where no engine is needed."""


class Ladder:
    """The ladder of a drain's profile. Pages climb it one by one, each at its own pace."""

    def __init__(self, mill: Mill) -> None:
        self._mill = mill
        self._steps = steps_of(mill.profile)

    def next(self, page: PageInHand, after: int) -> Step | None:
        """The step to take after step number `after`; None when the best try stands."""
        tries = [tried.as_try() for tried in page.tries]
        return next_step(self._steps, self._mill.profile.ladder_limits, tries, after)

    def begin(self, page: PageInHand, step: Step) -> Future[Made]:
        """Make what the step sends. The future raises PagemillError when the step cannot be taken."""
        page.step, page.engine, page.profile = step, None, self._mill.profile.name
        page.parts, page.answers = (), {}
        try:
            return self._begun(page, step)
        except PagemillError as error:
            failed: Future[Made] = Future()
            failed.set_exception(error)
            return failed

    def by_regions(self, request: OcrRequest) -> Future[Made]:
        """Requests for the regions of a page. The future raises PagemillError when there are no several."""
        mill, vlm = self._mill, self._mill.profile.vlm
        if vlm is None:
            raise PageFailed("Only served models are asked by regions.", Code.OCR_FAILED)
        return mill.render_pool.submit(
            by_regions,
            request,
            vlm,
            mill.store.root,
            timeout_s=mill.settings.render_timeout_s,
            timeout_code=Code.RENDER_TIMEOUT,
            crash_code=Code.RENDER_CRASH,
        )

    def from_layer(self, request: OcrRequest) -> Future[Made]:
        """The page's text layer instead of an answer. The future raises PageFailed where it is not sane."""
        mill = self._mill
        if not request.words or request.recipe.text_layer == "ignore":
            raise PageFailed(
                "The page has no text layer, or the recipe does not look at it.", Code.OCR_FAILED
            )
        return mill.render_pool.submit(
            layer_reading,
            request,
            mill.profile.scripts,
            timeout_s=mill.settings.render_timeout_s,
            timeout_code=Code.OCR_TIMEOUT,
        )

    def _begun(self, page: PageInHand, step: Step) -> Future[Made]:
        rung = step.rung
        if rung is None:
            raise ValueError("the first try is no step of the ladder")
        trial = trial_of(step, self._mill.profile, [tried.as_try() for tried in page.tries])
        request = replace(page.first, trial=trial, priority=page.first.priority + 1)
        if rung.kind == "profile":
            return _done(self._of_other(page, request, rung.profile))
        if rung.kind == "regions" and request.recipe.regions == "off":
            return self.by_regions(request)
        if rung.kind == "regions":
            raise PageFailed("The page was asked by regions before.", Code.OCR_FAILED)
        if rung.kind == "larger":
            return self._larger(page.item.claim, request, rung.factor)
        if rung.kind == "text-layer":
            return self.from_layer(replace(request, words=page.item.facts.words))
        if rung.kind == "sampling":
            return _done((request,))
        grid = request.recipe.grid_px
        options = {"turn": step.turn, "factor": rung.factor, "halves": rung.kind == "halves", "grid_px": grid}
        return self._pictures(request, retouch, self._mill.store.root, request.image, **options)

    def _of_other(self, page: PageInHand, request: OcrRequest, name: str) -> tuple[OcrRequest, ...]:
        """The same page for another profile's engine."""
        profile = find_profile(name, self._mill.settings)
        page.engine, page.profile = self._mill.other_engine(profile), name
        recipe = profile.recipe().model_copy(update={"text_layer": request.recipe.text_layer})
        return (replace(request, recipe=recipe),)

    def _larger(self, claim: Claim, request: OcrRequest, factor: float) -> Future[Made]:
        """The page once more from its source: a page image holds no more than it holds."""
        mill, vlm = self._mill, self._mill.profile.vlm
        (item,) = mill.database.run(lambda conn: pages.to_preprocess(conn, [claim]))
        most = max(request.recipe.max_pixels, vlm.pixels.max_pixels if vlm else 0)
        recipe = request.recipe.model_copy(update={"max_pixels": most})
        store, passwords = mill.store.root, mill.passwords()
        drawn = read_in_child(
            mill,
            item.sha256,
            item.sources,
            drawn_larger,
            request,
            store,
            (item.media_type, claim.page_no, recipe, request.image, factor, store, passwords),
            timeout_s=mill.settings.render_timeout_s,
            timeout_code=Code.RENDER_TIMEOUT,
            crash_code=Code.RENDER_CRASH,
        )
        return _untimed(drawn)

    def _pictures(
        self,
        request: OcrRequest,
        make: Callable[..., PageImage | tuple[PageImage, ...]],
        *args: object,
        **options: object,
    ) -> Future[Made]:
        mill = self._mill
        return mill.render_pool.submit(
            variants,
            request,
            mill.store.root,
            partial(make, *args, **options),
            timeout_s=mill.settings.render_timeout_s,
            timeout_code=Code.RENDER_TIMEOUT,
            crash_code=Code.RENDER_CRASH,
        )


def _done(made: Made) -> Future[Made]:
    future: Future[Made] = Future()
    future.set_result(made)
    return future


def _untimed(timed: Future[Timed[tuple[OcrRequest, ...]]]) -> Future[Made]:
    """The value alone: the time of drawing is not the engine's."""
    made: Future[Made] = Future()

    def pass_on(done: Future[Timed[tuple[OcrRequest, ...]]]) -> None:
        error = CancelledError() if done.cancelled() else done.exception()
        if error is not None:
            made.set_exception(error)
        else:
            made.set_result(done.result().value)

    timed.add_done_callback(pass_on)
    return made
