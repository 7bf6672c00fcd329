"""Options, refusals and rarer forms of the era's tensors, modules and data sets."""

import io
import math
import os
import pickle
import tempfile
import zipfile

import numpy as np
import pytest

import autograd_cy as ag
import autograd_cy.legacy as torch
from autograd_cy.legacy import nn, optim
from autograd_cy.legacy.autograd import Variable, gradcheck
from autograd_cy.legacy.autograd.gradcheck import zero_gradients
from autograd_cy.legacy.nn import functional as F
from autograd_cy.legacy.utils.data import DataLoader, Dataset, sampler


@pytest.fixture
def x():
    return torch.FloatTensor([[1, 2, 3], [4, 5, 6]])


def doubles(*size):
    torch.manual_seed(len(size))
    return Variable(torch.randn(*size).double(), requires_grad=True)


def test_gradients_of_nested_variables_become_zeros_and_others_are_left():
    a, b = doubles(2), doubles(3)
    a.sum().backward()
    zero_gradients([a, (b, torch.ones(2)), [], 3, None])
    assert a.grad.data.tolist() == [0, 0] and b.grad is None


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda: nn.Conv2d(2, 2, 2, bias=False), (1, 2, 3, 3)),
        (lambda: nn.Conv2d(2, 2, 2, bias=False, dilation=2, padding=1), (1, 2, 3, 3)),
        (lambda: nn.ConvTranspose2d(2, 2, 2, stride=2, bias=False, padding=2), (1, 2, 3, 3)),
        (lambda: nn.BatchNorm1d(3, affine=False), (4, 3)),
        (lambda: nn.Linear(3, 2, bias=False), (4, 3)),
        (lambda: nn.Hardtanh(-0.4, 0.3), (4, 3)),
        (lambda: nn.Softmin(), (2, 3)),
        (lambda: nn.LogSoftmax(), (3, 2, 2)),
        (lambda: nn.RNN(3, 2, bias=False, bidirectional=True), (3, 2, 3)),
        (lambda: nn.ELU(0.7), (4, 3)),
        (lambda: nn.Threshold(0.1, 20), (4, 3)),
        (lambda: nn.PReLU(3), (2, 3)),
    ],
)
def test_gradients_agree_with_differences(make, size):
    module = make().double()

    def compute(input):
        found = module(input)
        return found[0] if isinstance(found, tuple) else found

    assert gradcheck(compute, [doubles(*size)])


def test_functions_without_a_method_are_differentiated_by_the_core():
    v, w = doubles(3, 3), doubles(3, 3)
    for call in (
        lambda a: torch.cumsum(a, 1),
        lambda a: torch.cumprod(a, 0),
        lambda a: torch.trace(a),
        lambda a: torch.cross(a, w),
        lambda a: torch.atan2(w, a),
    ):
        assert gradcheck(call, [v])
    assert torch.trace(v).size() == (1,)
    with pytest.raises(RuntimeError, match="inconsistent tensor sizes"):
        torch.atan2(v, doubles(3))


def test_cells_without_bias_have_gradients_of_their_weights():
    cell = nn.LSTMCell(3, 2, bias=False).double()
    h, c = cell(doubles(4, 3), (doubles(4, 2), doubles(4, 2)))
    (h + c).sum().backward()
    assert [p.grad.size() for p in cell.parameters()] == [(8, 3), (8, 2)]
    assert repr(cell) == "LSTMCell(3, 2, bias=False)"


def test_recurrent_layers_show_their_options_and_list_their_weights():
    layer = nn.GRU(3, 2, num_layers=2, batch_first=True, bidirectional=True, dropout=0.5)
    assert repr(layer) == (
        "GRU(3, 2, num_layers=2, batch_first=True, dropout=0.5, bidirectional=True)"
    )
    assert [len(part) for part in layer.all_weights] == [4] * 4
    out, last = layer(Variable(torch.ones(5, 4, 3)))
    assert out.size() == (5, 4, 4) and last.size() == (4, 5, 2)
    for kind, error in ((nn.RNN, ValueError), (nn.RNNCell, RuntimeError)):
        with pytest.raises(error, match="Unknown nonlinearity"):
            kind(2, 2, nonlinearity="sin")


