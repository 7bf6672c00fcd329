# What the arguments of operators looked like (part of recorder.pyx).
#
# An operator's arguments are written down as words: a tag for each, then sizes or the value. Equal
# descriptions are kept once: an event has the number of its own. No argument is kept alive.

cdef enum:  # low byte of a word
    A_NONE, A_TENSOR, A_NUMBER, A_INT, A_FLOAT, A_BOOL, A_DTYPE, A_TEXT, A_LIST, A_OTHER

cdef enum:
    MOST_DEPTH = 16            # of lists in lists
    MOST_WORDS = 1 << 20       # longer lists are A_OTHER

ctypedef struct Entry:
    int64_t at                 # place of its words
    int32_t length
    uint64_t hash

ctypedef struct Table:         # sequences of words, each once
    int64_t* words
    int64_t n_words
    int64_t word_capacity
    Entry* entries
    int32_t count
    int32_t capacity
    int32_t* places            # by hash: number of the entry plus 1, or 0
    int32_t size               # of the places; any does

cdef Table g_shapes
cdef int64_t* g_arguments = NULL   # the arguments of the operator that begins
cdef int64_t g_n_arguments = 0
cdef int64_t g_capacity = 0
cdef int64_t g_bytes_moved = 0  # bytes of its tensors
cdef int32_t[256] g_last_shape  # by numbers of names

memset(&g_shapes, 0, sizeof(Table))


cdef inline int32_t first_place(uint64_t h, int32_t size) noexcept:
    return <int32_t>(<uint32_t>h % <uint32_t>size)


cdef inline int32_t place_behind(int32_t at, int32_t size) noexcept:
    return (at + 1) % size


cdef bint grow_places(Table* t) noexcept:
    cdef int32_t size = 256 if t.size == 0 else 2 * t.size
    cdef int32_t* places = <int32_t*>malloc(size * sizeof(int32_t))
    cdef int32_t i, at
    if places == NULL:
        return False
    memset(places, 0, size * sizeof(int32_t))
    for i in range(t.count):
        at = first_place(t.entries[i].hash, size)
        while places[at]:
            at = place_behind(at, size)
        places[at] = i + 1
    free(t.places)
    t.places = places
    t.size = size
    return True


cdef bint grow_entries(Table* t, int64_t length) noexcept:
    cdef int64_t capacity = max(2 * t.word_capacity, t.n_words + length, 1024)
    cdef int64_t* words
    cdef Entry* entries
    if t.n_words + length > t.word_capacity:
        words = <int64_t*>realloc(t.words, <size_t>capacity * sizeof(int64_t))
        if words == NULL:
            return False
        t.words, t.word_capacity = words, capacity
    if t.count == t.capacity:
        entries = <Entry*>realloc(t.entries, <size_t>max(2 * t.capacity, 128) * sizeof(Entry))
        if entries == NULL:
            return False
        t.entries, t.capacity = entries, max(2 * t.capacity, 128)
    return 2 * t.count < t.size or grow_places(t)


cdef int32_t look_up(Table* t, const int64_t* words, int64_t length, int32_t* hint) noexcept:
    """The number of a sequence of words, or -1 if there is no memory for it.

    `hint` is what was found the last time in such a place: programs repeat themselves.
    """
    cdef int32_t number = hint[0]
    cdef Entry* entry
    if 0 <= number < t.count:
        entry = &t.entries[number]
        if entry.length == length and memcmp(
                t.words + entry.at, words, <size_t>length * sizeof(int64_t)) == 0:
            return number
    number = look_further(t, words, length)
    hint[0] = number
    return number


