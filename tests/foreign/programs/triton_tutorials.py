"""Triton's and Gluon's tutorials and Gluon's examples, by their own functions and checks, with sizes that a
simulator has through soon: python triton_tutorials.py SOURCES NAME.

What a tutorial does at its end, to measure, is left out; where it compares at its top it does so here, with the
sizes of SMALLER. Of a NAME as "gluon/05-wgmma blocked_matmul" the first word is the file.
"""

import importlib.util
import linecache
import pathlib
import re
import sys
import types

import torch
import triton

F16, BF16, F32 = torch.float16, torch.bfloat16, torch.float32
MEASURES = re.compile(r"^(benchmark\w*\.run|benchmark_\w+|bench\w*\.run|test_layer_norm)\(.*\)$", re.M)
SMALLER = {  # and the CPU, which stands in for the device, has no index
    "01-vector-add": {"98432": "3000"},
    "02-fused-softmax": {"torch.randn(1823, 781": "torch.randn(37, 781", "DEVICE.index": "0"},
    "03-matrix-multiplication": {"(512, 512)": "(192, 192)"},
    "07-extern-functions": {"98432": "3000"},
    "08-grouped-gemm": {"[1024, 512, 256, 128]": "[256, 128, 384, 128]"},
}


def load(folder: pathlib.Path, name: str):
    """A tutorial as a module; its lines keep their numbers, as Triton looks for them in the file."""
    path = folder / f"{name}.py"
    text = MEASURES.sub("pass", path.read_text())
    for before, after in SMALLER.get(name, {}).items():
        if before not in text:
            raise SystemExit(f"{name} has no {before!r}")
        text = text.replace(before, after)
    module = types.ModuleType(re.sub(r"\W", "_", name))
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(path.parent))
    linecache.checkcache(str(path))
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def close(actual, expected, **limits):
    torch.testing.assert_close(actual, expected, **limits)


def half(*shape):
    return torch.randn(shape, dtype=F16)


def vector_add(m):
    x, y = torch.rand(3000), torch.rand(3000)
    close(m.add(x, y), x + y)


def matmul(m):
    a, b = half(192, 160), half(160, 320)
    close(m.matmul(a, b), a @ b, atol=1e-1, rtol=1e-2)


def dropout(m):
    x = torch.randn(3000)
    one, two = m.seeded_dropout(x, 0.5, 123), m.seeded_dropout(x, 0.5, 123)
    close(one, two)
    kept = one != 0
    close(one[kept], 2 * x[kept])
    assert 0.4 < kept.float().mean() < 0.6


def asin(m):
    close(m.output_triton, torch.asin(m.x))


def persistent(name, *more):
    def run(m):
        a, b = half(200, 192), half(192, 160)
        by = b.T.contiguous() if name.startswith(("matmul_tma", "matmul_descriptor")) else b
        close(getattr(m, name)(a, by, *more), a @ b, atol=1e-1, rtol=1e-2)
    return run


def multicta(m):
    a, b = half(256, 192), half(192, 512)
    close(m.matmul_multicta(a, b), a @ b, atol=1e-1, rtol=1e-2)


def cancelled(m):  # the tutorial's test allows 1e-5, which another order of the sums does not keep
    a, b, c = half(400, 200), half(200, 400), torch.empty((400, 400), dtype=F16)
    m.run_matmul_kernel(a, b, c, use_clc=True)
    close(c, a @ b, atol=1e-2, rtol=1e-2)


def scaled(kind):
    def run(m):
        m.cublas = None
        m.validate_block_scaled(256, 256, 512, kind)
    return run


def dependent(launch_pdl):
    def run(m):
        x, y = torch.rand(3000), torch.rand(3000)
        close(m.add(x, y, launch_pdl), x + y)
    return run


def test(name, *arguments):
    """The file's own test, of pytest, with these arguments; one that begins with "@" is a name in the file."""
    def run(m):
        getattr(m, name)(*[eval(a[1:], m.__dict__) if isinstance(a, str) and a.startswith("@") else a for a in arguments])
    return run


def gather(m):
    x = torch.randn((64, 128), dtype=BF16)
    rows = torch.tensor([3, 60, 7, 7, 63, 0, 100, 12], dtype=torch.int32)
    close(m.async_gather(x, rows, 16, 8, 32), torch.where((rows < 64)[:, None], x[rows.clamp(max=63), 16:48], 0))


def scatter(m):
    x, rows = torch.randn((8, 32), dtype=BF16), torch.tensor([3, 60, 7, 9, 63, 0, 100, 12], dtype=torch.int32)
    out = torch.zeros((64, 128), dtype=BF16)
    want = out.clone()
    m.async_scatter(out, rows, 16, x, 8, 32)
    want[rows[rows < 64], 16:48] = x[rows < 64]
    close(out, want)


