"""Opens the window on a launch: what Run.window() calls."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading

from . import _tilescope
from .__main__ import program


def folder():
    """A folder for what the window reads, where there is a program and a display to open one."""
    if program() is None:
        raise _tilescope.Error(
            "There is no window here: this package carries no program, and PATH has no `tilescope`. "
            "`./dev build` in the repository makes it; run.timeline() and run.step() need none."
        )
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise _tilescope.Error(
            "There is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set. "
            'run.timeline().save("f.html") writes a page for a browser.'
        )
    return tempfile.mkdtemp(prefix="tilescope-")


def open(command, place):
    """Starts the window with this command; the folder goes when it is closed."""
    window = subprocess.Popen([program(), "gui", "--do", command], stdin=subprocess.DEVNULL)

    def clean():
        window.wait()
        shutil.rmtree(place, ignore_errors=True)

    threading.Thread(target=clean, daemon=True).start()
