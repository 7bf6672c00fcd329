"""Rows of a result, and the statistics on them: medians, minima, ratios, means per group."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

#: What a row's status may be; only ``ok`` rows count in a group's mean.
STATUSES = ("ok", "alone", "missing", "error", "crash", "WRONG")


@dataclass
class Measurement:
    """The samples of one case on one side.

    Parameters
    ----------
    samples : list of list of float
        One list per round.
    count : int
        Calls per sample.

    Examples
    --------
    >>> Measurement([[3.0, 1.0], [2.0]], 1).median([0, 1])
    2.0
    """

    samples: list[list[float]] = field(default_factory=list)
    count: int = 1

    def median(self, rounds: Iterable[int]) -> float:
        """Return the median over the samples of some rounds."""
        return median(self._of(rounds))

    def minimum(self, rounds: Iterable[int]) -> float:
        """Return the smallest sample of some rounds."""
        return min(self._of(rounds))

    def _of(self, rounds: Iterable[int]) -> list[float]:
        return [value for number in rounds for value in self.samples[number]]


@dataclass
class Row:
    """The result of one case.

    Parameters
    ----------
    group, case : str
        Which case.
    status : str
        One of ``STATUSES``: ``alone`` means that there was nothing to compare with.
    note : str
        Why the status is not ``ok``.
    unit : {"s", "B"}
        What was measured.
    work, work_unit : float, str
        Operations or bytes of one call, and which of them.
    left, right : dict or None
        ``median``, ``minimum``, ``samples`` and ``count`` of each side.
    disturbed, rounds : int
        How many rounds were disturbed, of how many.

    Examples
    --------
    >>> Row("dispatch", "add", "missing", note="no add").ratio("median") is None
    True
    """

    group: str
    case: str
    status: str
    note: str = ""
    unit: str = "s"
    work: float = 0.0
    work_unit: str = ""
    left: dict[str, Any] | None = None
    right: dict[str, Any] | None = None
    disturbed: int = 0
    rounds: int = 0

    def ratio(self, statistic: str) -> float | None:
        """Return left over right, or None if one of them is absent.

        Parameters
        ----------
        statistic : {"median", "minimum"}
            What to divide.

        Returns
        -------
        float or None
        """
        if self.left is None or self.right is None:
            return None
        return self.left[statistic] / self.right[statistic]

    def is_trusted(self) -> bool:
        """Tell whether at least two rounds, or the only one, were quiet."""
        return self.rounds - self.disturbed >= min(2, self.rounds)

    def to_json(self) -> dict[str, Any]:
        """Return the row as a dictionary with its ratios."""
        ratios = {f"ratio_{name}": self.ratio(name) for name in ("median", "minimum")}
        return {**asdict(self), **ratios}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Row:
        """Return the row that ``to_json`` wrote."""
        return cls(**{name: value for name, value in record.items() if name[:6] != "ratio_"})


def quiet_rounds(disturbed: list[bool]) -> list[int]:
    """Return the rounds to use: the quiet ones if there are at least two, otherwise all.

    Parameters
    ----------
    disturbed : list of bool
        One entry per round.

    Returns
    -------
    list of int

    Examples
    --------
    >>> quiet_rounds([False, True, False]), quiet_rounds([True, False])
    ([0, 2], [0, 1])
    """
    quiet = [number for number, bad in enumerate(disturbed) if not bad]
    return quiet if len(quiet) >= 2 else list(range(len(disturbed)))


def describe(measurement: Measurement, rounds: list[int]) -> dict[str, Any]:
    """Return the statistics of a measurement over some rounds, with all its samples.

    Parameters
    ----------
    measurement : Measurement
        What was measured.
    rounds : list of int
        The rounds that count.

    Returns
    -------
    dict

    Examples
    --------
    >>> describe(Measurement([[2.0, 4.0]], 7), [0])["median"]
    3.0
    """
    return {
        "median": measurement.median(rounds),
        "minimum": measurement.minimum(rounds),
        "count": measurement.count,
        "samples": measurement.samples,
    }


def geometric_mean(values: Iterable[float]) -> float | None:
    """Return the geometric mean, or None of nothing.

    Parameters
    ----------
    values : iterable of float
        Positive numbers.

    Returns
    -------
    float or None

    Examples
    --------
    >>> geometric_mean([0.5, 2.0])
    1.0
    """
    logarithms = [math.log(value) for value in values]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if logarithms else None


def summarise(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Return one record per group: how many cases compared, their mean ratios, the extremes.

    Parameters
    ----------
    rows : iterable of Row
        Rows of any groups.

    Returns
    -------
    list of dict
        In the order in which the groups appear.

    Examples
    --------
    >>> side = {"median": 1.0, "minimum": 1.0}
    >>> summarise([Row("gemm", "64", "ok", left=side, right=side)])[0]["ratio_median"]
    1.0
    """
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return [_summary(name, members) for name, members in groups.items()]


def _summary(name: str, rows: list[Row]) -> dict[str, Any]:
    compared = [row for row in rows if row.status == "ok"]
    ratios = [row.ratio("median") for row in compared]
    return {
        "group": name,
        "cases": len(rows),
        "compared": len(compared),
        "ratio_median": geometric_mean(ratios),
        "ratio_minimum": geometric_mean(row.ratio("minimum") for row in compared),
        "smallest": min(ratios, default=None),
        "largest": max(ratios, default=None),
        "untrusted": sum(not row.is_trusted() for row in compared),
        **{status: sum(row.status == status for row in rows) for status in STATUSES[1:]},
    }