CASES = {
    "01-vector-add": vector_add, "02-fused-softmax": lambda m: None, "03-matrix-multiplication": matmul,
    "04-low-memory-dropout": dropout,
    "05-layer-norm": test("test_layer_norm", 19, 1000, F16),
    "06-fused-attention backward": test("test_op", 1, 2, 256, 64, False, False, "bwd", "triton-fp16"),
    "06-fused-attention causal backward": test("test_op", 1, 2, 256, 64, True, False, "bwd", "triton-fp16"),
    "06-fused-attention fp8": test("test_op", 1, 2, 256, 128, True, False, "fwd", "triton-fp8"),
    "06-fused-attention specialized": test("test_op", 1, 2, 256, 64, True, True, "bwd", "triton-fp16"),
    "07-extern-functions": asin, "08-grouped-gemm": lambda m: None,
    "09-persistent-matmul naive": persistent("matmul"), "09-persistent-matmul persistent": persistent("matmul_persistent"),
    "09-persistent-matmul tma": persistent("matmul_tma", False),
    "09-persistent-matmul tma specialized": persistent("matmul_tma", True),
    "09-persistent-matmul tma_persistent": persistent("matmul_tma_persistent", False),
    "09-persistent-matmul tma_persistent specialized": persistent("matmul_tma_persistent", True),
    "09-persistent-matmul descriptor": persistent("matmul_descriptor_persistent", False),
    "09-persistent-matmul descriptor specialized": persistent("matmul_descriptor_persistent", True),
    **{f"10-block-scaled-matmul {kind}": scaled(kind) for kind in ("nvfp4", "mxfp8")},
    "11-programmatic-dependent-launch": dependent(True),
    "gluon/01-intro": test("test_memcpy", 64, 500),
    "gluon/02-layouts 1d": test("test_memcpy_1d", 128, 1000, 4),
    "gluon/02-layouts 2d": test("test_memcpy_2d", 128, 256, 100, 300, True, 4),
    "gluon/02-layouts inout": test("test_memcpy_2d_inout", 150, 200, True, False),
    "gluon/03-async-copy 1d": test("test_memcpy_1d_cpasync", 1000, 256),
    "gluon/03-async-copy add": test("test_elementwise_add_cpasync", 100, 200, 32, 32),
    "gluon/03-async-copy pipelined": test("test_elementwise_add_pipelined", 100, 300, 32, 64, 2),
    "gluon/04-tma 1d": test("test_memcpy_1d_tma", 64, 500),
    "gluon/04-tma pipelined": test("test_elementwise_add_pipelined", 100, 304, 32, 64, 2),
    "gluon/05-wgmma small": test("test_small_mma", 64, 32, 32, True, 16, 4),
    "gluon/05-wgmma blocked": test("test_blocked_matmul", 208, 416, 304, 64, 64, 64, False, 4),
    "gluon/05-wgmma pipelined": test("test_blocked_matmul_pipelined", 208, 416, 304, 64, 64, 64, 4),
    "gluon/06-tcgen05 tmem": test("test_tmem_example_kernel", 128, 64, 4),
    "gluon/06-tcgen05 blocked": test("test_blocked_matmul", 208, 416, 304, 64, 64, 64, False, 4),
    "gluon/06-tcgen05 pipelined": test("test_blocked_matmul_pipelined", 208, 416, 304, 64, 64, 64, 4),
    "gluon/07-persistence pipelined": test("test_pipelined_matmul", 200, 320, 200, 128, 256, 64, 3, 8),
    "gluon/07-persistence persistent": test("test_persistent_matmul", 200, 320, 200, 128, 256, 64, 3, 8,
                                            "@PersistentTileScheduler"),
    "gluon/07-persistence persistent_pipelined": test("test_persistent_matmul_pipelined", 208, 416, 304, 64, 64, 64, 3, 4,
                                                      "@PersistentTileScheduler"),
    "gluon/08-warp-specialization add": test("test_elementwise_add_warp_specialized", 100, 304, 32, 64, 2, 2, 4),
    "gluon/08-warp-specialization matmul": test("test_matmul_warp_specialized", 208, 416, 304, 128, 256, 64, 3, 4, 4,
                                                "@t7.PersistentTileScheduler"),
    "gluon/09-tma-gather-scatter gather": gather, "gluon/09-tma-gather-scatter scatter": scatter,
    "gluon/09-tma-gather-scatter fused": test("test_matmul_fused_gather_scatter", 256, 128, 256, 128, 64, 64, 3),
    "gluon/10-tcgen05-copy copy": test("test_tcgen05_copy_nvmma_shared", 128, 64, 32, F32, 128),
    "gluon/10-tcgen05-copy accumulate": test("test_matmul_accumulate", 256, 128, 256, 128, 64, 64, 3, F16),
    "gluon/11-tcgen05-mma-scaled simple": test("test_simple_mma_scaled", 128, 128, 512, "mxfp8", "mxfp4", 128, 128),
    "gluon/11-tcgen05-mma-scaled contig": test("test_mma_scaled_contig", 128, 128, 512, "mxfp4", "mxfp4", 128, 128),
    "gluon/11-tcgen05-mma-scaled packed": test("test_mma_scaled_packed_block", 128, 128, 512, "nvfp4", "nvfp4", 128, 256),
    "gluon/11-tcgen05-mma-scaled copy": test("test_mma_scaled_tcgen05_copy", 128, 128, 512, "mxfp8", "mxfp8", 128, 128),
    "gluon/11-tcgen05-mma-scaled pipelined": test("test_mma_scaled_pipelined", 200, 304, 640, "mxfp8", "mxfp8",
                                                  "@mma_scaled_pipelined_kernel"),
    "gluon/11-tcgen05-mma-scaled specialized": test("test_mma_scaled_pipelined", 200, 304, 640, "nvfp4", "nvfp4",
                                                    "@mma_scaled_warp_specialized_kernel"),
    "gluon/12-cluster-launch-control": cancelled,
    "gluon/13-conv-im2col simple": test("test_tma_im2col_simple"),
    "gluon/13-conv-im2col padded": test("test_tma_im2col_padded"),
    "gluon/13-conv-im2col offset": test("test_tma_im2col_offset"),
    "gluon/13-conv-im2col batch": test("test_tma_im2col_multi_batch_padded"),
    "gluon/13-conv-im2col convolution": test("test_conv2d_tma_im2col", 1, 16, 16, 64, 64, 3, 3, 1, 1),
    "gluon/14-multicta softmax": test("test_multicta_softmax_f32", 3, 2**14),
    "gluon/14-multicta two_cta": test("test_two_cta_tcgen05"),
    "gluon/14-multicta multicast": test("test_tma_multicast_copy"),
    "gluon/14-multicta tma_tcgen05": test("test_tma_tcgen05"),
    "gluon/14-multicta matmul": multicta,
    "examples/02-conv-fprop": test("test_op", "@conv2d_fprop_fixed", 1, 96, 1, 8, 128, 1, 2, (1, 2), 0),
    "examples/02-conv-dgrad": test("test_op", "@conv2d_dgrad_fixed", 16, 96, 1, 8, 128, 1, 2, (1, 2), (0, 0)),
    "examples/02-conv-wgrad": test("test_op", "@conv2d_wgrad_fixed", 16, 96, 1, 8, 128, 1, 2, (1, 2), 0),
    "examples/03-matmul-multicta one": test("test_matmul_matches_torch", 100, 200, 200, 128, 128, 64, 0, 8, (), 2, 2, 32, 4),
    "examples/03-matmul-multicta two": test("test_matmul_matches_torch", 100, 200, 200, 128, 256, 64, 0, 8, ((1, 0),), 4, 2,
                                            32, 4),
    "examples/03-matmul-multicta four": test("test_matmul_matches_torch", 100, 200, 200, 64, 128, 64, 1, 8,
                                             ((1, 0), (2, 0)), 2, 2, 32, 4),
    "examples/04-2cta-block-scale-matmul one": test("test_mma_scaled_warp_specialized", 200, 304, 640, "mxfp8", "mxfp8", 1, 128,
                                                    64, 5),
    "examples/04-2cta-block-scale-matmul two": test("test_mma_scaled_warp_specialized", 256, 256, 640, "nvfp4", "nvfp4", 2, 256,
                                                    64, 5),
}


