"""Reading ELF files of the C compiler and of nvcc: sections and symbols."""

from __future__ import annotations

import struct
from dataclasses import dataclass

FUNCTION = 2  # kinds of symbols
SYMBOL_TABLE = 2  # a type of sections


@dataclass(frozen=True)
class Symbol:
    name: str
    kind: int
    section: int  # 0: defined elsewhere
    size: int


class Elf:
    """A little-endian ELF file of 64 bits."""

    def __init__(self, data: bytes):
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not a little-endian ELF file of 64 bits")
        self.data = data
        (start,) = struct.unpack_from("<Q", data, 0x28)
        entry, count, names = struct.unpack_from("<HHH", data, 0x3A)
        heads = [struct.unpack_from("<IIQQQQIIQQ", data, start + k * entry) for k in range(count)]
        self.heads = heads
        table = heads[names]
        self.names = [self._text(table, head[0]) for head in heads]

    def _text(self, table, at: int) -> str:
        begin = table[4] + at
        return self.data[begin : self.data.index(b"\0", begin)].decode()

    def section(self, name: str) -> bytes:
        """The content of a section."""
        head = self.heads[self.names.index(name)]
        return self.data[head[4] : head[4] + head[5]]

    def symbols(self) -> list[Symbol]:
        """The symbols of all tables."""
        result = []
        for head in self.heads:
            if head[1] != SYMBOL_TABLE:
                continue
            strings = self.heads[head[6]]
            for at in range(head[4], head[4] + head[5], 24):
                name, info, _, section, _, size = struct.unpack_from("<IBBHQQ", self.data, at)
                result.append(Symbol(self._text(strings, name), info & 15, section, size))
        return result
