"""The list of elementwise kernels: name, operands, element types, cost.

Each name has scalar formulas `ag_<name>_<suffix>` under ext/kernels/scalar. The loops around them
are written by kernel_loops.py, which also defines the fields used here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# From this cost on a formula is worth more than copying its operands.
STAGED_COST = 3


@dataclass(frozen=True)
class KernelSpec:
    """One elementwise kernel.

    Attributes
    ----------
    name : str
        Name of the kernel and of its scalar formulas.
    nin : int
        Number of inputs, stride-0 scalars included.
    types : str
        Class letters of the element types it computes in.
    out : str
        Type of the result: "same", "bool", or "real" (the part of a complex type).
    in_types : tuple of str, optional
        Type of each input: "T" (the computing type, the default), "b1" or "real".
    cost : int
        Work per element for the threading thresholds; 1 is bound by memory.
    scalars : tuple of tuple of int, optional
        Sets of inputs (counted from 1) that get a loop of their own for stride 0. Only for kernels
        bound by memory; the others copy repeated elements into a block first.
    commutative : bool
        The two inputs may be swapped.
    share : str
        "bits": types of equal size run the same machine code.
    as_u8 : str
        Types that run the loop of uint8 because the bits of the result are the same.
    as_signed : bool
        uint16, uint32 and uint64 run the loops of int16, int32 and int64, which give the same bits.
    ints : str, optional
        "copy" where bool and integers pass through unchanged.
    swaps : str, optional
        Another kernel that gives the result with the two inputs swapped.
    through_bool : bool
        Inputs count only as zero or not zero: other types are cast to bool by blocks.
    far : str
        Class letters whose loops run ag_<name>_near_<suffix> on blocks where nothing is far, and
        ag_<name>_<suffix> on the others.
    far_by : str
        What is asked whether it is far: "trig", ag_trig_far_<suffix> of the last input, or "ratio",
        ag_ratio_far_<suffix> of both.
    wide : str
        Types whose loops are ag_run_<name>_<type> of scalar/wide.h, over whole vectors at once.
    halves : bool
        Two dense inputs of a half type have a loop without blocks of float32 between its steps.
    alias : str, optional
        Another kernel whose loops this one takes over.
    keeps : str
        "number": half types, computed in float32, take a Python number as float32 too, not rounded to
        the half type. "factor": so is, as in torch, a second operand that is a 0-d tensor of a wider dtype.
    divides : bool
        Integers are divided by the second input: a device notes a 0 there as a fault, and leaves the
        element out. On the CPU that is checked before.
    """

    name: str
    nin: int
    types: str
    out: str = "same"
    in_types: tuple[str, ...] | None = None
    cost: int = 1
    scalars: tuple[tuple[int, ...], ...] | None = None
    commutative: bool = False
    share: str = "none"
    as_u8: str = ""
    as_signed: bool = False
    ints: str | None = None
    swaps: str | None = None
    through_bool: bool = False
    far: str = ""
    far_by: str = "trig"
    wide: str = ""
    halves: bool = False
    alias: str | None = None
    keeps: str = ""
    divides: bool = False

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.in_types or ("T",) * self.nin

    @property
    def scalar_sets(self) -> tuple[tuple[int, ...], ...]:
        if self.scalars is not None:
            return self.scalars
        if self.nin != 2 or self.is_staged:
            return ()
        return ((2,),) if self.commutative else ((2,), (1,))

    @property
    def is_staged(self) -> bool:
        """Strided operands go through blocks: the contiguous loop is the only copy of the formula."""
        return self.cost >= STAGED_COST


def _unary(names: str, types: str, **kw: Any) -> list[KernelSpec]:
    return [KernelSpec(name, 1, types, **kw) for name in names.split()]


def _binary(names: str, types: str, **kw: Any) -> list[KernelSpec]:
    return [KernelSpec(name, 2, types, **kw) for name in names.split()]


MOVES = [
    KernelSpec("copy", 1, "biuhfc", scalars=((1,),), share="bits"),
    KernelSpec("where", 3, "biuhfc", in_types=("b1", "T", "T"), scalars=((2,), (3,)), share="bits"),
]

ARITHMETIC = [
    *_binary("add", "bihfc", as_u8="i8", commutative=True, keeps="number", halves=True),
    *_binary("sub", "bihfc", as_u8="i8", keeps="number", halves=True),
    *_binary(
        "mul",
        "biuhfc",
        as_u8="i8 b1",
        as_signed=True,
        commutative=True,
        keeps="factor",
        halves=True,
    ),
    *_binary("div", "hfc", cost=2, keeps="factor", halves=True),
    *_binary("trunc_divide", "ihf", cost=3, keeps="factor", divides=True),
    *_binary("floor_divide", "ihf", cost=8, keeps="factor", far="if", far_by="ratio", divides=True),
    *_binary("remainder fmod", "ihf", cost=8, far="if", far_by="ratio", divides=True),
    *_binary("pow", "bihfc", cost=10, wide="f32 f64"),
    *_binary("maximum minimum", "bihf", as_u8="b1", commutative=True),
    *_binary("fmax fmin", "hf", commutative=True),
    *_binary("copysign heaviside", "hf"),
    *_binary("nextafter", "f", cost=4),
    *_binary("hypot", "hf", cost=4),
    *_unary("neg square cube", "ihfc", as_u8="i8"),
    *_unary("abs", "bihfc", out="real", as_u8="b1"),
    *_unary("sign", "bihfc", as_u8="b1"),
    KernelSpec("sgn", 1, "bihfc", alias="sign"),
    *_unary("reciprocal", "hfc", cost=2),
    *_unary("sqrt", "hfc", cost=3, wide="f32 f64"),
    *_unary("rsqrt", "hfc", cost=3),
    *_unary("floor ceil round trunc", "biuhf", ints="copy"),
    *_unary("frac", "hf"),
    KernelSpec("clamp", 3, "ihf", scalars=((2, 3),)),
    KernelSpec("lerp", 3, "hfc", scalars=((3,),), keeps="number"),
    KernelSpec("add_scaled", 3, "bihfc", scalars=((3,),), as_u8="i8", keeps="number"),
    KernelSpec("addcmul", 4, "ihfc", scalars=((4,),), as_u8="i8", keeps="number"),
    KernelSpec("add_products", 4, "hfc", keeps="number"),
    KernelSpec("addcdiv", 4, "hfc", scalars=((4,),), cost=2, keeps="number"),
]

COMPARISONS = [
    *_binary("eq ne", "biuhfc", out="bool", as_u8="i8 b1", as_signed=True, commutative=True),
    *_binary("lt le", "biuhf", out="bool", as_u8="b1"),
    KernelSpec("gt", 2, "biuhf", out="bool", swaps="lt"),
    KernelSpec("ge", 2, "biuhf", out="bool", swaps="le"),
    *_binary("logical_and logical_or logical_xor", "bihfc", out="bool", through_bool=True),
    *_unary("logical_not", "bihfc", out="bool", through_bool=True),
    *_unary("isnan isinf isfinite", "hfc", out="bool"),
    *_unary("signbit", "hf", out="bool"),
]

BITS = [
    *_binary(
        "bitwise_and bitwise_or bitwise_xor",
        "biu",
        as_u8="i8 b1",
        as_signed=True,
        commutative=True,
    ),
    *_unary("bitwise_not", "bi", as_u8="i8"),
    *_binary("left_shift right_shift", "i", cost=3),
]

FUNCTIONS = [
    *_unary("exp", "hfc", cost=4, far="c", wide="f32 f64"),
    *_unary("exp2", "hfc", cost=4, far="c"),
    *_unary("expm1", "hfc", cost=5, far="c"),
    *_unary("log", "hfc", cost=4, wide="f32 f64"),
    *_unary("log2 log10", "hfc", cost=5, wide="f32 f64"),
    *_unary("log1p", "hfc", cost=5),
    *_unary("sin cos", "hfc", cost=5, far="fc"),
    *_unary("tan", "hfc", cost=6, far="fc"),
    *_unary("asin acos atan", "hfc", cost=6),
    *_unary("asinh acosh atanh", "hfc", cost=8),
    *_unary("tanh sigmoid", "hfc", cost=5, far="c", wide="f32 f64"),
    *_unary("sinh cosh", "hfc", cost=6, far="c"),
    *_unary("erf", "hf", cost=6, wide="f32"),
    *_unary("erfc", "hf", cost=6),
    *_unary("lgamma digamma trigamma", "hf", cost=10),
    *_unary("i0 i0e i1 i1e i1e_quotient", "hf", cost=10),
    *_binary("atan2", "hf", cost=7),
    *_binary("logaddexp", "hfc", cost=8),
    *_binary("xlogy", "hf", cost=5),
    *_binary("logit", "hf", cost=6),
]

COMPLEX_PARTS = [
    *_unary("conj", "c"),
    *_unary("real imag", "c", out="real"),
    *_unary("angle", "hfc", out="real", cost=4),
    *_binary("complex", "c", in_types=("real", "real")),
    *_binary("polar", "c", in_types=("real", "real"), cost=8, far="c"),
]

ACTIVATIONS = [
    *_unary("relu", "ihf"),
    *_binary("leaky_relu", "hf", keeps="number"),
    *_binary("elu", "hf", cost=5, keeps="number"),
    *_unary("selu", "hf", cost=5),
    KernelSpec("celu", 3, "hf", cost=5, keeps="number"),
    *_binary("hardshrink softshrink", "hf", scalars=((2,),), keeps="number"),
    *_unary("hardsigmoid hardswish", "hf", cost=2),
    *_unary("mish", "hf", cost=7),
    *_binary("glu", "hf", cost=6),
    *_unary("silu", "hfc", cost=5, far="c"),
    *_unary("log_sigmoid", "hf", cost=8),
    KernelSpec("softplus", 3, "hf", cost=8, keeps="number"),
    *_unary("gelu", "hf", cost=7, wide="f32"),
    *_unary("gelu_tanh", "hf", cost=6),
]

BACKWARD = [
    *_binary("threshold_backward", "ihf", scalars=()),
    *_binary("tanh_backward sigmoid_backward", "hfc", scalars=()),
    *_binary("silu_backward", "hfc", cost=6, far="c"),
    *_binary("log_sigmoid_backward", "hf", cost=6),
    *_binary("gelu_backward", "hf", cost=9),
    *_binary("gelu_tanh_backward", "hf", cost=7),
    KernelSpec("leaky_relu_backward", 3, "hf", scalars=((3,),), keeps="number"),
    *_binary("prelu_weight", "hf", scalars=()),
    KernelSpec("elu_backward", 3, "hf", cost=5, keeps="number"),
    *_binary("selu_backward", "hf", cost=5),
    KernelSpec("celu_backward", 3, "hf", cost=5, keeps="number"),
    KernelSpec("shrink_backward", 3, "hf", scalars=((3,),), keeps="number"),
    KernelSpec("hardtanh_backward", 4, "hf", scalars=((3, 4),), keeps="number"),
    *_binary("hardsigmoid_backward hardswish_backward", "hf", cost=2, scalars=()),
    *_binary("mish_backward", "hf", cost=8),
    KernelSpec("glu_gate", 3, "hf", cost=6),
    KernelSpec("softplus_backward", 4, "hf", cost=6, keeps="number"),
    KernelSpec("clamp_backward", 4, "hf", scalars=((3, 4),)),
]

LOSSES = [
    *_binary("l1_loss", "hf"),
    KernelSpec("smooth_l1_loss", 3, "hf", cost=3, keeps="number"),
    KernelSpec("huber_loss", 3, "hf", cost=3, keeps="number"),
    *_binary("binary_cross_entropy", "hf", cost=9),
    *_binary("logit_cross_entropy", "hf", cost=8),
    KernelSpec("weighted_logit_cross_entropy", 3, "hf", cost=8),
    *_binary("kl_div", "hf", cost=5),
    *_binary("kl_div_log", "hf", cost=4),
    *_binary("soft_margin_loss", "hf", cost=8),
    KernelSpec("l1_loss_backward", 3, "hf", scalars=((1,),)),
    KernelSpec("smooth_l1_loss_backward", 4, "hf", scalars=((1, 4),), cost=2, keeps="number"),
    KernelSpec("huber_loss_backward", 4, "hf", scalars=((1, 4),), cost=2, keeps="number"),
    KernelSpec("binary_cross_entropy_backward", 3, "hf", scalars=((1,),), cost=2),
    KernelSpec("logit_cross_entropy_backward", 3, "hf", cost=6),
    KernelSpec("weighted_logit_cross_entropy_backward", 4, "hf", cost=6),
    *_binary("kl_div_log_backward", "hf", cost=4),
    KernelSpec("soft_margin_loss_backward", 3, "hf", cost=6),
]

SPECS = [
    *MOVES,
    *ARITHMETIC,
    *COMPARISONS,
    *BITS,
    *FUNCTIONS,
    *COMPLEX_PARTS,
    *ACTIVATIONS,
    *BACKWARD,
    *LOSSES,
]

# Kernels that no record uses, and why they are here.
NOT_YET = {
    "nextafter": "an operator whose record is still to be written",
}
