"""Mutants of one line: found in a source, and written into it behind a number.

A mutant changes one operator, constant or call of a statement that stands on one line inside of a
function. The changed source holds both versions, `if _mutant(n): changed, else: as it was`, so that
one build serves all mutants. Cython and Python are treated alike, as text.
"""

from __future__ import annotations

import ast
import functools
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

FUNCTION = re.compile(r"^(async\s+)?(def|cpdef|cdef)\b.*\)[^)]*:\s*(#.*)?$", re.S)
NAME = re.compile(r"(\w+)\s*(\[[^]]*\])?\(")
CLASS = re.compile(r"^(?:cdef\s+)?class\s+(\w+)")
CONDITION = re.compile(r"^(if|elif|while)\s+(?P<value>.+):$")
RETURN = re.compile(r"^return\s+(?P<value>.+)$")
DECLARED = re.compile(r"^cdef\s+(?P<head>[^=(]+?)\s*=\s*(?P<value>[^,]+)$")
ASSIGNED = re.compile(r"^[\w.\[\], *()<>&-]+?\s([-+*|&]|//)?=\s(?P<value>.+)$")
CALLED = re.compile(r"^[\w.]+\(.*\)$")
RAISED = re.compile(r"^raise\b")
# A function that only says whether it failed: -1 or anything else.
SAYS_DONE = re.compile(r"^cdef\s+(inline\s+)?int\b.*\bexcept\s+-1\b", re.S)
# What such a function returns: 0, or what one of those that are called everywhere says.
SAYS_NO_MORE = re.compile(
    r"return (0$|(agc_short_of_memory|arg_into|averages|averages_back|averages_of|check_holds|clear"
    r"|copy_across|copy_into|fill_elements|fill_with|join_rows"
    r"|largest|largest_of|launch|launch_tiles|mean_into|mse_in_steps|product|put_back"
    r"|result_like|result_dense|run|run_loss|run_plan|set_tangent|store_element|sum_into|turn)\()"
)

# One that cannot raise, and says 0 or -1: whoever calls it asks whether that is below zero.
SAYS_SIGN = re.compile(r"^cdef\s+(inline\s+)?int\b.*\bnoexcept\b", re.S)
# A flag that is asked for its truth.
FLAG = re.compile(r"^(\w+\.)?(failed|bad) = 1$")

# (what is found, what stands there after the mutant)
SWAPS = [
    (re.compile(rf"(?<=\s){re.escape(old)}(?=\s)(?! not\b)"), new)
    for old, new in [
        ("<", "<="), ("<=", "<"), (">", ">="), (">=", ">"), ("==", "!="), ("!=", "=="),
        ("+", "-"), ("-", "+"), ("*", "+"), ("//", "*"), ("and", "or"), ("or", "and"),
        ("is", "is not"), ("&", "|"), ("|", "&"), ("+=", "-="), ("-=", "+="),
    ]
] + [
    (re.compile(r"\bis not\b"), "is"),
    (re.compile(r"\bnot in\b"), "in"),
    (re.compile(r"\bnot (?!in\b)"), ""),
    (re.compile(r"\bTrue\b"), "False"),
    (re.compile(r"\bFalse\b"), "True"),
    (re.compile(r"\bmin\("), "max("),
    (re.compile(r"\bmax\("), "min("),
    (re.compile(r"(?<![\w.\"'])0(?![\w.])"), "1"),
    (re.compile(r"(?<![\w.\"'])1(?![\w.])"), "2"),
]  # fmt: skip
ANY_SWAP = re.compile("|".join(pattern.pattern for pattern, _ in SWAPS))  # most lines have none
# Lines whose change no test of behaviour can see: sizes of teams and tiles, hints, messages, and
# what follows when malloc itself has no memory for a list. Types are told apart by the compiler,
# and whether an int overflows is written by the call that is asked.
UNSEEN = re.compile(
    r"RELEASE_GIL|team_size|nogil|fetch_|prefetch|__version__|warn\(|@|lambda|yield|^global"
    r"|^raise MemoryError\(\)$|^cdef int overflow = |\b\w+_t (is|in|not in) (?!(not )?None)"
    # How much work there is says how many threads do it.
    r"|^(plan|work)\.(work|cost) = "
    r"|^(cdef double )?(work|cost) \*?= (<double>|\d\.\d|f\.of_y\[)[^,]*$"
)
# The work of a launch is its last argument.
LAUNCHED = re.compile(r"\blaunch(_tiles)?\(")
# Functions that only ask for memory to be brought near.
HINTS = re.compile(r"\bfetch_(lines|result|row)\(")