def old_names() -> None:
    """What the tutorials call by names that Triton 3.9 has no more."""
    from triton.experimental.gluon.language.nvidia import ampere, blackwell, hopper
    names = {"async_copy_shared_to_global": "async_store", "async_copy_global_to_shared": "async_load",
             "async_copy_global_to_shared_im2col": "async_load_im2col"}
    for module in (ampere.async_copy, hopper.tma, blackwell.tma):
        for before, now in names.items():
            if hasattr(module, now):
                setattr(module, before, getattr(module, now))
    # Has to be told now whether two CTAs multiply together: where a layout has several CTAs, they do.
    count = blackwell.tcgen05_mma_barrier_count.fn
    blackwell.tcgen05_mma_barrier_count.fn = lambda smems, multicast, two_ctas=None: count(
        smems, multicast, bool(smems[0].layout.cga_layout) if two_ctas is None else two_ctas)


def main() -> None:
    sources, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    python = sources / "triton/python"
    file = name.split()[0]
    folder = python / "examples/gluon" if file.startswith("examples/") else python / "tutorials"
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = lambda *a, **k: 1.0
    libraries = types.SimpleNamespace(CublasLt=lambda workspace: None)  # cuBLAS, which is measured beside
    try:
        from triton._C.libtriton import nvidia
        nvidia.cublas = libraries
    except (ImportError, AttributeError):
        pass
    old_names()
    m = load(folder, file.removeprefix("examples/"))
    CASES[name](m)
    print("PASS")


if __name__ == "__main__":
    main()
