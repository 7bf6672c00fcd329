"""The events that are recorded, how they nest, and that pairs close whatever happens."""

import asyncio
import copy
import threading

import numpy as np
import pytest
from recordings import Exp, Fails, FailsLater, assert_nested, names_of, recorded, tree_of

import autograd_cy as ag
from autograd_cy._C import recorder as _recorder
from autograd_cy.nn.functional import conv2d
from autograd_cy.profiler._labels import record_function
from autograd_cy.profiler._session import Session

# --- which events ---------------------------------------------------------------------------------


def test_forward_and_backward_of_one_operator():
    x = ag.ones(3, requires_grad=True)

    def run():
        (x * 2).sum().backward()

    columns = recorded(run)
    names = names_of(columns)
    prefix = "autograd::engine::evaluate_function: "
    assert names[:2] == ["aten::mul", "aten::sum"]
    tree = tree_of(columns)
    at = tree.index((0, prefix + "MulBackward0"))
    assert tree[at + 1 : at + 3] == [(1, "MulBackward0"), (2, "aten::mul")]
    at = tree.index((0, prefix + "torch::autograd::AccumulateGrad"))
    assert tree[at + 1] == (1, "torch::autograd::AccumulateGrad")
    assert_nested(columns)
    assert not columns.failed.any() and not columns.unfinished.any()


def test_sequence_numbers_tie_backward_to_forward():
    x = ag.ones(3, requires_grad=True)

    def run():
        y = x * 2
        y.neg().sum().backward()
        assert y.grad_fn._sequence_nr() > 0

    columns = recorded(run)
    names = names_of(columns)
    for forward, node in [("aten::neg", "NegBackward0"), ("aten::sum", "SumBackward0")]:
        number = columns.seq[names.index(forward)]
        assert number > 0
        ties = [names[i] for i in np.flatnonzero(columns.seq == number)]
        assert ties == [forward, "autograd::engine::evaluate_function: " + node, node]
    inner = [
        i for i, name in enumerate(names) if name.startswith("aten::") and columns.parent[i] > 0
    ]
    assert inner and (columns.seq[inner] == -1).all()
    accumulates = [i for i, name in enumerate(names) if "Accumulate" in name]
    assert (columns.seq[accumulates] == -1).all() and (columns.scope[accumulates] == 1).all()


def test_scopes_and_forward_threads():
    x = ag.ones(3, requires_grad=True)
    kept = []

    def forward():
        kept.append((x * 2).sum())

    def run():
        worker = threading.Thread(target=forward)
        worker.start()
        worker.join()
        with record_function("label"):
            kept.pop().backward()

    columns = recorded(run)
    names = names_of(columns)
    assert columns.thread[names.index("aten::mul")] != columns.thread[names.index("MulBackward0")]
    assert (
        columns.fwd_thread[names.index("MulBackward0")] == columns.thread[names.index("aten::mul")]
    )
    assert columns.fwd_thread[names.index("aten::mul")] == 0
    assert columns.fwd_thread[names.index("torch::autograd::AccumulateGrad")] == 0
    assert columns.scope[names.index("label")] == 7
    assert columns.scope[names.index("MulBackward0")] == 1
    assert sorted(set(columns.thread)) == [1, 2]
    assert columns.threads[0] != columns.threads[1]


def test_custom_functions_both_ways():
    x = ag.ones(3, requires_grad=True)
    columns = recorded(lambda: Exp.apply(x).sum().backward())
    tree = tree_of(columns)
    at = tree.index((0, "Exp"))
    assert tree[at + 1] == (1, "aten::exp")
    at = tree.index((0, "autograd::engine::evaluate_function: ExpBackward"))
    assert tree[at + 1 : at + 3] == [(1, "ExpBackward"), (2, "aten::mul")]
    names = names_of(columns)
    assert columns.seq[names.index("Exp")] == columns.seq[names.index("ExpBackward")]


