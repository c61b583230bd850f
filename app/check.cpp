// tilescope check F.ptx
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "app/commands.h"
#include "app/demangle.h"
#include "app/files.h"
#include "app/runs.h"
#include "core/ptx/overview.h"
#include "core/ptx/program.h"
#include "core/ptx/targets.h"
#include "core/run/fit_launch.h"
#include "core/run/modules.h"
#include "core/sim/machine/code.h"

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string ptx, entry, launch;
  std::vector<std::string> linked;
  bool json = false;
};

// One entry, as far as it is understood.
struct Checked {
  const ptx::Function* function = nullptr;
  ptx::Program program;
  ptx::Overview overview;
  std::vector<Error> refused;
};

Checked checked(const std::shared_ptr<const ptx::Module>& module, const ptx::Function& function) {
  Checked out;
  out.function = &function;
  ptx::Examined examined = ptx::examine(module, function);
  out.program = std::move(examined.program);
  out.refused = std::move(examined.refused);
  out.overview = ptx::overview_of(out.program);
  if (!out.refused.empty()) return out;
  // All is understood: is there something to execute each of it?
  const Outcome<ptx::Program> decoded = ptx::decode(module, function);
  if (!decoded) {
    out.refused.push_back(decoded.error());
  } else if (const auto bound = sim::bind(*decoded, true, 0); !bound) {
    out.refused.push_back(bound.error());
  }
  return out;
}

std::string chips_text(const std::vector<int>& chips) {
  std::string out;
  for (const int chip : chips) {
    out += fmt::format("{}{}.{}", out.empty() ? "" : ", ", chip / 10, chip % 10);
  }
  return out.empty() ? "none" : out;
}

std::string text(const std::array<std::uint32_t, 3>& d) {
  return tilescope::text(Dim3{d[0], d[1], d[2]});
}

bool is_whole(const ptx::Parameter& p) {
  return p.bytes == static_cast<std::uint32_t>(ptx::bytes_of(p.type));
}

// Without the name of its kernel, which compilers put before it: "param_0".
std::string_view short_parameter(const ptx::Function& f, const ptx::Parameter& p) {
  const bool prefixed = p.name.size() > f.name.size() + 1 && p.name.starts_with(f.name) &&
                        p.name[f.name.size()] == '_';
  return prefixed ? p.name.substr(f.name.size() + 1) : p.name;
}

std::string_view use_text(ptx::ParameterUse::Kind kind) {
  using Kind = ptx::ParameterUse::Kind;
  switch (kind) {
    case Kind::pointer:
      return "a pointer";
    case Kind::tensor_map:
      return "a tensor map";
    case Kind::structure:
      return "a struct";
    default:
      return "a number";
  }
}

// ---- the launch file ----

// A dtype of launch files for what PTX loads or stores.
std::string_view dtype_for(ptx::Type type) {
  using T = ptx::Type;
  switch (type) {
    case T::u8:
    case T::b8:
      return "u8";
    case T::s8:
      return "i8";
    case T::u16:
    case T::b16:
      return "u16";
    case T::s16:
      return "i16";
    case T::u32:
    case T::b32:
      return "u32";
    case T::s32:
      return "i32";
    case T::u64:
    case T::b64:
    case T::b128:
      return "u64";
    case T::s64:
      return "i64";
    case T::f16:
    case T::f16x2:
      return "f16";
    case T::bf16:
    case T::bf16x2:
      return "bf16";
    case T::f64:
      return "f64";
    default:
      return "f32";
  }
}

// A number that an argument of this type can be.
std::string number_for(ptx::Type type) {
  using T = ptx::Type;
  const std::string_view dtype = dtype_for(type);
  const bool real = type == T::f16 || type == T::bf16 || type == T::f32 || type == T::f64;
  return fmt::format("{} = {}", dtype, real ? "1.0" : "1");
}

class LaunchText {
 public:
  explicit LaunchText(const Checked& of) : of_(of), f_(*of.function) {}

