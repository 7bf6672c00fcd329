"""What is refused by checks that no program meets: as test_refusals.py, for seldom calls."""

import io
import pickle
import warnings

import numpy as np
import pytest

import autograd_cy as torch
from autograd_cy import autograd, func, nn, optim
from autograd_cy.autograd import forward_ad
from autograd_cy.nn import functional as F
from autograd_cy.optim import lr_scheduler, swa_utils

x2, x3, m23 = torch.zeros(2), torch.zeros(3), torch.zeros(2, 3)
i2 = torch.zeros(2, dtype=torch.int64)
scalar = torch.tensor(1.0)
deep = torch.zeros((1,) * 64)
c2 = torch.zeros(2, dtype=torch.complex64)
half = torch.zeros(2, dtype=torch.float16)
frozen = torch.from_numpy(np.frombuffer(bytes(16), dtype=np.float32))
leaf = torch.ones(2, requires_grad=True)
on_meta = torch.zeros(2, device="meta")
linear = nn.Linear(2, 2)
DIMS = "a tensor has at most 64 dimensions"
rate = optim.SGD([leaf], lr=0.1)


def in_vmap(function, *args):
    return func.vmap(function)(*(args or (torch.ones(3, 2),)))


def dual_of(function):
    with forward_ad.dual_level():
        return function(forward_ad.make_dual(x2.clone(), x2.clone()))


def assigned(name, value):
    t = torch.ones(2)
    setattr(t, name, value)


def before_init(name, value):
    class Bare(nn.Module):
        def __init__(self):
            setattr(self, name, value)

    Bare()


def deleted():
    t = torch.ones(2)
    del t[0]


def put(t, *args):
    t.__setitem__(*args)


def freed():
    y = leaf.exp()
    y.sum().backward()
    return y.grad_fn._saved_result


def nested(depth):
    function = torch.sin
    for _ in range(depth):
        function = func.vmap(function)
    return function(torch.ones((1,) * depth))


def attention(**changes):
    given = {
        "query": torch.ones(2, 3, 4), "key": torch.ones(2, 3, 4), "value": torch.ones(2, 3, 4),
        "embed_dim_to_check": 4, "num_heads": 2, "in_proj_weight": torch.ones(12, 4),
        "in_proj_bias": torch.ones(12), "bias_k": None, "bias_v": None, "add_zero_attn": False,
        "dropout_p": 0.0, "out_proj_weight": torch.ones(4, 4), "out_proj_bias": torch.ones(4),
    }  # fmt: skip
    return F.multi_head_attention_forward(**(given | changes))


def weight_normed():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = nn.utils.weight_norm(nn.Linear(2, 2))
        return nn.utils.weight_norm(module)


NAMES = globals() | {
    "io": io,
    "autograd": autograd,
    "swa_utils": swa_utils,
    "schedules": lr_scheduler,
}

