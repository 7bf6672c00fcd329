# cython: language_level=3
# build: plain cold
"""The exceptions of faults; see faults.pxd."""

__all__: list[str] = []


cdef object bag_error(Fault* f):
    """Of the indices and offsets of embedding_bag."""
    if f.kind == FAULT_BAG_INDEX:
        text = (f"embedding_bag: Index {f.dim} of input takes value {f.value} which is not in the "
                f"valid range [0, {f.size})")
    elif f.kind == FAULT_BAG_FIRST:
        text = ("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                f"from position 0. However, got {f.value}")
    elif f.kind == FAULT_BAG_ORDER:
        text = (f"embedding_bag: offsets must not decrease, but offsets[{f.dim}] is {f.value} "
                f"after {f.size}")
    elif f.kind == FAULT_BAG_LAST:
        text = (f"offsets[-1] can not be greater than input's length {f.size} but got offsets[-1] "
                f"of {f.value}")
    else:
        text = ("embedding_bag: with include_last_offset offsets[-1] has to be the number of "
                f"indices, {f.size}, but got {f.value}; cut the indices before")
    return RuntimeError(text)


cdef object loss_error(Fault* f):
    """Of targets and probabilities."""
    if f.kind == FAULT_TARGET:
        return IndexError(f"Target {f.value} is out of bounds.")
    if f.kind == FAULT_PROBABILITY:
        return RuntimeError(
            f"all elements of {'input' if f.dim == 1 else 'target'} should be between 0 and 1")
    if f.kind == FAULT_MARGIN_TARGET:
        return RuntimeError("multi_margin_loss: target out of range")
    if f.kind == FAULT_MARGIN_TARGETS:
        return RuntimeError(
            "multilabel_margin_loss: argument #2 'target' is out of range")
    return ValueError("var has negative entry/entries")


cdef object fault_error(Fault* f):
    cdef str op = f.op.decode() if f.op != NULL else ""
    if f.kind == FAULT_EMBEDDING:
        return IndexError(f"index out of range in self ({op}: index {f.value} in a table of "
                          f"{f.size} rows)")
    if f.kind == FAULT_INDEX or f.kind == FAULT_PLACE:
        return (IndexError if f.kind == FAULT_INDEX else RuntimeError)(
            f"index {f.value} is out of bounds for dimension {f.dim} with size {f.size}")
    if f.kind == FAULT_REDUCED_INDEX:
        return IndexError("index out of range in self")
    if FAULT_BAG_INDEX <= f.kind <= FAULT_BAG_END:
        return bag_error(f)
    if f.kind == FAULT_SORTER:
        return RuntimeError("torch.searchsorted(): sorter index out of range")
    if f.kind == FAULT_ZERO_DIVISION:
        return RuntimeError("ZeroDivisionError: integer division or remainder by zero")
    if f.kind == FAULT_CLASS_BELOW:
        return RuntimeError(f"Class values must be non-negative, but there is {f.value}.")
    if f.kind == FAULT_CLASS_ABOVE:
        return RuntimeError(
            f"Class values must be smaller than num_classes, but there is {f.value} and "
            f"num_classes is {f.size}.")
    return loss_error(f)
