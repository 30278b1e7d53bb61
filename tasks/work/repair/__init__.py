"""Repair before retry: small pure functions from a raw answer to a mended one and notes of what was mended.

The raw answer stays with the reading; each note becomes a finding of its own and makes an otherwise good page
`repaired` (models.notes.REPAIRS). Tags of HTML are closed where HTML is read, by tasks.work.parsers.
"""

from tasks.work.repair.answers import Repaired, repair, unfenced, without_preamble, without_tokens
from tasks.work.repair.json import Mended, mend_json

__all__ = ["Mended", "Repaired", "mend_json", "repair", "unfenced", "without_preamble", "without_tokens"]
