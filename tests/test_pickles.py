"""Public objects come back the same from pickle, copy and files, whatever name they are found by.

Functions and classes are themselves; tensors of every layout, modules, optimizers, schedules and
data keep what they hold. All are made from the lists of public names and from signatures.
"""

import copy
import importlib
import inspect
import io
import pickle
import types

import pytest
from grouping import each

import autograd_cy as ag
from autograd_cy import distributions, nn, optim
from autograd_cy.distributions.constraint_registry import ConstraintRegistry
from autograd_cy.utils import data

PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


def saved(x):
    file = io.BytesIO()
    ag.save(x, file)
    file.seek(0)
    return ag.load(file, weights_only=False)


def pickled(protocol):
    return lambda x: pickle.loads(pickle.dumps(x, protocol))


WAYS = {f"pickle {p}": pickled(p) for p in PROTOCOLS} | {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "save": saved,
}
DEEP = {name: way for name, way in WAYS.items() if name != "copy"}


# --- functions, classes and constants ---------------------------------------------------------


def public_objects():
    """(name, object) of all lines of public_names.txt; what an optional part lacks is left out."""
    from pathlib import Path

    section = ""
    for line in (Path(__file__).parent / "public_names.txt").read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
            owner = (
                ag.Tensor if section == "autograd_cy.Tensor" else importlib.import_module(section)
            )
        for name in [] if line.startswith("[") else line.split():
            yield f"{section}.{name}", getattr(owner, name)


# Descriptors of attributes can't be pickled in Python.
ATTRIBUTES = (property, types.GetSetDescriptorType, types.MemberDescriptorType, types.ModuleType)


def test_public_names_come_back_as_themselves():
    lost, count = [], 0
    for name, value in public_objects():
        if isinstance(value, ATTRIBUTES) or value != value:
            continue
        if isinstance(value, ag.Generator):
            continue  # a state, which test_generators_go_on_where_they_were compares
        if isinstance(value, (ConstraintRegistry, distributions.Transform)):
            continue  # equal ones: test_transforms_come_back_with_what_they_find
        itself = callable(value) or type(value).__module__.startswith("autograd_cy")
        count += 1
        for way, again in WAYS.items():
            try:
                found = again(value)
                if found is not value if itself else found != value:
                    lost.append(f"{name}, {way}: {found!r}")
            except Exception as error:
                lost.append(f"{name}, {way}: {type(error).__name__}: {error}")
    assert not lost, "\n".join(lost)
    assert count > 1500


@each("again", [pytest.param(way, id=name) for name, way in DEEP.items()])
def test_transforms_come_back_with_what_they_find(again):
    assert again(distributions.identity_transform) == distributions.identity_transform
    constraints = distributions.constraints
    kinds = [
        *(constraints.real, constraints.positive, constraints.less_than(2.0)),
        *(constraints.unit_interval, constraints.interval(-1.0, 2.0), constraints.simplex),
        *(constraints.real_vector, constraints.independent(constraints.positive, 1)),
        constraints.cat([constraints.real, constraints.positive], 0, [2, 1]),
        constraints.stack([constraints.positive, constraints.real, constraints.real], 0),
        constraints.corr_cholesky,
    ]
    own = ConstraintRegistry()
    x = ag.tensor([0.5, -1.0, 0.25])
    for registry in (distributions.biject_to, distributions.transform_to):
        found = again(registry)
        assert type(found) is type(own) and found is not registry
        assert found._registry.keys() == registry._registry.keys()
        for kind in kinds:
            assert found(kind)(x).tolist() == registry(kind)(x).tolist(), kind
        # What parts are found by is the one that came back.
        found.register(constraints.positive, registry._registry[type(constraints.real)])
        assert found(constraints.independent(constraints.positive, 1))(x).tolist() == x.tolist()


def test_functions_name_the_module_where_programs_find_them():
    for f in (nn.functional.mish, nn.functional.relu, nn.functional.batch_norm):
        assert (f.__module__, f.__qualname__) == ("autograd_cy.nn.functional", f.__name__)
    assert (ag.atleast_1d.__module__, ag.atleast_1d.__qualname__) == ("autograd_cy", "atleast_1d")
    assert ag.Tensor.float.__qualname__ == "Tensor.float"


