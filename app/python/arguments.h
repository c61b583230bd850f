// Python's objects as the bytes of a kernel's parameters.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <vector>

#include "app/python/arrays.h"
#include "core/ptx/module.h"
#include "core/run/tensor_map.h"

namespace tilescope::python {

// A tensor map over an array, as cuTensorMapEncodeTiled is asked for one: Python's TensorMap. All
// is said in it: type, dimensions and strides too.
struct ArrayMap {
  nb::object array;
  TensorMap how;
};

// What a kernel is launched with.
class Parameters {
 public:
  Parameters(const ptx::Function& entry, HostMemory& host) : entry_(entry), host_(host) {}

  // Takes the arguments, a sequence with one for each parameter. Refused where one does not fit.
  void take(nb::handle given);
  // The arrays among them, by their parameters' names.
  nb::dict arrays() const;
  // Once the host's arrays have addresses.
  std::vector<std::byte> bytes() const;

 private:
  void take_one(std::size_t i, nb::handle object);

  const ptx::Function& entry_;
  HostMemory& host_;
  struct Pointer {
    std::size_t parameter = 0, array = 0;
    nb::object object;
  };
  struct Map {
    std::size_t parameter = 0, array = 0;
    ArrayMap map;
  };
  std::vector<std::vector<std::byte>> values_;  // of each parameter
  std::vector<Pointer> pointers_;
  std::vector<Map> maps_;
};

// (name, type, bytes) of each.
nb::list parameters_of(const ptx::Function& entry);

void define_tensor_map(nb::module_& module);
void define_run(nb::module_& module);

}  // namespace tilescope::python
