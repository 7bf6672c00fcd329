"""Memory that C code allocates is given back, and written before it is read: by every operator, and
by long inputs.

Counts of references and of tensors (tests/test_reference_counts.py) don't see working memory,
tables and lists that a kernel takes from malloc.
"""

import contextlib
import copy
import ctypes
import gc
import io
import pickle
import threading

import numpy as np
import pytest
from calls import CLASS_OF, cases, make, outputs, to_array
from grouping import each

import autograd_cy as ag
from autograd_cy._C import scratch
from autograd_cy.nn import functional as F
from autograd_cy.profiler._events import _demangled
from autograd_cy.profiler._session import Session
from autograd_cy.utils.checkpoint import checkpoint


class Figures(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
        ).split()
    ]


C = ctypes.CDLL(None)
if not hasattr(C, "mallinfo2"):
    pytest.skip("only glibc says how much is allocated", allow_module_level=True)
C.mallinfo2.restype = Figures


def in_use():
    figures = C.mallinfo2()
    return figures.uordblks + figures.hblkhd


def seeded():
    """Seed the CPU alone: other devices that tests have registered would keep work that waits."""
    ag.default_generator.manual_seed(0)


def grows(call, times=8, rounds=4, first=2):
    """The bytes that a call leaves allocated in every round of several, or 0.

    A round must take more than malloc keeps of a size for the next who asks, which counts as used;
    the first calls fill what is kept from then on.
    """
    for _ in range(first):
        call()
    left = 0
    for _ in range(rounds):
        before = in_use()
        for _ in range(times):
            call()
        left = in_use() - before
        if left < 16:
            return 0
        gc.collect()  # what Python frees seldom may be taken in all rounds
    before = in_use()
    for _ in range(times):
        call()
    gc.collect()
    return max(0, in_use() - before) // times


def with_gradients(run, leaves):
    found = [t for t in outputs(run()) if isinstance(t, ag.Tensor)]
    found = [t for t in found if t.requires_grad and t.numel()]
    if found:
        wanted = [t for t in leaves if t.requires_grad]
        grads = [ag.ones_like(t) for t in found]
        ag.autograd.grad(found, wanted, grads, allow_unused=True)


def chosen(record):
    return bool(record.tests.samples)


@each("case", [p for p in cases(chosen) if p.values[0].number == 0])
def test_an_operator_gives_its_memory_back(case):
    order = ("float64", "complex128", "int64", "float32", "bool")
    name = next(n for n in order if CLASS_OF[n] in case.record.call.dtypes)
    call = make(case, name)
    grad = bool(case.record.derivatives.vjp) and name in ("float64", "complex128", "float32")
    tensors = call.tensors(grad=grad)
    if case.record.key.endswith("_") or (grad and not any(t.requires_grad for t in tensors)):
        grad = False
    assert not grows(lambda: with_gradients(lambda: call(tensors), tensors if grad else []))


M_PERTURB = -6


@contextlib.contextmanager
def filled_memory():
    """Memory that was never written isn't zero: of bytes 0x40, or of 0xbf (numbers like 1), or,
    where kernels work, of no numbers; and there nobody writes beyond the end."""
    scratch.release()
    scratch._mark(True)
    ag.set_allocator_caching(False)
    C.mallopt(M_PERTURB, 0x40)
    try:
        yield
    finally:
        C.mallopt(M_PERTURB, 0)
        ag.set_allocator_caching(True)
        crossed = scratch._mark(False)
    assert not crossed


def numbers_of(run, leaves):
    """All results of a call and gradients of those that are real, as arrays."""
    seeded()
    results = [t for t in outputs(run()) if isinstance(t, ag.Tensor)]
    arrays = [to_array(t) for t in results]
    found = [t for t in results if t.requires_grad and t.numel()]
    if found:
        grads = ag.autograd.grad(found, leaves, [ag.ones_like(t) for t in found], allow_unused=True)
        arrays += [to_array(g) for g in grads if g is not None]
    return arrays


def differ(run, leaves):
    """Return whether results depend on what memory held before."""
    expected = numbers_of(run, leaves)
    with filled_memory():
        found = numbers_of(run, leaves)
    return any(a.tobytes() != b.tobytes() for a, b in zip(expected, found, strict=True))