  std::string run() {
    out_ =
        fmt::format("# {}\nentry = \"{}\"\ngrid = [1, 1, 1]  # how many CTAs: the host decides\n",
                    short_name(f_.name, 100), f_.name);
    block();
    const auto& cluster = f_.required_cluster;
    if (cluster[0]) {
      out_ += fmt::format("cluster = [{}, {}, {}]  # .reqnctapercluster\n", cluster[0], cluster[1],
                          cluster[2]);
    }
    if (of_.program.wants_dynamic_shared) {
      out_ +=
          "dynamic_smem = 0  # bytes: the kernel has dynamic shared memory, how much the host "
          "decides\n";
    }
    std::string arguments;
    for (std::size_t i = 0; i < f_.parameters.size(); ++i) arguments += argument(i);
    return out_ + arguments;
  }

 private:
  void block() {
    const auto &asked = f_.required_block, &most = f_.maximum_block;
    if (asked[0]) {
      out_ += fmt::format("block = [{}, {}, {}]  # .reqntid\n", asked[0], asked[1], asked[2]);
    } else if (most[0]) {
      out_ += fmt::format("block = [{}, {}, {}]  # .maxntid: at most so many threads\n", most[0],
                          most[1], most[2]);
    } else {
      out_ += "block = [128, 1, 1]  # the kernel does not say\n";
    }
    const auto& cluster = f_.required_cluster;  // a grid is whole clusters
    if (cluster[0] > 1 || cluster[1] > 1 || cluster[2] > 1) {
      const std::string grid =
          fmt::format("grid = [{}, {}, {}]", cluster[0], cluster[1], cluster[2]);
      out_.replace(out_.find("grid = [1, 1, 1]"), 16, grid);
    }
  }

  std::string buffer(std::string_view dtype, std::string_view shape, std::string_view what) {
    const std::string name = fmt::format("p{}", buffers_++);
    out_ += fmt::format(
        "\n[[buffer]]  # {}\nname = \"{}\"\ndtype = \"{}\"\nshape = {}\nzeros = true  # or: random "
        "= 0, file = \"x.npy\"; out = \"y.npy\" writes it after the run\n",
        what, name, dtype, shape);
    return name;
  }

  std::string argument(std::size_t number) {
    using Kind = ptx::ParameterUse::Kind;
    const ptx::Parameter& p = f_.parameters[number];
    const ptx::ParameterUse& use = of_.overview.parameters[number];
    std::string out = fmt::format("\n[[arg]]  # {}: {}, {} bytes, {}\n", number,
                                  short_parameter(f_, p), p.bytes, use_text(use.kind));
    switch (use.kind) {
      case Kind::pointer:
        return out + fmt::format("buffer = \"{}\"\n",
                                 buffer(dtype_for(use.element), "[65536]", short_parameter(f_, p)));
      case Kind::tensor_map:
        return out + fmt::format(
                         "tensormap = {{ buffer = \"{}\", box = [64, 64], swizzle = \"128B\" }}  # "
                         "as the host encodes it\n",
                         buffer("f16", "[256, 256]", short_parameter(f_, p)));
      case Kind::structure: {
        std::string at;
        for (const ptx::ParameterUse::Pointer& pointer : use.pointers) {
          const std::string what =
              fmt::format("{}, at byte {}", short_parameter(f_, p), pointer.offset);
          at += fmt::format("{}{{ offset = {}, buffer = \"{}\" }}", at.empty() ? "" : ", ",
                            pointer.offset, buffer(dtype_for(pointer.element), "[65536]", what));
        }
        for (const std::uint32_t map : use.maps) {
          const std::string what =
              fmt::format("{}, the map at byte {}", short_parameter(f_, p), map);
          at += fmt::format(
              "{}{{ offset = {}, tensormap = {{ buffer = \"{}\", box = [64, 64], swizzle = "
              "\"128B\" }} }}",
              at.empty() ? "" : ", ", map, buffer("f16", "[256, 256]", what));
        }
        return out + fmt::format("size = {}\nat = [{}]\n", p.bytes, at);
      }
      default:
        return out + number_for(p.type) + "\n";
    }
  }

  const Checked& of_;
  const ptx::Function& f_;
  std::string out_;
  std::size_t buffers_ = 0;
};

// ---- words ----

// ", with tensor maps at bytes 0, 128"
std::string maps_text(const ptx::ParameterUse& use) {
  if (use.kind != ptx::ParameterUse::Kind::structure || use.maps.empty()) return "";
  std::string out;
  for (const std::uint32_t at : use.maps) out += fmt::format("{}{}", out.empty() ? "" : ", ", at);
  return fmt::format(", with {} at byte{} {}",
                     use.maps.size() == 1 ? "a tensor map" : "tensor maps",
                     use.maps.size() == 1 ? "" : "s", out);
}

