"""What Chandra's two models share: terms of the weights, scripts, sampling, retries."""

from models.profiles import serving
from models.vlm import LadderLimits, RepetitionDetection, Rung, Sampling

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

LIMITS = LadderLimits(attempts=8, seconds=1_200.0, tokens=98_304)


def hotter(*temperatures: float) -> tuple[Rung, ...]:
    """The vendor's own cure for loops: more temperature, a wide nucleus."""
    when = serving.LOOPS + serving.ODD
    return tuple(
        Rung(kind="sampling", sampling={"temperature": t, "top_p": 0.95}, when=when) for t in temperatures
    )
