"""Programs on a GPU beyond operators: on "cuda" and with "cuda" as the default device."""

import numpy as np
import pytest

import autograd_cy as ag
from autograd_cy import nn
from autograd_cy.utils.data import DataLoader, TensorDataset, WeightedRandomSampler, random_split


@pytest.fixture(scope="module", autouse=True)
def generator():
    """The default generator is there for good."""
    ag.rand(1, device="cuda")


@pytest.fixture
def default():
    """Make "cuda" the default device, as many programs do."""
    ag.set_default_device("cuda")
    yield
    ag.set_default_device(None)


def test_a_module_that_was_used_moves_and_learns():
    """Its graph of before is alive, and with it the accumulators of its parameters."""
    w = ag.ones(2, requires_grad=True)
    before = (w * 2).sum()
    w.data = w.data.cuda()
    (w * 3).sum().backward()
    assert w.grad.device == w.device
    assert w.grad.tolist() == [3.0, 3.0]
    del before
    with pytest.warns(FutureWarning, match="weight_norm"):
        module = nn.utils.weight_norm(nn.Linear(3, 2))  # computes its weight at once
    module.cuda()(ag.ones(1, 3, device="cuda")).sum().backward()
    assert module.weight_v.grad.is_cuda


@pytest.mark.parametrize("shape", [(3, 3), (3, 4), (4, 3)])
@pytest.mark.parametrize("orthogonal_map", ["matrix_exp", "cayley", "householder"])
def test_orthogonal_weights(shape, orthogonal_map):
    derivatives = []
    for place in ("cpu", "cuda"):
        ag.manual_seed(0)
        linear = nn.Linear(*shape).to(place)
        module = nn.utils.parametrizations.orthogonal(linear, orthogonal_map=orthogonal_map)
        x = ag.arange(float(shape[0]), device=place).unsqueeze(0)
        (module(x) ** 2).sum().backward()
        module.weight = module.weight.detach()
        assert module.weight.device.type == place
        derivatives.append(module.parametrizations.weight.original.grad.cpu())
    ag.testing.assert_close(*derivatives, rtol=1e-3, atol=1e-4)


def test_lobpcg_of_two_matrices():
    a, b = ag.diag(ag.arange(1.0, 13.0)), 2 * ag.eye(12)
    values, vectors = ag.lobpcg(a.cuda(), k=2, B=b.cuda())
    assert vectors.is_cuda
    ag.testing.assert_close(values.cpu(), ag.tensor([6.0, 5.5]))


@pytest.mark.parametrize("name", ["orthogonal_", "trunc_normal_", "normal_", "sparse_"])
def test_first_values_by_a_generator_of_the_gpu(name):
    options = {"sparsity": 0.3} if name == "sparse_" else {}
    found = []
    for place in ("cpu", "cuda", "cuda"):
        source = ag.Generator(place).manual_seed(3)
        w = ag.empty(4, 3, device=place)
        getattr(nn.init, name)(w, generator=source, **options)
        found.append(w.cpu())
    ag.testing.assert_close(found[0], found[1])
    assert ag.equal(found[1], found[2])


@pytest.mark.parametrize("index", [None, 0, 1])
def test_files_are_read_by_functions_that_move_storages(index, tmp_path):
    path = tmp_path / "weights"
    ag.save({"w": ag.arange(3.0), "on": ag.arange(2.0, device="cuda:1")}, path)
    found = ag.load(path, map_location=lambda storage, location: storage.cuda(index))
    assert found["w"].device == found["on"].device == ag.device("cuda", index or 0)
    assert (found["w"].tolist(), found["on"].tolist()) == ([0.0, 1.0, 2.0], [0.0, 1.0])
    found = ag.load(path, map_location=lambda storage, location: storage.cpu())
    assert (found["w"].device.type, found["on"].tolist()) == ("cpu", [0.0, 1.0])


@pytest.mark.parametrize("kind", ["untyped_storage", "storage"])
def test_storages_move(kind):
    x = ag.arange(3.0)
    here = getattr(x, kind)()
    there = here.cuda(1)
    assert (there.is_cuda, there.get_device(), len(there)) == (True, 1, len(here))
    assert there.cuda(ag.device("cuda:1")) is there
    assert here.cpu() is here.to(device="cpu") is here
    assert (here.is_cuda, here.get_device()) == (False, -1)
    assert there.to(device="cpu", non_blocking=True).tolist() == here.tolist()
    assert there.cuda().get_device() == 0


@pytest.mark.usefixtures("default")
class TestDefaultDevice:
    def test_sequences(self):
        rnn = nn.utils.rnn
        packed = rnn.pack_sequence([ag.ones(3, 1), ag.ones(2, 1)])
        assert packed.data.is_cuda
        packed = rnn.pack_padded_sequence(ag.ones(3, 2, 1), [3, 2])
        out, _ = nn.LSTM(1, 2)(packed)
        padded, lengths = rnn.pad_packed_sequence(out)
        assert padded.is_cuda
        assert (lengths.tolist(), lengths.device.type) == ([3, 2], "cpu")

    def test_loaders(self):
        data = TensorDataset(ag.arange(10.0))
        source = ag.Generator("cuda")
        part, _ = random_split(data, [7, 3], generator=source)
        seen = [x for (x,) in DataLoader(part, 2, shuffle=True, generator=source)]
        assert all(x.is_cuda for x in seen)
        assert sum(len(x) for x in seen) == 7
        assert len(list(WeightedRandomSampler([0.1, 0.9], 3))) == 3
        assert [x.tolist() for x in DataLoader(np.arange(3), 2)] == [[0, 1], [2]]

    @pytest.mark.parametrize("name", ["orthogonal_", "sparse_", "trunc_normal_", "eye_"])
    def test_first_values(self, name):
        w = ag.empty(4, 3)
        getattr(nn.init, name)(w, **({"sparsity": 0.3} if name == "sparse_" else {}))
        assert w.is_cuda
        assert w.isfinite().all()

    @pytest.mark.parametrize("options", [{}, {"fast_mode": True}, {"check_batched_grad": True}])
    def test_checks_of_gradients(self, options):
        x = ag.tensor([1.0, 2.0], dtype=ag.float64, requires_grad=True)
        assert ag.autograd.gradcheck(lambda x: x.sin() * 1j, (x,), **options)
        assert ag.autograd.gradgradcheck(ag.sin, (x,))

    def test_a_rate_that_is_a_tensor(self):
        x = ag.ones(2, requires_grad=True)
        optimizer = ag.optim.SGD([x], lr=ag.tensor(0.5))
        schedule = ag.optim.lr_scheduler.StepLR(optimizer, 1)
        x.sum().backward()
        optimizer.step()
        schedule.step()
        assert x.tolist() == [0.5, 0.5]
        assert optimizer.param_groups[0]["lr"].item() == pytest.approx(0.05)


def test_the_cost_of_the_host_is_measured(monkeypatch, capsys):
    from benchmarks.programs import gpu_host

    monkeypatch.setattr("sys.argv", ["gpu_host", "--quick"])
    gpu_host.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(gpu_host.cases("cuda"))
    assert all(
        float(number) > 0 for line in lines[1:] for number in line.split("ns")[0].split()[-1:]
    )
