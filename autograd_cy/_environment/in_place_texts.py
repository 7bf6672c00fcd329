"""The texts of in-place forms, made of those of their operators when somebody asks for them."""

from __future__ import annotations

import re

__all__ = ["in_place_text"]

_SECTION = re.compile(r"^(?P<title>[A-Z]\w+)\n-{3,}\n", re.M)
_CHANGED = "input : Tensor\n    The tensor that is changed.\n"
_RETURNED = "Tensor\n    `input`.\n\n"
_REFUSED = (
    "RuntimeError\n"
    "    `input` is a leaf that requires grad, or the result has another shape, or a dtype of a\n"
    "    higher kind.\n"
)


def in_place_text(name: str, text: str) -> str:
    """
    Return the docstring of the in-place form of an operator, made of the operator's.

    It is one sentence if the operator is private and shows no example.
    """
    summary = f"In-place form of :func:`{name}`; changes and returns the first argument."
    _, *parts = _SECTION.split(text)
    sections = dict(zip(parts[::2], parts[1::2]))
    if "Examples" not in sections:
        return summary
    sections["Parameters"] = _parameters(sections["Parameters"])
    sections["Returns"] = _RETURNED
    sections["Raises"] = sections.get("Raises", "").rstrip("\n") + "\n" * ("Raises" in sections)
    sections["Raises"] += f"{_REFUSED}\n"
    sections["Examples"] = _example(name, sections["Examples"])
    order = ("Parameters", "Returns", "Raises", "Notes", "Examples")
    shown = (f"{t}\n{'-' * len(t)}\n{sections[t]}" for t in order if t in sections)
    return f"{summary}\n\n{''.join(shown)}"


def _parameters(text: str) -> str:
    """Those of the operator, `input` always a tensor, without the place of a result."""
    paragraphs = re.split(r"^(?=\S)", text.rstrip("\n") + "\n", flags=re.M)
    chosen = (_CHANGED if x.startswith("input : ") else x for x in paragraphs if x[:6] != "out : ")
    return "".join(chosen) + "\n"


def _example(name: str, text: str) -> str:
    """The operator's session with calls of the form; truth values are written into numbers."""
    calls, n = re.subn(rf"\bag\.(?:[a-z]\w*\.)*{name}\(", f"ag.{name}_(", text)
    if not n:
        calls = text.replace(f".{name}(", f".{name}_(")
    calls = calls.replace(f"**{name}(", f"**{name}_(")
    inputs = "".join(re.findall(r"^(?:>>>|\.\.\.).*", calls, re.M))
    if not re.search(r"\bTrue|\bFalse|\bbool\b", inputs):
        calls = calls.replace(" True", "1").replace("False", "0")  # both are five wide
    return calls
