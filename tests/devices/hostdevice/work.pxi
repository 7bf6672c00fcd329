# What is given to the queues, with its operands as they are then (part of hostdevice.pyx).

cdef Tensor moved(Tensor t):
    """The tensor at its real address; it holds no memory, as the argument of a launch doesn't."""
    cdef StorageImpl* s = storage_borrow(real(t.mem.data), t.mem.nbytes, None, False)
    cdef Tensor r
    try:
        r = tensor_on(s, real(t.ptr), t.dt, t.nd, t.sizes, t.strides)
    finally:
        storage_decref(s)
    r.flags |= t.flags & F_LAZY
    return r


cdef Tensor snapshot(Tensor t):
    """A copy of a tensor of the CPU, as it is now."""
    cdef Tensor r = tensor_empty(t.dt, t.nd, t.sizes)
    cdef Py_ssize_t i
    for i in range(t.count):
        memcpy(at(r, i), at(t, i), DT_SIZE[t.dt])
    r.flags |= t.flags & (F_LAZY | F_WRAPPED)
    return r


# Operators of which an argument is on the CPU wherever the others are: `on_host` of their records.
cdef tuple on_host = ("_recurrent", "_recurrent_backward")


cdef object operand(object x, str key, int* place):
    """An argument of a kernel as it is kept; `place` becomes the code of the device if it is -1."""
    cdef Tensor t
    if isinstance(x, tuple):
        return tuple([operand(y, key, place) for y in x])
    if not isinstance(x, Tensor):
        return x                # a list is what one kernel of an operator leaves for another
    t = <Tensor>x
    if t.mem.device == 0:
        if t.nd and key not in on_host:
            raise RuntimeError(f"hostdevice: {key} was given {t.nd}-d memory of the host")
        return snapshot(t)
    if place[0] < 0:
        place[0] = t.mem.device
    elif place[0] != t.mem.device:
        raise RuntimeError(f"hostdevice: {key} was given memory of two devices")
    return moved(t)


cdef Work prepare(str key, run_fn run, tuple operands, int* place):
    """The work of a kernel, the CPU's or a plain one; `place` becomes the code of the device."""
    cdef Work w = Work.__new__(Work)
    place[0] = -1
    serve("kernels")
    note(key)
    w.key = key
    w.run = run
    w.operands = tuple([operand(x, key, place) for x in operands])
    if place[0] < 0:
        raise RuntimeError(f"hostdevice: {key} was given nothing of the device")
    if device_type(place[0]) in plain_types:
        w.function = <void*><size_t>plain_functions[key]
    else:
        w.function = kernel_of(0, key)
    if w.function == NULL:
        raise RuntimeError(f"hostdevice: there is no kernel of {key} to run")
    return w


cdef int give(Work w, int place, bint answers) except -1:
    """Queue it on the current stream; one that answers is waited for: a read by the host."""
    cdef Queue q = queue_of(device_index(place), current_stream(place))
    submit(q, w)
    if answers:
        note("reads")
        hand_over(q, q.given)
        raise_failure(device_index(place))
    return 0


cdef list _signatures = []       # the names of capsules stay alive


cdef object capsule(void* function, str key, bytes signature):
    """A kernel as `register` takes it: named by the signature that it was written for."""
    _signatures.append(signature)
    return PyCapsule_New(function, <const char*>signature, NULL)


# --- services -------------------------------------------------------------------------------

cdef int count() except -1:
    return present


cdef int allocate(int index, Py_ssize_t nbytes, stream_t stream, char** data,
                  void** block) except -1:
    cdef Block* b
    cdef Work w
    serve("allocate")
    b = block_new(index, nbytes)
    w = Work.__new__(Work)
    w.run = run_poison
    w.block = b
    data[0] = fenced_data(b)
    block[0] = b
    return submit(queue_of(index, stream), w)


cdef int run_poison(Work w) except -1:
    memset(w.block.start + GUARD, POISON, w.block.size)
    return 0


