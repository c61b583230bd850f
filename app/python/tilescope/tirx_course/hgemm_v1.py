"""Step 1: one tile. All threads copy it to shared memory, one thread has it multiplied, all write it back."""

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TCol, TileLayout, TLane, tid_in_wg

TASK = """
Both tiles, A (128,64) and B (128,64), come to shared memory, are multiplied into TMEM, and go to D.

- All threads copy together: Tx.cta.copy(to, from). The tensor core reads shared memory by the async proxy:
  a fence, T.ptx.fence.proxy.async_.shared__cta(), and T.cuda.cta_sync() stand between.
- One thread issues Tx.gemm_async(tmem[:, 0:128], As[:, :], Bs[:, :], accum=False, dispatch="tcgen05",
  cta_group=1) and has `done` told of its end:
  T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(done.ptr_to([0])). All threads
  wait, T.cuda.mbarrier_wait(done.ptr_to([0]), 0), and put their loads behind that:
  T.ptx.tcgen05.fence__after_thread_sync().
- Each thread takes a row of the accumulator into registers (Tx.wg.copy_async to a view with the layout
  S[(128, 128) : (1 @ tid_in_wg, 1)], then T.ptx.tcgen05.wait__ld.sync.aligned()), casts it (Tx.cast) and
  copies it to D (Tx.copy).
"""
HINTS = [
    "Which instruction makes what threads have written visible to the async proxy, and who executes it?",
    "Which phase of `done` does the first commit complete?",
    "The loads from TMEM are asynchronous, too: what stands between them and the first use of a register?",
    'acc = T.alloc_local(BLK_N, dtype="float32"); rows = acc.view(BLK_M, BLK_N, '
    "layout=TileLayout(S[(BLK_M, BLK_N) : (1 @ tid_in_wg, 1)])); Tx.wg.copy_async(rows[:, :], tmem[:, "
    "0:BLK_N])",
]
SHAPES = [(128, 128, 64)]


def hgemm_v1(M, N, K):
    BLK_M, BLK_N, BLK_K = 128, 128, 64

    @T.prim_func
    def hgemm(A: T.Buffer((M, K), "float16"), B: T.Buffer((N, K), "float16"), D: T.Buffer((M, N), "float16")):
        T.device_entry()
        T.cta_id([1])
        T.warpgroup_id([1])
        warp = T.warp_id([4])
        thread = T.thread_id([128])

        # Shared memory: where TMEM begins, a barrier, and both tiles, swizzled as the tensor core reads them.
        pool = T.SMEMPool()
        tmem_at = pool.alloc((1,), "uint32")
        done = pool.alloc((1,), "uint64", align=8)
        pool.move_base_to(1024)
        As = pool.alloc_tcgen05_mma_AB((BLK_M, BLK_K), "float16")
        Bs = pool.alloc_tcgen05_mma_AB((BLK_N, BLK_K), "float16")
        pool.commit()

        # One thread makes the barrier, one warp takes all of TMEM; then everybody may use them.
        if thread == 0:
            T.ptx.mbarrier.init.shared.b64(done.ptr_to([0]), T.uint32(1))
            T.ptx.fence.mbarrier_init.release.cluster()
        if warp == 0:
            T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(T.address_of(tmem_at), T.uint32(512))
        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence__after_thread_sync()
        # Who takes all 512 columns has them from column 0 on.
        tmem = T.decl_buffer((128, 512), "float32", scope="tmem", allocated_addr=0,
                             layout=TileLayout(S[(128, 512) : (1 @ TLane, 1 @ TCol)]))

        # [exercise
        # All threads copy; the tensor core reads by the async proxy, so that a fence has to stand between.
        Tx.cta.copy(As[:, :], A[0:BLK_M, 0:BLK_K])
        Tx.cta.copy(Bs[:, :], B[0:BLK_N, 0:BLK_K])
        T.ptx.fence.proxy.async_.shared__cta()
        T.cuda.cta_sync()

        if thread == 0:
            Tx.gemm_async(tmem[:, 0:BLK_N], As[:, :], Bs[:, :], accum=False, dispatch="tcgen05", cta_group=1)
            T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(done.ptr_to([0]))
        T.cuda.mbarrier_wait(done.ptr_to([0]), 0)
        T.ptx.tcgen05.fence__after_thread_sync()

        # Each thread has a row of the tile.
        acc = T.alloc_local(BLK_N, dtype="float32")
        out = T.alloc_local(BLK_N, dtype="float16")
        rows = acc.view(BLK_M, BLK_N, layout=TileLayout(S[(BLK_M, BLK_N) : (1 @ tid_in_wg, 1)]))
        Tx.wg.copy_async(rows[:, :], tmem[:, 0:BLK_N])
        T.ptx.tcgen05.wait__ld.sync.aligned()
        Tx.cast(out[:], acc[:])
        Tx.copy(D[thread, 0:BLK_N], out[:])
        # exercise]

        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
            T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(tmem_at[0], T.uint32(512))

    return hgemm