cdef int32_t look_further(Table* t, const int64_t* words, int64_t length) noexcept:
    cdef uint64_t h = <uint64_t>length
    cdef int64_t i
    cdef int32_t at
    cdef Entry* entry
    for i in range(length):
        h = (h ^ <uint64_t>words[i]) * <uint64_t>0x9E3779B97F4A7C15
        h ^= h >> 29
    if t.size:
        at = first_place(h, t.size)
        while t.places[at]:
            entry = &t.entries[t.places[at] - 1]
            if entry.hash == h and entry.length == length and memcmp(
                    t.words + entry.at, words, <size_t>length * sizeof(int64_t)) == 0:
                return t.places[at] - 1
            at = place_behind(at, t.size)
    if not grow_entries(t, length):
        return -1
    at = first_place(h, t.size)
    while t.places[at]:
        at = place_behind(at, t.size)
    entry = &t.entries[t.count]
    entry.at, entry.length, entry.hash = t.n_words, <int32_t>length, h
    memcpy(t.words + t.n_words, words, <size_t>length * sizeof(int64_t))
    t.n_words += length
    t.count += 1
    t.places[at] = t.count
    return t.count - 1


cdef void clear_table(Table* t) noexcept:
    free(t.words)
    free(t.entries)
    free(t.places)
    memset(t, 0, sizeof(Table))


cdef inline bint reserve_arguments(int64_t n) noexcept:
    cdef int64_t* larger
    cdef int64_t capacity = 2 * (g_n_arguments + n) + 64
    global g_arguments, g_capacity
    if g_n_arguments + n <= g_capacity:
        return True
    larger = <int64_t*>realloc(g_arguments, <size_t>capacity * sizeof(int64_t))
    if larger == NULL:
        return False
    g_arguments, g_capacity = larger, capacity
    return True


cdef inline void put_word(int64_t word) noexcept:
    global g_n_arguments
    if reserve_arguments(1):
        g_arguments[g_n_arguments] = word
        g_n_arguments += 1


cdef void put_tensor(Tensor t) noexcept:
    global g_n_arguments, g_bytes_moved
    cdef int i
    cdef int64_t* to
    if t is None:
        put_word(A_NONE)
        return
    if not reserve_arguments(t.nd + 3):
        return
    to = g_arguments + g_n_arguments
    if t.flags & F_WRAPPED and t.nd == 0:
        to[0] = A_NUMBER | t.dt << 8
        to[1] = to[2] = 0
        memcpy(to + 1, t.ptr, <size_t>itemsize(t))
        g_n_arguments += 3
        return
    to[0] = A_TENSOR | t.dt << 8 | t.nd << 16
    for i in range(t.nd):
        to[i + 1] = t.sizes[i]
    g_n_arguments += t.nd + 1
    g_bytes_moved += t.count * itemsize(t)


cdef void put_int(long long x) noexcept:
    put_word(A_INT)
    put_word(x)


cdef void put_float(double x) noexcept:
    cdef int64_t bits = 0
    memcpy(&bits, &x, sizeof(double))
    put_word(A_FLOAT)
    put_word(bits)


cdef void put_bool(bint x) noexcept:
    put_word(A_BOOL | x << 8)


cdef void put_dtype(int code) noexcept:
    put_word(A_NONE if code < 0 else A_DTYPE | code << 8)


cdef void put_text(str x) noexcept:
    cdef Py_ssize_t n = 0, words
    cdef const char* text = PyUnicode_AsUTF8AndSize(x, &n)
    global g_n_arguments
    if text == NULL:
        PyErr_Clear()
        put_word(A_OTHER)
        return
    words = (n + 7) // 8
    if not reserve_arguments(words + 1):
        return
    g_arguments[g_n_arguments] = A_TEXT | n << 8
    if words:
        g_arguments[g_n_arguments + words] = 0
        memcpy(g_arguments + g_n_arguments + 1, text, <size_t>n)
    g_n_arguments += words + 1


cdef void put_object(object x) noexcept:
    put_nested(x, 0)


cdef void put_nested(object x, int depth) noexcept:
    cdef Py_ssize_t i
    if x is None:
        put_word(A_NONE)
    elif isinstance(x, Tensor):
        put_tensor(<Tensor>x)
    elif type(x) is tuple or type(x) is list:
        if depth == MOST_DEPTH or g_n_arguments + <int64_t>len(x) > MOST_WORDS:
            put_word(A_OTHER)               # a list may hold itself
            return
        put_word(A_LIST | <int64_t>len(x) << 8)
        for i in range(len(x)):
            put_nested(x[i], depth + 1)
    elif type(x) is bool:
        put_bool(<bint>x)
    elif type(x) is int and -(1 << 63) <= x < 1 << 63:
        put_int(x)
    elif type(x) is float:
        put_float(x)
    elif type(x) is str:
        put_text(x)
    else:
        put_word(A_OTHER)


