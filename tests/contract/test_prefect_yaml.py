"""prefect.yaml, read strictly: Prefect itself drops keys it does not know."""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from prefect import Flow

_FILE = Path(__file__).parents[2] / "prefect.yaml"
_CONTENT: dict[str, Any] = yaml.safe_load(_FILE.read_text())
_DEPLOYMENTS: list[dict[str, Any]] = _CONTENT["deployments"]

_KEYS = {
    "name",
    "entrypoint",
    "description",
    "schedules",
    "concurrency_limit",
    "parameters",
    "work_pool",
    "tags",
}
_POOLS = {"cpu": {"scheduled", "backfill"}, "gpu": {"scheduled", "backfill"}}


def _flow(deployment: dict[str, Any]) -> Flow[..., Any]:
    module, _, name = deployment["entrypoint"].rpartition(".")
    flow = getattr(importlib.import_module(module), name)
    assert isinstance(flow, Flow)
    return flow


def _name(deployment: dict[str, Any]) -> str:
    return f"{deployment['entrypoint']}/{deployment['name']}"


def test_the_file_has_only_keys_that_prefect_knows() -> None:
    assert set(_CONTENT) == {"name", "pull", "definitions", "deployments"}
    assert _CONTENT["pull"] == []
    for deployment in _DEPLOYMENTS:
        assert set(deployment) <= _KEYS, _name(deployment)


@pytest.mark.parametrize("deployment", _DEPLOYMENTS, ids=_name)
def test_an_entrypoint_is_a_flow_that_says_what_it_does(deployment: dict[str, Any]) -> None:
    flow = _flow(deployment)
    assert flow.description
    assert set(deployment.get("parameters", {})) <= set(flow.parameters.properties)


@pytest.mark.parametrize("deployment", _DEPLOYMENTS, ids=_name)
def test_every_parameter_is_flat_described_and_has_a_json_default_or_none(deployment: dict[str, Any]) -> None:
    for name, field in _flow(deployment).parameters.properties.items():
        assert field.get("description"), name
        assert field.get("type") != "object", name
        json.dumps(field.get("default"))


@pytest.mark.parametrize("deployment", _DEPLOYMENTS, ids=_name)
def test_pools_and_queues_are_those_of_the_design(deployment: dict[str, Any]) -> None:
    pool = deployment["work_pool"]
    assert set(pool) == {"name", "work_queue_name"}
    assert pool["work_queue_name"] in _POOLS[pool["name"]]


@pytest.mark.parametrize("deployment", _DEPLOYMENTS, ids=_name)
def test_a_schedule_has_a_slug_a_time_zone_and_says_whether_it_is_active(deployment: dict[str, Any]) -> None:
    for schedule in deployment["schedules"]:
        assert {"slug", "timezone", "active"} <= set(schedule)


def test_deployments_are_named_once() -> None:
    names = [_name(deployment) for deployment in _DEPLOYMENTS]
    assert len(names) == len(set(names))
