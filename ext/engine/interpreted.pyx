# cython: language_level=3
"""Interpreted operators: records of which the generator writes Python, not Cython.

What the generated Cython of a compiled operator does line by line, `Operation` does from data:
which arguments are tensors, what is saved for which gradient, which function computes it. Nodes,
saved tensors, hooks, tangents and batches are those of every operator; only the calls are slower,
by a few microseconds. The functions are written by ext/codegen/interpreted.py into
autograd_cy/_interpreted.
"""
from cpython.ref cimport PyObject
from libc.stdint cimport uint32_t
from autograd_cy._C.arguments cimport check_dtype, tensor_arg
from autograd_cy._C.batching cimport (
    align_batch, all_drop_lifted, all_front, batch_expand, batch_front, batch_size_of, common_dtype,
    drop_lifted, loop_batch, random_under_vmap, shift_dims, widest, wrap_batch, wrap_results,
    wrap_shared, wrap_shared_all)
from autograd_cy._C.devices cimport device_among, no_kernel
from autograd_cy._C.dtypes cimport (
    dt_code, dt_differentiable, dt_object, g_default_dtype, DT_I64)
from autograd_cy._C.forward cimport (
    forward_level, primals_at, set_tangent, set_tangents, tangents_at, zero_tangent)
from autograd_cy._C.unchanged_gradients cimport keep_graph
from autograd_cy._C.inplace cimport (
    constant_history, put_value, replace_value, unknown_history)
from autograd_cy._C.events cimport finished, note_node
from autograd_cy._C.interpreted_arguments cimport known_arguments
from autograd_cy._C.interpreted_kernels cimport ElementwiseKernel, HostKernel, ShapedKernel
from autograd_cy._C.iterate cimport all_resolved, clone_plain, resolved, result_dtype
from autograd_cy._C.levels cimport (
    all_lowered, any_batched, is_batched, lowered, place_alias, primal_at, tangent_at, top_level)
from autograd_cy._C.metadata cimport is_number
from autograd_cy._C.node cimport *
from autograd_cy._C.node_io cimport (
    any_needed, any_requires_grad, flags_of, give, give_all, overwritten)
from autograd_cy._C.out_forms cimport (
    check_out, need_exact_out, other_out, outs_arg, in_wider_dtype, write_exact_out, write_out,
    write_outs)
from autograd_cy._C.recorder cimport Event, Scope, begin_call, events
from autograd_cy._C.tensor cimport (
    Tensor, ForwardLevel, bump_version, g_modes, normal_dim, requires_grad, tls_modes, vmap_level,
    wrap_number,
    CREATED_DEFAULT, CREATED_MULTI_OUTPUT, F_BATCHED, F_DEVICE, F_DUAL, F_GRAD_PATH, F_INFERENCE,
    F_LAYERED, F_VIEW, G_FORWARD, G_PROFILE, M_NO_GRAD)
from autograd_cy._C.dtypes import dtype as _dtype
from autograd_cy._C.out_forms import _check_results
from autograd_cy._C.recorder import _set_flops
from autograd_cy._C.storage import OutOfMemoryError
include "operators_of_interpreted.pxi"


