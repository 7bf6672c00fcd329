class device:
    index: _Int | None
    def __init__(self, type: device | _Str | _Int, index: _Int | None = None) -> None: ...

strided: layout
sparse_coo: layout
sparse_csr: layout
sparse_csc: layout
sparse_bsr: layout
sparse_bsc: layout
contiguous_format: memory_format
preserve_format: memory_format
channels_last: memory_format
channels_last_3d: memory_format
