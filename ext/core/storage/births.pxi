# Which storages are young, for those who ask (part of storage.pyx).

# Note [Young storages]
# While somebody follows births, each new storage gets a number, which is kept beside it in a table
# by address: headers are full. Entries stay when a storage goes, because another one at the
# same address is younger and takes the entry over; all go when nobody follows births any more.

cdef struct Birth:
    StorageImpl* storage
    uint64_t number

cdef Birth* g_births = NULL         # open addressing
cdef size_t g_births_capacity = 0       # a power of two
cdef size_t g_births_count = 0
cdef uint64_t g_birth_number = 1
cdef int g_followers = 0
cdef bint g_births_lost = False     # there was no memory: all storages count as young


cdef inline Birth* birth_place(StorageImpl* s) noexcept:
    """The entry of a storage, or the free one that it would get."""
    cdef size_t i = (<size_t>s >> 6) * <size_t>0x9E3779B1 & (g_births_capacity - 1)
    while g_births[i].storage != NULL and g_births[i].storage != s:
        i = (i + 1) & (g_births_capacity - 1)
    return &g_births[i]


cdef bint more_births() noexcept:
    """Double the capacity; return whether there is memory for it."""
    global g_births, g_births_capacity
    cdef Birth* old = g_births
    cdef size_t capacity = g_births_capacity, i
    cdef size_t wanted = 2 * capacity if capacity else 256
    cdef Birth* more = <Birth*>calloc(wanted, sizeof(Birth))
    if more == NULL:
        return False
    g_births = more
    g_births_capacity = wanted
    for i in range(capacity):
        if old[i].storage != NULL:
            birth_place(old[i].storage)[0] = old[i]
    free(old)
    return True


cdef void number_birth(StorageImpl* s) noexcept:
    global g_birth_number, g_births_count, g_births_lost
    cdef Birth* place
    if 2 * g_births_count >= g_births_capacity and not more_births():
        g_births_lost = True
        return
    place = birth_place(s)
    if place.storage == NULL:
        place.storage = s
        g_births_count += 1
    place.number = g_birth_number
    g_birth_number += 1


cdef uint64_t follow_births() noexcept:
    global g_followers
    g_followers += 1
    note_listeners()
    return g_birth_number


cdef void leave_births() noexcept:
    global g_followers, g_births, g_births_capacity, g_births_count, g_births_lost
    g_followers -= 1
    if g_followers == 0:
        free(g_births)
        g_births = NULL
        g_births_capacity = g_births_count = 0
        g_births_lost = False
        note_listeners()


cdef bint born_since(StorageImpl* s, uint64_t number) noexcept:
    """Return whether the memory of a storage was made when births had come to `number`, or
    later."""
    cdef Birth* place
    while s.kind == STORAGE_ALIAS:
        s = <StorageImpl*>s.owner
    if g_births_lost:
        return True
    if g_births_capacity == 0:
        return False
    place = birth_place(s)
    return place.storage == s and place.number >= number
