# cython: language_level=3
"""Composites of the family recurrent: records in autograd_cy/ops/recurrent.py name them.

A layer in one direction, or a cell, is one operator, `_recurrent`, and its backward another, where
tensors are as usual: float32 or float64 (half types are converted), on a device that has a kernel
for it, outside of vmap and forward mode. Everywhere else it is a loop of steps made of plain
operators, which know all derivatives, every dtype and device; and so are gradients that are
differentiated again.
"""
from libc.stdint cimport int64_t
from autograd_cy._C.devices cimport has_kernel
from autograd_cy._C.dtypes cimport (
    dt_differentiable, dt_scalar_name, DT_BF16, DT_F16, DT_F32, DT_F64, DT_I64)

from autograd_cy._C.rules_recurrent cimport (
    R_GRU, R_LSTM, R_RELU, R_REVERSE, R_TANH, gates_of)
from autograd_cy._C.storage cimport ON_CPU
from autograd_cy._C.tensor cimport (
    F_BATCHED, F_DUAL, M_NO_GRAD, Tensor, device_of, dims_of, reading, requires_grad, tls_modes)
include "operators_of_recurrent_composites.pxi"

cdef tuple NAMES = ("rnn_tanh", "rnn_relu", "lstm", "gru")

cdef enum:
    ODD = F_BATCHED | F_DUAL


cdef inline bint is_usual(Tensor t, int dt) noexcept:
    """Return whether the operators take it: there is none, or it is as usual and has the dtype."""
    return t is None or (t.dt == dt and not t.flags & ODD)


cdef inline Tensor widened(Tensor t):
    return None if t is None else T._to_dtype(t, DT_F32)


# --- one step ---------------------------------------------------------------------------------

cdef tuple plain_step(int mode, Tensor gx, Tensor h, Tensor c, Tensor w_hh, Tensor b_hh,
                      Tensor w_hr):
    """The next (h, c); `gx` is what the input contributes."""
    cdef Tensor gh = T.linear(h, w_hh, b_hh)
    cdef tuple x, y
    cdef Tensor r, n
    if mode == R_TANH:
        return T.tanh(T.add(gx, gh)), None
    if mode == R_RELU:
        return T.relu(T.add(gx, gh)), None
    if mode == R_LSTM:
        x = T.chunk(T.add(gx, gh), 4, 1)
        c = T.add(T.mul(T.sigmoid(<Tensor>x[1]), c),
                  T.mul(T.sigmoid(<Tensor>x[0]), T.tanh(<Tensor>x[2])))
        h = T.mul(T.sigmoid(<Tensor>x[3]), T.tanh(c))
        return (h if w_hr is None else T.linear(h, w_hr, None)), c
    x = T.chunk(gx, 3, 1)
    y = T.chunk(gh, 3, 1)
    r = T.sigmoid(T.add(<Tensor>x[0], <Tensor>y[0]))
    n = T.tanh(T.add(<Tensor>x[2], T.mul(r, <Tensor>y[2])))
    return T.add(T.mul(T.sigmoid(T.add(<Tensor>x[1], <Tensor>y[1])), T.sub(h, n)), n), None


cdef int check_floating(Tensor x, str name) except -1:
    if not dt_differentiable(x.dt):
        raise NotImplementedError(f"\"{name}\" not implemented for '{dt_scalar_name(x.dt)}'; "
                                  "convert the tensors with .to(dtype)")
    return 0