def test_modules_show_their_options():
    for module, text in (
        (
            nn.Conv2d(2, 4, 3, 1, 1, 2, 2),
            "Conv2d(2, 4, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), dilation=(2, 2), "
            "groups=2)",
        ),
        (nn.MaxPool2d(2), "MaxPool2d (size=(2, 2), stride=(2, 2), dilation=(1, 1))"),
        (
            nn.AvgPool1d(3, 1),
            "AvgPool1d (size=(3,), stride=(1,), padding=(0,), ceil_mode=False, "
            "count_include_pad=True)",
        ),
        (nn.AvgPool2d(3, 1), "AvgPool2d (\n)"),
        (nn.Hardtanh(), "Hardtanh (min_val=-1, max_val=1)"),
        (nn.Threshold(1, 0, True), "Threshold (1, 0, inplace)"),
        (nn.PReLU(2), "PReLU (2)"),
        (nn.ELU(2), "ELU (alpha=2)"),
        (nn.Embedding(3, 2, padding_idx=1), "Embedding(3, 2, padding_idx=1)"),
        (nn.ModuleList(), "ModuleList (\n)"),
        (nn.LeakyReLU(0.2, inplace=True), "LeakyReLU (0.2, inplace)"),
        (nn.Softshrink(), "Softshrink (0.5)"),
        (nn.Dropout2d(), "Dropout2d (p=0.5)"),
        (nn.Tanh(), "Tanh ()"),
        (nn.MSELoss(), "MSELoss (\n)"),
        (nn.UpsamplingNearest2d(scale_factor=2), "UpsamplingNearest2d (scale_factor=2)"),
        (nn.LPPool2d(2, 3), "LPPool2d (2, size=3, stride=None, ceil_mode=False)"),
    ):
        assert repr(module) == text


def test_a_tensor_and_a_variable_do_not_multiply():
    x = torch.ones(2)
    for one, other in ((x, Variable(x)), (Variable(x), x)):
        with pytest.raises(TypeError):
            one @ other


def test_what_the_modern_api_asks_of_a_variable_names_its_data():
    x = Variable(torch.ones(2, 3))
    for name in ("ndim", "shape", "grad_fn"):
        assert not hasattr(x, name)
        with pytest.raises(AttributeError, match=f"no attribute '{name}'.*variable.data"):
            getattr(x, name)
        assert name not in dir(x)
        assert not hasattr(Variable, name)
    x.name = "input"  # a program's own attributes may have any name
    assert x.name == "input"
    with pytest.raises(AttributeError, match="weights"):
        _ = x.weights


def test_sums_with_products_keep_the_rules_of_sizes_and_types():
    m, row = Variable(torch.ones(2, 2), requires_grad=True), Variable(torch.ones(1, 2))
    assert m.addmm(m, m).data.tolist() == [[3, 3], [3, 3]]
    assert m.addmm(2, m, m).data.tolist() == [[4, 4], [4, 4]]
    assert m.addmm(2, 3, m, m).data.tolist() == [[8, 8], [8, 8]]
    with pytest.raises(RuntimeError):  # nothing is broadcast
        row.addmm(m, m)
    with pytest.raises(RuntimeError):
        m.addmm(m, Variable(torch.ones(3, 2)))
    with pytest.raises(TypeError, match="types don't mix|invalid combination"):
        m.addmm(m, Variable(torch.ones(2, 2).double()))
    long = Variable(torch.ones(2, 2).long())
    assert long.addmm(long, long).data.tolist() == [[3, 3], [3, 3]]


def test_slices_of_variables_keep_the_words_of_the_era():
    x = Variable(torch.range(1, 6).view(2, 3), requires_grad=True)
    assert x[0:1].size() == (1, 3) and x[:, 1].data.tolist() == [2, 5]
    assert x[1, 2].size() == (1,) and x[1, 0:2].data.tolist() == [4, 5]
    for key, error, words in (
        ((0, 0, 0), IndexError, "trying to index 3 dimensions of a 2 dimensional tensor"),
        ((slice(None), 5), IndexError, "out of range for dimension 1"),
        (slice(2, 2), ValueError, "empty tensor"),
        ((0, slice(1, 1)), ValueError, "empty tensor"),
        ((0, True), TypeError, "only supported types"),
    ):
        with pytest.raises(error, match=words):
            x[key]
    y = x * 1
    part = y[0:1]
    with pytest.raises(RuntimeError, match="share storage"):
        y.add_(1)
    (part * 2).sum().backward()
    assert x.grad.data.tolist() == [[2, 2, 2], [0, 0, 0]]


