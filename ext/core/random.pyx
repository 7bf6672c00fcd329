# cython: language_level=3
# build: plain hot
"""Generators of random numbers, one or several for each device.

A generator counts: Philox4x32-10 turns (key, position, element) into bits, so that the same seed
gives the same numbers for any number of threads, on every device. Key and position are two int64 in
a tensor on the generator's device. A kernel that draws reads them there and moves the position on,
as part of its launch (ext/kernels/scalar/random_elements.h says how); the host reads them only if
somebody asks.
"""
cimport cython
from cpython.ref cimport PyObject
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset
from autograd_cy._C.dtypes cimport (
    dt_object, DT_BF16, DT_BOOL, DT_F16, DT_F32, DT_F64, DT_I16, DT_I32, DT_I64, DT_I8,
    DT_U16, DT_U32, DT_U64, DT_U8)
from autograd_cy._C.devices cimport (
    Services, current_stream, current_stream_owner, note_use, services)
from autograd_cy._C.iterate cimport contiguous, copy_into, to_device
from autograd_cy._C.launch cimport capturing, no_launch
from autograd_cy._C.placement cimport (
    as_device, device_code, device_of_code, devices_of_type)
from autograd_cy._C.storage cimport ON_CPU, ON_META, ServiceBlock, device_index, device_type
from autograd_cy._C.tensor cimport Tensor, tensor_empty, tensor_empty_on, tensor_window

import os as _os

__all__ = [
    "Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed",
    "set_rng_state",
]

cdef enum:
    DEFAULT_SEED = 67280421310721
    STATE_BYTES = 24

cdef uint64_t STATE_MARK = 0x31302D5847415250      # "PRAGX-01": tells our states from others
cdef Py_ssize_t TWO = 2
cdef str ANEW = "a generator that starts anew would do so once only; do it before"


cdef Tensor words_on(int device):
    """Key and position on another device, with a 0 behind them, which its kernels count with."""
    cdef Py_ssize_t three = 3, one = 1
    cdef Tensor zeros = tensor_empty(DT_I64, 1, &three)
    cdef Tensor words = tensor_empty_on(device, DT_I64, 1, &three, NULL)
    memset(zeros.ptr, 0, 3 * sizeof(uint64_t))
    copy_into(words, zeros, "Generator")
    return tensor_window(words, 1, &TWO, &one, 0)


# --- generators -----------------------------------------------------------------------------

