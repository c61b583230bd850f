"""Tilescope: how tensors are tiled, and how a GPU kernel really runs, without a GPU.

>>> import tilescope as ts
>>> ts.zipped_divide(ts.Layout((9, (4, 8)), (59, (13, 1))), ts.eval("<3:3,(2,4):(1,8)>"))
Layout("((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))")

The manual: docs/manual/python.md.
"""

from . import _tilescope
from ._tilescope import *  # noqa: F401,F403
from ._tilescope import _, __version__  # noqa: F401

__all__ = [name for name in dir(_tilescope) if not name.startswith("_")]


def __getattr__(name):
    # Front ends import what they are for: only who asks for one waits for that.
    if name in ("cute", "tirx", "tirx_course", "triton"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