def test_inplace_hardtanh_moves_the_variable():
    v = Variable(torch.FloatTensor([-3, 0.5, 3]), requires_grad=True)
    y = v * 1
    assert F.hardtanh(y, -1, 2, inplace=True) is y and y.data.tolist() == [-1, 0.5, 2]
    y.sum().backward()
    assert v.grad.data.tolist() == [0, 1, 0]
    with pytest.raises(RuntimeError, match="requires value"):
        F.threshold(v, 0, 1, inplace=True)
    with pytest.raises(ValueError, match="between 0 and 1"):
        F.dropout(v, 2)
    with pytest.raises(ValueError, match="must be above"):
        nn.Hardtanh(1, 0)
    with pytest.raises(TypeError, match="takes at most 2"):
        nn.ELU(1, False, 3)
    with pytest.raises(TypeError, match="no argument 'beta'"):
        nn.ELU(beta=1)


def test_modules_take_attributes_in_any_order():
    class Net(nn.Container):
        pass

    net = Net(a=nn.Linear(2, 2), b=None)
    assert [name for name, _ in net.named_children()] == ["a"]
    net.a = None
    net.register_buffer("mean", torch.ones(2))
    net.mean = torch.zeros(2)
    assert net.state_dict()["mean"].sum() == 0 and "mean" in dir(net)
    del net.mean
    with pytest.raises(AttributeError):
        del net.mean
    net.add_module("c", nn.ReLU())
    with pytest.raises(KeyError, match="already exists"):
        net.add_module("forward", nn.ReLU())
    with pytest.raises(TypeError, match="not a Module subclass"):
        net.add_module("d", 3)
    with pytest.raises(NotImplementedError, match="Net has no forward"):
        net(1)
    p = nn.Parameter(torch.ones(1))
    p._maker = (p * 2).creator
    with pytest.raises(ValueError, match="Cannot assign non-leaf"):
        net.register_parameter("p", p)
    seen = []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["ReLU", "Net"] and net.cpu() is net
    net.c.register_parameter("w", nn.Parameter(torch.ones(1)))
    assert net.half().c.w.data.type() == "torch.HalfTensor"
    assert net.float().c.w.data.type() == "torch.FloatTensor"
    assert net.type("torch.DoubleTensor").c.w.data.type() == "torch.DoubleTensor"
    assert nn.Parameter().data.numel() == 0

    class Early(nn.Module):
        def __init__(self):
            self.p = nn.Parameter(torch.ones(1))

    with pytest.raises(AttributeError, match="before Module"):
        Early()


def test_conversions_take_gradients_along():
    layer = nn.Linear(2, 1)
    layer(Variable(torch.ones(1, 2))).sum().backward()
    layer.double()
    assert layer.weight.grad.data.type() == "torch.DoubleTensor"


def test_backward_hooks_of_modules_find_a_variable_in_what_forward_returns():
    class Pair(nn.Module):
        def forward(self, v):
            return [(v * 2, v)]

    seen = []
    module = Pair()
    module.register_backward_hook(lambda m, gi, go: seen.append(go[0].data.tolist()))
    module(Variable(torch.ones(1), requires_grad=True))[0][0].backward()
    assert seen == [[1.0]]

    class Nothing(nn.Module):
        def forward(self):
            return []

    silent = Nothing()
    silent.register_backward_hook(lambda *_: None)
    assert silent() == []


def test_parameter_lists_index_and_grow():
    params = nn.ParameterList([nn.Parameter(torch.ones(1))])
    params.append(nn.Parameter(torch.zeros(1)))
    params[0] = nn.Parameter(torch.ones(3))
    assert len(params) == 2 and [p.numel() for p in params] == [3, 1] and params[-1].numel() == 1
    assert len(list(nn.Sequential(nn.ReLU(), nn.Tanh()))) == 2


def test_grad_modes_of_the_modern_api_have_no_effect():
    layer = nn.Linear(2, 1)
    with ag.no_grad():
        out = F.softplus(layer(Variable(torch.ones(1, 2))))
    out.backward()
    assert out.requires_grad and layer.weight.grad is not None