cdef int check_cell(Tensor x, tuple states, Tensor w_ih, Tensor w_hh, int mode) except -1:
    """Refuse the arguments that torch refuses, and shapes of which torch reads beyond the end."""
    cdef Py_ssize_t hidden
    cdef Tensor h
    cdef int k, gates = gates_of(mode)
    if mode != R_RELU and mode != R_TANH:   # whose formulas integers have, too
        check_floating(x, f"{NAMES[mode]}_cell")
    if w_ih.nd != 2 or w_hh.nd != 2:
        raise RuntimeError(
            f"recurrent cell: w_ih and w_hh must be matrices, got shapes {list(dims_of(w_ih))} "
            f"and {list(dims_of(w_hh))}")
    if x.nd != 2:
        raise RuntimeError(
            f"recurrent cell: expected an input of shape (batch, input_size), got "
            f"{list(dims_of(x))}")
    if x.sizes[1] != w_ih.sizes[1]:
        raise RuntimeError(f"input has inconsistent input_size: got {x.sizes[1]} expected "
                           f"{w_ih.sizes[1]}")
    hidden = w_hh.sizes[1]
    for k in range(len(states)):
        h = <Tensor>states[k]
        if h.nd != 2:
            raise RuntimeError(
                f"recurrent cell: expected a hidden{k} of shape (batch, hidden_size), got "
                f"{list(dims_of(h))}")
        if h.sizes[0] != x.sizes[0]:
            raise RuntimeError(f"Input batch size {x.sizes[0]} doesn't match hidden{k} batch size "
                               f"{h.sizes[0]}")
        if h.sizes[1] != hidden:
            raise RuntimeError(f"hidden{k} has inconsistent hidden_size: got {h.sizes[1]}, "
                               f"expected {hidden}")
    if w_ih.sizes[0] != gates * hidden:
        raise RuntimeError(f"weight_ih first dim must be {gates} * hidden_size = "
                           f"{gates * hidden}, but got {w_ih.sizes[0]}")
    if w_hh.sizes[0] != gates * hidden:
        raise RuntimeError(f"weight_hh first dim must be {gates} * hidden_size = "
                           f"{gates * hidden}, but got {w_hh.sizes[0]}")
    return 0


cdef tuple cell(int mode, Tensor x, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh, Tensor b_ih,
                Tensor b_hh):
    """(h, c) after a step."""
    cdef int dt = x.dt
    cdef tuple results
    check_bias(b_ih, w_hh, "b_ih", <str>NAMES[mode])
    check_bias(b_hh, w_hh, "b_hh", <str>NAMES[mode])
    cdef bint fused = (is_usual(x, dt) and is_usual(h, dt) and is_usual(c, dt) and is_usual(w_ih,
                                                                                            dt)
                       and is_usual(w_hh, dt) and is_usual(b_ih, dt) and is_usual(b_hh, dt)
                       and has_kernel(device_of(x), "_recurrent"))
    if fused and (dt == DT_F32 or dt == DT_F64):
        results = T._recurrent(x, h, c, w_ih, w_hh, b_ih, b_hh, None, None, mode)
        return results[0], results[2]
    if fused and (dt == DT_F16 or dt == DT_BF16):
        results = T._recurrent(widened(x), widened(h), widened(c), widened(w_ih), widened(w_hh),
                               widened(b_ih), widened(b_hh), None, None, mode)
        return (T._to_dtype(<Tensor>results[0], dt),
                None if c is None else T._to_dtype(<Tensor>results[2], dt))
    return plain_step(mode, T.linear(x, w_ih, b_ih), h, c, w_hh, b_hh, None)


cdef int check_bias(Tensor bias, Tensor w_hh, str which, str name) except -1:
    if bias is not None and (bias.nd != 1 or bias.sizes[0] != w_hh.sizes[0]):
        raise RuntimeError(f"{name}: {which} of shape {list(dims_of(bias))} doesn't fit the "
                           f"{w_hh.sizes[0]} rows of the weights")
    return 0


cdef Tensor rnn_cell(int mode, Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih,
                     Tensor b_hh):
    check_cell(x, (h,), w_ih, w_hh, mode)
    return <Tensor>cell(mode, x, h, None, w_ih, w_hh, b_ih, b_hh)[0]


cdef tuple lstm_cell(Tensor x, tuple hx, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh):
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    check_cell(x, hx, w_ih, w_hh, R_LSTM)
    return cell(R_LSTM, x, <Tensor>hx[0], <Tensor>hx[1], w_ih, w_hh, b_ih, b_hh)


# --- one layer in one direction ---------------------------------------------------------------

cdef tuple one_layer(int mode, Tensor x, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh,
                     Tensor b_ih, Tensor b_hh, Tensor w_hr, Tensor batch_sizes, bint reverse):
    """(output, h, c)"""
    cdef int dt = x.dt
    cdef tuple results
    if ((dt == DT_F32 or dt == DT_F64) and is_usual(x, dt) and is_usual(h, dt) and is_usual(c, dt)
            and is_usual(w_ih, dt) and is_usual(w_hh, dt) and is_usual(b_ih, dt) and is_usual(b_hh,
                                                                                              dt)
            and is_usual(w_hr, dt) and has_kernel(device_of(x), "_recurrent")):
        results = T._recurrent(x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr, batch_sizes,
                               mode | R_REVERSE if reverse else mode)
        return results[0], results[1], results[2]
    return plain_layer(mode, x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr, batch_sizes, reverse)


