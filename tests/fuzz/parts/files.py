"""Damaged files: `load` gives an object or an error, runs no code and stays in its memory."""

import importlib
import io
import itertools
import math
import pickle
import pickletools
import sys
import zipfile
from collections import OrderedDict
from dataclasses import dataclass

from ..case import Result, Wrong, chance, choice

ENTRY = "archive/data.pkl"
# Globals that a hostile file might ask for.
NAMES = (
    "os system",
    "builtins eval",
    "builtins exec",
    "builtins getattr",
    "builtins __import__",
    "builtins bytearray",
    "builtins range",
    "subprocess Popen",
    "collections OrderedDict",
    "collections deque",
    "_codecs encode",
    "autograd_cy Tensor",
    "autograd_cy UntypedStorage",
    "autograd_cy load",
    "autograd_cy.nn Parameter",
    "autograd_cy._C.tensor Tensor",
    "autograd_cy._C.tensor Size",
    "autograd_cy._C.copying _rebuild_tensor",
    "autograd_cy._C.copying _storage_on_meta",
    "autograd_cy._C.random _rebuild_generator",
    "autograd_cy.viz os.system",
    "torch FloatStorage",
    "torch Tensor",
    "torch device",
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_tensor_v3",
    "torch._utils _rebuild_parameter",
    "torch._utils _rebuild_meta_tensor_no_storage",
    "torch._tensor _rebuild_from_type_v2",
    "torch.serialization _get_layout",
    "torch.storage UntypedStorage",
    "torch.load x",
    "autograd_cy.serialization pickle.loads",
)
ARGUMENTS = (b")", b"(K\x01t", b"(K\xfft", b"(Nt", b"(X\x01\x00\x00\x00xt", b"(J\xff\xff\xff\xfft",
             b"(\x8a\x08" + b"\xff" * 7 + b"\x7ft", b"((K\x02K\x03tt", b"(]t", b"(}t")  # fmt: skip
WATCHED = ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "compile", "open",
           "socket.connect", "ctypes.dlopen", "shutil.rmtree", "os.remove")  # fmt: skip
ERRORS = (
    pickle.UnpicklingError, EOFError, TypeError, ValueError, RuntimeError, IndexError, KeyError,
    LookupError, AttributeError, ImportError, OverflowError, MemoryError, AssertionError,
)  # fmt: skip


class Guard:
    """Note what a file does while it is loaded, by the interpreter's audit events."""

    def __init__(self):
        self.watching, self.seen, self.placed = False, [], False

    def hook(self, event, args):
        if self.watching and event in WATCHED:
            # The source that is compiled tells less than the name of its file.
            self.seen.append(f"{event}{args[1 if event == 'compile' else 0]!r}")

    def __enter__(self):
        if not self.placed:
            # Modules that a name in a file may import compile their classes of named fields.
            for name in "nn optim func viz serialization testing _lazy.lookup".split():
                importlib.import_module(f"autograd_cy.{name}")
            sys.addaudithook(self.hook)
            self.placed = True
        self.seen, self.watching = [], True
        return self

    def __exit__(self, *_):
        self.watching = False


GUARD = Guard()


@dataclass(frozen=True)
class File:
    """A saved file: a number of `objects`, its damage, and the generator's seed."""

    kind: int
    damage: str
    protocol: int
    seed: int

    title = property(lambda self: f"load after {self.damage}")

    def source(self):
        return (
            "import io\nimport autograd_cy as torch\n"
            f"data = {damaged(self)!r}\nprint(torch.load(io.BytesIO(data)))\n"
        )


KINDS = 9


def make(rng):
    damage = choice(rng, tuple(DAMAGES))
    return File(int(rng.integers(KINDS)), damage, int(rng.integers(2, 6)), int(rng.integers(2**32)))


def objects(lib, kind):
    """Something to save."""
    base = lib.arange(6.0)
    if kind == 0:
        return base
    if kind == 1:
        return {"a": base, "view": base[1:3], "t": base.view(2, 3).t()}
    if kind == 2:
        return lib.nn.Linear(2, 3).state_dict()
    if kind == 3:
        return lib.nn.Parameter(lib.ones(2))
    if kind == 4:
        return [lib.ones(3, dtype=lib.bfloat16), lib.tensor(True), lib.zeros(0, 3), lib.Size([2])]
    if kind == 5:
        return OrderedDict(x=lib.Generator(), y=lib.complex64, z=lib.device("cpu"))
    if kind == 6:
        return (lib.ones(2, requires_grad=True), {1: {2: [3.0, None, "text"]}})
    if kind == 7:
        return lib.ones(4).untyped_storage()
    model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.Linear(3, 1))
    optimizer = lib.optim.Adam(model.parameters())
    model(lib.ones(2)).sum().backward()
    optimizer.step()
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}


def resume(checkpoint, lib):
    """Use a checkpoint as a program does."""
    model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.Linear(3, 1))
    optimizer = lib.optim.Adam(model.parameters())
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    model(lib.ones(2)).sum().backward()
    optimizer.step()
    model(lib.ones(2)).tolist()


def saved(kind, protocol):
    import autograd_cy as lib

    file = io.BytesIO()
    lib.save(objects(lib, kind), file, pickle_protocol=protocol)
    return file.getvalue()


def pickled(kind, protocol):
    """The pickle in the file."""
    return zipfile.ZipFile(io.BytesIO(saved(kind, protocol))).read(ENTRY)


