// Tensors over arrays of the host: the language's tensor, and where its elements really are.
//
// Element 0 of such a tensor is the array's first element; offsets count on from there in elements
// of the array's type, through the array's memory as it lies, as CuTe counts from a pointer. What
// lies between the elements of a strided array goes along (arrays.h).
//
// All that is read and written goes through one NumPy array of one dimension over the whole memory,
// so that types, conversions and their errors are NumPy's.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>

#include "app/python/values.h"

namespace tilescope::python {

struct HostElements {
  nb::object array;        // as it was given
  nb::object flat;         // NumPy's: every element that the array's memory has room for
  std::int64_t first = 0;  // which of them is the array's first element
  std::int64_t count = 0;
  bool read_only = false;
  std::uint32_t source = 0;  // Tensor::source of what is over it
  std::string text;          // "float32 (4, 8)"
};

// Over an array: `layout` None: the array's own; `type` None: what its elements are called here.
// Refused: no array, not in the CPU's memory; the layout reaches beyond it.
Box<Tensor> tensor_over(nb::handle array, const nb::object& layout, const nb::object& type,
                        const nb::object& memory);

// Refused: the tensor is over no array.
const HostElements& elements_in(const Box<Tensor>& tensor);
// Where it begins, in elements of its array. Refused: its offsets are no known numbers.
std::int64_t origin_of(const Tensor& tensor);
// Of the index-th coordinate.
std::int64_t offset_in(const Tensor& tensor, std::int64_t index);
// The element at this offset. Refused: the array has none there.
nb::object element(const HostElements& in, std::int64_t offset);

// t[key]: an element, or with `_` or `:` a slice. Refused: the coordinate does not fit the shape.
nb::object item_at(const Box<Tensor>& tensor, nb::handle key);
void set_item(const Box<Tensor>& tensor, nb::handle key, nb::handle value);

// The elements as a NumPy array with a dimension for each mode, so that t.numpy()[i, j] is t[i, j].
// copy False: a view, refused where no view can be one; None: a view where it can be one, else a
// copy; True: a copy.
nb::object numpy_of(const Box<Tensor>& tensor, const nb::object& copy);

}  // namespace tilescope::python
