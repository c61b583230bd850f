"""Step 4: tiles come and go by TMA. One thread issues the copies, a barrier counts their bytes."""

from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TCol, TileLayout, TLane, tid_in_wg

TASK = """
Tiles come by TMA, and D goes by TMA. Tensor maps are made by the host's code that TVM writes.

- One thread says how many bytes will come, T.ptx.mbarrier.arrive.expect_tx.shared.b64(full.ptr_to([0]),
  T.uint32(BYTES)), and has both tiles copied: Tx.copy_async(As[:, :], A[...], dispatch="tma_auto",
  mbar=full.ptr_to([0])). A function for it is @T.inline.
- The same thread waits for `full`, multiplies, commits to `done` and waits for that, in each step of K.
  Then all meet, between T.ptx.tcgen05.fence__before_thread_sync() and ...after_thread_sync().
- Back: TMEM, registers, Ds (Tx.copy(Ds[thread, :], out[:])). TMA reads Ds by the async proxy: the fence,
  all meet, and one thread stores, Tx.copy_async(D[...], Ds[:, :], dispatch="tma_auto"), commits the group,
  T.ptx.cp.async_.bulk.commit_group(), and waits until Ds is read, T.ptx.cp.async_.bulk.wait_group.read(0).
"""
HINTS = [
    "How many bytes are two tiles of 128 x 64 halves?",
    "Both barriers complete one phase in each step: one parity does for both.",
    "Who wrote Ds, and by which proxy is it read?",
]
SHAPES = [(128, 128, 128), (256, 128, 192)]


def hgemm_v4(M, N, K):
    BLK_M, BLK_N, BLK_K = 128, 128, 64
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
        full = pool.alloc((1,), "uint64", align=8)
        done = pool.alloc((1,), "uint64", align=8)
        pool.move_base_to(1024)
        As = pool.alloc_tcgen05_mma_AB((BLK_M, BLK_K), "float16")
        Bs = pool.alloc_tcgen05_mma_AB((BLK_N, BLK_K), "float16")
        Ds = pool.alloc_tcgen05_mma_AB((BLK_M, BLK_N), "float16")
        pool.commit()

        if thread == 0:
            T.ptx.mbarrier.init.shared.b64(full.ptr_to([0]), T.uint32(1))
            T.ptx.mbarrier.init.shared.b64(done.ptr_to([0]), T.uint32(1))
            T.ptx.fence.mbarrier_init.release.cluster()
        if warp == 0:
            T.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(T.address_of(tmem_at), T.uint32(512))
        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence__after_thread_sync()
        tmem = T.decl_buffer((128, 512), "float32", scope="tmem", allocated_addr=0,
                             layout=TileLayout(S[(128, 512) : (1 @ TLane, 1 @ TCol)]))
        row = T.meta_var(bx * BLK_M)
        column = T.meta_var(by * BLK_N)
        phase: T.int32 = 0

        # [exercise
        @T.inline
        def load(at):
            T.ptx.mbarrier.arrive.expect_tx.shared.b64(full.ptr_to([0]), T.uint32(BYTES))
            Tx.copy_async(As[:, :], A[row : row + BLK_M, at : at + BLK_K], dispatch="tma_auto", mbar=full.ptr_to([0]))
            Tx.copy_async(Bs[:, :], B[column : column + BLK_N, at : at + BLK_K], dispatch="tma_auto",
                          mbar=full.ptr_to([0]))

        # The loop is one thread's: it loads, waits for the bytes, multiplies, waits for the products.
        if thread == 0:
            for k in range(K // BLK_K):
                load(k * BLK_K)
                T.cuda.mbarrier_wait(full.ptr_to([0]), phase)
                Tx.gemm_async(tmem[:, 0:BLK_N], As[:, :], Bs[:, :], accum=k != 0, dispatch="tcgen05", cta_group=1)
                T.ptx.tcgen05.commit.cta_group__1.mbarrier__arrive__one.shared__cluster.b64(done.ptr_to([0]))
                T.cuda.mbarrier_wait(done.ptr_to([0]), phase)
                phase = phase ^ 1
            T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        T.ptx.tcgen05.fence__after_thread_sync()

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
        # exercise]

        T.ptx.tcgen05.fence__before_thread_sync()
        T.cuda.cta_sync()
        if warp == 0:
            T.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
            T.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(tmem_at[0], T.uint32(512))

    return hgemm
