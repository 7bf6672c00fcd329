"""A line search for the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable

from autograd_cy import Tensor

#: A point of the line: how far along, loss, gradient, derivative along the line.
Point = tuple[float, float, Tensor, float]


def strong_wolfe(
    along: Callable[[float], tuple[float, Tensor]],
    direction: Tensor,
    loss: float,
    grad: Tensor,
    derivative: float,
    length: float,
    smallest: float,
    decrease: float = 1e-4,
    flatness: float = 0.9,
    most: int = 25,
) -> tuple[float, Tensor, float, int]:
    """
    Search a length of enough decrease and small derivative.

    Algorithms 3.5 and 3.6 of Nocedal and Wright, "Numerical Optimization" (2006): the length grows
    until an interval holds good ones, which cubic interpolation then makes smaller. `along` takes a
    length and returns loss and gradient there; `loss`, `grad` and `derivative` (its product with
    the direction) are those at length 0. Intervals in which all parameters move less than
    `smallest` are not made smaller. `decrease` and `flatness` are the constants :math:`c_1` and
    :math:`c_2`. Returns loss, gradient, length, and how often `along` was called.
    """
    size = float(direction.abs().max())
    calls = 0

    def at(t: float) -> Point:
        nonlocal calls
        calls += 1
        value, g = along(t)
        return t, value, g, float(g.dot(direction))

    def too_high(point: Point) -> bool:
        return point[1] > loss + decrease * point[0] * derivative or not math.isfinite(point[1])

    def good(point: Point) -> bool:
        return abs(point[3]) <= -flatness * derivative

    start: Point = (0.0, loss, grad, derivative)
    last, point = start, at(length)
    bracket: tuple[Point, Point] | None = None
    while True:
        if too_high(point) or (calls > 1 and point[1] >= last[1]):
            bracket = last, point
        elif good(point):
            return point[1], point[2], point[0], calls
        elif point[3] >= 0:
            bracket = point, last
        if bracket is not None or calls >= most:
            break
        t = point[0]
        further = cubic(last, point, t + 0.01 * (t - last[0]), t * 10)
        last, point = point, at(further)
    if bracket is None:
        best = min(start, last, point, key=lambda p: p[1])
        return best[1], best[2], best[0], calls

    low, high = bracket
    stuck = False
    while calls < most and not abs(high[0] - low[0]) * size < smallest:
        a, b = sorted((low[0], high[0]))
        t = cubic(low, high, a, b)
        # A trial near an end hardly shrinks the interval: the second time it goes inside.
        margin = 0.1 * (b - a)
        if min(b - t, t - a) < margin:
            if stuck or t >= b or t <= a:
                t = b - margin if abs(t - b) < abs(t - a) else a + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        point = at(t)
        if too_high(point) or point[1] >= low[1]:
            high = point
        else:
            if good(point):
                low = point
                break
            if point[3] * (high[0] - low[0]) >= 0:
                high = low
            low = point
    return low[1], low[2], low[0], calls


def cubic(one: Point, other: Point, least: float, most: float) -> float:
    """
    Return the minimum of the cubic through two points and their derivatives, within bounds.

    Equation 3.59 of Nocedal and Wright; the middle of the bounds if it has none.
    """
    left, right = (one, other) if one[0] <= other[0] else (other, one)
    width = left[0] - right[0]
    if width == 0 or not math.isfinite(left[1] + right[1] + left[3] + right[3]):
        return (least + most) / 2
    first = left[3] + right[3] - 3 * (left[1] - right[1]) / width
    square = first * first - left[3] * right[3]
    if not square >= 0:
        return (least + most) / 2
    second = math.sqrt(square)
    below = right[3] - left[3] + 2 * second
    ahead = width * (right[3] + second - first)
    if below == 0:
        # A straight line has no minimum; torch goes down as far as it may.
        return (least + most) / 2 if ahead == 0 else most if ahead > 0 else least
    minimum = right[0] + ahead / below
    return min(max(minimum, least), most)