@pytest.mark.parametrize(("call", "name"), [
    (lambda x: x.add_(1), "aten::add_"),
    (lambda x: ag.mul(x, x, out=ag.empty(3)), "aten::mul"),
    (lambda x: x.copy_(ag.ones(3)), "aten::copy_"),
    (lambda x: x.zero_(), "aten::zero_"),
    (lambda x: x.fill_(3), "aten::fill_"),
    (lambda x: x.detach(), "aten::detach"),
    (lambda x: x[1:], "aten::slice"),
    (lambda x: x[[0, 2]], "aten::index"),
    (lambda x: x.__setitem__([0, 1], 2.0), "aten::index_put_"),
    (lambda x: x.__setitem__(0, 2.0), "aten::copy_"),
    (lambda x: x.to(ag.float64), "aten::to"),
    (lambda x: x.clone(), "aten::clone"),
    (lambda x: x.view(3, 1), "aten::view"),
    (lambda x: x.unsqueeze_(0), "aten::unsqueeze_"),
    (lambda x: ag.linalg.inv(ag.eye(3)), "aten::linalg_inv"),
    (lambda x: ag.fft.fft(x), "aten::fft_fft"),
    (lambda x: x @ x, "aten::matmul"),
    (lambda x: ag.nn.functional.linear(x, ag.ones(2, 3)), "aten::linear"),
    (lambda x: ag.func.vmap(lambda a: a.sin())(ag.ones(2, 3)), "aten::sin"),
    (lambda x: x.uniform_(), "aten::uniform_"),
    (lambda x: x.normal_(), "aten::normal_"),
    (lambda x: x.bernoulli_(), "aten::bernoulli_"),
    (lambda x: x.exponential_(), "aten::exponential_"),
    (lambda x: x.random_(), "aten::random_"),
    (lambda x: ag.randperm(3), "aten::randperm"),
    (lambda x: x[0].item(), "aten::item"),
    (lambda x: float(x[0]), "aten::item"),
    (lambda x: int(x[0]), "aten::item"),
    (lambda x: complex(x[0]), "aten::item"),
    (lambda x: [1, 2][ag.tensor(1)], "aten::item"),
    (lambda x: bool(x[0]), "aten::is_nonzero"),
    (lambda x: ag.is_nonzero(x[0]), "aten::is_nonzero"),
    (lambda x: x.tolist(), "autograd_cy::tolist"),
    (lambda x: x.numpy(), "autograd_cy::numpy"),
    (lambda x: x.__array__(), "autograd_cy::numpy"),
    (lambda x: ag.from_numpy(np.ones(3)), "autograd_cy::from_numpy"),
    (lambda x: ag.as_tensor(np.ones(3)), "autograd_cy::from_numpy"),
    (lambda x: ag.from_dlpack(np.ones(3)), "autograd_cy::from_dlpack"),
    (lambda x: copy.deepcopy(x), "autograd_cy::deepcopy"),
    (lambda x: ag.nn.functional.relu6(x), "aten::relu6"),
    (lambda x: ag.nn.functional.relu6(x, inplace=True), "aten::relu6_"),
])  # fmt: skip
def test_every_kind_of_operator_is_seen(call, name):
    columns = recorded(lambda: call(ag.ones(3)))
    assert name in names_of(columns)
    assert_nested(columns)


def test_reading_a_number_is_what_it_is_without_a_profiler():
    x, batch = ag.tensor([1.5, -2.0]), ag.ones(2, 2)
    got = []

    def read():
        got.append((x.tolist(), x[0].item(), bool(x[1]), int(x[1]), complex(x[0])))

    read()
    columns = recorded(read, record_shapes=True)
    assert got[0] == got[1]
    tree = [entry for entry in tree_of(columns) if "select" not in entry[1]]
    assert tree[:4] == [
        (0, "autograd_cy::tolist"),
        (0, "aten::item"),
        (0, "aten::is_nonzero"),
        (1, "aten::item"),
    ]
    at = names_of(columns).index("autograd_cy::tolist")
    assert columns.shapes[columns.shape[at]][0] == [[2]]
    messages = []

    def refused():
        for wrong in (batch.item, lambda: bool(batch), lambda: int(batch), lambda: float(batch)):
            with pytest.raises((RuntimeError, TypeError, ValueError)) as error:
                wrong()
            messages.append(str(error.value))

    refused()
    recorded(refused)
    assert messages[:4] == messages[4:]


def test_a_subclass_reads_numbers_its_own_way():
    class Own(ag.Tensor):
        def item(self):
            return "own"

    x = ag.ones(1).as_subclass(Own)
    seen = []
    recorded(lambda: seen.append((x.item(), float(x), bool(x))))
    assert seen == [("own", 1.0, True)]


