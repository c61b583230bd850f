// Arrays of the host as a kernel's global memory: bytes go in once before a launch, and out once
// behind it.
//
// What has the buffer protocol (NumPy, memoryview, array) or DLPack on the CPU (torch) is an array,
// and so is a Tensor over one that is strided.
// Its strides may be any: what lies between its elements goes along. Arrays that share memory share
// it in the kernel, too.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/numeric/dtype.h"
#include "core/sim/memory/device_memory.h"

namespace tilescope::python {

namespace nb = nanobind;

// An array for as long as this lives.
class HostArray {
 public:
  // Nothing where the object is no array; refused where it is one that is not on the CPU.
  static std::optional<HostArray> of(nb::handle object);

  std::byte* data() const { return data_; }  // its first element
  std::byte* begin() const { return data_ + lowest_; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(beyond_ - lowest_); }
  bool read_only() const { return read_only_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::uint32_t element_bytes() const { return element_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }  // bytes
  const std::string& text() const { return text_; }                      // "float32 (4, 8)"
  bool is_dense() const;  // all its elements one behind the other, the last index fastest
  // Of its elements, where their type has a name here: float16, bfloat16, uint8...
  std::optional<DType> dtype() const;
  // All elements, the last index fastest, without what lies between them.
  std::vector<std::byte> packed() const;

 private:
  HostArray() = default;
  void measure();

  std::shared_ptr<Py_buffer> view_;
  std::optional<nb::ndarray<nb::ro>> tensor_;
  std::byte* data_ = nullptr;
  std::int64_t lowest_ = 0, beyond_ = 0;  // bytes from the first element
  std::vector<std::int64_t> shape_, strides_;
  std::uint32_t element_ = 0;
  bool read_only_ = false;
  std::string type_, text_;
};

// The arrays of a launch.
class HostMemory {
 public:
  // Numbered in this order; `name`: what sentences call it. `in_place`: the kernel has it at the
  // host's own address, since another array holds that as a pointer.
  std::size_t add(HostArray array, std::string name, bool in_place = false);
  const HostArray& array(std::size_t number) const { return arrays_[number].array; }

  // Allocates and copies in; again for another memory, at the same addresses where it had the same
  // before. Refused where there is no room, or an array's memory is partly
  // read-only.
  std::optional<Error> copy_in(sim::DeviceMemory& memory);
  // Of the first element, and of the first byte of what was allocated for it.
  std::uint64_t address(std::size_t number) const;
  std::uint64_t region(std::size_t number) const;
  // Behind the launch. What a kernel has written into an array that is read-only is refused.
  std::optional<Error> copy_out(const sim::DeviceMemory& memory) const;

  // What two runs of the same launch left otherwise, told of arrays element by element where their
  // type is known, and else by bytes; empty: nothing. What a run left undefined is not compared.
  // `rounds`: floating point numbers may have been added up in another order.
  std::string difference(const sim::DeviceMemory& first, const sim::DeviceMemory& other,
                         bool rounds) const;

  struct Stretch {
    std::byte *begin = nullptr, *end = nullptr;
    std::uint64_t address = 0;
    bool read_only = false, in_place = false;
    std::string name, about;
  };
  const std::vector<Stretch>& stretches() const { return stretches_; }

 private:
  struct Named {
    HostArray array;
    std::string name;
    bool in_place = false;
    std::size_t stretch = 0;
  };
  std::vector<Named> arrays_;
  std::vector<Stretch> stretches_;  // by address; no two share a byte
};

// How NumPy has elements of this type, one of 8 bits or more; what it lacks (bf16, e4m3) is raw
// bits.
nb::dlpack::dtype element_of(DType type);

}  // namespace tilescope::python
