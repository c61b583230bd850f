"""Settings of launches that front ends are told once, and later give to each launch."""

from . import _tilescope


def tried(target, settings):
    """A launch of nothing says at once what is wrong with them. A test whose launches are watched is told of none."""
    empty = f".version 8.8\n.target {target}\n.address_size 64\n.entry nothing() {{ ret; }}"
    watch = _tilescope._watch(None)
    try:
        _tilescope.launch(empty, 1, 1, **settings)
    finally:
        _tilescope._watch(watch)
