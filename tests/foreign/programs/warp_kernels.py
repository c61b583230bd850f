"""Kernels in NVIDIA Warp's own manner, written for this suite: `python warp_kernels.py NAME SM` writes the
PTX of one and prints, as JSON, where it is, its entry, and its bytes of dynamic shared memory."""

import json
import pathlib
import sys

import warp as wp

wp.config.quiet = True
NAME, SM = sys.argv[1], int(sys.argv[2])

if NAME == "saxpy":
    @wp.kernel
    def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = a * x[i] + wp.sin(y[i])

elif NAME == "atomic_sum":
    @wp.kernel
    def atomic_sum(x: wp.array(dtype=float), total: wp.array(dtype=float)):
        wp.atomic_add(total, 0, x[wp.tid()])

elif NAME == "inverse":
    @wp.kernel
    def inverse(m: wp.array(dtype=wp.mat33)):
        i = wp.tid()
        m[i] = wp.inverse(m[i])

elif NAME == "tile_product":
    @wp.kernel
    def tile_product(a: wp.array2d(dtype=wp.float16), b: wp.array2d(dtype=wp.float16), c: wp.array2d(dtype=float)):
        i, j = wp.tid()
        total = wp.tile_zeros(shape=(16, 16), dtype=float)
        for k in range(6):
            left = wp.tile_load(a, shape=(16, 32), offset=(i * 16, k * 32))
            right = wp.tile_load(b, shape=(32, 16), offset=(k * 32, j * 16))
            wp.tile_matmul(left, right, total)
        wp.tile_store(c, total, offset=(i * 16, j * 16))

elif NAME == "tile_sum":
    @wp.kernel
    def tile_sum(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
        i = wp.tid()
        row = wp.tile_load(x[i], shape=512)
        wp.tile_store(out, wp.tile_sum(row * row), offset=i)

wp.init()
module = wp.get_module(globals()[NAME].module.name)
module.options["block_dim"] = 64 if NAME.startswith("tile") else 128
module.options["enable_backward"] = False
folder = pathlib.Path("ptx").resolve()
wp.compile_aot_module(module, device=None, arch=SM, module_dir=folder, use_ptx=True)
ptx = next(folder.glob("*.ptx"))
about = json.loads(next(folder.glob("*.meta")).read_text())
key = next(key for key in about if NAME in key and "forward" in key)
print(json.dumps({"ptx": str(ptx), "entry": key.removesuffix("_smem_bytes"), "shared": about[key]}))