cdef class Operation:
    """
    One interpreted operator.

    Functions of a record take what it names by position: `kernel` the arguments; those in
    `gradients` (gradients of the outputs, saved slots, kept objects, which edges are needed, the
    node); those in `tangents` (tangents of the differentiable arguments, arguments, results); those
    of `batch` (arguments, batch size).
    """
    cdef readonly str key
    cdef readonly str name              # in error messages
    cdef readonly int event             # number of its name in profiles; that of op_ follows
    cdef readonly object kernel
    cdef readonly str node_name
    cdef readonly type node             # a subclass of InterpretedNode, or None
    cdef readonly tuple variants        # (test of the arguments, another subclass)
    cdef readonly tuple numbers         # edges that plain numbers don't have, the last first
    cdef readonly tuple tensors         # places of arguments that are a tensor or None
    cdef readonly int listed            # place of the argument that is a list of tensors, or -1
    cdef readonly tuple dims            # (place, counts from `first`'s dimensions: "dim" or "dims")
    cdef readonly tuple differentiable  # places, in the order of the edges
    cdef readonly tuple inputs          # (slot, place, edge, edges that use it)
    cdef readonly tuple outputs         # (slot, number of the result, edges that use it)
    cdef readonly int n_slots
    cdef readonly object keep           # makes the tuple of kept objects of the arguments, or None
    cdef readonly tuple gradients       # (edges, function, slots it uses, kind)
    cdef readonly tuple stays           # (edge, bits of edges in whose graph its gradient stays)
    cdef readonly tuple zeros           # numbers of outputs whose missing gradient is made of zeros
    cdef readonly object tangents       # (number of the output, ((argument, function), ...)), ...
    cdef readonly str jvp               # "formulas", "linear", "each"
    # "elementwise", "dims", "formulas", "loop", "refuse", "function", "random"
    cdef readonly str batch_rule
    cdef readonly object batch          # {batched places: function}, a function, or text
    cdef readonly tuple unpromoted      # places that keep their dtype, of an elementwise rule
    # (bits of dtype codes, places, promoted, place of a dtype, words of a refusal), or None
    cdef readonly tuple dtype_check
    cdef readonly tuple widen           # (bits, name of a dtype), or None
    cdef readonly int n_results         # 0: a tuple of any length
    cdef readonly tuple constant        # numbers of outputs without derivative
    cdef readonly bint resolves         # the kernel takes no tensor that is to be conjugated
    cdef readonly bint anywhere         # the kernel knows all devices
    cdef readonly int view              # how the views that it gives are made, or -1
    cdef readonly str out               # "", "exact", "cast", "truth", "joined"
    cdef readonly bint wide             # out= may widen half types
    cdef readonly int out_dtype         # where the dtype stands that out= chooses, or -1
    cdef readonly bint truth            # an elementwise kernel says what is true
    cdef readonly tuple mutated         # places of arguments that the kernel changes
    cdef readonly tuple saved           # what `saved_names` of the node says

    def __init__(self, **fields):
        self.key = fields["key"]
        self.name = fields["name"]
        self.event = events(f"{fields['event']}\n{fields['event']}_")
        if "flops" in fields:
            _set_flops(self.event, fields["flops"])
        self.kernel = fields["kernel"]
        self.node_name = fields["node"]
        self.tensors = fields["tensors"]
        self.listed = fields.get("listed", -1)
        self.dims = fields.get("dims", ())
        self.differentiable = fields.get("differentiable", ())
        self.inputs = fields.get("inputs", ())
        self.outputs = fields.get("outputs", ())
        self.n_slots = len(self.inputs) + len(self.outputs)
        self.keep = fields.get("keep")
        self.gradients = fields.get("gradients", ())
        self.stays = fields.get("stays", ())
        self.zeros = fields.get("zeros", ())
        self.tangents = fields.get("tangents", ())
        self.jvp = fields.get("jvp", "formulas")
        self.batch_rule = fields.get("batch_rule", "loop")
        self.batch = fields.get("batch")
        self.unpromoted = fields.get("unpromoted", ())
        self.dtype_check = fields.get("dtype_check")
        self.widen = fields.get("widen")
        self.n_results = fields.get("n_results", 1)
        self.constant = fields.get("constant", ())
        self.resolves = fields.get("resolves", True)
        self.anywhere = fields.get("anywhere", False)
        self.view = {None: -1, "one": CREATED_DEFAULT, "several": CREATED_MULTI_OUTPUT}[
            fields.get("view")]
        self.out = fields.get("out", "")
        self.wide = fields.get("wide", False)
        self.out_dtype = fields.get("out_dtype", -1)
        self.truth = fields.get("truth", False)
        self.numbers = fields.get("numbers", ())
        self.variants = ()
        self.mutated = fields.get("mutated", ())
        self.saved = fields.get("saved", ())
        if self.differentiable:
            module = fields["module"]
            self.node = type(self.node_name, (InterpretedNode,), {
                "_operation": self, "__slots__": (), "__module__": module})
            self.variants = tuple([
                (test, type(name, (self.node,), {"__slots__": (), "__module__": module}))
                for name, test in fields.get("variants", ())])

    def __repr__(self):
        return f"<interpreted operator {self.key}>"


