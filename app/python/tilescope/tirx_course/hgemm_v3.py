"""Step 3: a grid of tiles, one for each CTA."""

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TCol, TileLayout, TLane, tid_in_wg

TASK = """
The grid is (M / 128, N / 128) now: each CTA has a tile of D, from row bx * 128 and column by * 128 on.

- row and column are T.meta_var(bx * BLK_M) and T.meta_var(by * BLK_N): names for expressions, not
  variables.
- The rest is step 2 at these rows of A, rows of B (columns of D) and that tile of D.
"""
HINTS = [
    "D[m, n] takes row m of A and row n of B: which of bx and by belongs to which operand?",
    "Tx.copy(D[row + thread, column : column + BLK_N], out[:])",
]
SHAPES = [(256, 128, 128), (256, 256, 192)]


def hgemm_v3(M, N, K):
    BLK_M, BLK_N, BLK_K = 128, 128, 64

    @T.prim_func
    def hgemm(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float16")):
        T.device_entry()
        bx, by = T.cta_id([M // BLK_M, N // BLK_N])
        T.warpgroup_id([1])
        warp = T.warp_id([4])
        thread = T.thread_id([128])

        pool = T.SMEMPool()
        tmem_at = pool.alloc((1,), "uint32")
        done = pool.alloc((1,), "uint64", align=8)
        pool.move_base_to(1024)
        As = pool.alloc_tcgen05_mma_AB((BLK_M, BLK_K), "float16")
        Bs = pool.alloc_tcgen05_mma_AB((BLK_N, BLK_K), "float16")
        pool.commit()

        if thread == 0:
            T.ptx.mbarrier.init.shared.b64(done.ptr_to([0]), T.uint32(1))
            T.ptx.fence.mbarrier_init.release.cluster()
        if warp == 0:
            T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(T.address_of(tmem_at), T.uint32(512))
        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence__after_thread_sync()
        tmem = T.decl_buffer((128, 512), "float32", scope="tmem", allocated_addr=0,
                             layout=TileLayout(S[(128, 512) : (1 @ TLane, 1 @ TCol)]))
        # [exercise
        row = T.meta_var(bx * BLK_M)
        column = T.meta_var(by * BLK_N)
        phase: T.int32 = 0

        for k in range(K // BLK_K):
            Tx.cta.copy(As[:, :], A[row : row + BLK_M, k * BLK_K : (k + 1) * BLK_K])
            Tx.cta.copy(Bs[:, :], B[column : column + BLK_N, k * BLK_K : (k + 1) * BLK_K])
            T.ptx.fence.proxy.async_.shared__cta()
            T.cuda.cta_sync()
            if thread == 0:
                Tx.gemm_async(tmem[:, 0:BLK_N], As[:, :], Bs[:, :], accum=k != 0, dispatch="tcgen05", cta_group=1)
                T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(done.ptr_to([0]))
            T.cuda.mbarrier_wait(done.ptr_to([0]), phase)
            phase = phase ^ 1
            T.cuda.cta_sync()
        T.ptx.tcgen05.fence__after_thread_sync()

        acc = T.alloc_local(BLK_N, dtype="float32")
        out = T.alloc_local(BLK_N, dtype="float16")
        rows = acc.view(BLK_M, BLK_N, layout=TileLayout(S[(BLK_M, BLK_N) : (1 @ tid_in_wg, 1)]))
        Tx.wg.copy_async(rows[:, :], tmem[:, 0:BLK_N])
        T.ptx.tcgen05.wait__ld.sync.aligned()
        Tx.cast(out[:], acc[:])
        Tx.copy(D[row + thread, column : column + BLK_N], out[:])
        # exercise]

        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
            T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(tmem_at[0], T.uint32(512))

    return hgemm
