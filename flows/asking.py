"""An answer to a question, kept beside the readings of its picture."""

from pathlib import Path

from db import answers
from db.engine import open_database
from models.document import SourceFile
from models.errors import Code, ConfigurationError
from models.reading import Reading
from models.recipe import Recipe
from models.settings import Settings
from tasks.work import sources
from tasks.work.media import sniff
from tasks.work.split import split_pages


def keep_answer(
    settings: Settings, recipe: Recipe, picture: Path, page_no: int, reading: Reading, *, image_sha256: str
) -> int:
    """Keep `reading` of a page of the file `picture` under `recipe`; its id. No edition shows it.

    The file becomes a document, if it is none yet; nobody is asked to read it.
    """
    found = next(iter(sources.find([str(picture)])))
    if not isinstance(found, SourceFile):
        raise ConfigurationError(f"{picture} cannot be kept: {found.message}", Code.NOT_FOUND)
    file = sources.take(found)
    (facts,) = split_pages(picture, sniff(picture), page_no, page_no)
    database = open_database(settings)
    try:
        return database.run(
            lambda conn: answers.keep(conn, file, facts, recipe, reading, image_sha256=image_sha256)
        )
    finally:
        database.close()
