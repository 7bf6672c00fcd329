"""Complex numbers: conjugates, parts, views as real numbers and back."""

from autograd_cy.ops._schema import (
    BINARY,
    UNARY,
    arg,
    box,
    by_test,
    composite,
    differs,
    elementwise,
    one,
    op,
    real,
    sample,
    shapes,
    view,
)

# --- conjugates --------------------------------------------------------------------------------

op(
    "conj(self)",
    kernel=composite("_conj(self) if self.is_complex() else self"),
    samples=UNARY,
    reference="np.conj(self)",
    doc=(
        "Complex conjugate, a lazy view of a complex tensor (see `is_conj`); a real tensor is "
        "returned as it is."
    ),
    example=">>> ag.conj(ag.tensor([1 + 2j]))\ntensor([1.-2.j])",
)

op(
    "_conjugate(self)",
    kernel=composite("conj_physical(self) if self.is_complex() else self"),
    samples=UNARY,
    reference="np.conj(self)",
    doc="The conjugate of complex numbers: ``conj`` in formulas.",
)

op(
    "_conj(self)",
    event="conj",
    kernel=view("shapes.conj_plain"),
    node="ConjBackward0",
    vjp={"self": "conj(grad)"},
    jvp="linear",
    vmap="_conj(self)",
    samples=UNARY,
    dtypes="c",
    reference="np.conj(self)",
    doc="The conjugate of a complex tensor as a view.",
)

op(
    "conj_physical(self)",
    kernel=composite("_conj_physical(self) if self.is_complex() else self"),
    inplace=True,
    out="exact",
    samples=UNARY,
    reference="np.conj(self)",
    doc="Complex conjugate in new memory; a real tensor is returned as it is.",
    example=">>> ag.conj_physical(ag.tensor([1 + 2j]))\ntensor([1.-2.j])",
)

op(
    "_conj_physical(self)",
    kernel=elementwise("conj"),
    inplace=True,
    shown_as="conj_physical",
    node="ConjPhysicalBackward0",
    vjp={"self": "conj(grad)"},
    jvp="linear",
    vmap="elementwise",
    samples=UNARY,
    dtypes="c",
    reference="np.conj(self)",
    doc="Complex conjugate in new memory.",
)

op(
    "resolve_conj(self)",
    kernel=composite("complex.resolve_conj"),
    out=False,
    samples=UNARY,
    reference="self",
    doc="The tensor itself, or a copy if its conjugation is still to be done.",
    example=">>> ag.resolve_conj(ag.tensor([1 + 2j]).conj()).is_conj()\nFalse",
)

op(
    "adjoint(self)",
    kernel=composite("complex.adjoint"),
    samples=[one((3, 4)), one((2, 3, 4))],
    reference="np.conj(np.swapaxes(self, -2, -1))",
    doc="Conjugate transpose of the last two dimensions.",
    example=">>> ag.adjoint(ag.tensor([[1 + 2j, 3j]]))\ntensor([[1.-2.j],\n        [0.-3.j]])",
)

op(
    "_neg_view(self)",
    event="_neg_view",
    kernel=view("shapes.neg_plain"),
    node="NegViewBackward0",
    vjp={"self": "-grad"},
    jvp="linear",
    vmap="_neg_view(self)",
    samples=UNARY,
    dtypes="ihfc",
    reference="-self",
    doc="The negative of a tensor as a view.",
)

op(
    "resolve_neg(self)",
    kernel=composite("complex.resolve_neg"),
    out=False,
    samples=UNARY,
    reference="self",
    doc="The tensor itself, or a copy if its negation is still to be done.",
    example=">>> ag.resolve_neg(ag.tensor([1 + 2j]).conj().imag)\ntensor([-2.])",
)

# --- parts -------------------------------------------------------------------------------------

op(
    "real(self)",
    method=False,
    kernel=composite("complex.real_part"),
    samples=shapes(((3, 4),), ((),)),
    reference="np.real(self)",
    doc="Real part, as a view; a real tensor is returned as it is.",
    example=">>> ag.real(ag.tensor([1 + 2j]))\ntensor([1.])",
)

op(
    "imag(self)",
    method=False,
    checks="complex_only",
    kernel=composite("complex.imag_part"),
    samples=shapes(((3, 4),), ((),)),
    dtypes="c",
    reference="np.imag(self)",
    doc="Imaginary part of a complex tensor, as a view.",
    example=">>> ag.imag(ag.tensor([1 + 2j]))\ntensor([2.])",
)

op(
    "_real(self)",
    event="real",
    kernel=elementwise("real", dtypes="real"),
    node="RealBackward0",
    vjp={"self": "complex(grad, zeros_like(grad))"},
    jvp="linear",
    vmap="elementwise",
    samples=UNARY,
    dtypes="c",
    reference="np.real(self)",
    doc="Real part in new memory; real and imag are views.",
)

op(
    "_imag(self)",
    event="imag",
    kernel=elementwise("imag", dtypes="real"),
    node="ImagBackward0",
    vjp={"self": "complex(zeros_like(grad), grad)"},
    jvp="linear",
    vmap="elementwise",
    samples=UNARY,
    dtypes="c",
    reference="np.imag(self)",
    doc="Imaginary part in new memory.",
)

