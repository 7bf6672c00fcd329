"""Arguments of operators that mean nothing: their errors, a line each."""

from call_tables import assert_refused

import autograd_cy as torch
from autograd_cy.nn import functional as F

x2, x3, m23 = torch.zeros(2), torch.zeros(3), torch.zeros(2, 3)
i2 = torch.zeros(2, dtype=torch.int64)
c2 = torch.zeros(2, dtype=torch.complex64)
scalar = torch.tensor(1.0)

NAMES = globals() | {"F": F}

# call: (type of error, words of its message)
REFUSED = {
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
    "torch.diag_embed(scalar)": (IndexError, "diag_embed: expected at least one dimension"),
    "torch.zeros(1, 1, 1).diag()": (RuntimeError, "diag(): Supports 1D or 2D tensors. Got 3D"),
    "torch.diff(scalar)": (RuntimeError, "diff expects input to be at least one-dimensional"),
    "torch.cross(x2, x2)": (RuntimeError, "cross: no dimension of size 3 in input"),
    "torch.linalg.cross(m23, m23, dim=0)": (RuntimeError, "3"),
    "torch.ones(2, 3).cross(m23, 0)": (RuntimeError, "must have length 3"),
    "F.bilinear(scalar, scalar, torch.ones(1, 1, 1))": (RuntimeError, "must have a dimension"),
    "torch.eye(2, -1)": (RuntimeError, "m must be greater or equal to 0, got -1"),
    "torch.take_along_dim(m23, i2, 1)": (RuntimeError, "same number of dimensions"),
    "x3.gather(0, torch.zeros(1, 1, dtype=torch.int64))": (RuntimeError, "dimensions"),
    "x3.scatter(0, torch.zeros(1, dtype=torch.int64), torch.zeros(1, 1))": (
        RuntimeError,
        "Index tensor must have the same number of dimensions as src tensor",
    ),
    "c2.sort()": (RuntimeError, "Sort does not support complex dtypes on CPU"),
    "x3.masked_select(i2)": (RuntimeError, "masked_select: expected BoolTensor for mask"),
    "F.unfold(torch.zeros(1, 1, 4, 4), (2, 2, 2))": (RuntimeError, "2"),
    "F.fold(torch.zeros(1, 4, 1), (2, 2), (2, 2), padding=(1, 1, 1))": (RuntimeError, "2"),
    "torch.empty(0, dtype=torch.int64).median()": (RuntimeError, "without elements"),
    "torch.zeros(0, 2, dtype=torch.int64).median(0)": (
        IndexError,
        "median(): Expected reduction dim 0 to have non-zero size.",
    ),
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
    "torch.randperm(300, dtype=torch.uint8)": (RuntimeError, "300 numbers do not fit Byte"),
    "torch.normal(x2, torch.tensor([1.0, -1.0]))": (RuntimeError, "std >= 0.0"),
    "x2.sum(1 << 70)": (
        ValueError,
        "sum(): argument 'dim' (position 2): Overflow when unpacking lo",
    ),
    "x2.sum((0, 1 << 70))": (
        TypeError,
        "sum(): argument 'dim' failed to unpack the object at pos 2 wit",
    ),
    "x2.nansum('a')": (TypeError, "nansum(): argument 'dim' (position 1) must be tuple of ints, n"),
    "torch.polygamma(1.0, x2)": (TypeError, "polygamma(): argument 'n' (position 1) must be int"),
    "torch.polygamma(1, 2.0)": (TypeError, "polygamma(): argument 'input' (position 2) must be T"),
    "x2.polygamma('a')": (TypeError, "polygamma(): argument 'n' (position 1) must be int, not st"),
    "x2.polygamma_(True)": (TypeError, "polygamma_(): argument 'n' (position 1) must be int, not"),
    "torch.einsum('i->i', 5)": (TypeError, "einsum(): operands must be Tensors, not int"),
    "torch.cat([])": (ValueError, "cat(): expected a non-empty list of Tensors"),
    "torch.hstack([])": (RuntimeError, "non-empty TensorList"),
    "torch.Tensor.add()": (TypeError, "add() missing 1 required positional argument: 'input'"),
    "x2.clone().masked_fill_(x2 == 0, 1j)": (
        RuntimeError,
        "value cannot be converted to type float without overflow",
    ),
    "torch.arange(1j)": (
        RuntimeError,
        "arange: value cannot be converted to type double without overflow: 1j",
    ),
    "x2.clone().index_fill_(0, i2, 1j)": (RuntimeError, "a complex value can't go into Float"),
    "torch.clamp(x2, 1j)": (
        RuntimeError,
        "clamp: value cannot be converted to type float without overflow: 1j",
    ),
    "torch.add(x2, x2, alpha=1j)": (
        RuntimeError,
        "add: For non-complex input tensors, argument alpha must not be a",
    ),
    "F.conv2d(torch.ones(1,1,4,4), torch.ones(1,1,2,2), stride=(1,2,3))": (
        RuntimeError,
        "expected stride to be a single integer value or a list of 2 values to",
    ),
    "F.max_pool2d(torch.ones(1,1,4,4), (1,2,3))": (
        RuntimeError,
        "max_pool2d: kernel_size must either be a single int, or a tuple of",
    ),
    "F.avg_pool2d(torch.ones(1,1,4,4), (1,2,3))": (
        RuntimeError,
        "avg_pool2d: kernel_size must either be a single int, or a tuple of",
    ),
    "F.unfold(torch.ones(1,1,4,4), 2, dilation=(1,2,3))": (
        RuntimeError,
        "unfold: It is expected dilation equals to 2, but got size 3; give 2",
    ),
    "F.unfold(torch.ones(1,1,4,4), 2, padding=(1,2,3))": (
        RuntimeError,
        "unfold: It is expected padding equals to 2, but got size 3; give 2",
    ),
    "F.unfold(torch.ones(1,1,4,4), 2, stride=(1,2,3))": (
        RuntimeError,
        "unfold: It is expected stride equals to 2, but got size 3; give 2",
    ),
    "F.unfold(torch.ones(1,1,4,4), 2, stride=())": (
        RuntimeError,
        "unfold: It is expected stride equals to 2, but got size 0; give 2",
    ),
    "F.fold(torch.ones(1,4,4), 3, (2,2,2))": (
        RuntimeError,
        "fold: It is expected kernel_size equals to 2, but got size 3; give 2",
    ),
    "torch.argmax(c2)": (RuntimeError, "argmax: does not support complex input"),
    "torch.multinomial(torch.zeros(2, 0), 1)": (
        RuntimeError,
        "cannot sample n_sample > prob_dist.size(-1) samples without",
    ),
    "torch.multinomial(torch.zeros(2, 0), 0)": (
        RuntimeError,
        "cannot sample n_sample <= 0 samples, got 0",
    ),
    "torch.multinomial(torch.zeros(0), 1, True)": (
        RuntimeError,
        "invalid multinomial distribution (sum of probabilities <= 0)",
    ),
    "torch.masked_select(x2, i2)": (
        RuntimeError,
        "masked_select: expected BoolTensor for mask, but got Long",
    ),
    "x2.masked_select(x2)": (
        RuntimeError,
        "masked_select: expected BoolTensor for mask, but got Float",
    ),
    "c2.argsort()": (RuntimeError, "Sort does not support complex dtypes on CPU"),
    "c2.topk(1)": (RuntimeError, "topk does not support complex dtypes on CPU"),
    "torch.unique(c2)": (
        NotImplementedError,
        "unique: not implemented for 'ComplexFloat'; convert",
    ),
    "c2.median()": (
        NotImplementedError,
        "median: not implemented for 'ComplexFloat'; convert",
    ),
    "F.unfold(torch.ones(1,1,4,4), (2,2,2))": (
        RuntimeError,
        "unfold: It is expected kernel_size equals to 2, but got size 3; give",
    ),
    "F.fold(torch.ones(1,4,4), (3,3,3), 2)": (
        RuntimeError,
        "fold: It is expected output_size equals to 2, but got size 3; give 2",
    ),
    "torch.searchsorted(c2, c2)": (
        NotImplementedError,
        "searchsorted: not implemented for 'ComplexFloat'; convert",
    ),
}


def test_arguments_that_mean_nothing_are_refused():
    assert_refused(REFUSED, NAMES)