# Of `x == A or x == B` with constants Cython makes a switch, and the same one with `and`.
SWITCHED = re.compile(r"(?P<a>\b[\w.]+) == [A-Z0-9_]+ or (?P=a) == [A-Z0-9_]+\b")

# Where one way to the same result gives place to another, or threads begin: whether at this number
# or one beyond it changes nothing but time. Only that step is left out, no other of the line,
# and a number is here only if nothing is as long as it says (buffers, fields) and either way is
# right on both sides of it.
TUNINGS = (
    "PARALLEL_BYTES", "GRAIN", "DIRECT", "DIRECT_WORK", "STREAMED", "GIVE_UP_GIL", "TURN_LEAST",
    "SIDE_LEAST", "SHORT_ROW", "RADIX_ROW", "LOOK_EVERY", "SIGNAL_NODES",
)  # fmt: skip
AT_TUNING = re.compile(rf"[<>]=? ({'|'.join(TUNINGS)})\b(?! *[-+*/])")
# Asking an observer although nobody records: it has no room for events then, and drops them.
WATCHED = re.compile(r"if g_modes & G_PROFILE:$")
# The smaller or larger of two: of two that are equal, either.
OF_TWO = re.compile(
    r"(?:(?<=return )|(?<== )|(?<=[(\[])|(?<=, ))"
    r"(?P<a>[\w.]+(?: [-+] [\w.]+)*) if (?P=a) [<>]=? (?P<b>[\w.]+) else (?P=b)(?=$|[,)\]])"
)
# `if a > b:` before `a = b`: of what is equal, either.
CLIPPED = re.compile(r"if (?P<a>[\w.]+) (?P<sign>[<>]) (?P<b>[\w.]+):$")
# Operators whose last argument (before `out`) is a dtype or a memory format; any number below zero
# leaves it as it is.
KEEPING = re.compile(
    r"\b(T\.(clone|_contiguous|sum|sum_dim|sum_dim_out|mean|mean_dim|norm|softmax|log_softmax)"
    r"|(mean|sum)_into)\("
)


@dataclass(frozen=True)
class Mutant:
    """One change: where, the line as it is, and what stands there instead ("" where nothing)."""

    path: str
    line: int
    before: str
    after: str
    form: str  # of the line: "condition", "declared" or "statement"
    operator: str = ""  # of mutation, such as "< to <=" or "remove statement"
    function: str = ""  # with the names of its classes
    ordinal: int = 1  # which place of the operator in the function

    @property
    def key(self) -> str:
        """The name of the mutant, which stays when lines move."""
        return f"{self.path}: {self.function}: {self.operator}, {self.ordinal}"


OPENING, CLOSING = re.compile(r"[(\[{]"), re.compile(r"[)\]}]")


def logical_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """(first line, last line, text) of each statement; strings over several lines are left out."""
    first, parts, depth, quote = 0, [], 0, None
    for number, line in enumerate(text.splitlines()):
        if quote:
            if quote in line:
                quote = None
            continue
        bare, opened = line, None
        if '"' in line or "'" in line:
            bare = re.sub(r"\"[^\"]*\"|'[^']*'", "''", _closed_quotes(line))
            opened = next((q for q in ('"""', "'''") if line.count(q) % 2), None)
        bare = bare.partition("#")[0]
        if opened:
            quote, parts, depth = opened, [], 0
            continue
        if not parts:
            first = number
        parts.append(line)
        depth += len(OPENING.findall(bare)) - len(CLOSING.findall(bare))
        if depth <= 0 and not bare.rstrip().endswith("\\"):
            yield first, number, "\n".join(parts)
            parts, depth = [], 0


def _closed_quotes(line: str) -> str:
    return re.sub(r'"""[^"]*"""', "''", line)


def find(path: str, text: str) -> list[Mutant]:
    """All mutants of a source that stand inside of functions."""
    return list(_find(path, text))


