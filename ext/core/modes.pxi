# The mode words of the thread and of the process, for Python (part of tensor.pyx).

def _is_grad_enabled():
    return not (ag_tls_modes & M_NO_GRAD) or bool(ag_tls_modes & M_GRAD_ASKED)


def _get_modes():
    """The thread-local mode word."""
    return ag_tls_modes


def _set_modes(unsigned int word):
    global ag_tls_modes
    ag_tls_modes = word


def _get_global_modes():
    """The process-wide mode word."""
    return g_modes


def _set_global_modes(unsigned int word):
    global g_modes
    g_modes = word