def test_what_several_arguments_need_is_computed_alone():
    a, b = doubles(3, 2), Variable(torch.ones(3, 2).double())
    F.pairwise_distance(a, b).sum().backward()
    assert a.grad is not None and b.grad is None
    values, places = F.max_pool1d(doubles(1, 1, 4), 2, return_indices=True)
    assert values.requires_grad and not places.requires_grad
    with pytest.raises(RuntimeError, match=r"conv1d: expected 3 dimensions"):
        F.conv1d(doubles(2, 2), doubles(1, 1, 1))


def test_optimizers_without_a_step_and_with_strange_states_say_so():
    p = nn.Parameter(torch.ones(1))
    p.sum().backward()
    with pytest.raises(NotImplementedError, match="Optimizer has no step"):
        optim.Optimizer([p], {}).step()
    one, two = optim.SGD([p], lr=1), optim.SGD([{"params": p}, {"params": []}], lr=1)
    with pytest.raises(ValueError, match="different number of parameter groups"):
        one.load_state_dict(two.state_dict())
    assert "required parameter" in repr(optim.optimizer.required)
    assert nn.utils.clip_grad_norm([nn.Parameter(torch.ones(1))], 1) == 0


def test_data_sets_and_samplers_must_be_filled_in():
    for thing, calls in (
        (Dataset(), (lambda d: d[0], len)),
        (sampler.Sampler(None), (iter, len)),
    ):
        for call in calls:
            with pytest.raises(NotImplementedError, match="has no __"):
                call(thing)
    (batch,) = DataLoader([np.float32(1), np.float32(2)], batch_size=2)
    assert batch.type() == "torch.FloatTensor"


def test_storages_cut_and_copy():
    storage = torch.FloatStorage(3).fill_(2)
    assert storage[0:2].tolist() == [2, 2] and storage.clone().tolist() == [2, 2, 2]
    storage[0:2] = 7
    assert repr(storage) == " 7.0\n 7.0\n 2.0\n[torch.FloatStorage of size 3]"
    assert torch.Storage is torch.FloatStorage
    with pytest.raises(RuntimeError, match="sizes differ"):
        storage.copy_(torch.FloatStorage(2))


def test_names_of_types_that_mean_nothing_are_refused(x):
    for kind in ("torch.NoTensor", "numpy.FloatTensor", 3):
        with pytest.raises(RuntimeError, match="invalid type"):
            x.type(kind)
    with pytest.raises(RuntimeError, match="no GPU"):
        x.type("torch.cuda.FloatTensor")
    assert type(x.type(ag.float64)) is torch.DoubleTensor
    assert x.is_signed() and not x.byte().is_signed() and x.get_device() == -1
    with pytest.raises(TypeError, match="expected a tensor, not list"):
        x.copy_([1])
    with pytest.raises(TypeError, match="expected a tensor or storage"):
        x.set_(torch.LongStorage(1))
    with pytest.raises(TypeError, match="is no number; index it"):
        float(x)
    with pytest.raises(TypeError, match="no tensor type of .*complex64"):
        torch.add(ag.ones(1, dtype=ag.complex64), 1)
    assert np.asarray(x, dtype="int64").dtype == np.int64
    assert f"{x}" == repr(x)


def test_numbers_show_in_the_format_that_fits():
    big = torch.FloatTensor([1e8, 2e8])
    assert repr(big).startswith("\n 1.0000e+08\n 2.0000e+08\n")
    assert repr(torch.FloatTensor([math.inf, math.nan, 1])).split()[:3] == ["inf", "nan", "1"]
    assert "1.00000e+05 *" in repr(torch.FloatTensor([100000.5, 250000.25]))
    assert repr(torch.DoubleTensor([1e-200, 1.5])).split()[0] == "1.0000e-200"
    many = repr(torch.ones(20, 10, 10))
    assert many.count("...") and "(19," not in many
    torch.set_printoptions(edgeitems=1, threshold=4, linewidth=20)
    try:
        assert repr(torch.range(1, 9).view(3, 3)) == (
            "\n  1 ...   3\n... ... ...\n  7 ...   9\n[torch.FloatTensor of size 3x3]\n"
        )
        torch.set_printoptions(profile="short")
        assert repr(torch.FloatTensor([0.5])) == "\n 0.50\n[torch.FloatTensor of size 1]\n"
    finally:
        torch.set_printoptions(profile="default")


