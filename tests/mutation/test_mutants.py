"""The command that puts mutants into code: which lines it takes, and that both versions run."""

import textwrap

import pytest

from tests.mutation import __main__ as command
from tests.mutation import equivalent, mutants, tree
from tests.mutation.trial import Outcome

SOURCE = textwrap.dedent('''
    """A docstring: if a < b: is text."""
    LIMIT = 1 + 1


    def clamp(x, low, high):
        """if x < low: this is text, too."""
        if x < low:
            return low
        total = (
            x + low
        )
        found = min(x, high)
        return found


    def refuse(x):
        if x is None:
            raise TypeError("x + y")
        x.append(1)
''')


def mutants_of(text):
    return {(s.before, s.after) for s in mutants.find("m.py", text)}


def test_single_lines_inside_of_functions_are_taken():
    found = mutants_of(SOURCE)
    assert ("if x < low:", "if x <= low:") in found
    assert ("found = min(x, high)", "found = max(x, high)") in found
    assert ("if x is None:", "if x is not None:") in found
    assert ('raise TypeError("x + y")', "") in found
    assert ("x.append(1)", "") in found
    lines = {before for before, _ in found}
    assert not any("text" in line or "LIMIT" in line or "x + low" in line for line in lines)
    assert not any("x - y" in after for _, after in found)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return a is not None", {"return a is None"}),
        ("if not done:", {"if done:"}),
        ("while i >= n:", {"while i > n:"}),
        ("self.count += 1", {"", "self.count -= 1", "self.count += 2"}),
        ("if a not in b:", {"if a in b:"}),
        ("for i in range(3):", set()),
        ("raise ValueError(n)", {""}),
        ("x = 'a < b'", set()),
        ("y = f(x10, 10)", set()),
        # What only moves a number that belongs to either side.
        ("if n < GRAIN:", set()),
        ("if n < GRAIN + 2:", {"if n <= GRAIN + 2:", "if n < GRAIN - 2:"}),
        (
            "if n < GRAIN and m < 4:",
            {
                "if (m < 4):",
                "if (n < GRAIN):",
                "if n < GRAIN and m <= 4:",
                "if n < GRAIN or m < 4:",
            },
        ),
        # Who asks without a session is told nothing.
        ("if g_modes & G_PROFILE:", set()),
        ("if not g_modes & G_PROFILE:", {"if g_modes & G_PROFILE:", "if not g_modes | G_PROFILE:"}),
        ("return a if a < b else b", set()),
        (
            "return a if a < b else b - c",
            {"return a if a <= b else b - c", "return a if a < b else b + c"},
        ),
        (
            "return c + a if a < b else b",
            {"return c + a if a <= b else b", "return c - a if a < b else b"},
        ),
        ("if a and b > c:", {"if (b > c):", "if (a):", "if a and b >= c:", "if a or b > c:"}),
    ],
)
def test_changes_of_one_statement(code, expected):
    assert {after for after, *_ in mutants.changes(code)} == expected


def test_a_malloc_that_fails_is_left_alone():
    text = "cdef int f(int n) except -1:\n    if p == NULL:\n        raise MemoryError()\n"
    assert mutants_of(text) == {("if p == NULL:", "if p != NULL:")}


def test_what_only_brings_memory_near_is_left_alone():
    body = "\n    i = i + 1\n    ag_fetch_row(a + i)\n"
    assert not mutants.find("x.pyx", f"cdef inline void fetch_lines(a, i):{body}")
    kept = mutants.find("x.pyx", f"cdef inline void add(a, i):{body}")
    assert {found.before for found in kept} == {"i = i + 1"}


def test_a_zero_that_only_says_done_is_left_alone():
    text = textwrap.dedent("""
        cdef int fill(Tensor t,
                      int n) except -1:
            if n < 1:
                return 0
            t.fill(n)
            return 0


        cdef int count(Tensor t) except -1:
            if t is None:
                return 0
            return t.n
    """)
    found = mutants_of(text)
    assert ("return 0", "return 1") in found  # of count()
    assert ("if n < 1:", "if n <= 1:") in found
    lines = {s.line for s in mutants.find("m.pyx", text) if s.before == "return 0"}
    assert lines == {text.splitlines().index("    if t is None:") + 1}