@cython.final
cdef class Generator:
    """
    A source of random numbers with a state of its own.

    Parameters
    ----------
    device : device, optional
        Where it draws, the CPU if left out. The same seed gives the same numbers on all devices.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> g = ag.Generator().manual_seed(0)
    >>> a = ag.rand(2, generator=g)
    >>> b = ag.rand(2, generator=g.manual_seed(0))
    >>> bool((a == b).all())
    True
    """

    def __cinit__(self, device=None):
        cdef int code = device_code(device)
        if code == ON_META:
            raise RuntimeError(f"Device type {as_device(device).type.upper()} is not supported for "
                               "Generator() api; there are no values on it")
        if code == ON_CPU:
            self.state = tensor_empty(DT_I64, 1, &TWO)
        else:
            self.stream = current_stream(code)
            self.owner = owner_of(code)
            self.state = words_on(code)
        self.write(DEFAULT_SEED, 0)

    cdef int write(self, uint64_t key, uint64_t position) except -1:
        """Go on from a key and a position, which the host knows."""
        cdef Tensor words = self.state
        if self.state.mem.device != ON_CPU:
            words = tensor_empty(DT_I64, 1, &TWO)
            self.follow()
        (<uint64_t*>words.ptr)[0] = key
        (<uint64_t*>words.ptr)[1] = position
        self.key = key
        if words is not self.state:
            copy_into(self.state, words, "manual_seed")
        return 0

    cdef Tensor read(self):
        """Key and position, on the CPU."""
        no_launch("get_state", "the state of a generator is read; do it before")
        if self.state.mem.device != ON_CPU:
            self.follow()
        return contiguous(to_device(self.state, ON_CPU))

    cdef int follow(self) except -1:
        """Let the current stream come after the one that used the state last."""
        cdef int device = self.state.mem.device, index = device_index(device)
        cdef Services* s = &services[device_type(device)]
        cdef void* stream = current_stream(device)
        cdef void* event = NULL
        if stream == self.stream:
            return 0
        s.event_record(index, self.stream, False, &event)
        try:
            s.event_wait(index, stream, event)
        finally:
            s.event_free(index, event)
        note_use(<ServiceBlock*>self.state.mem, device, stream, current_stream_owner(device))
        self.stream = stream
        self.owner = owner_of(device)
        return 0

    @property
    def device(self):
        return device_of_code(self.state.mem.device)

    def manual_seed(self, seed):
        """
        Start anew from a seed.

        Parameters
        ----------
        seed : int
            From ``-2**63`` to ``2**64 - 1``; negative numbers count from ``2**64``.

        Returns
        -------
        Generator
            This one.

        Raises
        ------
        TypeError
            If the seed is no integer.
        ValueError
            If it has more than 64 bits.
        """
        if not hasattr(seed, "__index__"):
            raise TypeError(f"manual_seed expected an int, but got {type(seed).__name__}")
        number = seed.__index__()
        if not -(1 << 63) <= number < 1 << 64:
            raise ValueError(f"manual_seed: Overflow when unpacking long long: {number}")
        no_launch("manual_seed", ANEW)
        self.write(number & 0xFFFFFFFFFFFFFFFF, 0)
        return self

    def seed(self):
        """Start anew from a seed that the system draws; returns the seed."""
        no_launch("seed", ANEW)
        self.write(int.from_bytes(_os.urandom(8), "little"), 0)
        return self.key

    def initial_seed(self):
        """The seed this generator started from."""
        if self.state.mem.device == ON_CPU:
            return (<uint64_t*>self.state.ptr)[0]
        return self.key

    def get_state(self):
        """The state as a tensor of bytes on the CPU, for :meth:`set_state`."""
        cdef Tensor words = self.read()
        return state_of((<uint64_t*>words.ptr)[0], (<uint64_t*>words.ptr)[1])

    def set_state(self, new_state):
        """
        Go on from a state that :meth:`get_state` returned.

        Raises
        ------
        TypeError
            If the state is no tensor of dtype uint8.
        RuntimeError
            If it is the state of another kind of generator.
        """
        key, position = words_of(new_state)
        self.write(key, position)
        return self

    def _snapshot(self):
        """Copy the state on its device, for `_restore`; the host doesn't read it."""
        cdef Tensor copy = tensor_empty_on(self.state.mem.device, DT_I64, 1, &TWO, NULL)
        if self.state.mem.device != ON_CPU:
            self.follow()
        copy_into(copy, self.state, "get_state")
        return copy, self.key

    def _restore(self, snapshot):
        """Go on from a snapshot of this generator, or of another one of its device."""
        if self.state.mem.device != ON_CPU:
            self.follow()
        copy_into(self.state, <Tensor?>snapshot[0], "set_state")
        self.key = snapshot[1]

    def __repr__(self):
        return f"<autograd_cy.Generator on {self.device}, seed {self.initial_seed()}>"

    def __reduce__(self):
        cdef Tensor words = self.read()
        state = (<uint64_t*>words.ptr)[0], (<uint64_t*>words.ptr)[1]
        if self.state.mem.device != ON_CPU:
            state += (str(self.device),)
        return _rebuild_generator, state


cdef Tensor state_of(uint64_t key, uint64_t position):
    """The bytes that stand for a key and a position."""
    cdef Py_ssize_t n = STATE_BYTES
    cdef Tensor t = tensor_empty(DT_U8, 1, &n)
    cdef uint64_t[3] words
    words[0], words[1], words[2] = STATE_MARK, key, position
    memcpy(t.ptr, words, STATE_BYTES)
    return t


cdef tuple words_of(object state):
    """Key and position of a state; an error if it is of another kind."""
    cdef Tensor t
    cdef uint64_t[3] words
    if not isinstance(state, Tensor):
        raise TypeError(f"expected a tensor of uint8, but got {type(state).__name__}")
    if (<Tensor>state).dt != DT_U8:
        raise TypeError(
            f"RNG state must be a tensor of uint8, not {dt_object((<Tensor>state).dt).name}")
    no_launch("set_state", ANEW)
    t = contiguous(to_device(<Tensor>state, ON_CPU))
    if t.count != STATE_BYTES:
        raise RuntimeError(
            f"Expected a generator state of size {STATE_BYTES} but found the input RNG state "
            f"size to be {t.count}; the state of another library can't be continued here, seed "
            "anew with manual_seed")
    memcpy(words, t.ptr, STATE_BYTES)
    if words[0] != STATE_MARK:
        raise RuntimeError("these bytes are no state of an autograd_cy generator")
    return words[1], words[2]


