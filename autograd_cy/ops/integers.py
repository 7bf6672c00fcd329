"""Divisors and multiples of integers."""

from autograd_cy.ops._schema import arg, host, integers, nondiff, op, sample

LOADED = "at first use"

for _name, _what, _example in (
    ("gcd", "Greatest common divisor; of two zeros 0.", "tensor([2, 5])"),
    ("lcm", "Least common multiple; 0 beside a zero.", "tensor([12,  0])"),
):
    op(
        f"{_name}(self, other)",
        tier="interpreted",
        kernel=host(f"np.{_name}(self, other)"),
        checks="common_shape",
        inplace=True,
        vjp=nondiff("integers have no derivative"),
        vmap="elementwise",
        samples=[
            sample((arg(a, integers(-9, 10)), arg(b, integers(-9, 10))))
            for a, b in (
                ((3, 4), (3, 4)),
                ((3, 1), (4,)),
                ((), (3,)),
                ((2, 3), ()),
                ((0, 3), (1, 3)),
            )
        ],
        dtypes="i",
        reference=f"np.{_name}(self, other)",
        params={"other": "The second operand."},
        doc=_what,
        example=f">>> ag.{_name}(ag.tensor([4, 5]), ag.tensor([6, 0]))\n{_example}",
    )
