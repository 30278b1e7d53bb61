"""The thresholds of all checks, in one place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """Thresholds of the checks. docs/checks.md gives the figures behind them."""

    loop_chars: int = 1_500
    """Characters of repeated words in a run that no page prints: 40 form boxes have under 1,000."""
    symbol_loop_chars: int = 3_000
    """The same for units without a letter: dots, zeros, empty boxes."""
    sentence_chars: int = 40
    """A repeated unit this long is a sentence or a row, not a box of a form."""
    sentence_repeats: int = 8
    loop_period_chars: int = 400
    """Longest unit looked for."""
    loop_scan_chars: int = 24_000
    """Characters searched, from the end of the text."""
    loop_tail_chars: int = 300
    """A run that stops at most so far from the end of the text ran into the end."""
    table_rows: int = 150
    table_cells: int = 3_000
    """A table larger than a page can print is searched for loops like text."""

    picture_ink: float = 0.2
    """From this share of inked pixels on, a page without text may well be a picture."""
    layer_words: int = 3
    """A text layer with so many words proves that there is text."""
    ink_px_per_char: float = 6.0
    """Fewer inked pixels than this do not make a readable character; the smallest bitmap fonts use 9."""
    min_chars_for_ink: int = 200
    """Shorter texts are not weighed against the ink."""

    layer_agreement: float = 0.5
    """Text layer and reading agree less than this: one of them is wrong."""
    foreign_share: float = 0.05
    """Share of letters in scripts the profile cannot read that makes the reading doubtful."""
    min_foreign_letters: int = 10
    confidence: float = 0.9
    """Mean confidence under this: scripts the model does not know and handwriting lie below, print above."""
    box_slack_pt: float = 3.0
    """Boxes may stand out of the page by so many points: detectors round outwards."""
