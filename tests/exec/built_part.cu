// What built.cu only declares.
__device__ int factor = 1000;
__device__ int scaled(int x) {
  return 3 * x;
}