cdef tuple steps_of(Tensor a, Tensor batch_sizes):
    """The rows of each step: of (steps, batch, n), of packed (rows, n), or of one step."""
    if batch_sizes is None:
        return T.unbind(a, 0) if a.nd == 3 else (a,)
    return T.split_with_sizes(a, sizes_of_steps(batch_sizes), 0)


cdef tuple sizes_of_steps(Tensor batch_sizes):
    cdef const int64_t* p = <const int64_t*>batch_sizes.ptr
    cdef Py_ssize_t i
    return tuple([p[i * batch_sizes.strides[0]] for i in range(batch_sizes.count)])


cdef tuple plain_layer(int mode, Tensor x, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh,
                       Tensor b_ih, Tensor b_hh, Tensor w_hr, Tensor batch_sizes, bint reverse):
    """(output, h, c). Rows of the state beyond those of a step wait: they have ended, or not yet
    begun."""
    cdef tuple parts = steps_of(T.linear(x, w_ih, b_ih), batch_sizes), states
    cdef Py_ssize_t count = len(parts), k, t, rows, rest
    cdef list outputs = [None] * count
    cdef Tensor gx, now, cell
    for k in range(count):
        t = count - 1 - k if reverse else k
        gx = <Tensor>parts[t]
        rows, rest = gx.sizes[0], h.sizes[0] - gx.sizes[0]
        if rest == 0:
            h, c = plain_step(mode, gx, h, c, w_hh, b_hh, w_hr)
            outputs[t] = h
            continue
        states = plain_step(mode, gx, T.narrow(h, 0, 0, rows),
                            None if c is None else T.narrow(c, 0, 0, rows), w_hh, b_hh, w_hr)
        now, cell = states
        outputs[t] = now
        h = T.cat((now, T.narrow(h, 0, rows, rest)), 0)
        if c is not None:
            c = T.cat((cell, T.narrow(c, 0, rows, rest)), 0)
    if batch_sizes is None:
        return T.stack(tuple(outputs), 0), h, c
    return T.cat(tuple(outputs), 0), h, c


# --- gradients that are differentiated again --------------------------------------------------

cdef tuple gradients(Tensor g_out, Tensor g_hy, Tensor g_cy, Tensor x, Tensor h, Tensor c,
                     Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh, Tensor w_hr,
                     Tensor batch_sizes, Tensor out, Tensor gates, Py_ssize_t mode, object needed):
    """Gradients of input, h, c, the weights, the biases and the projection; None for others."""
    cdef Py_ssize_t wanted = 0, k
    cdef bint plain = False, recorded = False
    cdef Tensor t
    cdef tuple results
    for k in range(8):
        if needed[k]:
            wanted |= 1 << k
    for one in (g_out, g_hy, g_cy, x, h, c, w_ih, w_hh, b_ih, b_hh, w_hr):
        if one is not None:
            t = <Tensor>one
            plain = plain or t.flags & ODD
            recorded = recorded or requires_grad(t)
    plain = plain or not has_kernel(device_of(x), "_recurrent_backward")
    if plain or (recorded and not tls_modes() & M_NO_GRAD):
        results = plain_gradients(
            <int>(mode & ~<Py_ssize_t>R_REVERSE), g_out, g_hy, g_cy, x, h, c, w_ih, w_hh, b_ih,
            b_hh, w_hr, batch_sizes, mode & R_REVERSE != 0)
    else:
        results = T._recurrent_backward(g_out, g_hy, g_cy, x, h, c, w_ih, w_hh, w_hr, batch_sizes,
                                        out, gates, mode, wanted)
    return tuple([results[k] if wanted >> k & 1 else None for k in range(8)])


cdef Tensor add_or_none(Tensor a, Tensor b):
    """The sum, where None is zero."""
    if a is None or b is None:
        return b if a is None else a
    return T.add(a, b)


cdef Tensor top(Tensor a, Py_ssize_t rows):
    return a if a is None or a.sizes[0] == rows else T.narrow(a, 0, 0, rows)


cdef Tensor replace_rows(Tensor a, Tensor some):
    """`a` with other first rows; they are all of it if there is no `a`."""
    cdef Py_ssize_t rows = some.sizes[0]
    if a is None or a.sizes[0] == rows:
        return some
    return T.cat((some, T.narrow(a, 0, rows, a.sizes[0] - rows)), 0)


