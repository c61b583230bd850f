"""Step 10: two consumers. Two products of 256 x 256 share the tiles of B and all 512 columns of TMEM."""

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.lang.pipeline import MBarrier, PipelineState, TCGen05Bar, TMABar
from tvm.tirx.lang.tile_scheduler import ClusterPersistentScheduler2D
from tvm.tirx.layout import S, TCol, TileLayout, TLane, tid_in_wg

TASK = """
Two consumers: the cluster's tile is 512 x 256, two products of 256 x 256 with the same tiles of B, into all
512 columns of TMEM.

- A stage has two tiles of A, As[stage, c, :, :], from row + c * 256 on: 98304 bytes for both CTAs. It is
  empty when both consumers say so: mma2tma.init(2).
- Warpgroup 2: warp 3 loads; warps 0 and 1 of CTA 0 multiply for consumer 0 and 1, into columns warp * 256
  and on.
- Warpgroups 0 and 1 write back, each its consumer's columns and rows, through its own Ds[group, ...].
  mma2ld and ld2mma have a barrier for each consumer, warpgroup_sync an own number: 1 + group.
"""
HINTS = [
    "The consumer is warp in warpgroup 2, and group in warpgroups 0 and 1.",
    "BYTES is what both CTAs load in a stage: twice (2 * 128 + 128) * 64 halves.",
]
SHAPES = [(512, 256, 64), (1024, 512, 320)]
SM_COUNT = 4  # CTAs that stay: two clusters