cdef void release(int index, void* block, stream_t stream) noexcept:
    global blocks, broken, latest, live_bytes
    cdef long count = latest
    cdef Work w = Work.__new__(Work)
    w.run = run_release
    w.block = <Block*>block
    blocks -= 1
    live_bytes -= w.block.size
    for_release.update(range(waits - count, waits))
    latest = 0
    try:
        if count:
            free_apart(queue_of(index, stream), count - (waits - count < dropped_wait <= waits), w)
            return
        submit(queue_of(index, stream), w)
    except BaseException as error:
        broken += 1
        print("hostdevice: release:", error)


cdef int run_release(Work w) except -1:
    return block_end(w.block)


cdef int elementwise(Elementwise* work, int index, stream_t stream) except -1:
    cdef Work w = Work.__new__(Work)
    cdef int a
    cdef str name = kernel_names[work.kernel]
    cdef bint own = False
    for a in range(work.nargs):
        if work.mem[a] != NULL and work.mem[a].device != 0:
            own = device_type(work.mem[a].device) in plain_types
            if work.kernel in left_out.get(device_type(work.mem[a].device), ()):
                raise no_elementwise(name, work.mem[a].device)
            break
    serve("elementwise")
    if own and name not in plain_names or not own and KT.loops[work.kernel][work.dt] == NULL:
        raise no_elementwise(name, work.mem[0].device)
    note(name)
    w.run = run_plain if own else run_elementwise
    w.key = name
    w.ew = <Elementwise*>malloc(sizeof(Elementwise))
    if w.ew == NULL:
        raise MemoryError()
    w.ew[0] = work[0]
    for a in range(work.nargs):
        if work.mem[a] == NULL:
            if inside(work.p[a]):
                raise RuntimeError(f"hostdevice: {name}: a number that is on the device")
            memcpy(w.cells[a], work.p[a], DT_SIZE[work.dts[a]])
            w.ew.p[a] = w.cells[a]
        elif work.mem[a].device == 0:
            raise RuntimeError(f"hostdevice: {name} was given memory of the host")
        else:
            w.ew.p[a] = real(work.p[a])
            w.ew.mem[a] = NULL
    return submit(queue_of(index, stream), w)


cdef object no_elementwise(str name, int device):
    return NotImplementedError(
        f"{name}: there is no elementwise kernel of this operator for device "
        f"'{device_of_code(device)}'")


cdef tuple dividing = ("trunc_divide", "floor_divide", "remainder", "fmod")


cdef bint divides_by_zero(Elementwise* e):
    """Tell whether some divisor is the integer 0."""
    cdef Py_ssize_t total = 1, i, k
    cdef char* p
    cdef int d
    for d in range(e.nd):
        total *= e.shape[d]
    for i in range(total):
        k = i
        p = e.p[2]
        for d in range(e.nd - 1, -1, -1):
            p += k % e.shape[d] * e.strides[2][d]
            k = k // e.shape[d]
        if not any((<uint8_t*>p)[:DT_SIZE[e.dt]]):
            return True
    return False


cdef int run_elementwise(Work w) except -1:
    cdef Py_ssize_t* rows[5]
    cdef int a
    if w.key in dividing and dt_is_integral(w.ew.dt) and divides_by_zero(w.ew):
        raise RuntimeError("ZeroDivisionError: integer division or remainder by zero")
    for a in range(1, w.ew.nargs):
        if w.ew.dts[a] == DT_F32 != w.ew.dt and is_half(w.ew.dt):
            return run_in_single(w.ew)
    for a in range(w.ew.nargs):
        rows[a] = w.ew.strides[a]
    return run_loop(KT.loops[w.ew.kernel][w.ew.dt], w.ew.nargs, w.ew.p, w.ew.mem, w.ew.nd,
                    w.ew.shape, rows, w.ew.dts, KT.cost[w.ew.kernel])