cdef Tensor sums(Tensor a, Tensor b):
    """a.T @ b over all rows, whatever dimensions they have."""
    return T.mm(T.transpose(T.flatten_rows(a), 0, 1), T.flatten_rows(b))


cdef tuple again(int mode, Tensor gx, Tensor h, Tensor c, Tensor w_hh, Tensor b_hh, Tensor w_hr):
    """A step, and what its gradients need: (h, c, gates, tanh of c or sum of the state, raw h)."""
    cdef Tensor gh = T.linear(h, w_hh, b_hh), raw, t, i, f, g, o, r, z, n, s
    cdef tuple x, y
    if mode == R_LSTM:
        x = T.chunk(T.add(gx, gh), 4, 1)
        i, f, o = T.sigmoid(<Tensor>x[0]), T.sigmoid(<Tensor>x[1]), T.sigmoid(<Tensor>x[3])
        g = T.tanh(<Tensor>x[2])
        c = T.add(T.mul(f, c), T.mul(i, g))
        t = T.tanh(c)
        raw = T.mul(o, t)
        return raw if w_hr is None else T.linear(raw, w_hr, None), c, (i, f, g, o), t, raw
    if mode == R_GRU:
        x, y = T.chunk(gx, 3, 1), T.chunk(gh, 3, 1)
        r, z = T.sigmoid(T.add(<Tensor>x[0], <Tensor>y[0])), T.sigmoid(
            T.add(<Tensor>x[1], <Tensor>y[1]))
        s = <Tensor>y[2]
        n = T.tanh(T.add(<Tensor>x[2], T.mul(r, s)))
        return T.add(n, T.mul(z, T.sub(h, n))), None, (r, z, n), s, None
    h = T.tanh(T.add(gx, gh)) if mode == R_TANH else T.relu(T.add(gx, gh))
    return h, None, (h,), None, None


cdef tuple step_back(int mode, Tensor dh, Tensor dc, Tensor h, Tensor c, tuple gates, Tensor t):
    """Gradients of a step: of its sums, of those of the state, and of h and c before.

    `dh` is that of h before the projection. What h before gets by the product is left out.
    """
    cdef Tensor i, f, g, o, r, z, n, one, two, three, four
    if mode == R_LSTM:
        i, f, g, o = gates
        dc = add_or_none(dc, T.tanh_backward(T.mul(dh, o), t))
        one = T.sigmoid_backward(T.mul(dc, g), i)
        two = T.sigmoid_backward(T.mul(dc, c), f)
        three = T.tanh_backward(T.mul(dc, i), g)
        four = T.sigmoid_backward(T.mul(dh, t), o)
        one = T.cat((one, two, three, four), 1)
        return one, one, None, T.mul(dc, f)
    if mode == R_GRU:
        r, z, n = gates
        i = T.mul(dh, z)
        three = T.tanh_backward(T.sub(dh, i), n)
        two = T.sigmoid_backward(T.mul(dh, T.sub(h, n)), z)
        one = T.sigmoid_backward(T.mul(three, t), r)
        return (T.cat((one, two, three), 1), T.cat((one, two, T.mul(three, r)), 1), i, None)
    h = <Tensor>gates[0]
    one = T.tanh_backward(dh, h) if mode == R_TANH else T.threshold_backward(dh, h)
    return one, one, None, None