def damaged(case):
    """The bytes of the file: damaged anywhere, or whole around a damaged pickle."""
    import numpy as np

    rng = np.random.default_rng(case.seed)
    damage, whole = DAMAGES[case.damage], saved(case.kind, case.protocol)
    if damage in ANYWHERE and chance(rng, 0.3):
        return damage(whole, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            target.writestr(name, damage(data, rng) if name == ENTRY else data)
    return out.getvalue()


def flip_bits(body, rng):
    data = bytearray(body)
    for _ in range(int(rng.integers(1, 4))):
        data[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def set_bytes(body, rng):
    data = bytearray(body)
    for _ in range(int(rng.integers(1, 6))):
        data[int(rng.integers(len(data)))] = choice(rng, (0, 1, 127, 128, 255, 46, 82, 48))
    return bytes(data)


def truncate(body, rng):
    return body[: int(rng.integers(len(body)))] + b"." * chance(rng, 0.5)


def cut_out(body, rng):
    start = int(rng.integers(len(body)))
    return body[:start] + body[start + int(rng.integers(1, 20)) :]


def opcodes(body):
    """The file cut at its opcodes."""
    places = [place for _, _, place in pickletools.genops(body)] + [len(body)]
    return [body[a:b] for a, b in itertools.pairwise(places)]


def move_opcodes(body, rng):
    """Some opcodes taken away, doubled or exchanged."""
    parts = opcodes(body)
    for _ in range(int(rng.integers(1, 4))):
        i, j = (int(rng.integers(len(parts))) for _ in range(2))
        manner = choice(rng, ("drop", "double", "exchange"))
        if manner == "drop" and len(parts) > 2:
            del parts[i]
        elif manner == "double":
            parts.insert(j, parts[i])
        else:
            parts[i], parts[j] = parts[j], parts[i]
    return b"".join(parts)


def other_numbers(body, rng):
    """Small integers of the file replaced by odd ones: sizes, strides, offsets, counts."""
    parts = opcodes(body)
    places = [i for i, p in enumerate(parts) if p[:1] in (b"K", b"M", b"J", b"\x8a")]
    for i in places:
        if chance(rng, 0.4):
            n = choice(rng, (-1, 0, 1, 2, 3, 7, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), 2**64))
            parts[i] = b"\x8a" + (lambda b: bytes([len(b)]) + b)(pickle.encode_long(n))
    return b"".join(parts)


def splice(body, rng):
    """Opcodes of another file in the middle of this one."""
    other = opcodes(pickled(int(rng.integers(KINDS)), int(rng.integers(2, 6))))
    parts = opcodes(body)
    i, j = int(rng.integers(len(parts))), int(rng.integers(len(other)))
    return b"".join(parts[:i] + other[j : j + int(rng.integers(1, 12))] + parts[i:])


def ask_for(body, rng):
    """A call of something, or an object made without its constructor, alone or put in front."""
    module, _, name = choice(rng, NAMES).partition(" ")
    found = f"c{module}\n{name}\n".encode()
    attack = found + choice(rng, ARGUMENTS) + choice(rng, (b"R", b"\x81", b"b", b"R(K\x01K\x02tb"))
    return b"\x80\x04" + attack + (b"." if chance(rng, 0.5) else b"0" + body[2:])


DAMAGES = {
    "flipped bits": flip_bits,
    "other bytes": set_bytes,
    "truncation": truncate,
    "a hole": cut_out,
    "moved opcodes": move_opcodes,
    "other numbers": other_numbers,
    "spliced opcodes": splice,
    "a request": ask_for,
}
ANYWHERE = (flip_bits, set_bytes, truncate, cut_out)


def run(case, lib):
    data = damaged(case)
    before = set(sys.modules)
    try:
        with GUARD:
            found = lib.load(io.BytesIO(data))
        problem = _loaded_code(before)
        if problem is None:
            use(found, lib)
            if case.kind == KINDS - 1 and isinstance(found, dict):
                resume(found, lib)
    except ERRORS as error:
        problem = _loaded_code(before)
        if problem is None:
            return Result("refused", f"{type(error).__name__}: {error}"[:200])
    if problem:
        raise Wrong(problem)
    return Result()


def _loaded_code(before):
    """Name the code that the file has run, or return None. The package's own modules may be
    imported."""
    foreign = [m for m in set(sys.modules) - before if m.partition(".")[0] in ("os", "subprocess")]
    # Text in a file names its encoding, and Python loads the module that knows it.
    ours = ("autograd_cy", "/encodings/")
    seen = [event for event in GUARD.seen if not any(word in event for word in ours)]
    return f"the file ran {seen + foreign}" if seen or foreign else None


def use(x, lib, depth=0):
    """Whatever came back must be whole: print it, copy it, add to it."""
    if depth > 4:
        return
    if isinstance(x, lib.Tensor):
        # Nested lists may be many even if there is nothing in them.
        if math.prod(max(n, 1) for n in x.shape) < 10**6:
            repr(x), x.clone(), x.detach().tolist()
            if not x.requires_grad and x.dtype != lib.bool:
                x += 0
    elif isinstance(x, (list, tuple, set, frozenset)):
        for y in list(x)[:100]:
            use(y, lib, depth + 1)
    elif isinstance(x, dict):
        for y in list(x.values())[:100]:
            use(y, lib, depth + 1)
    elif not isinstance(x, range):
        repr(x)
