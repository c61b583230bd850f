// Tensor maps over arrays, for kernels that copy by TMA.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "app/python/arguments.h"
#include "app/python/values.h"

namespace tilescope::python {
namespace {

template <class T>
std::vector<T> numbers_in(nb::handle object, const char* what, std::int64_t most) {
  std::vector<T> out;
  if (object.is_none()) return out;
  const Tuple numbers = tuple_of(object);
  for (int i = 0; i < numbers.leaves; ++i) {
    const Int& n = numbers.leaf[i];
    if (!n.known() || !n.axis.none() || n.value < 0 || n.value > most) {
      refuse(fmt::format("{}={}: numbers from 0 to {}.", what, about(object), most));
    }
    out.push_back(static_cast<T>(n.value));
  }
  return out;
}

MapSwizzle swizzle_of(const std::string& name) {
  if (const std::optional<MapSwizzle> swizzle = swizzle_named(name)) return *swizzle;
  refuse(
      fmt::format("swizzle=\"{}\": none, 32B, 64B, 128B, 128B_atom32B, 128B_atom32B_flip8B or "
                  "128B_atom64B.",
                  name));
}

MapInterleave interleave_of(const std::string& name) {
  if (name == "none") return MapInterleave::none;
  if (name == "16B") return MapInterleave::bytes16;
  if (name == "32B") return MapInterleave::bytes32;
  refuse(fmt::format("interleave=\"{}\": none, 16B or 32B.", name));
}

// Numbers of either sign, W first: the corners of im2col.
std::vector<std::int32_t> corner_in(nb::handle object, const char* what) {
  std::vector<std::int32_t> out;
  if (object.is_none()) return out;
  const Tuple numbers = tuple_of(object);
  for (int i = 0; i < numbers.leaves; ++i) {
    const Int& n = numbers.leaf[i];
    if (!n.known() || !n.axis.none() || n.value < INT16_MIN || n.value > INT16_MAX) {
      refuse(
          fmt::format("{}={}: numbers from {} to {}.", what, about(object), INT16_MIN, INT16_MAX));
    }
    out.push_back(static_cast<std::int32_t>(n.value));
  }
  return out;
}

MapPacking packing_of(const std::string& name) {
  if (name == "none") return MapPacking::none;
  if (const std::optional<MapPacking> packing = packing_named(name)) return *packing;
  refuse(fmt::format("packing=\"{}\": none, b4x16_p64, b6x16_p32 or b4x16 (PTX ISA 5.5.1).", name));
}

// What im2col has in place of a box.
struct Im2col {
  nb::handle lower, upper;
  std::uint32_t channels = 0, pixels = 0;
};

DType type_of(const HostArray& array, const std::string& name) {
  const std::optional<DType> type = name.empty()            ? array.dtype()
                                    : map_float_named(name) ? DType::f32
                                                            : dtype_named(name);
  if (type && bytes_of(*type) == array.element_bytes()) return *type;
  if (type) {
    refuse(fmt::format("dtype=\"{}\" has {} bytes, and elements of {} have {}.", name,
                       bytes_of(*type), array.text(), array.element_bytes()));
  }
  refuse(fmt::format(
      "dtype=\"{}\" of an array of {}: f16, bf16, f32, tf32, f32_ftz, tf32_ftz, f64, e4m3, e5m2, "
      "u8, i8, u16, i16, u32, i32, u64 or i64 is needed.",
      name, array.text()));
}

ArrayMap map_of(nb::object array, nb::handle box, nb::handle dims, nb::handle strides,
                const std::string& dtype, const std::string& swizzle, const std::string& interleave,
                const std::string& oob, nb::handle element_strides, const std::string& packing,
                const Im2col& im2col) {
  const std::optional<HostArray> host = HostArray::of(array);
  if (!host) refuse(fmt::format("{} is no array.", about(array)));
  ArrayMap out{std::move(array), {}};
  constexpr std::int64_t most = INT64_MAX;
  out.how.dtype = type_of(*host, dtype);
  out.how.floats = map_float_named(dtype).value_or(MapFloat::f32);
  out.how.box = numbers_in<std::uint32_t>(box, "box", UINT32_MAX);
  out.how.dims = numbers_in<std::uint64_t>(dims, "dims", most);
  out.how.strides = numbers_in<std::uint64_t>(strides, "strides", most);
  // As the array lies, innermost first.
  if (dims.is_none()) {
    for (std::size_t i = host->shape().size(); i-- > 0;) {
      out.how.dims.push_back(static_cast<std::uint64_t>(host->shape()[i]));
      const std::int64_t stride = host->strides()[i];
      if (i + 1 == host->shape().size()) {
        if (stride == static_cast<std::int64_t>(host->element_bytes()) || host->shape()[i] == 1)
          continue;
        refuse(fmt::format(
            "The last dimension of {} has a stride of {} bytes: a tensor map needs neighbours "
            "there, of {}.",
            host->text(), stride, host->element_bytes()));
      }
      if (stride < 0)
        refuse(fmt::format("{} has a negative stride, which no tensor map has.", host->text()));
      if (strides.is_none()) out.how.strides.push_back(static_cast<std::uint64_t>(stride));
    }
  }
  out.how.element_strides =
      numbers_in<std::uint32_t>(element_strides, "element_strides", UINT32_MAX);
  out.how.swizzle = swizzle_of(swizzle);
  out.how.interleave = interleave_of(interleave);
  if (oob != "zero" && oob != "nan") refuse(fmt::format("oob=\"{}\": zero or nan.", oob));
  out.how.nan_fill = oob == "nan";
  out.how.packing = packing_of(packing);
  out.how.lower = corner_in(im2col.lower, "lower");
  out.how.upper = corner_in(im2col.upper, "upper");
  out.how.channels = im2col.channels;
  out.how.pixels = im2col.pixels;
  return out;
}

}  // namespace

void define_tensor_map(nb::module_& module) {
  nb::class_<ArrayMap>(module, "TensorMap",
                       "A tensor map over an array, as cuTensorMapEncodeTiled makes one: an "
                       "argument of a kernel that "
                       "copies by TMA.")
      .def(
          "__init__",
          [](ArrayMap* self, nb::object array, nb::handle box, nb::handle dims, nb::handle strides,
             const std::string& dtype, const std::string& swizzle, const std::string& interleave,
             const std::string& oob, nb::handle element_strides, const std::string& packing,
             nb::handle lower, nb::handle upper, std::uint32_t channels, std::uint32_t pixels) {
            new (self)
                ArrayMap(map_of(std::move(array), box, dims, strides, dtype, swizzle, interleave,
                                oob, element_strides, packing, {lower, upper, channels, pixels}));
          },
          nb::arg("array").none(), nb::arg("box") = nb::none(), nb::kw_only(),
          nb::arg("dims") = nb::none(), nb::arg("strides") = nb::none(), nb::arg("dtype") = "",
          nb::arg("swizzle") = "none", nb::arg("interleave") = "none", nb::arg("oob") = "zero",
          nb::arg("element_strides") = nb::none(), nb::arg("packing") = "none",
          nb::arg("lower") = nb::none(), nb::arg("upper") = nb::none(), nb::arg("channels") = 0,
          nb::arg("pixels") = 0,
          nb::sig(
              "def __init__(self, array: Any, box: tuple[int, ...] | None = None, *, dims: "
              "tuple[int, "
              "...] | "
              "None = None, "
              "strides: tuple[int, ...] | None = None, dtype: str = '', swizzle: str = 'none', "
              "interleave: str = "
              "'none', oob: str = 'zero', element_strides: tuple[int, ...] | None = None, "
              "packing: str = 'none', lower: tuple[int, ...] | None = None, upper: tuple[int, ...] "
              "| None = None, channels: int = 0, pixels: int = 0) -> None"),
          "box, dims, strides, element_strides: innermost first, strides in bytes from dimension 1 "
          "on; dims and "
          "strides\nare the array's own where they are left out. dtype: f16, bf16, e4m3... where "
          "the array's own "
          "says less; tf32 rounds what is copied to shared memory, f32_ftz and tf32_ftz take "
          "denormals for 0 in sums.\nswizzle: none, 32B, 64B, 128B. oob: what is outside, zero or "
          "nan.\n"
          "packing: of elements of 4 or 6 bits, b4x16, b4x16_p64 or b6x16_p32: dtype is u8, and "
          "dims count elements.\n"
          "lower, upper, channels, pixels: in place of box, for im2col.\n"
          "Error: what the driver would refuse; some of it is seen at the launch.");
}

}  // namespace tilescope::python
