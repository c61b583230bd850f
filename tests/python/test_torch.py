"""Tensors of torch's on the CPU, in every front end: their memory is written in place, `run.outputs` has the tensors
themselves. Triton's own use of torch: test_triton.py."""

import numpy as np
import pytest
import tilescope as ts

torch = pytest.importorskip("torch", reason="torch is not installed: `pip install torch`, and these tests run")
ADD = "add"
DTYPES = ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8", "bool", "int16", "uint16",
          "int32", "uint32", "int64", "uint64", "float64")


def bits(tensor):
    return tensor.detach().reshape(-1).view(torch.uint8)


def of(dtype, *shape):
    return (torch.randn(*shape) * 10).abs().to(getattr(torch, dtype))


# ---- ts.launch, ts.Tensor, ts.diff --------------------------------------------------------------


def test_launches(module):
    x = torch.zeros(300)
    run = module.launch(4, 32, [x[50:150], 1.5, 100], entry=ADD)
    assert x.sum() == 150 and not x[:50].any() and not x[150:].any()
    assert isinstance(run.outputs["x"], torch.Tensor)
    for x in (torch.zeros(100, requires_grad=True), torch.nn.Parameter(torch.zeros(100))):
        module.launch(4, 32, [x, 1.5, 100], entry=ADD, search=2)
        assert (x == 1.5).all() and x.requires_grad
    with pytest.raises(ts.Fault, match=r"buffer argument 0 \(torch.float32 \(50,\), 200 bytes\)"):
        module.launch(4, 32, [torch.zeros(50), 1.5, 100], entry=ADD)
    for elsewhere in (torch.zeros(100, device="meta"), torch.zeros(100).to_sparse()):
        with pytest.raises(ts.Error, match="does not give its memory away"):
            module.launch(4, 32, [elsewhere, 1.5, 100], entry=ADD)


@pytest.mark.parametrize("dtype", [*DTYPES, "float4_e2m1fn_x2", "float8_e8m0fnu"])
def test_memory_of_every_type(module, dtype):
    x = torch.zeros(800, dtype=torch.uint8).view(getattr(torch, dtype))
    run = module.launch(4, 32, [x, 1.5, 100], entry=ADD)
    assert (bits(x)[:400].view(torch.float32) == 1.5).all() and not bits(x)[400:].any()
    assert run.outputs["x"].dtype == x.dtype


def test_tensors_are_over_the_same_memory():
    x = torch.arange(32.0).reshape(4, 8)
    t = ts.Tensor(x.T)
    assert t.shape == (8, 4) and t.stride == (1, 8) and t[3, 2] == 19
    t[3, 2] = -1
    assert x[2, 3] == -1
    raw = ts.Tensor(torch.ones(4, 8, dtype=torch.bfloat16))
    assert "bf16" in repr(raw) and raw.numpy().dtype == np.uint16 and raw[0, 0] == 0x3F80
    assert ts.Layout(x.shape, x.stride()) == ts.Layout((4, 8), (8, 1))
    assert ts.diff(x.bfloat16(), x).wrong == 0 and ts.diff(x, x + 1).wrong == 32


def test_kernels_of_the_catalog_take_them():
    a, b = torch.ones(128, 64, dtype=torch.float16), torch.ones(128, 64, dtype=torch.float16)
    run = ts.run("hgemm_v4", a=a, b=b)
    assert run.wrong == 0 and run.diff(torch.full((128, 128), 64.0)).wrong == 0


# ---- CuTeDSL ------------------------------------------------------------------------------------


@pytest.fixture
def kernels():
    pytest.importorskip("cutlass.cute", reason="nvidia-cutlass-dsl is not installed: its kernels take no tensors here")
    import cute_kernels
    return cute_kernels


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "int64", "float64"])
def test_cutedsl_takes_tensors_and_their_from_dlpack(kernels, dtype):
    from cutlass.cute.runtime import from_dlpack
    a, b = of(dtype, 1000), of(dtype, 1000)
    c = torch.zeros_like(a)
    add = ts.cute.compile(kernels.add, a, b, c, target="sm_90a")
    run = add(a, b, c)
    assert torch.equal(c, a + b) and run.outputs["c"] is c
    c.zero_()
    views = [from_dlpack(x, assumed_align=16).mark_layout_dynamic() for x in (a, b, c)]
    add = ts.cute.compile(kernels.add, *views, target="sm_90a")
    add(*views)
    assert torch.equal(c, a + b)
    add(b, b, c)  # tensors, where tensors of CuTeDSL's were compiled for
    assert torch.equal(c, b + b)


def test_cutedsl_takes_parameters_pointers_and_addresses(kernels):
    import cutlass
    import cutlass.cute as cute
    from cutlass.cute.runtime import make_ptr
    a, c = torch.nn.Parameter(torch.rand(1000)), torch.zeros(1000)
    ts.cute.compile(kernels.add, a, a, c, target="sm_90a")(a, a, c)
    assert torch.equal(c, 2 * a)
    x = torch.zeros(64, dtype=torch.int32)
    pointer = make_ptr(cutlass.Int32, x.data_ptr(), cute.AddressSpace.gmem, assumed_align=4)
    ts.cute.compile(kernels.fill, pointer, 64, target="sm_90a")(pointer, 64)
    assert torch.equal(x, torch.arange(64, dtype=torch.int32))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn"])
