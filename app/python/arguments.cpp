#include "app/python/arguments.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "app/python/values.h"
#include "core/ptx/types.h"
#include "core/run/fit_launch.h"
#include "core/run/job.h"
#include "core/sim/async/map_bits.h"

namespace tilescope::python {
namespace {

std::string type_text(const ptx::Parameter& p) {
  const auto one = static_cast<std::uint32_t>(ptx::bytes_of(p.type));
  return p.bytes > one && one > 0 ? fmt::format("{}[{}]", ptx::name_of(p.type), p.bytes / one)
                                  : std::string(ptx::name_of(p.type));
}

// "argument 2 (x_ptr, u64)"
std::string name_of(const ptx::Function& entry, std::size_t i) {
  const ptx::Parameter& p = entry.parameters[i];
  return fmt::format("argument {} ({}, {})", i, p.name, type_text(p));
}

std::optional<DType> float_type(ptx::Type type) {
  switch (type) {
    case ptx::Type::f16:
      return DType::f16;
    case ptx::Type::bf16:
      return DType::bf16;
    case ptx::Type::f32:
      return DType::f32;
    case ptx::Type::f64:
      return DType::f64;
    default:
      return std::nullopt;
  }
}

bool is_array_of_bytes(const ptx::Parameter& p) {
  return static_cast<int>(p.bytes) != ptx::bytes_of(p.type);
}

// A whole number, where the object is one: Python's, NumPy's.
nb::object whole(nb::handle object) {
  if (PyLong_Check(object.ptr())) return nb::borrow(object);
  if (!PyIndex_Check(object.ptr())) return {};
  PyObject* const number = PyNumber_Index(object.ptr());
  if (!number) PyErr_Clear();
  return nb::steal(number);
}

std::optional<double> real(nb::handle object) {
  if (!PyFloat_Check(object.ptr()) && !nb::hasattr(object, "__float__")) return std::nullopt;
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return std::nullopt;
  }
  return value;
}

// From -2^(n-1) to 2^n - 1: signed or not, the kernel knows.
std::vector<std::byte> integer_bytes(const nb::object& number, std::uint32_t bytes,
                                     const std::string& name) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (small == -1 && PyErr_Occurred()) throw nb::python_error();
  std::uint64_t bits = static_cast<std::uint64_t>(small);
  bool fits = overflow == 0;
  if (overflow > 0) {
    bits = PyLong_AsUnsignedLongLong(number.ptr());
    fits = bytes == 8 && !PyErr_Occurred();
    PyErr_Clear();
  } else if (fits && bytes < 8) {
    const std::int64_t most = (std::int64_t{1} << (8 * bytes)) - 1;
    fits = small <= most && small >= -(most / 2) - 1;
  }
  if (!fits) refuse(fmt::format("{} does not fit into {}.", about(number), name));
  std::vector<std::byte> out(bytes);
  std::memcpy(out.data(), &bits, bytes);
  return out;
}

// The bytes of an object that has some: bytes, a struct of ctypes or NumPy.
std::optional<std::vector<std::byte>> raw_bytes(nb::handle object) {
  if (!PyObject_CheckBuffer(object.ptr())) return std::nullopt;
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  const auto* const begin = static_cast<const std::byte*>(view.buf);
  std::vector<std::byte> out(begin, begin + view.len);
  PyBuffer_Release(&view);
  return out;
}

// A number as the parameter has it; nothing where the object is none.
std::optional<std::vector<std::byte>> number_bytes(const ptx::Parameter& p, nb::handle object,
                                                   const std::string& name) {
  if (PyBytes_Check(object.ptr())) return std::nullopt;
  const std::optional<DType> floating = float_type(p.type);
  if (is_array_of_bytes(p)) return std::nullopt;
  if (floating) {
    const std::optional<double> value = real(object);
    if (!value) return std::nullopt;
    std::vector<std::byte> out(p.bytes);
    store_element(*floating, out.data(), *value);
    return out;
  }
  if (const nb::object number = whole(object)) return integer_bytes(number, p.bytes, name);
  if (const std::optional<double> value = real(object)) {
    refuse(fmt::format("{} is no whole number, as {} is.", *value, name));
  }
  return std::nullopt;
}

}  // namespace

