"""Step 6: CTAs that stay. Each takes tile after tile, in an order that keeps rows in the L2 cache."""

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.lang.pipeline import PipelineState
from tvm.tirx.lang.tile_scheduler import ClusterPersistentScheduler2D
from tvm.tirx.layout import S, TCol, TileLayout, TLane, tid_in_wg

TASK = """
CTAs that stay: as many as there are SMs, each with tile after tile.

- tiles = ClusterPersistentScheduler2D("tiles", num_m_tiles=, num_n_tiles=, num_clusters=SM_COUNT,
  l2_group_size=8); tiles.init(cta), while tiles.valid(): ..., tiles.next_tile(). The tile is tiles.m_idx,
  tiles.n_idx.
- Barriers are not set up anew: stages and phases go on from tile to tile, so their PipelineState stands
  before the loop, and `done` has one, too.
- Before the next tile's first product all must have read TMEM; before the next tile's D is written to Ds,
  TMA must have read it.
"""
HINTS = [
    "Which phase of `done` is the second tile's?",
    "The registers, acc and out, are allocated once, before the loop.",
    "T.cuda.cta_sync() twice in each tile: behind the reads of TMEM, and behind the wait for the store.",
]
SHAPES = [(128, 128, 64), (384, 256, 192)]
SM_COUNT = 2  # CTAs that stay: 148 on a B200


def hgemm_v6(M, N, K):
    BLK_M, BLK_N, BLK_K = 128, 128, 64
    K_TILES = K // BLK_K
    DEPTH = 2
    AHEAD = min(DEPTH, K_TILES)
    BYTES = (BLK_M + BLK_N) * BLK_K * 2

    @T.prim_func
    def hgemm(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float16")):
        T.device_entry()
        cta = T.cta_id([SM_COUNT])
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

        if thread == 0:
            for i in T.unroll(DEPTH):
                T.ptx.mbarrier.init.shared.b64(full.ptr_to([i]), T.uint32(1))
                T.ptx.mbarrier.init.shared.b64(empty.ptr_to([i]), T.uint32(1))
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
        tiles = ClusterPersistentScheduler2D("tiles", num_m_tiles=M // BLK_M, num_n_tiles=N // BLK_N,
                                             num_clusters=SM_COUNT, l2_group_size=8)
        tiles.init(cta)
        row = T.meta_var(tiles.m_idx * BLK_M)
        column = T.meta_var(tiles.n_idx * BLK_N)
        # Stages and phases go on from tile to tile. A fresh stage is empty: waiting for phase 1 passes.
        filled = PipelineState(DEPTH, 1)
        used = PipelineState(DEPTH, 0)
        whole = PipelineState(1, 0)
        acc = T.alloc_local(BLK_N, dtype="float32")
        out = T.alloc_local(BLK_N, dtype="float16")
        rows = acc.view(BLK_M, BLK_N, layout=TileLayout(S[(BLK_M, BLK_N) : (1 @ tid_in_wg, 1)]))

        @T.inline
        def load(at, filled):
            T.cuda.mbarrier_wait(empty.ptr_to([filled.stage]), filled.phase)
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(full.ptr_to([filled.stage]), T.uint32(BYTES))
            Tx.copy_async(As[filled.stage, :, :], A[row : row + BLK_M, at : at + BLK_K], dispatch="tma_auto",
                          mbar=full.ptr_to([filled.stage]))
            Tx.copy_async(Bs[filled.stage, :, :], B[column : column + BLK_N, at : at + BLK_K], dispatch="tma_auto",
                          mbar=full.ptr_to([filled.stage]))
            filled.advance()

        while tiles.valid():
            if thread == 0:
                for k in range(AHEAD):
                    load(k * BLK_K, filled)
                for k in range(K_TILES):
                    T.cuda.mbarrier_wait(full.ptr_to([used.stage]), used.phase)
                    T.ptx.tcgen05.fence__after_thread_sync()
                    Tx.gemm_async(tmem[:, 0:BLK_N], As[used.stage, :, :], Bs[used.stage, :, :], accum=k != 0,
                                  dispatch="tcgen05", cta_group=1)
                    T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(
                        empty.ptr_to([used.stage]))
                    used.advance()
                    if k + DEPTH < K_TILES:
                        load((k + DEPTH) * BLK_K, filled)
                T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(done.ptr_to([0]))
            T.cuda.mbarrier_wait(done.ptr_to([0]), whole.phase)
            whole.advance()
            T.ptx.tcgen05.fence__after_thread_sync()

            Tx.wg.copy_async(rows[:, :], tmem[:, 0:BLK_N])
            T.ptx.tcgen05.wait__ld.sync.aligned()
            Tx.cast(out[:], acc[:])
            Tx.copy(Ds[thread, :], out[:])
            T.ptx.fence.proxy.async_.shared__cta()
            # All have read TMEM: the next tile's products may be written there.
            T.ptx.tcgen05.fence__before_thread_sync()
            T.cuda.cta_sync()
            T.ptx.tcgen05.fence__after_thread_sync()
            if thread == 0:
                Tx.copy_async(D[row : row + BLK_M, column : column + BLK_N], Ds[:, :], dispatch="tma_auto")
                T.ptx.cp.async_.bulk.commit_group()
                T.ptx.cp.async_.bulk.wait_group.read(0)
            T.cuda.cta_sync()
            tiles.next_tile()
        # exercise]

        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
            T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(tmem_at[0], T.uint32(512))

    return hgemm