void print_entry(const Checked& c, Terminal& terminal) {
  const ptx::Function& f = *c.function;
  const ptx::Overview& o = c.overview;
  terminal.print(fmt::format("\nentry {}  (line {})\n", f.name, f.line));
  if (const std::string readable = demangled(f.name); readable != f.name) {
    terminal.print(fmt::format("  {}\n", readable));
  }
  if (f.parameters.empty()) terminal.print("  no parameters\n");
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const ptx::Parameter& p = f.parameters[i];
    terminal.print(fmt::format(
        "  parameter {:<2} {:<5} {:>5} bytes, aligned {:<3} at {:<5} {} {}{}\n", i,
        is_whole(p) ? ptx::name_of(p.type) : "bytes", p.bytes, p.align, p.offset,
        short_parameter(f, p), use_text(o.parameters[i].kind), maps_text(o.parameters[i])));
  }
  const auto line = [&](std::string_view what, const std::string& is) {
    if (!is.empty()) terminal.print(fmt::format("  {:<16} {}\n", what, is));
  };
  line("block", f.required_block[0] ? text(f.required_block) + " (.reqntid)"
                : f.maximum_block[0]
                    ? fmt::format("at most {} threads (.maxntid {})",
                                  f.maximum_block[0] * f.maximum_block[1] * f.maximum_block[2],
                                  text(f.maximum_block))
                    : "not said");
  line("cluster", f.required_cluster[0] ? text(f.required_cluster) + " (.reqnctapercluster)" : "");
  line("shared memory", fmt::format("{} bytes{}", c.program.shared_bytes,
                                    c.program.wants_dynamic_shared
                                        ? fmt::format(", and dynamic memory aligned to {}",
                                                      c.program.dynamic_shared_align)
                                        : ""));
  line("registers",
       fmt::format("{} declared{}", o.registers,
                   f.maximum_registers
                       ? fmt::format(", at most {} of a thread (.maxnreg)", f.maximum_registers)
                       : ""));
  line("mbarriers", o.mbarriers ? fmt::format("{} mbarrier.init", o.mbarriers) : "");
  std::string families;
  for (const ptx::Family& family : o.families) {
    families += fmt::format("{}{} {}", families.empty() ? "" : ", ", family.name, family.count);
  }
  line("instructions", families.empty() ? "none but arithmetic, loads and stores" : families);
  line("exist on", chips_text(o.chips));
  for (const Error& e : c.refused)
    terminal.print(fmt::format("  refused: {}: {}\n", e.where, e.sentence));
}

Json to_json(const Checked& c) {
  const ptx::Function& f = *c.function;
  Json out = {{"name", f.name}, {"demangled", demangled(f.name)}, {"line", f.line}};
  Json parameters = Json::array();
  for (std::size_t i = 0; i < f.parameters.size(); ++i) {
    const ptx::Parameter& p = f.parameters[i];
    parameters.push_back({{"name", p.name},
                          {"type", is_whole(p) ? ptx::name_of(p.type) : "bytes"},
                          {"bytes", p.bytes},
                          {"align", p.align},
                          {"offset", p.offset},
                          {"use", use_text(c.overview.parameters[i].kind).substr(2)},
                          {"tensor_maps", c.overview.parameters[i].maps}});
  }
  out["parameters"] = std::move(parameters);
  const auto triple = [](const std::array<std::uint32_t, 3>& d) {
    return d[0] ? Json(d) : Json(nullptr);
  };
  out["reqntid"] = triple(f.required_block);
  out["maxntid"] = triple(f.maximum_block);
  out["cluster"] = triple(f.required_cluster);
  out["shared_bytes"] = c.program.shared_bytes;
  out["dynamic_shared"] = c.program.wants_dynamic_shared;
  out["registers"] = c.overview.registers;
  out["maxnreg"] = f.maximum_registers;
  out["mbarriers"] = c.overview.mbarriers;
  Json families = Json::object();
  for (const ptx::Family& family : c.overview.families) {
    families[std::string(family.name)] = family.count;
  }
  out["instructions"] = std::move(families);
  out["chips"] = c.overview.chips;
  Json refused = Json::array();
  for (const Error& e : c.refused) refused.push_back(tilescope::to_json(e));
  out["refused"] = std::move(refused);
  out["launch"] = LaunchText(c).run();
  return out;
}

