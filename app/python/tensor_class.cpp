// The class Tensor: tensors.h says what it is over an array.
#include "app/python/tensors.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include "app/python/boxes.h"
#include "core/layout/text.h"
#include "core/tensor/text.h"

namespace tilescope::python {
namespace {

using Held = Box<Tensor>;

// All elements, in the order of the coordinates.
struct Elements {
  Held tensor;
  std::int64_t next = 0, end = 0;
};

nb::object next_element(Elements& elements) {
  if (elements.next >= elements.end) throw nb::stop_iteration();
  const std::int64_t index = elements.next++;
  return element(*elements.tensor.elements, offset_in(elements.tensor.value, index));
}

constexpr const char* about_tensor =
    R"doc(A layout, where its elements are, and of which type they are; over an array also the elements.

>>> import numpy as np, tilescope as ts
>>> a = np.arange(32, dtype=np.float32).reshape(4, 8)
>>> t = ts.Tensor(a, ts.Layout((4, 8), (8, 1)))
>>> t
<Tensor gmem<f32> o (4,8):(8,1)>
>>> t[3, 5], t[ts._, 3]
(np.float32(29.0), <Tensor gmem<f32>+3 o (4):(8)>)
>>> t[3, 5] = -1
>>> a[3, 5], ts.local_tile(t, (2, 4), (1, 1)).numpy()
(np.float32(-1.0), array([[20., 21., 22., 23.],
       [28., -1., 30., 31.]], dtype=float32))

Offsets count the elements of the array's memory from its first element on. What functions make of a
tensor, slices, tiles and partitions, is over the same array. A tensor of an expression has no elements:

>>> t = ts.eval("smem<f16> o (8,64):(64,1)")
>>> t.memory, t.type, t.layout
('smem', 'f16', Layout("(8,64):(64,1)")))doc";

}  // namespace

void define_tensor(nb::module_& module) {
  nb::class_<Elements>(module, "Elements", "The elements of a tensor, one after the other.")
      .def("__iter__", [](nb::object self) { return self; })
      .def("__next__", &next_element, nb::sig("def __next__(self) -> Any"));

  auto tensor = define_box<Tensor>(module, "Tensor", about_tensor);
  tensor
      .def(
          "__init__",
          [](Held* self, nb::handle array, const nb::object& layout, const nb::object& type,
             const nb::object& memory) {
            new (self) Held(tensor_over(array, layout, type, memory));
          },
          nb::arg("array").none(), nb::arg("layout") = nb::none(), nb::kw_only(),
          nb::arg("type") = nb::none(), nb::arg("memory") = "gmem",
          nb::sig("def __init__(self, array: Array, layout: LayoutLike | None = None, *, type: str "
                  "| None = None, memory: str = 'gmem') -> None"),
          "Over a NumPy array of any strides, or one of DLPack or the buffer protocol on the "
          "CPU.\n\n"
          "layout: of its memory from the first element on; a shape alone is column-major, as in\n"
          "CuTe; None: the array's own shape and strides.\n"
          "type: what raw bits are, such as \"bf16\" of uint16; memory: what drawings call it.\n"
          "Error: the layout reaches beyond the array; it is not in the CPU's memory.")
      .def_prop_ro("layout", [](const Held& self) { return object_of(self.value.layout); })
      .def_prop_ro(
          "shape", [](const Held& self) { return object_of(self.value.layout.shape()); },
          nb::sig("def shape(self) -> Shape"), "The extents, nested as the layout is.")
      .def_prop_ro(
          "stride", [](const Held& self) { return object_of(self.value.layout.stride()); },
          nb::sig("def stride(self) -> Shape"), "The steps in elements.")
      .def_prop_ro("memory",
                   [](const Held& self) { return std::string(name_of(self.value.memory)); })
      .def_prop_ro("type", [](const Held& self) { return std::string(name_of(self.value.type)); })
      .def_prop_ro(
          "offset", [](const Held& self) { return object_of(Value(self.value.offset)); },
          nb::sig("def offset(self) -> Answer"), "Where it begins, in elements.")
      .def_prop_ro(
          "array",
          [](const Held& self) { return self.elements ? self.elements->array : nb::none(); },
          nb::sig("def array(self) -> Any"), "The array that it is over; None: it is over none.")
      .def("__getitem__", &item_at, nb::arg("coordinate"),
           nb::sig("def __getitem__(self, coordinate: Any) -> Any"),
           "The element at a coordinate, as NumPy has it; with `_` or `:` a slice, a tensor over\n"
           "the same array. Error: it does not fit the shape; no array, or nothing of it is there.")
      .def("__setitem__", &set_item, nb::arg("coordinate"), nb::arg("value"),
           nb::sig("def __setitem__(self, coordinate: Any, value: Any) -> None"),
           "Writes an element, or with `_` or `:` all of a slice, `...` all of it.\n"
           "Error: as reading; the array is read-only.")
      .def(
          "__len__",
          [](const Held& self) { return static_cast<std::size_t>(taken(size(self.value.layout))); },
          "How many elements, which is ts.size(t).")
      .def(
          "__iter__",
          [](const Held& self) {
            (void)elements_in(self);
            (void)origin_of(self.value);
            return Elements{self, 0, taken(size(self.value.layout))};
          },
          "The elements in the order of the coordinates, the first mode fastest.")
      .def("numpy", &numpy_of, nb::arg("copy") = nb::none(),
           nb::sig("def numpy(self, copy: bool | None = None) -> Any"),
           R"doc(As a NumPy array with one dimension for each mode: t.numpy()[i, j] is t[i, j].

A view of the same memory where each mode has a single stride; else a copy, as of a swizzled layout.
copy=False refuses to copy, copy=True copies always. A view can be written into if the array can.

>>> import numpy as np, tilescope as ts
>>> a = np.arange(16)
>>> t = ts.zipped_divide(ts.Tensor(a, ts.Layout((4, 4), (4, 1))), (2, 2))
>>> t[ts._, 3].numpy()
array([10, 14, 11, 15])
>>> ts.Tensor(a, ts.composition(ts.Swizzle(1, 0, 2), ts.Layout((4, 4), (4, 1)))).numpy(copy=False)  # doctest: +ELLIPSIS
Traceback (most recent call last):
    ...
tilescope.Error: gmem<s64> o Sw<1,0,2> o 0 o (4,4):(4,1) has modes without a single stride...

Error: the layout reaches beyond the array, as that of a tile at its edge may.)doc")
      .def(
          "__array__",
          [](const Held& self, const nb::object& dtype, const nb::object& copy) {
            const nb::object made = numpy_of(self, copy);
            return dtype.is_none()
                       ? made
                       : nb::object(made.attr("astype")(dtype, nb::arg("copy") = false));
          },
          nb::arg("dtype") = nb::none(), nb::arg("copy") = nb::none(),
          nb::sig("def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any"),
          "For numpy.asarray.");
  define_call(tensor);
  module.def(
      "make_tensor",
      [](nb::handle array, const nb::object& layout) {
        return tensor_over(array, layout, nb::none(), nb::str("gmem"));
      },
      nb::arg("array").none(), nb::arg("layout") = nb::none(),
      nb::sig("def make_tensor(array: Array, layout: LayoutLike | None = None) -> Tensor"),
      R"doc(Tensor(array, layout) by CuTe's name.

>>> import numpy as np, tilescope as ts
>>> ts.make_tensor(np.zeros((4, 8), np.float16)[::2])
<Tensor gmem<f16> o (2,8):(16,1)>

Error: as Tensor.)doc");
}

}  // namespace tilescope::python