def test_functions_that_modules_keep_come_back():
    layer = nn.TransformerEncoderLayer(4, 2, activation=nn.functional.mish)
    layer.own = ag.Tensor.unique
    again = saved(layer)
    assert again.activation is nn.functional.mish and again.own is ag.Tensor.unique


# --- tensors ----------------------------------------------------------------------------------

LAYOUTS = {
    "plain": lambda d: ag.ones(2, 3, dtype=d),
    "transposed": lambda d: ag.ones(2, 3, dtype=d).t(),
    "strided": lambda d: ag.ones(4, 6, dtype=d)[1::2, ::3],
    "offset": lambda d: ag.ones(8, dtype=d)[3:],
    "expanded": lambda d: ag.ones(3, 1, dtype=d).expand(3, 4),
    "overlapping": lambda d: ag.ones(5, dtype=d).as_strided((3, 3), (1, 1)),
    "channels last": lambda d: ag.ones(2, 3, 4, 5, dtype=d).to(memory_format=ag.channels_last),
    "number": lambda d: ag.ones((), dtype=d),
    "empty": lambda d: ag.ones(0, dtype=d),
    "empty rows": lambda d: ag.ones(0, 5, 16, dtype=d),
    "empty view with an offset": lambda d: ag.ones(0, 5, 16, dtype=d)[:, :, 8:],
    "empty view of elements": lambda d: ag.ones(4, dtype=d)[4:],
    "empty view within": lambda d: ag.ones(4, 4, dtype=d)[2:2, 1:],
    "empty and strided": lambda d: ag.ones(0, 5, 6, dtype=d)[:, 1::2].transpose(1, 2)[..., 1:],
    "empty and expanded": lambda d: ag.ones(0, 1, dtype=d).expand(0, 4)[:, 2:],
    "meta": lambda d: ag.ones(2, 3, dtype=d, device="meta")[:, 1:],
}
DTYPES = [ag.bool, ag.uint8, ag.int64, ag.float16, ag.bfloat16, ag.float32, ag.complex128]


def facts(t):
    where = () if t.is_meta else (t.storage_offset(),)
    return t.shape, t.stride(), t.dtype, t.device, t.requires_grad, type(t), *where


def same_values(a, b):
    return a.is_meta or a.tolist() == b.tolist()


@each("layout", sorted(LAYOUTS))
def test_tensors_keep_values_sizes_strides_and_offset(layout):
    for dtype in DTYPES:
        t = LAYOUTS[layout](dtype)
        for way, again in WAYS.items():
            found = again(t)
            if way == "deepcopy" and layout == "overlapping":
                assert same_values(found, t)
                continue
            assert facts(found) == facts(t), (way, dtype)
            assert same_values(found, t), (way, dtype)
            assert found.nelement() == 0 or t.is_meta or (
                (found.data_ptr() == t.data_ptr()) == (way == "copy")
            )  # fmt: skip


@each("layout", [n for n in sorted(LAYOUTS) if n.startswith("empty")])
def test_empty_tensors_that_come_back_can_be_used(layout):
    for again in DEEP.values():
        found = again(LAYOUTS[layout](ag.float32))
        assert (found + 1).shape == found.shape and found.sum() == 0
        if not found.untyped_storage().nbytes():
            found.resize_(3).fill_(2)
            assert found.tolist() == [2.0] * 3


def test_views_of_one_memory_share_it_again():
    x = ag.zeros(0, 4)
    y = ag.zeros(6)
    several = {"a": y, "b": y[2:4], "c": y[6:], "d": x, "e": x[:, 2:]}
    for again in DEEP.values():
        found = again(several)
        found["a"].fill_(5)
        assert found["b"].tolist() == [5, 5]
        assert found["c"].storage_offset() == 6 and found["e"].storage_offset() == 2


def test_a_forged_offset_of_an_empty_tensor_is_refused():
    make, args = ag.zeros(0).__reduce_ex__(4)
    for offset in (-1, 2**62):
        with pytest.raises(RuntimeError, match="not a tensor|does not fit"):
            make(*args[:3], offset, *args[4:])


class Own(ag.Tensor):
    pass


def test_tensors_of_other_classes_and_bits_keep_them():
    z = ag.tensor([1 + 2j, 3j])
    own = ag.ones(2).as_subclass(Own)
    own.note = "kept"
    for t in (own, z.conj(), z.conj().imag, ag.ones(2, requires_grad=True)):
        for again in WAYS.values():
            found = again(t)
            assert facts(found) == facts(t) and same_values(found, t)
            assert (found.is_conj(), found.is_neg()) == (t.is_conj(), t.is_neg())
            assert getattr(found, "note", None) == getattr(t, "note", None)


