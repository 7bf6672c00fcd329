"""
The count of in-place changes of memory, and the Variables that see it.

A Variable alone with its memory gets a version only when something is saved of it or it is changed.
Variables whose memory is shared through the graph have one, which knows those of them that live.
"""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["Version", "share", "version_of"]


class Version:
    """
    A counter of in-place operations.

    Attributes
    ----------
    count : int
    """

    # Defaults of the class: one is made for each tensor that is saved, and most stay as they are.
    count = 0
    _sharers: list[weakref.ref[Any]] | None = None  # None: one Variable
    _followers: tuple[Version, ...] = ()
    _limit = 16

    def increase(self) -> None:
        """Count a change, here and in the versions that were merged into this one."""
        self.count += 1
        for follower in self._followers:
            follower.increase()

    def live(self) -> int:
        """The number of Variables that have this version and are still alive."""
        if self._sharers is None:
            return 1
        self._sharers = [ref for ref in self._sharers if ref() is not None]
        return len(self._sharers)

    def _add(self, variable: Any) -> None:
        sharers = self._sharers
        assert sharers is not None
        sharers.append(weakref.ref(variable))
        if len(sharers) > self._limit:
            # A program may take views of one Variable all day; only those that live count.
            self._limit = 2 * self.live() + 16

    def _merge(self, other: Version, variable: Any) -> None:
        """Take over the Variables of another version, of which `variable` is one."""
        lost = other._sharers or [weakref.ref(variable)]
        # What was saved under the other version still asks it.
        self._followers = (*self._followers, other)
        for ref in lost:
            alive = ref()
            if alive is not None:
                alive._ver = self
                self._add(alive)


def version_of(variable: Any) -> Version:
    """The version of a Variable, made if it hasn't one yet."""
    version = variable._ver
    if version is None:
        version = variable._ver = Version()
    return version


def share(variable: Any, other: Any) -> None:
    """Give two Variables one version from now on."""
    version = variable._ver
    if version is None:
        version = variable._ver = Version()
    if other._ver is version:
        return
    if other._ver is not None and other._ver.count > version.count:
        # A version never goes down.
        share(other, variable)
        return
    if version._sharers is None:
        version._sharers = [weakref.ref(variable)]
    if other._ver is None:
        other._ver = version
        version._add(other)
    else:
        version._merge(other._ver, other)
