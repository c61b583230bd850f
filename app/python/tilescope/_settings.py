"""What front ends share about launches: settings that they are told once, and what the results are called."""

import re
import sys

from . import _tilescope


def known(settings, names):
    """Refuses settings of activate() that are none of the names."""
    for name in settings:
        if name not in names:
            raise _tilescope.Error(f"activate() has no {name}=; it takes {', '.join(names)}.")


def tried(target, settings):
    """A launch of nothing says at once what is wrong with them. A test whose launches are watched is told of none."""
    empty = f".version 8.8\n.target {target}\n.address_size 64\n.entry nothing() {{ ret; }}"
    watch = _tilescope._watch(None)
    try:
        _tilescope.launch(empty, 1, 1, **settings)
    finally:
        _tilescope._watch(watch)


def name_outputs(run, names, order=()):
    """Calls the arrays in run.outputs what the source does: compilers name a kernel's parameters add_kernel_param_0,
    and names[0] is what that is. Of two with one name the second keeps the compiler's. Those of `order` come first.
    A run of another order, which a search has found, has no outputs."""
    if run.outputs is None:
        return
    named = {}
    for key, array in run.outputs.items():
        place = re.fullmatch(r".*_param_(\d+)", key)
        name = names[int(place[1])] if place and int(place[1]) < len(names) else key
        named[key if name in named else name] = array
    run.outputs.clear()
    run.outputs.update({name: named[name] for name in order if name in named})
    run.outputs.update(named)


def show_printed(run):
    """What a kernel prints appears, as it does where a kernel runs on a GPU."""
    if run.printed:
        sys.stdout.write(run.printed)
        sys.stdout.flush()