@each("case", cases(lambda record: record.tests.samples and not record.name.startswith("empty")))
def test_what_memory_held_before_reaches_no_result(case):
    for name in ("float32", "float64", "bfloat16", "complex64", "int32", "bool"):
        if CLASS_OF[name] not in case.record.call.dtypes:
            continue
        call = make(case, name)
        grad = bool(case.record.derivatives.vjp) and CLASS_OF[name] in "fhc"
        written = case.record.key.endswith("_")
        tensors = call.tensors(grad=grad and not written)

        def run(call=call, tensors=tensors, written=written):
            return call([t.clone() for t in tensors] if written else tensors)

        with contextlib.suppress(NotImplementedError):  # options that have no integers
            assert not differ(run, [t for t in tensors if t.requires_grad]), name


def r(*shape, dtype=ag.float32):
    seeded()
    return ag.randn(*shape, dtype=dtype).requires_grad_(True)


ragged = ag.tensor([0, 3, 3, 40])
places = ag.arange(4000) % 37
last = ag.channels_last
none = ag.zeros(0, 9000, dtype=ag.int64)
LONG = {
    "product": lambda: r(70, 200) @ r(200, 90),
    "product of few rows": lambda: r(3, 3000) @ r(3000, 5),
    "products": lambda: ag.bmm(r(3, 40, 50), r(3, 50, 60)),
    "product of turned matrices": lambda: r(200, 70).t() @ r(90, 200).t(),
    "product in float64": lambda: r(70, 200, dtype=ag.float64) @ r(200, 90, dtype=ag.float64),
    "complex product": lambda: r(70, 80, dtype=ag.complex64) @ r(80, 90, dtype=ag.complex64),
    "half product": lambda: r(70, 200, dtype=ag.float16) @ r(200, 90, dtype=ag.float16),
    "bfloat16 product": lambda: r(70, 200, dtype=ag.bfloat16) @ r(200, 90, dtype=ag.bfloat16),
    "integer product": lambda: ag.ones(70, 80, dtype=ag.int64) @ ag.ones(80, 9, dtype=ag.int64),
    "line": lambda: F.linear(r(40, 300), r(50, 300), r(50)),
    "conv1d": lambda: F.conv1d(r(2, 8, 300), r(12, 8, 5), r(12), padding=2),
    "conv2d": lambda: F.conv2d(r(2, 8, 20, 20), r(12, 8, 3, 3), r(12), padding=1),
    "conv2d of many channels": lambda: F.conv2d(r(1, 64, 16, 16), r(64, 64, 3, 3), padding=1),
    "conv2d by small tiles": lambda: F.conv2d(r(9, 16, 6, 6), r(24, 16, 3, 3), padding=1),
    "conv2d with steps": lambda: F.conv2d(r(2, 8, 21, 21), r(12, 8, 3, 3), stride=2, dilation=2),
    "conv2d of groups": lambda: F.conv2d(r(2, 8, 20, 20), r(8, 1, 3, 3), groups=8),
    "conv2d of half numbers": lambda: F.conv2d(
        r(2, 8, 20, 20, dtype=ag.float16), r(12, 8, 3, 3, dtype=ag.float16)
    ),
    "conv3d": lambda: F.conv3d(r(1, 4, 8, 8, 8), r(6, 4, 3, 3, 3)),
    "conv_transpose2d": lambda: F.conv_transpose2d(r(2, 8, 9, 9), r(8, 12, 3, 3), stride=2),
    "conv2d by stretches": lambda: F.conv2d(
        r(1, 168, 4, 5, dtype=ag.float64), r(261, 168, 3, 3, dtype=ag.float64)
    ),
    "conv2d as a product": lambda: F.conv2d(r(1, 90, 7, 5), r(261, 90, 3, 3), stride=2),
    "conv_transpose2d by places": lambda: F.conv_transpose2d(
        r(1, 340, 4, 4), r(340, 70, 3, 3), stride=2
    ),
    "fold": lambda: F.fold(r(2, 12, 20, dtype=ag.float16), (5, 6), (2, 2)),
    "complex product of few rows": lambda: (
        r(2, 80, dtype=ag.complex64) @ r(80, 70, dtype=ag.complex64),
        r(70, 80, dtype=ag.complex64) @ r(80, 2, dtype=ag.complex64),
    ),
    "empty sum": lambda: ag.addmm(
        ag.ones(3, 9000, dtype=ag.int64), ag.ones(3, 0, dtype=ag.int64), none, beta=3
    ),
    "attention": lambda: F.scaled_dot_product_attention(
        r(2, 3, 130, 16), r(2, 3, 140, 16), r(2, 3, 140, 16)
    ),
    "LSTM": lambda: ag.nn.LSTM(20, 30, 2, bidirectional=True)(r(12, 5, 20))[0],
    "LSTM with projections": lambda: ag.nn.LSTM(20, 30, proj_size=9)(r(12, 5, 20))[0],
    "GRU": lambda: ag.nn.GRU(20, 30)(r(12, 5, 20))[0],
    "batch_norm": lambda: F.batch_norm(r(8, 40, 300), None, None, r(40), r(40), True),
    "group_norm": lambda: F.group_norm(r(8, 40, 300), 4, r(40), r(40)),
    "norms of channels last": lambda: (
        F.batch_norm(r(8, 40, 9, 9).to(memory_format=last), None, None, r(40), r(40), True),
        F.group_norm(r(8, 40, 9, 9).to(memory_format=last), 4, r(40), r(40)),
    ),
    "layer_norm": lambda: F.layer_norm(r(300, 500), (500,), r(500), r(500)),
    "softmax": lambda: F.softmax(r(40, 3000), 1),
    "softmax of columns": lambda: F.log_softmax(r(3000, 40), 0),
    "cross_entropy": lambda: F.cross_entropy(r(4000, 50), places, r(50).detach()),
    "mse_loss": lambda: F.mse_loss(r(60000), r(60000)),
    "max_pool2d": lambda: F.max_pool2d(r(2, 8, 40, 40), 3, 2, 1),
    "avg_pool2d": lambda: F.avg_pool2d(r(2, 8, 40, 40), 3, 2, 1),
    "adaptive_avg_pool2d": lambda: F.adaptive_avg_pool2d(r(2, 8, 40, 40), 7),
    "interpolate": lambda: F.interpolate(r(2, 8, 40, 40), size=(70, 61), mode="bilinear"),
    "embedding": lambda: F.embedding(places, r(40, 20)),
    "embedding_bag": lambda: F.embedding_bag(places[:60], r(40, 20), ragged),
    "sum": lambda: (r(300, 400).sum(0), r(300, 400).sum(1), r(120000).sum()),
    "extremes": lambda: (r(300, 400).max(0).values, r(300, 400).amin(1), r(120000).max()),
    "std": lambda: (r(300, 400).std(0), r(300, 400).var(1), r(120000).std()),
    "cumsum": lambda: (r(300, 400).cumsum(0), r(300, 400).cumprod(1), r(9000).logcumsumexp(0)),
    "sort": lambda: (r(3000).sort().values, r(50, 400).sort(1).values, r(3000).topk(50).values),
    "median": lambda: (r(3000).median(), r(50, 400).nanmedian(1).values),
    "indices": lambda: (r(40, 30)[places], r(40, 30).index_select(0, places), r(4000)[places]),
    "index_add": lambda: r(40, 30).index_add(0, places, r(4000, 30)),
    "scatter_reduce": lambda: r(40).scatter_reduce(0, places, r(4000), "mean"),
    "index_put": lambda: r(40).index_put((places,), r(4000), accumulate=True),
    "mask": lambda: r(4000)[places > 5],
    "unique": lambda: ag.unique(places, return_inverse=True, return_counts=True)[0],
    "searchsorted": lambda: ag.searchsorted(r(4000).detach().sort().values, r(3000).detach()),
    "cat": lambda: ag.cat([r(300, 70), r(300, 90)], 1),
    "copy": lambda: r(300, 400).t().contiguous(),
    "random": lambda: (ag.rand(40000), ag.randperm(4000), ag.randint(9, (4000,))),
    "multinomial": lambda: ag.multinomial(ag.ones(4000), 300),
    "fft": lambda: ag.fft.fft(r(7, 1000)).real,
    "svd": lambda: ag.linalg.svd(r(20, 30), full_matrices=False)[1],
    "wide cat": lambda: ag.cat(r(5000).split(1)),
    "wide stack": lambda: ag.stack(r(300, 2).unbind()),
}