@pytest.mark.parametrize("call", [
    "zeros(2)", "ones(2)", "full((2,), 3.0)", "eye(2)", "empty_strided((2,), (1,))", "arange(3)",
    "arange(0.0, 3.0)", "linspace(0, 1, 3)", "logspace(0, 1, 3)", "scalar_tensor(2)", "rand(2)",
    "randn(2)", "randint(3, (2,))", "normal(0.0, 1.0, (2,))", "zeros_like(X)", "ones_like(X)",
    "full_like(X, 2.0)", "empty_like(X)", "rand_like(X)", "randn_like(X)", "randint_like(X, 3)",
])  # fmt: skip
def test_constructors_have_their_memory_as_child(call):
    known = {"X": ag.ones(2)}
    columns = recorded(lambda: eval(f"ag.{call}", {"ag": ag, **known}))
    assert tree_of(columns) == [(0, "aten::" + call.partition("(")[0]), (1, "aten::empty")]


def test_fused_steps_of_optimizers_are_seen():
    w = ag.ones(3, requires_grad=True)
    w.sum().backward()
    for make, name in [
        (lambda: ag.optim.SGD([w], lr=0.1), "aten::_fused_sgd_"),
        (lambda: ag.optim.Adam([w], lr=0.1), "aten::_fused_adam_"),
        (lambda: ag.optim.AdamW([w], lr=0.1), "aten::_fused_adamw_"),
    ]:
        optimizer = make()
        columns = recorded(lambda o=optimizer: (o.step(), o.zero_grad(set_to_none=False)))
        kind = type(optimizer).__name__
        names = names_of(columns)
        assert names[0] == f"Optimizer.step#{kind}.step"
        assert names[columns.parent[names.index(name)]] == names[0]
        assert f"Optimizer.zero_grad#{kind}.zero_grad" in names
        assert columns.scope[0] == 7


def test_a_step_of_ones_own_is_labelled_once():
    class Descent(ag.optim.Optimizer):
        def step(self, closure=None):
            """Its own."""
            return 3

    optimizer = Descent([ag.ones(2, requires_grad=True)], {})
    assert Descent.step.__doc__ == "Its own."
    seen = []
    columns = recorded(lambda: seen.append(optimizer.step()))
    assert seen == [3] and names_of(columns) == ["Optimizer.step#Descent.step"]


def test_shapes_and_plain_values_of_arguments():
    x, w, b = ag.ones(2, 4), ag.ones(3, 4), ag.ones(3)

    def run():
        x * 2
        ag.nn.functional.linear(x, w, b)
        x.sum(1, keepdim=True)
        ag.cat([x, x], 1)
        ag.linalg.inv(ag.eye(2))
        ag.nn.functional.gelu(x, approximate="tanh")

    columns = recorded(run, record_shapes=True)
    names = names_of(columns)
    found = {
        name: columns.shapes[i] for name, i in zip(names, columns.shape, strict=True) if i >= 0
    }
    assert found["aten::mul"] == ([[2, 4], []], [None, 2], ["float", "Scalar"])
    assert found["aten::linear"][0] == [[2, 4], [3, 4], [3]]
    assert found["aten::sum"][:2] == ([[2, 4], [], [], []], [None, 1, True, None])
    assert found["aten::cat"][0] == [[[2, 4], [2, 4]], []]
    assert found["aten::cat"][2] == ["TensorList", "Scalar"]
    assert found["aten::linalg_inv"][0] == [[2, 2]]
    assert [2, 4] in found["aten::gelu"][0]
    with_none = recorded(lambda: ag.nn.functional.linear(x, w), record_shapes=True)
    assert with_none.shapes[with_none.shape[0]][0] == [[2, 4], [3, 4], []]


