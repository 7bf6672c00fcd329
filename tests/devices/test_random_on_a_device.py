"""Random numbers of another device: generators of its own, whose states the host doesn't read."""

import copy
import pickle

import programs
import pytest
from tracing import built, tracer  # noqa: F401 - fixtures

import autograd_cy as ag
from autograd_cy._C.devices import host_reads
from autograd_cy.nn import functional as F
from autograd_cy.utils.checkpoint import checkpoint, get_device_states, set_device_states

NAME = "drawdevice"


@pytest.fixture(scope="module")
def device(hostdevice):
    """The test device under a name of its own: its kernels draw element by element."""
    hostdevice.register(NAME, plain=True)
    yield NAME
    hostdevice.run_all()
    assert hostdevice.state()["broken"] == 0, "a kernel wrote over the ends of its memory"


class NoReads:
    """A block in which the host reads nothing of a device."""

    def __enter__(self):
        self.before = host_reads()

    def __exit__(self, *error):
        if error[0] is None:
            assert host_reads() == self.before


def bits(t):
    return t.detach().cpu().contiguous().numpy().tobytes()


P = ag.arange(200) / 199
DRAWS = {
    "uniform_": lambda d, f, g: ag.zeros(200, device=d, dtype=f).uniform_(-1, 2, generator=g),
    "normal_": lambda d, f, g: ag.zeros(200, device=d, dtype=f).normal_(1, 2, generator=g),
    "a strided one": lambda d, f, g: ag.zeros(8, 6, device=d, dtype=f).t().normal_(generator=g),
    "exponential_": lambda d, f, g: ag.zeros(200, device=d, dtype=f).exponential_(3, generator=g),
    "bernoulli_": lambda d, f, g: ag.zeros(200, device=d, dtype=f).bernoulli_(0.3, generator=g),
    "chances": lambda d, f, g: ag.bernoulli(P.to(f).to(d), generator=g),
    "random_": lambda d, f, g: ag.zeros(99, device=d, dtype=f).random_(3, 99, generator=g),
    "rand": lambda d, f, g: ag.rand(3, 77, device=d, dtype=f, generator=g),
    "randn": lambda d, f, g: ag.randn(65, device=d, dtype=f, generator=g),
    "randn_like": lambda d, f, g: ag.randn_like(ag.zeros(5, device=d, dtype=f), generator=g),
    "randint": lambda d, f, g: ag.randint(10**12, (40,), device=d, generator=g),
    "randperm": lambda d, f, g: ag.randperm(200, device=d, generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", [ag.float32, ag.float64])
def test_a_seed_gives_the_same_numbers_on_all_devices(device, name, dtype):
    draw = DRAWS[name]
    here = ag.Generator().manual_seed(9)
    there = ag.Generator(f"{device}:1").manual_seed(9)
    for _ in range(2):
        with NoReads():
            found = draw(f"{device}:1", dtype, there)
        assert str(found.device) == f"{device}:1"
        assert bits(found) == bits(draw("cpu", dtype, here))
    assert there.get_state().tolist() == here.get_state().tolist()


@pytest.mark.parametrize(
    "drop",
    [
        lambda x: F.dropout(x, 0.4),
        lambda x: F.dropout2d(x[..., None], 0.4),
        lambda x: F.alpha_dropout(x, 0.4, True),
    ],
)
def test_dropout_of_a_device(device, drop):
    x = ag.arange(1.0, 61.0).reshape(3, 4, 5)
    there = x.to(device)
    ag.manual_seed(4)
    with NoReads():
        found = drop(there)
    ag.manual_seed(4)
    assert bits(found) == bits(drop(x))


def test_each_device_has_a_default_generator(device):
    ag.manual_seed(6)
    a, b = (ag.rand(70, device=f"{device}:{k}") for k in (0, 1))
    c = ag.rand(70, device=device)
    assert bits(a) == bits(b) != bits(c)
    assert bits(a) == bits(ag.rand(70))
    ag.manual_seed(6)
    assert bits(ag.rand(70, device=f"{device}:1")) == bits(a)
    number = ag.seed()
    assert bits(ag.rand(9, device=device)) == bits(
        ag.rand(9, generator=ag.Generator().manual_seed(number))
    )


def test_a_generator_knows_its_device(device):
    for name, shown in ((device, f"{device}:0"), (f"{device}:1", f"{device}:1")):
        g = ag.Generator(device=name)
        assert str(g.device) == shown
        assert g.manual_seed(5) is g and g.initial_seed() == 5
        assert shown in repr(g)
        assert g.get_state().device == ag.device("cpu")
        assert g.seed() == g.initial_seed()
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        ag.Generator(f"{device}:7")


def test_a_generator_of_another_device_is_refused(device):
    here, there = ag.Generator(), ag.Generator(device)
    before = [g.get_state().tolist() for g in (here, there)]
    wrong = [
        (
            lambda: ag.rand(3, device=device, generator=here),
            f"Expected a '{device}' device type for generator but found 'cpu'",
        ),
        (
            lambda: ag.zeros(3).normal_(generator=there),
            f"Expected a 'cpu' device type for generator but found '{device}'",
        ),
        (
            lambda: ag.randperm(3, device=f"{device}:1", generator=there),
            f"Expected a '{device}:1' device type for generator but found '{device}:0'",
        ),
    ]
    for call, message in wrong:
        with pytest.raises(RuntimeError, match=message):
            call()
    assert [g.get_state().tolist() for g in (here, there)] == before


def test_copies_and_pickles_stay_on_the_device(device):
    g = ag.Generator(f"{device}:1").manual_seed(2)
    ag.rand(100, device=f"{device}:1", generator=g)
    copies = [copy.deepcopy(g), pickle.loads(pickle.dumps(g))]
    a = ag.rand(10, device=f"{device}:1", generator=g)
    for other in copies:
        assert other.device == g.device
        assert bits(ag.rand(10, device=f"{device}:1", generator=other)) == bits(a)


def test_the_state_of_the_cpu_is_that_of_get_rng_state(device):
    state = ag.get_rng_state().tolist()
    ag.rand(100, device=device)
    assert ag.get_rng_state().tolist() == state


def test_states_go_between_devices(device):
    g, h = ag.Generator(device).manual_seed(3), ag.Generator()
    ag.rand(100, device=device, generator=g)
    h.set_state(g.get_state())
    assert bits(ag.rand(9, generator=h)) == bits(ag.rand(9, device=device, generator=g))
    g.set_state(h.get_state())
    assert bits(ag.rand(9, generator=h)) == bits(ag.rand(9, device=device, generator=g))


@pytest.mark.parametrize(
    ("options", "put_back"),
    [
        ({}, (0, 1)),
        ({"devices": []}, ()),
        ({"devices": [1], "device_type": NAME}, (1,)),
        ({"devices": [f"{NAME}:0"]}, (0,)),
        ({"devices": [ag.device("cpu")]}, ()),
        ({"device_type": NAME}, (0, 1)),
        ({"device_type": "cuda"}, ()),
        ({"enabled": False}, None),
    ],
)
def test_fork_rng_puts_devices_back(device, options, put_back):
    ag.manual_seed(7)
    places = ["cpu", f"{device}:0", f"{device}:1"]
    for place in places:
        ag.rand(3, device=place)
    with NoReads():
        with ag.random.fork_rng(**options):
            inside = [ag.rand(20, device=place) for place in places]
        after = [ag.rand(20, device=place) for place in places]
    same = [bits(a) == bits(b) for a, b in zip(inside, after)]
    assert same == [put_back is not None, *(put_back is not None and k in put_back for k in (0, 1))]


def test_fork_rng_of_meta_does_nothing():
    before = ag.get_rng_state().tolist()
    with ag.random.fork_rng(device_type="meta"):
        ag.rand(3)
    assert ag.get_rng_state().tolist() != before


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_draws_again_what_it_drew(device, reentrant):
    x = ag.ones(300).to(f"{device}:1").requires_grad_()
    ag.rand(3, device=f"{device}:1")
    with NoReads():
        y = checkpoint(lambda x: F.dropout(x * 3, 0.5), x, use_reentrant=reentrant)
        after = ag.rand(9, device=f"{device}:1")
        y.sum().backward()
        later = ag.rand(9, device=f"{device}:1")
    assert ((y.cpu() != 0) == (x.grad.cpu() != 0)).all()
    assert bits(after) != bits(later)


def test_device_states_of_checkpoints(device):
    x = ag.rand(3, device=f"{device}:1")
    with NoReads():
        numbers, states = get_device_states(x, "text", ag.ones(2))
    assert numbers == [1]
    a = ag.rand(9, device=f"{device}:1")
    set_device_states(numbers, states)
    assert bits(a) == bits(ag.rand(9, device=f"{device}:1"))
    set_device_states(numbers, [ag.get_rng_state()], device_type=device)
    assert bits(ag.rand(9)) == bits(ag.rand(9, device=f"{device}:1"))


def test_an_empty_slot_is_the_one_clear_error(device):
    x = ag.ones(3).to(device)
    with pytest.raises(NotImplementedError, match=f"normal: there is no kernel .* '{device}:0'"):
        ag.normal(x, 1.0)
    with pytest.raises(NotImplementedError, match=f"rrelu: there is no kernel .* '{device}:0'"):
        F.rrelu(x, training=True)


def test_vmap_draws_on_the_device(device):
    x = ag.ones(3, 4).to(device)

    def draw(x):
        return ag.rand_like(x) + ag.rand(4, device=device)

    same = ag.vmap(draw, randomness="same")(x).cpu()
    assert (same == same[0]).all()
    different = ag.vmap(draw, randomness="different")(x).cpu()
    assert (different[0] != different[1]).any()


def test_streams_use_a_generator_one_after_the_other(tracer):
    g, s = ag.Generator("tracer:1"), ag.Stream("tracer:1")
    number = s.stream_id
    watched = ("copy", "event_record", "event_wait", "release")

    def done():
        return [call[:3] for call in tracer.traced() if call[0] in watched]

    done()
    g.manual_seed(1)
    assert done() == [("copy", 1, 0)]
    with s:
        for seed in (2, 3):
            g.manual_seed(seed)
    assert done() == [
        ("event_record", 1, 0),
        ("event_wait", 1, number),
        ("copy", 1, number),
        ("copy", 1, number),
    ]
    del s  # the generator keeps the stream that used it last
    g._restore(g._snapshot())
    assert done()[:2] == [("event_record", 1, number), ("event_wait", 1, 0)]
    g.manual_seed(4)
    done()
    del g
    assert [call[0] for call in done()] == ["event_record", "event_wait", "release"]


GONE = """
import importlib.util, sys
import autograd_cy as ag
spec = importlib.util.spec_from_file_location("tracer", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.register("tracer")
g = ag.random._default_of("tracer:1")
ag.manual_seed(1)
module.set_count(1)
ag.manual_seed(2)
x = ag.ones(9, requires_grad=True)
with ag.random.fork_rng():
    ag.utils.checkpoint.checkpoint(ag.dropout, x, use_reentrant=False).sum().backward()
print(g.initial_seed())
module.set_count(2)
ag.manual_seed(3)
print(g.initial_seed())
"""


def test_a_device_that_has_gone_is_left_out(built):
    assert programs.run("-c", GONE, str(built)).stdout.split() == ["1", "3"]
