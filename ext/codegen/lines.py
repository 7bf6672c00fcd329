"""Text of one Cython function: declarations apart from what is done, as Cython wants them."""

from __future__ import annotations

from collections.abc import Iterable


def indent(lines: Iterable[str], by: int = 4) -> list[str]:
    """The lines, moved to the right."""
    return [" " * by + line if line else line for line in lines]


class Function:
    """A Cython function that is written line by line."""

    def __init__(self, head: str):
        self.head = head
        self._declared: dict[str, str] = {}
        self._body: list[str] = []

    def declare(self, c_type: str, name: str, value: str | None = None) -> None:
        """A C variable, for the whole function; the value is assigned here."""
        if self._declared.setdefault(name, c_type) != c_type:
            raise ValueError(f"{self.head}: {name} is {self._declared[name]}, not {c_type}")
        if value is not None:
            self._body.append(f"{name} = {value}")

    def add(self, *lines: str) -> None:
        self._body += lines

    def block(self, head: str, lines: Iterable[str]) -> None:
        """Lines under an ``if`` or another head."""
        self._body += [head, *indent(lines)]

    @property
    def lines(self) -> list[str]:
        declarations = [f"cdef {c_type} {name}" for name, c_type in self._declared.items()]
        return ["", self.head, *indent([*declarations, *self._body])]