def test_reflected_and_rarer_operators(x):
    assert (10 - x).tolist()[0] == [9, 8, 7] and (2**x).tolist()[0] == [2, 4, 8]
    assert (-x).tolist()[0] == [-1, -2, -3] and abs(-x).equal(x)
    x %= 4
    assert x.tolist() == [[1, 2, 3], [0, 1, 2]]
    assert x.clamp_min(1).min() == 1 and x.clamp_max(1).max() == 1
    assert x.clone().clamp_min_(1).min() == 1 and x.clone().clamp_max_(1).max() == 1
    assert x.max(torch.ones(2, 3)).min() == 1 and x.cmax(1).min() == 1 and x.cmin(1).max() == 1
    assert x.clone().lerp_(x + 2, 0.5).equal(x + 1) and x.clone().atan2_(x + 1).max() < 1
    assert x.clone().eq_(1).sum() == 2
    for call in (lambda: "a" + x, lambda: "a" - x, lambda: [1] / x, lambda: "a" ** x):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="at least one of min and max"):
        x.clamp()
    with pytest.raises(RuntimeError, match="ByteTensors only"):
        ~x
    with pytest.raises(TypeError, match="scale,"):
        x.add(x, 2)
    with pytest.raises(TypeError, match="scale,"):
        x.addcmul(x)
    with pytest.raises(TypeError, match="alpha"):
        x.addmm("a", x, x)
    with pytest.raises(RuntimeError, match="expected tensors of 2 and 2"):
        x.addmm(x[0], x)
    for bad, words in (
        (torch.ones(2, 2), "inconsistent"),
        (torch.ones(2, 3), "does not have size 3"),
    ):
        with pytest.raises(RuntimeError, match=words):
            x.cross(bad, 0)
    with pytest.raises(RuntimeError, match="no dimension of size 3"):
        torch.ones(2, 2).cross(torch.ones(2, 2))
    with pytest.raises(TypeError, match="doesn't implement stateless method floor_"):
        x.long().floor_()


def test_a_default_dtype_that_had_no_type_is_refused():
    ag.set_default_dtype(ag.bfloat16)
    try:
        with pytest.raises(TypeError, match="no tensor type"):
            torch.ones(2)
        with pytest.raises(TypeError, match="no tensor type"):
            torch.Tensor
    finally:
        ag.set_default_dtype(ag.float32)


def test_keys_of_many_kinds(x):
    assert x[..., 0].tolist() == [1, 4] and x[None].size() == (1, 2, 3)
    assert x[np.int64(1), -1] == 6 and x[1:, ::2].tolist() == [[4, 6]]
    assert x.index(torch.LongTensor([1])).tolist() == [[4, 5, 6]]
    assert [row.tolist() for row in reversed(x)] == [[4, 5, 6], [1, 2, 3]]
    x._set_index((0, 0), 9)
    x[torch.LongTensor([1])] = 0
    assert x.tolist() == [[9, 2, 3], [0, 0, 0]]
    for bad in (x.double(), True):
        with pytest.raises(TypeError, match="indexing a tensor with an object of type"):
            x[bad]
    with pytest.raises(TypeError, match="indexing a tensor"):
        x[x] = 1
    with pytest.raises(IndexError, match="indexing an empty tensor"):
        torch.Tensor()[0]
    with pytest.raises(TypeError, match="types don't mix"):
        x[0] = torch.ones(3).long()


def test_fillings_refuse_what_is_no_number(x):
    with pytest.raises(TypeError, match="expected a number"):
        x.fill_(x)
    with pytest.raises(TypeError, match="holds no fractions"):
        x.long().fill_(0.5)
    assert x.random_(5, 6).min() == 5 and x.zero_().sum() == 0
    with pytest.raises(TypeError, match="doesn't implement stateless method normal_"):
        x.long().normal_()


def test_wide_least_squares_fit_exactly():
    a, b = torch.randn(2, 4).double(), torch.ones(2, 1).double()
    assert (a.mm(torch.gels(b, a)[0]) - b).abs().max() < 1e-9
    with pytest.raises(RuntimeError, match="tensor of 3 dimensions|expected a matrix"):
        torch.ones(1, 1, 1).inverse()


