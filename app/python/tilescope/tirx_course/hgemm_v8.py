"""Step 8: four stages. More of what comes is on its way while a pair of tiles is multiplied."""

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.lang.pipeline import MBarrier, PipelineState, TCGen05Bar, TMABar
from tvm.tirx.lang.tile_scheduler import ClusterPersistentScheduler2D
from tvm.tirx.layout import S, TCol, TileLayout, TLane, tid_in_wg

TASK = """
The same with four stages: DEPTH = 4 for the barriers, As and Bs and both states. Take your step 7.
"""
HINTS = [
    "Nothing but DEPTH changes. How much shared memory do four stages need?",
]
SHAPES = [(128, 128, 64), (256, 256, 576)]
SM_COUNT = 2  # CTAs that stay


def hgemm_v8(M, N, K):
    BLK_M, BLK_N, BLK_K = 128, 128, 64
    K_TILES = K // BLK_K
    DEPTH = 4
    EPI_N = 64
    BYTES = (BLK_M + BLK_N) * BLK_K * 2

    @T.prim_func
    def hgemm(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float16")):
        T.device_entry()
        cta = T.cta_id([SM_COUNT])
        group = T.warpgroup_id([2])
        warp = T.warp_id_in_wg([4])
        lane = T.lane_id([32])
        thread = T.thread_id_in_wg([128])

        pool = T.SMEMPool()
        tmem_at = pool.alloc((1,), "uint32")
        tma2mma = TMABar(pool, DEPTH)
        mma2tma = TCGen05Bar(pool, DEPTH)
        mma2ld = TCGen05Bar(pool, 1)
        ld2mma = MBarrier(pool, 1)
        pool.move_base_to(1024)
        As = pool.alloc_tcgen05_mma_AB((DEPTH, BLK_M, BLK_K), "float16")
        Bs = pool.alloc_tcgen05_mma_AB((DEPTH, BLK_N, BLK_K), "float16")
        Ds = pool.alloc_tcgen05_mma_AB((BLK_M, EPI_N), "float16")
        pool.commit()

        # [exercise
        tma2mma.init(1)
        mma2tma.init(1)
        mma2ld.init(1)
        ld2mma.init(128)
        T.ptx.fence.mbarrier_init.release.cluster()
        # exercise]

        if (group == 0) & (warp == 0):
            T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(T.address_of(tmem_at), T.uint32(512))
        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence__after_thread_sync()
        tmem = T.decl_buffer((128, 512), "float32", scope="tmem", allocated_addr=0,
                             layout=TileLayout(S[(128, 512) : (1 @ TLane, 1 @ TCol)]))
        tiles = ClusterPersistentScheduler2D("tiles", num_m_tiles=M // BLK_M, num_n_tiles=N // BLK_N,
                                             num_clusters=SM_COUNT, l2_group_size=8)
        tiles.init(cta)
        row = T.meta_var(tiles.m_idx * BLK_M)
        column = T.meta_var(tiles.n_idx * BLK_N)

        # [exercise
        if group == 1:
            if warp == 3:
                if lane == 0:
                    # A fresh stage is empty: waiting for phase 1 passes.
                    loaded = PipelineState(DEPTH, 1)
                    while tiles.valid():
                        for k in range(K_TILES):
                            at = T.meta_var(k * BLK_K)
                            mma2tma.wait(loaded.stage, loaded.phase)
                            tma2mma.arrive(loaded.stage, BYTES)
                            Tx.copy_async(As[loaded.stage, :, :], A[row : row + BLK_M, at : at + BLK_K],
                                          dispatch="tma_auto", mbar=tma2mma.ptr_to([loaded.stage]))
                            Tx.copy_async(Bs[loaded.stage, :, :], B[column : column + BLK_N, at : at + BLK_K],
                                          dispatch="tma_auto", mbar=tma2mma.ptr_to([loaded.stage]))
                            loaded.advance()
                        tiles.next_tile()
            elif warp == 0:
                if lane == 0:
                    used = PipelineState(DEPTH, 0)
                    given = PipelineState(1, 1)
                    while tiles.valid():
                        ld2mma.wait(0, given.phase)
                        T.ptx.tcgen05.fence__after_thread_sync()
                        for k in range(K_TILES):
                            tma2mma.wait(used.stage, used.phase)
                            Tx.gemm_async(tmem[:, 0:BLK_N], As[used.stage, :, :], Bs[used.stage, :, :], accum=k != 0,
                                          dispatch="tcgen05", cta_group=1)
                            mma2tma.arrive(used.stage)
                            used.advance()
                        mma2ld.arrive(0)
                        given.advance()
                        tiles.next_tile()
        else:
            acc = T.alloc_local(EPI_N, dtype="float32")
            out = T.alloc_local(EPI_N, dtype="float16")
            rows = acc.view(BLK_M, EPI_N, layout=TileLayout(S[(BLK_M, EPI_N) : (1 @ tid_in_wg, 1)]))
            taken = PipelineState(1, 0)
            while tiles.valid():
                mma2ld.wait(0, taken.phase)
                T.ptx.tcgen05.fence__after_thread_sync()
                for part in T.unroll(BLK_N // EPI_N):
                    Tx.wg.copy_async(rows[:, :], tmem[:, part * EPI_N : (part + 1) * EPI_N])
                    T.ptx.tcgen05.wait__ld.sync.aligned()
                    if part == BLK_N // EPI_N - 1:
                        # The accumulator has been read: the next tile may be multiplied.
                        T.ptx.tcgen05.fence__before_thread_sync()
                        ld2mma.arrive(0)
                    Tx.cast(out[:], acc[:])
                    Tx.copy(Ds[thread, :], out[:])
                    T.ptx.fence.proxy.async_.shared__cta()
                    T.cuda.warpgroup_sync(1)
                    if thread == 0:
                        Tx.copy_async(D[row : row + BLK_M, column + part * EPI_N : column + (part + 1) * EPI_N],
                                      Ds[:, :], dispatch="tma_auto")
                        T.ptx.cp.async_.bulk.commit_group()
                        T.ptx.cp.async_.bulk.wait_group.read(0)
                    T.cuda.warpgroup_sync(1)
                taken.advance()
                tiles.next_tile()
        # exercise]

        T.cuda.cta_sync()
        if (group == 0) & (warp == 0):
            T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
            T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(tmem_at[0], T.uint32(512))

    return hgemm