cdef int run_in_single(Elementwise* e) except -1:
    """Halves beside a number that is not rounded: loops of the CPU read only numbers that are."""
    cdef Tensor part
    cdef list parts = []
    cdef char* p[5]
    cdef StorageImpl* mem[5]
    cdef Py_ssize_t* rows[5]
    cdef Py_ssize_t dense[64]
    cdef int dts[5]
    cdef Py_ssize_t step = DT_SIZE[<int>DT_F32]
    cdef int a, d
    for d in range(e.nd - 1, -1, -1):
        dense[d] = step
        step *= e.shape[d]
    for a in range(e.nargs):
        mem[a] = NULL
        p[a], rows[a], dts[a] = e.p[a], e.strides[a], e.dts[a]
        if e.dts[a] != e.dt:
            continue                # a number, or bools
        part = tensor_empty(DT_F32, e.nd, e.shape)
        parts.append(part)
        p[a], rows[a], dts[a] = part.ptr, dense, DT_F32
        if a:
            converted(e, a, part, dense, False)
    run_loop(KT.loops[e.kernel][<int>DT_F32], e.nargs, p, mem, e.nd, e.shape, rows, dts, 1)
    if e.dts[0] == e.dt:
        converted(e, 0, <Tensor>parts[0], dense, True)
    return 0


cdef int converted(Elementwise* e, int a, Tensor part, Py_ssize_t* dense, bint back) except -1:
    cdef char* p[2]
    cdef StorageImpl* mem[2]
    cdef Py_ssize_t* rows[2]
    cdef int dts[2]
    mem[0] = mem[1] = NULL
    dts[0], dts[1] = e.dt if back else <int>DT_F32, <int>DT_F32 if back else e.dt
    if back:
        p[0], p[1], rows[0], rows[1] = e.p[a], part.ptr, e.strides[a], dense
        return run_loop(KT.casts[<int>DT_F32][e.dt], 2, p, mem, e.nd, e.shape, rows, dts, 1)
    p[0], p[1], rows[0], rows[1] = part.ptr, e.p[a], dense, e.strides[a]
    return run_loop(KT.casts[e.dt][<int>DT_F32], 2, p, mem, e.nd, e.shape, rows, dts, 1)


cdef int run_copy(Work w) except -1:
    return copy_into(<Tensor>w.operands[0], <Tensor>w.operands[1], "copy_")


cdef int copy(Tensor to, Tensor source, bint non_blocking, stream_t stream) except -1:
    cdef Work w = Work.__new__(Work)
    cdef int a = to.mem.device, b = source.mem.device
    cdef bint late
    cdef Queue q
    serve("copy")
    note("copy")
    w.run = run_copy
    if a and b:
        note("copy within" if a == b else "copy between")
        w.operands = moved(to), moved(source)
        return submit(queue_of(device_index(a), stream), w)
    if a:
        note("copy in")
        # Pinned memory is read when it is the copy's turn, other memory at once.
        late = non_blocking and storage_root(source.mem).kind == STORAGE_PINNED
        w.operands = moved(to), moved(source) if late else snapshot(source)
        return submit(queue_of(device_index(a), stream), w)
    note("copy out")
    w.operands = moved(to), moved(source)
    q = queue_of(device_index(b), stream)
    submit(q, w)
    if non_blocking and storage_root(to.mem).kind == STORAGE_PINNED:
        return 0
    note("reads")
    hand_over(q, q.given)
    return raise_failure(device_index(b))


cdef int cast(Tensor to, Tensor source, stream_t stream) except -1:
    cdef Work w = Work.__new__(Work)
    serve("cast")
    note("cast")
    if to.mem.device != source.mem.device or to.mem.device == 0:
        raise RuntimeError("hostdevice: a device casts what is on it")
    w.run = run_copy
    w.operands = moved(to), moved(source)
    return submit(queue_of(device_index(to.mem.device), stream), w)