Outcome<std::vector<const ptx::Function*>> chosen(const ptx::Module& module,
                                                  const std::string& name) {
  std::vector<const ptx::Function*> out;
  for (const ptx::Function& f : module.functions) {
    if (f.entry && f.body_line) out.push_back(&f);
  }
  if (!name.empty() || out.empty()) {  // the sentence for none is entry()'s
    const Outcome<const ptx::Function*> one = module.entry(name);
    if (!one) return one.error();
    return std::vector<const ptx::Function*>{*one};
  }
  return out;
}

int check(const Options& options, Terminal& terminal) {
  Outcome<Program> program = read_program(options.ptx, options.linked);
  if (!program) return terminal.fail(program.error());
  Outcome<ptx::Module> parsed = module_of(std::move(*program));
  if (!parsed) return terminal.fail(parsed.error());
  const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  const auto functions = chosen(*module, options.entry);
  if (!functions) return terminal.fail(functions.error());
  if (!options.launch.empty() && functions->size() > 1) {
    std::string names;
    for (const ptx::Function* f : *functions) names += fmt::format(" {}", f->name);
    return terminal.fail({ErrorKind::unknown,
                          fmt::format("A launch file is for one entry, and {} has {}: say --entry "
                                      "and one of{}.",
                                      options.ptx, functions->size(), names),
                          ""});
  }
  std::vector<Checked> entries;
  for (const ptx::Function* f : *functions) entries.push_back(checked(module, *f));

  // What several entries share is refused once.
  std::vector<Error> refused;
  std::set<std::string> told;
  for (const Checked& c : entries) {
    for (const Error& e : c.refused) {
      if (told.insert(e.where + e.sentence).second) refused.push_back(e);
    }
  }
  if (!options.launch.empty()) {
    if (auto error = write_file(options.launch, LaunchText(entries[0]).run())) {
      return terminal.fail(*error);
    }
  }
  const ptx::FilePart& part = module->parts[functions->front()->part];
  const std::vector<int> chips = ptx::chips_of(part.target);
  if (terminal.json()) {
    Json document = {{"ok", refused.empty()}};
    if (!refused.empty()) document["error"] = tilescope::to_json(refused[0]);
    document["file"] = options.ptx;
    document["version"] = part.version;
    document["target"] = part.target;
    document["chips"] = chips;
    document["refused"] = refused.size();
    Json list = Json::array();
    for (const Checked& c : entries) list.push_back(to_json(c));
    document["entries"] = std::move(list);
    terminal.document(std::move(document));
  } else {
    terminal.print(fmt::format("{}: PTX {} for {}, which chips of compute capability {} run\n",
                               options.ptx, part.version, part.target, chips_text(chips)));
    for (const Checked& c : entries) print_entry(c, terminal);
    if (refused.empty() && entries.size() == 1 && options.launch.empty()) {
      terminal.print("\nA launch file to begin with (-o F.toml writes it):\n\n" +
                     LaunchText(entries[0]).run());
    }
  }
  if (refused.empty()) {
    terminal.say(fmt::format("{} runs here.", options.ptx));
    return 0;
  }
  terminal.say(fmt::format("tilescope: {} does not run here: {} place{} refused.", options.ptx,
                           refused.size(), refused.size() == 1 ? " is" : "s are"));
  return exit_code(refused[0].kind);
}

}  // namespace

Action define_check(CommandOptions& app) {
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->ptx, "a PTX file").type_name("F.ptx").required();
  app.add_option("LINKED", options->linked,
                 "other PTX files that define what the first declares .extern (nvcc -rdc=true)")
      .type_name("F.ptx");
  app.add_option("--entry", options->entry, "this entry only: its name, or a unique part of it")
      .type_name("NAME");
  app.add_option("-o,--output", options->launch, "where the launch file goes").type_name("F.toml");
  app.add_flag("--json", options->json, "one JSON document on stdout");
  return [options](Terminal& terminal) { return check(*options, terminal); };
}

}  // namespace tilescope
