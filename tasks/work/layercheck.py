"""What a served model read of a page beside the page's text layer: how far they agree."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from models.engine import OcrRequest
from models.notes import SCRIPT_UNSUPPORTED
from models.profile import Profile
from models.reading import Reading, ReadingSource
from tasks.work.metrics import agreement

if TYPE_CHECKING:
    from tasks.work.textlayer import Layer

# They write the whole page; other tasks tell a part of it, or about it.
_OF_THE_PAGE = frozenset({"markdown", "chandra", "chandra-2"})
# Names of LaTeX commands are printed nowhere.
_COMMAND = re.compile(r"\\[A-Za-z]+")


def compared(reading: Reading, request: OcrRequest, profile: Profile) -> Reading:
    """`reading` with its agreement with the page's text layer, where that has one that is sane.

    A layer that says the same is proven by it. Only one that says something else is looked at beside the page
    image, which takes some 50 ms: one that cannot be what is printed is noted as such and not compared.
    A few words, such as a stamp, are no witness. Engines that look at layers themselves have done so.
    """
    is_read = reading.source is ReadingSource.OCR and _is_of_the_page(request, profile)
    if not is_read or len(request.words) < profile.checks.layer_words:
        return reading
    said = _COMMAND.sub(" ", reading.text)
    alike = agreement(" ".join(word.text for word in request.words), said)
    if alike >= profile.checks.layer_agreement:
        return replace(reading, layer_agreement=alike)
    layer = _layer(request, profile)
    if layer is None:
        return reading
    if layer.fault:
        from tasks.work import textlayer  # noqa: PLC0415

        return replace(reading, notes=(*reading.notes, textlayer.REJECTED + layer.fault))
    notes = (*reading.notes, SCRIPT_UNSUPPORTED) if layer.is_foreign else reading.notes
    return replace(reading, layer_agreement=agreement(layer.text, said), notes=notes)


def _is_of_the_page(request: OcrRequest, profile: Profile) -> bool:
    """Whether the model was asked for all that stands on the page."""
    if profile.vlm is None or request.recipe.text_layer == "ignore":
        return False
    first = profile.vlm.task("")
    task = profile.vlm.tasks.get(request.recipe.task, first)
    return task == first or task.parser in _OF_THE_PAGE


def _layer(request: OcrRequest, profile: Profile) -> "Layer | None":
    # With what looks at pictures: most layers say what was read.
    from PIL import Image  # noqa: PLC0415

    from tasks.work import textlayer  # noqa: PLC0415

    try:
        with Image.open(request.path) as picture:
            # Only ink is looked at: a JPEG's colours need not be decoded.
            picture.draft("L", None)
            return textlayer.look(request, picture, profile.scripts)
    except OSError:
        # The picture was purged since it was sent: nothing can be said of the layer.
        return None
