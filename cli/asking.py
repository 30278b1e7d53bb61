"""`pagemill ask`: pictures prepared, a server found, the answer shown and kept."""

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import typer

from cli.choosing import choose_profile
from cli.exits import Exit
from cli.words import plural
from flows.asking import keep_answer
from models.engine import OcrRequest
from models.errors import Code, ConfigurationError, EngineUnavailable
from models.page import PageImage
from models.profile import Profile
from models.reading import FinishReason, Reading
from models.recipe import Recipe
from models.servers import OcrServers
from models.settings import Settings
from models.vlm import Task, Vlm
from tasks.work.asking import ask
from tasks.work.engines import servers_for
from tasks.work.media import sniff
from tasks.work.pool import WorkerPool
from tasks.work.preprocess import preprocess_page
from tasks.work.split import open_document
from tasks.work.store import Store


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked for on the command line."""

    profile: str
    pictures: tuple[Path, ...]
    text: str
    task: str = ""
    schema: Path | None = None
    page: int = 1
    is_saved: bool = False
    is_accepted: bool = False
    """The terms of the profile's weights are agreed to."""


def split_words(words: list[str]) -> tuple[tuple[Path, ...], str]:
    """Pictures and question: the last word is the question unless it is a file.

    Raises ConfigurationError for a picture that is not there.
    """
    *first, last = words
    named = first if first and not Path(last).exists() else words
    for word in named:
        if not Path(word).is_file():
            raise ConfigurationError(f"There is no file {word}.", Code.NOT_FOUND)
    return tuple(Path(word).absolute() for word in named), "" if named is words else last


def ask_and_show(settings: Settings, question: Question, *, as_json: bool) -> Exit:
    """Ask, show the answer as it comes, keep it where wished.

    Raises ConfigurationError, EngineUnavailable, PageFailed.
    """
    profile = choose_profile(settings, question.profile, is_accepted=question.is_accepted)
    vlm = _vlm(profile, question)
    schema = _schema(question.schema)
    recipe = _recipe(profile, question, schema)
    first, *others = _prepared(settings, question, recipe)
    store = Store(settings.store)
    request = OcrRequest(
        image=first,
        path=store.path(first.sha256, first.suffix),
        width_pt=first.width_px * first.transform.a,
        height_pt=first.height_px * first.transform.d,
        recipe=recipe,
        question=question.text,
        schema=schema,
        others=tuple(store.path(other.sha256, other.suffix) for other in others),
    )
    servers = servers_for(profile, settings)
    if not servers.urls:
        raise EngineUnavailable(
            f"Nobody serves '{profile.name}'. Start it with 'pagemill serve {profile.name}', or name a "
            "server with PAGEMILL_OCR_URL."
        )
    reading = _asked(servers, vlm, request, _silent if as_json else _say)
    saved = None
    if question.is_saved:
        picture = question.pictures[0]
        saved = keep_answer(settings, recipe, picture, question.page, reading, image_sha256=first.sha256)
    _end(reading, saved, as_json=as_json)
    return Exit.OK if reading.finish_reason is FinishReason.STOP else Exit.INCOMPLETE


def _vlm(profile: Profile, question: Question) -> Vlm:
    if profile.vlm is None:
        raise ConfigurationError(f"Profile '{profile.name}' reads text and answers no questions.")
    tasks = profile.vlm.tasks
    name = _task(profile.vlm, question)
    if name not in tasks:
        raise ConfigurationError(f"'{profile.name}' has no task '{name}'. Known: {', '.join(tasks)}.")
    task = tasks[name]
    if len(question.pictures) > task.max_images:
        raise ConfigurationError(
            f"Task '{name}' takes {task.max_images} at most; there are {len(question.pictures)} pictures."
        )
    if _fills_in(task) and not task.schema_ and question.schema is None:
        raise ConfigurationError(f"Task '{name}' fills in a form: name its JSON schema with --schema.")
    _check_question(profile, name, question.text)
    return profile.vlm


