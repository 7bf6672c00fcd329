"""The messages of loaders and workers: buffers by descriptor, small ones by the pipe."""

import os
from multiprocessing import Pipe, reduction

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy.utils.data import _transport


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts what Linux lists there")
@pytest.mark.parametrize("count", [8, 1 << 20])
def test_what_is_sent_between_processes_leaves_no_file_open(count):
    sender, receiver = Pipe()
    value = [ag.arange(float(count)), np.arange(3)]

    def pass_on():
        _transport.send(sender, "label", _transport.pack(value))
        label, packed = _transport.receive(receiver)
        got = _transport.unpack(packed)
        assert label == "label"
        assert ag.equal(got[0], value[0])
        assert got[1].tolist() == [0, 1, 2]

    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        pass_on()
    assert len(os.listdir("/proc/self/fd")) == before
    sender.close()
    receiver.close()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts what Linux lists there")
@pytest.mark.parametrize("limit", ["half of it", "none"])
def test_what_is_kept_takes_no_more_than_half_of_the_files_that_may_be_open(limit, monkeypatch):
    import resource

    sender, receiver = Pipe()
    before = len(os.listdir("/proc/self/fd"))
    most = 2 * (before + 5) if limit == "half of it" else resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda which: (most, most))
    kept = []
    for number in range(20):
        _transport.send(sender, number, _transport.pack(ag.full((10_000,), float(number))))
        label, packed = _transport.receive(receiver)
        kept.append(_transport.unpack(packed))
        assert label == number
    opened = len(os.listdir("/proc/self/fd")) - before
    assert opened <= 6 if limit == "half of it" else opened <= 20
    for number, x in enumerate(kept):
        assert x.eq(number).all()
        x += 1  # and is one's own
        assert x[-1] == number + 1
    sender.close()
    receiver.close()


def test_nobody_answers_when_a_descriptor_has_come(monkeypatch):
    """Python waits for an answer since 3.14, which would stand among the other messages."""
    monkeypatch.setattr(reduction, "ACKNOWLEDGE", True, raising=False)
    sender, receiver = Pipe()
    for number in range(3):
        receiver.send(number)  # the other direction
        _transport.send(sender, number, _transport.pack(ag.ones(10_000)))
    for number in range(3):
        label, packed = _transport.receive(receiver)
        assert label == sender.recv() == number
        assert _transport.unpack(packed).shape == (10_000,)
    assert not sender.poll() and not receiver.poll()
    os.write(sender.fileno(), b"\0")  # as one that lost its descriptor on the way
    with pytest.raises(RuntimeError, match=r"received 0 items of ancdata: .*too many"):
        _transport._receive_descriptor(receiver)
    sender.close()
    with pytest.raises(EOFError):
        _transport._receive_descriptor(receiver)
    receiver.close()


def test_small_windows_and_small_tensors_travel_through_the_pipe():
    """A small window of a large storage is copied; a tensor that fills its storage is not."""

    def sizes(x):
        return [buffer.nbytes for buffer in _transport.pack(x)[1]]

    base = ag.zeros(4096)
    assert sizes(base) == [16384] and sizes(base[:1024]) == [4096]
    assert sizes(base[:1535]) == [6140] and sizes(base[:1536]) == [16384]
    window = base[:4].detach().requires_grad_()
    again = _transport.unpack(_transport.pack(window))
    assert again.requires_grad and again.is_leaf and again.untyped_storage().nbytes() == 16
    assert not _transport.unpack(_transport.pack(base[:4])).requires_grad
    assert _transport.unpack(_transport.pack(ag.empty(5000, device="meta")[:1])).is_meta
    assert _transport._offsets([1, 64, 65, 0, 3]) == ([0, 64, 128, 256, 256], 320)


def test_a_graph_does_not_get_lost_between_processes():
    """The result of a worker for a tensor that requires grad would come back as a leaf."""
    x = ag.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"shape \(3,\).* not a leaf.*detach"):
        _transport.pack({"batch": x * 2})
    sent = {"leaf": x, "values": (x * 2).detach()}
    back = _transport.unpack(_transport.pack(sent))
    assert back["leaf"].requires_grad and back["values"].tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(RuntimeError, match="not a leaf"):
        list(ag.utils.data.DataLoader([x], num_workers=1))