cdef class InterpretedNode(Node):
    """The recorded call of an interpreted operator."""

    cdef tuple saved_names(self):
        return (<Operation>type(self)._operation).saved

    cdef int apply(self, PyObject** gin, PyObject** gout) except -1:
        cdef Operation op = <Operation>type(self)._operation
        cdef list grads = [], slots = [None] * op.n_slots
        cdef tuple numbers, edges, used
        cdef bint arrived = False
        cdef int i, edge
        for i in range(self.n_out):
            grads.append(<object>gin[i] if gin[i] != NULL else None)
            arrived = arrived or gin[i] != NULL
        if not arrived:
            return 0
        for i in op.zeros:
            if gin[i] == NULL:
                grads[i] = zeros_for(self, i)
        if op.n_results == 0:
            for i in range(self.n_out):
                if gin[i] == NULL:
                    grads[i] = zeros_for(self, i)
        if self.flags & N_FREED and op.n_slots:
            raise freed_error(self)
        numbers = get_args(self) if op.keep is not None else ()
        if op.n_results > 1:            # `given_x` is what arrived
            grads += [<object>gin[i] if gin[i] != NULL else None for i in range(self.n_out)]
        for edges, function, used, kind in op.gradients:
            needed = tuple([needs(self, edge) for edge in edges])
            if kind == "list":
                if not any_needed(self):
                    continue
            elif not any(needed):
                continue
            for i in used:
                if slots[i] is None and self.saved[i].obj != NULL:
                    slots[i] = unpack(self, i)
            value = function(grads, slots, numbers, needed, self)
            if kind == "list":
                give_all(self, gout, edges[0], tuple(value))
            elif kind == "joint":
                for edge, one, wanted in zip(edges, value, needed):
                    if wanted:
                        gout[edge] = give(as_tensor(one))
            else:
                gout[edges[0]] = give(as_tensor(value))
        for edge, inputs in op.stays:
            keep_graph(self, gout, edge, inputs)
        return 0


def saved_of(Node n not None, str kind, where):
    """A `_saved_*` attribute, for those that are made of others."""
    return saved_value(n, kind, where)


cdef Tensor as_tensor(object x):
    """Return the value of a formula as a tensor: it is a tensor, None, or a number."""
    if x is None or isinstance(x, Tensor):
        return <Tensor>x
    return wrap_number(x)


cdef uint32_t flags_of_args(Operation op, tuple args) except? 0xFFFFFFFF:
    cdef uint32_t flags = 0
    cdef Tensor t
    for place in op.tensors:
        t = <Tensor>args[place]
        if t is not None:
            flags |= t.flags
    return flags | (flags_of(<tuple>args[op.listed]) if op.listed >= 0 else 0)


cdef tuple tensors_of(Operation op, tuple args):
    """All tensor arguments; some may be None."""
    cdef tuple tensors = tuple([args[place] for place in op.tensors])
    return tensors + <tuple>args[op.listed] if op.listed >= 0 else tensors


cdef int check_dtypes(Operation op, tuple args) except -1:
    cdef uint32_t bits
    cdef tuple places
    cdef bint promoted
    cdef int by_dtype, dt
    cdef object words
    cdef Tensor t
    if op.dtype_check is None:
        return 0
    bits, places, promoted, by_dtype, words = op.dtype_check
    if promoted:
        dt = result_dtype(tuple([args[place] for place in places]))
        check_dtype(dt, bits, op.name, words)
        return 0
    for place in places:
        t = <Tensor>args[place]
        # An operand that is computed in another dtype may have any dtype.
        dt = t.dt if by_dtype < 0 or args[by_dtype] is None else dt_code(args[by_dtype])
        check_dtype(dt, bits, op.name, words)
    return 0


