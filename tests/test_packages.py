"""The programs of packages have stored results, and differences from these are found."""

import json
import re

import pytest

from tests.packages import compare


def test_each_program_has_numbers_of_torch():
    stored = json.loads(compare.EXPECTED.read_text())
    assert stored["torch"].startswith("2.")
    assert list(stored["results"]) == compare.names()
    for name in compare.names():
        text = (compare.FOLDER / "programs" / f"{name}.py").read_text()
        assert text.startswith('"""') and "\ndef results():" in text, name


def test_versions_of_packages_that_are_run_are_pinned():
    lines = (compare.FOLDER / "requirements.txt").read_text().splitlines()
    pinned = {line.split("==")[0].replace("_", "-") for line in lines if "==" in line}
    assert not [line for line in lines if re.match(r"torch(==|$)", line)]
    assert {"einops", "torchdiffeq", "torchsde", "torchmetrics", "transformers"} <= pinned


@pytest.mark.parametrize(
    ("found", "line"),
    [
        ({"a": [1.0, 2.1], "b": "x"}, "['a'][1]: 2.1, not 2.0"),
        ({"a": [1.0], "b": "x"}, "['a']: has the length 1, not 2"),
        ({"a": [1.0, 2.0], "b": "y"}, "['b']: 'y', not 'x'"),
        ({"a": [1.0, 2], "b": "x"}, "['a'][1]: 2, not 2.0"),
        ({"a": [1.0, float("nan")], "b": "x"}, "['a'][1]: nan, not 2.0"),
        ({"b": "x"}, ": has ['b'], not ['a', 'b']"),
    ],
)
def test_differences(found, line):
    expected = {"a": [1.0, 2.0], "b": "x"}
    assert compare.differences(found, expected, 1e-3) == [line]
    assert compare.differences(expected, expected, 0.0) == []
    assert compare.differences({"a": [1.0, 2.0005], "b": "x"}, expected, 1e-3) == []
    assert compare.differences([float("nan")], [float("nan")], 0.0) == []
