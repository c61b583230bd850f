#include "app/lower_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "app/assets.h"
#include "app/files.h"
#include "app/runs.h"
#include "core/lower/request.h"
#include "core/run/modules.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

// Lines of files that .loc names: the program's own, or those on disk.
class CodeFiles {
 public:
  std::string line(std::string_view file, std::uint32_t number) {
    const auto [known, added] = files_.try_emplace(std::string(file));
    if (added) known->second = read(known->first);
    const std::vector<std::string>& lines = known->second;
    return number >= 1 && number <= lines.size() ? lines[number - 1] : std::string();
  }

 private:
  static std::vector<std::string> read(const std::string& file) {
    std::string text;
    if (carries(file)) {
      if (const Outcome<Asset> own = load_asset(file)) text = std::string(own->text());
    } else if (Outcome<std::string> found = read_text(file)) {
      text = std::move(*found);
    }
    std::vector<std::string> out(1);
    for (const char c : text) {
      if (c == '\n') {
        out.emplace_back();
      } else if (c != '\r') {
        out.back() += c;
      }
    }
    return out;
  }

  std::map<std::string, std::vector<std::string>> files_;
};

Outcome<std::shared_ptr<const ptx::Program>> decoded(Program program, const std::string& entry) {
  Outcome<ptx::Module> parsed = module_of(std::move(program));
  if (!parsed) return parsed.error();
  const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  const Outcome<const ptx::Function*> function = module->entry(entry);
  if (!function) return function.error();
  Outcome<ptx::Program> out = ptx::decode(module, **function);
  if (!out) return out.error();
  return std::make_shared<const ptx::Program>(std::move(*out));
}

// At each 4 bytes what 8 bytes from there on are: what is loaded takes as many as it wants.
void put(const Argument& argument, std::uint64_t offset, lowering::Filling& filling) {
  for (std::size_t at = 0; at + 4 <= argument.bytes.size(); at += 4) {
    std::uint64_t value = 0;
    std::memcpy(&value, argument.bytes.data() + at,
                std::min<std::size_t>(sizeof value, argument.bytes.size() - at));
    filling.parameters[offset + at] = value;
  }
}

lowering::Filling filling_of(const ptx::Program& program, const std::vector<Argument>& arguments,
                             const Dim3& grid) {
  lowering::Filling out;
  out.blocks = {grid.x, grid.y, grid.z};
  const std::vector<ptx::Parameter>& all = program.entry.parameters;
  for (std::size_t i = 0; i < std::min(all.size(), arguments.size()); ++i) {
    put(arguments[i], all[i].offset, out);
  }
  return out;
}

// What a scalar is called: the size that changes with it.
std::string size_name(const CatalogEntry& entry, const Fit& fit, std::size_t argument) {
  const std::vector<std::byte> now = entry.arguments(fit)[argument].bytes;
  std::string out;
  for (const SizeParameter& size : entry.sizes) {
    Fit other = fit;
    other.sizes.*size.member += 64;
    const std::vector<Argument> all = entry.arguments(other);
    if (argument >= all.size() || all[argument].bytes == now) continue;
    if (!out.empty()) return "";
    out = size.name;
  }
  return out;
}

std::vector<std::string> names_of(const CatalogEntry& entry, const Fit& fit) {
  const std::vector<TensorSpec>& tensors = fit.tensors.empty() ? entry.tensors : fit.tensors;
  const auto tensor = [&](std::uint32_t buffer) {
    return buffer < tensors.size() ? tensors[buffer].name : std::string();
  };
  std::vector<std::string> out;
  const std::vector<Argument> all = entry.arguments(fit);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].addresses.empty()) {
      out.push_back(tensor(all[i].addresses[0].buffer));
    } else if (!all[i].maps.empty()) {
      out.push_back(tensor(all[i].maps[0].map.buffer));
    } else {
      out.push_back(size_name(entry, fit, i));
    }
  }
  return out;
}

