"""The server's rules for runs that die: what they wait for, and what they then do."""

import datetime as dt
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterDeploymentId
from prefect.events.actions import ChangeFlowRunState, RunDeployment
from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture
from prefect.states import Crashed
from prefect.utilities.schema_tools.hydration import HydrationContext, hydrate

from flows.installation import deployments, pools
from flows.installation.environment import client_variables
from models.settings import load_settings

MOST = dt.timedelta(minutes=3)
RULES = {rule.name: rule for rule in pools.automations()}
DEPLOYMENTS = deployments.read_file(deployments.find_file()).deployments

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


def trigger_of(rule: AutomationCore) -> EventTrigger:
    assert isinstance(rule.trigger, EventTrigger)
    return rule.trigger


def resuming() -> tuple[EventTrigger, RunDeployment]:
    rule = RULES["pagemill-resume-crashed-runs"]
    (action,) = rule.actions
    assert isinstance(action, RunDeployment)
    return trigger_of(rule), action


def handed_on(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the new run, as the server makes them of those of the crashed one."""
    given = resuming()[1].parameters
    assert given is not None
    run = SimpleNamespace(parameters=parameters)
    return hydrate(given, HydrationContext(render_jinja=True, jinja_context={"flow_run": run}))


@pytest.mark.parametrize("name", ["pagemill-crash-silent-runs", "pagemill-crash-stuck-runs"])
def test_silent_runs_are_crashed(name: str) -> None:
    (action,) = RULES[name].actions
    assert isinstance(action, ChangeFlowRunState)
    assert action.state.value == "CRASHED"
    assert trigger_of(RULES[name]).posture is Posture.Proactive


def test_a_run_is_silent_only_after_several_heartbeats_were_missed() -> None:
    told = client_variables(load_settings().root, "http://127.0.0.1:1/api", None)
    beat = dt.timedelta(seconds=float(told["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"]))
    assert trigger_of(RULES["pagemill-crash-silent-runs"]).within >= 3 * beat


def test_from_the_last_sign_of_life_to_the_next_run_are_less_than_three_minutes() -> None:
    silence = trigger_of(RULES["pagemill-crash-silent-runs"]).within
    _, action = resuming()
    assert silence + action.schedule_after < MOST - dt.timedelta(minutes=1)


def test_a_crashed_run_is_started_again_whoever_crashed_it() -> None:
    trigger, action = resuming()
    assert (trigger.posture, trigger.expect) == (Posture.Reactive, {"prefect.flow-run.Crashed"})
    assert action.source == "inferred"


def test_all_deployments_but_the_hourly_one_are_started_again() -> None:
    trigger, _ = resuming()
    assert isinstance(trigger.match_related, list)
    tagged, queued = (one.root for one in trigger.match_related if hasattr(one, "root"))
    (tag,) = tagged.values()
    resumed = {one.entrypoint for one in DEPLOYMENTS if [f"prefect.tag.{name}" for name in one.tags] == [tag]}
    assert {one.entrypoint for one in DEPLOYMENTS} - resumed == {"flows.maintain.maintain"}
    assert {one.work_pool.work_queue_name for one in DEPLOYMENTS} == set(queued["prefect.resource.name"])


@pytest.fixture
def client(server: str) -> Iterator[SyncPrefectClient]:
    """Of a server with our rules, which are gone afterwards."""
    with SyncPrefectClient(server) as made:
        pools.make_pools(made, 1)
        pools.make_queue(made, "cpu", "cpu-elsewhere")
        deployments.register(made, DEPLOYMENTS)
        pools.make_automations(made)
        yield made
        for rule in made.read_automations():
            made.delete_automation(rule.id)


@pytest.mark.slow
def test_a_run_that_one_machine_was_asked_for_is_not_started_again_anywhere(
    client: SyncPrefectClient,
) -> None:
    drain = client.read_deployment_by_name("split/cpu")
    only = FlowRunFilter(deployment_id=FlowRunFilterDeploymentId(any_=[drain.id]))
    before = {run.id for run in client.read_flow_runs(flow_run_filter=only)}
    for queue in ("cpu-elsewhere", "scheduled"):
        run = client.create_flow_run_from_deployment(drain.id, work_queue_name=queue)
        client.set_flow_run_state(run.id, Crashed(), force=True)
        before.add(run.id)
    until, new = time.monotonic() + 300, []
    while not new and time.monotonic() < until:
        new = [run for run in client.read_flow_runs(flow_run_filter=only) if run.id not in before]
        time.sleep(0.2)
    assert [run.work_queue_name for run in new] == ["scheduled"]


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.from_regex(r"\A[a-z_]{1,8}\Z"), values, max_size=4))
def test_the_new_run_gets_the_parameters_of_the_old_whatever_they_hold(parameters: dict[str, Any]) -> None:
    assert handed_on(parameters) == parameters


@pytest.mark.slow
def test_quotes_and_markup_in_a_path_survive() -> None:
    paths = ["/a 'quoted' & <odd> \"folder\"", "/日本語", "{{ flow_run.id }}", "back\\slash"]
    assert handed_on({"paths": paths, "jobs": None}) == {"paths": paths, "jobs": None}