def test_parameters_and_buffers_keep_their_attributes():
    for make, name in ((nn.Parameter, "Parameter"), (nn.Buffer, "Buffer")):
        t = make(ag.ones(2))
        t.note = ["kept"]
        for way, again in WAYS.items():
            found = again(t)
            assert type(found).__name__ == name and found.tolist() == [1, 1]
            assert found.requires_grad == t.requires_grad
            if way != "deepcopy":  # where parameters lose them in torch, too
                assert found.note == ["kept"], way
        assert all(again(make) is make for again in WAYS.values())
    assert saved(nn.Buffer(ag.ones(1), persistent=False)).persistent is False


# --- modules ----------------------------------------------------------------------------------

GIVEN = {
    "normalized_shape": (3,), "kernel_size": 2, "output_size": 4, "cutoffs": [2, 4],
    "n_classes": 6, "unflattened_size": (1, 2), "dim": 1, "mode": "LSTM", "bias": True,
    "num_heads": 2, "nhead": 2, "d_model": 4, "embed_dim": 4, "num_groups": 1, "num_layers": 1,
    "in_features": 16, "padding": 1, "value": 0.5, "threshold": 0.1, "norm_type": 2,
}  # fmt: skip
RECURRENT = {"RNN": (2, 3), "GRU": (2, 3), "LSTM": (2, 3)}


def parameters_of(cls):
    return [
        p.name
        for p in inspect.signature(cls).parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]


def made(name):
    """A layer with arguments that its signature asks for."""
    cls = getattr(nn, name)
    layer = {"Decoder": nn.TransformerDecoderLayer, "Encoder": nn.TransformerEncoderLayer}
    given = {}
    for n in parameters_of(cls):
        if n in ("decoder_layer", "encoder_layer"):
            given[n] = layer[name.removeprefix("Transformer")](4, 2, 3)
        else:
            given[n] = GIVEN.get(n, 2)
    if name == "Transformer":
        return cls(4, 2, 1, 1, 3)
    return cls(*RECURRENT.get(name, ()), **given)


LAYERS = [
    n for n in sorted(nn.__all__)
    if isinstance(getattr(nn, n), type) and issubclass(getattr(nn, n), nn.Module)
    and not n.startswith("Lazy")  # whose parameters can't be compared: nn/test_lazy_modules.py
]  # fmt: skip


@each("name", LAYERS)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_layers(name):
    layer = made(name).eval()
    layer.note = {"own": 1}
    for way, again in WAYS.items():
        found = again(layer)
        assert type(found) is type(layer) and not found.training and found.note == layer.note
        assert repr(found) == repr(layer)
        ours, theirs = found.state_dict(), layer.state_dict()
        assert list(ours) == list(theirs)
        assert all(ag.equal(x, y) for x, y in zip(ours.values(), theirs.values())), way
        assert [p.requires_grad for p in found.parameters()] == [
            p.requires_grad for p in layer.parameters()
        ]
        if way != "copy":
            shared = {p.data_ptr() for p in layer.parameters() if p.numel()}
            assert not shared & {p.data_ptr() for p in found.parameters()}


# --- optimizers and schedules -----------------------------------------------------------------

OPTIMIZERS = [n for n in optim.__all__ if inspect.isclass(getattr(optim, n)) and n != "Optimizer"]