def test_rows_are_needed_for_fans_and_names_for_functions():
    with pytest.raises(ValueError, match="2 dimensions"):
        nn.init.eye(torch.Tensor(2))
    with pytest.raises(ValueError, match="2 or more"):
        nn.init.orthogonal(torch.Tensor(2))
    with pytest.raises(ValueError, match="2 dimensions"):
        nn.init.sparse(torch.Tensor(2), 0.5)
    with pytest.raises(TypeError, match="needs a tensor or a Variable"):
        torch.add()
    with pytest.raises(RuntimeError, match="at least one dimension"):
        torch.from_numpy(np.array(1.0))
    with pytest.raises(RuntimeError, match="no tensor type for arrays of complex"):
        torch.from_numpy(np.ones(1, "complex64"))
    with pytest.raises(TypeError, match="a tensor of means"):
        torch.normal(1, 2)
    with pytest.raises(TypeError, match="expected a tensor"):
        torch.exp([1])


def test_memory_is_shared_through_a_file_where_there_is_no_other_way(monkeypatch):
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", None)
    x = torch.range(0, 3).share_memory_()
    assert x.is_shared() and x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["Byte", "Char", "Short", "Int", "Long"])
@pytest.mark.parametrize("p", [1e-300, 5e-324])
def test_waits_that_integers_cannot_count_end_at_their_largest_number(name, p):
    x = getattr(torch, f"{name}Tensor")(50).geometric_(p)
    most = {"Byte": 255, "Char": 127, "Short": 32767, "Int": 2**31 - 1, "Long": 2**63 - 1024}[name]
    assert set(x.tolist()) == {most}
    few = getattr(torch, f"{name}Tensor")(500).geometric_(0.9)
    assert few.min() == 1 and few.max() < 20


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ((0, math.inf), "range: unsupported range: 0 -> inf"),
        ((-math.inf, 0), "range: unsupported range: -inf -> 0"),
        ((0, math.nan), "range: unsupported range: 0 -> nan"),
        ((0, 1, math.nan), "by nan"),
        ((0, 1e30), "too many elements"),
    ],
)
def test_ranges_without_an_end_are_refused(args, words):
    with pytest.raises(RuntimeError, match=words):
        torch.range(*args)


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize(
    "name", ["eig", "symeig", "svd", "qr", "geqrf", "inverse", "potrf", "potri", "pstrf"]
)
def test_decompositions_name_themselves_where_they_refuse_nan(name, value, capfd):
    pytest.importorskip("scipy")
    x = torch.eye(3)
    x[1][2] = value
    with pytest.raises(RuntimeError, match=f"^{name}: the torch.FloatTensor must not contain infs"):
        getattr(x, name)()
    assert capfd.readouterr() == ("", "")  # LAPACK wasn't called


@pytest.mark.parametrize("name", ["gels", "trtrs", "potrs"])
def test_solvers_name_themselves_where_they_refuse_nan(name):
    pytest.importorskip("scipy")
    x = torch.eye(3)
    x[1][2] = math.nan
    with pytest.raises(RuntimeError, match=f"^{name}: the torch.FloatTensor must not contain infs"):
        getattr(torch.ones(3, 1), name)(x)


def test_damaged_files_are_unpickling_errors():
    file = io.BytesIO()
    torch.save({"weight": torch.ones(2, 3)}, file)
    whole = file.getvalue()
    broken = [whole[:n] for n in range(len(whole))]
    for place in range(len(whole)):
        broken += [whole[:place] + bytes([b]) + whole[place + 1 :] for b in (0x80 | whole[place],)]
    kinds = set()
    for damaged in broken:
        try:
            torch.load(io.BytesIO(damaged))
        except Exception as error:
            kinds.add(type(error))
    # A size that became negative is noticed by the tensor.
    said = {kind for kind in kinds if issubclass(kind, pickle.UnpicklingError)}
    assert said and kinds - said <= {RuntimeError}
    renamed = io.BytesIO()
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(renamed, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, data.replace(b"FloatTensor", b"FlootTensor"))
    renamed.seek(0)
    with pytest.raises(pickle.UnpicklingError, match="names what is not here: .*FlootTensor"):
        torch.load(renamed)