cdef object owner_of(int device):
    """The Stream that is the current one of a device, None for the default stream."""
    cdef PyObject* owner = current_stream_owner(device)
    return None if owner == NULL else <object>owner


def _rebuild_generator(uint64_t seed, uint64_t position, device=None):
    """A generator from a pickle."""
    cdef Generator g = Generator(device)
    g.write(seed, position)
    return g


# --- default generators ---------------------------------------------------------------------

default_generator = Generator()
cdef Generator _default = default_generator
cdef list _others = []             # those of other devices, made when one is first drawn from
cdef uint64_t _seed_of_others = DEFAULT_SEED
# (type, index; None: all) -> key and position of default generators that are not made yet
cdef dict _later = {}
cdef uint64_t _draws = 0           # fills with numbers of default generators so far


cdef Generator default_of(int device):
    """The default generator of a device."""
    cdef Generator g
    if device == ON_CPU:
        return _default
    for other in _others:
        g = <Generator>other
        if g.state.mem.device == device:
            return g
    g = Generator(device_of_code(device))
    key, position = first_words(g.device.type, g.device.index)
    g.write(key, position)
    _others.append(g)
    return g


cdef tuple first_words(object type, object index):
    """Key and position that the default generator of a device begins with."""
    return _later.get((type, index)) or _later.get((type, None)) or (_seed_of_others, 0)


cdef Generator generator_of(object type, object index):
    """The default generator of a device if it was made."""
    for other in _others:
        place = (<Generator>other).device
        if place.type == type and place.index == index:
            return <Generator>other
    return None


# Generators of devices that nobody has used are not made to be seeded or asked: on some devices
# the first use takes time and memory.

def _seed_default(str type not None, index, seed):
    """Seed the default generator of a device, for None those of all devices of the type."""
    cdef Generator g = Generator().manual_seed(seed)
    if index is None:
        for key in [key for key in _later if key[0] == type]:
            del _later[key]
    _later[type, index] = (g.key, 0)
    for other in _others:
        place = (<Generator>other).device
        if place.type == type and index in (None, place.index):
            (<Generator>other).write(g.key, 0)
    return g.key


def _initial_seed_of(str type not None, index):
    """The seed that the default generator of a device started from."""
    cdef Generator g = generator_of(type, index)
    return first_words(type, index)[0] if g is None else g.initial_seed()


def _state_of_default(str type not None, index):
    """The state of the default generator of a device."""
    cdef Generator g = generator_of(type, index)
    if g is None:
        key, position = first_words(type, index)
        return state_of(key, position)
    return g.get_state()


def _set_state_of_default(str type not None, index, new_state):
    """Let the default generator of a device go on from a state."""
    cdef Generator g = generator_of(type, index)
    if g is None:
        _later[type, index] = words_of(new_state)
    else:
        g.set_state(new_state)


cdef object checked_generator(object gen, str op):
    if gen is not None and not isinstance(gen, Generator):
        raise TypeError(
            f"{op}(): argument 'generator' must be autograd_cy.Generator, not {type(gen).__name__}"
        )
    return gen


cdef Tensor drawing_state(object gen, int device, str op):
    global _draws
    cdef Generator g
    if gen is None:
        _draws += device != ON_META
        if device == ON_CPU:
            return _default.state
        if device == ON_META:
            return None
        g = default_of(device)
        g.follow()
        return g.state
    g = <Generator>checked_generator(gen, op)
    if device == ON_META:
        return None
    if g.state.mem.device != device:
        raise other_device(g, device)
    if device != ON_CPU:
        g.follow()
    return g.state


