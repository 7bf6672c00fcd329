"""Discrete Fourier transforms along one dimension, by the compiled module of scipy.fft.

The transform is linear, ``y = s F x`` with s from `norm`; its gradient is the conjugate transpose,
an inverse transform without its own scaling, which is what the other of "backward" and "forward"
gives.
"""

from autograd_cy.ops._schema import arg, by_test, composite, host, op, sample

# The numbers by which torch's nodes know how a direction is scaled: not, by the root of n, by n.
SCALED = "{'ortho': 1, 'forward': 2}.get(norm, 0)"
UNSCALED = "{'ortho': 1, 'forward': 0}.get(norm, 2)"
NORM = "norm: choice(backward, ortho, forward)? = None"
LENGTHS = [
    sample((arg((4, 6)),)),
    sample((arg((4, 6)), 5, 0)),
    sample((arg((3, 4)), 7), {"norm": "ortho"}),
    sample((arg((5,)), 3, -1, "forward")),
]
HALF = [
    sample((arg((4, 4)),)),
    sample((arg((4, 3)), 6, 0)),
    sample((arg((3, 4)), 5), {"norm": "ortho"}),
    sample((arg((5,)), 3, -1, "forward")),
]

for _name, _what in (("fft", "Fourier transform"), ("ifft", "Inverse Fourier transform")):
    op(
        f"{_name}(input, n: int? = None, dim: dim = -1, {NORM})",
        namespace="fft",
        tier="interpreted",
        checks="transform",
        autocast="float32",
        kernel=host(f"fft.{_name}", "complex"),
        node="FftC2CBackward0",
        vjp={"input": f"_fft_c2c_backward(grad, input.shape, dim, norm, {_name == 'ifft'})"},
        shows={
            "forward": str(_name == "fft"),
            "normalization": SCALED if _name == "fft" else UNSCALED,
            "dim": "(dim,)",
        },
        jvp="linear",
        vmap="dims",
        samples=LENGTHS,
        dtypes="biufc",
        refusal={"h": "Unsupported dtype {}"},
        reference=f"scipy.fft.{_name}(input, n, dim, norm)",
        tolerance=1e-4,
        doc=(
            f"{_what} along a dimension, of `n` elements: the input is cut, or zeros are added.\n"
            '`norm` says which direction is divided by n: "backward" (default) the inverse, '
            '"forward" this one, "ortho" both by its root.'
        ),
        example={
            "fft": ">>> ag.fft.fft(ag.tensor([1.0, 2.0])).real\ntensor([ 3., -1.])",
            "ifft": ">>> ag.fft.ifft(ag.tensor([3.0, -1.0])).real\ntensor([1., 2.])",
        }[_name],
    )

op(
    f"rfft(input, n: int? = None, dim: dim = -1, {NORM})",
    namespace="fft",
    tier="interpreted",
    checks="real_transform",
    autocast="float32",
    kernel=host("fft.rfft", "complex"),
    node="FftR2CBackward0",
    vjp={"input": "_fft_r2c_backward(grad, input.shape, n, dim, norm)"},
    shows={"normalization": SCALED, "onesided": "True", "dim": "(dim,)"},
    jvp="linear",
    vmap="dims",
    samples=LENGTHS,
    dtypes="biuf",
    refusal={"h": "Unsupported dtype {}"},
    reference="scipy.fft.rfft(input, n, dim, norm)",
    tolerance=1e-4,
    doc=(
        "Fourier transform of real numbers: the elements 0 to n/2, of which the others are the "
        "conjugates."
    ),
    example=">>> ag.fft.rfft(ag.tensor([1.0, 0.0, 1.0, 0.0]))\ntensor([2.+0.j, 0.+0.j, 2.+0.j])",
)

op(
    f"irfft(input, n: int? = None, dim: dim = -1, {NORM})",
    namespace="fft",
    tier="interpreted",
    checks="half_transform",
    autocast="float32",
    kernel=host("fft.irfft", "real"),
    node="FftC2RBackward0",
    vjp={"input": "_fft_c2r_backward(grad, input.shape, dim, norm)"},
    shows={"normalization": UNSCALED, "dim": "(dim,)"},
    jvp="linear",
    vmap="dims",
    samples=HALF,
    dtypes="biufc",
    refusal={"h": "Unsupported dtype {}"},
    reference="scipy.fft.irfft(input, n, dim, norm)",
    tolerance=1e-4,
    doc=(
        "Inverse of :func:`rfft`; the result has `n` elements, ``2 * (input.size(dim) "
        "- 1)`` by default."
    ),
    example=(
        ">>> ag.fft.irfft(ag.fft.rfft(ag.tensor([1.0, 2.0, 3.0, 4.0])))\ntensor([1., 2., 3., 4.])"
    ),
)

op(
    "_fft_c2c_backward(grad, size: sizes, dim: dim, norm: str?, inverse: bool)",
    tier="interpreted",
    kernel=composite("fft.c2c_backward"),
    doc="Gradient of fft, or of ifft (`inverse`).",
)

op(
    "_fft_r2c_backward(grad, size: sizes, n: int?, dim: dim, norm: str?)",
    tier="interpreted",
    kernel=composite("fft.r2c_backward"),
    doc="Gradient of rfft.",
)

op(
    "_fft_c2r_backward(grad, size: sizes, dim: dim, norm: str?)",
    tier="interpreted",
    kernel=composite("fft.c2r_backward"),
    doc="Gradient of irfft.",
)

for _name, _lowest in (("fftfreq", "-(n // 2)"), ("rfftfreq", "0")):
    op(
        f"{_name}(n: int, d: float = 1.0, *, dtype: dtype? = None, device: device? = None, "
        "requires_grad: bool = False)",
        namespace="fft",
        tier="interpreted",
        kernel=composite(f"fft.{_name}", into=True),
        out=True,
        samples=[sample((5,)), sample((4, 0.5))],
        dtypes="f",
        reference=by_test("tests/ops/test_interpreted.py::test_frequencies"),
        doc=(
            "Frequencies of the elements of a transform of `n` elements that lie `d` apart, from "
            f"``{_lowest}`` on in steps of 1 / (n d)."
        ),
        example={
            "fftfreq": ">>> ag.fft.fftfreq(4)\ntensor([ 0.0000,  0.2500, -0.5000, -0.2500])",
            "rfftfreq": ">>> ag.fft.rfftfreq(4)\ntensor([0.0000, 0.2500, 0.5000])",
        }[_name],
    )