@pytest.mark.parametrize("threads", [2])  # short ones run on one
def test_long_inputs_give_their_memory_back(threads):
    before = ag.get_num_threads()
    ag.set_num_threads(threads)
    try:
        left = {}
        for name, call in LONG.items():
            seeded()
            if grown := grows(lambda run=call: with_gradients_of(run), 4):
                left[name] = grown
    finally:
        ag.set_num_threads(before)
    assert not left, "bytes of each call"


@pytest.fixture
def kept(monkeypatch):
    """The tensors that `r` makes."""
    leaves, leaf = [], r

    def made(*shape, dtype=ag.float32):
        leaves.append(leaf(*shape, dtype=dtype))
        return leaves[-1]

    monkeypatch.setitem(globals(), "r", made)
    return leaves


@pytest.mark.parametrize("threads", [1, 2])
def test_what_memory_held_before_reaches_no_result_of_long_inputs(threads, kept):
    def found(name):
        kept.clear()
        return numbers_of(LONG[name], kept)

    before = ag.get_num_threads()
    ag.set_num_threads(threads)
    try:
        for name in LONG:
            expected = found(name)
            with filled_memory():
                now = found(name)
            assert all(a.tobytes() == b.tobytes() for a, b in zip(expected, now, strict=True)), name
    finally:
        ag.set_num_threads(before)


