# What the stub says besides what nanobind's stubgen writes: the types of arguments.
_tilescope.__prefix__:
    \from typing import Any, Sequence, Union, overload
    # What is taken: text is an expression of the language. Layouts of other packages are taken, too.
    LayoutAlone = Union["Layout", int, tuple[Any, ...], str]
    LayoutLike = Union["Layout", "Slice", int, tuple[Any, ...], str]
    TilerLike = Union["Layout", "Tiler", int, tuple[Any, ...], str]
    TupleLike = Union[int, "Int", None, tuple[Any, ...], list[Any], str]
    Coordinate = Union[int, "Int", None, tuple[Any, ...]]
    Value = Any
    # NumPy's arrays, and what has DLPack or the buffer protocol on the CPU.
    Array = Any
    # What is answered: a number alone, or a tuple that is nested as the layout is.
    Shape = Union[int, "Int", tuple[Any, ...]]
    Answer = Any
    __version__: str
    class Error(ValueError):
        """What was asked for is refused; the sentence says why, and what would work."""
    class Fault(Error):
        """The kernel did what a chip refuses, hangs on or surely corrupts."""
        run: "Run"
    class Hazard(Error):
        """With strict=True: the kernel relied on what PTX does not promise."""
        run: "Run"
