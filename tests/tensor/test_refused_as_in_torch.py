"""Small programs that torch answers or refuses: the same answer, the same class of error."""

import warnings

import numpy as np
import pytest
from grouping import each

import autograd_cy as ag

torch = pytest.importorskip("torch")

CONVERSIONS = (
    "object() 5 (2,) np.float64 m.preserve_format m.float64,5 m.float64,False,'a' "
    "m.float64,'cpu' 'cpu',m.float64,True,True,True copy=5 copy=None non_blocking='a' "
    "m.float64,dtype=m.float32 x,x float int bool complex m.float64 None None,None "
    "None,m.float64 'cpu',None m.float64,True,True x,True dtype=m.float64 "
    "device='cpu' copy=True "
).split()
PROGRAMS = [
    *(f"x.to({given})" for given in CONVERSIONS),
    "m.ones(()).mT",
    "m.ones(()).mH",
    "m.ones(2).mT",
    "m.take_along_dim(m.tensor(3.0), m.tensor(0), 0)",
    "m.take_along_dim(m.tensor(3.0), m.tensor(0))",
    "m.take_along_dim(x, m.tensor([[0]], dtype=m.int32), 0)",
    "m.hsplit(x, m.tensor([2]))",
    "m.hsplit(x, m.tensor(3))",
    "m.hsplit(x, -1)",
    "m.vsplit(x, -1)",
    "m.dsplit(m.ones(2, 2, 2), -1)",
    "F.gaussian_nll_loss(x, x, m.ones(3, 3, dtype=m.int64))",
    "F.gaussian_nll_loss(x, x, m.ones(3, 3, dtype=m.bool))",
    *(f"m.polar(x.to(m.{a}), x.to(m.{a}))" for a in ("int64", "bool", "bfloat16", "complex64")),
    "m.polar(x, x.double())",
    "m.unique(m.tensor(3), dim=0)",
    "m.unique(m.tensor(3), dim=1)",
    "m.unique(m.tensor(3))",
    "m.unique(x, dim=1)",
    "m.unique_consecutive(m.tensor(3), dim=0)",
    "m.unique_consecutive(m.tensor(3))",
]


def outcome(library, program):
    names = {"m": library, "F": library.nn.functional, "np": np, "x": library.ones(3, 3)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = eval(program, names)
        except Exception as error:
            return type(error)
    made = made if isinstance(made, tuple) else (made,)
    return [(str(t.dtype).rpartition(".")[2], t.tolist()) for t in made]


@each("program", PROGRAMS)
def test_answers_and_errors_are_those_of_torch(program):
    assert outcome(ag, program) == outcome(torch, program)
