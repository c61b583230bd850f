"""Step 5: two stages. While one pair of tiles is multiplied, the next is on its way."""

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.lang.pipeline import PipelineState
from tvm.tirx.layout import S, TCol, TileLayout, TLane, tid_in_wg

TASK = """
Two stages: tiles, `full` and `empty` for each. While one stage is multiplied, the other is loaded.

- Of each stage `full` and `empty` are set up for one arrival, and `done` too; the fence shows them to TMA.
- load(at, filled) waits until the stage is empty, says how many bytes come and has them copied to
  As[filled.stage, :, :] and Bs[...].
- The first AHEAD steps are loaded at once. Then in each step: wait for `full`, multiply, commit to the
  stage's `empty`, and load what comes DEPTH steps later. Behind the last step a commit to `done`, which all
  wait for.
- PipelineState(DEPTH, phase) has stage and phase; advance() goes to the next stage and turns the phase
  where it begins anew.
"""
HINTS = [
    "Nobody has emptied a fresh stage: which parity lets the first wait pass?",
    "The loader begins with PipelineState(DEPTH, 1), the multiplier with PipelineState(DEPTH, 0).",
    "A commit tells of all products that this thread has issued before it: the one to `done` stands "
    "behind the loop.",
]
SHAPES = [(128, 128, 64), (128, 256, 128), (256, 128, 448)]


def hgemm_v5(M, N, K):
    BLK_M, BLK_N, BLK_K = 128, 128, 64
    K_TILES = K // BLK_K
    DEPTH = 2
    AHEAD = min(DEPTH, K_TILES)
    BYTES = (BLK_M + BLK_N) * BLK_K * 2

    @T.prim_func
    def hgemm(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float16")):
        T.device_entry()
        bx, by = T.cta_id([M // BLK_M, N // BLK_N])
        T.warpgroup_id([1])
        warp = T.warp_id([4])
        thread = T.thread_id([128])

        pool = T.SMEMPool()
        tmem_at = pool.alloc((1,), "uint32")
        full = pool.alloc((DEPTH,), "uint64", align=8)
        empty = pool.alloc((DEPTH,), "uint64", align=8)
        done = pool.alloc((1,), "uint64", align=8)
        pool.move_base_to(1024)
        As = pool.alloc_tcgen05_mma_AB((DEPTH, BLK_M, BLK_K), "float16")
        Bs = pool.alloc_tcgen05_mma_AB((DEPTH, BLK_N, BLK_K), "float16")
        Ds = pool.alloc_tcgen05_mma_AB((BLK_M, BLK_N), "float16")
        pool.commit()

        # [exercise
        if thread == 0:
            for i in T.unroll(DEPTH):
                T.ptx.mbarrier.init.shared.b64(full.ptr_to([i]), T.uint32(1))
                T.ptx.mbarrier.init.shared.b64(empty.ptr_to([i]), T.uint32(1))
            T.ptx.mbarrier.init.shared.b64(done.ptr_to([0]), T.uint32(1))
            T.ptx.fence.mbarrier_init.release.cluster()
        # exercise]

        if warp == 0:
            T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(T.address_of(tmem_at), T.uint32(512))
        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence__after_thread_sync()
        tmem = T.decl_buffer((128, 512), "float32", scope="tmem", allocated_addr=0,
                             layout=TileLayout(S[(128, 512) : (1 @ TLane, 1 @ TCol)]))
        row = T.meta_var(bx * BLK_M)
        column = T.meta_var(by * BLK_N)

        # [exercise
        @T.inline
        def load(at, filled):
            T.cuda.mbarrier_wait(empty.ptr_to([filled.stage]), filled.phase)
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(full.ptr_to([filled.stage]), T.uint32(BYTES))
            Tx.copy_async(As[filled.stage, :, :], A[row : row + BLK_M, at : at + BLK_K], dispatch="tma_auto",
                          mbar=full.ptr_to([filled.stage]))
            Tx.copy_async(Bs[filled.stage, :, :], B[column : column + BLK_N, at : at + BLK_K], dispatch="tma_auto",
                          mbar=full.ptr_to([filled.stage]))
            filled.advance()

        if thread == 0:
            # A fresh stage is empty: waiting for phase 1 passes. Each stage has its own phase.
            filled = PipelineState(DEPTH, 1)
            used = PipelineState(DEPTH, 0)
            for k in range(AHEAD):
                load(k * BLK_K, filled)
            for k in range(K_TILES):
                T.cuda.mbarrier_wait(full.ptr_to([used.stage]), used.phase)
                Tx.gemm_async(tmem[:, 0:BLK_N], As[used.stage, :, :], Bs[used.stage, :, :], accum=k != 0,
                              dispatch="tcgen05", cta_group=1)
                T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(empty.ptr_to([used.stage]))
                used.advance()
                if k + DEPTH < K_TILES:
                    load((k + DEPTH) * BLK_K, filled)
            T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(done.ptr_to([0]))
        T.cuda.mbarrier_wait(done.ptr_to([0]), 0)
        T.ptx.tcgen05.fence__after_thread_sync()
        # exercise]

        # Back: TMEM, registers, shared memory, and from there by TMA, which reads by the async proxy.
        acc = T.alloc_local(BLK_N, dtype="float32")
        out = T.alloc_local(BLK_N, dtype="float16")
        rows = acc.view(BLK_M, BLK_N, layout=TileLayout(S[(BLK_M, BLK_N) : (1 @ tid_in_wg, 1)]))
        Tx.wg.copy_async(rows[:, :], tmem[:, 0:BLK_N])
        T.ptx.tcgen05.wait__ld.sync.aligned()
        Tx.cast(out[:], acc[:])
        Tx.copy(Ds[thread, :], out[:])
        T.ptx.fence.proxy.async_.shared__cta()
        T.cuda.cta_sync()
        if thread == 0:
            Tx.copy_async(D[row : row + BLK_M, column : column + BLK_N], Ds[:, :], dispatch="tma_auto")
            T.ptx.cp.async_.bulk.commit_group()
            T.ptx.cp.async_.bulk.wait_group.read(0)

        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
            T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(tmem_at[0], T.uint32(512))

    return hgemm
