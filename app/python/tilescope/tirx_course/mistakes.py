"""What a fault or hazard means in the course's kernels, by its kind."""

PROXY = ("Threads wrote shared memory in the usual way, and TMA or the tensor core reads it by the async proxy: "
         "T.ptx.fence.proxy.async_.shared__cta() is missing between the two, in the threads that wrote, before they meet.")
PARITY = ("A thread waits for a phase of a barrier that is over already, or is one ahead of the others: the parity turns with "
          "every phase, all have to have seen one phase before the next one ends, and init() says all arrivals of one.")
READ_FIRST = ("TMEM is written while somebody may still read it. Behind the last load of the accumulator stand "
              "T.ptx.tcgen05.wait__ld.sync.aligned(), T.ptx.tcgen05.fence__before_thread_sync() and what tells the "
              "multiplying thread, which waits for that.")

UNDEFINED = ("What goes to D depends on what nobody has computed: is the accumulator multiplied into before it is read, for "
             "each of its columns?")

MISTAKES = {
    "unbuilt": "TVM or the compiler does not take it: the first complaint is the one to mend.",
    "different": "The elements come from the wrong place, or are not all written: which rows of A and B does this tile of D "
                 "take, in which step of K does the sum begin (accum=False), and who writes which row?",
    "slow": "Something waits that need not. Is the next stage being loaded while this one is multiplied?",
    "too_long": "It does not end: which loop goes round for ever? Each role calls tiles.next_tile() by itself.",
    "deadlock": "Somebody waits for a phase that nobody completes. Count the arrivals and the bytes of one phase, and look at "
                "who waits first: for what nobody has done yet the state begins with phase 1, for what comes with phase 0.",
    "operand_overwritten": "A tile is written while products or a copy still use it, or used while it still comes: the wait "
                           "for the barrier that tells is missing, or is for a parity whose phase was over before, or the "
                           "barrier counts other bytes than come.",
    "missing_proxy_fence": PROXY,
    "phase_too_early": PARITY,
    "waiter_left_behind": PARITY,
    "too_many_arrivals": "More threads arrive at a barrier in one phase than its init() says.",
    "tx_count_out_of_range": "A barrier is told of other bytes than come: expect_tx says the bytes of all copies of this "
                             "phase.",
    "mbarrier_not_initialised": "Something waits or arrives at a barrier before its init().",
    "mbarrier_not_visible": "init() is one thread's: behind it stand T.ptx.fence.mbarrier_init.release.cluster() and a meeting "
                            "of all who use the barrier.",
    "mbarrier_in_use": "A barrier is used before all have met behind its init(), or is made anew while somebody uses it.",
    "barrier_partners": "Threads of two groups come to one barrier, and any of them may be who the others meet: each group "
    "of warps that meets by itself has a barrier number of its own.",
    "shared_race": "One uses what another one writes to shared memory, a thread or a copy, and nothing orders the two: have "
                   "all who write met with those who read, at a barrier of their own, and does a barrier count all bytes?",
    "copy_not_awaited": "What a copy brings is used before its barrier has told that it has come.",
    "unordered_copies": "Two copies go to one place, and nothing says which is first.",
    "read_overtaken": "Ds is written again while TMA still reads it: T.ptx.cp.async_.bulk.wait_group.read(0) in the thread that "
                      "stores, then a meeting.",
    "exit_in_flight": "The kernel ends while a copy or a product still touches shared memory or TMEM: who waits for the last "
                      "one?",
    "peer_exited": "One CTA of the cluster ends while the other still uses its memory: T.cuda.cluster_sync() at the end.",
    "peer_not_started": "One CTA uses the other's memory before it has started: T.cuda.cluster_sync() at the beginning.",
    "tcgen05_fence": "A barrier orders threads, not tcgen05: T.ptx.tcgen05.fence__before_thread_sync() stands before the "
                     "meeting or arrival, T.ptx.tcgen05.fence__after_thread_sync() behind the wait.",
    "tmem_not_awaited": "Registers are used before they are loaded: T.ptx.tcgen05.wait__ld.sync.aligned() stands behind the "
                        "loads.",
    "tmem_wait_behind_use": "T.ptx.tcgen05.wait__ld.sync.aligned() stands behind the use of the registers, not before it.",
    "tmem_race": READ_FIRST,
    "tmem_order": READ_FIRST,
    "tmem_in_use": "TMEM is read, written or given back while products are on their way: who waits for the barrier of their "
                   "commit, and with which parity?",
    "out_of_bounds": "An index goes beyond the array: which tile, which row?",
    "undefined_output": UNDEFINED,
    "undefined_copied": UNDEFINED,
    "undefined_store": UNDEFINED,
    "undefined_operand": "The first product adds to what is in TMEM, where nothing has been computed yet: accum=False there.",
    "divergent_barrier": "A barrier of all threads stands where not all come: cta_sync() in a branch of one role.",
    "barrier_mismatch": "Two warpgroups meet at the same number: warpgroup_sync() has one for each.",
}