def hgemm_v10(M, N, K):
    BLK_M, BLK_N, BLK_K = 128, 128, 64
    K_TILES = K // BLK_K
    DEPTH = 4
    CTA_GROUP = 2
    CONSUMERS = 2
    MMA_M, MMA_N = 256, 256
    EPI_N = 64
    BYTES = CTA_GROUP * (CONSUMERS * BLK_M + BLK_N) * BLK_K * 2

    @T.prim_func
    def hgemm(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float16")):
        T.device_entry()
        cbx = T.cta_id_in_cluster([CTA_GROUP])
        cta = T.cta_id([SM_COUNT])
        group = T.warpgroup_id([3])
        warp = T.warp_id_in_wg([4])
        lane = T.lane_id([32])
        thread = T.thread_id_in_wg([128])

        pool = T.SMEMPool()
        tmem_at = pool.alloc((1,), "uint32")
        tma2mma = TMABar(pool, DEPTH)
        mma2tma = TCGen05Bar(pool, DEPTH)
        mma2ld = TCGen05Bar(pool, CONSUMERS)
        ld2mma = MBarrier(pool, CONSUMERS)
        pool.move_base_to(1024)
        As = pool.alloc_tcgen05_mma_AB((DEPTH, CONSUMERS, BLK_M, BLK_K), "float16")
        Bs = pool.alloc_tcgen05_mma_AB((DEPTH, BLK_N, BLK_K), "float16")
        Ds = pool.alloc_tcgen05_mma_AB((CONSUMERS, BLK_M, EPI_N), "float16")
        pool.commit()

        # [exercise
        tma2mma.init(1)
        mma2tma.init(CONSUMERS)
        mma2ld.init(1)
        ld2mma.init(128 * CTA_GROUP)
        T.ptx.fence.mbarrier_init.release.cluster()
        # exercise]

        T.cuda.cluster_sync()  # a pair allocates together: both CTAs have begun
        if (group == 0) & (warp == 0):
            T.ptx.tcgen05.alloc.cta_group__2.sync.aligned.shared__cta.b32(T.address_of(tmem_at), T.uint32(512))
        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cluster_sync()
        T.ptx.tcgen05.fence__after_thread_sync()
        tmem = T.decl_buffer((128, 512), "float32", scope="tmem", allocated_addr=0,
                             layout=TileLayout(S[(128, 512) : (1 @ TLane, 1 @ TCol)]))
        tiles = ClusterPersistentScheduler2D("tiles", num_m_tiles=M // (CONSUMERS * MMA_M), num_n_tiles=N // MMA_N,
                                             num_clusters=SM_COUNT // CTA_GROUP, l2_group_size=8)
        tiles.init(cta // CTA_GROUP)
        # Barriers of CTA 0, as both CTAs reach them.
        tma2mma_of_0 = tma2mma.remote_view(0)
        ld2mma_of_0 = ld2mma.remote_view(0)
        row = T.meta_var(tiles.m_idx * CONSUMERS * MMA_M + cbx * BLK_M)
        column = T.meta_var(tiles.n_idx * MMA_N)

        # [exercise
        if group == 2:
            if warp == 3:
                if lane == 0:
                    # A fresh stage is empty: waiting for phase 1 passes.
                    loaded = PipelineState(DEPTH, 1)
                    while tiles.valid():
                        for k in range(K_TILES):
                            at = T.meta_var(k * BLK_K)
                            mma2tma.wait(loaded.stage, loaded.phase)
                            if cbx == 0:
                                tma2mma.arrive(loaded.stage, BYTES)
                            for c in T.unroll(CONSUMERS):
                                Tx.copy_async(As[loaded.stage, c, :, :],
                                              A[row + c * MMA_M : row + c * MMA_M + BLK_M, at : at + BLK_K],
                                              dispatch="tma_auto", mbar=tma2mma_of_0.ptr_to([loaded.stage]),
                                              cta_group=CTA_GROUP)
                            Tx.copy_async(Bs[loaded.stage, :, :],
                                          B[column + cbx * BLK_N : column + (cbx + 1) * BLK_N, at : at + BLK_K],
                                          dispatch="tma_auto", mbar=tma2mma_of_0.ptr_to([loaded.stage]),
                                          cta_group=CTA_GROUP)
                            loaded.advance()
                        tiles.next_tile()
            elif (warp < CONSUMERS) & (cbx == 0):
                if lane == 0:
                    used = PipelineState(DEPTH, 0)
                    given = PipelineState(1, 1)
                    while tiles.valid():
                        # CTA 1's threads arrive here, too: both sides have the scope of the cluster, which
                        # MBarrier's own arrive() and wait() have not.
                        T.cuda.mbarrier_wait_acquire_cluster(ld2mma.ptr_to([warp]), given.phase)
                        T.ptx.tcgen05.fence__after_thread_sync()
                        for k in range(K_TILES):
                            tma2mma.wait(used.stage, used.phase)
                            Tx.gemm_async(tmem[:, warp * MMA_N : (warp + 1) * MMA_N], As[used.stage, warp, :, :],
                                          Bs[used.stage, :, :], accum=k != 0, dispatch="tcgen05", cta_group=CTA_GROUP)
                            mma2tma.arrive(used.stage, cta_group=CTA_GROUP, cta_mask=3)
                            used.advance()
                        mma2ld.arrive(warp, cta_group=CTA_GROUP, cta_mask=3)
                        given.advance()
                        tiles.next_tile()
        else:
            acc = T.alloc_local(EPI_N, dtype="float32")
            out = T.alloc_local(EPI_N, dtype="float16")
            rows = acc.view(BLK_M, EPI_N, layout=TileLayout(S[(BLK_M, EPI_N) : (1 @ tid_in_wg, 1)]))
            taken = PipelineState(1, 0)
            while tiles.valid():
                mma2ld.wait(group, taken.phase)
                T.ptx.tcgen05.fence__after_thread_sync()
                for part in T.unroll(MMA_N // EPI_N):
                    first = T.meta_var(group * MMA_N + part * EPI_N)
                    Tx.wg.copy_async(rows[:, :], tmem[:, first : first + EPI_N])
                    T.ptx.tcgen05.wait__ld.sync.aligned()
                    if part == MMA_N // EPI_N - 1:
                        # The accumulator has been read: the next tile may be multiplied.
                        T.ptx.tcgen05.fence__before_thread_sync()
                        T.ptx.mbarrier.arrive.release.cluster.shared__cluster.b64(ld2mma_of_0.ptr_to([group]))
                    Tx.cast(out[:], acc[:])
                    Tx.copy(Ds[group, thread, :], out[:])
                    T.ptx.fence.proxy.async_.shared__cta()
                    T.cuda.warpgroup_sync(1 + group)
                    if thread == 0:
                        Tx.copy_async(D[row + group * MMA_M : row + group * MMA_M + BLK_M,
                                        column + part * EPI_N : column + (part + 1) * EPI_N],
                                      Ds[group, :, :], dispatch="tma_auto")
                        T.ptx.cp.async_.bulk.commit_group()
                        T.ptx.cp.async_.bulk.wait_group.read(0)
                    T.cuda.warpgroup_sync(1 + group)
                taken.advance()
                tiles.next_tile()
        T.cuda.cluster_sync()
        # exercise]

        if (group == 0) & (warp == 0):
            T.ptx.tcgen05.relinquish_alloc_permit.cta_group__2.sync.aligned()
            T.ptx.tcgen05.dealloc.cta_group__2.sync.aligned.b32(tmem_at[0], T.uint32(512))

    return hgemm
