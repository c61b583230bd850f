#include "app/python/arrays.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "app/python/tensors.h"
#include "app/python/values.h"
#include "core/diff/diff.h"
#include "core/run/job.h"

namespace tilescope::python {
namespace {

struct ReleaseView {
  void operator()(Py_buffer* view) const {
    PyBuffer_Release(view);
    delete view;
  }
};

// A number of NumPy's has a buffer too, but is none of memory that a kernel could have.
bool may_have_buffer(nb::handle object) {
  if (!PyObject_CheckBuffer(object.ptr()) || PyBytes_Check(object.ptr())) return false;
  return nb::hasattr(object, "__dlpack__") || !nb::hasattr(object, "dtype");
}

std::string dtype_text(nb::handle object) {
  if (nb::hasattr(object, "dtype")) return str_of(nb::getattr(object, "dtype"));
  return type_name_of(object);
}

}  // namespace

// What all elements together take.
void HostArray::measure() {
  const bool empty = std::find(shape_.begin(), shape_.end(), 0) != shape_.end();
  if (empty) return;
  beyond_ = element_;
  for (std::size_t i = 0; i < shape_.size(); ++i) {
    const std::int64_t step = (shape_[i] - 1) * strides_[i];
    (step < 0 ? lowest_ : beyond_) += step;
  }
}

std::optional<HostArray> HostArray::of(nb::handle object) {
  Box<Tensor>* tensor = nullptr;
  if (nb::try_cast(object, tensor) && tensor && tensor->elements) {
    return of(numpy_of(*tensor, nb::bool_(false)));
  }
  const nb::object dtype = nb::getattr(object, "dtype", nb::none());
  if (nb::cast<bool>(nb::bool_(nb::getattr(dtype, "hasobject", nb::bool_(false))))) {
    refuse(
        fmt::format("An array of {} holds addresses of Python's objects, and no elements; "
                    "astype(np.float32) makes numbers of them.",
                    dtype_text(object)));
  }
  HostArray out;
  if (may_have_buffer(object)) {
    auto view = std::make_unique<Py_buffer>();
    if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_STRIDED_RO) != 0) {
      if (!nb::hasattr(object, "__dlpack__")) throw nb::python_error();
      PyErr_Clear();
    } else {
      out.view_ = std::shared_ptr<Py_buffer>(view.release(), ReleaseView());
      const Py_buffer& got = *out.view_;
      out.data_ = static_cast<std::byte*>(got.buf);
      out.element_ = static_cast<std::uint32_t>(got.itemsize);
      out.read_only_ = got.readonly != 0;
      out.shape_.assign(got.shape, got.shape + got.ndim);
      if (got.strides) {
        out.strides_.assign(got.strides, got.strides + got.ndim);
      } else {  // all dense, as an array of ctypes is
        out.strides_.resize(out.shape_.size());
        std::int64_t step = got.itemsize;
        for (std::size_t d = out.shape_.size(); d-- > 0; step *= out.shape_[d])
          out.strides_[d] = step;
      }
    }
  }
  if (!out.view_) {
    if (!nb::hasattr(object, "__dlpack__")) return std::nullopt;
    // Some give away only what is read.
    nb::ndarray<> writable;
    nb::ndarray<nb::ro> any;
    if (nb::try_cast(object, writable)) {
      any = nb::ndarray<nb::ro>(writable);
    } else if (nb::try_cast(object, any)) {
      out.read_only_ = true;
    } else {
      refuse(fmt::format("{} does not give its memory away (DLPack).", about(object)));
    }
    if (any.device_type() != nb::device::cpu::value) {
      refuse(
          fmt::format("An array of type {} is not in the CPU's memory: the simulator needs it "
                      "there, as `.cpu()` of torch puts it.",
                      type_name_of(object)));
    }
    out.data_ = const_cast<std::byte*>(static_cast<const std::byte*>(any.data()));
    out.element_ = static_cast<std::uint32_t>((any.dtype().bits * any.dtype().lanes + 7) / 8);
    for (std::size_t i = 0; i < any.ndim(); ++i) {
      out.shape_.push_back(static_cast<std::int64_t>(any.shape(i)));
      out.strides_.push_back(any.stride(i) * static_cast<std::int64_t>(out.element_));
    }
    out.tensor_ = std::move(any);
  }
  out.measure();
  out.type_ = dtype_text(object);
  out.text_ = fmt::format("{} {}", out.type_, shape_text(out.shape_));
  return out;
}