void Parameters::take(nb::handle given) {
  if (!PyTuple_Check(given.ptr()) && !PyList_Check(given.ptr())) {
    refuse(fmt::format("args={}: a list or tuple is needed, with one argument for each parameter.",
                       about(given)));
  }
  const nb::tuple arguments(given);
  const std::size_t wanted = entry_.parameters.size();
  if (arguments.size() != wanted) {
    std::string all;
    for (std::size_t i = 0; i < wanted; ++i) {
      all += fmt::format("{}{} {}", i ? ", " : "", type_text(entry_.parameters[i]),
                         entry_.parameters[i].name);
    }
    refuse(fmt::format("{} has {} parameter{} ({}), but the launch gives {} argument{}.",
                       entry_.name, wanted, wanted == 1 ? "" : "s", all, arguments.size(),
                       arguments.size() == 1 ? "" : "s"));
  }
  values_.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i) take_one(i, arguments[i]);
}

void Parameters::take_one(std::size_t i, nb::handle object) {
  const ptx::Parameter& p = entry_.parameters[i];
  const std::string name = name_of(entry_, i);
  ArrayMap* map = nullptr;
  if (nb::try_cast(object, map) && map) {
    if (p.bytes < map_bytes) {
      refuse(fmt::format("{} has {} bytes, and a tensor map needs {}.", name, p.bytes, map_bytes));
    }
    std::optional<HostArray> array = HostArray::of(map->array);
    if (!array) refuse(fmt::format("The tensor map of {} is over no array.", name));
    maps_.push_back({i, host_.add(std::move(*array), fmt::format("argument {}", i)), *map});
    values_[i].resize(p.bytes);
    return;
  }
  if (object.is_none()) {
    if (p.bytes != 8)
      refuse(fmt::format("None is a null pointer, and {} has {} bytes.", name, p.bytes));
    values_[i].resize(8);
    return;
  }
  if (std::optional<HostArray> array = HostArray::of(object)) {
    if (p.bytes != 8) {
      refuse(fmt::format("An array is a pointer of 8 bytes, and {} has {}.", name, p.bytes));
    }
    pointers_.push_back(
        {i, host_.add(std::move(*array), fmt::format("argument {}", i)), nb::borrow(object)});
    values_[i].resize(8);
    return;
  }
  if (auto number = number_bytes(p, object, name)) {
    values_[i] = std::move(*number);
    return;
  }
  std::optional<std::vector<std::byte>> raw = raw_bytes(object);
  if (!raw) {
    refuse(
        fmt::format("{} cannot be {}: an array, a number, None, bytes or a TensorMap can be a "
                    "kernel's argument.",
                    about(object), name));
  }
  if (raw->size() != p.bytes) {
    refuse(fmt::format("{} has {} bytes, but is given {}.", name, p.bytes, raw->size()));
  }
  values_[i] = std::move(*raw);
}

nb::dict Parameters::arrays() const {
  std::map<std::size_t, nb::object> all;
  for (const Pointer& each : pointers_) all[each.parameter] = each.object;
  for (const Map& each : maps_) all[each.parameter] = each.map.array;
  nb::dict out;
  for (const auto& [parameter, object] : all)
    out[nb::str(std::string(entry_.parameters[parameter].name).c_str())] = object;
  return out;
}

std::vector<std::byte> Parameters::bytes() const {
  std::vector<std::vector<std::byte>> values = values_;
  for (const Pointer& each : pointers_) {
    const std::uint64_t address = host_.address(each.array);
    std::memcpy(values[each.parameter].data(), &address, sizeof address);
  }
  for (const Map& each : maps_) {
    const HostArray& array = host_.array(each.array);
    Buffer shell;
    shell.name = fmt::format("argument {}", each.parameter);
    shell.dtype = DType::u8;
    shell.shape = {static_cast<std::int64_t>(array.bytes())};
    const sim::MapBits bits =
        sim::encode(taken(complete(each.map.how, shell, host_.address(each.array))));
    std::memcpy(values[each.parameter].data(), bits.data(), bits.size());
  }
  std::vector<std::byte> out(entry_.parameter_bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ptx::Parameter& p = entry_.parameters[i];
    if (!values[i].empty()) std::memcpy(out.data() + p.offset, values[i].data(), values[i].size());
  }
  return out;
}

nb::list parameters_of(const ptx::Function& entry) {
  nb::list out;
  for (const ptx::Parameter& p : entry.parameters) {
    out.append(nb::make_tuple(nb::str(p.name.data(), p.name.size()), type_text(p), p.bytes));
  }
  return out;
}

}  // namespace tilescope::python
