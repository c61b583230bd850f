// In place of ThunderKittens' header of this name, which needs PyTorch: a tensor is where it lies
// and its shape.
#pragma once

namespace at {
struct Tensor {
  void* data;
  int shape[4];
};
}  // namespace at

namespace kittens::py {
template <class GL>
GL tensor_to_gl(const at::Tensor& t) {
  return make_gl<GL>(reinterpret_cast<std::uint64_t>(t.data), t.shape[0], t.shape[1], t.shape[2],
                     t.shape[3]);
}
}  // namespace kittens::py

#define CHECK_INPUT(tensor)
struct PythonModule {
  void def(...) {}
};
#define PYBIND11_MODULE(name, m) inline void of_python(PythonModule m)
