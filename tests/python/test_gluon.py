"""Kernels in Gluon, Triton's lower language, on the simulator: layouts, copies by TMA, wgmma, im2col."""

import numpy as np
import pytest
import tilescope as ts

gluon = pytest.importorskip("triton.experimental.gluon", reason="Triton is not installed: `pip install triton`, and these tests run")
from triton.experimental.gluon import language as gl  # noqa: E402
from triton.experimental.gluon.language.nvidia.hopper import (  # noqa: E402
    fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor, TensorDescriptorIm2Col  # noqa: E402

rng = np.random.default_rng(7)


@pytest.fixture(autouse=True)
def driver():
    yield
    ts.triton.deactivate()


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


@gluon.jit
def copy_kernel(x, out, n, layout: gl.constexpr, BLOCK: gl.constexpr):
    at = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout=layout)
    gl.store(out + at, gl.load(x + at, mask=at < n), mask=at < n)


@pytest.mark.parametrize("chip", ("sm_80", "sm_90a", "sm_100a"))
def test_layouts(chip):
    ts.triton.activate(chip, strict=True)
    x, out = normal(1000), np.zeros(1000, np.float32)
    copy_kernel[(4,)](x, out, 1000, gl.BlockedLayout([2], [32], [4], [0]), BLOCK=256)
    assert (out == x).all()


@gluon.jit
def matmul_kernel(a, b, c, K):
    tile_a = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    tile_b = gl.allocate_shared_memory(b.dtype, b.block_type.shape, b.layout)
    tile_c = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[4, 1], instr_shape=[16, 64, 16])
    acc = gl.zeros((64, 64), gl.float32, layout=layout)
    for i in range(0, K // 64):
        mbarrier.expect(full, a.block_type.nbytes + b.block_type.nbytes)
        tma.async_load(a, [0, i * 64], full, tile_a)
        tma.async_load(b, [i * 64, 0], full, tile_b)
        mbarrier.wait(full, phase=i & 1)
        acc = warpgroup_mma(tile_a, tile_b, acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc,))
    mbarrier.invalidate(full)
    tile_c.store(acc.to(gl.float16))
    fence_async_shared()
    tma.async_store(c, [0, 0], tile_c)
    tma.store_wait(pendings=0)


def test_tma_and_wgmma():
    ts.triton.activate("sm_90a", strict=True)
    a, b, c = normal(64, 128, dtype=np.float16), normal(128, 64, dtype=np.float16), np.zeros((64, 64), np.float16)
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    maps = [TensorDescriptor.from_tensor(x, [64, 64], layout) for x in (a, b, c)]
    matmul_kernel[(1,)](*maps, 128)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-2, atol=1e-2)


@gluon.jit
def im2col_kernel(images, out, layout: gl.constexpr):
    tile = gl.allocate_shared_memory(images.dtype, images.block_type.shape, images.layout)
    full = mbarrier.allocate_mbarrier()
    mbarrier.init(full, count=1)
    mbarrier.expect(full, images.block_type.nbytes)
    tma.async_load_im2col(images, [0, -1, -1, 0], [0, 0], full, tile)
    mbarrier.wait(full, phase=0)
    mbarrier.invalidate(full)
    rows = gl.arange(0, 64, layout=gl.SliceLayout(1, layout))
    columns = gl.arange(0, 32, layout=gl.SliceLayout(0, layout))
    gl.store(out + rows[:, None] * 32 + columns[None, :], tile.load(layout))


def test_im2col():
    """A column of 64 pixels of an image of 8 x 8, from its padded corner on: what lies outside is zero."""
    ts.triton.activate("sm_90a", strict=True)
    images, out = normal(1, 8, 8, 32, dtype=np.float16), np.ones((64, 32), np.float16)
    shared = gl.NVMMASharedLayout.get_default_for([64, 32], gl.float16)
    tensor_map = TensorDescriptorIm2Col(images, list(images.shape), [2048, 256, 32, 1], [64, 32], shared,
                                        pixel_box_lower_corner=[-1, -1], pixel_box_upper_corner=[-1, -1])
    im2col_kernel[(1,)](tensor_map, out, gl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0]))
    padded = np.zeros((9, 9, 32), np.float16)
    padded[1:, 1:] = images[0]
    assert (out == padded[:8, :8].reshape(64, 32)).all()