def test_operators_written_in_python_are_events():
    a, image = ag.ones(3, 4), ag.ones(1, 2, 4, 4)
    functional = ag.nn.functional
    calls = {
        "einsum": lambda: ag.einsum("ij,kj->ik", a, a),
        "tensordot": lambda: ag.tensordot(a, a, dims=2),
        "multinomial": lambda: ag.multinomial(a, 2),
        "meshgrid": lambda: ag.meshgrid(a[0], a[0], indexing="ij"),
        "broadcast_tensors": lambda: ag.broadcast_tensors(a, a[0]),
        "hstack": lambda: ag.hstack((a, a)),
        "vstack": lambda: ag.vstack((a, a)),
        "dstack": lambda: ag.dstack((a, a)),
        "column_stack": lambda: ag.column_stack((a, a)),
        "hsplit": lambda: ag.hsplit(a, 2),
        "vsplit": lambda: a.vsplit(3),
        "dsplit": lambda: ag.dsplit(ag.ones(1, 1, 2), 2),
        "isclose": lambda: ag.isclose(a, a),
        "allclose": lambda: ag.allclose(a, a),
        "equal": lambda: a.equal(a),
        "linalg_norm": lambda: ag.linalg.norm(a),
        "linalg_vector_norm": lambda: ag.linalg.vector_norm(a),
        "linalg_matrix_norm": lambda: ag.linalg.matrix_norm(a),
        "linalg_multi_dot": lambda: ag.linalg.multi_dot([a, a.t()]),
        "linalg_vander": lambda: ag.linalg.vander(a[0]),
        "multi_margin_loss": lambda: functional.multi_margin_loss(a, ag.tensor([0, 1, 2])),
        "multilabel_margin_loss": lambda: functional.multilabel_margin_loss(
            a, ag.zeros(3, 4, dtype=ag.int64)
        ),
        "affine_grid_generator": lambda: functional.affine_grid(
            ag.ones(1, 2, 3), (1, 1, 2, 2), align_corners=False
        ),
        "grid_sampler": lambda: functional.grid_sample(
            image, ag.zeros(1, 2, 2, 2), align_corners=False
        ),
        "upsample_nearest2d": lambda: functional.interpolate(image, 3),
        "_upsample_nearest_exact2d": lambda: functional.interpolate(image, 3, mode="nearest-exact"),
        "upsample_bilinear2d": lambda: functional.interpolate(image, 3, mode="bilinear"),
        "upsample_linear1d": lambda: functional.interpolate(image[0], 3, mode="linear"),
    }
    for name, call in calls.items():
        columns = recorded(call, record_shapes=True)
        seen = [i for i, one in enumerate(names_of(columns)) if one == f"aten::{name}"]
        assert len(seen) == 1, name
        assert (columns.parent == seen[0]).any(), name
        assert_nested(columns)
    theta = ag.ones(1, 2, 3, device="meta")  # operators make the grid there
    grid = recorded(lambda: functional.affine_grid(theta, (1, 1, 2, 2), align_corners=False))
    assert names_of(grid).count("aten::affine_grid_generator") == 1
    columns = recorded(calls["dstack"], record_shapes=True)
    assert columns.shapes[columns.shape[0]][0] == [[[3, 4], [3, 4]]]

    def refused():
        with pytest.raises(RuntimeError):
            ag.einsum("ij,jk", a, a)

    failing = recorded(refused)
    assert failing.failed[names_of(failing).index("aten::einsum")]


