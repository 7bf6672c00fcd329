"""Statistics, digests and reports of the benchmark harness, on made-up numbers."""

import math

import numpy as np
import pytest

from benchmarks import report
from benchmarks.case import Case, Command, group_names, load_group, select
from benchmarks.compare import Settings
from benchmarks.digest import digest, disagreement
from benchmarks.quiet import busy_time
from benchmarks.summary import Measurement, Row, describe, geometric_mean, quiet_rounds, summarise
from benchmarks.timing import autorange, compile_loop, take_samples


def side(median, minimum=None):
    return {"median": median, "minimum": minimum or median, "count": 1, "samples": [[median]]}


ABOUT = {
    "date": "2026-01-02",
    "machine": {"processor": "a processor"},
    "libraries": {
        "left": {"name": "autograd_cy", "version": "1", "python": "3.11"},
        "right": {"name": "torch", "version": "2", "python": "3.11"},
    },
    "settings": {"threads": 1},
}


class FakeTensor:
    """An array that looks like a tensor to the digest."""

    def __init__(self, array):
        self.array = np.asarray(array)
        self.dtype = f"torch.{self.array.dtype}"

    def detach(self):
        return self

    def numpy(self):
        return self.array


def test_loop_runs_its_statement_as_often_as_told():
    seen = []
    loop = compile_loop("seen.append(value)", {"seen": seen, "value": 3})
    assert loop(4) >= 0.0
    assert seen == [3, 3, 3, 3]


def test_loop_length_grows_until_a_sample_is_long_enough():
    for cost in (1e-8, 1e-4, 2.0):
        count = autorange(lambda n, cost=cost: n * cost, 0.01)
        assert count * cost >= 0.01
        assert count == 1 or (count / 2) * cost < 0.0101


def test_loop_cost_is_subtracted_but_never_leaves_a_negative_time():
    assert take_samples(lambda count: count * 3.0, 5, 2, 1.0) == [2.0, 2.0]
    assert min(take_samples(lambda count: count * 3.0, 5, 1, 9.0)) > 0.0


def test_slow_cases_get_fewer_rounds():
    settings = Settings(samples=15, max_time=10.0)
    assert settings.plan(0.01) == (5, 3)
    assert settings.plan(3.0) == (3, 1)
    assert settings.plan(100.0) == (2, 1)
    assert Settings(samples=1).plan(0.01) == (1, 1)


def test_digests_of_equal_results_agree_and_large_ones_stay_short():
    numbers = np.random.default_rng(0).normal(size=(300, 300)).astype("float32")
    one, other = digest(FakeTensor(numbers)), digest(FakeTensor(numbers * (1 + 1e-6)))
    assert disagreement(one, other) is None
    assert len(one[0]["values"]) <= 256


def test_wrong_value_in_a_large_result_shows_in_the_mean():
    numbers = np.ones(100_000, "float64")
    wrong = numbers.copy()
    wrong[12_345] = 1e3
    assert "differ" in disagreement(digest(FakeTensor(numbers)), digest(FakeTensor(wrong)))


@pytest.mark.parametrize(
    ("left", "right", "words"),
    [
        (np.zeros(3), np.zeros(4), "shape"),
        (np.zeros(3), np.zeros(3, "float32"), "dtype"),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), "differ"),
        (np.array([1.0, np.inf]), np.array([1.0, 2.0]), "differ"),
        (np.array([3]), np.array([4]), "differ"),
    ],
)
def test_disagreement_names_shape_dtype_or_values(left, right, words):
    assert words in disagreement(digest(FakeTensor(left)), digest(FakeTensor(right)))


def test_equal_not_a_numbers_and_infinities_agree():
    odd = FakeTensor(np.array([np.nan, np.inf, -np.inf, 1.0]))
    assert disagreement(digest(odd), digest(odd)) is None


def test_tuples_are_compared_item_by_item():
    one = FakeTensor(np.zeros(2))
    assert len(digest((one, [one, None], 2.0))) == 3
    assert disagreement(digest((one, one)), digest(one)) == "2 results against 1"


def test_only_quiet_rounds_count_while_there_are_two():
    measurement = Measurement([[1.0], [9.0], [2.0]], count=7)
    rounds = quiet_rounds([False, True, False])
    assert describe(measurement, rounds)["median"] == 1.5
    assert quiet_rounds([True, True, False]) == [0, 1, 2]


def test_row_is_trusted_if_two_rounds_or_the_only_one_were_quiet():
    def row(rounds, disturbed):
        return Row("g", "c", "ok", rounds=rounds, disturbed=disturbed)

    assert row(5, 3).is_trusted()
    assert not row(5, 4).is_trusted()
    assert row(1, 0).is_trusted()
    assert not row(1, 1).is_trusted()


def test_group_mean_leaves_out_wrong_and_missing_cases():
    rows = [
        Row("g", "a", "ok", left=side(1.0), right=side(4.0)),
        Row("g", "b", "ok", left=side(4.0), right=side(4.0)),
        Row("g", "c", "WRONG", left=side(1.0), right=side(100.0)),
        Row("g", "d", "missing"),
    ]
    (summary,) = summarise(rows)
    assert math.isclose(summary["ratio_median"], 0.5)
    assert (summary["compared"], summary["WRONG"], summary["missing"]) == (2, 1, 1)


def test_geometric_mean_of_nothing_is_none():
    assert geometric_mean([]) is None


def test_busy_time_counts_the_given_cores_without_idle_and_io_wait():
    stat = (
        "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 1000 1000 4 5 6 0 0\ncpu1 7 0 0 0 0 0 0 0 0 0\nintr 5"
    )
    assert busy_time(stat, {0}) / busy_time(stat, {1}) == pytest.approx(21 / 7)


def test_json_round_trip_keeps_rows_and_what_is_known_about_the_run():
    rows = [Row("g", "a", "ok", left=side(1.0), right=side(2.0), rounds=5)]
    again, about = report.from_json(report.to_json(rows, ABOUT))
    assert again == rows
    assert about == ABOUT


def test_file_of_another_format_is_refused():
    with pytest.raises(ValueError, match="format 99"):
        report.from_json('{"format": 99}')


def test_text_shows_ratios_and_hides_those_of_wrong_results():
    right = Row("g", "a", "ok", left=side(1e-6), right=side(2e-6))
    wrong = Row("g", "b", "WRONG", note="values differ", left=side(1e-6), right=side(2e-6))
    assert "0.50" in report.text_row(right)
    assert "0.50" not in report.text_row(wrong)
    assert "WRONG: values differ" in report.text_row(wrong)


def test_summary_names_groups_with_trouble():
    text = report.text_summary([Row("g", "a", "crash"), Row("g", "b", "WRONG")])
    assert "1 WRONG" in text
    assert "1 crash" in text


def test_every_group_has_named_cases_with_setup():
    for name in group_names():
        for case in load_group(name).CASES:
            assert isinstance(case, (Case, Command))


def test_unknown_group_is_an_error_that_names_the_groups():
    with pytest.raises(ValueError, match="dispatch"):
        load_group("nonsense")


def test_patterns_select_by_part_or_by_wildcard():
    cases = [Command(name, "") for name in ("add 1e3", "add 1e5", "mul 1e3")]
    assert len(select(cases, ["add"])) == 2
    assert len(select(cases, ["*1e3"])) == 2
    assert len(select(cases, [])) == 3
