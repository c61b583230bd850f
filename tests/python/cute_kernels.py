"""CuTeDSL's kernels that test_cute.py runs: ours, each small, some with a mistake that is said beside its line."""

import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute
import cutlass.utils.hopper_helpers as hopper
from cutlass import utils
from cutlass.cute.nvgpu import cpasync, warp, warpgroup

# Their places since 4.8, and before.
SmemAllocator = getattr(cutlass, "memory", utils).SmemAllocator
LayoutEnum = getattr(cutlass, "tensor_utils", utils).LayoutEnum

# ---- Elements -----------------------------------------------------------------------------------


@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    i = cute.arch.block_idx()[0] * 128 + cute.arch.thread_idx()[0]
    if i < cute.size(c):
        c[i] = a[i] + b[i]


@cute.jit
def add(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    add_kernel(a, b, c).launch(grid=[cute.ceil_div(cute.size(c), 128), 1, 1], block=[128, 1, 1])


@cute.kernel
def add_all_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    i = cute.arch.block_idx()[0] * 128 + cute.arch.thread_idx()[0]
    c[i] = a[i] + b[i]  # without a predicate


@cute.jit
def add_all(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    add_all_kernel(a, b, c).launch(grid=[cute.ceil_div(cute.size(c), 128), 1, 1], block=[128, 1, 1])


@cute.kernel
def scale_kernel(x: cute.Tensor, by: cutlass.Float32, shift: cutlass.Int32, times: cutlass.Constexpr, y):
    i = cute.arch.thread_idx()[0]
    value = x[i] * by * times + shift
    if cutlass.const_expr(y is not None):
        value += y[i]
    x[i] = value


@cute.jit
def scale(
    x: cute.Tensor, by: cutlass.Float32, shift: cutlass.Int32, times: cutlass.Constexpr, y, stream: cuda.CUstream
):
    scale_kernel(x, by, shift, times, y).launch(grid=[1, 1, 1], block=[32, 1, 1], stream=stream)


@cute.jit
def scale_twice(pair, by: cutlass.Float32):
    for x in pair:
        scale_kernel(x, by, cutlass.Int32(0), 1, None).launch(grid=[1, 1, 1], block=[32, 1, 1])


@cute.kernel
def fill_kernel(x: cute.Pointer, n: cutlass.Int32):
    i = cute.arch.thread_idx()[0]
    if i < n:
        cute.make_tensor(x, cute.make_layout(n))[i] = i


@cute.jit
def fill(x: cute.Pointer, n: cutlass.Int32):
    fill_kernel(x, n).launch(grid=[1, 1, 1], block=[64, 1, 1])


# ---- Tiles through shared memory ----------------------------------------------------------------

TILE = 32


@cute.kernel
def transpose_kernel(a: cute.Tensor, b: cute.Tensor, load: cute.TiledCopy, waits: cutlass.Constexpr):
    thread = cute.arch.thread_idx()[0]
    row, column, _ = cute.arch.block_idx()
    layout = cute.make_layout((TILE, TILE), stride=(TILE + 1, 1))
    shared = SmemAllocator().allocate_tensor(a.element_type, layout, 16)
    own = load.get_slice(thread)
    cute.copy(load, own.partition_S(cute.local_tile(a, (TILE, TILE), (row, column))), own.partition_D(shared))
    cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)
    if cutlass.const_expr(waits):
        cute.arch.sync_threads()
    turned = cute.make_tensor(shared.iterator, cute.make_layout((TILE, TILE), stride=(1, TILE + 1)))
    source, target = own.partition_S(turned), own.partition_D(cute.local_tile(b, (TILE, TILE), (column, row)))
    held = cute.make_rmem_tensor(source.shape, a.element_type)
    cute.autovec_copy(source, held)  # without the barrier, a race
    cute.autovec_copy(held, target)


@cute.jit
def transpose(a: cute.Tensor, b: cute.Tensor, waits: cutlass.Constexpr = True):
    atom = cute.make_copy_atom(cpasync.CopyG2SOp(), a.element_type, num_bits_per_copy=a.element_type.width)
    load = cute.make_tiled_copy_tv(atom, cute.make_layout((4, TILE), stride=(TILE, 1)), cute.make_layout((1, 1)))
    grid = [cute.size(a, mode=[0]) // TILE, cute.size(a, mode=[1]) // TILE, 1]
    transpose_kernel(a, b, load, waits).launch(grid=grid, block=[4 * TILE, 1, 1])


# ---- A product ----------------------------------------------------------------------------------


@cute.kernel
def product_kernel(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, mma: cute.TiledMma):
    row, column, _ = cute.arch.block_idx()
    own = mma.get_slice(cute.arch.thread_idx()[0])
    tile_c = own.partition_C(cute.local_tile(c, (32, 32), (row, column)))
    sums = mma.make_fragment_C(tile_c)
    sums.fill(0.0)
    for k in range(cute.size(a, mode=[1]) // 16):
        tile_a = own.partition_A(cute.local_tile(a, (32, 16), (row, k)))
        tile_b = own.partition_B(cute.local_tile(b, (32, 16), (column, k)))
        held_a, held_b = mma.make_fragment_A(tile_a), mma.make_fragment_B(tile_b)
        cute.autovec_copy(tile_a, held_a)
        cute.autovec_copy(tile_b, held_b)
        cute.gemm(mma, sums, held_a, held_b, sums)
    cute.autovec_copy(sums, tile_c)


@cute.jit
def product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    op = warp.MmaF16BF16Op(a.element_type, cutlass.Float32, (16, 8, 16))
    mma = cute.make_tiled_mma(op, cute.make_layout((2, 2, 1)), permutation_mnk=(32, 32, 16))
    grid = [cute.size(c, mode=[0]) // 32, cute.size(c, mode=[1]) // 32, 1]
    product_kernel(a, b, c, mma).launch(grid=grid, block=[cute.size(mma), 1, 1])


# ---- Copies by tensor map -----------------------------------------------------------------------

ROWS, COLUMNS = 64, 32


@cute.kernel
def move_kernel(
    load: cute.CopyAtom,
    a: cute.Tensor,
    store: cute.CopyAtom,
    b: cute.Tensor,
    layout: cute.Layout,
    waits: cutlass.Constexpr,
):
    row, column, _ = cute.arch.block_idx()
    warp_index = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    allocator = SmemAllocator()
    arrived = allocator.allocate_array(cutlass.Int64, 1)
    shared = allocator.allocate_tensor(cutlass.Float32, layout, 128)
    tile_a = cute.group_modes(cute.local_tile(a, (ROWS, COLUMNS), (row, column)), 0, 2)
    tile_b = cute.group_modes(cute.local_tile(b, (ROWS, COLUMNS), (row, column)), 0, 2)
    to, source = cpasync.tma_partition(load, 0, cute.make_layout(1), cute.group_modes(shared, 0, 2), tile_a)
    held, target = cpasync.tma_partition(store, 0, cute.make_layout(1), cute.group_modes(shared, 0, 2), tile_b)
    if warp_index == 0:
        with cute.arch.elect_one():
            cute.arch.mbarrier_init(arrived, 1)
        cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    if warp_index == 0:
        with cute.arch.elect_one():
            cute.arch.mbarrier_arrive_and_expect_tx(arrived, cute.size_in_bytes(cutlass.Float32, layout))
        cute.copy(load, source, to, tma_bar_ptr=arrived)
    if cutlass.const_expr(waits):
        cute.arch.mbarrier_wait(arrived, 0)
    for i in range(cute.arch.thread_idx()[0], ROWS * COLUMNS, 64):
        at = i // COLUMNS, i % COLUMNS
        shared[at] = shared[at] + 1  # before it is there, if nothing waits
    cute.arch.fence_proxy("async.shared", space="cta")
    cute.arch.sync_threads()
    if warp_index == 0:
        cute.copy(store, held, target)
        cute.arch.cp_async_bulk_commit_group()
        cute.arch.cp_async_bulk_wait_group(0, read=True)


@cute.jit
def move(a: cute.Tensor, b: cute.Tensor, waits: cutlass.Constexpr = True):
    layout = cute.make_layout((ROWS, COLUMNS), stride=(COLUMNS, 1))
    load, map_a = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), a, layout, (ROWS, COLUMNS))
    store, map_b = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileS2GOp(), b, layout, (ROWS, COLUMNS))
    grid = [cute.ceil_div(cute.size(a, mode=[0]), ROWS), cute.ceil_div(cute.size(a, mode=[1]), COLUMNS), 1]
    move_kernel(load, map_a, store, map_b, layout, waits).launch(grid=grid, block=[64, 1, 1])


# ---- A product of Hopper's tensor cores ---------------------------------------------------------


@cute.kernel
def wide_product_kernel(
    a: cute.Tensor,
    b: cute.Tensor,
    c: cute.Tensor,
    mma: cute.TiledMma,
    layout_a: cute.ComposedLayout,
    layout_b: cute.ComposedLayout,
    fences: cutlass.Constexpr,
):
    thread = cute.arch.thread_idx()[0]
    allocator = SmemAllocator()
    shared_a = allocator.allocate_tensor(cutlass.Float16, layout_a.outer, 1024, swizzle=layout_a.inner)
    shared_b = allocator.allocate_tensor(cutlass.Float16, layout_b.outer, 1024, swizzle=layout_b.inner)
    for i in range(thread, 64 * 64, 128):
        shared_a[i // 64, i % 64, 0] = a[i // 64, i % 64]
        shared_b[i // 64, i % 64, 0] = b[i // 64, i % 64]
    if cutlass.const_expr(fences):
        cute.arch.fence_proxy("async.shared", space="cta")
    cute.arch.sync_threads()
    group = mma.get_slice(0)
    held_a = mma.make_fragment_A(group.partition_A(shared_a))
    held_b = mma.make_fragment_B(group.partition_B(shared_b))
    tile_c = mma.get_slice(thread).partition_C(cute.local_tile(c, (64, 64), (0, 0)))
    sums = cute.make_rmem_tensor(tile_c.shape, cutlass.Float32)
    mma.set(warpgroup.Field.ACCUMULATE, False)
    warpgroup.fence()
    for k in cutlass.range_constexpr(cute.size(held_a, mode=[2])):
        at = None, None, k, 0
        cute.gemm(mma, sums, held_a[at], held_b[at], sums)  # past the generic stores, if no fence is there
        mma.set(warpgroup.Field.ACCUMULATE, True)
    warpgroup.commit_group()
    warpgroup.wait_group(0)
    cute.autovec_copy(sums, tile_c)


@cute.jit
def wide_product(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor, fences: cutlass.Constexpr = True):
    row, half = LayoutEnum.ROW_MAJOR, cutlass.Float16
    major = row.sm90_mma_major_mode()
    mma = hopper.make_trivial_tiled_mma(half, half, major, major, cutlass.Float32, (1, 1, 1), (64, 64))
    layout_a = hopper.make_smem_layout_a(row, (64, 64, 64), half, 1)
    layout_b = hopper.make_smem_layout_b(row, (64, 64, 64), half, 1)
    wide_product_kernel(a, b, c, mma, layout_a, layout_b, fences).launch(grid=[1, 1, 1], block=[128, 1, 1])
