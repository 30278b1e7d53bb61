"""Notes: what one part of the work remarks and another goes by. The codes are stored: never rename one."""

UNREADABLE_PAGE = "unreadable-page"
"""The file is damaged at this page, which keeps its place."""

SCRIPT_UNSUPPORTED = "script-unsupported"
"""The text layer is sane and written in a script that the engine cannot read."""

TOO_LONG = "answer-too-long"
"""Of the model's answers: longer than any page."""
UNPARSABLE = "unparsable"
SCHEMA_MISMATCH = "schema-mismatch"
TABLE_MISSING = "table-missing"
BOX_UNREADABLE = "box-unreadable"

TEXT_CLEANED = "text-cleaned"
TOKENS_STRIPPED = "tokens-stripped"
PREAMBLE_STRIPPED = "preamble-stripped"
FENCE_STRIPPED = "fence-stripped"
JSON_REPAIRED = "json-repaired"
HTML_REPAIRED = "html-repaired"

REPAIRS = frozenset(
    {TEXT_CLEANED, TOKENS_STRIPPED, PREAMBLE_STRIPPED, FENCE_STRIPPED, JSON_REPAIRED, HTML_REPAIRED}
)
"""Of an answer that was mended: findings of their own, for information."""