def _check_question(profile: Profile, name: str, text: str) -> None:
    """Raises ConfigurationError for a question that would be lacking, or would be passed over."""
    assert profile.vlm is not None
    takes_one = "{question}" in profile.vlm.tasks[name].prompt
    if takes_one and not text:
        raise ConfigurationError(f"Task '{name}' needs a question, as the last word.")
    if text and not takes_one:
        open_tasks = [other for other, task in profile.vlm.tasks.items() if "{question}" in task.prompt]
        instead = f"ask with --task {open_tasks[0]}" if open_tasks else "ask another model, such as ostrakon"
        raise ConfigurationError(
            f"Task '{name}' of '{profile.name}' has a prompt of its own and takes no question: leave "
            f"'{text[:40]}' out, or {instead}."
        )


def _asked(servers: OcrServers, vlm: Vlm, request: OcrRequest, hear: Callable[[str], None]) -> Reading:
    """What the first of the servers says that answers."""
    said: list[str] = []

    def note(words: str) -> None:
        said.append(words)
        hear(words)

    *others, last = servers.urls
    for url in others:
        try:
            return ask(url, vlm, request, note, servers.api_key)
        except EngineUnavailable:
            if said:
                raise
    return ask(last, vlm, request, note, servers.api_key)


def _task(vlm: Vlm, question: Question) -> str:
    """The task that was named; else one for so many pictures that takes what question or form there is."""
    if question.task:
        return question.task
    fitting = [
        name
        for name, task in vlm.tasks.items()
        if ("{question}" in task.prompt) == bool(question.text) and task.max_images >= len(question.pictures)
    ]
    forms = [name for name in fitting if _fills_in(vlm.tasks[name]) == (question.schema is not None)]
    return next(iter(forms or fitting or vlm.tasks))


def _fills_in(task: Task) -> bool:
    return "{template}" in task.prompt or "{schema}" in task.prompt


def _recipe(profile: Profile, question: Question, schema: str) -> Recipe:
    assert profile.vlm is not None
    asked = [question.text, schema, *(_digest(path) for path in question.pictures[1:])]
    return profile.recipe().model_copy(
        update={
            "task": _task(profile.vlm, question),
            "asked_sha256": hashlib.sha256(json.dumps(asked).encode()).hexdigest(),
        }
    )


def _schema(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        schema = json.loads(path.read_text("utf-8-sig"))
    except ValueError as error:
        raise ConfigurationError(f"{path} is no JSON: {error}.") from error
    if not isinstance(schema, dict):
        raise ConfigurationError(f'{path} is no JSON schema: that is an object, such as {{"type": ...}}.')
    return json.dumps(schema)


def _prepared(settings: Settings, question: Question, recipe: Recipe) -> list[PageImage]:
    """Page images in the store, made in a killable child."""
    pool = WorkerPool(1)
    try:
        for path in question.pictures if question.page > 1 else ():
            _check_page(pool, settings, path, question.page)
        made = [
            pool.submit(
                preprocess_page,
                path,
                sniff(path),
                question.page,
                recipe,
                settings.store,
                timeout_s=settings.render_timeout_s,
                timeout_code=Code.RENDER_TIMEOUT,
                crash_code=Code.RENDER_CRASH,
            )
            for path in question.pictures
        ]
        return [future.result() for future in made]
    finally:
        pool.close()


def _check_page(pool: WorkerPool, settings: Settings, path: Path, page_no: int) -> None:
    """Raises ConfigurationError (not-found) for a page that the file does not have."""
    opened = pool.submit(
        open_document,
        path,
        sniff(path),
        timeout_s=settings.split_timeout_s,
        timeout_code=Code.SPLIT_TIMEOUT,
        crash_code=Code.SPLIT_CRASH,
    )
    facts = opened.result()
    if page_no > facts.page_count:
        has = plural(facts.page_count, "page")
        raise ConfigurationError(f"There is no page {page_no}: {path} has {has}.", Code.NOT_FOUND)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _say(words: str) -> None:
    sys.stdout.write(words)
    sys.stdout.flush()


def _silent(words: str) -> None:
    """With --json the answer comes as a whole."""


def _end(reading: Reading, saved: int | None, *, as_json: bool) -> None:
    if as_json:
        told = {
            "text": reading.text,
            "raw": reading.raw,
            "finish_reason": reading.finish_reason,
            "tokens_in": reading.tokens_in,
            "tokens_out": reading.tokens_out,
            "reading": saved,
        }
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
        return
    typer.echo()
    if reading.finish_reason is not FinishReason.STOP:
        typer.echo(f"The answer was cut off ({reading.finish_reason}).", err=True)
    if saved is not None:
        typer.echo(f"Kept as reading {saved}.", err=True)
