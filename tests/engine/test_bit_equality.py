"""Every number of threads gives the same bits: operators, their gradients, a training run."""

import pytest

import autograd_cy as torch
from autograd_cy.nn import functional as F

COUNTS = (1, 2, 3)


@pytest.fixture(autouse=True)
def keep_the_budget():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def draw(*shape, dtype=torch.float32):
    return torch.randn(*shape, dtype=dtype)


# Name, function of leaves, and the leaves: large enough to be shared by three threads.
OPERATORS = {
    "add of a row": (lambda x, y: x + y, lambda: [draw(500, 1001), draw(1001)]),
    "mul of a column": (lambda x, y: x * y, lambda: [draw(700, 901), draw(700, 1)]),
    "exp": (lambda x: x.exp(), lambda: [draw(600_001)]),
    "exp of columns": (lambda x: x.t().exp(), lambda: [draw(803, 701)]),
    "tanh in half precision": (lambda x: x.tanh(), lambda: [draw(400_001).half()]),
    "where": (lambda x, y: torch.where(x > y, x, y), lambda: [draw(500_001), draw(500_001)]),
    "sum": (lambda x: x.sum(), lambda: [draw(1_000_003)]),
    "sum of float64": (lambda x: x.sum(), lambda: [draw(600_003, dtype=torch.float64)]),
    "sum over rows": (lambda x: x.sum(0), lambda: [draw(1203, 517)]),
    "sum over columns": (lambda x: x.sum(1), lambda: [draw(1203, 517)]),
    "sum of complex": (lambda x: x.sum(), lambda: [draw(300_001, dtype=torch.complex64)]),
    "mean": (lambda x: x.mean(), lambda: [draw(1_000_003)]),
    "var": (lambda x: x.var(1), lambda: [draw(301, 2003)]),
    "amax": (lambda x: x.amax(1), lambda: [draw(301, 2003)]),
    "logsumexp": (lambda x: x.logsumexp(1), lambda: [draw(301, 2003)]),
    "softmax": (lambda x: x.softmax(1), lambda: [draw(301, 2003)]),
    "log_softmax": (lambda x: x.log_softmax(0), lambda: [draw(2003, 301)]),
    "matmul": (lambda x, y: x @ y, lambda: [draw(311, 503), draw(503, 257)]),
    "matmul of float64": (
        lambda x, y: x @ y,
        lambda: [draw(203, 301, dtype=torch.float64), draw(301, 157, dtype=torch.float64)],
    ),
    "matmul, long and narrow": (lambda x, y: x @ y, lambda: [draw(7, 50_001), draw(50_001, 5)]),
    "matmul of a transpose": (lambda x, y: x.t() @ y, lambda: [draw(503, 311), draw(503, 257)]),
    "batched matmul": (lambda x, y: x @ y, lambda: [draw(13, 101, 67), draw(13, 67, 93)]),
    "matrix times vector": (lambda x, y: x @ y, lambda: [draw(1501, 703), draw(703)]),
    "linear": (F.linear, lambda: [draw(401, 303), draw(205, 303), draw(205)]),
    "gather": (
        lambda x: x.gather(1, (899 - torch.arange(900)).expand(501, 900)),
        lambda: [draw(501, 900)],
    ),
    "index_select with repeats": (
        lambda x: x.index_select(0, torch.arange(3000) % 7),
        lambda: [draw(7, 301)],
    ),
    "indexing with repeats": (lambda x: x[torch.arange(200_001) % 11], lambda: [draw(11, 3)]),
    "cat": (lambda x, y: torch.cat([x, y]).square(), lambda: [draw(301, 501), draw(203, 501)]),
    "gelu": (F.gelu, lambda: [draw(300_001)]),
    "cross_entropy": (
        lambda x: F.cross_entropy(x, torch.arange(4001) % 101),
        lambda: [draw(4001, 101)],
    ),
    "mse_loss": (F.mse_loss, lambda: [draw(600_001), draw(600_001)]),
    "in place on a view": (
        lambda x, y: _halves(x * 1, y),
        lambda: [draw(400, 1001), draw(200, 1001)],
    ),
}


def _halves(x, y):
    x[::2].mul_(y)
    return x


def bits(tensor):
    return tensor.detach().contiguous().numpy().tobytes()


def run(function, leaves):
    """The bits of the result and of all gradients."""
    leaves = [x.detach().clone().requires_grad_() for x in leaves]
    result = function(*leaves)
    weight = torch.arange(result.numel(), dtype=result.dtype.to_real()).reshape(result.shape)
    result.backward((weight % 17 - 8).to(result.dtype))
    return [bits(result), *(bits(x.grad) for x in leaves)]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_and_their_gradients(name):
    function, make = OPERATORS[name]
    torch.manual_seed(0)
    leaves = make()
    found = []
    for count in COUNTS:
        torch.set_num_threads(count)
        found.append(run(function, leaves))
    assert all(len(set(versions)) == 1 for versions in zip(*found))
    assert len(found[0]) == 1 + len(leaves)


@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
def test_a_training_run(optimizer):
    def train(count):
        torch.set_num_threads(count)
        torch.manual_seed(1)
        layers = [(100, 300), (300, 300), (300, 10)]
        model = torch.nn.Sequential(
            *(part for a, b in layers for part in (torch.nn.Linear(a, b), torch.nn.ReLU()))
        )[:-1]
        options = {"momentum": 0.9} if optimizer == "SGD" else {}
        update = getattr(torch.optim, optimizer)(model.parameters(), lr=1e-2, **options)
        x, target = torch.randn(600, 100), torch.randint(0, 10, (600,))
        losses = []
        for _ in range(3):
            update.zero_grad()
            loss = F.cross_entropy(model(F.dropout(x, 0.1)), target)
            loss.backward()
            update.step()
            losses.append(loss.item())
        assert losses[-1] < losses[0]
        return [bits(p) for p in model.parameters()] + losses

    first = train(1)
    assert all(train(count) == first for count in COUNTS[1:])


def test_random_numbers():
    def drawn(count):
        torch.set_num_threads(count)
        torch.manual_seed(3)
        return [
            bits(torch.randn(300_001)),
            bits(torch.rand(200_003)),
            bits(torch.randperm(100_003)),
        ]

    first = drawn(1)
    assert all(drawn(count) == first for count in COUNTS[1:])
