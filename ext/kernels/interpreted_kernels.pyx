# cython: language_level=3
# build: plain cold
"""Kernels of interpreted operators: elementwise loops, compiled functions, NumPy's."""
import numpy as _np
from autograd_cy._C.devices cimport add_slots, device_among, no_host_kernel, no_kernel
from autograd_cy._C.dtypes cimport (
    dt_differentiable, dt_real, dt_to_complex, g_default_dtype, DT_BF16, DT_BOOL, DT_F16, DT_F32,
    DT_I32, DT_I64)
from autograd_cy._C.exchange cimport array_of, from_array
from autograd_cy._C.iterate cimport (
    cast, ewn, resolved, result_dtype, separated, to_device, P_BOOL, P_COMPLEX, P_FLOAT, P_REAL,
    P_SAME, P_SKIP_FIRST)
from autograd_cy._C.kernel_table cimport kernel_number
from autograd_cy._C.launch cimport no_launch
from autograd_cy._C.outputs cimport (
    OUT_CAST, OUT_EXACT, OUT_JOINED, OUT_TRUTH, OVER_DENSE, OVER_NONE, OVER_PLACES, Result,
    check_outs, fresh, inplace_target, out_target, settle)
from autograd_cy._C.storage cimport ON_CPU, ON_META, device_type
from autograd_cy._C.tensor cimport Tensor

cdef dict _ways = {}          # type of device -> what is told that the host computes for it
cdef dict RULES = {
    "same": P_SAME, "bool": P_BOOL, "float": P_FLOAT, "real": P_REAL, "complex": P_COMPLEX}
cdef dict OUT_KINDS = {"exact": OUT_EXACT, "truth": OUT_TRUTH, "joined": OUT_JOINED}


cdef class ElementwiseKernel:
    """An elementwise kernel by its name; `places` says which arguments are its operands."""
    def __init__(self, str kernel, tuple places, str dtypes, bint skip_first, str name):
        self.number, self.places, self.name = kernel_number(kernel), places, name
        self.rule = P_SKIP_FIRST if skip_first else 0
        for word in dtypes.split():
            self.rule |= <int>RULES[word]

    def __call__(self, *args):
        return self.launch(args, None)

    cdef Tensor launch(self, tuple args, Tensor out):
        return ewn(self.number, tuple([args[place] for place in self.places]), self.rule, out,
                   self.name)

    cdef int known_dtype(self, tuple args) except -2:
        """The code of the dtype of the result, or -1 if only the result says."""
        cdef int rule = self.rule & ~<int>P_SKIP_FIRST
        if rule == P_BOOL:
            return DT_BOOL
        if rule != P_SAME:                          # with P_FLOAT the operands don't say all
            return -1
        return result_dtype(tuple(
            [args[place] for place in self.places[1 if self.rule & P_SKIP_FIRST else 0:]]))


cdef class ShapedKernel:
    """
    A compiled kernel that fills results, which a shape rule has described before.

    Devices register their kernels for it as for those of compiled operators (kernel_runs.py).
    """
    def __init__(self, str key, str signature, rule, kernel, kernel_args, int n, over, bint places):
        """
        `rule` takes the address of results and the arguments; `kernel_args` makes a kernel's
        arguments of the latter; `over` is the place of the argument that a result may be, or None.
        """
        cdef int i
        if n > MOST_RESULTS:
            raise ValueError(f"{key}: {n} results")
        self.rule, self.kernel_args, self.over, self.n = rule, kernel_args, over, n
        self.places = places
        self.calls = [None] * MAX_DEVICE_TYPES
        for i in range(MAX_DEVICE_TYPES):
            self.slots[i] = NULL
        address, self.make = kernel
        self.slots[ON_CPU] = <void*><size_t>address
        add_slots(self.slots, (key,), (signature,))

    cdef int refuse(self, str name, tuple args) except -1:
        """Raise for arguments that the shape rule refuses."""
        cdef Result results[MOST_RESULTS]
        self.rule(<size_t>&results[0], args, name)
        return 0

    cdef object run(self, str name, tuple args, tuple read, bint on_device, tuple outs, str rule):
        """
        Results in fresh memory, or in `outs` by the rule that the record names.

        `read` are the tensors among the arguments.
        """
        cdef Result results[MOST_RESULTS]
        cdef int device = device_among(read, name) if on_device else 0
        cdef int kind = OUT_KINDS.get(rule, OUT_CAST)
        cdef list to = []
        cdef int i
        self.rule(<size_t>&results[0], args, name)
        if outs is not None and self.n > 1:
            check_outs(outs, results, name)
        elif outs is not None and self.places:
            args = self.apart(<Tensor>outs[0], args, args[self.over], name)
        for i in range(self.n):
            if outs is None:
                to.append(fresh(&results[i], device))
            else:
                # None may share memory with those before it, either.
                to.append(out_target(
                    <Tensor>outs[i], &results[i], read + tuple(to), device, kind, name))
        self.fill(to, args, device, name)
        if outs is not None:
            for i in range(self.n):
                settle(<Tensor>outs[i], <Tensor>to[i], name)
            return outs
        return to[0] if self.n == 1 else tuple(to)

    cdef int run_inplace(self, str name, tuple args, tuple read, tuple others,
                         bint on_device) except -1:
        """The result in the first argument; `others` of `read` are not at the place `over`."""
        cdef Result results[MOST_RESULTS]
        cdef Tensor first = <Tensor>args[0]
        cdef int device = device_among(read, name) if on_device else 0
        cdef str form = name + "_"
        cdef int over = OVER_NONE
        self.rule(<size_t>&results[0], args, name)
        if self.over is None:
            others = ()
        elif not self.places:
            over = OVER_DENSE
        else:
            over = OVER_PLACES
            args = self.apart(first, args, first, form)
        to = inplace_target(first, results, others, device, over, form)
        self.fill([to], args, device, name)
        settle(first, to, name)
        return 0

    cdef tuple apart(self, Tensor out, tuple args, object itself, str name):
        """Arguments that may be read while `out` is written, but the one that the result may be."""
        return tuple([
            separated(out, <Tensor>x, name) if isinstance(x, Tensor) and x is not itself else x
            for x in args])

    cdef int fill(self, list to, tuple args, int device, str name) except -1:
        cdef int type = device_type(device)
        if self.slots[type] != NULL:
            if self.calls[type] is None:
                self.calls[type] = self.make(<size_t>self.slots[type])
            self.calls[type](*to, *self.kernel_args(*args))
        elif device != ON_META:
            raise no_kernel(name, device)
        return 0