// The numbers of `open` that are not known, as a kernel's tiles have them.
Outcome<std::vector<std::int64_t>> unknowns_of(const CatalogEntry& entry, const Fit& fit,
                                               const Layout& open) {
  for (const NamedLayout& one : entry.layouts(fit, fit.variant)) {
    if (one.name != "tiles") continue;
    const auto request = lowering::request_of(one.expression);
    if (!request) return request.error();
    const Layout& layout = request->tensor.layout;
    if (layout.leaves() != open.leaves()) break;
    std::vector<std::int64_t> out;
    for (const bool stride : {false, true}) {
      for (int i = 0; i < open.leaves(); ++i) {
        const Mode &asked = open.modes.leaf[i], &has = layout.modes.leaf[i];
        if (!(stride ? asked.stride : asked.shape).known()) {
          out.push_back((stride ? has.stride : has.shape).value);
        }
      }
    }
    return out;
  }
  return Error{ErrorKind::unsupported, entry.name + " has no tiles like the program's.", ""};
}

}  // namespace

Outcome<lowering::Code> code_of_kernel(const CatalogEntry& entry, const Request& asked,
                                       const Layout* open) {
  Outcome<Fit> fitted = fit(entry, asked);
  if (!fitted) return fitted.error();
  Outcome<Program> program = program_of(entry, *fitted, {});
  if (!program) return program.error();
  const auto code = decoded(std::move(*program), fitted->variant.entry);
  if (!code) return code.error();
  lowering::Code out;
  out.program = *code;
  out.names = names_of(entry, *fitted);
  const Launch launch = entry.launch(*fitted, usual_processors);
  out.threads = {launch.block.x, launch.block.y, launch.block.z};
  // With sizes left open: those asked for, and two more.
  for (const std::int64_t times : {1, 2, 3}) {
    Request more = asked;
    if (times > 1) {
      for (const SizeParameter& size : entry.sizes) {
        more.sizes[size.name] = fitted->sizes.*size.member * times + (times == 3 ? 128 : 0);
      }
    }
    const Outcome<Fit> one = fit(entry, more);
    if (!one) continue;
    lowering::Filling filling =
        filling_of(**code, entry.arguments(*one), entry.launch(*one, usual_processors).grid);
    if (open) {
      const auto unknowns = unknowns_of(entry, *one, *open);
      if (!unknowns) return unknowns.error();
      filling.unknowns = *unknowns;
    }
    out.fillings.push_back(std::move(filling));
    if (!open) break;
  }
  const auto sources = std::make_shared<CodeFiles>();
  out.source = [sources](std::string_view file, std::uint32_t line) {
    return sources->line(file, line);
  };
  return out;
}

Outcome<lowering::Code> code_of_file(const std::string& ptx, const std::string& entry,
                                     const std::string& launch) {
  lowering::Code out;
  if (launch.empty()) {
    Outcome<Program> program = read_program(ptx, {});
    if (!program) return program.error();
    const auto code = decoded(std::move(*program), entry);
    if (!code) return code.error();
    out.program = *code;
  } else {
    const Outcome<PreparedRun> run = prepare_launch(ptx, launch);
    if (!run) return run.error();
    const Job& job = run->job;
    const auto code = decoded(job.program, entry.empty() ? job.launch.entry : entry);
    if (!code) return code.error();
    out.program = *code;
    out.threads = {job.launch.block.x, job.launch.block.y, job.launch.block.z};
    out.fillings.push_back(filling_of(**code, job.arguments, job.launch.grid));
    for (const Argument& a : job.arguments) {
      const bool pointer = !a.addresses.empty() && a.bytes.size() == 8;
      const bool map = !a.maps.empty();
      const std::uint32_t buffer = pointer ? a.addresses[0].buffer
                                   : map   ? a.maps[0].map.buffer
                                           : static_cast<std::uint32_t>(job.buffers.size());
      out.names.push_back(buffer < job.buffers.size() ? job.buffers[buffer].name : "");
    }
  }
  const auto sources = std::make_shared<CodeFiles>();
  out.source = [sources](std::string_view file, std::uint32_t line) {
    return sources->line(file, line);
  };
  return out;
}

Outcome<lowering::Code> code_below_of(const std::string& of, const lowering::Lowering& lowering) {
  if (of.size() > 4 && of.compare(of.size() - 4, 4, ".ptx") == 0) return code_of_file(of, "", "");
  const Outcome<const CatalogEntry*> entry = find_kernel(of);
  if (!entry) return entry.error();
  return code_of_kernel(**entry, {},
                        lowering::unknown_numbers(lowering) ? &lowering.tensor.layout : nullptr);
}

}  // namespace tilescope