def test_a_zero_beside_what_others_say_is_left_alone():
    text = textwrap.dedent("""
        cdef int fill(Tensor t, int n) except -1:
            if n == n:
                return 0
            return copy_into(t, n)


        cdef int place(Tensor t, int n) except -1:
            if n == n:
                return 0
            return first_of(t, n)


        cdef int check(object x, int dt) except -1:
            if dt == 0:
                return 0
            return store_element(cell, dt, x)
    """)
    found = [s.function for s in mutants.find("m.pyx", text) if s.before == "return 0"]
    assert found == ["place"]


def test_a_sign_that_is_asked_for_is_left_alone():
    lines = ["cdef int find(T* t) noexcept nogil:", "    t.i = 3", "    return -1", "    return 0"]
    assert [s.before for s in mutants.find("m.pyx", "\n".join(lines))] == ["t.i = 3"]
    lines[3] = "    return t.i"
    assert "return -1" in {s.before for s in mutants.find("m.pyx", "\n".join(lines))}


def test_how_much_there_is_to_do_and_flags_are_left_alone():
    text = textwrap.dedent("""
        cdef void count(T* t) noexcept nogil:
            cdef double cost = <double>STEPS * t.n
            plan.work = 2.0 * t.n + 1
            work = t.n + 1
            t.failed = 1
            t.bad = 1 + 1
    """)
    assert {(s.before, s.after) for s in mutants.find("m.pyx", text)} == {
        ("work = t.n + 1", "work = t.n - 1"), ("work = t.n + 1", "work = t.n + 2"),
        ("t.failed = 1", ""), ("t.bad = 1 + 1", ""), ("t.bad = 1 + 1", "t.bad = 1 - 1"),
        ("t.bad = 1 + 1", "t.bad = 2 + 1"), ("t.bad = 1 + 1", "t.bad = 1 + 2"),
    }  # fmt: skip


def test_both_versions_are_in_the_changed_source():
    found = mutants.find("m.py", SOURCE)
    wanted = [
        next(s for s in found if s.after == "if x <= low:"),
        next(s for s in found if s.after == "found = max(x, high)"),
    ]
    text = mutants.write(SOURCE, dict(enumerate(wanted)))

    def run(number):
        names = {"_mutant": lambda n: n == number}
        exec(compile(text, "m.py", "exec"), names)
        return names["clamp"](2, 1, 1), names["clamp"](0, 1, 5)

    assert run(-1) == (1, 1)
    assert run(1) == (2, 1)


def test_both_conditions_of_cython_are_truth_values():
    text = "cdef int f(Tensor t) except -1:\n    if t.flags & 4 and t.nd == 1:\n        return 1\n"
    mutant = next(
        s for s in mutants.find("m.pyx", text) if s.after == "if t.flags & 4 or t.nd == 1:"
    )
    changed = (
        "<bint>(t.flags & 4 or t.nd == 1)) if _mutant(0) else (<bint>(t.flags & 4 and t.nd == 1))"
    )
    assert changed in mutants.write(text, {0: mutant})


def test_a_line_may_have_several_mutants():
    for line in ("if x < 1 and y < 1:\n        return 5", "x = x + y - 1", "return x + y * 1"):
        text = f"def f(x, y):\n    {line}\n    return x\n"
        found = dict(enumerate(s for s in mutants.find("m.py", text) if s.line == 1))
        assert len(found) > 1
        changed = mutants.write(text, found)
        for number in [-1, *found]:
            names, alone = {"_mutant": lambda n, number=number: n == number}, {}
            exec(compile(changed, "m.py", "exec"), names)
            mutant = found.get(number)
            exec(text.replace(mutant.before, mutant.after or "pass") if mutant else text, alone)
            for x in range(3):
                for y in range(3):
                    assert names["f"](x, y) == alone["f"](x, y), (line, mutant)


def test_a_folder_is_named_from_where_the_command_begins():
    given = command.arguments(["--folder", "build/other"]).folder
    assert given.is_absolute() and given.parts[-2:] == ("build", "other")


def test_what_the_tree_no_longer_has_is_removed_from_its_copy(tmp_path):
    paths = {name: tmp_path / name for name in ("tests/test_old.py", "build/kept.c", "setup.py")}
    paths |= {name: tmp_path / name for name in ("_C/ops.pyx", "_C/ops.so", "_C/mutants.pyx")}
    for name, path in paths.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text("# made, do not edit" if name == "_C/ops.pyx" else "")
    tree.remove_strays(tmp_path, {"_C/mutants.pyx": b""})
    assert [name for name, path in paths.items() if not path.exists()] == ["tests/test_old.py"]