cdef tuple widened_args(Operation op, tuple args):
    """The arguments, the first one converted if the record widens its dtype."""
    cdef Tensor first
    if op.widen is None:
        return args
    first = <Tensor>args[0]
    if not ((<uint32_t>op.widen[0]) >> first.dt) & 1:
        return args
    return (T._to_dtype(first, g_default_dtype if op.widen[1] == "float" else DT_I64),) + args[1:]


cdef object compute(Operation op, tuple args, uint32_t flags):
    """Run the kernel on arguments without graph: the result is a tensor, or a tuple of them."""
    cdef int device
    args = plain_args(op, args, flags)
    if isinstance(op.kernel, ShapedKernel):
        try:
            return (<ShapedKernel>op.kernel).run(
                op.name, args, tensors_of(op, args), flags & F_DEVICE, None, "")
        except MemoryError as error:
            raise without_memory(op, error) from None
    if flags & F_DEVICE and not op.anywhere and not isinstance(op.kernel, HostKernel):
        device = device_among(tensors_of(op, args), op.name)
        raise no_kernel(op.name, device)
    try:
        return op.kernel(*args)
    except MemoryError as error:
        raise without_memory(op, error) from None


cdef object without_memory(Operation op, object error):
    """The OutOfMemoryError of an operator, which says its name."""
    cdef str text = str(error).removeprefix("autograd_cy: ")
    if text.startswith(op.name) and isinstance(error, OutOfMemoryError):
        return error
    return OutOfMemoryError(f"{op.name}: {text or 'no memory'}")


cdef tuple plain_args(Operation op, tuple args, uint32_t flags):
    """The arguments as a kernel takes them."""
    cdef list plain
    if flags & F_LAYERED and op.resolves:
        plain = list(args)
        for place in op.tensors:
            if plain[place] is not None:
                plain[place] = resolved(<Tensor>plain[place])
        if op.listed >= 0:
            plain[op.listed] = all_resolved(<tuple>plain[op.listed])
        args = tuple(plain)
    return args


cdef InterpretedNode record(Operation op, tuple args, Py_ssize_t n_results, bint inplace):
    """The node of a call, with edges and all that is saved before the results are known."""
    cdef object cls = node_class(op, args)
    cdef InterpretedNode n = <InterpretedNode>cls.__new__(cls)
    cdef Py_ssize_t n_edges = len(op.differentiable)
    cdef int edge = 0
    cdef Tensor t
    if op.listed in op.differentiable:
        n_edges += len(<tuple>args[op.listed]) - 1
    node_init(n, n_edges, op.n_slots, n_results)
    for place in op.differentiable:
        if place == op.listed:
            for t in <tuple>args[place]:
                set_edge(n, edge, t)
                edge += 1
            continue
        if args[place] is not None:
            set_edge(n, edge, <Tensor>args[place])
        edge += 1
    for edge in op.numbers:
        if is_plain_number(args[op.differentiable[edge]]):
            if edge == 0:
                n.flags |= N_NUMBER_FIRST
            elif n.n_edges == edge + 1:
                n.n_edges = edge
    for slot, place, own, users in op.inputs:
        if args[place] is not None and used_by(n, <tuple>users):
            if inplace and place == 0:
                save_old_value(n, slot, clone_plain(<Tensor>args[0]), own)
            else:
                save_input(n, slot, <Tensor>args[place], own)
    if op.keep is not None:
        set_args(n, op.keep(*args))
    return n


cdef object node_class(Operation op, tuple args):
    """The node's class, by the name that torch gives to calls with such arguments."""
    for test, cls in op.variants:
        if test(*args):
            return cls
    return op.node


cdef bint is_plain_number(object x):
    return x is None or is_number(<Tensor>x)


cdef bint used_by(Node n, tuple edges):
    for edge in edges:
        if edge_defined(n, edge):
            return True
    return False


cdef bint recording(Operation op, tuple args):
    for place in op.differentiable:
        x = args[place]
        if x is None:
            continue
        if place == op.listed:
            if any_requires_grad(<tuple>x):
                return True
        elif requires_grad(<Tensor>x):
            return True
    return False


