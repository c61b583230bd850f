// The classes of the language's values: Layout, Int, and those that hold what a function answered.
#include <fmt/format.h>
#include <nanobind/make_iterator.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <functional>

#include "app/python/boxes.h"
#include "app/python/values.h"
#include "core/layout/text.h"
#include "core/tensor/text.h"

namespace tilescope::python {
namespace {

std::size_t hash_of(const Layout& layout) {
  std::uint64_t sum = layout.modes.leaves;
  const auto mix = [&](std::uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 32;
  };
  const auto mix_number = [&](const Int& n) {
    mix(static_cast<std::uint64_t>(n.value));
    mix(n.axis.path | std::uint64_t(n.kind) << 32);
  };
  for (int i = 0; i < layout.modes.leaves; ++i) {
    mix(layout.modes.open[i] | std::uint64_t(layout.modes.close[i]) << 8);
    mix_number(layout.modes.leaf[i].shape);
    mix_number(layout.modes.leaf[i].stride);
  }
  mix(static_cast<std::uint64_t>(layout.swizzle.bits) << 16 ^
      static_cast<std::uint64_t>(layout.swizzle.base) << 8 ^
      static_cast<std::uint64_t>(layout.swizzle.shift));
  mix_number(layout.offset);
  return static_cast<std::size_t>(sum);
}

nb::object called_with(const Layout& layout, nb::args given) {
  const Tuple coordinate = coordinate_in(given);
  if (layout.concrete()) {
    const Result<std::int64_t> offset = crd2idx(coordinate, layout);
    if (offset) return nb::int_(*offset);
  }
  return object_of(taken(language::at(layout, coordinate)));
}

std::int64_t size_of(const Layout& layout) {
  return taken(size(layout));
}

// All offsets, in the order of the coordinates; places where strides are on axes.
struct Offsets {
  Layout layout;
  std::int64_t next = 0, end = 0;
  bool numbers = true;
};

nb::object next_offset(Offsets& offsets) {
  if (offsets.next >= offsets.end) throw nb::stop_iteration();
  const std::int64_t index = offsets.next++;
  if (offsets.numbers) return nb::int_(offsets.layout(index));
  return object_of(taken(language::at(offsets.layout, Tuple(index))));
}

void define_layout(nb::module_& module) {
  nb::class_<Offsets>(module, "Offsets", "The offsets of a layout, one after the other.")
      .def("__iter__", [](nb::object self) { return self; })
      .def("__next__", &next_offset);

  nb::class_<Layout> layout(module, "Layout",
                            R"doc(A function from coordinates to offsets, in CuTe's notation.

>>> import tilescope as ts
>>> l = ts.Layout((9, (4, 8)), (59, (13, 1)))
>>> print(l)
(9,(4,8)):(59,(13,1))
>>> l == ts.Layout("(9,(4,8)):(59,(13,1))")
True
>>> l(4, 5), l(4, (1, 1)), l(7)
(250, 250, 413)

Without strides it is compact and column-major, as in CuTe:

>>> ts.Layout((4, 8))
Layout("(4,8):(1,4)"))doc");
  layout
      .def(
          "__init__",
          [](Layout* self, nb::handle shape, nb::handle stride) {
            if (stride.is_none()) {
              new (self) Layout(layout_of(shape));
            } else {
              new (self) Layout(taken(make_layout(tuple_of(shape), tuple_of(stride))));
            }
          },
          nb::arg("shape").none(), nb::arg("stride") = nb::none(),
          nb::sig("def __init__(self, shape: LayoutLike, stride: TupleLike = None) -> None"),
          "Of a shape and its strides, two tuples of the same structure; of a shape alone, compact "
          "and\n"
          "column-major; or of an expression. Error: extents below 1, structures that differ, more "
          "than 32\n"
          "leaves or 8 levels.")
      .def_prop_ro(
          "shape", [](const Layout& self) { return object_of(self.shape()); },
          nb::sig("def shape(self) -> Shape"), "The extents, nested as the layout is.")
      .def_prop_ro(
          "stride", [](const Layout& self) { return object_of(self.stride()); },
          nb::sig("def stride(self) -> Shape"), "The steps, nested as the layout is.")
      .def_prop_ro(
          "swizzle", [](const Layout& self) { return object_of(Value(self.swizzle)); },
          nb::sig("def swizzle(self) -> Swizzle"),
          "What permutes the offsets; bits are 0 where nothing does.")
      .def_prop_ro(
          "offset", [](const Layout& self) { return object_of(self.offset); },
          nb::sig("def offset(self) -> int | Int"),
          "What is added before the swizzle; 0 in a plain layout.")
      .def(
          "__call__", &called_with,
          nb::sig("def __call__(self, *coordinate: Coordinate) -> Answer"),
          R"doc(The offset of a coordinate: one number, or one for each mode or leaf. With `_` a slice.

>>> import tilescope as ts
>>> l = ts.Layout((4, 8), (8, 1))
>>> l(3, 5)
29
>>> print(l(3, ts._))
(8):(1) off 24

Error: a coordinate that does not fit the shape.)doc")
      .def(
          "__getitem__",
          [](const Layout& self, std::int64_t mode) {
            if (mode < 0) mode += self.rank();
            return taken(get(self, mode));
          },
          nb::arg("mode"), "The mode of this number as a layout. Error: there is none.")
      .def(
          "__len__", [](const Layout& self) { return static_cast<std::size_t>(size_of(self)); },
          "How many coordinates there are, which is ts.size(l). Error: an extent is not known.")
      .def(
          "__iter__",
          [](const Layout& self) {
            return Offsets{self, 0, size_of(self), self.concrete()};
          },
          "The offsets in the order of the coordinates, the first mode fastest.")
      .def(
          "__eq__",
          [](const Layout& self, nb::handle other) -> nb::object {
            Layout* right = nullptr;
            if (!nb::try_cast(other, right) || !right) return nb::borrow(Py_NotImplemented);
            return nb::bool_(self == *right);
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", &hash_of)
      .def("__reduce__",  // for copy and pickle: made anew of its text
           [](const Layout& self) {
             return nb::make_tuple(nb::type<Layout>(), nb::make_tuple(text(self)));
           })
      .def("__str__", [](const Layout& self) { return text(self); })
      .def("__repr__",
           [](const Layout& self) { return fmt::format("Layout(\"{}\")", text(self)); });
  define_pictures_of<Layout>(layout);
}

void define_int(nb::module_& module) {
  nb::class_<Int>(module, "Int", R"doc(A number that Python's are not: unknown, on an axis, or `_`.

>>> import tilescope as ts
>>> ts.Layout((16, ts.Int("?{div=8}")), (1, 16))
Layout("(16,?{div=8}):(1,16)")
>>> ts.Layout((4, 5), (ts.Int("1@0"), ts.Int("1@1")))(3, 2)
(3, 2))doc")
      .def(
          "__init__",
          [](Int* self, nb::handle number) {
            const Tuple one = tuple_of(number);
            if (!one.scalar()) refuse(fmt::format("{} is no single number.", about(number)));
            new (self) Int(one.leaf[0]);
          },
          nb::arg("number"),
          "Of the language's text, such as \"?\", \"?{div=16}\" or \"1@0\", or of a number.")
      .def(
          "__eq__",
          [](const Int& self, nb::handle other) -> nb::object {
            Int* right = nullptr;
            if (nb::try_cast(other, right) && right) return nb::bool_(self == *right);
            return nb::borrow(Py_NotImplemented);
          },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Int& self) { return std::hash<std::string>()(text(self)); })
      .def("__str__", [](const Int& self) { return text(self); })
      .def("__repr__", [](const Int& self) {
        return self.kind == Int::Kind::all ? std::string("_")
                                           : fmt::format("Int(\"{}\")", text(self));
      });
  module.attr("_") = nb::cast(Int::all());
}

void define_plain_boxes(nb::module_& module) {
  define_box<Swizzle>(module, "Swizzle", R"doc(Permutes offsets: bits are exchanged by exclusive or.

>>> import tilescope as ts
>>> s = ts.Swizzle(3, 4, 3)
>>> s(128)
144
>>> ts.composition(s, ts.Layout((8, 64), (64, 1)))
Layout("Sw<3,4,3> o 0 o (8,64):(64,1)"))doc")
      .def(
          "__init__",
          [](Box<Swizzle>* self, std::int64_t bits, std::int64_t base, std::int64_t shift) {
            new (self) Box<Swizzle>{taken(make_swizzle(bits, base, shift))};
          },
          nb::arg("bits"), nb::arg("base"), nb::arg("shift"),
          "CuTe's Swizzle<bits, base, shift>. Error: more bits than fit.")
      .def_prop_ro("bits", [](const Box<Swizzle>& self) { return self.value.bits; })
      .def_prop_ro("base", [](const Box<Swizzle>& self) { return self.value.base; })
      .def_prop_ro("shift", [](const Box<Swizzle>& self) { return self.value.shift; })
      .def(
          "__call__",
          [](const Box<Swizzle>& self, nb::handle offset) { return self.value(number_of(offset)); },
          nb::arg("offset"), nb::sig("def __call__(self, offset: int) -> int"),
          "Where this offset goes.");
  define_box<Tiler>(module, "Tiler", "How to cut a layout, mode by mode: <3:3,(2,4):(1,8)>.");
  auto slice = define_box<Slice>(module, "Slice",
                                 "A part of a layout: a layout, and the offset where it begins.");
  slice
      .def_prop_ro(
          "layout", [](const Box<Slice>& self) { return object_of(self.value.layout); },
          nb::sig("def layout(self) -> Layout"))
      .def_prop_ro(
          "offset", [](const Box<Slice>& self) { return object_of(Value(self.value.offset)); },
          nb::sig("def offset(self) -> Answer"));
  define_call(slice);
  define_box<ThreadValue>(module, "ThreadValue",
                          "A tiler and its (thread, value) layout, as make_layout_tv gives them.")
      .def_prop_ro(
          "tiler", [](const Box<ThreadValue>& self) { return object_of(self.value.tiler); },
          nb::sig("def tiler(self) -> Shape"))
      .def_prop_ro(
          "layout", [](const Box<ThreadValue>& self) { return object_of(self.value.layout); },
          nb::sig("def layout(self) -> Layout"));
  define_box<Place>(module, "Place", "Where a coordinate leads on named axes: 3@TLane+4@TCol.");
  define_box<Verdict>(module, "Verdict", R"doc(Yes or no, with its reason.

>>> import tilescope as ts
>>> v = ts.injective(ts.Layout((2, 2), (1, 1)))
>>> bool(v), str(v)
(False, 'false'))doc")
      .def("__bool__", [](const Box<Verdict>& self) { return self.value.value; })
      .def_prop_ro(
          "because", [](const Box<Verdict>& self) { return self.value.because; }, "A sentence.");
}

void define_tiled_boxes(nb::module_& module) {
  using Mma = Box<Shared<MmaAtom>>;
  define_box<Shared<MmaAtom>>(module, "MMAAtom",
                              R"doc(An instruction of the tensor cores, by CuTe's name.

>>> import tilescope as ts
>>> ts.eval("SM80_16x8x16_F32F16F16F32_TN").shape_mnk
(16, 8, 16))doc")
      .def_prop_ro("name", [](const Mma& self) { return std::string(self.value->name.view()); })
      .def_prop_ro(
          "shape_mnk", [](const Mma& self) { return object_of(self.value->shape_mnk); },
          nb::sig("def shape_mnk(self) -> Shape"))
      .def_prop_ro(
          "thr_id", [](const Mma& self) { return object_of(self.value->thr_id); },
          nb::sig("def thr_id(self) -> Layout"))
      .def_prop_ro(
          "layout_A_TV", [](const Mma& self) { return object_of(self.value->a.tv); },
          nb::sig("def layout_A_TV(self) -> Layout"))
      .def_prop_ro(
          "layout_B_TV", [](const Mma& self) { return object_of(self.value->b.tv); },
          nb::sig("def layout_B_TV(self) -> Layout"))
      .def_prop_ro(
          "layout_C_TV", [](const Mma& self) { return object_of(self.value->c.tv); },
          nb::sig("def layout_C_TV(self) -> Layout"));
  using Copy = Box<Shared<CopyAtom>>;
  define_box<Shared<CopyAtom>>(module, "CopyAtom", "An instruction that copies, by CuTe's name.")
      .def_prop_ro("name", [](const Copy& self) { return std::string(self.value->name.view()); })
      .def_prop_ro(
          "thr_id", [](const Copy& self) { return object_of(self.value->thr_id); },
          nb::sig("def thr_id(self) -> Layout"))
      .def_prop_ro(
          "layout_src_TV", [](const Copy& self) { return object_of(self.value->src); },
          nb::sig("def layout_src_TV(self) -> Layout"))
      .def_prop_ro(
          "layout_dst_TV", [](const Copy& self) { return object_of(self.value->dst); },
          nb::sig("def layout_dst_TV(self) -> Layout"));
  using Tiled = Box<Shared<TiledMma>>;
  define_box<Shared<TiledMma>>(module, "TiledMMA", "An MMA atom, repeated over threads and values.")
      .def_prop_ro(
          "thr_layout_vmnk",
          [](const Tiled& self) { return object_of(self.value->thr_layout_vmnk); },
          nb::sig("def thr_layout_vmnk(self) -> Layout"))
      .def_prop_ro(
          "atom",
          [](const Tiled& self) {
            return object_of(Value(std::make_shared<const MmaAtom>(self.value->atom)));
          },
          nb::sig("def atom(self) -> MMAAtom"));
  using TiledC = Box<Shared<TiledCopy>>;
  define_box<Shared<TiledCopy>>(module, "TiledCopy",
                                "A copy atom, repeated over threads and values.")
      .def_prop_ro(
          "tiler", [](const TiledC& self) { return object_of(self.value->tiler); },
          nb::sig("def tiler(self) -> Shape"))
      .def_prop_ro(
          "layout_tv", [](const TiledC& self) { return object_of(self.value->layout_tv); },
          nb::sig("def layout_tv(self) -> Layout"))
      .def_prop_ro(
          "atom",
          [](const TiledC& self) {
            return object_of(Value(std::make_shared<const CopyAtom>(self.value->atom)));
          },
          nb::sig("def atom(self) -> CopyAtom"));
  using Tile = Box<Shared<TileLayout>>;
  auto tile = define_box<Shared<TileLayout>>(
      module, "TileLayout",
      R"doc(TIRx's layout: a shard, replicas, an offset, a swizzle. A coordinate has owners.

>>> import tilescope as ts
>>> ts.eval("S[(32,16):(1@TLane,1@TCol)]")(3, 4)
[<Place 3@TLane+4@TCol>])doc");
  tile.def(
          "__init__",
          [](Tile* self, nb::args given) {
            new (self) Tile{std::get<Shared<TileLayout>>(called("TileLayout", given))};
          },
          nb::sig("def __init__(self, *arguments: Value) -> None"), "The language's TileLayout.")
      .def_prop_ro(
          "shard", [](const Tile& self) { return object_of(self.value->shard); },
          nb::sig("def shard(self) -> Layout"))
      .def_prop_ro(
          "replica", [](const Tile& self) { return object_of(self.value->replica); },
          nb::sig("def replica(self) -> Layout"))
      .def_prop_ro(
          "offset", [](const Tile& self) { return object_of(Value(self.value->offset)); },
          nb::sig("def offset(self) -> Answer"));
  define_call(tile);
}

}  // namespace

void define_values(nb::module_& module) {
  define_int(module);
  define_layout(module);
  define_plain_boxes(module);
  define_tensor(module);
  define_tiled_boxes(module);
}

}  // namespace tilescope::python