LIST = """file,function,operator,places,reason,note
m.py,clamp,< to <=,1,equal values,
m.py,clamp,min to max,1 2,other,
m.py,refuse,is to is not,1,other,nobody passes None
"""


def test_the_command_reads_the_list_and_names_its_faults(tmp_path, monkeypatch, capsys):
    (tmp_path / "m.py").write_text(SOURCE)
    (tmp_path / "list.csv").write_text(LIST)
    monkeypatch.setattr(equivalent, "LIST", tmp_path / "list.csv")
    monkeypatch.setattr(tree, "ROOT", tmp_path)
    monkeypatch.setattr(tree, "sources", lambda: [tmp_path / "m.py"])
    assert equivalent.reasons()["m.py: refuse: is to is not, 1"] == "other: nobody passes None"
    assert [mutant.operator for mutant in equivalent.mutants()] == [
        "< to <=", "min to max", "is to is not",
    ]  # fmt: skip
    assert command.main(["--check-list"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "not in the sources: m.py: clamp: min to max, 2",
        "no reason: m.py: clamp: min to max",
        "2 faults, 4 mutants",
    ]
    (tmp_path / "list.csv").write_text("".join(LIST.splitlines(True)[::3]))
    assert command.main(["--check-list"]) == 0


def test_an_equivalent_mutant_that_a_test_kills_is_named(capsys):
    found = dict(enumerate(mutants.find("m.py", SOURCE)[:3]))
    outcomes = {0: Outcome("survived"), 1: Outcome("killed", "t.py::t"), 2: Outcome("not reached")}
    assert command.report_equivalent(found, outcomes) == 1
    said = capsys.readouterr().out
    assert found[1].key in said
    assert "t.py::t" in said
    assert found[0].key not in said
    assert "1 of 3 killed" in said
    del outcomes[1]
    assert command.report_equivalent(found, outcomes) == 0


def test_a_seed_gives_the_same_mutants_and_no_two_in_a_line():
    paths = sorted(tree.sources())[::24]  # some of each part
    first, second = (mutants.choose(paths, tree.ROOT, 40, 7) for _ in range(2))
    assert first == second
    assert len(first) == 40
    assert len({(s.path, s.line) for s in first}) == 40
    assert first != mutants.choose(paths, tree.ROOT, 40, 8)


def test_all_code_by_hand_is_taken_and_nothing_that_the_build_writes():
    taken = {str(path.relative_to(tree.ROOT)) for path in tree.sources()}
    for room in ("core", "shape_rules", "kernels", "engine", "composites", "cuda", "distributed"):
        there = [
            *(tree.ROOT / "ext" / room).rglob("*.px[id]"),
            *(tree.ROOT / "ext" / room).rglob("*.pyx"),
        ]
        assert there
        assert {str(path.relative_to(tree.ROOT)) for path in there} <= taken
    assert "autograd_cy/_interpreted/_linalg_composites.py" in taken
    assert not {"autograd_cy/_interpreted/linalg.py", "autograd_cy/_interpreted/_index.py"} & taken
    assert not any(name.startswith("autograd_cy/ops/") for name in taken)


def test_every_part_has_a_file_that_includes_it():
    parts = [path for path in tree.sources() if path.suffix == ".pxi"]
    assert parts
    for path in parts:
        assert tree._host(str(path.relative_to(tree.ROOT))).endswith(".pyx")


def test_a_key_names_the_function_and_not_the_line():
    text = SOURCE.replace("    found = min(x, high)\n", "    found = min(x, high)\n" * 2)
    found = [s.key for s in mutants.find("m.py", text) if "min" in s.before]
    assert found == [
        "m.py: clamp: min to max, 1",
        "m.py: clamp: min to max, 2",
    ]
    moved = {s.key for s in mutants.find("m.py", "# A line more.\n" + SOURCE)}
    assert moved == {s.key for s in mutants.find("m.py", SOURCE)}


def test_types_that_the_compiler_tells_apart_are_left_alone():
    text = (
        "def f(a, b):\n    if a_t is float:\n        pass\n    if b_t is not None:\n        pass\n"
    )
    assert {s.after for s in mutants.find("m.pyx", text)} == {"if b_t is None:"}


def test_any_number_below_zero_leaves_a_dtype_as_it_is():
    lines = {
        "return T.mul(T.sum_dim(t, dims, True, -1), b)": 0,
        "T.amax(size, T.sum_dim_out(size, dim, keepdim, -1, out))": 0,
        "a = T.clone(f(a), -1)": 0,
        "a = T.flip(T.sum(a, -1), -1)": 1,
        "a = T.sum_dim(a, -1, True, dt)": 1,
        "a = sum_dim(a, -1)": 1,
        "a = T.clone(a, 1)": 1,
    }
    for line, count in lines.items():
        found = mutants.find("m.pyx", f"def f(a, b):\n    {line}\n")
        assert sum("2" in s.after for s in found) == count, line


def test_what_cython_compiles_to_the_same_switch_is_left_alone():
    lines = {
        "if dt == DT_F16 or dt == DT_BF16:": 0,
        "return p.dtype == 8 or p.dtype == FLOAT64": 0,
        "if dt == DT_F16 or kind == DT_BF16:": 1,
        "if dt == DT_F16 or x > 3:": 1,
    }
    for line, count in lines.items():
        for path in ("m.pyx", "m.py"):
            found = mutants.find(path, f"def f(a, b):\n    {line}\n")
            made = sum(" and " in s.after for s in found)
            assert made == (1 if path == "m.py" else count), line


def test_of_what_is_equal_either_may_be_assigned():
    lines = {
        ("a > p.n", "a = p.n"): 0,
        ("p.a < n", "p.a = n"): 0,
        ("a > p.n", "a = n"): 1,
        ("a > n", "n = a"): 1,
        ("a > n + 1", "a = n + 1"): 1,
    }
    for (asked, done), count in lines.items():
        found = mutants.find("m.pyx", f"def f(a, n):\n    if {asked}:\n        {done}\n")
        changed = {f"if {asked.replace(sign, sign + '=')}:" for sign in "<>"} - {f"if {asked}:"}
        assert sum(s.after in changed for s in found) == count, asked


def test_how_much_work_there_is_changes_threads_alone():
    lines = {
        "return launch(&work, run, 2.0 * n)": 0,
        "return launch_tiles(&work, tile, parts(n, step), cost(n + 1) * n)": 0,
        "return launch_tiles(&work, tile, outer * parts(n, step), n)": 1,
        "return relaunch(&work, run, 2.0 * n)": 1,
        "plan.work = 2.0 * n": 0,
        "plan.cost = n": 0,
        "plan.worked = 2.0 * n": 2,
    }
    for line, count in lines.items():
        found = mutants.find("m.pyx", f"def f(a, b):\n    {line}\n")
        assert len(found) == count, line


def test_forked_trials_have_threads_and_what_they_fork_has_none():
    text = tree.changed({})["ext/core/parallel.pyx"].decode()
    assert "agc_forked = 1" not in text
    assert "agc_forked = !parent || atoi(parent) != getppid();" in text


def test_lines_that_a_compiler_refuses_are_found_in_any_folder():
    said = "ext/kernels/reduce/sums.pxi:35:23: no\nwarning: ext/core/a.pyx:4:1: hm\n"
    said += "ext/core/forms.pyx:4:1: no\n"
    assert tree.blamed(said) == [("ext/kernels/reduce/sums.pxi", "35"), ("ext/core/forms.pyx", "4")]


def test_the_report_names_survivors(capsys):
    found = mutants.find("m.py", SOURCE)[:4]
    names = ["killed", "survived", "equivalent", "time was up"]
    outcomes = {n: Outcome(name, "why") for n, name in enumerate(names)}
    assert command.report(dict(enumerate(found)), outcomes) == 1
    said = capsys.readouterr().out
    assert found[1].before in said
    assert "(time was up; why)" in said
    assert "1 of 3 killed" in said
    assert command.report({0: found[0]}, {0: Outcome("crashed")}) == 0
    assert command.report({0: found[0]}, {0: Outcome("timed out")}) == 1


def test_a_command_goes_on_from_what_is_known(tmp_path):
    path = tmp_path / "outcomes.json"
    assert command.known(path, again=False) == {}
    path.write_text('{"a": ["killed", "t"], "b": ["survived", ""], "c": ["time was up", ""]}')
    assert set(command.known(path, again=False)) == {"a", "b", "c"}
    assert set(command.known(path, again=True)) == {"a"}
