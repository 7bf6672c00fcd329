"""Captured programs that draw: each replay draws fresh numbers, those of as many eager calls."""

import threading

import pytest

import autograd_cy as ag
from autograd_cy._C import devices
from autograd_cy._C.launch import capture
from autograd_cy.nn import functional as F
from autograd_cy.ops import _schema as schema
from ext.codegen import table

RECORDS = [r for family in table.load().values() for r in family]
DRAWING = [r for r in RECORDS if isinstance(r.kernel, schema.call) and r.kernel.draws]


def test_what_is_random_by_its_rule_has_a_slot_that_gets_a_state():
    random = [r for r in RECORDS if isinstance(r.batching.vmap, schema.randomly)]
    assert {r.key for r in random} == {r.key for r in DRAWING}
    known = devices.signatures()
    for r in random:
        assert known[r.key].endswith("Tensor)"), r.key
        assert "object" not in known[r.key], f"{r.key}: a kernel gets the state, no generator"


def channels_last(x):
    return x.to(memory_format=ag.channels_last)


X = ag.arange(1.0, 25.0).reshape(4, 6)
CHANCES = X / 30
DRAWS = {
    "uniform_": lambda g: ag.zeros(100).uniform_(-1, 2, generator=g),
    "normal_": lambda g: ag.zeros(100).normal_(1, 2, generator=g),
    "normal_ of complex": lambda g: ag.zeros(40, dtype=ag.complex64).normal_(1, 2, generator=g),
    "exponential_": lambda g: ag.zeros(100, dtype=ag.float64).exponential_(2, generator=g),
    "bernoulli_": lambda g: ag.zeros(100).bernoulli_(0.3, generator=g),
    "bernoulli_ of chances": lambda g: ag.zeros(4, 6).bernoulli_(CHANCES, generator=g),
    "bernoulli_ of a row": lambda g: ag.zeros(4, 6).bernoulli_(CHANCES[0].half(), generator=g),
    "random_": lambda g: ag.zeros(50, dtype=ag.int64).random_(generator=g),
    "random_ of bounds": lambda g: ag.zeros(50).random_(3, 9, generator=g),
    "a strided one": lambda g: ag.zeros(8, 6).t().normal_(generator=g),
    "half": lambda g: ag.zeros(100).half().uniform_(generator=g),
    "rand": lambda g: ag.rand(3, 50, generator=g),
    "rand out": lambda g: ag.rand(70, generator=g, out=ag.zeros(70)),
    "rand_like": lambda g: ag.rand_like(X.t(), generator=g),
    "randn": lambda g: ag.randn(130, generator=g),
    "randint": lambda g: ag.randint(5, 9, (40,), generator=g),
    "randperm": lambda g: ag.randperm(70, generator=g),
    "randperm of int32": lambda g: ag.randperm(70, generator=g, dtype=ag.int32),
    "normal": lambda g: ag.normal(1.0, 2.0, (40,), generator=g),
    "normal of means": lambda g: ag.normal(X, 2.0, generator=g),
    "normal of widths": lambda g: ag.normal(1.5, X, generator=g),
    "normal of both": lambda g: ag.normal(X, X[0], generator=g),
    "bernoulli": lambda g: ag.bernoulli(CHANCES, generator=g),
    "bernoulli of a number": lambda g: ag.bernoulli(X, 0.3, generator=g),
    "multinomial": lambda g: ag.multinomial(X, 3, generator=g),
    "multinomial again": lambda g: ag.multinomial(X, 8, replacement=True, generator=g),
    "dropout": lambda g: F.dropout(X, 0.4),
    "dropout of doubles": lambda g: F.dropout(X.double(), 0.4),
    "dropout of halves": lambda g: F.dropout(X.half(), 0.4),
    "dropout_": lambda g: F.dropout(X.clone(), 0.4, inplace=True),
    "dropout of channels last": lambda g: F.dropout(channels_last(ag.ones(2, 3, 4, 5)), 0.4),
    "dropout2d": lambda g: F.dropout2d(ag.ones(5, 6, 2, 2), 0.4),
    "alpha_dropout": lambda g: F.alpha_dropout(X, 0.4, True),
    "feature_alpha_dropout": lambda g: F.feature_alpha_dropout(ag.ones(5, 6, 2), 0.4, True),
    "rrelu": lambda g: F.rrelu(X - 12, 0.1, 0.9, True),
    "gumbel_softmax": lambda g: F.gumbel_softmax(X),
    "attention": lambda g: F.scaled_dot_product_attention(
        X[None, :, :4], X[None, :, :4], X[None], dropout_p=0.5
    ),
}


def seeded():
    ag.manual_seed(11)
    return ag.Generator().manual_seed(12)


def states(g):
    return g.get_state().tolist(), ag.get_rng_state().tolist()


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    assert a.detach().numpy().tobytes() == b.detach().numpy().tobytes()


@pytest.mark.parametrize("name", DRAWS)
def test_replays_draw_what_eager_calls_draw(name):
    draw, kept = DRAWS[name], []
    g = seeded()
    program = capture(lambda: kept.append(draw(g)))
    first = kept[0].clone()
    for _ in range(3):
        program.replay()
    after = states(g)
    g = seeded()
    eager = [draw(g) for _ in range(4)]
    assert states(g) == after
    same(first, eager[0])
    same(kept[0], eager[3])
    assert (eager[3] != eager[0]).any()


@pytest.mark.parametrize("threads", [1, 3])
def test_long_fills_draw_the_same_in_replays(threads):
    before = ag.get_num_threads()
    ag.set_num_threads(threads)
    try:
        x, kept = ag.empty(300_001), []
        ag.manual_seed(5)
        program = capture(lambda: kept.append(x.normal_()))
        program.replay()
        ag.manual_seed(5)
        y = ag.empty(300_001).normal_()
        same(x, y.normal_())
    finally:
        ag.set_num_threads(before)


