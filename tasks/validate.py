"""Stage validate: judge a reading before it is kept."""

from models.engine import OcrRequest
from models.profile import Profile
from models.reading import Reading, cleaned
from models.verdict import PageUnderCheck
from models.work import PageResult, PageToRead
from tasks.work.checks import check, verdict
from tasks.work.layercheck import compared


def judge(
    page: PageToRead, request: OcrRequest, reading: Reading, profile: Profile, cached_from: int | None = None
) -> PageResult:
    """`reading` with its findings and verdict, as the ledger keeps it: clean, whatever an engine says."""
    reading = compared(cleaned(reading), request, profile)
    findings = check(reading, PageUnderCheck.of(request, profile, page.facts.notes))
    return PageResult(
        claim=page.claim,
        reading=reading,
        verdict=verdict(reading, findings),
        findings=findings,
        image_sha256=page.image.sha256,
        cached_from=cached_from,
    )