cdef int fill(Tensor to, const char* item, stream_t stream) except -1:
    cdef Work w = Work.__new__(Work)
    serve("fill")
    note("fill")
    if inside(item):
        raise RuntimeError("hostdevice: fill with an element that is on the device")
    w.run = run_fill
    w.operands = (moved(to),)
    memcpy(w.cells[0], item, DT_SIZE[to.dt])
    return submit(queue_of(device_index(to.mem.device), stream), w)


cdef int run_fill(Work w) except -1:
    cdef Tensor to = <Tensor>w.operands[0]
    cdef Py_ssize_t i
    for i in range(to.count):
        memcpy(at(to, i), w.cells[0], DT_SIZE[to.dt])
    return 0


cdef int stream_new(int index, int priority, stream_t* stream) except -1:
    cdef Queue q = Queue.__new__(Queue, index)
    serve("stream_new")
    streams[<size_t><void*>q] = q
    stream[0] = <void*>q
    return 0


cdef void stream_free(int index, stream_t stream) noexcept:
    cdef Queue q
    try:
        q = queue_of(index, stream)
        del streams[<size_t>stream]
        if q.done < q.given:
            retired.append(q)            # what was put on it still runs
    except BaseException as error:
        print("hostdevice: a stream was freed twice, or not at all:", repr(error))


cdef int query(int index, stream_t stream) except -1:
    cdef Queue q = queue_of(index, stream)
    serve("query")
    return q.done == q.given


cdef int synchronize(int index, stream_t stream) except -1:
    cdef Queue q = queue_of(index, stream)
    serve("synchronize")
    note("synchronize")
    note("reads")
    hand_over(q, q.given)
    return raise_failure(index)


cdef int synchronize_all(int index) except -1:
    serve("synchronize")
    note("synchronize")
    note("reads")
    settle(index)
    return raise_failure(index)


cdef int settle(int index) except -1:
    """Run all that the streams of a device wait with."""
    cdef Queue q
    for p in every_queue():
        q = <Queue>p
        if q.index == index:
            hand_over(q, q.given)
    return 0


cdef int event_record(int index, stream_t stream, bint timing, void** event) except -1:
    global events
    cdef Queue q = queue_of(index, stream)
    cdef Mark mark
    serve("event_record")
    if event[0] == NULL:
        mark = Mark.__new__(Mark)
        Py_INCREF(mark)
        event[0] = <void*>mark
        events += 1
    mark = <Mark>event[0]
    mark.queue = q
    mark.number = q.given
    return 0


cdef int event_wait(int index, stream_t stream, void* event) except -1:
    global latest
    cdef Mark mark = <Mark>event
    serve("event_wait")
    latest += 1
    return wait_for(queue_of(index, stream), mark.queue, mark.number)


cdef int event_query(int index, void* event) except -1:
    serve("event_query")
    return (<Mark>event).queue.done >= (<Mark>event).number


cdef int event_synchronize(int index, void* event) except -1:
    serve("synchronize")
    note("synchronize")
    note("reads")
    hand_over((<Mark>event).queue, (<Mark>event).number)
    return raise_failure((<Mark>event).queue.index)


cdef int event_elapsed(int index, void* start, void* end, double* milliseconds) except -1:
    # Works, for want of a clock.
    milliseconds[0] = <double>((<Mark>end).number - (<Mark>start).number)
    return 0


cdef void event_free(int index, void* event) noexcept:
    global events, latest
    latest = 0
    events -= 1
    Py_DECREF(<Mark>event)


cdef int pin(Py_ssize_t nbytes, char** data, void** block) except -1:
    """Memory of the host, with its size in front."""
    global pinned
    cdef char* start
    serve("pin")
    start = <char*>malloc(nbytes + 64)
    if start == NULL:
        raise MemoryError()
    (<Py_ssize_t*>start)[0] = nbytes
    memset(start + 64, POISON, nbytes)
    data[0] = start + 64
    block[0] = start
    pinned += 1
    return 0


cdef void unpin(void* block) noexcept:
    global pinned
    pinned -= 1
    memset(<char*>block + 64, POISON, (<Py_ssize_t*>block)[0])
    free(block)