# group: {call: (type of error, words of its message)}
REFUSED = {
    "shapes": {
        "scalar.split(1)": (RuntimeError, "split expects at least a 1-dimensional tensor"),
        "scalar.split([1])": (RuntimeError, "split expects at least a 1-dimensional tensor"),
        "scalar.chunk(2)": (RuntimeError, "chunk expects at least a 1-dimensional tensor"),
        "scalar.unsafe_chunk(2)": (RuntimeError, "unsafe_chunk expects at least"),
        "scalar.tensor_split(2)": (
            RuntimeError,
            "tensor_split expected at least a 1-dimensional tensor, but got",
        ),
        "scalar.roll(1, 0)": (IndexError, "Dimension specified as 0 but tensor has no dimensions"),
        "x3.fliplr()": (RuntimeError, "fliplr: Input must be >= 2-d"),
        "scalar.flipud()": (RuntimeError, "flipud: Input must be >= 1-d"),
        "torch.diag_embed(scalar)": (RuntimeError, "diag_embed: expected at least one dimension"),
        "torch.zeros(1, 1, 1).diag()": (RuntimeError, "diag(): Supports 1D or 2D tensors. Got 3D"),
        "torch.diff(scalar)": (RuntimeError, "diff expects input to be at least one-dimensional"),
        "torch.cross(x2, x2)": (RuntimeError, "cross: no dimension of size 3 in input"),
        "torch.linalg.cross(m23, m23, dim=0)": (RuntimeError, "3"),
        "torch.ones(2, 3).cross(m23, 0)": (RuntimeError, "does not have size 3"),
        "F.bilinear(scalar, scalar, torch.ones(1, 1, 1))": (RuntimeError, "must have a dimension"),
        "scalar[0:1]": (IndexError, "too many indices for tensor of dimension 0"),
        "scalar[0]": (IndexError, "invalid index of a 0-dim tensor"),
        "m23[0, 0, 0]": (IndexError, "too many indices for tensor of dimension 2"),
        "m23[:, :, :]": (IndexError, "too many indices for tensor of dimension 2"),
        "m23[i2, i2, i2]": (IndexError, "too many indices for tensor of dimension 2"),
        "m23[i2, torch.zeros(3, dtype=torch.int64)]": (
            IndexError,
            "shape mismatch: indexing tensors could not be broadcast togeth",
        ),
        "deep[i2, None]": (RuntimeError, "a tensor has at most 64 dimensions"),
        "deep[torch.zeros(1, 1, dtype=torch.int64)]": (
            ValueError,
            "a tensor has at most 64 dimensions",
        ),
        "deep[torch.zeros((1,) * 64, dtype=torch.int64)]": (ValueError, DIMS),
        "deep.__setitem__(torch.zeros((1,) * 64, dtype=torch.int64), 1.0)": (ValueError, DIMS),
        "deep[:, torch.zeros((1,) * 64, dtype=torch.int64)]": (ValueError, DIMS),
        "deep.__setitem__((0, slice(None), i2[:1].view((1,) * 64)), 1.0)": (ValueError, DIMS),
        "deep.index_put((torch.zeros((1,) * 64, dtype=torch.int64),), scalar)": (ValueError, DIMS),
        "torch.view_as_real(torch.zeros((1,) * 64, dtype=torch.complex64))": (RuntimeError, DIMS),
        "torch.zeros(2).resize_(-1)": (RuntimeError, "negative"),
        "torch.empty_strided((2,), (-1,))": (RuntimeError, "strides must not be negative"),
        "torch.eye(2, -1)": (RuntimeError, "m must be greater or equal to 0, got -1"),
        "torch.zeros(2, size=(2,))": (TypeError, "multiple values"),
        "x2.view(dtype=None)": (TypeError, "view(): argument 'dtype' must be dtype, not None"),
        "x2.view(1, size=(2,))": (TypeError, "view() got multiple values for argument 'size'"),
        "torch.tensor([[[0]]] if False else eval('[' * 65 + '1' + ']' * 65))": (
            ValueError,
            "too many dimensions: a tensor has at most 64",
        ),
        "torch.tensor([np.zeros(2), 1])": (
            TypeError,
            "not a sequence: expected one of length 2 at dim 1, got int",
        ),
        "torch.tensor([object()])": (RuntimeError, "Could not infer dtype of object"),
        "torch.take_along_dim(m23, i2, 1)": (RuntimeError, "same number of dimensions"),
        "x3.gather(0, torch.zeros(1, 1, dtype=torch.int64))": (RuntimeError, "dimensions"),
        "x3.scatter(0, torch.zeros(1, dtype=torch.int64), torch.zeros(1, 1))": (
            RuntimeError,
            "Index tensor must have the same number of dimensions as src tensor",
        ),
        "c2.sort()": (
            NotImplementedError,
            "sort: not implemented for tensors of dtype complex64; convert",
        ),
        "x3.masked_select(i2)": (RuntimeError, "masked_select: expected BoolTensor for mask"),
        "F.unfold(torch.zeros(1, 1, 4, 4), (2, 2, 2))": (RuntimeError, "2"),
        "F.fold(torch.zeros(1, 4, 1), (2, 2), (2, 2), padding=(1, 1, 1))": (RuntimeError, "2"),
        "torch.empty(0, dtype=torch.int64).median()": (RuntimeError, "without elements"),
        "torch.zeros(0, 2, dtype=torch.int64).median(0)": (
            IndexError,
            "median(): Expected reduction dim 0 to have non-zero size.",
        ),
    },
    "numbers": {
        "torch.full((2,), 1 << 64, dtype=torch.int64)": (
            OverflowError,
            "int too big to convert: 18446744073709551616 does not fit in 6",
        ),
        "put(torch.zeros(2, dtype=torch.int64), 0, 1 << 64)": (
            ValueError,
            "Overflow when unpacking long long: 18446744073709551616",
        ),
        "put(torch.zeros(2), 0, 1j)": (
            RuntimeError,
            "value cannot be converted to type float32 without overflow: 1j",
        ),
        "torch.zeros(2).fill_(1j)": (
            RuntimeError,
            "value cannot be converted to type float32 without overflow: fi",
        ),
        "put(frozen, 0, 1.0)": (RuntimeError, "read-only"),
        "frozen.fill_(1)": (RuntimeError, "read-only"),
        "torch.arange(1 << 70)": (
            OverflowError,
            "int too big to convert: 1180591620717411303424 does not fit in",
        ),
        "torch.histc(x2, 2, float('nan'), 1)": (RuntimeError, "is not finite"),
        "torch.histc(x2, 2, 2, 1)": (RuntimeError, "max must be larger than min"),
        "torch.fft.fftfreq(-1)": (RuntimeError, "n must be at least 0, but got -1"),
        "torch.fft.rfftfreq(0)": (RuntimeError, "n must be at least 1, but got 0"),
        "F.one_hot(torch.tensor([-1]))": (RuntimeError, "Class values must be non-negative"),
        "torch.cdist(m23, m23.double())": (RuntimeError, "expected scalar type"),
        "torch.multinomial(torch.zeros(0), 1)": (
            RuntimeError,
            "cannot sample n_sample > prob_dist.size(-1) samples without re",
        ),
        "torch.randint(1, 2, (2,), low=0)": (TypeError, "multiple values for argument 'low'"),
        "torch.randint(5, (2,), low=0, high=3)": (TypeError, "size comes after 'high'"),
        "torch.randperm(300, dtype=torch.uint8)": (RuntimeError, "300 numbers do not fit uint8"),
        "torch.normal(x2, torch.tensor([1.0, -1.0]))": (RuntimeError, "std >= 0.0"),
        "torch.manual_seed(1 << 70)": (
            ValueError,
            "manual_seed: Overflow when unpacking long long: 11805916207174",
        ),
        "torch.Generator().set_state(torch.zeros(16, dtype=torch.uint8))": (RuntimeError, "state"),
        "torch.set_rng_state(torch.zeros(16, dtype=torch.uint8))": (RuntimeError, "state"),
        "torch.Generator().set_state(torch.Generator().get_state() ^ 255)": (
            RuntimeError,
            "these bytes are no state of an autograd_cy generator",
        ),
        "x2.sum(1 << 70)": (
            ValueError,
            "sum(): argument 'dim' (position 2): Overflow when unpacking lo",
        ),
        "x2.sum((0, 1 << 70))": (
            TypeError,
            "sum(): argument 'dim' failed to unpack the object at pos 2 wit",
        ),
        "x2.nansum('a')": (
            TypeError,
            "nansum(): argument 'dim' (position 2) must be tuple of ints, n",
        ),
    },
    "words and kinds": {
        "torch.set_default_dtype(torch.int64)": (TypeError, "only floating-point types"),
        "torch.set_default_tensor_type('torch.LongTensor')": (TypeError, "floating-point types"),
        "torch.set_deterministic_debug_mode([])": (TypeError, "debug_mode must be str or int"),
        "torch.einsum('i->i', 5)": (TypeError, "einsum(): operands must be Tensors, not int"),
        "torch.cat([])": (ValueError, "cat(): expected a non-empty list of Tensors"),
        "torch.hstack([])": (RuntimeError, "non-empty TensorList"),
        "assigned('requires_grad', 1)": (RuntimeError, "requires_grad must be a bool"),
        "deleted()": (TypeError, "does not support deleting items"),
        "in_vmap(lambda t: setattr(t, 'data', t))": (RuntimeError, "vmap"),
        "in_vmap(lambda t: t.clone().set_(x2))": (RuntimeError, "vmap: set_ is not possible"),
        "dual_of(lambda t: t.set_(x3))": (RuntimeError, "a tensor with a tangent"),
        "nested(70)": (ValueError, "ones: a tensor has at most 64 dimensions, not 70"),
        "func.vjp(lambda x: None, x2)": (
            RuntimeError,
            "vjp(f, *primals): expected f(*primals) to return only tensors,",
        ),
        "func.vjp(lambda x: (), x2)": (RuntimeError, "at least one tensor"),
        "func.jvp(lambda x: 5, (x2,), (x2,))": (
            RuntimeError,
            "jvp(f, primals, tangents): expected f(*primals) to return only",
        ),
        "func.grad(lambda x: x.sum())(5)": (
            ValueError,
            "Thing passed to transform API must be Tensor, got <class 'int'",
        ),
        "autograd.grad(5, leaf)": (TypeError, "Tensor"),
        "autograd.grad(leaf.sum(), 5)": (TypeError, "Tensor"),
        "freed()": (RuntimeError, "Trying to backward through the graph a second time (or directl"),
        "x2.untyped_storage()[8]": (IndexError, "byte 8 of a storage of 8 bytes"),
        "x2.untyped_storage()[-9]": (IndexError, "byte"),
        "type(x2.untyped_storage())()": (TypeError, "cannot be made"),
        "torch.ones(2).to(memory_format=5)": (TypeError, "memory_format"),
        "torch.ones(2).contiguous(memory_format='x')": (TypeError, "memory_format"),
        "torch.asarray(x2, device='meta', copy=False)": (ValueError, "alias memory on another"),
        "torch.Tensor.add()": (TypeError, "add() missing 1 required positional argument: 'input'"),
        "torch.backends.cuda.nosuch": (AttributeError, "nosuch"),
        "setattr(torch.backends.cuda.matmul, 'nosuch', 1)": (AttributeError, "nknown attribute"),
        "autograd.graph.set_warn_on_accumulate_grad_stream_mismatch(1)": (RuntimeError, "a bool"),
        "torch.amp.GradScaler('cpu').scale(5)": (ValueError, "Tensor or an iterable of Tensors"),
        "torch.amp.GradScaler('cpu').scale([5])": (ValueError, "Tensor or an iterable of Tensors"),
    },
    "modules": {
        "before_init('weight', nn.Parameter(x2))": (AttributeError, "before Module.__init__()"),
        "before_init('child', nn.ReLU())": (AttributeError, "before Module.__init__()"),
        "nn.RNN(2, 3)(x2)": (
            ValueError,
            "RNN: Expected input to be 2D or 3D, got 1D tensor instead",
        ),
        "nn.GRU(2, 3)(torch.ones(1, 1, 1, 2))": (
            ValueError,
            "GRU: Expected input to be 2D or 3D, got 4D instead",
        ),
        "nn.LSTM(2, 3)(torch.ones(4, 1, 2), (x2,))": (
            RuntimeError,
            "lstm expects two hidden states, got 1",
        ),
        "nn.LSTM(2, 3)(torch.ones(4, 1, 2), (x2, x2, x2))": (
            RuntimeError,
            "lstm expects two hidden states, got 3",
        ),
        "nn.SyncBatchNorm(2)(torch.ones(2, 0, 2))": (
            ValueError,
            "SyncBatchNorm number of input channels should be non-zero",
        ),
        "attention(static_k=torch.ones(3, 2, 2))": (
            AssertionError,
            "expecting static_k.size(0) of 6",
        ),
        "attention(static_v=torch.ones(6, 2, 3))": (
            AssertionError,
            "expecting static_v.size(2) of 2",
        ),
        "attention(bias_k=torch.ones(1, 1, 4), bias_v=torch.ones(1, 1, 4), "
        "static_k=torch.ones(6, 2, 2))": (AssertionError, "bias cannot be added to static key"),
        "attention(bias_k=torch.ones(1, 1, 4), bias_v=torch.ones(1, 1, 4), "
        "static_v=torch.ones(6, 2, 2))": (AssertionError, "bias cannot be added to static"),
        "attention(use_separate_proj_weight=True)": (
            AssertionError,
            "use_separate_proj_weight is True but",
        ),
        "F.embedding_bag(i2, m23, x2.long()[:1], mode='max', sparse=True)": (
            ValueError,
            "max mode does not support sparse",
        ),
        "F.embedding_bag(i2, x3, i2[:1])": (
            ValueError,
            "weight has to be a 2D Tensor, but got Tensor of dimension 1",
        ),
        "F.embedding_bag(i2, m23, i2[:0], include_last_offset=True)": (
            RuntimeError,
            "number of offset should be at least 1",
        ),
        "nn.utils.spectral_norm(nn.Linear(2, 2, bias=False), 'bias')": (ValueError, "is None"),
        "weight_normed()": (RuntimeError, "two weight_norm hooks on the same parameter"),
        "nn.utils.parametrizations.orthogonal("
        "nn.Linear(2, 2, dtype=torch.complex64), orthogonal_map='householder')": (
            ValueError,
            "complex",
        ),
        "F.ctc_loss(torch.zeros(4, 1, 3), torch.ones(1, 2, dtype=torch.int64), [4], [-2])": (
            RuntimeError,
            "ctc_loss: target_lengths must not be negative, but are [-2]",
        ),
    },
    "optimizers": {
        "optim.LBFGS([{'params': [leaf]}, {'params': []}])": (ValueError, "parameter groups"),
        "optim.LBFGS([leaf]).step()": (TypeError, "closure"),
        "rate.add_param_group(5)": (TypeError, "param_group must be a dict"),
        "rate.load_state_dict({'state': {}, 'param_groups': []})": (
            ValueError,
            "different number of parameter groups",
        ),
        "swa_utils.get_ema_multi_avg_fn(1.5)": (ValueError, "Invalid decay value 1.5"),
        "swa_utils.get_ema_multi_avg_fn(-0.5)": (ValueError, "Invalid decay value -0.5"),
        "swa_utils.AveragedModel(linear, avg_fn=min, multi_avg_fn=min)": (
            AssertionError,
            "Only one",
        ),
        "swa_utils.SWALR(rate, 0.1, anneal_epochs=-1)": (ValueError, "greater than 0, got -1"),
        "schedules.ChainedScheduler([])": (ValueError, "at least one scheduler"),
        "schedules.ChainedScheduler([5])": (TypeError, "should have `optimizer`"),
        "schedules.OneCycleLR(rate, 0.1, epochs=-1, steps_per_epoch=2)": (
            ValueError,
            "positive integer epochs, but got -1",
        ),
        "schedules.OneCycleLR(rate, 0.1, epochs=2, steps_per_epoch=0)": (
            ValueError,
            "positive integer steps_per_epoch, but got 0",
        ),
        "schedules.OneCycleLR(rate, 0.1, epochs=2.0, steps_per_epoch=2)": (ValueError, "epochs"),
    },
    "files": {
        "torch.load(io.BytesIO(pickle.dumps(5)), mmap=True)": (
            pickle.UnpicklingError,
            "load: this is not a file that autograd_cy.save or torch.save w",
        ),
        "torch.utils.data.default_collate([np.array(['a'])])": (
            TypeError,
            "default_collate: batch must contain tensors, numpy arrays, num",
        ),
        "torch.utils.data.default_collate([object()])": (
            TypeError,
            "default_collate: batch must contain tensors, numpy arrays, num",
        ),
    },
}


