"""Pages and their pictures: what split and preprocess keep, and what preprocess and ocr ask for."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from db import claims, readings, runs, tables
from db.documents import sources_of
from db.keys import among, given
from models.claim import Claim
from models.document import DocumentFacts, MediaType
from models.layer import PackedLayer, pack
from models.page import PageFacts, PageImage
from models.reading import Reading, ReadingSource
from models.recipe import Recipe
from models.stage import STAGE_VERSION, ClaimStatus, Stage
from models.verdict import Verdict
from models.work import PageResult, PageToPrepare, PageToRead, PreparedPage

_PageKey = tuple[int, int]
_NO_LAYERS: Mapping[int, PackedLayer] = {}


def save_pages(
    connection: sa.Connection,
    claim: Claim,
    pages: Sequence[PageFacts],
    layers: Mapping[int, PackedLayer] = _NO_LAYERS,
) -> bool:
    """Keep pages of a document and make their preprocess work; False when the claim is not ours any more.

    `layers`: text layers by page number that are packed already; the words of other pages are packed here.
    """
    if not claims.held(connection, [claim]):
        return False
    t = tables.page
    added = insert(t)
    changed = {column.name: added.excluded[column.name] for column in t.c if not column.primary_key}
    upsert = added.on_conflict_do_update(index_elements=["document_id", "page_no"], set_=changed)
    rows = [
        _page_row(claim.document_id, page, layers.get(page.page_no) or pack(page.words))
        for page in sorted(pages, key=lambda page: page.page_no)
    ]
    if rows:
        connection.execute(upsert, rows)
        numbers = [page.page_no for page in pages]
        _make_claims(connection, claim, min(numbers), max(numbers))
    return True


def keep_page(connection: sa.Connection, document_id: int, facts: PageFacts) -> None:
    """Keep one page of a document that nobody has claimed; one that is there stays as it is."""
    added = insert(tables.page).values(_page_row(document_id, facts, pack(facts.words)))
    connection.execute(added.on_conflict_do_nothing(index_elements=["document_id", "page_no"]))


def finish_split(connection: sa.Connection, claim: Claim, facts: DocumentFacts) -> bool:
    """All pages are saved: the document waits for them; False when the claim is not ours any more."""
    if not claims.held(connection, [claim]):
        return False
    t = tables.document
    values = {
        "page_count": facts.page_count,
        "is_repaired": facts.is_repaired,
        "is_encrypted": facts.is_encrypted,
        "permissions": facts.permissions,
        "title": facts.title,
        "notes": facts.notes,
        "split_version": STAGE_VERSION[Stage.SPLIT],
    }
    connection.execute(sa.update(t).where(t.c.id == claim.document_id).values(values))
    # Pages that a broken-off split under another recipe saved have no claim under this one.
    _make_claims(connection, claim)
    claims.wait_for_pages(connection, claim)
    return True


def reuse_split(connection: sa.Connection, claim: Claim) -> int | None:
    """Take over the pages that an earlier run split, under whatever recipe; how many, None if there are none.

    Ends the split like `finish_split`.
    """
    t = tables.document
    split = sa.select(t.c.page_count).where(
        t.c.id == claim.document_id, t.c.split_version == STAGE_VERSION[Stage.SPLIT]
    )
    page_count: int | None = connection.execute(split).scalar_one_or_none()
    if page_count is None or not claims.held(connection, [claim]):
        return None
    _make_claims(connection, claim)
    claims.wait_for_pages(connection, claim)
    return page_count


def save_images(connection: sa.Connection, prepared: Sequence[PreparedPage]) -> frozenset[int]:
    """Keep pictures and hand their pages on to ocr; says which claims were still ours.

    A blank page has nothing to read: its reading is that, and it is done.
    """
    ours = claims.held(connection, [page.claim for page in prepared])
    kept = [page for page in prepared if page.claim.id in ours]
    t = tables.page_image
    added = insert(t)
    changed = {column.name: added.excluded[column.name] for column in t.c if not column.primary_key}
    key = ["document_id", "page_no", "preprocess_key"]
    rows = sorted((_image_row(page) for page in kept), key=lambda row: (row["document_id"], row["page_no"]))
    if rows:
        connection.execute(added.on_conflict_do_update(index_elements=key, set_=changed), rows)
    claims.advance_held(connection, [page.claim.id for page in kept if not page.image.is_blank], Stage.OCR)
    readings.save(connection, [_blank(page) for page in kept if page.image.is_blank])
    return ours


def to_preprocess(connection: sa.Connection, leased: Sequence[Claim]) -> tuple[PageToPrepare, ...]:
    """What preprocess needs of claimed pages, in the order of `leased`."""
    facts = _facts(connection, leased, with_words=False)
    images = _images(connection, leased, _recipes(connection, leased))
    documents = {claim.document_id for claim in leased}
    sources = sources_of(connection, documents)
    t = tables.document
    contents = {
        row.id: row
        for row in connection.execute(
            sa.select(t.c.id, t.c.sha256, t.c.media_type).where(t.c.id.in_(documents))
        )
    }
    return tuple(
        PageToPrepare(
            claim=claim,
            sha256=contents[claim.document_id].sha256,
            media_type=MediaType(contents[claim.document_id].media_type),
            sources=sources[claim.document_id],
            facts=facts[claim.document_id, claim.page_no],
            image=images.get(claim.id),
        )
        for claim in leased
    )


def to_read(connection: sa.Connection, leased: Sequence[Claim]) -> tuple[PageToRead, ...]:
    """What an OCR engine needs of claimed pages, in the order of `leased`.

    Text layers too, where the recipe of any of them looks at these.
    """
    recipes = _recipes(connection, leased)
    is_looked_at = any(recipe.text_layer != "ignore" for recipe in recipes.values())
    facts = _facts(connection, leased, with_words=is_looked_at)
    images = _images(connection, leased, recipes)
    return tuple(
        PageToRead(claim, images[claim.id], facts[claim.document_id, claim.page_no]) for claim in leased
    )


def _make_claims(connection: sa.Connection, claim: Claim, first: int = 1, last: int | None = None) -> None:
    """Preprocess work for saved pages that have no claim under this recipe yet."""
    t, page = tables.claim, tables.page
    wanted = (
        sa.select(
            t.c.document_id,
            t.c.recipe_id,
            page.c.page_no,
            sa.literal(Stage.PREPROCESS.value),
            sa.literal(ClaimStatus.READY.value),
            t.c.priority,
            t.c.profile,
            t.c.run_id,
        )
        .join_from(t, page, page.c.document_id == t.c.document_id)
        .where(t.c.id == claim.id, page.c.page_no >= first)
        .where(page.c.split_version == STAGE_VERSION[Stage.SPLIT])
        .order_by(page.c.page_no)
    )
    if last is not None:
        wanted = wanted.where(page.c.page_no <= last)
    columns = ["document_id", "recipe_id", "page_no", "stage", "status", "priority", "profile", "run_id"]
    connection.execute(insert(t).from_select(columns, wanted).on_conflict_do_nothing())


def _facts(
    connection: sa.Connection, leased: Iterable[Claim], *, with_words: bool
) -> dict[_PageKey, PageFacts]:
    keys = {(claim.document_id, claim.page_no) for claim in leased}
    rows = connection.execute(_looking_up(with_words=with_words), given(keys)) if keys else ()
    return {
        (row.document_id, row.page_no): PageFacts(
            page_no=row.page_no,
            width_pt=row.width_pt,
            height_pt=row.height_pt,
            rotation=row.rotation,
            words=row.words if with_words else (),
            notes=row.notes,
        )
        for row in rows
    }


@cache
def _looking_up(*, with_words: bool) -> sa.Select[Any]:
    t = tables.page
    columns = [t.c.document_id, t.c.page_no, t.c.width_pt, t.c.height_pt, t.c.rotation, t.c.notes]
    query = sa.select(*columns, *([t.c.words] if with_words else []))
    return query.where(among(t.c.document_id, t.c.page_no))


@cache
def _depicting() -> sa.Select[Any]:
    t = tables.page_image
    return sa.select(t).where(among(t.c.document_id, t.c.page_no, t.c.preprocess_key))


def _recipes(connection: sa.Connection, leased: Sequence[Claim]) -> dict[int, Recipe]:
    """The recipes of claims, by id."""
    return {id_: runs.recipe(connection, id_) for id_ in sorted({claim.recipe_id for claim in leased})}


def _images(
    connection: sa.Connection, leased: Sequence[Claim], recipes: Mapping[int, Recipe]
) -> dict[int, PageImage]:
    """Pictures by claim id. Each recipe has its own key to them."""
    keys = {id_: recipe.preprocess_key for id_, recipe in recipes.items()}
    wanted = {(claim.document_id, claim.page_no, keys[claim.recipe_id]): claim.id for claim in leased}
    rows = connection.execute(_depicting(), given(wanted)) if wanted else ()
    found = {(row.document_id, row.page_no, row.preprocess_key): row for row in rows}
    return {claim_id: _image(found[key]) for key, claim_id in wanted.items() if key in found}


def _image(row: sa.Row[tuple[object, ...]]) -> PageImage:
    return PageImage(
        sha256=row.sha256,
        suffix=row.suffix,
        width_px=row.width_px,
        height_px=row.height_px,
        transform=row.transform,
        ink=row.ink,
        is_blank=row.is_blank,
        notes=row.notes,
        turn=row.turn,
        skew=row.skew,
        x_height_px=row.x_height_px,
        reason=row.reason,
        tokens_saved=row.tokens_saved,
    )


def _page_row(document_id: int, page: PageFacts, layer: PackedLayer) -> dict[str, object]:
    return {
        "document_id": document_id,
        "page_no": page.page_no,
        "width_pt": page.width_pt,
        "height_pt": page.height_pt,
        "rotation": page.rotation,
        "notes": page.notes,
        "words": layer.data,
        "layer_chars": layer.chars,
        "split_version": STAGE_VERSION[Stage.SPLIT],
    }


def _image_row(page: PreparedPage) -> dict[str, Any]:
    image = page.image
    return {
        "document_id": page.claim.document_id,
        "page_no": page.claim.page_no,
        "preprocess_key": page.preprocess_key,
        "sha256": image.sha256,
        "suffix": image.suffix,
        "width_px": image.width_px,
        "height_px": image.height_px,
        "transform": image.transform,
        "ink": image.ink,
        "is_blank": image.is_blank,
        "notes": image.notes,
        "turn": image.turn,
        "skew": image.skew,
        "x_height_px": image.x_height_px,
        "reason": image.reason,
        "tokens_saved": image.tokens_saved,
    }


def _blank(page: PreparedPage) -> PageResult:
    nothing = Reading(source=ReadingSource.NONE, text="", blocks=())
    return PageResult(page.claim, nothing, Verdict.BLANK, image_sha256=page.image.sha256)