cdef object other_device(Generator g, int device):
    """The error of a generator that draws elsewhere."""
    wanted, own = device_of_code(device), device_of_code(g.state.mem.device)
    names = (wanted.type, own.type) if wanted.type != own.type else (str(wanted), str(own))
    return RuntimeError(
        f"Expected a '{names[0]}' device type for generator but found '{names[1]}'; make it with "
        f"Generator(device='{wanted}')")


def _default_draws():
    """Count draws from default generators; nothing is read of a device for it."""
    return _draws


def _default_of(device):
    """The default generator of a device, which is no meta device."""
    cdef int code = device_code(device)
    if code == ON_META:
        raise RuntimeError("there are no random numbers on device 'meta'")
    return default_of(code)


def _defaults():
    """The default generators of the CPU and of all devices that were drawn on and still exist."""
    cdef int code
    generators = [_default]
    if capturing():
        return generators            # work of the others is refused, so that they can't draw
    for g in _others:
        code = (<Generator>g).state.mem.device
        if device_index(code) < devices_of_type(device_type(code)):
            generators.append(g)
    return generators


def _forget_defaults(str type not None):
    """Let go of the default generators of a type whose devices this process can't use any more."""
    _others[:] = [g for g in _others if (<Generator>g).device.type != type]


def _default_states():
    """The states of all default generators, for `_put_back_defaults`; nothing is read."""
    states = [(g, (<Generator>g)._snapshot()) for g in _defaults()]
    return _seed_of_others, states, dict(_later)


def _put_back_defaults(states):
    """Let all default generators go on from where they were; younger ones start anew."""
    global _seed_of_others, _later
    _seed_of_others, _later = states[0], dict(states[2])
    known = [g for g, _ in states[1]]
    for g in _defaults():
        if not any([g is one for one in known]):
            no_launch("fork_rng", ANEW)
            key, position = first_words(g.device.type, g.device.index)
            (<Generator>g).write(key, position)
    for g, state in states[1]:
        (<Generator>g)._restore(state)


def manual_seed(seed):
    """
    Seed the default generators of all devices.

    Parameters
    ----------
    seed : int

    Returns
    -------
    Generator
        That of the CPU.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> _ = ag.manual_seed(0)
    >>> a = ag.rand(2)
    >>> _ = ag.manual_seed(0)
    >>> bool((a == ag.rand(2)).all())
    True
    """
    global _seed_of_others
    _default.manual_seed(int(seed))
    _seed_of_others = _default.key
    _later.clear()
    for g in _defaults()[1:]:
        (<Generator>g).write(_seed_of_others, 0)
    return _default


def seed():
    """
    Seed the default generators of all devices from the system.

    Returns
    -------
    int
        The seed.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> number = ag.seed()
    >>> ag.initial_seed() == number
    True
    """
    number = int.from_bytes(_os.urandom(8), "little")
    manual_seed(number)
    return number


def initial_seed():
    """
    The seed of the default generator of the CPU.

    Returns
    -------
    int

    Examples
    --------
    >>> import autograd_cy as ag
    >>> _ = ag.manual_seed(5)
    >>> ag.initial_seed()
    5
    """
    return _default.initial_seed()


def get_rng_state():
    """
    The state of the default generator of the CPU.

    Returns
    -------
    Tensor
        Bytes.

    Examples
    --------
    >>> import autograd_cy as ag
    >>> state = ag.get_rng_state()
    >>> a = ag.rand(2)
    >>> ag.set_rng_state(state)
    >>> bool((a == ag.rand(2)).all())
    True
    """
    return _default.get_state()


def set_rng_state(new_state):
    """
    Let the default generator go on from a state of :func:`get_rng_state`.

    Parameters
    ----------
    new_state : Tensor

    Examples
    --------
    >>> import autograd_cy as ag
    >>> ag.set_rng_state(ag.get_rng_state())
    """
    _default.set_state(new_state)


cdef object exact_limit(int dt):
    """Integers up to this one are exact in the dtype; the largest that an integer dtype holds."""
    return {DT_BOOL: 1, DT_U8: 255, DT_U16: 2**16 - 1, DT_U32: 2**32 - 1, DT_U64: 2**64 - 1,
            DT_I8: 127, DT_I16: 2**15 - 1, DT_I32: 2**31 - 1, DT_I64: 2**63 - 1, DT_F16: 2**11,
            DT_BF16: 2**8, DT_F32: 2**24, DT_F64: 2**53}[dt]