@pytest.mark.parametrize(("call", "name", "count"), [
    (lambda: ag.ones(2, 3) @ ag.ones(3, 4), "aten::mm", 2 * 2 * 3 * 4),
    (lambda: ag.ones(5, 2, 3) @ ag.ones(5, 3, 4), "aten::bmm", 2 * 5 * 2 * 3 * 4),
    (lambda: ag.addmm(ag.ones(4), ag.ones(2, 3), ag.ones(3, 4)), "aten::addmm", 48),
    (lambda: ag.mv(ag.ones(2, 3), ag.ones(3)), "aten::mv", 12),
    (lambda: ag.dot(ag.ones(3), ag.ones(3)), "aten::dot", 6),
    (lambda: ag.ones(2, 1) + ag.ones(3), "aten::add", 6),
    (lambda: ag.add(ag.ones(2, 1), ag.ones(3), alpha=2), "aten::add", 6),
    (lambda: ag.ones(0, 3) * ag.ones(3), "aten::mul", 0),
    (lambda: ag.ones(2, 3) * 2, "aten::mul", 6),
    (lambda: ag.ones(2, 3).exp(), "aten::exp", 0),
    (lambda: conv2d(ag.ones(2, 4, 6, 6), ag.ones(8, 4, 3, 3)), "aten::conv2d", 2 * 2 * 8 * 16 * 36),
    (lambda: conv2d(ag.ones(2, 4, 6, 6), ag.ones(8, 2, 3, 3), None, 2, 1, 1, 2), "aten::conv2d",
     2 * 2 * 8 * 9 * 18),
    (lambda: conv2d(ag.ones(2, 4, 6, 6), ag.ones(8, 4, 3, 3), None, (2, 1), (1, 0), (1, 2)),
     "aten::conv2d", 2 * 2 * 8 * 3 * 2 * 36),
    (lambda: conv2d(ag.ones(4, 6, 6), ag.ones(8, 4, 3, 3), padding="same"), "aten::conv2d",
     2 * 8 * 36 * 36),
    (lambda: conv2d(ag.ones(1, 1, 4, 4), ag.ones(1, 1, 3, 3), padding="valid"), "aten::convolution",
     2 * 4 * 9),
    (lambda: ag.conv1d(ag.ones(2, 4, 6), ag.ones(8, 4, 3)), "aten::conv1d", 2 * 2 * 8 * 4 * 12),
    (lambda: ag.conv_transpose2d(ag.ones(1, 2, 3, 3), ag.ones(2, 5, 2, 2)), "aten::convolution",
     2 * 18 * 20),
    (lambda: ag.conv_transpose2d(ag.ones(2, 3, 3), ag.ones(2, 5, 2, 2)), "aten::conv_transpose2d",
     2 * 18 * 20),
    (lambda: ag.addmv(ag.ones(2), ag.ones(2, 3), ag.ones(3)), "aten::addmv", 12),
    (lambda: ag.addbmm(ag.ones(2, 4), ag.ones(5, 2, 3), ag.ones(5, 3, 4)), "aten::addbmm", 240),
    (lambda: ag.nn.LSTM(3, 4)(ag.ones(5, 2, 3)), "autograd_cy::recurrent", 2 * 10 * 16 * 7),
    (lambda: ag.nn.GRU(3, 4)(ag.ones(5, 2, 3)), "autograd_cy::recurrent", 2 * 10 * 12 * 7),
    (lambda: ag.nn.LSTM(3, 4, proj_size=2)(ag.ones(5, 2, 3)), "autograd_cy::recurrent",
     2 * 10 * (16 * 5 + 2 * 4)),
    (lambda: ag.nn.LSTM(3, 4)(ag.ones(5, 2, 3))[0].sum().backward(),
     "autograd_cy::recurrent_backward", 2 * 10 * 16 * (3 + 4 + 4)),
    (lambda: ag.nn.GRUCell(3, 4)(ag.ones(2, 3)), "aten::gru_cell", 2 * 2 * 12 * 7),
    (lambda: ag.nn.RNNCell(3, 4)(ag.ones(2, 3)), "aten::rnn_tanh_cell", 2 * 2 * 4 * 7),
    (lambda: ag.nn.functional.scaled_dot_product_attention(
        ag.ones(2, 3, 7, 8), ag.ones(2, 3, 5, 8), ag.ones(2, 3, 5, 4)),
     "aten::_scaled_dot_product_flash_attention_for_cpu", 2 * 6 * 7 * 5 * (8 + 4)),
])  # fmt: skip
def test_operations_are_counted_by_shapes(call, name, count):
    columns = recorded(call, with_flops=True)
    assert columns.flops[names_of(columns).index(name)] == count
    assert (columns.shape == -1).all()


@pytest.mark.parametrize("transposed", [False, True])
def test_gradients_of_a_convolution_cost_what_it_costs(transposed):
    x = ag.ones(2, 4, 6, 6, requires_grad=True)
    w = ag.ones(4, 4, 3, 3, requires_grad=True)
    convolve = ag.conv_transpose2d if transposed else ag.conv2d
    columns = recorded(lambda: convolve(x, w, stride=2).sum().backward(), with_flops=True)
    counts = [n for n, name in zip(columns.flops, names_of(columns), strict=True)
              if n and name != convolve.__name__ and "conv2d" not in name
              and "conv_transpose2d" not in name]  # fmt: skip
    assert len(counts) == 3 and len(set(counts)) == 1


def test_bytes_moved_and_saved():
    x = ag.ones(8, requires_grad=True)
    columns = recorded(lambda: x.exp().view(2, 4).sum(), record_shapes=True)
    by_name = dict(zip(names_of(columns), range(len(columns)), strict=True))
    assert columns.bytes_moved[by_name["aten::exp"]] == 2 * 32
    assert columns.saved[by_name["aten::exp"]] == 32
    assert columns.bytes_moved[by_name["aten::view"]] == 0
    assert columns.bytes_moved[by_name["aten::sum"]] == 32 + 4