cdef tuple plain_gradients(int mode, Tensor g_out, Tensor g_hy, Tensor g_cy, Tensor x, Tensor h,
                           Tensor c, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh,
                           Tensor w_hr, Tensor batch_sizes, bint reverse):
    """Backward through time made of plain operators, after the steps once more."""
    cdef tuple parts = steps_of(T.linear(x, w_ih, b_ih), batch_sizes), grads, step, results
    cdef Py_ssize_t count = len(parts), k, t, rows
    cdef list states = [None] * count, d = [None] * count, s = [None] * count
    cdef list last = [None] * count, drawn = [None] * count, raw = [None] * count
    cdef Tensor gx, dh, before, cell, g_h = g_hy, g_c = g_cy, g_last
    for k in range(count):
        t = count - 1 - k if reverse else k
        gx = <Tensor>parts[t]
        rows = gx.sizes[0]
        before, cell = top(h, rows), top(c, rows)
        step = again(mode, gx, before, cell, w_hh, b_hh, w_hr)
        states[t] = (before, cell, step)
        last[t], raw[t] = before, step[4]
        h = replace_rows(h, <Tensor>step[0])
        c = None if c is None else replace_rows(c, <Tensor>step[1])
    if g_h is None:
        g_h = T.zeros_like(h)
    if c is not None and g_c is None:
        g_c = T.zeros_like(c)
    grads = (None,) * count if g_out is None else steps_of(g_out, batch_sizes)
    for k in range(count):
        t = k if reverse else count - 1 - k
        before, cell, step = <tuple>states[t]
        rows = before.sizes[0]
        dh = drawn[t] = add_or_none(top(g_h, rows), <Tensor>grads[t])
        if w_hr is not None:
            dh = T.matmul(dh, w_hr)
        results = step_back(mode, dh, top(g_c, rows), before, cell, <tuple>step[2], <Tensor>step[3])
        d[t], s[t] = results[0], results[1]
        g_last = add_or_none(T.matmul(<Tensor>results[1], w_hh), <Tensor>results[2])
        g_h = replace_rows(g_h, g_last)
        if c is not None:
            g_c = replace_rows(g_c, <Tensor>results[3])
    gx, before = T.cat(tuple(d), 0), T.cat(tuple(s), 0)
    return (
        T.reshape(T.matmul(gx, w_ih), dims_of(x)), g_h, g_c, sums(gx, x),
        sums(before, T.cat(tuple(last), 0)),
        None if b_ih is None else T.sum_dim(gx, 0, False, -1),
        None if b_hh is None else T.sum_dim(before, 0, False, -1),
        None if w_hr is None else sums(T.cat(tuple(drawn), 0), T.cat(tuple(raw), 0)))


cdef Tensor no_tangent(Tensor a):
    raise RuntimeError("recurrent layer: tangents go through its plain form")

# --- layers and directions --------------------------------------------------------------------

cdef int check_packed(Tensor x, Tensor batch_sizes, str name) except -1:
    cdef const int64_t* p
    cdef Py_ssize_t i, total = 0, before, now
    if batch_sizes.dt != DT_I64:
        raise RuntimeError(f"{name}: expected scalar type Long but found "
                           f"{dt_scalar_name(batch_sizes.dt)} (batch_sizes)")
    if batch_sizes.nd != 1 or device_of(batch_sizes) != ON_CPU:
        raise RuntimeError(f"{name}: batch_sizes must be a 1-D tensor on the CPU, got shape "
                           f"{list(dims_of(batch_sizes))}")
    if x.nd != 2:
        raise RuntimeError(f"{name}: packed data must have the shape (rows, input_size), got "
                           f"{list(dims_of(x))}")
    reading(batch_sizes, "batch_sizes")
    p = <const int64_t*>batch_sizes.ptr
    for i in range(batch_sizes.count):
        now = p[i * batch_sizes.strides[0]]
        if now <= 0 or (i and now > before):
            raise RuntimeError(
                f"{name}: batch_sizes must be positive and must not grow, got {now} at {i}")
        before = now
        total += now
    if total != x.sizes[0]:
        raise RuntimeError(f"{name}: batch_sizes add up to {total}, but the packed data has "
                           f"{x.sizes[0]} rows")
    return 0


cdef int check_layer(int mode, Tensor x, Tensor h, Tensor c, Tensor w_ih, Tensor w_hh,
                     Tensor w_hr, str name) except -1:
    """Shapes that steps would take for others."""
    cdef Py_ssize_t hidden = w_hh.sizes[0] // gates_of(mode) if w_hh.nd == 2 else -1
    if w_ih.nd != 2 or w_hh.nd != 2 or w_ih.sizes[0] != w_hh.sizes[0] or (
            w_hh.sizes[0] != hidden * gates_of(mode)) or (
            w_hr is not None and (w_hr.nd != 2 or w_hr.sizes[1] != hidden)):
        raise RuntimeError(
            f"{name}: weights don't fit together: weight_ih {list(dims_of(w_ih))}, weight_hh "
            f"{list(dims_of(w_hh))}"
            + ("" if w_hr is None else f", weight_hr {list(dims_of(w_hr))}"))
    if x.sizes[x.nd - 1] != w_ih.sizes[1]:
        raise RuntimeError(f"{name}: input.size(-1) must be equal to input_size. Expected "
                           f"{w_ih.sizes[1]}, got {x.sizes[x.nd - 1]}")
    if h.sizes[1] != w_hh.sizes[1] or (
            h.sizes[1] != (hidden if w_hr is None else w_hr.sizes[0])) or (
            c is not None and c.sizes[1] != hidden):
        raise RuntimeError(
            f"{name}: hidden states of shape {list(dims_of(h))}"
            + ("" if c is None else f" and {list(dims_of(c))}")
            + f" don't fit weight_hh {list(dims_of(w_hh))}")
    return 0


