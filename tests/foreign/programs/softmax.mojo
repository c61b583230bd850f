# Softmax of rows, a block each, in Mojo: prints its PTX for SM_TARGET.
from std.compile import compile_info
from std.math import exp
from std.memory import stack_allocation
from max.gpu import barrier, block_idx, thread_idx
from max.gpu.host import get_gpu_target
from max.gpu.memory import AddressSpace

comptime Rows = UnsafePointer[Float32, MutAnyOrigin]


def softmax(a: Rows, c: Rows, n: Int):
    var sums = stack_allocation[256, Float32, address_space=AddressSpace.SHARED]()
    var t = Int(thread_idx.x)
    var row = Int(block_idx.x)
    var mine = Float32(0)
    for i in range(t, n, 256):
        mine += exp(a[row * n + i])
    sums[t] = mine
    barrier()
    var k = 128
    while k > 0:
        if t < k:
            sums[t] += sums[t + k]
        barrier()
        k //= 2
    for i in range(t, n, 256):
        c[row * n + i] = exp(a[row * n + i]) / sums[0]


def main():
    print(compile_info[softmax, emission_kind="asm", target=get_gpu_target["SM_TARGET"]()]())
