"""No file reads the frames or the code of its callers, but for a few with a reason."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FORBIDDEN = re.compile(
    r"\b(?:_getframe|f_back|f_locals|co_name|currentframe|PyEval_GetFrame|PyFrame_Get\w+)\b"
    r"|__code__\.replace|\.__code__ *=(?!=)"
)
SUFFIXES = {".py", ".pyx", ".pxi", ".pxd", ".h"}

# File: why it may.
ALLOWED = {
    "autograd_cy/_C/_warned.py": "a warning names the line of the program that caused it",
    "autograd_cy/autograd/anomaly_mode.py": "anomaly mode shows where a node was made",
    "autograd_cy/_C/frames.pxd": "declares the functions for those two of ext",
    "ext/core/recorder/stacks.pxi": "profiles show the stack of the program at each event",
    "ext/build/coverage.py": "coverage.py asks a plugin for the line of a frame that it traces",
    "ext/cuda/cuda_calls.pyx": "errors name the line whose kernel found a bad value",
}


def sources():
    for folder in ("autograd_cy", "ext"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES:
                yield path


def test_frames_of_callers_are_read_only_where_it_is_allowed():
    found = {
        path.relative_to(ROOT).as_posix()
        for path in sources()
        if FORBIDDEN.search(path.read_text(encoding="utf-8"))
    }
    assert found - ALLOWED.keys() == set(), "say it by @public (_tensors/public.py)"
    assert ALLOWED.keys() - found == set(), "these need no exception any more"
