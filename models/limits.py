"""The thresholds of all checks, as data that a profile may change."""

from pydantic import BaseModel, ConfigDict


class CheckLimits(BaseModel):
    """Thresholds of the checks. docs/checks.md gives the figures behind them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    disabled: tuple[str, ...] = ()
    """Codes of checks that are not made."""
    enabled: tuple[str, ...] = ()
    """Codes of optional checks that are made."""

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
    value_chars: int = 200
    """Quoted values of an answer (attributes, JSON strings) this long are searched for loops of their own."""
    row_repeats: int = 8
    """So many equal rows at the end of a table, of two different cells or more, are a loop."""
    counted_repeats: int = 20
    """So many equal sentences in a row that differ in their numbers only: a loop that counts."""
    table_rows: int = 150
    table_cells: int = 3_000
    """A table larger than a page can print is searched for loops like text."""

    picture_ink: float = 0.2
    """From this share of inked pixels on, a page without text may well be a picture."""
    layer_words: int = 3
    """A text layer with so many words proves that there is text."""
    ink_px_per_char: float = 12.0
    """Fewer inked pixels than this make no character: the densest pages use 36, bitmap fonts 9."""
    ink_px_per_char_most: float = 3_000.0
    """A page with more ink for each of its few characters holds a drawing, or was hardly read."""
    few_chars: int = 80
    """Texts so short are weighed against too much ink."""
    min_chars_for_ink: int = 200
    """Shorter texts are not weighed against the ink."""
    most_chars: int = 100_000
    """No page holds more: the fullest measured, of a three-column gazette, has 9,500."""
    scan_chars: int = 40_000
    """Characters that the checks of wording and form look at: half at the start, half at the end."""

    chat_chars: int = 300
    """Refusals and remarks stand in the first and last so many characters."""
    refusal_chars: int = 700
    """A refusal in a text so short is the whole answer; in a longer one it is a remark."""
    silent_px_per_char: float = 600.0
    """A short answer about a picture, with more ink than this for each character, is no page's text."""
    echo_chars: int = 24
    """A stretch of the prompt this long in the answer is an echo."""
    markup_tags: int = 3
    """So many tags of HTML in plain text are markup that leaked; layout tags count at once."""

    ragged_rows: int = 1
    """Rows of a table that are longer or shorter than most."""
    jump_columns: int = 3
    """A row with so many columns more or fewer than most, and half as many again, is a jump."""
    most_columns: int = 60
    deepest_markup: int = 200
    """HTML nested deeper than this is no page's."""
    formula_chars: int = 1_500
    """Characters of formulas that the LaTeX parser is given; all others are only counted through."""

    letters_share: float = 0.5
    """Fewer letters and digits among signs, leaders and bars left out, are no text: pages have over 0.75."""
    signs_chars: int = 100
    """Shorter texts are not counted through for signs."""

    layer_agreement: float = 0.5
    """Text layer and reading agree less than this: one of them is wrong."""
    foreign_share: float = 0.05
    """Share of letters in scripts the profile cannot read that makes the reading doubtful."""
    min_foreign_letters: int = 10
    confidence: float = 0.9
    """Mean confidence under this: scripts the model does not know and handwriting lie below, print above."""
    box_slack_pt: float = 3.0
    """Boxes may stand out of the page by so many points: detectors round outwards."""

    language_letters: int = 180
    """Fewer letters do not tell a language."""
    neighbours: int = 2
    """Pages looked at before and after a page."""
    script_share: float = 0.6
    """From this share of its letters on, a page is in a script."""
    lost_line_chars: int = 200
    """A page with less text than this, a title or a picture, needs no header."""
    sum_slack: float = 0.005
    """Amounts may differ by so much from their total, for each item: cents are rounded."""
    witness_chars: int = 40
    """Fewer characters of page text cannot testify against an extracted value."""
