"""What an OCR engine is sent for a page."""

from models.engine import OcrRequest
from models.profile import Profile
from models.recipe import Recipe
from models.work import PageToRead
from tasks.mill import Mill


def request_of(mill: Mill, item: PageToRead) -> OcrRequest:
    """The first try at a page: its page image as the recipe made it."""
    recipe = mill.recipe(item.claim.recipe_id)
    return OcrRequest(
        image=item.image,
        path=mill.store.path(item.image.sha256, item.image.suffix),
        width_pt=item.facts.width_pt,
        height_pt=item.facts.height_pt,
        recipe=recipe,
        words=() if recipe.text_layer == "ignore" else item.facts.words,
        priority=item.claim.priority,
    )


def check_regions(profile: Profile, recipe: Recipe) -> None:
    """Whether this profile can be asked as the recipe says. Raises as `tasks.work.regions_asked.check`."""
    if recipe.regions != "off":
        # With its libraries for pictures: few recipes ask by regions.
        from tasks.work import regions_asked  # noqa: PLC0415

        regions_asked.check(profile, recipe)
