"""Streams and events: which service is called with which index and stream."""

import gc
import threading

import pytest
from tracing import built, tracer  # noqa: F401 - fixtures

import autograd_cy as ag


def services(tracer, *names):
    """(service, index, stream) of what was called, of these services alone if named."""
    return [call[:3] for call in tracer.traced() if not names or call[0] in names]


def test_work_goes_to_the_index_and_stream_that_are_current(tracer):
    s = ag.Stream("tracer:1")
    tracer.traced()
    x = ag.ones(3, device="tracer:1")
    with s:
        y = x + x
        assert ag.ones(2, device="tracer").device == ag.device("tracer:1")
    z = x + 1
    assert services(tracer, "fill", "elementwise") == [
        ("fill", 1, 0),
        ("elementwise", 1, s.stream_id),
        ("fill", 1, s.stream_id),
        ("elementwise", 1, 0),
    ]
    assert y.tolist() == [2, 2, 2] and z.tolist() == [2, 2, 2]
    assert ag.ones(1, device="tracer").device == ag.device("tracer:0")


def test_memory_comes_from_the_current_stream_and_goes_back_to_it(tracer):
    s = ag.Stream("tracer:0")
    with s:
        x = ag.empty(5, device="tracer:0")
    number = s.stream_id
    tracer.traced()
    del s
    assert tracer.state()["streams"] == 1  # the memory keeps it
    del x
    assert services(tracer) == [("release", 0, number)]
    assert tracer.state()["streams"] == 0


def test_each_thread_has_current_streams_of_its_own(tracer):
    s = ag.Stream("tracer:0")
    found = []

    def work():
        found.append(ag.ones(1, device="tracer:0"))
        mine = ag.Stream("tracer:0")
        mine.__enter__()
        ag.accelerator._streams._set_stream(mine)  # and the thread ends so
        found.append(ag.ones(1, device="tracer:0"))

    with s:
        tracer.traced()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        ag.ones(1, device="tracer:0")
    first, second, third = services(tracer, "fill")
    assert first == ("fill", 0, 0) and third == ("fill", 0, s.stream_id)
    assert second[2] not in (0, s.stream_id)
    found.clear()
    gc.collect()
    assert tracer.state()["streams"] == 1


def test_blocks_of_streams_nest_and_end(tracer):
    a, b = ag.Stream("tracer:0"), ag.Stream("tracer:1")
    with a:
        with b, a:
            pass
        with pytest.raises(KeyError), b:
            raise KeyError
        assert ag._C.streams.Stream is ag.Stream
        tracer.traced()
        ag.ones(1, device="tracer")
        assert services(tracer, "fill") == [("fill", 0, a.stream_id)]
    tracer.traced()
    ag.ones(1, device="tracer")
    assert services(tracer, "fill") == [("fill", 0, 0)]
    with pytest.raises(RuntimeError, match="has entered no stream"):
        a.__exit__()


def test_streams_wait_for_each_other_by_events(tracer):
    a, b = ag.Stream("tracer:0"), ag.Stream("tracer:1", priority=-1)
    assert ("stream_new", 1, 0, -1) in tracer.traced() and b.priority == -1
    b.wait_stream(a)
    calls = tracer.traced()
    assert [call[:3] for call in calls] == [
        ("event_record", 0, a.stream_id),
        ("event_wait", 1, b.stream_id),
    ]
    a.wait_stream(a)
    assert tracer.traced() == []
    event = a.record_event()
    b.wait_event(event)
    assert b.record_event(ag.Event("tracer:1", enable_timing=True)).device.index == 1
    assert [call[:3] for call in tracer.traced()] == [
        ("event_record", 0, a.stream_id),
        ("event_wait", 1, b.stream_id),
        ("event_record", 1, b.stream_id),
    ]


def test_queries_and_synchronisation_reach_the_device(tracer):
    s = ag.Stream("tracer:1")
    event = s.record_event()
    tracer.traced()
    assert s.query() is True and event.query() is True
    tracer.set_busy(True)
    assert s.query() is False and event.query() is False
    s.synchronize()
    event.synchronize()
    names = [call[:2] for call in tracer.traced()]
    assert names == [
        ("query", 1),
        ("event_query", 1),
        ("query", 1),
        ("event_query", 1),
        ("synchronize", 1),
        ("event_synchronize", 1),
    ]


def test_events_that_were_not_recorded_hold_nobody_back(tracer):
    event = ag.Event("tracer:0")
    tracer.traced()
    tracer.set_busy(True)
    assert event.query() is True
    event.synchronize()
    event.wait()
    ag.Stream("tracer:1").wait_event(event)
    assert [call[0] for call in tracer.traced()] == ["stream_new"]


def test_an_event_is_of_the_first_device_that_records_it(tracer):
    s = ag.Stream("tracer:1")
    event = ag.Event("tracer")
    event.record(s)
    assert event.device == ag.device("tracer:1")
    with s:
        event.record()
        event.wait()
    assert [call[:3] for call in tracer.traced() if call[0].startswith("event")] == [
        ("event_record", 1, s.stream_id),
        ("event_record", 1, s.stream_id),
        ("event_wait", 1, s.stream_id),
    ]


def test_streams_and_events_of_other_devices_are_refused(tracer):
    here, there = ag.Stream("tracer:0"), ag.Stream("bare:1")
    event = ag.Event("tracer:1")
    with pytest.raises(RuntimeError, match=r"tracer:1 does not match recording .* tracer:0\.$"):
        event.record(here)
    with pytest.raises(RuntimeError, match=r"tracer:1 does not match recording .* bare:1\.$"):
        there.record_event(event)
    event.record(ag.Stream("tracer:1"))
    with pytest.raises(RuntimeError, match=r"tracer:1 does not match blocking .* bare:1\.$"):
        there.wait_event(event)
    with pytest.raises(RuntimeError, match=r"tracer:0 does not match blocking .* bare:1\.$"):
        there.wait_stream(here)
    with pytest.raises(RuntimeError, match=r"is on tracer:1 and the stream on tracer:0"):
        ag.ones(1, device="tracer:1").record_stream(here)
    with pytest.raises(RuntimeError, match=r"is on cpu and the stream on tracer:0"):
        ag.ones(1).record_stream(here)


