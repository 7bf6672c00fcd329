"""The version under :func:`autograd_cy.as_torch`: text that compares as versions do."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["TorchVersion"]

# PEP 440: epoch, release, pre-release, post-release, development release, local version.
_FORM = re.compile(
    r"\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<pre_number>\d*))?"
    r"(?P<post>(?:-(?P<post_short>\d+))|(?:[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d*)))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*",
    re.IGNORECASE,
)
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "pre": 2, "preview": 2, "rc": 2}
_BEFORE, _AFTER = -1, 3  # all stages before a release, and the release itself


def _key(text: str) -> tuple | None:
    """Sort a version as PEP 440 does; None is no version."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    release = [int(part) for part in match["release"].split(".")]
    while len(release) > 1 and not release[-1]:
        release.pop()
    if match["pre"]:
        stage = _STAGES[match["pre"].lower()], int(match["pre_number"] or 0)
    else:
        stage = (_BEFORE if match["dev"] and not match["post"] else _AFTER), 0
    post = int(match["post_short"] or match["post_number"] or 0) if match["post"] else -1
    dev = int(match["dev_number"] or 0) if match["dev"] else float("inf")
    local = [
        (1, int(part), "") if part.isdigit() else (0, 0, part.lower())
        for part in re.split("[-_.]", match["local"] or "")
        if part
    ]
    return int(match["epoch"] or 0), release, stage, post, dev, local


class TorchVersion(str):
    """
    A version as text that compares with texts as versions do, and with tuples.

    Examples
    --------
    >>> from autograd_cy.torch_version import TorchVersion
    >>> version = TorchVersion("2.13.0")
    >>> version >= "2.4", str(version) >= "2.4"
    (True, False)
    >>> version >= (1, 8), version.split(".")[0]
    (True, '2')
    """

    __slots__ = ()

    def _compared(self, other: Any, name: str) -> Any:
        as_text = str.__str__(self)
        text = ".".join(map(str, other)) if isinstance(other, (tuple, list)) else other
        if not isinstance(text, str):
            return getattr(str, name)(as_text, text)
        mine, theirs = _key(as_text), _key(text)
        if mine is None or theirs is None:  # text that is no version compares as text
            return getattr(str, name)(as_text, str(text))
        return getattr(tuple, name)(mine, theirs)

    def __lt__(self, other: Any) -> Any:
        return self._compared(other, "__lt__")

    def __le__(self, other: Any) -> Any:
        return self._compared(other, "__le__")

    def __gt__(self, other: Any) -> Any:
        return self._compared(other, "__gt__")

    def __ge__(self, other: Any) -> Any:
        return self._compared(other, "__ge__")

    def __eq__(self, other: object) -> Any:
        return self._compared(other, "__eq__")

    def __ne__(self, other: object) -> Any:
        return self._compared(other, "__ne__")

    __hash__ = str.__hash__
