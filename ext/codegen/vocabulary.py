"""The vocabulary of records (autograd_cy/ops/_types.py), without importing the package, which is
not built yet."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

_PATH = Path(__file__).resolve().parents[2] / "autograd_cy" / "ops" / "_types.py"


def _load(path: Path):
    name = f"_vocabulary{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


_types = _load(_PATH)
text_of_parameter = _load(_PATH.with_name("_texts.py")).text_of_parameter
_READERS = _PATH.parents[1] / "_environment" / "in_place_texts.py"
in_place_text = _load(_READERS).in_place_text
CONVERTERS, NUMBER, TYPES, WORDED, arg_type = (
    _types.CONVERTERS,
    _types.NUMBER,
    _types.TYPES,
    _types.WORDED,
    _types.arg_type,
)