std::optional<DType> HostArray::dtype() const {
  struct Named {
    std::string_view name;
    DType type;
  };
  constexpr Named known[] = {
      {"float16", DType::f16},        {"bfloat16", DType::bf16},    {"float32", DType::f32},
      {"float64", DType::f64},        {"uint8", DType::u8},         {"int8", DType::i8},
      {"uint16", DType::u16},         {"int16", DType::i16},        {"uint32", DType::u32},
      {"int32", DType::i32},          {"uint64", DType::u64},       {"int64", DType::i64},
      {"float8_e4m3fn", DType::e4m3}, {"float8_e5m2", DType::e5m2},
  };
  std::string_view name = type_;
  if (name.starts_with("torch.")) name.remove_prefix(6);
  for (const Named& each : known) {
    if (each.name == name) return each.type;
  }
  return std::nullopt;
}

std::vector<std::byte> HostArray::packed() const {
  std::vector<std::byte> out;
  if (bytes() == 0) return out;
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape_) count *= static_cast<std::uint64_t>(extent);
  out.resize(count * element_);
  std::vector<std::int64_t> at(shape_.size());
  std::int64_t from = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::memcpy(out.data() + i * element_, data_ + from, element_);
    for (std::size_t d = shape_.size(); d-- > 0;) {
      from += strides_[d];
      if (++at[d] < shape_[d]) break;
      from -= shape_[d] * strides_[d];
      at[d] = 0;
    }
  }
  return out;
}

std::size_t HostMemory::add(HostArray array, std::string name, bool in_place) {
  arrays_.push_back({std::move(array), std::move(name), in_place});
  return arrays_.size() - 1;
}

std::optional<Error> HostMemory::copy_in(sim::DeviceMemory& memory) {
  std::vector<std::size_t> order(arrays_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return arrays_[a].array.begin() < arrays_[b].array.begin();
  });
  std::uint64_t total = 0;
  stretches_.clear();
  for (const std::size_t i : order) {
    Named& named = arrays_[i];
    const HostArray& array = named.array;
    if (array.bytes() == 0) continue;
    std::byte* const end = array.begin() + array.bytes();
    if (stretches_.empty() || array.begin() >= stretches_.back().end) {
      stretches_.push_back(
          {array.begin(), end, 0, array.read_only(), named.in_place, named.name, array.text()});
    } else {
      Stretch& last = stretches_.back();
      // The same memory by two names: who may write may write.
      last.read_only = last.read_only && array.read_only();
      last.in_place = last.in_place || named.in_place;
      last.end = std::max(last.end, end);
      last.name += " and " + named.name;
    }
    named.stretch = stretches_.size() - 1;
  }
  for (const Stretch& s : stretches_) total += static_cast<std::uint64_t>(s.end - s.begin);
  if (total > largest_job_bytes) {
    return Error{ErrorKind::mismatch,
                 fmt::format("The arrays are {:.3g} GiB; up to {} GiB work in one launch.",
                             static_cast<double>(total) / (1 << 30), largest_job_bytes >> 30),
                 ""};
  }
  for (Stretch& s : stretches_) {
    if (!s.in_place) continue;
    s.address = reinterpret_cast<std::uint64_t>(s.begin);
    if (!memory.place(sim::Region(sim::Region::Kind::buffer, s.name, s.address,
                                  std::vector<std::byte>(s.begin, s.end)))) {
      return Error{ErrorKind::mismatch,
                   fmt::format("{} ({}) lies at {:#x} on the host, where a variable of the module "
                               "is in the kernel's memory: a copy of the array lies elsewhere.",
                               s.name, s.about, s.address),
                   ""};
    }
  }
  for (Stretch& s : stretches_) {
    if (!s.in_place) s.address = memory.allocate(std::vector<std::byte>(s.begin, s.end), s.name);
    if (sim::Region* const region = memory.find(s.address)) region->about = s.about;
  }
  return std::nullopt;
}

std::uint64_t HostMemory::address(std::size_t number) const {
  const Named& named = arrays_[number];
  if (named.array.bytes() == 0) return 0;
  const Stretch& s = stretches_[named.stretch];
  return s.address + static_cast<std::uint64_t>(named.array.data() - s.begin);
}

std::uint64_t HostMemory::region(std::size_t number) const {
  const Named& named = arrays_[number];
  return named.array.bytes() == 0 ? 0 : stretches_[named.stretch].address;
}

