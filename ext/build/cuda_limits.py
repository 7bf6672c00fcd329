"""Limits on the instructions for one element in the dense elementwise kernels of GPUs.

What they took with nvcc 13.0 and 13.5 for compute capability 9.0, and some 6 % more. An H200 issues
56 instructions while its memory moves an element of a float32 function of one operand, 84 for two
operands, 28 and 42 in half types. What seldom runs counts here, too: the slow paths of division and
of huge arguments are in `div`, `sin` and `pow`, so that these are lower when they run.
"""

from __future__ import annotations

TYPES = ("f32", "f16", "bf16")
# fmt: off
LIMITS: dict[str, tuple[int, int, int]] = {
    "add": (24, 25, 23),
    "sub": (24, 25, 23),
    "mul": (24, 25, 23),
    "div": (61, 53, 51),
    "neg": (19, 18, 16),
    "abs": (19, 18, 16),
    "relu": (20, 20, 18),
    "maximum": (26, 27, 25),
    "clamp": (36, 36, 35),
    "lerp": (34, 33, 33),
    "add_scaled": (30, 29, 29),
    "addcmul": (36, 34, 33),
    "addcdiv": (72, 62, 61),
    "eq": (26, 21, 22),
    "sqrt": (38, 45, 43),
    "rsqrt": (22, 29, 27),
    "reciprocal": (44, 40, 38),
    "exp": (27, 34, 32),
    "exp2": (22, 29, 27),
    "expm1": (52, 58, 57),
    "log": (45, 52, 50),
    "log2": (58, 65, 63),
    "log10": (57, 64, 62),
    "log1p": (61, 68, 66),
    "tanh": (45, 52, 50),
    "tanh_backward": (25, 25, 25),
    "sinh": (63, 70, 69),
    "cosh": (57, 64, 63),
    "asinh": (100, 107, 105),
    "acosh": (94, 101, 99),
    "atanh": (75, 82, 80),
    "sin": (150, 156, 155),
    "cos": (151, 157, 156),
    "tan": (149, 155, 153),
    "asin": (69, 76, 73),
    "acos": (72, 79, 77),
    "atan": (84, 91, 89),
    "atan2": (119, 127, 125),
    "hypot": (57, 67, 64),
    "pow": (136, 145, 144),
    "erf": (55, 62, 60),
    "erfc": (63, 70, 69),
    "sigmoid": (46, 53, 52),
    "sigmoid_backward": (26, 27, 25),
    "silu": (47, 54, 53),
    "silu_backward": (60, 68, 67),
    "gelu": (60, 67, 66),
    "gelu_backward": (80, 89, 88),
    "gelu_tanh": (52, 59, 57),
    "gelu_tanh_backward": (72, 80, 78),
    "softplus": (76, 87, 87),
    "softplus_backward": (74, 85, 85),
    "log_sigmoid": (52, 58, 57),
    "elu": (64, 72, 71),
    "selu": (56, 62, 61),
    "mish": (54, 61, 60),
    "mish_backward": (76, 84, 83),
    "leaky_relu": (26, 26, 24),
    "hardswish": (60, 52, 50),
    "logaddexp": (66, 74, 73),
    "xlogy": (70, 78, 77),
    "logit": (77, 85, 85),
    "binary_cross_entropy": (104, 113, 112),
    "logit_cross_entropy": (62, 70, 69),
    "huber_loss": (35, 45, 44),
    "smooth_l1_loss": (71, 80, 79),
}
# fmt: on
ARCH = "sm_90"  # what the limits are for


def exceeded(costs: dict[str, float]) -> list[str]:
    """Kernels that take more than they may."""
    problems = []
    for name, cost in costs.items():
        function, _, dtype = name.rpartition("_")
        if function not in LIMITS or dtype not in TYPES:
            continue
        limit = LIMITS[function][TYPES.index(dtype)]
        if cost > limit:
            problems.append(f"{name} takes {cost:.1f} instructions an element, more than {limit}")
    return problems
