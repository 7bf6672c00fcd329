# Types that the source of the module can't tell; see stubs.py.
class Form:
    __module__: _Str
    __qualname__: _Str
