"""prefect.yaml, read strictly and registered: what `prefect deploy --all` does, without its leniency."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal
from zoneinfo import available_timezones

import yaml
from prefect import Flow
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import DeploymentScheduleCreate
from prefect.client.schemas.objects import ConcurrencyOptions
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule
from prefect.exceptions import ObjectNotFound
from pydantic import BaseModel, ConfigDict, Field, field_validator

WATCHING = "ingest/scheduled"
READING = ("ocr/gpu", "ocr/gpu-backfill")
"""These deployments' parameters and times belong to the installation, not to the file."""


class Strict(BaseModel):
    """Prefect drops keys it does not know; here a misspelt one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class PoolChoice(Strict):
    """Where a deployment's runs go."""

    name: Literal["cpu", "gpu"]
    work_queue_name: Literal["scheduled", "backfill"]
    job_variables: dict[str, str] = Field(default_factory=dict)


class Schedule(Strict):
    """When. All are asked for: without a slug a redeploy doubles it, without `active` it wakes it."""

    slug: str = Field(pattern=r"^[a-z0-9-]+$")
    cron: str
    timezone: str
    active: bool

    @field_validator("cron")
    @classmethod
    def _is_cron(cls, cron: str) -> str:
        CronSchedule(cron=cron)
        return cron

    @field_validator("timezone")
    @classmethod
    def _is_known(cls, timezone: str) -> str:
        if timezone not in available_timezones():
            raise ValueError(f"there is no time zone {timezone}")
        return timezone

    def created(self) -> DeploymentScheduleCreate:
        """As the server takes it."""
        schedule = CronSchedule(cron=self.cron, timezone=self.timezone)
        return DeploymentScheduleCreate(schedule=schedule, active=self.active, slug=self.slug)


class Limit(Strict):
    """How many runs of a deployment at once, and what becomes of one more."""

    limit: int = Field(ge=1)
    collision_strategy: Literal["ENQUEUE", "CANCEL_NEW"]
    grace_period_seconds: int = Field(300, ge=60, le=86_400)


class Deployment(Strict):
    """One entry of the file."""

    name: str
    entrypoint: str
    description: str
    schedules: list[Schedule]
    parameters: dict[str, Any] = Field(default_factory=dict)
    concurrency_limit: Limit | None = None
    work_pool: PoolChoice
    tags: list[str] = Field(default_factory=list)

    def flow(self) -> Flow[..., Any]:
        """The flow it runs. Raises ImportError or AttributeError where there is none."""
        module, _, name = self.entrypoint.rpartition(".")
        found: Flow[..., Any] = getattr(importlib.import_module(module), name)
        return found

    @property
    def full_name(self) -> str:
        """Flow and name, as Prefect shows it."""
        return f"{self.flow().name}/{self.name}"


class PrefectFile(Strict):
    """The whole file."""

    name: str
    pull: list[Any] = Field(max_length=0)
    definitions: dict[str, Any] = Field(default_factory=dict)
    deployments: list[Deployment]


@dataclass(frozen=True, slots=True)
class Watch:
    """Folders to read again and again."""

    folders: tuple[str, ...]
    cron: str
    timezone: str
    profile: str


def find_file() -> Path:
    """prefect.yaml: beside this module in an installed package, at the top of a checkout."""
    packaged = Path(__file__).with_name("prefect.yaml")
    return packaged if packaged.exists() else Path(__file__).parents[2] / "prefect.yaml"


def read_file(path: Path) -> PrefectFile:
    """Raises pydantic's ValidationError for anything that does not belong there."""
    return PrefectFile.model_validate(yaml.safe_load(path.read_text()))


def register(client: SyncPrefectClient, deployments: Sequence[Deployment], served: str | None = None) -> None:
    """Register all; of WATCHING and READING, what is on the server stays.

    `served`: the profile that those of READING read with from now on.
    """
    for deployment in deployments:
        there = _find(client, deployment) if deployment.full_name in {WATCHING, *READING} else None
        given = _still_known(deployment, there.parameters) if there else deployment.parameters
        if served and deployment.full_name in READING:
            given = {**given, "profile": served}
        times = _kept(there) if there else [one.created() for one in deployment.schedules]
        _create(client, deployment, given, times)


def watch(client: SyncPrefectClient, deployments: Sequence[Deployment], wish: Watch) -> None:
    """Let WATCHING read the wish's folders at its times, from now on."""
    deployment = next(one for one in deployments if one.full_name == WATCHING)
    parameters = {**deployment.parameters, "paths": list(wish.folders), "profile": wish.profile}
    slug = deployment.schedules[0].slug
    schedule = Schedule(slug=slug, cron=wish.cron, timezone=wish.timezone, active=True)
    made = _create(client, deployment, parameters, [schedule.created()])
    client.create_flow_run_from_deployment(made)


def unwatch(client: SyncPrefectClient, deployments: Sequence[Deployment]) -> None:
    """Stop reading folders by the clock."""
    deployment = next(one for one in deployments if one.full_name == WATCHING)
    _create(client, deployment, deployment.parameters, [one.created() for one in deployment.schedules])


def _find(client: SyncPrefectClient, deployment: Deployment) -> DeploymentResponse | None:
    try:
        return client.read_deployment_by_name(deployment.full_name)
    except ObjectNotFound:
        return None


def _still_known(deployment: Deployment, parameters: dict[str, Any]) -> dict[str, Any]:
    """Without those that an older version had."""
    known = deployment.flow().parameters.properties
    return {name: value for name, value in parameters.items() if name in known}


def _kept(there: DeploymentResponse) -> list[DeploymentScheduleCreate]:
    return [
        DeploymentScheduleCreate(schedule=one.schedule, active=one.active, slug=one.slug)
        for one in there.schedules
    ]


def _create(
    client: SyncPrefectClient,
    deployment: Deployment,
    parameters: dict[str, Any],
    schedules: list[DeploymentScheduleCreate],
) -> Any:
    """Make or replace it; its id."""
    flow, limit = deployment.flow(), deployment.concurrency_limit
    return client.create_deployment(
        flow_id=client.create_flow_from_name(flow.name),
        name=deployment.name,
        version=version("pagemill"),
        description=deployment.description,
        entrypoint=deployment.entrypoint,
        pull_steps=[],
        parameters=parameters,
        parameter_openapi_schema=flow.parameters.model_dump_for_openapi(),
        enforce_parameter_schema=True,
        schedules=schedules,
        concurrency_limit=limit.limit if limit else None,
        concurrency_options=ConcurrencyOptions(**limit.model_dump(exclude={"limit"})) if limit else None,
        work_pool_name=deployment.work_pool.name,
        work_queue_name=deployment.work_pool.work_queue_name,
        job_variables=deployment.work_pool.job_variables,
        tags=deployment.tags,
    )