def test_a_training_step_with_dropout_is_replayed():
    def step(net, x):
        net.zero_grad(set_to_none=False)
        net(x).square().mean().backward()

    def made():
        ag.manual_seed(1)
        net = ag.nn.Sequential(ag.nn.Linear(6, 50), ag.nn.Dropout(0.5), ag.nn.Linear(50, 3))
        step(net, X)
        return net

    replayed, eager = made(), made()
    ag.manual_seed(2)
    program = capture(lambda: step(replayed, X))
    program.replay()
    ag.manual_seed(2)
    step(eager, X)
    step(eager, X)
    for a, b in zip(replayed.parameters(), eager.parameters()):
        same(a.grad, b.grad)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers_with_dropout_are_replayed(kind):
    net = getattr(ag.nn, kind)(6, 5, num_layers=3, dropout=0.5)
    kept = []
    ag.manual_seed(3)
    program = capture(lambda: kept.append(net(X[None])[0]))
    program.replay()
    ag.manual_seed(3)
    net(X[None])
    same(kept[0], net(X[None])[0])


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_is_replayed_with_the_numbers_of_its_forward(reentrant):
    x = ag.ones(500, requires_grad=True)
    kept = []

    def step():
        x.grad = None
        y = ag.utils.checkpoint.checkpoint(
            lambda x: F.dropout(x * 2, 0.5), x, use_reentrant=reentrant
        )
        y.sum().backward()
        kept.append((y, x.grad))

    ag.manual_seed(3)
    step()
    ag.manual_seed(3)
    program = capture(step)
    program.replay()
    after = ag.get_rng_state().tolist()
    y, grad = kept[1]
    assert ((y != 0) == (grad != 0)).all()
    ag.manual_seed(3)
    step()
    step()
    assert ag.get_rng_state().tolist() == after
    same(y, kept[3][0])


def test_a_replay_refuses_what_an_eager_call_refuses():
    p, s, w = ag.full((3,), 0.5), ag.ones(3), ag.ones(3)
    out, kept = ag.zeros(3), []
    cases = (
        (lambda: out.bernoulli_(p), p, 2.0, r"element 1 is 2\.0"),
        (lambda: kept.append(ag.bernoulli(p)), p, -1.0, r"element 1 is -1\.0"),
        (lambda: kept.append(ag.normal(0.0, s)), s, -1.0, r"all elements of std >= 0\.0"),
        (lambda: kept.append(ag.multinomial(w, 2)), w, -1.0, "element < 0"),
        (lambda: kept.append(ag.multinomial(w, 2)), w, float("inf"), "`inf`"),
    )
    for call, operand, bad, message in cases:
        before = operand.clone()
        program = capture(call)
        operand[1] = bad
        with pytest.raises(RuntimeError, match=message):
            program.replay()
        with pytest.raises(RuntimeError, match=message):
            call()
        operand.copy_(before)
        program.replay()


@pytest.mark.parametrize("how", ["manual_seed", "get_state", "seed", "all"])
def test_seeds_and_states_are_not_captured(how):
    g = seeded()
    before = g.get_state().tolist()
    call = {
        "manual_seed": lambda: g.manual_seed(3),
        "get_state": g.get_state,
        "seed": g.seed,
        "all": lambda: ag.manual_seed(3),
    }[how]
    with pytest.raises(RuntimeError, match="can't be captured"):
        capture(call)
    assert g.get_state().tolist() == before


def test_other_threads_may_draw_while_launches_are_kept():
    g, failed = ag.Generator().manual_seed(1), []

    def elsewhere():
        try:
            ag.rand(5, generator=g)
            g.manual_seed(4)
            g.get_state()
        except RuntimeError as error:
            failed.append(error)

    def step():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        ag.zeros(3).uniform_()

    program = capture(step)
    assert not failed
    assert program.names().count("uniform") == 1


def test_threads_that_share_a_generator_draw_different_numbers():
    g = ag.Generator().manual_seed(1)
    tensors = [ag.empty(64 * 40) for _ in range(16)]
    chunks = 16 * 40

    def fill(mine):
        for t in mine:
            t.random_(0, 2**24, generator=g)

    threads = [threading.Thread(target=fill, args=(tensors[k::4],)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = ag.empty(16 * 64 * 40).random_(0, 2**24, generator=ag.Generator().manual_seed(1))
    assert sorted(ag.cat(tensors).tolist()) == sorted(whole.tolist())
    assert int.from_bytes(bytes(g.get_state().tolist()[16:]), "little") == 2 * chunks


@pytest.mark.parametrize(
    ("draw", "good", "bad", "words"),
    [
        (ag.bernoulli, 0.5, 1.5, "element 1 is 1.5"),
        (lambda p: ag.normal(0.0, p), 0.5, -1.0, "elements of std >= 0.0"),
        (lambda p: ag.multinomial(p, 1), 0.5, -1.0, "`inf`, `nan` or element < 0"),
    ],
    ids=["bernoulli", "normal", "multinomial"],
)
def test_a_replay_stops_at_what_cannot_be_drawn_with(draw, good, bad, words):
    p, count = ag.full((3,), good), ag.zeros(1)
    program = capture(lambda: (draw(p), count.add_(1)))
    assert count.item() == 1
    p[1] = bad
    with pytest.raises(RuntimeError, match=words) as eager:
        draw(p)
    with pytest.raises(RuntimeError, match=words) as replayed:
        program.replay()
    assert str(replayed.value) == str(eager.value)
    assert count.item() == 1  # what comes behind the check did not run
    p[1] = good
    program.replay()
    assert count.item() == 2
