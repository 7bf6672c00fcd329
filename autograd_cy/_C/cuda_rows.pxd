# cython: language_level=3
"""Operations along rows of CUDA devices: how rows are shared out among threads."""

# Choose the threads of rows that lie one after the other: fills `by_rows`, `packed`, `group` and
# `width` of an ag_row_args (device/row_arguments.h) whose other members are there, with elements of
# `item` bytes. Returns how many blocks there are; each has 1 << (group + width) threads.
cdef unsigned share_rows(void* row, int item) noexcept
