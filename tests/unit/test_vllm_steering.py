"""Requests in flight follow what the server says of itself."""

from tasks.work.doubles.vllm_server.record import Counters, exposition
from tasks.work.engines.vllm.patience import Patience
from tasks.work.engines.vllm.sample import Sample, read_sample
from tasks.work.engines.vllm.steering import Steering


def settled(seats: int, least: int = 4, most: int = 256, rounds: int = 60) -> list[int]:
    """Limits over time at a server with so many seats, while there is always more work."""
    steering, limits = Steering(least, most), []
    for _ in range(rounds):
        running = min(seats, steering.limit)
        steering.observe(Sample(running, steering.limit - running), steering.limit)
        limits.append(steering.limit)
    return limits


def test_it_grows_to_the_seats_of_the_server_and_a_few_more() -> None:
    for seats in (8, 32, 128):
        limits = settled(seats)
        assert seats < limits[-1] <= seats * 1.25 + 1
        assert limits[-20:] == [limits[-1]] * 20


def test_it_is_there_within_ten_looks() -> None:
    assert settled(128)[9] >= 128


def test_it_stays_between_its_limits() -> None:
    assert max(settled(512, most=100)) == 100
    assert min(settled(1, least=4)) == 4


def test_it_does_not_grow_without_work() -> None:
    steering = Steering(4, 64)
    for _ in range(10):
        steering.observe(Sample(running=2), open_now=2)
    assert steering.limit == 4


def test_a_batch_that_is_being_seated_makes_it_neither_grow_nor_shrink() -> None:
    steering = Steering(16, 64)
    for running in (2, 6, 10, 15):
        steering.observe(Sample(running, 16 - running), open_now=16)
    assert steering.limit == 16


def test_a_server_that_has_not_taken_in_what_is_open_gets_no_more() -> None:
    steering = Steering(4, 256)
    for running in (4, 8, 16, 16, 16, 16, 16):
        steering.observe(Sample(running), open_now=steering.limit)
    assert steering.limit == 32


def test_a_fixed_number_is_kept() -> None:
    assert set(settled(8, least=20, most=20)) == {20}


def test_a_refusal_makes_it_shrink_at_once() -> None:
    steering = Steering(4, 64)
    for _ in range(3):
        steering.observe(Sample(running=steering.limit), steering.limit)
    steering.refused()
    assert steering.limit == 24


def test_metrics_are_summed_over_engines_and_nothing_alike_is_taken() -> None:
    text = exposition(Counters(prompt_tokens=70, generation_tokens=30, queue_s=2.0, queued=4), "m", 3, 2)
    text += 'vllm:num_requests_running{engine="1",model_name="m"} 4.0\n'
    text += 'vllm:num_requests_waiting_by_reason{engine="0",reason="capacity"} 9.0\n'
    sample = read_sample(text.splitlines())
    assert (sample.running, sample.waiting, sample.tokens) == (7, 2, 100.0)
    assert (sample.queue_s, sample.queued) == (2.0, 4.0)
    assert sample.started > 0


def test_queueing_time_is_that_of_the_requests_seated_in_between() -> None:
    before = Sample(queue_s=10.0, queued=5)
    assert Sample(queue_s=13.0, queued=7).queueing_since(before) == 1.5
    assert before.queueing_since(before) is None


def test_a_server_that_was_started_again_is_noticed() -> None:
    before = Sample(tokens=100.0, started=5.0)
    assert Sample(tokens=500.0, started=6.0).is_younger_than(before)
    assert Sample(tokens=50.0, started=5.0).is_younger_than(before)
    assert not Sample(tokens=100.0, started=5.0).is_younger_than(before)


def test_patience_runs_only_while_pages_wait_and_no_server_reads() -> None:
    patience = Patience(10.0, now=0.0)
    assert not patience.is_over(is_away=False, waiting=5, now=100.0)
    assert not patience.is_over(is_away=True, waiting=0, now=150.0)
    assert not patience.is_over(is_away=True, waiting=1, now=155.0)
    assert patience.is_over(is_away=True, waiting=1, now=160.0)


def test_pages_that_come_back_after_being_given_up_do_not_wait_again() -> None:
    patience = Patience(10.0, now=0.0)
    assert patience.is_over(is_away=True, waiting=1, now=11.0)
    assert not patience.is_over(is_away=True, waiting=0, now=12.0)
    assert patience.is_over(is_away=True, waiting=1, now=14.0)


def test_later_work_may_wait_anew() -> None:
    patience = Patience(10.0, now=0.0)
    assert patience.is_over(is_away=True, waiting=1, now=11.0)
    assert not patience.is_over(is_away=True, waiting=0, now=80.0)
    assert not patience.is_over(is_away=True, waiting=1, now=81.0)
