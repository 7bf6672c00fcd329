# What may be asked of the backward that runs in this thread (part of engine.pyx).

def queue_callback(callback):
    """Run `callback()` at the end of the backward that is running in this thread."""
    cdef GraphTask g = running_task()
    if g is None:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    if g.callbacks is None:
        g.callbacks = []
    g.callbacks.append(callback)


def current_task_id():
    """Number of the backward that runs in this thread, or -1."""
    cdef GraphTask g = running_task()
    return -1 if g is None else g.id


cdef GraphTask running_task():
    stack = g_running.get(PyThread_get_thread_ident())
    return None if not stack else <GraphTask>stack[len(stack) - 1]


cdef bint is_wanted(PyObject* p) noexcept:
    """Tell whether this thread's task needs the gradient of a node that some task doesn't need."""
    cdef PyObject* running = ag_running_task
    cdef GraphTask g
    if running == NULL or not (<GraphTask>running).selective:
        return True                 # without a task, somebody calls a node
    if (<Node>p).owner == (<GraphTask>running).id:
        return not (<Node>p).flags & N_UNWANTED
    g = <GraphTask>running
    if g.foreign is None or <size_t>p not in g.foreign:
        return True
    return not foreign_state(g, p).flags & N_UNWANTED


def _is_running(uint64_t task):
    """Return whether the backward of that number is still going on, in any thread."""
    for stack in list(g_running.values()):
        for g in list(stack):
            if (<GraphTask>g).id == task:
                return True
    return False


def _current_node():
    """The node that this thread's backward is running, or None."""
    cdef GraphTask g = running_task()
    if g is None or g.current == NULL:
        return None
    node_track(<Node>g.current)
    return <object>g.current


cdef GraphTask task_or_error(str what):
    cdef GraphTask g = running_task()
    if g is None:
        raise RuntimeError(f"{what} should only be called during the backward pass")
    return g


def _will_run(Node n not None):
    """Return whether the backward that runs in this thread reaches node `n`."""
    return is_reached(task_or_error("_will_run"), n)


cdef bint is_reached(GraphTask g, Node n) except -1:
    if n.owner != g.id and (g.foreign is None or <size_t><PyObject*>n not in g.foreign):
        return False
    return not is_skipped(g, <PyObject*>n)


def _will_execute(node):
    """Return whether the backward that runs in this thread reaches node `node`, or has done so."""
    cdef GraphTask g = task_or_error("_get_should_execute_nodes")
    cdef Node n
    if not isinstance(node, Node):
        raise RuntimeError("_will_engine_execute_node expects an grad_fn, but got "
                           f"{type(node).__name__}")
    n = <Node>node
    if not is_reached(g, n):
        return False
    if g.selective and not g.accumulate and n.flags & N_ACCUMULATE:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running "
            "autograd.grad(). This is currently not supported.")
    return True                 # also where the gradient alone is wanted, as in torch


def _execution_order():
    """The nodes that this thread's backward has still to run, in order."""
    cdef GraphTask g = task_or_error("_current_graph_task_execution_order")
    cdef GraphTask plan = GraphTask.__new__(GraphTask)
    cdef dict waiting = {}
    cdef list order = []
    cdef PyObject* p
    cdef Node n
    cdef int i
    if not tls_modes() & M_ONE_THREAD:
        raise RuntimeError(
            "get_current_graph_task_execution_order expects the current backward to be executed "
            "with multithreading disabled, e.g. by running: with "
            "autograd_cy.autograd.set_multithreading_enabled(False): ...")
    # Counts of what is left, gone through as the task itself will do.
    for i in range(g.heap_count):
        Py_INCREF(<object>g.heap[i])
        push(plan, g.heap[i])
    if g.current != NULL:
        Py_INCREF(<object>g.current)
        push(plan, g.current)
    while plan.heap_count:
        p = pop(plan)
        n = <Node>p
        order.append(n)
        for i in range(n.n_edges):
            target = <object>n.edges[i].node if n.edges[i].node != NULL else None
            if target is None or (g.selective and is_skipped(g, <PyObject*>target)):
                continue
            if target not in waiting:
                waiting[target] = deps_of(g, <Node>target)
            waiting[target] -= 1
            if waiting[target] == 0:
                Py_INCREF(target)
                push(plan, <PyObject*>target)
        Py_DECREF(n)
    for n in order:
        node_track(n)
    return order


cdef int deps_of(GraphTask g, Node n) except -1:
    return n.deps if n.owner == g.id else foreign_state(g, <PyObject*>n).deps


def _keeps_graph():
    """Return whether the backward that runs in this thread keeps what the graph has saved."""
    cdef GraphTask g = running_task()
    return g is None or g.keep_graph


def _is_selective():
    """Return whether the backward that runs in this thread wants some gradients only."""
    cdef GraphTask g = running_task()
    return g is not None and g.selective


def _undo_in_the_end(put, value):
    """
    Let the backward that runs in this thread end with `put(value)`, which restores state that its
    hooks are about to change; the first call of a backward counts.
    """
    cdef GraphTask g = running_task()
    if g is not None and g.undo is None:
        g.undo = (put, value)
