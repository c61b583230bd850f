"""CUDA C++ as PTX by NVRTC, the compiler that is a library: of its wheel, or of a CUDA Toolkit."""

import ctypes
import glob
import importlib.util
import os
import re

from . import _ptx
from ._tilescope import Error

ABSENT = (
    "A CUDA source is compiled by nvcc or NVRTC, and neither is here. `pip install nvidia-cuda-nvrtc "
    "nvidia-cuda-runtime` brings NVRTC and CUDA's headers (no GPU is needed); nvcc is looked for in $PATH, $CUDA_HOME, "
    "$CUDA_PATH and /usr/local/cuda."
)


def places():
    """Folders in which wheels and toolkits have lib and include, the first one first."""
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations if spec else []:
        # nvidia/cu13 of CUDA 13; nvidia/cuda_nvrtc and nvidia/cuda_runtime of CUDA 12.
        yield from sorted(glob.glob(os.path.join(root, "cu[0-9]*")), reverse=True)
        yield from (os.path.join(root, name) for name in ("cuda_nvrtc", "cuda_runtime", "cuda_cccl"))
    yield from filter(None, (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"))


def library():
    """NVRTC, loaded. Error: it is nowhere."""
    for place in places():
        for folder in ("lib", "lib64", "bin"):
            for path in sorted(glob.glob(os.path.join(place, folder, "libnvrtc.so*")), reverse=True):
                try:
                    return ctypes.CDLL(path)
                except OSError:
                    pass
    raise Error(ABSENT)


def headers():
    """The folders of CUDA's headers: those of one place, so that they are of one version."""
    found = [folder for place in places() if os.path.isdir(folder := os.path.join(place, "include"))]
    whole = [folder for folder in found if os.path.exists(os.path.join(folder, "cuda_fp16.h"))]
    chosen = whole[:1]
    return chosen + [inner for folder in chosen if os.path.isdir(inner := os.path.join(folder, "cccl"))]


def text_of(size, get, program):
    """What NVRTC has as text: its log, or PTX."""
    length = ctypes.c_size_t()
    size(program, ctypes.byref(length))
    text = ctypes.create_string_buffer(max(length.value, 1))
    get(program, text)
    return text.value.decode(errors="replace")


def compile(text, name, folder, number, options):
    """PTX of a text for an architecture, "90a". Error: it does not compile, with NVRTC's words."""
    nvrtc = library()
    words = [f"--gpu-architecture=compute_{number}", "--generate-line-info", f"-I{os.path.abspath(folder or '.')}"]
    words += [f"-I{each}" for each in headers()]
    if not any(re.match("--?std", word) for word in options):
        words.append("--std=c++20")
    # A string that ends within is none of C's.
    if "\0" in text or any("\0" in word for word in options):
        raise Error("A CUDA source or an option of its compiler has a zero byte in it, which no compiler takes.")
    words = [word.encode() for word in [*words, *options]]
    program = ctypes.c_void_p()
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p

    def check(result):
        if result:
            raise Error(f"NVRTC: {nvrtc.nvrtcGetErrorString(result).decode()}.")

    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), name.encode(), 0, None, None))
    try:
        result = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
        if result:
            log = text_of(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program).strip()
            why = nvrtc.nvrtcGetErrorString(result).decode()
            raise Error(f"{name} does not compile: {log or why}")
        ptx = text_of(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    # Lines name the text by a path below the folder that this runs in.
    ptx = _ptx.with_plain_names(ptx)
    return re.sub(rf'(?m)^(\s*\.file\s+\d+\s+")[^"]*/{re.escape(name)}"', lambda each: f'{each[1]}{name}"', ptx)
