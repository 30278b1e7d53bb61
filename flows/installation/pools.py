"""Work pools, their queues, and the rules by which the server ends silent runs."""

from pathlib import Path
from typing import Any

import httpx
import yaml
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound
from prefect.workers.process import ProcessWorker

from flows.installation.services import QUEUES
from models.errors import EnvironmentFault

POOLS = ("cpu", "gpu")
_AUTOMATIONS = Path(__file__).with_name("automations.yaml")
_COMPARED = {"name", "description", "trigger", "actions"}


def make_pools(client: SyncPrefectClient, backfills: int) -> None:
    """The pools with their queues, where they are missing; at most `backfills` runs of `cpu` for backfills.

    Workers of `gpu` have one run each at a time, however many there are. What a person changed on a pool
    stays. Raises EnvironmentFault for a pool that our workers cannot serve.
    """
    for name in POOLS:
        _make_pool(client, name)
        for queue, priority in QUEUES.items():
            limit = backfills if (name, queue) == ("cpu", "backfill") else None
            _make_queue(client, name, queue, priority, limit)


def make_queue(client: SyncPrefectClient, pool: str, name: str) -> None:
    """A queue of one worker, for what this machine is to do; a worker finds nothing while one is missing."""
    _make_queue(client, pool, name, None, None)


def make_automations(client: SyncPrefectClient) -> None:
    """The rules of automations.yaml, as they stand there."""
    for rule in automations():
        existing = client.read_automations_by_name(rule.name)
        if not existing:
            client.create_automation(rule)
        elif _facts(existing[0]) != _facts(rule):
            # Not otherwise: an update makes the server forget for which runs it is waiting.
            client.update_automation(existing[0].id, rule)


def automations() -> list[AutomationCore]:
    """What automations.yaml holds."""
    return AutomationCore.model_validate_list(yaml.safe_load(_AUTOMATIONS.read_text())["automations"])


def _make_pool(client: SyncPrefectClient, name: str) -> None:
    try:
        pool = client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        client.create_work_pool(WorkPoolCreate(name=name, type="process", base_job_template=template))
        return
    if pool.type != "process":
        raise EnvironmentFault(
            f"The Prefect server has a work pool '{name}' of type {pool.type}; a process worker cannot serve "
            f"it. Start that pool's own workers (deploy/ has examples), or delete it: prefect work-pool "
            f"delete {name}."
        )


def _make_queue(
    client: SyncPrefectClient, pool: str, name: str, priority: int | None, limit: int | None
) -> None:
    """A queue that is there keeps its limit and pause: a person may have set them."""
    path = {"work_pool_name": pool}
    try:
        client.request(
            "GET", "/work_pools/{work_pool_name}/queues/{name}", path_params={**path, "name": name}
        )
    except httpx.HTTPStatusError as error:
        if error.response.status_code != httpx.codes.NOT_FOUND:
            raise
        made = {"name": name, "priority": priority, "concurrency_limit": limit}
        client.request("POST", "/work_pools/{work_pool_name}/queues", path_params=path, json=made)


def _facts(rule: AutomationCore) -> Any:
    # Not as JSON: sets would come in any order, and each `up` would write the rules anew.
    told = rule.model_dump(include=_COMPARED)
    told["trigger"].pop("id", None)
    return told
