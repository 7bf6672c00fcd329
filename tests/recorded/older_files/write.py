"""Write files as PyTorch did before its version 1.6; needs torch.

    python tests/recorded/older_files/write.py

The streams are by torch.save itself; the tar archive is put together here in the format of before
version 0.1.10. torch.load reads all of them.
"""

import base64
import io
import pickle
import struct
import tarfile
import tempfile
import zlib
from collections import OrderedDict
from pathlib import Path

import torch

HERE = Path(__file__).parent


def state():
    """Tensors of several dtypes and strides, some on one memory."""
    w = torch.tensor([[1.5, -2.0, 0.25], [3.0, 4.0, 5.0]])
    return OrderedDict(
        weight=torch.nn.Parameter(w),
        rows=w[1:],
        columns=w.t(),
        count=torch.tensor(7),
        half=torch.tensor([0.5, -1.0], dtype=torch.float16),
        flags=torch.tensor([True, False]),
        complex=torch.tensor([1 + 2j]),
        empty=torch.empty(0, 2),
        note="Grüße",
    )


def stream(protocol):
    """Return a state as a stream."""
    file = io.BytesIO()
    torch.save(state(), file, pickle_protocol=protocol, _use_new_zipfile_serialization=False)
    return file.getvalue()


class _Ids(pickle._Pickler):
    """Writes a number in the place of each tensor."""

    def __init__(self, file, numbers):
        super().__init__(file, 2)
        self.numbers = numbers

    def persistent_id(self, obj):
        return str(self.numbers[id(obj)]) if id(obj) in self.numbers else None


def tar():
    """Return two tensors on one memory, and a part of another memory, as a tar archive."""
    whole = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    tensors = {11: whole, 12: whole.t(), 13: torch.tensor([8, 9])}
    storages = {1: ("DoubleStorage", [1.0, 2.0, 3.0, 4.0], "d"), 2: ("LongStorage", [7, 8, 9], "q")}
    parts = {name: io.BytesIO() for name in ("sys_info", "storages", "tensors", "pickle")}
    machine = {"protocol_version": 1000, "little_endian": True, "type_sizes": {"int": 4}}
    pickle.dump(machine, parts["sys_info"], 2)

    file = parts["storages"]
    pickle.dump(len(storages), file, 2)
    for key, (kind, elements, code) in storages.items():
        pickle.dump((key, "cpu", getattr(torch, kind)), file, 2)
        file.write(struct.pack(f"<q{len(elements)}{code}", len(elements), *elements))
    pickle.dump([(3, 2, 1, 2)], file, 2)  # storage 3 is two elements of storage 2, from 1 on

    file = parts["tensors"]
    pickle.dump(len(tensors), file, 2)
    for key, t in tensors.items():
        kind = torch.LongTensor if key == 13 else torch.DoubleTensor
        pickle.dump((key, 3 if key == 13 else 1, kind), file, 2)
        file.write(struct.pack("<ii", t.dim(), 0))
        file.write(struct.pack(f"<{t.dim()}q", *t.shape))
        file.write(struct.pack(f"<{t.dim()}q", *t.stride()))
        file.write(struct.pack("<q", 0))

    names = {id(t): key for key, t in tensors.items()}
    found = OrderedDict(whole=tensors[11], columns=tensors[12], part=tensors[13])
    _Ids(parts["pickle"], names).dump(found)

    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:", format=tarfile.USTAR_FORMAT) as archive:
        for name, part in parts.items():
            info = tarfile.TarInfo(name)
            info.size = len(part.getvalue())
            archive.addfile(info, io.BytesIO(part.getvalue()))
    return made.getvalue()


def main():
    for name, data in (
        ("stream_2.pt", stream(2)),
        ("stream_4.pt", stream(4)),
        ("archive.tar", tar()),
    ):
        with tempfile.NamedTemporaryFile() as file:  # tar archives are read from a path alone
            file.write(data)
            file.flush()
            print(torch.load(file.name, weights_only=False))
        (HERE / f"{name}.b64").write_text(_lines(data))


def _lines(data):
    text = base64.b64encode(zlib.compress(data, 9)).decode()
    return "".join(f"{text[i : i + 100]}\n" for i in range(0, len(text), 100))


if __name__ == "__main__":
    main()
