class dtype:
    @property
    def is_floating_point(self) -> _Bool: ...
    @property
    def is_complex(self) -> _Bool: ...
    @property
    def is_signed(self) -> _Bool: ...
    def to_real(self) -> dtype: ...
    def to_complex(self) -> dtype: ...

_bool: dtype
uint8: dtype
uint16: dtype
uint32: dtype
uint64: dtype
int8: dtype
int16: dtype
int32: dtype
int64: dtype
float16: dtype
bfloat16: dtype
float32: dtype
float64: dtype
complex64: dtype
complex128: dtype

class finfo:
    bits: _Int
    eps: _Float
    max: _Float
    min: _Float
    tiny: _Float
    smallest_normal: _Float
    resolution: _Float
    dtype: _Str
    def __init__(self, type: _dtype | None = None) -> None: ...

class iinfo:
    bits: _Int
    max: _Int
    min: _Int
    dtype: _Str
    def __init__(self, type: _dtype) -> None: ...

def promote_types(type1: dtype, type2: dtype) -> dtype: ...
def can_cast(from_: dtype, to: dtype) -> _Bool: ...
def get_default_dtype() -> dtype: ...
def set_default_dtype(d: dtype) -> None: ...
