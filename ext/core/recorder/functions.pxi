# Events of operators that are functions in Python (part of recorder.pyx).

def _seen(str name not None, function):
    """
    The function with an event of that name around each call, which has its arguments.

    Errors begin with the name of a public function.
    """
    cdef int number = events(name)
    cdef bint is_public = not function.__name__.startswith("_")

    @_wraps(function)
    def seen(*args, **named):
        cdef Scope event = NULL
        if g_modes & G_PROFILE:
            event = begin_call(number, args)
        try:
            return function(*args, **named)
        except Exception as error:
            if is_public:
                from autograd_cy._C.forms import _name_error
                _name_error(error, function)
            raise

    return seen