def close(found, expected):
    """With little memory a kernel may go another way, which rounds otherwise."""
    if expected.dtype.kind not in "fcV":
        return np.array_equal(found, expected)
    rough = expected.dtype.itemsize <= 2
    found, expected = (a.astype("float64") if rough else a for a in (found, expected))
    scale = max(1.0, np.abs(expected).max(initial=0))
    return np.allclose(found, expected, 0, (2e-2 if rough else 1e-5) * scale, equal_nan=True)


def runs_short(name, leaves):
    """Count the places in which a call had no memory for a moment, and said so or did without."""
    leaves.clear()
    expected, count, short, done = numbers_of(LONG[name], leaves), 0, 0, False
    while not done:
        leaves.clear()
        scratch._fail_after(count)
        try:
            found = numbers_of(LONG[name], leaves)
        except MemoryError:
            found = expected
        finally:
            done = scratch._fail_after(-1) >= 0
        assert all(map(close, found, expected)), f"{name}: without block {count}"
        short += not done
        count += 1 + count // 8
    return short


def test_kernels_without_working_memory_say_so_or_do_without(kept):
    before = ag.get_num_threads()
    ag.set_num_threads(1)
    try:
        short = {name: runs_short(name, kept) for name in LONG}
        taking = [name for name, count in short.items() if count]
        # Each has run once, a few lines above.
        left = {name: grows(lambda name=name: runs_short(name, kept), 1, 2, 1) for name in taking}
    finally:
        ag.set_num_threads(before)
    assert sum(short.values()) > 100
    assert not any(left.values()), left


def with_gradients_of(run):
    """A call on leaves of its own, and its backward."""
    found = [t for t in outputs(run()) if t.requires_grad and not t.is_complex()]
    if found:
        ag.autograd.backward(found, [ag.ones_like(t) for t in found])


class Double(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x)
        return x * 2, y + 1

    @staticmethod
    def backward(ctx, grad, other):
        return grad * ctx.saved_tensors[0], other


def profiled():
    session = Session(
        record_shapes=True, with_flops=True, profile_memory=True, with_stack=True, with_modules=True
    )
    session.start()
    try:
        worker = threading.Thread(target=lambda: r(30).exp())
        worker.start()
        (r(30) * 2).cumsum(0).sum().backward()
        worker.join()
    finally:
        session.stop()


