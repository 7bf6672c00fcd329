"""Tests of many cases: every case runs, and a failure names all that failed."""

import grouping
import pytest


def cases_of(function, params):
    return grouping.each("x", params)(function).each[0]


def test_a_failure_names_every_case_that_failed():
    ran = []

    def check(x):
        ran.append(x)
        assert x % 2 == 0, f"{x} is odd"

    cases = cases_of(check, [1, 2, pytest.param(3, id="three"), 4])
    with pytest.raises(AssertionError, match="2 of 4 cases failed") as caught:
        grouping.run_all(check, cases, {})
    assert ran == [1, 2, 3, 4]
    assert "\n1: AssertionError: 1 is odd" in str(caught.value)
    assert "\nthree: AssertionError: 3 is odd" in str(caught.value)
    assert "1 is odd" in str(caught.value.__cause__)


def test_a_failure_asked_for_counts_as_one():
    with pytest.raises(AssertionError, match="1 of 1 cases failed"):
        grouping.run_all(pytest.fail, grouping.Cases(("reason",), (grouping.as_param("a", 1),)), {})


def test_a_test_is_skipped_if_all_its_cases_are():
    def skip(x):
        if x:
            pytest.skip("not here")

    grouping.run_all(skip, cases_of(skip, [0, 1]), {})
    with pytest.raises(pytest.skip.Exception, match="not here"):
        grouping.run_all(skip, cases_of(skip, [1, 2]), {})


def test_marked_cases_are_tests_of_their_own():
    names = ["add-1", "mul-1", "add-2", pytest.param("add-3", marks=pytest.mark.slow)]
    cases = cases_of(lambda x: None, names)
    found = {
        p.id: [q.id for q in p.values[0].params]
        for p in grouping.tests(cases, grouping.of_first_word, room=3)
    }
    assert found == {"add..mul": ["add-1", "add-2", "mul-1"], "add-slow": ["add-3"]}
    apart = [p.id for p in grouping.tests(cases, str, room=1)]
    assert apart == ["add-1", "mul-1", "add-2", "add-3-slow"]


def test_slow_cases_are_put_together_and_those_of_other_marks_are_not():
    slow, other = pytest.mark.slow, pytest.mark.xfail
    marks = {"a-1": (), "a-2": slow, "b-1": (), "b-2": slow, "c-1": other, "d-1": other}
    cases = cases_of(lambda x: None, [pytest.param(n, marks=m) for n, m in marks.items()])
    found = list(grouping.tests(cases, grouping.of_first_word, room=5))
    asked = [[q.id for q in p.values[0].params] for p in found]
    assert asked == [["a-1", "b-1"], ["a-2", "b-2"], ["c-1"], ["d-1"]]
    assert [[mark.name for mark in p.marks] for p in found] == [[], ["slow"], ["xfail"], ["xfail"]]


def test_groups_are_put_together_and_no_group_is_parted():
    counts = {"a": 3, "b": 2, "c": 9, "d": 1}
    names = [f"{word}-{i}" for word, n in counts.items() for i in range(n)]
    cases = cases_of(lambda x: None, names)
    found = list(grouping.tests(cases, grouping.of_first_word, room=5))
    assert [p.id for p in found] == ["a..b", "c", "d"]
    assert [q.id for p in found for q in p.values[0].params] == names


@grouping.each("a, b", [(1, 2), (1, 3), (2, 3)], group=lambda name: "all")
def test_fixtures_are_shared_by_the_cases(a, b, tmp_path, request):
    (tmp_path / f"{a}{b}").touch()
    assert a < b
    assert tmp_path.is_dir()
    if (a, b) == (2, 3) and not request.config.getoption("apart"):
        assert sorted(p.name for p in tmp_path.iterdir()) == ["12", "13", "23"]


@grouping.each("a", ["first-1", "second-1"])
def test_names_of_cases_are_keywords(a, request):
    assert a in request.node.extra_keyword_matches


@pytest.fixture(scope="module")
def of_the_module():
    return []


@pytest.mark.parametrize("b", [1, pytest.param(2, id="two")])
@pytest.mark.parametrize(("a", "c"), [(1, 2), (3, 4)])
def test_parametrised_neighbours(a, b, c, of_the_module):
    assert (a, c) in {(1, 2), (3, 4)}
    of_the_module.append((a, b))


@pytest.mark.parametrize("a", [1, pytest.param(2, marks=pytest.mark.filterwarnings("error")), 3, 4])
def test_with_a_mark(a, of_the_module):
    of_the_module.append(a)


@pytest.mark.parametrize("a", [1, 2])
def test_with_a_fixture_of_each(a, tmp_path):
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").touch()


@pytest.fixture
def indirect(request):
    return request.param + 1


@pytest.mark.parametrize("indirect", [1, 2], indirect=True)
def test_indirect(indirect):
    assert indirect in (2, 3)


def test_neighbours_that_share_everything_are_one_test(request, of_the_module):
    names = [item.name for item in request.session.items if item.path == request.path]
    if request.config.getoption("apart"):
        pytest.skip("each case is its own test")
    wanted = {
        "test_parametrised_neighbours": ["1-2-1..3-4-two"],
        "test_with_a_mark": ["1", "2", "3..4"],
        "test_with_a_fixture_of_each": ["1", "2"],
        "test_indirect": ["1", "2"],
    }
    for function, cases in wanted.items():
        found = [name for name in names if name.startswith(function + "[")]
        if found:  # -k may have left them out
            assert found == [f"{function}[{case}]" for case in cases]
    # With several workers each runs some of them.
    if len(names) > 10 and not hasattr(request.config, "workerinput"):
        assert of_the_module[:4] == [(1, 1), (1, 2), (3, 1), (3, 2)]