def run_operation(Operation op not None, tuple args not None):
    """The result of one call: a tensor, or a tuple of tensors."""
    cdef Scope seen = NULL
    cdef object result
    if g_modes & G_PROFILE:
        seen = begin_call(op.event, args)
    result = apply_operation(op, args, seen)
    if seen != NULL:
        finished(seen, result, None)
        seen = NULL
    return result


def run_composite(int event, function, tuple args not None):
    """Run a function of other operators as one event with theirs in it; below 0: without one."""
    cdef Scope _seen = NULL
    if g_modes & G_PROFILE and event >= 0:
        _seen = begin_call(event, args)
    return function(*args)


cdef object apply_operation(Operation op, tuple args, Event* seen=NULL):
    cdef uint32_t flags = flags_of_args(op, args)
    cdef InterpretedNode n = None
    cdef tuple results
    cdef bint single
    cdef int i
    if op.dims:
        args = known_arguments(op.dims, args)
    args = widened_args(op, args)
    check_dtypes(op, args)
    for place in op.mutated:
        if args[place] is not None:
            check_inplace(<Tensor>args[place], op.name, False)
    if flags & F_BATCHED or (op.batch_rule == "random" and vmap_level()):
        result = batched(op, args)
    else:
        result = compute(op, args, flags)
    for place in op.mutated:
        if args[place] is not None:
            bump_version(<Tensor>args[place])
    single = isinstance(result, Tensor)
    results = (result,) if single else <tuple>result
    if op.view >= 0:
        for i in range(len(results)):
            if (<Tensor>results[i]).base == NULL and results[i] is not args[0]:
                set_view(<Tensor>results[i], <Tensor>args[0], op.view)
    if not op.differentiable:
        return result
    if flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD) and recording(op, args) and (
            not single or dt_differentiable((<Tensor>result).dt)) and (
            # Nothing is tracked for views of what inference mode made.
            op.view < 0 or not (<Tensor>args[0]).flags & F_INFERENCE):
        n = record(op, args, len(results), False)
        for i in range(len(results)):
            if i not in op.constant:
                set_history(<Tensor>results[i], n, i)
    if flags & (F_DUAL | F_VIEW) and g_modes & G_FORWARD:
        move(op, results, args)
    if n is not None:
        save_results(op, n, results)
        if seen != NULL:
            note_node(seen, n)
    return result


cdef int save_results(Operation op, InterpretedNode n, tuple results) except -1:
    cdef int slot, i
    for slot, i, users in op.outputs:
        if not used_by(n, <tuple>users):
            continue
        if i in op.constant:                # has no history, and gets none when it is unpacked
            save_input(n, slot, <Tensor>results[i], -1)
        else:
            save_output(n, slot, <Tensor>results[i], i)
    return 0


# --- forward mode ---------------------------------------------------------------------------

cdef int move(Operation op, tuple results, tuple args) except -1:
    """Set the tangents of the results."""
    cdef tuple inputs = tuple([args[p] for p in op.differentiable if p != op.listed])
    cdef bint has_list = op.listed in op.differentiable
    cdef ForwardLevel level = forward_level(inputs + <tuple>args[op.listed] if has_list else inputs)
    cdef list tangents = []
    cdef list below = list(args)
    cdef tuple under = results
    cdef uint32_t flags = 0
    cdef Tensor total, t
    cdef int output
    if level is None:
        return 0
    for place in op.differentiable:
        if place == op.listed:
            tangents.append(tangents_at(<tuple>args[place], level))
        else:
            tangents.append(tangent_at(<Tensor>args[place], level))
    for place in op.tensors:
        below[place] = primal_at(<Tensor>args[place], level)
    if op.listed >= 0:
        below[op.listed] = primals_at(<tuple>args[op.listed], level)
    args = tuple(below)
    for place in op.differentiable:
        x = args[place]
        if place == op.listed:
            flags |= flags_of(<tuple>x)
        elif x is not None:
            flags |= (<Tensor>x).flags
    if flags & F_DUAL:
        under = tuple([place_alias(<Tensor>t) for t in results])
        move(op, under, args)
    if op.jvp == "linear":
        for i, place in enumerate(op.differentiable):
            if tangents[i] is None and args[place] is not None:
                tangents[i] = zero_tangent(<Tensor>args[place])
            below[place] = tangents[i]
        tangent = apply_operation(op, tuple(below))
        set_tangents(results, (tangent,) if isinstance(tangent, Tensor) else <tuple>tangent, level,
                     under)
        return 0
    if op.jvp == "each":
        total = None
        for i, place in enumerate(op.differentiable):
            if tangents[i] is not None:
                total = accumulate_term(total, <Tensor>apply_operation(
                    op, args[:place] + (tangents[i],) + args[place + 1:]))
        return set_tangent(<Tensor>results[0], total, level, <Tensor>under[0])
    for output, rows in op.tangents:
        total = None
        for i, function in rows:
            if tangents[i] is not None:
                total = accumulate_term(total, as_tensor(function(tangents, args, under)))
        set_tangent(<Tensor>results[output], total, level, <Tensor>under[output])
    return 0


