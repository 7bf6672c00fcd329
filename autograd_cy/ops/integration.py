"""Integrals of samples by the trapezoidal rule."""

from autograd_cy.ops._schema import arg, by_test, composite, error, op, sample

LOADED = "at first use"

PARAMS = {
    "y": "Values of the function.",
    "x": "The points of these values: a vector, or points for each value.",
    "dx": "The distance of all neighbouring points.",
    "dim": "The dimension of the points.",
}
OF_STEPS = {name: text for name, text in PARAMS.items() if name != "x"}
OF_POINTS = {name: text for name, text in PARAMS.items() if name != "dx"}
AREAS = "np.moveaxis(y, dim, -1)[..., 1:] + np.moveaxis(y, dim, -1)[..., :-1]"
BETWEEN = by_test("tests/ops/test_integration.py::test_areas_between_points_are_sums_of_trapezoids")

for _name, _all in (("trapezoid", ".sum(-1)"), ("cumulative_trapezoid", ".cumsum(-1)")):
    _what = "Integral" if _name == "trapezoid" else "Integrals from the first point to each other"
    _back = "" if _name == "trapezoid" else "np.moveaxis({}, -1, dim)"
    _result = (_back or "{}").format(f"(({AREAS}) * (dx / 2)){_all}")
    op(
        f"{_name}(y, *, dx: float = 1, dim: dim = -1)",
        tier="interpreted",
        method=False,
        kernel=composite(f"integration.{_name}_of_steps"),
        tolerance=1e-4,
        samples=[
            sample((arg((5,)),)),
            sample((arg((3, 4)),), {"dim": 0}),
            sample((arg((2, 3, 4)),), {"dx": 0.5, "dim": 1}),
            sample((arg((3, 1)),)),
        ],
        dtypes="ihfc",
        reference=_result,
        errors=(
            error(sample((arg((3,)),), {"dx": 1j}), TypeError, "dx"),
            error(sample((arg(()),)), IndexError, "Dimension out of range"),
        ),
        params=OF_STEPS,
        doc=f"{_what} of sampled values by the trapezoidal rule.",
        example={
            "trapezoid": ">>> ag.trapezoid(ag.tensor([1.0, 2.0, 4.0]), dx=0.5)\ntensor(2.2500)",
            "cumulative_trapezoid": (
                ">>> ag.cumulative_trapezoid(ag.tensor([1.0, 2.0, 4.0]))\ntensor([1.5000, 4.5000])"
            ),
        }[_name],
    )
    op(
        f"{_name}.x(y, x, *, dim: dim = -1)",
        tier="interpreted",
        method=False,
        when="len(args) > 1 or 'x' in kwargs",
        kernel=composite(f"integration.{_name}_between"),
        tolerance=1e-4,
        samples=[
            sample((arg((5,)), arg((5,)))),
            sample((arg((3, 4)), arg((3,))), {"dim": 0}),
            sample((arg((2, 3, 4)), arg((2, 3, 4))), {"dim": 1}),
        ],
        dtypes="ihfc",
        reference=BETWEEN,
        errors=(
            error(
                sample((arg((3, 2)), arg((4,)))),
                RuntimeError,
                "There must be one `x` value for each sample point",
            ),
        ),
        params=OF_POINTS,
        doc="Between given points.",
    )
op(
    "trapz(y, *, dx: float = 1, dim: dim = -1)",
    tier="interpreted",
    method=False,
    kernel=composite("integration.trapezoid_of_steps"),
    tolerance=1e-4,
    samples=[sample((arg((5,)),)), sample((arg((3, 4)),), {"dx": 0.5, "dim": 0})],
    dtypes="ihfc",
    reference=f"(({AREAS}) * (dx / 2)).sum(-1)",
    params=OF_STEPS,
    doc="Another name of :func:`trapezoid`.",
    example=">>> ag.trapz(ag.tensor([1.0, 2.0, 4.0]))\ntensor(4.5000)",
)
op(
    "trapz.x(y, x, *, dim: dim = -1)",
    tier="interpreted",
    method=False,
    when="len(args) > 1 or 'x' in kwargs",
    kernel=composite("integration.trapezoid_between"),
    tolerance=1e-4,
    samples=[sample((arg((5,)), arg((5,))))],
    dtypes="ihfc",
    reference=BETWEEN,
    params=OF_POINTS,
    doc="Between given points.",
)
