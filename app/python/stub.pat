# What the stub says besides what nanobind's stubgen writes: the types of arguments.
_tilescope.__prefix__:
    \from typing import Any, Sequence, Union
    LayoutLike = Union["Layout", "Slice", int, tuple, str]
    TilerLike = Union["Layout", "Tiler", int, tuple, str]
    TupleLike = Union[int, "Int", None, tuple, list, str]
    Value = Any
    __version__: str