@functools.cache  # whole sources are asked for more than once, and long
def _find(path: str, text: str) -> tuple[Mutant, ...]:
    # headers: (indentation, first line of a function, name of a class) of the open blocks
    found, headers = [], []
    returned: dict[str, set[str]] = {}  # what each function of SAYS_DONE returns
    done: dict[Mutant, str] = {}
    lines = list(logical_lines(text))
    for at, (first, last, logical) in enumerate(lines):
        stripped = logical.strip()
        if not stripped or stripped.startswith("#"):
            continue
        indent = len(logical) - len(logical.lstrip())
        while headers and headers[-1][0] >= indent:
            headers.pop()
        inside = next((function for _, function, _ in reversed(headers) if function), "")
        told = re.sub(r"#.*", "", stripped).rstrip() if "#" in stripped else stripped
        if told.endswith(":"):
            class_ = CLASS.match(stripped)
            function = stripped if FUNCTION.match(stripped) else ""
            headers.append((indent, function, class_.group(1) if class_ else ""))
        code = re.sub(r"\s+#.*$", "", stripped) if "#" in stripped else stripped
        says = SAYS_DONE.match(inside) or SAYS_SIGN.match(inside)
        if says and code.startswith("return "):
            returned.setdefault(inside, set()).add(code)
        unseen = UNSEEN.search(stripped) or HINTS.search(inside)
        if inside and first == last and not unseen:
            classes = [name for _, _, name in headers if name]
            name = ".".join([*classes, NAME.search(inside).group(1)])
            mutants = [Mutant(path, first, code, *change, name) for change in changes(code)]
            if not path.endswith(".py"):
                mutants = [s for s in mutants if not is_same_switch(s)]
            if (clipped := CLIPPED.match(code)) and at + 1 < len(lines):
                a, sign, b = clipped.groups()
                if lines[at + 1][2].strip() == f"{a} = {b}":
                    mutants = [s for s in mutants if s.after != f"if {a} {sign}= {b}:"]
            found += mutants
            done |= dict.fromkeys(mutants, inside) if code in ("return 0", "return -1") else {}
    # Nobody reads the 0 of a function that returns nothing else.
    unread = {
        inside
        for inside, codes in returned.items()
        if all(map(SAYS_NO_MORE.match, codes))
        or (SAYS_SIGN.match(inside) and codes <= {"return 0", "return -1"})
    }
    places: Counter[tuple[str, str]] = Counter()
    numbered = []
    for mutant in found:
        if done.get(mutant, "") not in unread:
            place = (mutant.function, mutant.operator)
            places[place] += 1
            numbered.append(replace(mutant, ordinal=places[place]))
    return tuple(numbered)


def changes(code: str) -> Iterator[tuple[str, str, str]]:
    """(the changed line, form, operator) for each mutant of one statement."""
    if match := CONDITION.match(code):
        form = "condition"
    elif match := RETURN.match(code):
        form = "statement"
    elif match := DECLARED.match(code):
        form = "declared"
    elif code.startswith(("cdef ", "cpdef ", "for ", "with ", "import ", "from ", "del ")):
        return
    elif RAISED.match(code):
        yield "", "statement", "remove raise"
        return
    elif match := ASSIGNED.match(code):
        form = "statement"
        if "." in code.partition("=")[0] or "[" in code.partition("=")[0]:
            yield "", "statement", "remove assignment"
    elif CALLED.match(code):
        yield "", "statement", "remove call"
        return
    else:
        return
    start = 0 if form == "statement" else match.start("value")
    for shorter in without_a_part(match.group("value")):
        changed = code[: match.start("value")] + shorter + code[match.end("value") :]
        yield changed, form, "remove operand"
    if not ANY_SWAP.search(code, start):
        return
    strings = [m.span() for m in re.finditer(r"\"[^\"]*\"|'[^']*'", code)]
    for pattern, new in SWAPS:
        for hit in pattern.finditer(code, start):
            inside = any(a < hit.end() and hit.start() < b for a, b in strings)
            same = FLAG.match(code) and new == "2"
            if not (inside or same or is_tuning(code, hit, new) or keeps(code, hit)):
                operator = f"{hit.group().strip('( ')} to {new.strip('( ') or 'nothing'}"
                yield code[: hit.start()] + new + code[hit.end() :], form, operator


def is_tuning(code: str, hit: re.Match[str], new: str) -> bool:
    """Return whether the mutant only takes another way to the same: at a number that belongs to
    both sides of a comparison, with more threads or fewer, or by an observer who keeps nothing."""
    if WATCHED.match(code) or is_work(code, hit.start()):
        return True
    if hit.group() not in ("<", "<=", ">", ">=") or new not in ("<", "<=", ">", ">="):
        return False
    if AT_TUNING.match(code, hit.start()):
        return True
    return any(m.start() < hit.start() < m.end() for m in OF_TWO.finditer(code))


def is_same_switch(mutant: Mutant) -> bool:
    """Return whether Cython compiles the changed line as the line that was."""
    for hit in SWITCHED.finditer(mutant.before):
        changed = hit.group().replace(" or ", " and ")
        if mutant.after == mutant.before[: hit.start()] + changed + mutant.before[hit.end() :]:
            return True
    return False


