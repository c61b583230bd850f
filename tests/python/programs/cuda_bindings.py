"""Run by `tilescope exec` (test_exec.py): the driver's API and NVRTC by NVIDIA's bindings for Python."""

import ctypes

import numpy as np
from cuda.bindings import driver, nvrtc

SOURCE = b"""
extern "C" __global__ void scale(float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= a;
}"""


def told(answer):
    """The results, where there is no error."""
    assert int(answer[0]) == 0, answer[0]
    return answer[1] if len(answer) == 2 else answer[1:]


told(driver.cuInit(0))
device = told(driver.cuDeviceGet(0))
context = told(driver.cuDevicePrimaryCtxRetain(device))
told(driver.cuCtxSetCurrent(context))
major = told(driver.cuDeviceGetAttribute(
    driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
program = told(nvrtc.nvrtcCreateProgram(SOURCE, b"scale.cu", 0, [], []))
told(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=compute_%d0" % major]))
ptx = b" " * told(nvrtc.nvrtcGetPTXSize(program))
told(nvrtc.nvrtcGetPTX(program, ptx))
module = told(driver.cuModuleLoadData(ptx))
kernel = told(driver.cuModuleGetFunction(module, b"scale"))
x = np.arange(1000, dtype=np.float32)
memory = told(driver.cuMemAlloc(x.nbytes))
stream = told(driver.cuStreamCreate(0))
told(driver.cuMemcpyHtoDAsync(memory, x.ctypes.data, x.nbytes, stream))
values = ((memory, 3.0, 1000), (None, ctypes.c_float, ctypes.c_int))
told(driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, values, 0))
out = np.zeros_like(x)
told(driver.cuMemcpyDtoHAsync(out.ctypes.data, memory, x.nbytes, stream))
told(driver.cuStreamSynchronize(stream))
assert (out == 3 * x).all()
told(driver.cuMemFree(memory))
print("as it should be")
