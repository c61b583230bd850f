"""Builds the recorder that stands in for CUDA's runtime: folder/libcudart.so.13, also under the
driver's name. What the real library has and the recorder has not becomes a stub that answers
cudaErrorNotSupported and is named once on stderr."""

import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent / "recorder"
ROOT = HERE.parents[2]


def symbols(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                            capture_output=True, text=True).stdout
    return {line.split()[2].split("@")[0] for line in listed.splitlines() if " T " in line}


def build_runtime(folder, toolkit):
    folder.mkdir(parents=True, exist_ok=True)
    library = folder / "libcudart.so.13"
    sources = [HERE / "runtime.cpp", ROOT / "core/run/tensor_map.cpp",
               ROOT / "core/sim/async/map_bits.cpp"]
    watched = sources + [HERE / "arena.h", pathlib.Path(__file__)]
    if library.exists() and all(library.stat().st_mtime > s.stat().st_mtime for s in watched):
        return folder
    own = set(re.findall(r"^\w[\w \*]*?(\w+)\(", (HERE / "runtime.cpp").read_text(), re.M))
    wanted = symbols(toolkit / "lib64/libcudart.so.13")
    stubs = folder / "stubs.c"
    stubs.write_text("int recorder_missing(const char*);\n" + "".join(
        f'int {name}() {{ return recorder_missing("{name}"); }}\n'
        for name in sorted(wanted - own) if re.fullmatch(r"_?_?cuda\w+", name)))
    versions = folder / "versions.map"
    versions.write_text("libcudart.so.13 { global: __cuda*; cuda*; cu*; recorder_*; local: *; };\n")
    subprocess.run(["gcc", "-c", "-fPIC", "-w", "-fno-builtin", stubs, "-o", folder / "stubs.o"],
                   check=True)
    subprocess.run(["g++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-fPIC", "-shared",
                    "-DFMT_HEADER_ONLY", f"-I{ROOT}", f"-I{toolkit / 'include'}", *sources,
                    folder / "stubs.o", f"-Wl,--version-script={versions}",
                    "-Wl,-soname,libcudart.so.13", "-o", library], check=True)
    driver = folder / "libcuda.so.1"
    driver.unlink(missing_ok=True)
    driver.symlink_to(library.name)
    return folder
