# Other memory for the launches of a program, where nothing else is to be seen (part of launch.pyx).

cdef enum:
    GUARD = 64              # bytes before and behind each copy that nobody may write
    GUARD_BYTE = 0xA5
    HIDDEN = 0              # what a launch may do with a byte
    READ = 1
    WRITTEN = 2


cdef class Elsewhere:
    """A copy of each storage that a program names, whose own memory holds 0xFF meanwhile."""
    cdef dict copies            # address of the storage: that of its copy
    cdef dict masks             # the same: what the launch that is run may do with each byte,
    cdef dict before            # and the bytes before it

    cdef int fill(self, Program program, object tensors) except -1:
        cdef StorageImpl* mem
        cdef Py_ssize_t i
        cdef int k
        self.copies, self.masks, self.before = {}, {}, {}
        for i in range(program.count):
            for k in range(program.launches[i].n):
                self.add(program.launches[i].at[k].mem)
        for i in range(program.births):
            self.add(program.born[i])
        for t in tensors:
            self.add((<Tensor?>t).mem)
        for address in self.copies:
            mem = <StorageImpl*><size_t>address
            memset(mem.data, 0xFF, mem.nbytes)
        return 0

    cdef int add(self, StorageImpl* mem) except -1:
        cdef StorageImpl* copy
        mem = root_storage(mem)
        if mem == NULL or mem.data == NULL or mem.device or <size_t>mem in self.copies:
            return 0
        copy = storage_new(mem.nbytes + 2 * GUARD)
        memset(copy.data, GUARD_BYTE, copy.nbytes)
        memcpy(copy.data + GUARD, mem.data, mem.nbytes)
        self.copies[<size_t>mem] = <size_t>copy
        return 0

    cdef char* data_of(self, StorageImpl* mem) except NULL:
        return (<StorageImpl*><size_t>self.copies[<size_t>mem]).data + GUARD

    cdef int hide(self, Launch* work) except -1:
        """Let all bytes hold 0xFF but those that the launch declares."""
        cdef StorageImpl* mem
        cdef Py_ssize_t i
        cdef int k, may
        cdef char* mask
        cdef char* data
        self.masks.clear()
        self.before.clear()
        for address in self.copies:
            mem = <StorageImpl*><size_t>address
            self.masks[address] = bytearray(mem.nbytes)
            self.before[address] = self.data_of(mem)[:mem.nbytes]
        for k in range(work.n):
            mem = root_storage(work.at[k].mem)
            if mem == NULL or <size_t>mem not in self.masks:
                continue
            mask = self.masks[<size_t>mem]
            may = WRITTEN if work.at[k].access & (WRITES | SCRATCH) else READ
            for i in range(work.at[k].low, work.at[k].high):
                mask[i] |= <char>may
        for address in self.copies:
            mem = <StorageImpl*><size_t>address
            mask, data = self.masks[address], self.data_of(mem)
            for i in range(mem.nbytes):
                if mask[i] == HIDDEN:
                    data[i] = <char>0xFF
        return 0

    cdef object show(self):
        """Take back what hide() has done; the place of a byte that was written and may not, or
        None."""
        cdef StorageImpl* mem
        cdef Py_ssize_t i
        cdef char* mask
        cdef char* data
        cdef const char* before
        touched = None
        for address in self.copies:
            mem = <StorageImpl*><size_t>address
            mask, data, before = self.masks[address], self.data_of(mem), self.before[address]
            for i in range(mem.nbytes):
                if mask[i] & WRITTEN:
                    continue
                if data[i] != (<char>0xFF if mask[i] == HIDDEN else before[i]):
                    touched = i
                data[i] = before[i]
        return touched

    cdef bint back(self) except -1:
        """Copy all back; whether somebody wrote elsewhere."""
        cdef StorageImpl* mem
        cdef StorageImpl* copy
        cdef Py_ssize_t i
        cdef bint written = False
        for address, other in self.copies.items():
            mem, copy = <StorageImpl*><size_t>address, <StorageImpl*><size_t>other
            for i in range(mem.nbytes):
                written |= mem.data[i] != <char>0xFF
            for i in range(GUARD):
                written |= copy.data[i] != <char>GUARD_BYTE
                written |= copy.data[copy.nbytes - 1 - i] != <char>GUARD_BYTE
            memcpy(mem.data, copy.data + GUARD, mem.nbytes)
            storage_decref(copy)
        self.copies.clear()
        return written


seal(Elsewhere, "Elsewhere objects cannot be made; use Program.replay_elsewhere()")