def test_what_streams_and_events_refuse(tracer):
    with pytest.raises(RuntimeError, match="priority to be less than or equal to 0, got 1"):
        ag.Stream("tracer:0", priority=1)
    with pytest.raises(RuntimeError, match="invalid device ordinal: no device 'tracer:2'"):
        ag.Stream("tracer:2")
    with pytest.raises(RuntimeError, match="made once"):
        ag.Stream("tracer:0").__init__("tracer:1")
    s = ag.Stream("tracer:0")
    for call in (s.wait_stream, s.wait_event, ag.Event("tracer:0").elapsed_time):
        with pytest.raises(TypeError):
            call(None)
    with pytest.raises(TypeError, match="an Event, not int"):
        s.record_event(3)
    with pytest.raises(TypeError, match="a Stream, not int"):
        ag.Event("tracer:0").record(3)


def test_time_between_events(tracer):
    s = ag.Stream("tracer:0")
    start, end = (ag.Event("tracer:0", enable_timing=True) for _ in range(2))
    with pytest.raises(ValueError, match="recorded before"):
        start.elapsed_time(end)
    start.record(s)
    end.record(s)
    assert [call[3] for call in tracer.traced() if call[0] == "event_record"] == [True, True]
    assert start.elapsed_time(end) == 2.5
    tracer.set_busy(True)
    with pytest.raises(ValueError, match="completed before"):
        start.elapsed_time(end)
    tracer.set_busy(False)
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(s.record_event())
    other = ag.Event("tracer:1", enable_timing=True)
    other.record()
    with pytest.raises(ValueError, match="tracer:0 does not match the other event's, tracer:1"):
        start.elapsed_time(other)
    start, end = (ag.Event("bare:0", enable_timing=True) for _ in range(2))
    start.record()
    end.record()
    with pytest.raises(RuntimeError, match=r"bare:0 doesn't measure .*perf_counter\(\)"):
        start.elapsed_time(end)


def test_a_stream_and_an_event_can_be_looked_at(tracer):
    s = ag.Stream("tracer:1")
    again = {s: 1}
    assert again[s] == 1 and s == s and s != ag.Stream("tracer:1") and s != 3
    assert (s.device, s.device_index, s.device_type) == (ag.device("tracer:1"), 1, "tracer")
    assert repr(s) == (
        f"autograd_cy.Stream device_type=tracer, device_index=1, stream_id={s.stream_id}"
    )
    event = s.record_event()
    assert repr(event) == (
        "autograd_cy.Event device_type=tracer, device_index=1, event_flag=0, "
        f"event_id={event.event_id}"
    )


def test_the_cpu_has_a_stream_on_which_nothing_waits():
    s, other = ag.Stream("cpu"), ag.Stream("meta")
    assert s.query() and s.device == ag.device("cpu") and s.device_index == -1
    s.synchronize()
    s.wait_stream(other)
    s.wait_event(ag.Event("cpu"))
    with s:
        assert ag.ones(1).device == ag.device("cpu")
    with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
        s.record_event()
    with pytest.raises(RuntimeError, match="cpu backend doesn't support events"):
        ag.Event("cpu").record()


def test_memory_that_another_stream_uses_waits_for_it(tracer):
    s = ag.Stream("tracer:0")
    x = ag.ones(3, device="tracer:0")
    x[1:].detach().record_stream(s)
    x.record_stream(s)
    tracer.traced()
    del x
    assert services(tracer) == [
        ("event_record", 0, s.stream_id),
        ("event_wait", 0, 0),
        ("release", 0, 0),
    ]
    with s:
        y = ag.ones(3, device="tracer:0")
    y.record_stream(s)
    tracer.traced()
    del y
    assert services(tracer) == [("release", 0, s.stream_id)]
    z = ag.ones(3, device="tracer:0")
    z.record_stream(s)
    del s
    tracer.traced()
    del z
    assert len(services(tracer)) == 3 and tracer.state()["streams"] == 0


def test_an_error_while_memory_goes_is_shown_and_the_memory_goes(tracer, monkeypatch):
    shown = []
    monkeypatch.setattr("sys.unraisablehook", lambda error: shown.append(error.exc_value))
    x = ag.ones(3, device="tracer:0")
    s = ag.Stream("tracer:0")
    x.record_stream(s)
    tracer.fail("event_wait", RuntimeError("gone"))
    tracer.traced()
    del x
    assert [str(error) for error in shown] == ["gone"]
    # The host waits where the stream can't be made to.
    assert services(tracer)[-2:] == [("synchronize", 0, s.stream_id), ("release", 0, 0)]
    assert tracer.state()["blocks"] == 0


def test_a_copy_of_which_the_source_cant_be_told_is_waited_for(tracer):
    x = ag.ones(3, device="tracer:0")
    y = ag.zeros(3, device="tracer:1")
    tracer.traced()
    y.copy_(x)
    waits = [call for call in services(tracer) if call[0] == "event_wait"]
    assert [index for _, index, _ in waits] == [1, 0]
    tracer.fail("event_wait", RuntimeError("gone"), after=1)
    tracer.traced()
    with pytest.raises(RuntimeError, match="gone"):
        y.copy_(x)
    assert ("synchronize", 1, 0) in services(tracer)
    assert tracer.state()["events"] == 0
