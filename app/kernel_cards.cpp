#include "app/kernel_cards.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "app/compiled_files.h"
#include "app/files.h"
#include "app/kernel_options.h"
#include "app/window_runs.h"
#include "core/run/manifest.h"

namespace tilescope {
namespace {

std::string type_and_shape(DType dtype, const std::vector<std::int64_t>& shape) {
  return fmt::format("{} {}", name_of(dtype), shape_text(shape));
}

std::string launch_text(const Launch& launch) {
  return fmt::format("{} CTA{} of {} threads", launch.grid.count(),
                     launch.grid.count() == 1 ? "" : "s", launch.block.count());
}

void add_launch(KernelCard& card, const Launch& launch) {
  card.launch = launch_text(launch);
  card.grid = launch.grid;
  card.block = launch.block;
  card.cluster = launch.cluster.value_or(Dim3{});
  card.shared = launch.dynamic_shared;
}

// What each parameter is given: buffers by their names, maps with their boxes.
std::vector<std::string> parameters_of(const Job& job) {
  std::vector<std::string> out;
  for (const Argument& argument : job.arguments) {
    std::string text;
    const auto add = [&](std::string what) { text += (text.empty() ? "" : ", ") + what; };
    for (const Argument::Map& map : argument.maps) {
      std::string box;
      for (const auto extent : map.map.box)
        box += fmt::format("{}{}", box.empty() ? "" : " x ", extent);
      add(fmt::format("map of {}, boxes of {}", job.buffers[map.map.buffer].name, box));
    }
    for (const Argument::Address& address : argument.addresses) {
      add(fmt::format("address of {}", job.buffers[address.buffer].name));
    }
    for (std::size_t i = 0; i < argument.handles.size(); ++i) add("a texture or surface");
    const std::size_t bytes = argument.bytes.size();
    if (text.empty() && (bytes == 4 || bytes == 8)) {
      std::int64_t value = 0;
      std::int32_t word = 0;
      if (bytes == 4) std::memcpy(&word, argument.bytes.data(), bytes);
      if (bytes == 8) std::memcpy(&value, argument.bytes.data(), bytes);
      add(fmt::format("{}", bytes == 4 ? word : value));
    } else if (text.empty()) {
      add(fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s"));
    } else if (bytes > 128) {
      add(fmt::format("{} bytes in all", bytes));
    }
    out.push_back(std::move(text));
  }
  return out;
}

// Where a catalog kernel's tensor has its contents from.
std::string where_from(const TensorSpec& tensor, const KernelOptions& options) {
  if (tensor.role == TensorRole::output) return "written by the kernel";
  const auto file = options.find(option_of(tensor));
  if (file != options.end()) return file->second;
  const auto seed = options.find("seed");
  return fmt::format("random, seed {}", seed == options.end() ? "0" : seed->second);
}

// What the kernel was made from, as its PTX names it.
std::string source_of(const CatalogEntry& entry, const KernelOptions& options) {
  if (const auto ptx = options.find("ptx"); ptx != options.end()) return ptx->second;
  const auto source = options.find("source");
  return source == options.end() ? entry.source : name_in_ptx(source->second);
}

// Only they use TMEM, so that there is some to be seen.
bool has_tensor_instructions(std::string_view ptx) {
  return ptx.find("tcgen05.") != ptx.npos;
}

std::string target_of(std::string_view ptx) {
  const std::size_t at = ptx.find(".target ");
  if (at == ptx.npos) return "";
  const std::string_view rest = ptx.substr(at + 8);
  return std::string(rest.substr(0, rest.find_first_of(" ,\r\n\t")));
}

// Which sizes a tensor's extents are: "m", "k".
std::vector<std::string> axes_of(const CatalogEntry& entry, const TensorSpec& tensor) {
  std::vector<std::string> out;
  for (const auto extent : tensor.shape) {
    for (const SizeParameter& size : entry.sizes) {
      if (size.member == extent) out.push_back(size.name);
    }
  }
  return out;
}

// "(128,64):(64,1)": dense, the last index moves fastest.
std::string row_major(const std::vector<std::int64_t>& shape) {
  std::string extents, strides;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    const char* comma = i + 1 < shape.size() ? "," : "";
    extents = fmt::format("{}{}{}", shape[i], comma, extents);
    strides = fmt::format("{}{}{}", stride, comma, strides);
    stride *= shape[i];
  }
  return shape.size() == 1 ? fmt::format("{}:1", extents)
                           : fmt::format("({}):({})", extents, strides);
}

// A box of a tensor map as it lies in shared memory: rows of the innermost extent, whose 16-byte
// pieces the swizzle exchanges within the span of a row (PTX ISA 5.5.7). Empty: of another kind.
std::string box_layout(const TensorMap& map, DType dtype) {
  if (map.box.size() < 2 || map.interleave != MapInterleave::none ||
      map.packing != MapPacking::none) {
    return "";
  }
  std::int64_t rows = 1;
  for (std::size_t i = 1; i < map.box.size(); ++i) rows *= map.box[i];
  const std::string plain = row_major({rows, std::int64_t{map.box[0]}});
  const std::size_t width = bytes_of(dtype);
  if (map.swizzle == MapSwizzle::none) return plain;
  const std::uint32_t span = span_of(map.swizzle);
  const bool pieces = map.swizzle == MapSwizzle::bytes32 || map.swizzle == MapSwizzle::bytes64 ||
                      map.swizzle == MapSwizzle::bytes128;
  if (!pieces || map.box[0] * width != span || width > 16) return "";
  const int bits = std::countr_zero(span / 16), base = 4 - std::countr_zero(width);
  return fmt::format("composition(Sw<{},{},3>, {})", bits, base, plain);
}

// Of a foreign kernel what its launch file says is laid out: tensors, and the boxes of its maps.
void add_layouts(KernelCard& card, const Job& job) {
  const auto add = [&](std::string name, std::string expression, std::string help) {
    if (!expression.empty()) {
      card.layouts.push_back({std::move(name), std::move(expression), std::move(help)});
    }
  };
  for (const Buffer& buffer : job.buffers) {
    if (buffer.shape.empty() || buffer.shape.size() > 4 || buffer.elements() < 2) continue;
    add(buffer.name, row_major(buffer.shape),
        fmt::format("{} in global memory, as the launch file says", buffer.name));
  }
  for (const Argument& argument : job.arguments) {
    for (const Argument::Map& each : argument.maps) {
      const Buffer& buffer = job.buffers[each.map.buffer];
      add("box of " + buffer.name, box_layout(each.map, each.map.dtype.value_or(buffer.dtype)),
          fmt::format("a box of {}'s tensor map as it lies in shared memory, swizzle {}",
                      buffer.name, name_of(each.map.swizzle)));
    }
  }
}

}  // namespace

bool is_output(const PreparedRun& run, std::size_t buffer) {
  for (const Output& output : run.outputs) {
    if (output.buffer == buffer) return true;
  }
  return false;
}

// What its PTX says: TMEM, shared memory, mbarriers, for which chip.
void add_of_ptx(KernelCard& card, std::string_view ptx) {
  card.tensor_memory = has_tensor_instructions(ptx);
  if (card.target.empty()) card.target = target_of(ptx);
  const Manifest manifest = manifest_in(ptx, card.entry);
  if (manifest.shared) card.shared = *manifest.shared;
  card.barriers = manifest.barriers;
}

// What the catalog knows of the kernel at these sizes; the inputs' contents are not made.
KernelCard catalog_card(const CatalogEntry& entry, const Fit& fitted,
                        const KernelOptions& options) {
  KernelCard card;
  card.name = entry.name;
  card.help = entry.help;
  card.source = source_of(entry, options);
  Launch launch = entry.launch(fitted, usual_processors);
  if (const auto grid = options.find("grid"); grid != options.end()) {
    if (const auto asked = grid_in(grid->second)) launch.grid = *asked;
  }
  add_launch(card, launch);
  card.target = entry.target;
  card.lesson = entry.lesson;
  card.entry = fitted.variant.entry;
  for (const WarpRole& role : entry.roles) card.roles.push_back({role.warps, role.does});
  for (const TensorSpec& tensor : fitted.tensors) {
    if (is_written(tensor) && card.tile.empty()) card.tile = tensor.tile;
  }
  for (const SizeParameter& size : entry.sizes) {
    card.sizes.push_back({size.name, fitted.sizes.*size.member});
  }
  for (const NamedLayout& own : entry.layouts(fitted, fitted.variant)) {
    card.layouts.push_back({own.name, own.expression, own.help});
  }
  for (std::size_t i = 0; i < fitted.tensors.size(); ++i) {
    const TensorSpec& tensor = fitted.tensors[i];
    card.tensors.push_back(
        {tensor.name, type_and_shape(fitted.variant.dtypes[i], shape_of(tensor, fitted.sizes)),
         where_from(tensor, options), nullptr, axes_of(entry, tensor), is_written(tensor),
         shape_of(tensor, fitted.sizes)});
  }
  return card;
}

// Where a buffer of a launch file has its contents from.
std::string file_tensor_from(const Buffer& buffer, bool output) {
  if (!output) return "from the launch file";
  const bool read = !buffer.undefined && std::any_of(buffer.bytes.begin(), buffer.bytes.end(),
                                                     [](std::byte b) { return b != std::byte{0}; });
  return read ? "from the launch file, then written by the kernel" : "written by the kernel";
}

// A kernel from a PTX file, as its launch file says.
KernelCard file_card(const PreparedRun& run) {
  KernelCard card;
  card.name = card.source = run.kernel;
  card.help = "PTX with a launch file";
  add_launch(card, run.job.launch);
  card.entry = run.job.launch.entry;
  card.parameters = parameters_of(run.job);
  add_layouts(card, run.job);
  for (std::size_t i = 0; i < run.job.buffers.size(); ++i) {
    const Buffer& buffer = run.job.buffers[i];
    card.tensors.push_back({buffer.name,
                            type_and_shape(buffer.dtype, buffer.shape),
                            file_tensor_from(buffer, is_output(run, i)),
                            nullptr,
                            {},
                            is_output(run, i),
                            buffer.shape});
  }
  return card;
}

// The contents of what the kernel reads, for a look at them before the run.
void add_inputs(KernelCard& card, const PreparedRun& run) {
  for (std::size_t i = 0; i < run.job.buffers.size(); ++i) {
    const Buffer& buffer = run.job.buffers[i];
    if (is_output(run, i) || buffer.undefined) continue;
    card.tensors[i].values = std::make_shared<const Buffer>(buffer);
  }
}

}  // namespace tilescope
