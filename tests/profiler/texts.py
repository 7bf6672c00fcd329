"""
Reports of recordings made by hand: the calls of `calls/`, and their texts beside them.

A file of `calls/` is a Python module, read as those of tests/recorded are: each expression in it is
a call, each function without parameters a program. The JSON file of the same name has their results
as text, by lines. ``python tests/profiler/texts.py`` writes the texts anew: they were read once,
look at what differs.
"""

import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "recorded"))

from recorded import load

import autograd_cy as ag

FILES = sorted((Path(__file__).parent / "calls").glob("*.py"))


def texts_of(path):
    """The texts of all calls of a file."""
    names, calls = load(path, ag)
    return {call.key: text_of(eval(call.code, dict(names))) for call in calls}


def text_of(value):
    """The lines of a result, without spaces at their ends."""
    return [line.rstrip() for line in str(value).replace("\r", "\\r").splitlines()]


def recorded_texts(path):
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def main():
    for path in FILES:
        text = json.dumps(texts_of(path), indent=1, ensure_ascii=False)
        path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