def stepped(name):
    p = nn.Parameter(ag.tensor([[1.0, 2.0]] if name == "Muon" else [1.0, 2.0]))
    optimizer = getattr(optim, name)([p], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (p**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return p, optimizer


def plain(x):
    """Tensors as lists, in what an optimizer holds."""
    if isinstance(x, ag.Tensor):
        return x.tolist()
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    return [plain(y) for y in x] if isinstance(x, (list, tuple)) else x


@each("name", OPTIMIZERS)
def test_optimizers(name):
    p, optimizer = stepped(name)
    for again in DEEP.values():
        q, found = again((p, optimizer))
        assert type(found) is type(optimizer) and found.param_groups[0]["params"][0] is q
        assert plain(found.state_dict()) == plain(optimizer.state_dict())
        for t in (p, q):
            t.grad = ag.ones_like(t)
        if name != "LBFGS":
            twin, same = copy.deepcopy((p, optimizer))
            twin.grad = ag.ones_like(twin)
            same.step()
            found.step()
            assert q.tolist() == twin.tolist() != p.tolist()


SCHEDULES = {
    "T_max": 3, "T_0": 2, "base_lr": 0.1, "max_lr": 0.2, "gamma": 0.5, "milestones": [1],
    "step_size": 2,
}  # fmt: skip


def tenth(epoch):
    return 0.1


def schedule(name):
    cls = getattr(optim.lr_scheduler, name)
    optimizer = optim.SGD([nn.Parameter(ag.ones(1))], lr=0.5, momentum=0.9)
    steps = optim.lr_scheduler.StepLR
    given = SCHEDULES | {"optimizer": optimizer, "lr_lambda": tenth}
    given["schedulers"] = [steps(optimizer, 2), steps(optimizer, 3)] if "schedulers" in (
        parameters_of(cls)) else None  # fmt: skip
    more = {"total_steps": 9} if name == "OneCycleLR" else {}
    return cls(**{n: given[n] for n in parameters_of(cls)}, **more)


@each("name", sorted(set(optim.lr_scheduler.__all__) - {"LRScheduler"}))
@pytest.mark.filterwarnings("ignore:Detected call of", "ignore:Seems like")
def test_schedules(name):
    kept = schedule(name)
    given = (1.0,) if name == "ReduceLROnPlateau" else ()
    kept.step(*given)
    for again in DEEP.values():
        found = again(kept)
        rates = []
        for each_of in (copy.deepcopy(kept), found):
            for _ in range(4):
                each_of.step(*given)
            rates.append(each_of.get_last_lr())
        assert rates[0] == rates[1]


# --- the rest ---------------------------------------------------------------------------------


class Three(data.Dataset):
    def __len__(self):
        return 3

    def __getitem__(self, i):
        return i


class Double(ag.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, grad):
        return 2 * grad


def test_functions_contexts_and_constants():
    for value in (Double, ag.float16, ag.channels_last, ag.preserve_format, ag.strided, ag.no_grad):
        assert all(again(value) is value for again in WAYS.values())
    for value in (ag.device("cpu"), ag.device("cuda", 1), ag.Size([2, 3]), ag.finfo(ag.float32)):
        for again in WAYS.values():
            assert again(value) == value and type(again(value)) is type(value)


def test_named_results():
    x = ag.tensor([3.0, 1.0, 2.0])
    for found in (x.max(0), x.sort(), x.topk(2), ag.linalg.svd(ag.eye(2)), x.kthvalue(1)):
        for again in WAYS.values():
            other = again(found)
            assert type(other) is type(found) and plain(other) == plain(found)


def test_generators_go_on_where_they_were():
    generator = ag.Generator().manual_seed(3)
    ag.rand(5, generator=generator)
    for again in DEEP.values():
        found = again(generator)
        expected = ag.rand(3, generator=copy.deepcopy(generator))
        assert ag.rand(3, generator=found).equal(expected)


def test_data_sets_samplers_and_loaders():
    three, tensors = Three(), data.TensorDataset(ag.arange(4))
    generator = ag.Generator().manual_seed(1)
    for value in (
        three,
        tensors,
        data.ConcatDataset([three, tensors]),
        data.Subset(tensors, [0, 2]),
        data.StackDataset(tensors, tensors),
        data.SequentialSampler(three),
        data.RandomSampler(three, generator=generator),
        data.SubsetRandomSampler([1, 2], generator=generator),
        data.WeightedRandomSampler([0.5, 0.25], 4, generator=generator),
        data.BatchSampler(data.SequentialSampler(three), 2, False),
        data.DataLoader(tensors, batch_size=2, shuffle=True, generator=generator),
    ):
        for way, again in DEEP.items():
            found = again(value)
            expected = copy.deepcopy(value)
            contents = [x if not hasattr(x, "__getitem__") or isinstance(x, data.Sampler)
                        else [x[i] for i in range(len(x))] for x in (found, expected)]  # fmt: skip
            assert plain([*contents[0]]) == plain([*contents[1]]), (type(value).__name__, way)


def test_packed_sequences():
    packed = nn.utils.rnn.pack_sequence([ag.ones(3), ag.ones(2)])
    for again in DEEP.values():
        found = again(packed)
        assert type(found) is type(packed) and plain(found) == plain(packed)
