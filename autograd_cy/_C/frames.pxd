# cython: language_level=3
"""Python frames of the calling thread: their code and the instruction that each has come to.

By functions for everybody, which make an object of a frame, and as the interpreter has them, where
its own headers say how they look (AG_INSIDE): whoever uses these compares both once.
"""
from cpython.ref cimport PyObject

cdef extern from *:
    """
    #include <frameobject.h>
    #if PY_VERSION_HEX >= 0x030B0000
    #define AG_LASTI(f) PyFrame_GetLasti(f)
    #else
    #define AG_LASTI(f) ((f)->f_lasti * (PY_VERSION_HEX >= 0x030A0000 ? 2 : 1))
    #endif

    /* Frames as the interpreter has them: no object is made of one, which is most of what the
       functions for everybody cost. Only for versions whose own headers say how they look. */
    #if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030F0000 && defined(__has_include) \
        && !defined(Py_GIL_DISABLED) && !defined(PYPY_VERSION) && !defined(GRAALVM_PYTHON)
    #if __has_include("internal/pycore_frame.h")
    #define AG_INSIDE 1
    #endif
    #endif
    #ifdef AG_INSIDE
    #ifndef Py_BUILD_CORE
    #define Py_BUILD_CORE 1
    #endif
    #include "internal/pycore_frame.h"
    #if PY_VERSION_HEX >= 0x030E0000
    #include "internal/pycore_interpframe.h"
    #endif
    typedef struct _PyInterpreterFrame ag_frame;
    static inline ag_frame *ag_complete(ag_frame *f) {
        while (f && _PyFrame_IsIncomplete(f)) f = f->previous;
        return f;
    }
    static inline ag_frame *ag_innermost(void) {
    #if PY_VERSION_HEX >= 0x030D0000
        return ag_complete(PyThreadState_Get()->current_frame);
    #else
        return ag_complete(PyThreadState_Get()->cframe->current_frame);
    #endif
    }
    static inline ag_frame *ag_outer(ag_frame *f) { return ag_complete(f->previous); }
    static inline PyCodeObject *ag_code(ag_frame *f) {
    #if PY_VERSION_HEX >= 0x030D0000
        return _PyFrame_GetCode(f);
    #else
        return f->f_code;
    #endif
    }
    static inline int ag_last(ag_frame *f) {
        return _PyInterpreterFrame_LASTI(f) * (int)sizeof(_Py_CODEUNIT);
    }
    #else
    #define AG_INSIDE 0
    typedef void ag_frame;
    static inline ag_frame *ag_innermost(void) { return NULL; }
    static inline ag_frame *ag_outer(ag_frame *f) { return f; }
    static inline PyCodeObject *ag_code(ag_frame *f) { (void)f; return NULL; }
    static inline int ag_last(ag_frame *f) { (void)f; return 0; }
    #endif
    """
    ctypedef struct PyFrameObject:
        pass
    ctypedef struct PyCodeObject:
        PyObject* co_filename
        PyObject* co_name
    ctypedef struct PyThreadState:
        pass
    PyThreadState* PyThreadState_Get() noexcept
    PyFrameObject* PyThreadState_GetFrame(PyThreadState*) noexcept      # owned, or NULL
    PyFrameObject* PyFrame_GetBack(PyFrameObject*) noexcept             # owned, or NULL
    PyCodeObject* PyFrame_GetCode(PyFrameObject*) noexcept              # owned
    int AG_LASTI(PyFrameObject*) noexcept
    int PyCode_Addr2Line(PyCodeObject*, int) noexcept
    bint AG_INSIDE                  # frames are read as the interpreter has them
    ctypedef struct Frame "ag_frame":
        pass
    Frame* ag_innermost() noexcept
    Frame* ag_outer(Frame*) noexcept
    PyCodeObject* ag_code(Frame*) noexcept
    int ag_last(Frame*) noexcept
