# Backward inside of backward (part of engine.pyx).

# Note [Deep re-entrance]
# A backward inside of a backward (a custom Function that calls it) costs Python frames and C stack.
# Past REENTRANT calls in one thread the next one goes on in a thread of its own, which has a fresh
# stack and a fresh recursion count; the caller waits. Thread-local state travels along: the mode
# word, context variables, and whatever was registered with _carry_thread_state.
cdef enum:
    REENTRANT = 40

cdef list _carried = []


def _carry_thread_state(get, put):
    """`put(get())` takes a module's thread-local state into the threads of deep backward calls."""
    _carried.append((get, put))


cdef object run_task(GraphTask g):
    cdef list stack = g_running.get(PyThread_get_thread_ident())
    if stack is not None and len(stack) >= REENTRANT and not tls_modes() & M_ONE_THREAD:
        return run_in_thread(g)
    return run_here(g)


cdef object run_in_thread(GraphTask g):
    cdef unsigned int modes = tls_modes()
    cdef list outcome = []
    state = [(put, get()) for get, put in _carried]
    context = _contextvars.copy_context()

    def work():
        tls_set_modes(modes)
        for put, value in state:
            put(value)
        try:
            outcome.append(context.run(run_here, g))
        except BaseException as error:
            outcome.append(None)
            outcome.append(error)

    thread = _threading.Thread(target=work, name="autograd_cy backward", daemon=True)
    try:
        thread.start()
    except RuntimeError:            # no more threads: go on here as long as the stack lasts
        return run_here(g)
    interrupt = None
    while thread.is_alive():
        try:
            thread.join()
        except KeyboardInterrupt as error:      # the graph is in use until the thread is done
            interrupt = error
    if interrupt is not None:
        raise interrupt
    if len(outcome) == 2:
        error = outcome.pop()
        try:
            raise error
        finally:
            error = None            # a frame that holds its own exception is a cycle
    return outcome[0]