op(
    "angle(self)",
    tier="interpreted",
    kernel=elementwise("angle", dtypes=("float", "real")),
    vjp={"self": "_angle_backward(grad, self) if self.is_complex() else zeros_like(grad)"},
    jvp={
        "self": (
            "_imag(self_t * _over_square(self, abs(self)).conj()) if self.is_complex() "
            "else zeros_like(self_t)"
        )
    },
    vmap="elementwise",
    samples=UNARY,
    domain=real(-2, 2, avoid=(0.0,)),
    complex_domain=box(0.3, 1.5),
    reference="np.angle(self) if self.dtype.kind == 'c' else np.where(self < 0, np.pi, 0.0)",
    doc=(
        "The angle of complex numbers, in radians; of real numbers 0, or pi where they are "
        "negative."
    ),
    special=(
        differs(
            "gradient",
            "is_complex & (np.abs(self) < smallest**0.5)",
            "torch divides by the square of the absolute value, which underflows",
        ),
        differs(
            "second", "is_complex & ~(np.abs(self) < largest**0.5)", "the same square overflows"
        ),
    ),
    example=">>> ag.angle(ag.tensor([1.0, -1.0]))\ntensor([0.0000, 3.1416])",
)

op(
    "_angle_backward(grad, self)",
    tier="interpreted",
    kernel=composite(
        "complex(-grad * _imag(_over_square(self, abs(self))), grad * _real(_over_square(self, "
        "abs(self))))"
    ),
    doc="Gradient of angle of complex numbers.",
)

op(
    "complex(real, imag)",
    out="exact",
    checks="same_parts",
    kernel=elementwise("complex", dtypes="complex"),
    method=False,
    vjp={"real": "_real(grad)", "imag": "_imag(grad)"},
    jvp={
        "real": "complex(real_t, zeros_like(real_t))",
        "imag": "complex(zeros_like(imag_t), imag_t)",
    },
    vmap="elementwise",
    samples=BINARY,
    dtypes="f",
    reference="real + 1j * imag",
    doc="Complex numbers from real and imaginary parts.",
    example=">>> ag.complex(ag.tensor([1.0]), ag.tensor([2.0]))\ntensor([1.+2.j])",
)

op(
    "polar(abs, angle)",
    tier="interpreted",
    method=False,
    checks="polar",
    kernel=elementwise("polar", dtypes="complex"),
    vjp={
        "abs": "real(grad * _unit(angle).conj())",
        "angle": "abs * imag(grad * _unit(angle).conj())",
    },
    stays={"abs": ("abs",)},
    jvp={
        "abs": "mul(_unit(angle), abs_t)",
        "angle": "result * complex(zeros_like(angle_t), angle_t)",
    },
    vmap="elementwise",
    samples=[
        sample((arg((3, 4)), arg((3, 4)))),
        sample((arg((3, 1)), arg((4,)))),
        sample((arg(()), arg((2,)))),
    ],
    dtypes="f",
    reference="abs * np.exp(1j * angle)",
    special=differs(
        ("gradient", "second"),
        "(abs < 1e-6) | (abs > largest / 4) | ~finite(abs) | ~finite(angle)",
        (
            "the derivative by `abs` is the unit number of the angle; torch divides the result by "
            "its size"
        ),
    ),
    doc="Complex numbers of given absolute values and angles (in radians).",
    example=">>> ag.polar(ag.tensor([2.0]), ag.tensor([0.0]))\ntensor([2.+0.j])",
)

op(
    "_unit(angle)",
    tier="interpreted",
    kernel=composite("complex(cos(angle), sin(angle))"),
    doc="Complex numbers of absolute value 1.",
)

# --- views across dtypes -----------------------------------------------------------------------

op(
    "view_as_real(self)",
    method=False,
    kernel=view("shapes.view_as_real_plain"),
    vjp={"self": "view_as_complex(_dense_pairs(grad))"},
    jvp={"self": "view_as_real(resolve_conj(self_t))"},
    vmap="view_as_real(self)",
    dtypes="c",
    samples=shapes(((3, 4),), ((),), ((0, 3),)),
    reference="np.stack([self.real, self.imag], -1)",
    doc="A real view of a complex tensor, with a last dimension of 2 for real and imaginary part.",
    example=">>> ag.view_as_real(ag.tensor([1 + 2j]))\ntensor([[1., 2.]])",
)

op(
    "view_as_complex(self)",
    method=False,
    kernel=view("shapes.view_as_complex_plain"),
    vjp={"self": "view_as_real(grad)"},
    jvp={"self": "view_as_complex(_dense_pairs(self_t))"},
    vmap="view_as_complex(self) if self.ndim > 1 else view_as_complex(new_zeros(self, ()))",
    dtypes="f",
    samples=shapes(((3, 2),), ((2,),), ((0, 2),)),
    reference=by_test("tests/engine/test_views_across_dtypes.py::test_view_as_real_and_back"),
    doc="A complex view of a real tensor whose last dimension holds real and imaginary part.",
    example=">>> ag.view_as_complex(ag.tensor([[1.0, 2.0]]))\ntensor([1.+2.j])",
)

op(
    "_dense_pairs(self)",
    kernel=composite("complex.dense_pairs"),
    doc="A tensor that view_as_complex takes.",
)
