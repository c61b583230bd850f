#include "app/kernel_options.h"

#include <fmt/format.h>

#include <charconv>

namespace tilescope {
namespace {

template <class Number>
std::optional<Error> read_number(const std::string& option, const std::string& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return Error{ErrorKind::usage,
               fmt::format("--{} takes a number, and `{}` is none.", option, text), ""};
}

// The option's place in the entry: a size, an input tensor, or what every kernel takes.
std::optional<Error> put(const CatalogEntry& entry, const std::string& option,
                         const std::string& value, RunOptions& out) {
  for (const SizeParameter& size : entry.sizes) {
    if (size.name == option) return read_number(option, value, out.sizes[size.name]);
  }
  for (const OptionParameter& own : entry.options) {
    if (own.name != option) continue;
    out.choices[option] = value;
    return {};
  }
  for (const TensorSpec& tensor : entry.tensors) {
    if (tensor.role != TensorRole::output && option_of(tensor) == option) {
      out.files[tensor.name] = value;
      return {};
    }
  }
  if (option == "seed") return read_number(option, value, out.seed);
  if (option == "ptx") {
    out.ptx = value;
    return {};
  }
  if (option == "source") {
    out.source = value;
    return {};
  }
  if (option == "dtype") {
    out.dtype = value;
    return {};
  }
  if (option == "grid") {
    const Outcome<Dim3> grid = grid_in(value);
    if (!grid) return grid.error();
    out.grid = *grid;
    return {};
  }
  std::string known;
  for (const SizeParameter& size : entry.sizes) known += fmt::format("--{}, ", size.name);
  for (const OptionParameter& own : entry.options) known += fmt::format("--{}, ", own.name);
  for (const TensorSpec& tensor : entry.tensors) {
    if (tensor.role != TensorRole::output) known += fmt::format("--{}, ", option_of(tensor));
  }
  return Error{ErrorKind::usage,
               fmt::format("{} has no option --{}; it takes {}--seed, --dtype, --grid, --ptx, "
                           "--source, --device, --schedule, --lazy and --numerics.",
                           entry.name, option, known),
               ""};
}

}  // namespace

bool chooses_order(std::string_view option) {
  return option == "device" || option == "schedule" || option == "lazy" || option == "numerics";
}

KernelOptions without_order(const KernelOptions& options) {
  KernelOptions out;
  for (const auto& option : options) {
    if (!chooses_order(option.first)) out.insert(option);
  }
  return out;
}

std::string option_of(const TensorSpec& tensor) {
  std::string out = tensor.name;
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

Outcome<RunOptions> run_options(const CatalogEntry& entry, const KernelOptions& options) {
  RunOptions run;
  for (const auto& [option, value] : options) {
    if (chooses_order(option)) continue;
    if (auto error = put(entry, option, value, run)) return *error;
  }
  return run;
}

}  // namespace tilescope