cdef Tensor accumulate_term(Tensor total, Tensor term):
    return term if total is None else T.add(total, term)


# --- vmap -----------------------------------------------------------------------------------

cdef object batched(Operation op, tuple args):
    """The result for batched arguments: a rule on the tensors below the innermost vmap."""
    cdef tuple every = tensors_of(op, args)
    cdef int level = top_level(every)
    cdef list below = list(args)
    cdef bint several = op.n_results != 1
    if op.batch_rule == "refuse":
        raise RuntimeError(op.batch)
    if op.batch_rule == "function":
        return op.batch(*args)
    if op.batch_rule == "random":
        return random_under_vmap(op.name, op.key, args, op.batch)
    if isinstance(op.kernel, ShapedKernel) and op.batch_rule != "elementwise":
        # What is refused alone is refused: the rule sees other dimensions.
        (<ShapedKernel>op.kernel).refuse(op.name, args)
    for place in op.tensors:
        below[place] = lowered(<Tensor>below[place], level)
    if op.listed >= 0:
        below[op.listed] = all_lowered(<tuple>below[op.listed], level)
    args = tuple(below)
    every = tensors_of(op, args)
    if not any_batched(every, level):
        result = apply_operation(op, args)
        return wrap_shared_all(result, level) if several else wrap_shared(result, level)
    if op.mutated:
        refuse_shared_changes(op, args, level)
    if op.batch_rule == "loop":
        return loop_batch(op.key, args, level)
    if op.batch_rule == "elementwise":
        result = align_and_run(op, below, every, level)
    elif op.batch_rule == "dims":
        result = shift_and_run(op, below, level)
    else:
        result = rule_and_run(op, below, every, level)
        if result is None:
            return loop_batch(op.key, args, level)
    return wrap_results(tuple(result), level) if several else wrap_batch(result, level)


cdef int refuse_shared_changes(Operation op, tuple args, int level) except -1:
    for place in op.mutated:
        if args[place] is not None and not is_batched(<Tensor>args[place], level):
            raise RuntimeError(
                f"vmap: {op.name} would change an argument that all examples share; batch it, or "
                "clone it inside of the vmap")
    return 0


cdef object align_and_run(Operation op, list args, tuple every, int level):
    cdef int nd = widest(every, level)
    cdef int dt
    if op.unpromoted:
        every = tuple([args[place] for place in op.tensors if place not in op.unpromoted])
    dt = common_dtype(tuple([t for t in every if t is not None]))
    for place in op.tensors:
        if args[place] is not None:
            args[place] = align_batch(
                <Tensor>args[place], level, nd, -1 if place in op.unpromoted else dt)
    return apply_operation(op, tuple(args))


cdef object shift_and_run(Operation op, list args, int level):
    cdef Tensor first = <Tensor>args[0]
    cdef int nd = first.nd
    cdef Tensor front = batch_front(first, level)
    if nd == 0 and op.n_results == 0:
        args[0] = T.new_zeros(front, ())   # what the operator says to a 0-d tensor
        return apply_operation(op, tuple(args))
    for place, kind in op.dims:
        if kind == "dim":
            args[place] = normal_dim(args[place], nd) + 1
        else:
            args[place] = shift_dims(args[place], nd)
    args[0] = T.unsqueeze(front, 1) if nd == 0 else front
    result = apply_operation(op, tuple(args))
    if nd > 0:
        return result
    return drop_lifted(result) if isinstance(result, Tensor) else all_drop_lifted(result)