@pytest.mark.parametrize("group", REFUSED)
def test_what_means_nothing_is_refused(group):
    wrong = {}
    for call, (kind, words) in REFUSED[group].items():
        try:
            found = eval(call, NAMES)
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            if not isinstance(error, kind) or not any(w in said for w in words.split("|")):
                wrong[call] = said[:200]
        else:
            wrong[call] = f"went through: {found}"
    assert not wrong, "\n".join(f"{call}\n    {said}" for call, said in wrong.items())


BATCH = torch.ones(2, 3, 4)
PARTS = {"running_mean": torch.zeros(3), "running_var": torch.ones(3)}


@pytest.mark.parametrize("name", PARTS)
def test_statistics_come_in_pairs_where_they_are_not_computed(name):
    for op in (torch.instance_norm, torch.batch_norm):
        args = [PARTS.get(k) if k == name else None for k in PARTS]
        with pytest.raises(RuntimeError, match="Expected running_mean and running_var"):
            op(BATCH, None, None, *args, False, 0.1, 1e-5, False)
        with pytest.raises(ValueError, match="running_mean and running_var must either both be"):
            op(BATCH, None, None, *args, True, 0.1, 1e-5, False)
    with pytest.raises(ValueError, match="running_mean and running_var must either both be"):
        F.instance_norm(BATCH, **{name: PARTS[name]})
    with pytest.raises(RuntimeError, match="Expected running_mean and running_var"):
        F.instance_norm(BATCH, use_input_stats=False, **{name: PARTS[name]})
    with pytest.raises(RuntimeError, match="Expected running_mean and running_var"):
        F.batch_norm(BATCH, PARTS[name] if name == "running_mean" else None,
                     PARTS[name] if name == "running_var" else None)  # fmt: skip


