"""Elementwise: calls of the composites (`ext/composites`)."""

import math

import autograd_cy as torch
from autograd_cy.func import vmap
from autograd_cy.nn import functional as F
from tests.recorded.inputs import complex_sines, error_name, gradients, iota, sines

torch.nan_to_num(torch.tensor([complex(math.nan, math.inf), 1 + 2j, complex(1, -math.inf)]))
torch.nan_to_num(torch.tensor([complex(math.nan, math.inf), 1 + 2j]), 7.0, 8.0)
[x := torch.ones(2, dtype=torch.complex64), torch.nan_to_num(
    torch.tensor([complex(math.nan, math.inf), 1 + 2j]), out=x) is x, x]

def nan_to_num_math():
    x = torch.ones(4, dtype=torch.float64)
    return torch.nan_to_num(torch.tensor([math.nan, math.inf, -math.inf, 1.0]), out=x)

[x := iota(3, dtype=torch.int64), y := x._version, x.nan_to_num_() is x, x._version > y, x]
gradients(lambda x: torch.nan_to_num(x, 2.0), torch.tensor([math.nan, math.inf, -math.inf, 1.0]))
gradients(lambda x: torch.nan_to_num(x), torch.tensor([complex(math.nan, math.inf), 1 + 2j]))
torch.round(torch.tensor([1.25, -2.75, 15.5]), decimals=1)
torch.round(torch.tensor([1.25, -2.75, 15.5]), decimals=-1)
torch.round(torch.tensor([1.25, 600.0, 15.5]).to(torch.float16), decimals=2)
torch.round(iota(3, dtype=torch.int64), decimals=1)
torch.round(complex_sines(3), decimals=1)
[x := torch.ones(3), torch.round(torch.tensor([1.25, -2.75, 15.5]), decimals=1, out=x) is x, x]
[x := torch.ones(3), torch.round(torch.tensor([1.25, -2.75, 15.5]), decimals=-1, out=x) is x, x]
[x := torch.tensor([1.25, -2.75]), x.round_(decimals=1) is x, x]
torch.float_power(iota(3), 2)
torch.float_power(2, iota(3, dtype=torch.int64))

def float_power_out():
    x = torch.ones(3)
    return torch.float_power(iota(3), 2, out=x)

def float_power_complex128():
    x = torch.ones(3, dtype=torch.complex128)
    return torch.float_power(iota(3), 2, out=x)

[x := sines(3), x.float_power_(2) is x, x]

def float_power():
    x = iota(3)
    return x.float_power_(2)

def float_power_2():
    x = sines(3)
    return x.float_power_(2j)

torch.positive(iota(2, dtype=torch.bool))
[x := iota(2), torch.positive(x) is x]
torch.fmax(torch.tensor([math.nan, 1.0]), torch.tensor([2.0, math.nan]))
torch.fmin(iota(3, dtype=torch.int64), torch.tensor([1, 1, 1]))
[x := torch.ones(3, dtype=torch.int64), torch.fmin(iota(3, dtype=torch.int64),
    torch.tensor([1, 1, 1]), out=x) is x, x]
[x := torch.ones(2), torch.fmax(torch.tensor([math.nan, 1.0]), torch.tensor([2.0, math.nan]),
    out=x) is x, x]
torch.heaviside(torch.tensor([-1.0, 0.0, 2.0]), torch.tensor(0.5))
torch.heaviside(torch.tensor([-1, 0, 2]), torch.tensor(7))
torch.heaviside(torch.tensor([-1.0, 0.0]), torch.tensor([1, 2]))
torch.heaviside(torch.tensor([-1.0, math.nan]), torch.tensor([1.0, 2.0]))
[x := torch.tensor([-1.0, 0.0]), x.heaviside_(torch.tensor([0.5, 0.25])) is x, x]

def tensor_heaviside():
    x = torch.tensor(0.0)
    return x.heaviside_(torch.tensor([0.5]))

torch.deg2rad(torch.tensor([180.0, 90.0]))
torch.rad2deg(iota(3, dtype=torch.int64))
torch.deg2rad(complex_sines(2))
torch.rad2deg(complex_sines(2))
torch.view_as_complex(sines(3, 3)[:, 1:])
torch.view_as_complex(sines())
gradients(lambda x: torch.view_as_real(x.t()), complex_sines(2, 3))
vmap(lambda x: torch.view_as_complex(x))(sines(2, 3, 2))
torch.resolve_conj(complex_sines(2).conj())
[x := sines(2), torch.real(x) is x]
torch.imag(sines(2))
complex_sines(2, 3).mH
complex_sines(2).mH
F.dropout(sines(3), 1.5)
F.alpha_dropout(sines(3), 1.0, True)
F.feature_alpha_dropout(sines(2, 3), 1.0, True)
torch.feature_dropout(sines(2, 3), 1.0, True)
torch.alpha_dropout(sines(3), 1.0, True)
[torch.manual_seed(0), x := F.alpha_dropout(torch.zeros(4000), 0.25, True),
    abs(x.mean().item() + 0.0) < 0.1, len(x.unique()),
    [round(y, 4) for y in x.unique().tolist()]][2:]
[torch.manual_seed(0), x := torch.feature_alpha_dropout(torch.ones(4, 50, 3), 0.5, True),
    bool((x == x[:, :, :1]).all()), [round(y, 4) for y in x.unique().tolist()]][2:]
[torch.manual_seed(0), x := torch.feature_dropout(torch.ones(4, 50, 3), 0.75, True),
    bool((x == x[:, :, :1]).all()), x.unique().tolist()][2:]

def round_decimals():
    x = torch.ones(3, dtype=torch.float64)
    return torch.round(torch.tensor([1.25, -2.75, 15.5]), decimals=1, out=x) is x

torch.float_power(iota(3).to(torch.float16), 2)

def nan_to_num_complex():
    x = torch.ones(2, dtype=torch.complex128)
    return torch.nan_to_num(torch.tensor([complex(math.nan, math.inf), 1 + 2j]), out=x)

[error_name(lambda: F.prelu(sines(*s), sines(n)))
    for s, n in (((3,), 3), ((3,), 1), ((2, 3), 3), ((2, 3), 2), ((), 2), ((), 1))]