cdef tuple sequence(int mode, Tensor x, Tensor batch_sizes, tuple hx, tuple params,
                    bint has_biases, Py_ssize_t num_layers, double dropout, bint train,
                    bint bidirectional, bint batch_first):
    """(output, h) or (output, h, c) of all layers."""
    cdef str name = <str>NAMES[mode]
    cdef Py_ssize_t directions = 2 if bidirectional else 1, per, layer, k, at, batch, d
    cdef Tensor h, c = None, output = x, w_ih, w_hh, b_ih, b_hh, w_hr
    cdef tuple results
    cdef list outputs, last = [], cells = []
    check_floating(x, name)
    if mode == R_LSTM:
        if len(hx) != 2:
            raise RuntimeError("lstm expects two hidden states")
        c = <Tensor>hx[1]
    h = <Tensor>hx[0]
    if batch_sizes is not None:
        check_packed(x, batch_sizes, name)
        if batch_sizes.count == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        batch = (<const int64_t*>batch_sizes.ptr)[0]
    else:
        if x.nd != 3:
            raise RuntimeError(f"{name}: expected an input of 3 dimensions, got shape "
                               f"{list(dims_of(x))}")
        if x.sizes[1 if batch_first else 0] == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        batch = x.sizes[0 if batch_first else 1]
    if num_layers <= 0:
        raise RuntimeError(f"{name}: num_layers must be greater than zero, got {num_layers}")
    for k in range(len(hx)):
        if (<Tensor>hx[k]).nd != 3 or (<Tensor>hx[k]).sizes[0] != num_layers * directions or (
                (<Tensor>hx[k]).sizes[1] != batch):
            raise RuntimeError(
                f"{name}: expected hidden states of shape ({num_layers * directions}, {batch}, "
                f"hidden_size), got {list(dims_of(<Tensor>hx[k]))}")
    # A projection shows in the sizes of the states.
    w_hr = None
    per = 4 if has_biases else 2
    if c is not None and h.sizes[2] != c.sizes[2]:
        per += 1
    if len(params) != per * num_layers * directions:
        raise RuntimeError(
            f"{name}: expected {per} parameters for each of {num_layers * directions} layers and "
            f"directions, got {len(params)}")
    if x.dt == DT_F16 or x.dt == DT_BF16:
        return narrowed(x.dt, sequence(
            mode, widened(x), batch_sizes, all_widened(x.dt, hx, name),
            all_widened(x.dt, params, name), has_biases, num_layers, dropout, train, bidirectional,
            batch_first))
    if batch_first and batch_sizes is None:
        output = T.transpose(x, 0, 1)
    b_ih = b_hh = None
    for layer in range(num_layers):
        if layer and dropout != 0 and train:
            output = T.dropout(output, dropout, True)
        outputs = []
        for d in range(directions):
            k = layer * directions + d
            at = k * per
            w_ih, w_hh = <Tensor>params[at], <Tensor>params[at + 1]
            if has_biases:
                b_ih, b_hh = <Tensor>params[at + 2], <Tensor>params[at + 3]
            if per % 2:
                w_hr = <Tensor>params[at + per - 1]
            h = T.select(<Tensor>hx[0], 0, k)
            c = T.select(<Tensor>hx[1], 0, k) if mode == R_LSTM else None
            check_layer(mode, output, h, c, w_ih, w_hh, w_hr, name)
            check_bias(b_ih, w_hh, "bias_ih", name)
            check_bias(b_hh, w_hh, "bias_hh", name)
            results = one_layer(mode, output, h, c, w_ih, w_hh, b_ih, b_hh, w_hr, batch_sizes, d)
            outputs.append(results[0])
            last.append(results[1])
            cells.append(results[2])
        output = <Tensor>outputs[0] if directions == 1 else T.cat(tuple(outputs), -1)
    if batch_first and batch_sizes is None:
        output = T.transpose(output, 0, 1)
    if mode == R_LSTM:
        return output, stack_states(last), stack_states(cells)
    return output, stack_states(last)