@pytest.mark.parametrize("shape", [(3, 4, 0), (3, 0, 4), (4, 0), (0, 4), (4,), (1, 2, 3, 4)])
def test_windows_in_a_line_need_elements_and_two_or_three_dimensions(shape):
    for op in (F.max_pool1d, torch.max_pool1d_with_indices):
        with pytest.raises(RuntimeError, match="max_pool1d.*: Expected 2D or 3D"):
            op(torch.ones(shape), 2)
    assert F.max_pool1d(torch.ones(0, 3, 4), 2).shape == (0, 3, 2)


@pytest.mark.parametrize("count", [0, -1])
def test_recurrent_layers_are_one_at_least(count):
    x, h, w = torch.ones(2, 1, 3), torch.zeros(1, 1, 3), [torch.ones(3, 3)] * 2
    options = (False, count, 0.0, False, False, False)
    for op in (torch.rnn_tanh, torch.rnn_relu, torch.gru):
        with pytest.raises(RuntimeError, match="num_layers must be greater than zero"):
            op(x, h, w, *options)
    with pytest.raises(RuntimeError, match="num_layers must be greater than zero"):
        torch.lstm(x, (h, h), w, *options)


def test_a_tensor_with_a_history_keeps_its_requires_grad():
    y = leaf * 2
    for value in (True, False):
        with pytest.raises(RuntimeError, match="you can only change requires_grad flags of leaf"):
            y.requires_grad = value
    assert y.requires_grad
    x = torch.ones(2)
    x.requires_grad = False
    assert not x.requires_grad