def test_an_aligned_copy_is_a_tensor_again(dtype):
    x = of(dtype, 5, 7, 3).permute(1, 2, 0)
    y = ts.cute.aligned(x, 1024)
    assert y.dtype == x.dtype and y.stride() == x.stride() and y.data_ptr() % 1024 == 0
    assert torch.equal(y.float(), x.float()) and y.data_ptr() != x.data_ptr()
    assert ts.cute.aligned(torch.zeros(0), 64).numel() == 0 and ts.cute.aligned(torch.tensor(3.0), 64) == 3


# ---- TIRx ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e8m0fnu", "bool", "uint16", "int64"])
def test_tirx_takes_them(dtype):
    pytest.importorskip("tvm", reason="apache-tvm is not installed: its kernels take no tensors here")
    test_tirx = pytest.importorskip("test_tirx", reason="no nvcc and no NVRTC here")
    kernel = ts.tirx.compile(test_tirx.copy_of(dtype))
    x = of(dtype, 64)
    y = torch.zeros_like(x)
    run = kernel(x.requires_grad_() if dtype == "float32" else x, y)
    assert torch.equal(bits(x), bits(y)) and any(each is y for each in run.outputs.values())
    if dtype == "bfloat16":  # its bits as a tensor of integers, as NumPy's are
        kernel(x.view(torch.int16), y.zero_().view(torch.int16))
        assert torch.equal(x, y)
    if dtype == "float32":
        with pytest.raises(ts.Error, match="is a tensor on meta"):
            kernel(x.to("meta"), y)
        with pytest.raises(ts.Error, match="is a tensor on cpu, torch.sparse_coo"):
            kernel(x.detach().to_sparse(), y)


# ---- Triton -------------------------------------------------------------------------------------


@pytest.fixture
def triton():
    triton = pytest.importorskip("triton", reason="Triton is not installed: its kernels take no tensors here")
    yield triton
    ts.triton.deactivate()


def test_triton_hands_the_tensors_back(triton):
    from test_triton import copy_kernel
    ts.triton.activate("sm_90a", strict=True)
    for dtype in DTYPES:
        x = of(dtype, 64)
        out = torch.zeros_like(x)
        copy_kernel[(1,)](x, out, BLOCK=64)
        assert torch.equal(bits(x), bits(out)) and ts.triton.last.outputs["out"] is out, dtype


def test_autotuning_restores_and_resets_tensors(triton):
    import test_triton
    ts.triton.activate("sm_90a")
    x, out = torch.arange(500.0), torch.zeros(1)
    grid = lambda meta: (triton.cdiv(500, meta["BLOCK"]),)  # noqa: E731
    test_triton.tuned_sum_kernel[grid](x, out, 500)
    test_triton.tuned_twice_kernel[grid](x, 500)
    assert out[0] == torch.arange(500.0).sum() and torch.equal(x, 2 * torch.arange(500.0))


def test_a_grouped_gemm_by_the_tensors_addresses(triton):
    import test_triton
    ts.triton.activate("sm_80", strict=True)
    sizes = torch.tensor([(128, 128, 64), (64, 192, 128)], dtype=torch.int32)
    a, b, c = ([torch.randn(*shape, dtype=torch.float16) for shape in shapes]
               for shapes in zip(*[((m, k), (k, n), (m, n)) for m, n, k in sizes.tolist()]))
    lists = [torch.tensor([x.data_ptr() for x in group]) for group in (a, b, c)]
    test_triton.grouped_kernel[(4,)](*lists, sizes, len(sizes), SMS=4, BM=64, BN=64, BK=32)
    for x, y, z in zip(a, b, c):
        torch.testing.assert_close(z.float(), x.float() @ y.float(), atol=3e-2, rtol=1e-2)


def test_a_function_of_autograd(triton):
    from test_triton import twice_kernel
    ts.triton.activate("sm_100a", strict=True)

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.clone()
            twice_kernel[(1,)](y, y.numel(), BLOCK=128)
            return y

        @staticmethod
        def backward(ctx, dy):
            return Twice.forward(ctx, dy)

    x = torch.rand(100, requires_grad=True)
    Twice.apply(x).sum().backward()
    assert (x.grad == 2).all()


def test_gluons_descriptors_over_tensors(triton):
    import test_gluon as of_gluon
    ts.triton.activate("sm_90a", strict=True)
    a, b, c = torch.randn(64, 128).half(), torch.randn(128, 64).half(), torch.zeros(64, 64).half()
    layout = of_gluon.gl.NVMMASharedLayout.get_default_for([64, 64], of_gluon.gl.float16)
    maps = [of_gluon.TensorDescriptor.from_tensor(x, [64, 64], layout) for x in (a, b, c)]
    of_gluon.matmul_kernel[(1,)](*maps, 128)
    torch.testing.assert_close(c.float(), a.float() @ b.float(), atol=2e-2, rtol=1e-2)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn"])
def test_tritons_descriptors_over_tensors(triton, dtype):
    from test_triton import TensorDescriptor, persistent_kernel
    ts.triton.activate("sm_90a", strict=True)
    a, b = (torch.randn(128, 128).to(getattr(torch, dtype)) for _ in range(2))
    c = torch.empty(128, 128, dtype=torch.float16)
    maps = [TensorDescriptor.from_tensor(x, [128, 64 if x is not c else 128]) for x in (a, b, c)]
    persistent_kernel[(1,)](*maps, 128, 128, 128, BM=128, BN=128, BK=64, FLATTEN=False, SPECIALIZE=False)
    torch.testing.assert_close(c.float(), a.float() @ b.float().T, atol=5e-2, rtol=2e-2)
