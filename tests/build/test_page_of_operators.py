"""docs/adding-an-operator.md, followed word for word in a copy of the tree.

The page says where each of its blocks goes; what it says is done, and its commands are run.
"""

import importlib.util
import re
import shlex
import shutil

import pytest
from building import ROOT, build_inplace, copy_tree, run_python

PAGE = ROOT / "docs" / "adding-an-operator.md"
PLACES = {
    "new": re.compile(r"New file `([^`]+)`$"),
    "end": re.compile(r"At the end of `([^`]+)`$"),
    "endif": re.compile(r"Before the last `#endif` of `([^`]+)`$"),
    "list": re.compile(r"First in the list `(\w+)` of `([^`]+)`$"),
}
OPERATORS = ("softsign", "sum_squares", "ndtri")


def blocks():
    """(how, where, text) of each block of the page that has a place."""
    found = []
    for part in PAGE.read_text().split("\n```")[:-1:2]:
        opened = len(found)
        said = " ".join(part.split("\n\n")[-1].split())
        for how, pattern in PLACES.items():
            match = pattern.search(said.removesuffix(":"))
            if match and said.endswith(":"):
                found.append((how, match.groups(), part))
        assert len(found) <= opened + 1
    return found


def texts():
    """Each block, by the text that stands before it."""
    parts = PAGE.read_text().split("\n```")
    return {parts[i]: parts[i + 1].partition("\n")[2] + "\n" for i in range(0, len(parts) - 1, 2)}


def put(tree, how, where, text):
    path = tree / where[-1]
    if how == "new":
        assert not path.exists(), path
        path.write_text(text)
        return
    old = path.read_text()
    if how == "end":
        new = f"{old.rstrip()}\n\n{text}"
    elif how == "endif":
        head, end, tail = old.rpartition("#endif")
        new = f"{head}{text}\n{end}{tail}"
    else:
        head, start, tail = old.partition(f"\n{where[0]} = [\n")
        assert start, where
        new = f"{head}{start}{text}{tail}"
    path.write_text(new)


def commands():
    """Return the commands of the page."""
    block = PAGE.read_text().partition("```bash\n")[2].partition("```")[0]
    return [shlex.split(line, comments=True) for line in block.splitlines()]


def test_each_kind_of_place_is_on_the_page():
    placed = blocks()
    assert {how for how, _, _ in placed} == set(PLACES)
    every = "".join(texts()[before] for _, _, before in placed)
    for name in OPERATORS:
        assert f'op(\n    "{name}(' in every


@pytest.mark.slow
def test_operators_of_the_page_build_and_pass_their_tests(tmp_path):
    tree = copy_tree(ROOT, tmp_path / "tree")
    for how, where, before in blocks():
        put(tree, how, where, texts()[before])
    build, names, special, refused, tests = commands()
    assert build[:2] == ["python", "setup.py"] and tests[1:3] == ["-m", "pytest"]
    wrapped = {"CC": f"ccache {shutil.which('gcc') or 'cc'}"} if shutil.which("ccache") else {}
    build_inplace(tree, AUTOGRAD_CY_OPT="0", AUTOGRAD_CY_SIMD="base", **wrapped)
    run_python(*names[1:], cwd=tree)
    added = set((tree / "tests/public_names.txt").read_text().split())
    assert "softsign" in added  # as in nn.functional
    assert {"sum_squares", "ndtri", "softsign_"} <= added - set(
        (ROOT / "tests/public_names.txt").read_text().split()
    )
    check_table = ("-m", "pytest", "tests/ops/test_op_special_grid.py", "-k", "table_is_of")
    if importlib.util.find_spec("torch"):
        run_python(*special[1:], cwd=tree)
        run_python(*check_table, cwd=tree)
    else:  # the line is left out, and one test says so
        run = run_python(*check_table, cwd=tree, check=False)
        assert run.returncode == 1 and " ".join(special) in run.stdout, run.stdout[-2000:]
    run_python(*refused[1:], cwd=tree)
    run_python("-m", "pytest", "tests/test_absent_names.py", cwd=tree)  # ndtri was absent
    for name in OPERATORS:
        run = run_python(*tests[1:-1], name, cwd=tree)
        words = run.stdout.splitlines()[-1].split()
        assert int(words[words.index("passed,") - 1]) > 20, run.stdout[-2000:]