def test_memory_of_storages_and_the_event_that_took_it():
    def run():
        x = ag.ones(100)
        y = x.exp()
        del x
        y.add_(1)

    run()  # the tensor of the number is kept for the next one
    columns = recorded(run, profile_memory=True)
    assert list(columns.mem_bytes) == [400, 400, -400, -400]
    assert list(np.diff(columns.mem_total)) == [400, -400, -400]
    names = names_of(columns)
    owners = [names[i] if i >= 0 else None for i in columns.mem_event]
    assert owners == ["aten::empty", "aten::exp", None, None]
    first, second = columns.mem_address[:2]
    assert list(columns.mem_address) == [first, second, first, second]
    assert (np.diff(columns.mem_time) >= 0).all()
    assert len(recorded(run).mem_time) == 0


def test_storages_without_elements_are_no_change_of_memory():
    columns = recorded(lambda: (ag.ones(0), ag.nn.Parameter(ag.ones(2))), profile_memory=True)
    assert sorted(columns.mem_bytes) == [-8, 8]


def test_the_cache_of_blocks_is_used_while_memory_is_watched():
    before = ag.memory_summary()
    recorded(lambda: [ag.ones(1000).numel() for _ in range(20)], profile_memory=True)
    after = ag.memory_summary()
    assert after["live_bytes"] == before["live_bytes"]
    assert after["hits"] - before["hits"] >= 19


def test_frames_are_those_of_the_program():
    def inner(x):
        return x.exp()

    def outer(x):
        return inner(x)

    x = ag.ones(3, requires_grad=True)
    columns = recorded(lambda: outer(x).sum().backward(), with_stack=True)
    names = names_of(columns)
    stack = columns.stacks[columns.stack[names.index("aten::exp")]]
    assert stack[0].endswith(": inner") and stack[1].endswith(": outer")
    assert "test_recording.py(" in stack[0]
    assert not any("autograd_cy/" in frame for frame in stack)
    assert len(stack) <= 32
    node = columns.stacks[columns.stack[names.index("ExpBackward0")]]
    assert node == stack


def test_frames_are_the_same_however_they_are_read():
    """Those of the interpreter, read as they lie there, and those of CPython's functions."""
    x = ag.ones(2)

    class Thing:
        def __del__(self):
            x.exp()

        @property
        def value(self):
            return x.sin()

        def __lt__(self, other):
            x.cos()
            return False

    def numbers():
        yield x.tan()
        yield from (x.tanh() for _ in range(2))

    async def later():
        await asyncio.sleep(0)
        x.sqrt()

    def deep(depth):
        return deep(depth - 1) if depth else x.floor()

    def run():
        Thing().value
        sorted([Thing(), Thing()])
        list(numbers())
        asyncio.run(later())
        exec("x.ceil()", {"x": x})
        deep(50)
        thread = threading.Thread(target=lambda: deep(1))
        thread.start()
        thread.join()

    seen = []
    before = _recorder._read_inside(True)
    try:
        for inside in (True, False):
            _recorder._read_inside(inside)
            columns = recorded(run, with_stack=True)
            seen.append([columns.stacks[i] for i in columns.stack])
    finally:
        _recorder._read_inside(before)
    assert seen[0] == seen[1]
    lengths = {len(stack) for stack in seen[0]}
    assert max(lengths) == 32 > min(lengths)
    assert {stack[0].rpartition(": ")[2] for stack in seen[0]} >= {
        *("__del__", "value", "__lt__", "numbers", "<genexpr>", "later", "<module>", "deep")
    }


def test_events_belong_to_modules():
    class Net(ag.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = ag.nn.ModuleList([ag.nn.Linear(3, 3), ag.nn.Linear(3, 2)])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x).tanh()
            return x

    net, x = Net(), ag.ones(1, 3)
    columns = recorded(lambda: net(x).sum().backward(), with_modules=True)
    names = names_of(columns)
    paths = [columns.modules[i] if i >= 0 else None for i in columns.module]
    linear = [p for n, p in zip(names, paths, strict=True) if n == "aten::linear"]
    assert linear == ["Net.layers.0", "Net.layers.1"]
    tanh = [p for n, p in zip(names, paths, strict=True) if n == "aten::tanh"]
    assert tanh == ["Net", "Net"]
    nodes = [p for n, p in zip(names, paths, strict=True) if n == "LinearBackward0"]
    assert nodes == ["Net.layers.1", "Net.layers.0"] or not nodes
    assert paths[names.index("aten::sum")] is None
    net(x)
    assert not ag.nn.Module._hooked