def is_work(code: str, at: int) -> bool:
    """Return whether a place lies in the last argument of a launch."""
    launched = LAUNCHED.search(code, 0, at)
    if not launched:
        return False
    depth, last = 0, None
    for place in range(launched.end(), len(code)):
        depth += (code[place] in "([") - (code[place] in ")]")
        if code[place] == "," and depth == 0:
            last = place
        if depth < 0:
            break
    return last is not None and last < at


def keeps(code: str, hit: re.Match[str]) -> bool:
    """Return whether the mutant makes another number below zero of the -1 that says "as it is"."""
    if hit.group() != "1" or not re.match(r"1(, out)?\)", code[hit.start() :]):
        return False
    before, depth = code[: hit.start()], 0
    if not before.endswith(", -"):
        return False
    for at in range(len(before) - 1, -1, -1):
        depth += (before[at] == ")") - (before[at] == "(")
        if depth < 0:
            return any(m.end() == at + 1 for m in KEEPING.finditer(before))
    return False


def without_a_part(value: str) -> Iterator[str]:
    """`a and b` without a, and without b; what Python's parser doesn't read is left alone."""
    if " and " not in value and " or " not in value:
        return  # parsing takes most of the time of all mutants
    try:
        parsed = ast.parse(value, mode="eval").body
    except SyntaxError:
        return
    if isinstance(parsed, ast.BoolOp):
        word = " and " if isinstance(parsed.op, ast.And) else " or "
        parts = [ast.get_source_segment(value, part) for part in parsed.values]
        for left_out in range(len(parts)):
            kept = [part for place, part in enumerate(parts) if place != left_out]
            yield word.join(f"({part})" for part in kept)


def choose(
    paths: list[Path], root: Path, count: int, seed: int, taken: list[Mutant] | tuple[()] = ()
) -> list[Mutant]:
    """
    `count` mutants, no two in one line, spread evenly over the parts of the code.

    Lines of those that are taken have a mutant already.
    """
    full = {(mutant.path, mutant.line) for mutant in taken}
    rng = random.Random(seed)
    groups: dict[str, list[Mutant]] = {}
    for path in sorted(paths):
        name = str(path.relative_to(root))
        group = name.split("/")[1] if name.startswith("ext/") else "python"
        groups.setdefault(group, []).extend(
            mutant
            for mutant in find(name, path.read_text())
            if (mutant.path, mutant.line) not in full
        )
    chosen: dict[tuple[str, int], Mutant] = {}
    for mutants in groups.values():
        rng.shuffle(mutants)
        wanted = len(chosen) + -(-count // len(groups))
        for mutant in mutants:
            if len(chosen) >= wanted:
                break
            chosen.setdefault((mutant.path, mutant.line), mutant)
    rest = [mutant for mutants in groups.values() for mutant in mutants]
    rng.shuffle(rest)
    for mutant in rest:  # for a part that has not as many lines
        if len(chosen) >= count:
            break
        chosen.setdefault((mutant.path, mutant.line), mutant)
    found = list(chosen.values())
    rng.shuffle(found)
    return found[:count]


def write(text: str, mutants: dict[int, Mutant]) -> str:
    """The source with the mutants in it, each behind its number; a line may have several."""
    lines = text.splitlines()
    of_lines: dict[int, dict[int, Mutant]] = {}
    for number, mutant in mutants.items():
        of_lines.setdefault(mutant.line, {})[number] = mutant
    for at, of_line in of_lines.items():
        space = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        lines[at] = "\n".join(space + part for part in _all(of_line))
    return "\n".join(lines) + "\n"


def _all(mutants: dict[int, Mutant]) -> list[str]:
    """A line with its mutants, of which the active one is taken."""
    mutant = next(iter(mutants.values()))
    if mutant.form == "statement":
        parts = []
        for number, changed in mutants.items():
            word = "elif" if parts else "if"
            parts += [f"{word} _mutant({number}):", f"    {changed.after or 'pass'}"]
        return [*parts, "else:", f"    {mutant.before}"]
    pattern = CONDITION if mutant.form == "condition" else DECLARED
    head = mutant.before[: pattern.match(mutant.before).start("value")]
    tail = ":" if mutant.form == "condition" else ""
    taken = _value(mutant.before, pattern, mutant.path)
    for number, changed in reversed(mutants.items()):
        new = _value(changed.after, pattern, mutant.path)
        taken = f"({new} if _mutant({number}) else {taken})"
    return [f"{head}{taken}{tail}"]


def _value(code: str, pattern: re.Pattern[str], path: str) -> str:
    value = f"({pattern.match(code).group('value')})"
    if pattern is DECLARED or path.endswith(".py"):
        return value
    # Else Cython takes `flags & F and x is None` for an object, which it isn't.
    return f"(<bint>{value})"