std::optional<Error> HostMemory::copy_out(const sim::DeviceMemory& memory) const {
  std::optional<Error> wrong;
  for (const Stretch& s : stretches_) {
    const auto bytes = static_cast<std::size_t>(s.end - s.begin);
    const sim::Region* const region = memory.find(s.address, bytes);
    if (!region) continue;
    const std::byte* const from = region->data() + (s.address - region->base());
    if (!s.read_only) {
      std::memcpy(s.begin, from, bytes);
    } else if (std::memcmp(s.begin, from, bytes) != 0) {
      wrong = Error{ErrorKind::mismatch,
                    fmt::format("{} is read-only, and the kernel has written into it: the array "
                                "stays as it was.",
                                s.name),
                    ""};
    }
  }
  return wrong;
}

namespace {

// Bytes of a region that are undefined in one of the two count as equal.
std::vector<std::byte> with_undefined_of(const sim::Region& first, const sim::Region& other,
                                         std::uint64_t begin, std::size_t bytes) {
  const std::byte* const from = other.data() + (begin - other.base());
  std::vector<std::byte> out(from, from + bytes);
  if (!first.undefined_bits() && !other.undefined_bits()) return out;
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::uint64_t a = begin - first.base() + i, b = begin - other.base() + i;
    if (first.is_undefined(a) || other.is_undefined(b)) out[i] = first.data()[a];
  }
  return out;
}

// By how much sums may differ that were added up in another order: parts of the largest one's size
// may have cancelled each other out.
Tolerance rounding_of(const Buffer& sums) {
  Tolerance out = tolerance_for(sums.dtype);
  const auto width = static_cast<std::size_t>(bytes_of(sums.dtype));
  double largest = 0;
  for (std::size_t at = 0; at + width <= sums.bytes.size(); at += width) {
    const double value = std::abs(load_element(sums.dtype, &sums.bytes[at]));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  out.atol = std::max(out.atol, out.rtol * largest);
  return out;
}

std::string element_difference(const HostArray& array, std::vector<std::byte> got,
                               std::vector<std::byte> want, bool rounds) {
  Buffer a{"this one", *array.dtype(), array.shape(), std::move(got)};
  Buffer b{"the first", *array.dtype(), array.shape(), std::move(want)};
  DiffOptions options;
  if (rounds && is_float(a.dtype)) options.tolerance = rounding_of(b);
  const Outcome<DiffReport> report = diff(a, b, options);
  if (!report || report->ok()) return "";
  const Mismatch& m = report->first.front();
  return fmt::format(
      "{} of {} elements differ, the first at {}: {} here, and {} in the first order",
      report->wrong, report->compared, index_text(m.index, array.shape()), m.got_text, m.want_text);
}

}  // namespace

bool HostArray::is_dense() const {
  std::int64_t step = element_;
  for (std::size_t d = shape_.size(); d-- > 0;) {
    if (shape_[d] != 1 && strides_[d] != step) return false;
    step *= shape_[d];
  }
  return lowest_ == 0;
}

std::string HostMemory::difference(const sim::DeviceMemory& first, const sim::DeviceMemory& other,
                                   bool rounds) const {
  for (const Stretch& s : stretches_) {
    const auto bytes = static_cast<std::size_t>(s.end - s.begin);
    const sim::Region* const a = first.find(s.address, bytes);
    const sim::Region* const b = other.find(s.address, bytes);
    if (!a || !b) continue;
    const std::byte* const was = a->data() + (s.address - a->base());
    const std::vector<std::byte> is = with_undefined_of(*a, *b, s.address, bytes);
    const auto differs = std::mismatch(is.begin(), is.end(), was).first;
    if (differs == is.end()) continue;
    const auto named = std::find_if(arrays_.begin(), arrays_.end(), [&](const Named& each) {
      return each.array.begin() == s.begin && each.array.bytes() == bytes &&
             each.array.is_dense() && each.array.dtype();
    });
    if (named == arrays_.end()) {
      const auto at = static_cast<std::size_t>(differs - is.begin());
      return fmt::format("byte {} of {} is 0x{:02x} here, and 0x{:02x} in the first order", at,
                         s.name, std::to_integer<int>(is[at]), std::to_integer<int>(was[at]));
    }
    std::string text = element_difference(named->array, is, {was, was + bytes}, rounds);
    if (!text.empty()) return fmt::format("of {} ({}), {}", s.name, s.about, text);
  }
  return "";
}

nb::dlpack::dtype element_of(DType type) {
  using nb::dlpack::dtype_code;
  const auto bits = static_cast<std::uint8_t>(bits_of(type));
  // What NumPy lacks is raw bits.
  const bool floating = is_float(type) && type != DType::bf16 && bits > 8;
  const dtype_code code = floating                  ? dtype_code::Float
                          : is_signed_integer(type) ? dtype_code::Int
                                                    : dtype_code::UInt;
  return {static_cast<std::uint8_t>(code), bits, 1};
}

}  // namespace tilescope::python
