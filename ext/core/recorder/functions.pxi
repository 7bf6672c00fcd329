# Events of operators that are functions in Python (part of recorder.pyx).

def _seen(str name not None, function):
    """The function with an event of that name around each call, which has its arguments."""
    cdef int number = events(name)

    @_wraps(function)
    def seen(*args, **named):
        cdef Scope event = NULL
        if g_modes & G_PROFILE:
            event = begin_call(number, args)
        return function(*args, **named)

    return seen