cdef class HostKernel:
    """
    A function of NumPy arrays as a kernel.

    Arrays share the memory of the tensors; what comes back is copied only if it shares memory, too,
    or has another dtype than the record says. Half types are computed in float32.
    """
    def __init__(self, function, tuple dtypes, str name):
        self.function, self.dtypes, self.name = function, dtypes, name

    def __call__(self, *args):
        cdef int device = device_among(tensors_among(args), self.name)
        if device == ON_CPU:
            return self.computed(args)
        if device_type(device) not in _ways:
            raise no_host_kernel(self.name, device)
        _ways[device_type(device)](self.name, device)
        result = self.computed(on_device(args, ON_CPU))
        if isinstance(result, tuple):
            return on_device(result, device)
        return to_device(<Tensor>result, device)

    def computed(self, args):
        """The results of tensors of the CPU."""
        cdef list arrays = [], outputs = []
        cdef list tensors = []
        cdef int dt
        no_launch(self.name, "NumPy or SciPy computes it")
        for x in args:
            if isinstance(x, Tensor):
                tensors.append(x)
                x = readable(<Tensor>x)
            elif isinstance(x, tuple) and len(x) and isinstance(x[0], Tensor):
                tensors.extend(x)
                x = tuple([readable(<Tensor>y) for y in x])
            arrays.append(x)
        dt = (<Tensor>tensors[0]).dt if self.dtypes[0] == "first" else result_dtype(tuple(tensors))
        try:
            with _np.errstate(all="ignore"):
                result = self.function(*arrays)
        except _np.linalg.LinAlgError as error:
            raise _linalg_error()(f"{self.name}: {error}") from None
        except ValueError as error:
            if "too big" not in str(error):     # NumPy's, of bytes beyond 63 bits
                raise
            raise RuntimeError(
                f"{self.name}: Storage size calculation overflowed: {error}") from None
        if len(self.dtypes) == 1:
            return tensor_from_array(result, dtype_by(self.dtypes[0], dt))
        for array, rule in zip(result, self.dtypes):
            outputs.append(tensor_from_array(array, dtype_by(rule, dt)))
        return tuple(outputs)


def let_host_compute(int type, way not None):
    """
    Let NumPy and SciPy compute for the tensors of a type of device.

    Parameters
    ----------
    type : int
        What `devices.register` has returned.
    way : callable
        Called with the name of an operator and the code of the device before its operands are
        copied to the host; it may raise.
    """
    _ways[type] = way


cdef tuple tensors_among(tuple args):
    """The tensors of a call, those of lists in it, too."""
    cdef list tensors = []
    for x in args:
        if isinstance(x, Tensor):
            tensors.append(x)
        elif isinstance(x, tuple) and len(x) and isinstance(x[0], Tensor):
            tensors.extend(x)
    return tuple(tensors)


cdef tuple on_device(tuple args, int device):
    """The arguments, or results, with their tensors on a device."""
    cdef list items = []
    for x in args:
        if isinstance(x, Tensor):
            x = to_device(resolved(<Tensor>x), device)
        elif isinstance(x, tuple):
            x = on_device(<tuple>x, device)
        items.append(x)
    return tuple(items)


cdef object readable(Tensor t):
    if t.dt == DT_F16 or t.dt == DT_BF16:
        return array_of(cast(t, DT_F32))
    return array_of(t)


cdef int dtype_by(str rule, int dt) except -1:
    """The dtype code of a result; `dt` is the promoted one of the operands, or the first one's."""
    cdef int floating
    if rule == "same" or rule == "first":
        return dt
    if rule == "int64":
        return DT_I64
    if rule == "int32":
        return DT_I32
    if rule == "bool":
        return DT_BOOL
    floating = dt if dt_differentiable(dt) else g_default_dtype
    if rule == "real":
        return dt_real(floating)
    if rule == "complex":
        return dt_to_complex(DT_F32 if floating == DT_F16 or floating == DT_BF16 else floating)
    return floating


cdef Tensor tensor_from_array(object array, int dt):
    cdef object a = _np.asarray(array)
    cdef Tensor t
    if a.base is not None or not a.flags.aligned or not a.flags.writeable or (
            a.strides and min(a.strides) < 0):
        a = a.copy()                # memory of its own, in the order of its elements
    if a.dtype.kind == "g" or a.dtype.itemsize > 16:
        a = a.astype(_np.float64)
    t = from_array(a)
    return cast(t, dt)


cdef object _linalg_error():
    from autograd_cy._interpreted import LinAlgError
    return LinAlgError