cdef void put_end(Event* e) noexcept:
    """The arguments are complete; the time that they took isn't the operator's."""
    global g_n_arguments, g_bytes_moved
    e.shape = look_up(&g_shapes, g_arguments, g_n_arguments, &g_last_shape[e.name & 255])
    e.bytes_moved = g_bytes_moved
    g_n_arguments = g_bytes_moved = 0
    known(e)
    e.start = ticks()


cdef Event* begin_call(int name, tuple args) noexcept:
    cdef Event* e = begin_event(name, S_OPERATOR)
    cdef Py_ssize_t i
    if e != NULL and details & D_ARGUMENTS:
        for i in range(len(args)):
            put_object(args[i])
        put_end(e)
    return e


cdef void note_result(Event* e, object result) noexcept:
    """Count the bytes of a result, or of a tuple of them."""
    cdef Py_ssize_t i
    if isinstance(result, Tensor):
        e.bytes_moved += (<Tensor>result).count * itemsize(<Tensor>result)
    elif type(result) is tuple:
        for i in range(len(<tuple>result)):
            note_result(e, (<tuple>result)[i])


# --- reading them ---------------------------------------------------------------------------

# By dtype code, as traces name them.
include "traced_dtypes.pxi"


cdef tuple read_one(const int64_t* words, int64_t* at):
    """(sizes, value, type) of the next argument."""
    cdef int64_t word = words[at[0]]
    cdef int tag = word & 255, k
    cdef int64_t n = word >> 8
    cdef double number = 0
    at[0] += 1
    if tag == A_TENSOR:
        n = word >> 16 & 255
        sizes = [words[at[0] + k] for k in range(n)]
        at[0] += n
        return sizes, None, TYPE_NAMES[word >> 8 & 255]
    if tag == A_NUMBER:
        value = element_value(<const char*>(words + at[0]), n & 255)
        at[0] += 2
        return [], value, "Scalar"
    if tag == A_INT:
        at[0] += 1
        return [], words[at[0] - 1], "Scalar"
    if tag == A_FLOAT:
        memcpy(&number, words + at[0], sizeof(double))
        at[0] += 1
        return [], number, "Scalar"
    if tag == A_BOOL:
        return [], n != 0, "Scalar"
    if tag == A_DTYPE:
        return [], TYPE_NAMES[n], ""
    if tag == A_TEXT:
        text = (<const char*>(words + at[0]))[:n].decode(errors="replace")
        at[0] += (n + 7) // 8
        return [], text, ""
    if tag == A_LIST:
        parts = [read_one(words, at) for k in range(n)]
        if parts and all([part[2] in TYPE_NAMES for part in parts]):
            return [part[0] for part in parts], None, "TensorList"
        return [], [part[1] for part in parts], "ScalarList"
    return [], None, ""


cdef list shape_rows():
    """All descriptions, as (sizes, values, types) of the arguments."""
    cdef int32_t i
    return [shape_row(i) for i in range(g_shapes.count)]


cdef tuple shape_row(int32_t i):
    """One of them."""
    cdef list parts = []
    cdef int64_t at = 0
    cdef int64_t length = g_shapes.entries[i].length
    # Making objects may run code that records, which moves the table.
    cdef int64_t* words = <int64_t*>malloc(<size_t>(length + 1) * sizeof(int64_t))
    if words == NULL:
        raise MemoryError("autograd_cy: no memory to read what the profiler recorded")
    try:
        memcpy(words, g_shapes.words + g_shapes.entries[i].at, <size_t>length * sizeof(int64_t))
        while at < length:
            parts.append(read_one(words, &at))
    finally:
        free(words)
    return [p[0] for p in parts], [p[1] for p in parts], [p[2] for p in parts]