cdef tuple all_widened(int dt, tuple tensors, str name):
    cdef list wide = []
    for t in tensors:
        if (<Tensor>t).dt != dt:
            raise RuntimeError(
                f"{name}: expected tensors of one dtype, but got {dt_scalar_name(dt)} and "
                f"{dt_scalar_name((<Tensor>t).dt)}")
        wide.append(widened(<Tensor>t))
    return tuple(wide)


cdef tuple narrowed(int dt, tuple results):
    """Steps, layers and states between them are float32; only what comes out is rounded."""
    return tuple([T._to_dtype(<Tensor>t, dt) for t in results])


cdef Tensor stack_states(list states):
    if len(states) == 1:
        return T.unsqueeze(<Tensor>states[0], 0)
    return T.stack(tuple(states), 0)


# --- as the records name them -----------------------------------------------------------------

cdef Tensor rnn_tanh_cell(Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh):
    return rnn_cell(R_TANH, x, h, w_ih, w_hh, b_ih, b_hh)


cdef Tensor rnn_relu_cell(Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh):
    return rnn_cell(R_RELU, x, h, w_ih, w_hh, b_ih, b_hh)


cdef Tensor gru_cell(Tensor x, Tensor h, Tensor w_ih, Tensor w_hh, Tensor b_ih, Tensor b_hh):
    return rnn_cell(R_GRU, x, h, w_ih, w_hh, b_ih, b_hh)


cdef tuple rnn_tanh(Tensor x, Tensor h, tuple params, bint has_biases, Py_ssize_t num_layers,
                    double dropout, bint train, bint bidirectional, bint batch_first):
    return sequence(R_TANH, x, None, (h,), params, has_biases, num_layers, dropout, train,
                    bidirectional, batch_first)


cdef tuple rnn_tanh_data(Tensor x, Tensor batch_sizes, Tensor h, tuple params,
                         bint has_biases, Py_ssize_t num_layers, double dropout,
                         bint train, bint bidirectional):
    return sequence(R_TANH, x, batch_sizes, (h,), params, has_biases, num_layers, dropout,
                    train, bidirectional, False)


cdef tuple rnn_relu(Tensor x, Tensor h, tuple params, bint has_biases, Py_ssize_t num_layers,
                    double dropout, bint train, bint bidirectional, bint batch_first):
    return sequence(R_RELU, x, None, (h,), params, has_biases, num_layers, dropout, train,
                    bidirectional, batch_first)


cdef tuple rnn_relu_data(Tensor x, Tensor batch_sizes, Tensor h, tuple params,
                         bint has_biases, Py_ssize_t num_layers, double dropout,
                         bint train, bint bidirectional):
    return sequence(R_RELU, x, batch_sizes, (h,), params, has_biases, num_layers, dropout,
                    train, bidirectional, False)


cdef tuple gru(Tensor x, Tensor h, tuple params, bint has_biases, Py_ssize_t num_layers,
               double dropout, bint train, bint bidirectional, bint batch_first):
    return sequence(R_GRU, x, None, (h,), params, has_biases, num_layers, dropout, train,
                    bidirectional, batch_first)


cdef tuple gru_data(Tensor x, Tensor batch_sizes, Tensor h, tuple params,
                    bint has_biases, Py_ssize_t num_layers, double dropout,
                    bint train, bint bidirectional):
    return sequence(R_GRU, x, batch_sizes, (h,), params, has_biases, num_layers, dropout,
                    train, bidirectional, False)


cdef tuple lstm(Tensor x, tuple hx, tuple params, bint has_biases, Py_ssize_t num_layers,
                double dropout, bint train, bint bidirectional, bint batch_first):
    return sequence(R_LSTM, x, None, hx, params, has_biases, num_layers, dropout, train,
                    bidirectional, batch_first)


cdef tuple lstm_data(Tensor x, Tensor batch_sizes, tuple hx, tuple params,
                     bint has_biases, Py_ssize_t num_layers, double dropout,
                     bint train, bint bidirectional):
    return sequence(R_LSTM, x, batch_sizes, hx, params, has_biases, num_layers, dropout,
                    train, bidirectional, False)