cdef object rule_and_run(Operation op, list args, tuple every, int level):
    """The formula for the arguments that are batched; None if there is no formula for these."""
    cdef Py_ssize_t size = batch_size_of(every, level)
    cdef list places = [p for p in op.tensors if is_batched(<Tensor>args[p], level)]
    cdef tuple everything = op.tensors
    if op.listed >= 0 and any_batched(<tuple>args[op.listed], level):
        places = sorted(places + [op.listed])
    if op.listed >= 0:
        everything = tuple(sorted(op.tensors + (op.listed,)))
    cdef bint expanding = tuple(places) not in op.batch
    function = op.batch.get(tuple(places))
    if not expanding and function is None:
        return None                        # one call per example, says the record
    if expanding:
        function = op.batch.get(everything)
        if function is None:
            return None
    for place in op.tensors:
        here = is_batched(<Tensor>args[place], level)
        args[place] = batch_front(<Tensor>args[place], level)
        if expanding and not is_plain_number(args[place]):
            args[place] = batch_expand(<Tensor>args[place], here, size)
    if op.listed >= 0:
        args[op.listed] = all_front(<tuple>args[op.listed], level)
    return function(args, size)


# --- forms with a destination ---------------------------------------------------------------

def run_inplace(Operation op not None, tuple args not None):
    """The in-place form; see Note [In-place forms] in inplace.pyx."""
    cdef Tensor first = <Tensor>args[0]
    cdef uint32_t flags = flags_of_args(op, args)
    cdef str name = op.name.rpartition(".")[2] + "_"
    cdef Scope seen = NULL
    if g_modes & G_PROFILE:
        seen = begin_call(op.event + 1, args)
    if op.dims:
        args = known_arguments(op.dims, args)
    if flags & (F_LAYERED | F_DUAL) or (flags & F_VIEW and g_modes & G_FORWARD):
        value = apply_operation(op, (overwritten(first, flags),) + args[1:])
        replace_value(first, <Tensor>value, name)
    else:
        change(op, args, flags, name, seen)
    if seen != NULL:
        finished(seen, first, None)
        seen = NULL
    return first


cdef int change(Operation op, tuple args, uint32_t flags, str name, Event* seen) except -1:
    """The in-place form of plain tensors: writes into the first, and records the node."""
    cdef Tensor first = <Tensor>args[0]
    cdef InterpretedNode n = None
    cdef bint tracked = flags & F_GRAD_PATH and not (tls_modes() & M_NO_GRAD) and (
        recording(op, args) if op.differentiable else requires_grad(first))
    check_dtypes(op, args)
    check_inplace(first, name, tracked)
    if tracked and op.differentiable:
        n = record(op, args, 1, True)
    if isinstance(op.kernel, ElementwiseKernel):
        (<ElementwiseKernel>op.kernel).launch(args, first)
    elif isinstance(op.kernel, ShapedKernel):
        over = (<ShapedKernel>op.kernel).over
        (<ShapedKernel>op.kernel).run_inplace(
            op.name, args, tensors_of(op, args),
            tuple([args[place] for place in op.tensors if place != over]), flags & F_DEVICE)
    else:
        put_value(first, <Tensor>compute(op, args, flags), name)
    bump_version(first)
    if n is not None:
        rebase_history(first, n)
        save_results(op, n, (first,))
        if seen != NULL:
            note_node(seen, n)
    elif tracked:
        if op.truth:
            constant_history(first, op.node_name)
        else:
            unknown_history(first, op.node_name)
    return 0


def run_out(Operation op not None, tuple args not None, out):
    """The form with `out`: a tensor, or as many as there are results."""
    cdef Scope seen = NULL
    cdef uint32_t flags = flags_of_args(op, args)
    cdef tuple outs = out_tensors(op.name, op.n_results, flags, out)
    if g_modes & G_PROFILE:
        seen = begin_call(op.event, args)
    fill_out(op, args, outs, flags)
    if seen != NULL:
        finished(seen, outs, None)
        seen = NULL
    return out


