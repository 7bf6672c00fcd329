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


_carry_thread_state(_capture_here, _go_on_capturing)


# Where threads aren't to be had (M_ONE_THREAD, or the system has no more) the stack is what bounds
# the depth, if the recursion limit was raised: what is left of it is looked at before each backward
# inside of another, as a stack that overflows ends the process.
cdef extern from *:
    """
    #include <stddef.h>
    #if defined(__linux__) || defined(__APPLE__)
    #include <pthread.h>
    static __thread char *ag_stack_low = NULL;
    static __thread size_t ag_stack_size = 0;
    static __thread int ag_stack_known = 0;

    static void ag_measure_stack(void) {
        ag_stack_known = 1;
    #ifdef __APPLE__
        ag_stack_size = pthread_get_stacksize_np(pthread_self());
        ag_stack_low = (char *)pthread_get_stackaddr_np(pthread_self()) - ag_stack_size;
    #else
        pthread_attr_t attr;
        void *low;
        size_t size;
        if (pthread_getattr_np(pthread_self(), &attr) != 0) return;
        if (pthread_attr_getstack(&attr, &low, &size) == 0) {
            ag_stack_low = (char *)low;
            ag_stack_size = size;
        }
        pthread_attr_destroy(&attr);
    #endif
    }

    /* 1: little is left of this thread's stack; 0: there is enough; -1: nobody knows */
    static int ag_stack_is_low(void) {
        char here;
        size_t left, least;
        if (!ag_stack_known) ag_measure_stack();
        if (ag_stack_size == 0 || &here < ag_stack_low || &here > ag_stack_low + ag_stack_size)
            return -1;
        left = (size_t)(&here - ag_stack_low);
        least = ag_stack_size / 4 < 262144 ? ag_stack_size / 4 : 262144;
        return left < least;
    }
    #else
    static int ag_stack_is_low(void) { return -1; }
    #endif
    """
    int ag_stack_is_low() noexcept

cdef enum:
    UNKNOWN_STACK = 100          # calls in a thread whose stack nobody knows


cdef object run_task(GraphTask g):
    cdef list stack = g_running.get(PyThread_get_thread_ident())
    if stack is None:
        return run_here(g)
    if len(stack) >= REENTRANT and not tls_modes() & M_ONE_THREAD:
        return run_in_thread(g)
    return run_inside(g, len(stack))


cdef object run_inside(GraphTask g, Py_ssize_t depth):
    cdef int low = ag_stack_is_low()
    if low > 0 or (low < 0 and depth >= UNKNOWN_STACK):
        release_nodes(g)
        raise RecursionError(
            "maximum recursion depth exceeded: the stack of this thread has no room for another "
            f"backward inside of {depth} others")
    return run_here(g)


cdef object run_in_thread(GraphTask g):
    cdef modes_t modes = tls_modes()
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
        return run_inside(g, len(g_running[PyThread_get_thread_ident()]))
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
