# What the stub says besides what nanobind's stubgen writes: the types of arguments.
_tilescope.__prefix__:
    \from typing import Any, Sequence, Union
    LayoutLike = Union["Layout", "Slice", int, tuple, str]
    TilerLike = Union["Layout", "Tiler", int, tuple, str]
    TupleLike = Union[int, "Int", None, tuple, list, str]
    Value = Any
    __version__: str
    class Error(ValueError):
        """What was asked for is refused; the sentence says why, and what would work."""
    class Fault(Error):
        """The kernel did what a chip refuses, hangs on or surely corrupts."""
        run: "Run"
    class Hazard(Error):
        """With strict=True: the kernel relied on what PTX does not promise."""
        run: "Run"
