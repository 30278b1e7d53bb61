"""prefect.yaml, read strictly: Prefect itself drops keys it does not know."""

import json
from collections import Counter
from copy import deepcopy
from typing import Any

import pytest
import yaml
from prefect import Flow
from prefect.cli.deploy._models import PrefectYamlModel
from pydantic import ValidationError

from flows.installation.deployments import WATCHING, Deployment, PrefectFile, find_file, read_file
from flows.installation.pools import POOLS
from flows.installation.services import QUEUES
from flows.waking import drains_of
from models import profiles
from models.profile import Profile

_CONTENT: dict[str, Any] = yaml.safe_load(find_file().read_text())
_DEPLOYMENTS = read_file(find_file()).deployments

_EXPECTED = {
    "ingest/scheduled",
    "ingest/adhoc",
    "split/cpu",
    "ocr/gpu",
    "load/cpu",
    "backfill/adhoc",
    "maintain/hourly",
}


def _named(name: str) -> Deployment:
    return next(one for one in _DEPLOYMENTS if one.full_name == name)


def _id(deployment: Deployment) -> str:
    return f"{deployment.entrypoint}/{deployment.name}"


def test_every_deployment_of_the_design_is_there_once() -> None:
    names = Counter(one.full_name for one in _DEPLOYMENTS)
    assert set(names) >= _EXPECTED
    assert max(names.values()) == 1


def test_prefect_itself_reads_the_file_and_finds_as_much_in_it() -> None:
    read = PrefectYamlModel.model_validate(_CONTENT)
    assert [one.entrypoint for one in read.deployments] == [one.entrypoint for one in _DEPLOYMENTS]
    assert [len(one.schedules or []) for one in read.deployments] == [
        len(one.schedules) for one in _DEPLOYMENTS
    ]


@pytest.mark.parametrize("deployment", _DEPLOYMENTS, ids=_id)
def test_an_entrypoint_is_a_flow_by_module_path_that_says_what_it_does(deployment: Deployment) -> None:
    flow = deployment.flow()
    assert isinstance(flow, Flow)
    assert ":" not in deployment.entrypoint
    assert flow.description
    assert deployment.description.endswith(".")


@pytest.mark.parametrize("deployment", _DEPLOYMENTS, ids=_id)
def test_parameters_given_are_parameters_of_the_flow_and_valid(deployment: Deployment) -> None:
    flow = deployment.flow()
    assert set(deployment.parameters) <= set(flow.parameters.properties)
    missing = set(flow.parameters.required) - set(deployment.parameters)
    if not missing:
        flow.validate_parameters(deployment.parameters)
    # What is started by the clock has nobody to ask.
    assert not (missing and deployment.schedules)


@pytest.mark.parametrize("deployment", _DEPLOYMENTS, ids=_id)
def test_every_parameter_is_flat_described_and_has_a_json_default_or_none(deployment: Deployment) -> None:
    schema = deployment.flow().parameters
    for name, field in schema.properties.items():
        assert field.get("description"), name
        assert field.get("type") != "object", name
        json.dumps(field.get("default"))
    # What a field refers to is a list of choices, which the form shows as such.
    assert all("enum" in one for one in schema.definitions.values())


@pytest.mark.parametrize("deployment", _DEPLOYMENTS, ids=_id)
def test_pools_and_queues_are_those_that_are_made(deployment: Deployment) -> None:
    assert deployment.work_pool.name in POOLS
    assert deployment.work_pool.work_queue_name in QUEUES


@pytest.mark.parametrize("deployment", _DEPLOYMENTS, ids=_id)
def test_backfills_have_their_queue_to_themselves(deployment: Deployment) -> None:
    is_backfill = deployment.full_name.startswith("backfill/") or deployment.full_name.endswith("-backfill")
    assert (deployment.work_pool.work_queue_name == "backfill") == is_backfill


@pytest.mark.parametrize("profile", profiles.PROFILES.values(), ids=lambda one: one.name)
@pytest.mark.parametrize("queue", QUEUES)
def test_a_drain_that_is_started_again_stays_in_its_queue(profile: Profile, queue: str) -> None:
    drains = [_named(name) for name in drains_of(profile, queue)]
    assert {one.work_pool.work_queue_name for one in drains} == {queue}
    assert [one.entrypoint for one in drains] == ["flows.split.split", "flows.ocr.ocr", "flows.load.load"]
    assert [one.work_pool.name for one in drains] == ["cpu", "gpu" if profile.vlm else "cpu", "cpu"]
    assert all("resumed" in one.tags for one in drains)


def test_late_scans_collapse_into_the_one_under_way() -> None:
    limit = _named(WATCHING).concurrency_limit
    assert limit is not None
    assert (limit.limit, limit.collision_strategy) == (1, "CANCEL_NEW")


def test_nothing_is_watched_until_somebody_says_what() -> None:
    watching = _named(WATCHING)
    assert [one.active for one in watching.schedules] == [False]
    assert watching.parameters["paths"] == []


def test_slugs_are_unique() -> None:
    slugs = Counter(one.slug for deployment in _DEPLOYMENTS for one in deployment.schedules)
    assert all(count == 1 for count in slugs.values())


def _spoilt(change: str) -> dict[str, Any]:
    content = deepcopy(_CONTENT)
    first = content["deployments"][0]
    match change:
        case "misspelt key":
            first["concurency_limit"] = 1
        case "misspelt limit":
            first["concurrency_limit"] = {"limit": 1, "collision_strategie": "CANCEL_NEW"}
        case "unknown pool":
            first["work_pool"] = {"name": "tpu", "work_queue_name": "scheduled"}
        case "unknown queue":
            first["work_pool"] = {"name": "cpu", "work_queue_name": "default"}
        case "pull step":
            content["pull"] = [{"prefect.deployments.steps.git_clone": {}}]
        case "no time zone" | "no slug" | "not active or not":
            key = {"no time zone": "timezone", "no slug": "slug"}.get(change, "active")
            del first["schedules"][0][key]
        case "wrong time zone":
            first["schedules"][0]["timezone"] = "Mars/Olympus"
        case "wrong cron":
            first["schedules"][0]["cron"] = "61 * * * *"
    return content


@pytest.mark.parametrize(
    "change",
    [
        "misspelt key",
        "misspelt limit",
        "unknown pool",
        "unknown queue",
        "pull step",
        "no time zone",
        "no slug",
        "not active or not",
        "wrong time zone",
        "wrong cron",
    ],
)
def test_a_file_that_prefect_would_take_is_refused_for_a(change: str) -> None:
    spoilt = _spoilt(change)
    assert spoilt != _CONTENT
    with pytest.raises(ValidationError):
        PrefectFile.model_validate(spoilt)
