"""What Chandra's two models share: terms of the weights, scripts, sampling, pictures, retries."""

from typing import Any

from models.profile import Profile
from models.profiles import serving
from models.vlm import LadderLimits, Parser, Pixels, RepetitionDetection, Rung, Sampling, Task, Vlm

LICENCE = "code Apache-2.0; weights OpenRAIL-M (modified): free below $2M revenue and funding, not for rivals"
CONSENT = """\
The weights of Chandra come under a modified OpenRAIL-M licence of Datalab. In short, and no substitute:
- free for research, for personal use, and for organisations with less than $2M of revenue and less than $2M
  raised; others need a licence from Datalab;
- not for anything that competes with Datalab's products;
- its use restrictions bind you and whoever you pass the model on to, and Datalab has to be named;
- clause 8 asks that the licence be applied to the model's output as well: here, the texts it reads.
The full text is the file MODEL_LICENSE beside the weights; amounts in newer versions may differ."""

SCRIPTS = frozenset(
    {
        *("latin", "cyrillic", "greek", "arabic", "hebrew", "devanagari", "bengali", "tamil", "thai"),
        *("hangul", "kana", "han"),
    }
)
"""Those of the languages that the vendor lists: more than 40, 90 for Chandra 2."""

SAMPLING = Sampling(
    top_p=0.1,
    max_tokens=12_384,
    stop=("<|im_end|>", "<|endoftext|>"),
    repetition_detection=RepetitionDetection(max_pattern_size=64, min_count=100),
)
"""The end of a turn has to be asked for: Chandra 2's own settings name <|endoftext|> alone."""

_MOST_PIXELS = 6_291_456
"""3,072 x 2,048, as the vendor's client has it for both."""


def tasks(parser: Parser, layout: str, plain: str) -> dict[str, Task]:
    """What either model can be asked, by its own prompts."""
    return {
        "layout": Task(prompt=layout, parser=parser, about="the whole page in blocks with boxes"),
        "plain": Task(prompt=plain, parser=parser, about="the whole page in blocks without boxes"),
    }


def profile(*, name: str, title: str, revision: str, temperatures: tuple[float, ...], vlm: Vlm) -> Profile:
    """A profile of one of the two; `temperatures` are those of the tries after the first."""
    return Profile(
        name=name,
        title=title,
        engine="vllm",
        revision=revision,
        licence=LICENCE,
        scripts=SCRIPTS,
        long_edge_px=2_240,
        min_pixels=1_572_864,
        max_pixels=_MOST_PIXELS,
        grid_px=32,
        resolution="legible",
        x_height_px=11.0,
        orient=True,
        batch_pages=16,
        timeout_s=1_200.0,
        ladder=serving.ladder(*_hotter(temperatures)),
        ladder_limits=LadderLimits(attempts=9, seconds=1_200.0, tokens=98_304),
        vlm=vlm,
    )


def vlm(*, min_pixels: int, **fields: Any) -> Vlm:
    """The served-model part: `fields` are those in which the two differ."""
    return Vlm(
        served_name="chandra",
        pixels=Pixels(patch_px=16, merge=2, min_pixels=min_pixels, max_pixels=_MOST_PIXELS),
        sampling=SAMPLING,
        consent=CONSENT,
        most_errors=serving.MOST_ERRORS,
        **fields,
    )


def _hotter(temperatures: tuple[float, ...]) -> tuple[Rung, ...]:
    """The vendor's own cure for loops: more temperature, a wide nucleus."""
    when = serving.LOOPS + serving.ODD
    return tuple(
        Rung(kind="sampling", sampling={"temperature": t, "top_p": 0.95}, when=when) for t in temperatures
    )