def recorded_too_much():
    session = Session(profile_memory=True, max_events=20)
    session.start()
    for _ in range(30):
        r(3).exp()
    return session.stop()


def written_and_read():
    file = io.BytesIO()
    ag.save({"a": r(100), "b": [r(3), 5]}, file)
    file.seek(0)
    return ag.load(file)


def stepped(kind, **options):
    made = [ag.nn.Parameter(r(500).detach()) for _ in range(3)]
    step = getattr(ag.optim, kind)(made, lr=0.1, **options)
    for _ in range(2):
        for p in made:
            p.grad = ag.ones(500)
        step.step()
    step.zero_grad()
    return step.state_dict()


def hooked():
    x = r(30)
    y = x * 2
    handles = [y.register_hook(lambda g: g * 2), y.grad_fn.register_hook(lambda a, b: None)]
    handles += [x.register_post_accumulate_grad_hook(lambda t: None)]
    y.retain_grad()
    y.sum().backward()
    handles[0].remove()


OTHERS = {
    "profiler": profiled,
    "full profiler": recorded_too_much,
    "files": written_and_read,
    "pickles": lambda: pickle.loads(pickle.dumps(r(300).detach())),
    "copies": lambda: copy.deepcopy([r(300), ag.nn.Linear(3, 4)]),
    "DLPack": lambda: (ag.from_dlpack(r(30).detach()), np.from_dlpack(r(30).detach())),
    "old DLPack": lambda: r(30).detach().__dlpack__(),
    "DLPack with a version": lambda: r(30).detach().__dlpack__(max_version=(1, 0)),
    "arrays": lambda: (r(30).detach().numpy(), ag.from_numpy(np.ones(30)), ag.tensor([[1.0]] * 9)),
    "buffers": lambda: (memoryview(r(30).detach()), ag.frombuffer(bytearray(64), dtype=ag.int8)),
    "lists": lambda: (r(30, 3).tolist(), ag.tensor([[[1, 2]] * 7] * 9), ag.ones((1,) * 20)),
    "functions": lambda: Double.apply(r(9), r(9))[0].sum().backward(),
    "wide functions": lambda: (
        ag.stack([Double.apply(t, t)[1] for t in r(40).unbind()]).sum().backward()
    ),
    "hooks": hooked,
    "checkpoint": lambda: (
        checkpoint(lambda x: x.exp().sin(), r(30), use_reentrant=False, preserve_rng_state=False)
        .sum()
        .backward()
    ),
    "hessian": lambda: ag.func.hessian(lambda x: x.exp().sum())(r(3).detach()),
    "vmap": lambda: ag.func.vmap(ag.func.grad(lambda x: (x * x).sum()))(r(3, 4).detach()),
    "jvp": lambda: ag.func.jvp(lambda x: x.t() @ x, (r(9, 4).detach(),), (r(9, 4).detach(),)),
    "views": lambda: r(4, 9).clone().t()[2:].mul_(2).sum().backward(),
    "memory changed": lambda: r(9).detach().resize_(3, 40).set_(r(5).detach()),
    "SGD": lambda: stepped("SGD", momentum=0.9, nesterov=True),
    "Adam": lambda: stepped("Adam", amsgrad=True),
    "AdamW": lambda: stepped("AdamW", maximize=True),
    "Adagrad": lambda: stepped("Adagrad"),
    "RMSprop": lambda: stepped("RMSprop", centered=True, momentum=0.9),
    "Rprop": lambda: stepped("Rprop"),
    "clipping": lambda: ag.nn.utils.clip_grad_norm_(r(30), 1.0),
    "names of C++": lambda: _demangled("_ZN3foo3barEv"),
    "generators": lambda: ag.Generator().manual_seed(5).get_state(),
}


@each("name", OTHERS)
def test_what_is_no_operator_gives_its_memory_back(name):
    assert not grows(OTHERS[name], 12)


def test_what_is_not_given_back_is_found():
    C.malloc.restype = ctypes.c_void_p
    C.malloc.argtypes = [ctypes.c_size_t]
    assert grows(lambda: C.malloc(24)) >= 24
    assert grows(lambda: C.malloc(1 << 22)) >= 1 << 22