cdef int fill_out(Operation op, tuple args, tuple outs, uint32_t flags) except -1:
    """Put the results into what ``out=`` was given."""
    cdef Tensor t
    cdef int exact
    if op.dims:
        args = known_arguments(op.dims, args)
    if op.wide:
        args = (in_wider_dtype(<Tensor>args[0], <Tensor>outs[0]),) + args[1:]
    if op.out_dtype >= 0:
        if args[op.out_dtype] is not None:
            need_exact_out(<Tensor>outs[0], dt_code(args[op.out_dtype]), op.name)
        args = (args[:op.out_dtype] + (dt_object((<Tensor>outs[0]).dt),)
                + args[op.out_dtype + 1:])
    args = widened_args(op, args)
    check_dtypes(op, args)
    if isinstance(op.kernel, ElementwiseKernel):
        t = <Tensor>outs[0]
        exact = (<ElementwiseKernel>op.kernel).known_dtype(args) if op.out == "exact" else -1
        if exact >= 0 and exact != t.dt:
            raise other_out(t, exact, op.name)
        if exact >= 0 or op.out == "cast":
            (<ElementwiseKernel>op.kernel).launch(args, t)
            bump_version(t)
            return 0
    if isinstance(op.kernel, ShapedKernel):
        for t in outs:
            flags |= t.flags
        args = plain_args(op, args, flags)
        (<ShapedKernel>op.kernel).run(
            op.name, args, tensors_of(op, args), flags & F_DEVICE, outs, op.out)
        for t in outs:
            bump_version(t)
        return 0
    result = compute(op, args, flags)
    if op.out == "exact" and op.n_results > 1:
        write_outs(outs, <tuple>result, op.name)
        return 0
    cdef tuple values = (result,) if isinstance(result, Tensor) else <tuple>result
    if op.n_results > 1:
        _check_results(outs, values, op.name)
    for t, value in zip(outs, values):
        write_result(op.out, t, <Tensor>value, op.name)
    return 0


cdef tuple out_tensors(str name, int n_results, uint32_t flags, out):
    """Return the tensors given as ``out=``, as many as there are results."""
    if n_results > 1:
        return outs_arg(out, n_results, flags, name)
    check_out(tensor_arg(out, name, "out", 0), flags, name)
    return (out,)


cdef int write_result(str kind, Tensor out, Tensor value, str name) except -1:
    if kind == "exact":
        write_exact_out(out, value, name)
    else:
        write_out(out, value, name)
    bump_version(out)
    return 0


def composite_out(int event, function, tuple args not None, out, str kind, bint wide, bint into,
                  str name):
    """The form with `out` of what is made of other operators."""
    cdef Scope _seen = NULL
    cdef Tensor t
    cdef uint32_t flags = 0
    if g_modes & G_PROFILE and event >= 0:
        _seen = begin_call(event, args)
    for x in args:
        if isinstance(x, Tensor):
            flags |= (<Tensor>x).flags
        elif isinstance(x, tuple) and x and isinstance(x[0], Tensor):
            flags |= flags_of(<tuple>x)
    t = <Tensor>out_tensors(name, 1, flags, out)[0]
    if args and isinstance(args[0], Tensor):        # what makes tensors checks its dtype itself
        for x in args:
            if isinstance(x, _dtype):
                need_exact_out(t, dt_code(x), name)
    if wide:
        args = (in_wider_dtype(<Tensor>args[0], t),) + args[1:]
    value = function(*args, out=t) if into else function(*args)
    if value is not t:
        write_result(kind, t, <Tensor>value, name)
    return out


def composite_inplace(int event, function, tuple args not None, str name):
    """The in-place form of what is made of other operators."""
    cdef Scope _seen = NULL
    cdef Tensor first = <Tensor>args[0]
    if g_modes & G_PROFILE and event >= 0:
        _seen = begin_call(event, args)
    value = function(overwritten(first, first.flags), *args[1:])
    return replace_value(first, <Tensor>value, name)