def test_names_are_public():
    x = ag.rand(3, requires_grad=True)
    columns = recorded(lambda: ag.nn.functional.gelu(x).sum().backward())
    names = names_of(columns)
    assert "aten::gelu" in names
    assert not [name for name in names if name.rpartition(":")[2].startswith("_")]


def test_only_nodes_have_backward_in_their_names():
    x = ag.rand(3, 3, requires_grad=True)
    columns = recorded(lambda: ag.linalg.svd(x)[1].softmax(0).prod().backward())
    for name, scope in zip(names_of(columns), columns.scope, strict=True):
        assert ("Backward" in name) <= (scope == 1), name


# --- pairs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [
    lambda x: x + ag.ones(4),                                # an elementwise driver
    lambda x: x.add_(ag.ones(4)),
    lambda x: ag.add(x, x, out=ag.zeros(3, requires_grad=True)),
    lambda x: x.sum(5),
    lambda x: x.mm(x),
    lambda x: x @ ag.ones(4),
    lambda x: x.view(7),
    lambda x: x[5],
    lambda x: x.copy_(ag.ones(4)),
    lambda x: x.unsqueeze_(9),
    lambda x: ag.linalg.cholesky(-ag.eye(3)),                # interpreted
    lambda x: ag.fft.fft(x, dim=4),
    lambda x: Fails.apply(x),
    lambda x: FailsLater.apply(x.requires_grad_()).sum().backward(),
    lambda x: ag.func.vmap(lambda a: a.mm(a))(x),
])  # fmt: skip
def test_errors_end_what_they_began(call):
    caught = []

    def run():
        with record_function("around"):
            try:
                call(ag.ones(3))
            except (RuntimeError, ValueError, IndexError) as error:
                caught.append(error)
        ag.ones(3).expm1()

    columns = recorded(run)
    assert caught
    names = names_of(columns)
    assert_nested(columns)
    assert not columns.unfinished.any()
    assert columns.parent[names.index("aten::expm1")] == -1
    assert not columns.failed[names.index("around")]


def test_what_an_exception_left_has_failed():
    x = ag.ones(3)

    def run():
        with pytest.raises(RuntimeError), record_function("label"):
            x.mm(x)
        x.neg()

    columns = recorded(run)
    failed = [name for name, bad in zip(names_of(columns), columns.failed, strict=True) if bad]
    assert failed == ["label", "aten::mm"]


def test_nodes_that_fail_nest():
    x = ag.ones(3, requires_grad=True)

    def run():
        with pytest.raises(ValueError, match="in backward"):
            FailsLater.apply(x).sum().backward()

    columns = recorded(run)
    assert_nested(columns)
    names = names_of(columns)
    outer = names.index("autograd::engine::evaluate_function: FailsLaterBackward")
    assert names[outer + 1] == "FailsLaterBackward"
    assert columns.failed[outer] and columns.failed[outer + 1]


def test_an_open_event_ends_with_the_session():
    session = Session()
    session.start()
    label = record_function("open")
    label.__enter__()
    ag.ones(2).neg()
    columns = session.stop()
    label.__exit__(None, None, None)
    assert list(columns.unfinished) == [name == "open" for name in names_of(columns)]
    assert columns.end[0] == pytest.approx(columns.wall_ns, abs=1000)
    x = ag.ones(2)
    assert list(recorded(x.neg).parent) == [-1]


def test_backward_inside_of_backward_nests():
    class Inner(ag.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            with ag.enable_grad():
                y = ag.ones(2, requires_grad=True)
                y.exp().sum().backward()
            return grad * 2

    x = ag.ones(2, requires_grad=True)
    columns = recorded(lambda: Inner.apply(x).sum().backward())
    names = names_of(columns)
    assert_nested(columns)
    i = names.index("ExpBackward0")
    around = []
    while i >= 0:
        around.append(names[i])
        i = columns.parent[i]
    assert "InnerBackward" in around


def test_create_graph_gives_numbers_to_operators_of_backward():
    x = ag.ones(2, requires_grad=True)

    def run():
        (g,) = ag.autograd.grad(x.exp().sum(), x, create_graph=True)
        g.sum().backward()

    columns = recorded(run)
    names = names_of(columns)
    inside = [i for i, n in enumerate(names) if n == "aten::mul" and columns.parent[i] >= 0]
    assert any(columns.seq[i] > 0 for i in inside)
    assert_nested(columns)
