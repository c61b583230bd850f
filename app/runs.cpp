#include "app/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "app/assets.h"
#include "app/compiler.h"
#include "app/files.h"
#include "app/npy_files.h"
#include "app/variants.h"
#include "core/io/launch_file.h"
#include "core/ptx/program.h"
#include "core/run/manifest.h"
#include "core/run/modules.h"
#include "core/sim/machine/device.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

// The type that a tensor's file is to be read as: nothing where nobody says.
std::optional<DType> type_of(const CatalogEntry& entry, std::string_view tensor,
                             const Request& request) {
  for (const TensorSpec& spec : entry.tensors) {
    if (spec.name != tensor || spec.type_option.empty()) continue;
    const auto said = request.choices.find(spec.type_option);
    if (said != request.choices.end()) return stored_as(said->second);
    if (spec.role != TensorRole::input) return {};
  }
  return request.dtype;
}

Outcome<Request> request_of(const CatalogEntry& entry, const RunOptions& options) {
  Request request;
  request.sizes = options.sizes;
  request.choices = options.choices;
  request.seed = options.seed;
  request.processors = options.processors;
  if (!options.dtype.empty()) {
    request.dtype = dtype_named(options.dtype);
    if (!request.dtype) {
      return Error{
          ErrorKind::usage,
          fmt::format("--dtype {}: there are f16, bf16, f32, f64, e4m3, e5m2, u8, i8, u16, "
                      "i16, u32, i32, u64 and i64.",
                      options.dtype),
          ""};
    }
  }
  for (const auto& [tensor, given] : options.inputs) {
    Buffer input = given;
    // Types that NumPy lacks are raw bits.
    const std::optional<DType> as = type_of(entry, tensor, request);
    if (as && bytes_of(*as) == bytes_of(input.dtype) && !is_float(input.dtype)) input.dtype = *as;
    request.inputs.emplace(tensor, std::move(input));
  }
  std::uint64_t total = 0;  // of all, before any is read
  for (const auto& [tensor, path] : options.files) {
    const Outcome<NpyFacts> facts = facts_of_npy(path, type_of(entry, tensor, request));
    if (!facts) return facts.error();
    if ((total += facts->bytes) <= largest_job_bytes) continue;
    return Error{ErrorKind::mismatch,
                 fmt::format("With {} the inputs of {} are {:.3g} GiB; up to {} GiB work in one "
                             "run.",
                             path, entry.name, static_cast<double>(total) / (1 << 30),
                             largest_job_bytes >> 30),
                 path};
  }
  for (const auto& [tensor, path] : options.files) {
    Outcome<Buffer> read = read_npy_file(path, type_of(entry, tensor, request));
    if (!read) return read.error();
    request.inputs.emplace(tensor, std::move(*read));
  }
  return request;
}

// All that a terminal has room for: each error with its place, then how many there are.
Error does_not_compile(const Build& build) {
  std::string all;
  for (const Complaint& each : build.complaints) {
    if (each.weight != Complaint::Weight::warning) all += text(each) + "\n";
  }
  const std::size_t errors = build.errors();
  const Complaint& first = build.complaints.front();
  return {ErrorKind::unsupported,
          fmt::format("{} does not compile: {} error{}.\n{}", build.file, errors,
                      errors == 1 ? "" : "s", all.substr(0, all.size() - 1)),
          first.line ? fmt::format("{}:{}", first.file, first.line) : build.file};
}

// Where this form of the kernel is, if the program carries it.
std::string_view image_of(const CatalogEntry& entry, const Variant& variant) {
  return variant.image.empty() ? entry.ptx : variant.image;
}

// Which forms the program carries, those first that are most like the one that is asked for.
std::string carried_forms(const CatalogEntry& entry, const Variant& asked) {
  std::vector<CarriedVariant> all = carried_variants(entry);
  const auto alike = [&](const CarriedVariant& v) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < std::min(v.values.size(), asked.defines.size()); ++i) {
      count += v.values[i] == asked.defines[i].second;
    }
    return count;
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& x, const auto& y) { return alike(x) > alike(y); });
  constexpr std::size_t most = 4;
  std::string out;
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    out += fmt::format("{}`{}`", i ? ", " : "", all[i].words.empty() ? "no option" : all[i].words);
  }
  if (all.size() > most) {
    out += fmt::format(" and {} more (`tilescope list kernels {}`)", all.size() - most, entry.name);
  }
  return out;
}

// The kernel's own PTX in the form that is asked for: carried, or compiled here.
Outcome<std::string> own_ptx(const CatalogEntry& entry, const Fit& fitted, const KeepOn& keep_on) {
  const Variant& variant = fitted.variant;
  const std::string_view image = image_of(entry, variant);
  if (variant.image.empty() || carries(image)) {
    const Outcome<Asset> ptx = load_asset(image);
    if (!ptx) return ptx.error();
    return std::string(ptx->text());
  }
  if (const Outcome<std::string> nvcc = find_nvcc(); !nvcc) {
    return Error{ErrorKind::unsupported,
                 fmt::format("{} with {} is none of the forms that the program carries, and nvcc, "
                             "which would compile it, is not here. Carried are {}. Install the "
                             "CUDA Toolkit (no GPU is needed) for all others: nvcc is looked for "
                             "in $PATH, $CUDA_HOME, $CUDA_PATH and /usr/local/cuda.",
                             entry.name, shortest_words(entry, fitted.choices),
                             carried_forms(entry, variant)),
                 ""};
  }
  Outcome<Build> build =
      compile_own(entry.source, "compute_" + entry.target.substr(3), variant.defines, keep_on);
  if (!build) return build.error();
  if (!build->compiled()) return does_not_compile(*build);
  return std::move(build->ptx);
}

// The kernel's own image, or another one of it: what it computes is compared all the same.
Outcome<std::string> ptx_of(const CatalogEntry& entry, const Fit& fitted,
                            const RunOptions& options) {
  if (!options.source.empty() && !options.ptx.empty()) {
    return Error{ErrorKind::usage,
                 "--ptx and --source both say what runs in the kernel's place: leave one out.", ""};
  }
  if (options.built) return options.built->ptx;
  if (!options.source.empty()) {
    return Error{ErrorKind::usage, fmt::format("{} is not compiled.", options.source), ""};
  }
  if (options.ptx.empty()) return own_ptx(entry, fitted, options.keep_on);
  if (!carries(options.ptx)) return read_text(options.ptx);
  const Outcome<Asset> ptx = load_asset(options.ptx);
  if (!ptx) return ptx.error();
  return std::string(ptx->text());
}

// A kernel of the catalog is named in full: another entry, whose name has that as a part, would run
// on this one's data.
std::optional<Error> lacks_entry(const Program& program, const std::string& entry) {
  const Outcome<ptx::Module> module = module_of(program);
  if (!module) return module.error();
  std::string all;
  for (const ptx::Function& each : module->functions) {
    if (!each.entry || !each.body_line) continue;
    if (each.name == entry) return {};
    all += fmt::format("{}{}", all.empty() ? "" : ", ", each.name);
  }
  if (all.empty()) return module->entry(entry).error();
  return Error{ErrorKind::unknown,
               fmt::format("{} has no entry '{}'; it has: {}", program.name, entry, all),
               program.name};
}

// Blocks of a cluster come together.
std::optional<Error> launch_as(const std::optional<Dim3>& grid, Job& job) {
  if (!grid) return std::nullopt;
  job.launch.grid = *grid;
  const Dim3 cluster = job.launch.cluster.value_or(Dim3{});
  if (grid->x % cluster.x == 0 && grid->y % cluster.y == 0 && grid->z % cluster.z == 0) {
    return std::nullopt;
  }
  return Error{
      ErrorKind::mismatch,
      fmt::format("{} is launched in clusters of {},{},{} CTAs, and a grid of {},{},{} is no "
                  "multiple of that.",
                  job.launch.entry, cluster.x, cluster.y, cluster.z, grid->x, grid->y, grid->z),
      ""};
}

// PTX from elsewhere does not say how much shared memory it wants: as much as the kernel's own.
void launch_with_usual_memory(const CatalogEntry& entry, const Fit& fitted, Job& job) {
  if (manifest_in(job.program.ptx, job.launch.entry).shared) return;
  const Outcome<Asset> own = load_asset(image_of(entry, fitted.variant));
  if (!own) return;
  job.launch.dynamic_shared = manifest_in(own->text(), job.launch.entry).shared.value_or(0);
}

}  // namespace

Outcome<Dim3> grid_in(std::string_view text) {
  constexpr std::array<std::uint32_t, 3> most = {0x7fffffff, 0xffff, 0xffff};  // of CUDA
  std::array<std::uint32_t, 3> sides = {1, 1, 1};
  std::string_view rest = text;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), sides[i]);
    const bool fits = error == std::errc() && sides[i] >= 1 && sides[i] <= most[i];
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!fits || (!rest.empty() && rest.front() != ',')) break;
    if (rest.empty()) return Dim3{sides[0], sides[1], sides[2]};
    rest.remove_prefix(1);
  }
  return Error{ErrorKind::usage,
               fmt::format("--grid takes how many CTAs are launched, at least 1: --grid 4, or in "
                           "up to three directions --grid 2,2,1; `{}` is not.",
                           text),
               ""};
}

Outcome<std::string> carried_ptx(std::string_view kernel) {
  const Outcome<const CatalogEntry*> entry = find_kernel(kernel);
  if (!entry) return entry.error();
  const Outcome<Asset> ptx = load_asset((*entry)->ptx);
  if (!ptx) return ptx.error();
  return std::string(ptx->text());
}

Outcome<Defines> defines_for(std::string_view kernel, const RunOptions& options) {
  const Outcome<const CatalogEntry*> entry = find_kernel(kernel);
  if (!entry) return entry.error();
  if (!(*entry)->variant_of) return Defines();
  Outcome<Fit> fitted = fit_for(**entry, options);
  if (!fitted) return fitted.error();
  return std::move(fitted->variant.defines);
}

Outcome<std::shared_ptr<const Build>> build_for(std::string_view kernel, const RunOptions& options,
                                                const KeepOn& keep_on) {
  const Outcome<std::string> ours = carried_ptx(kernel);
  if (!ours) return ours.error();
  const Outcome<Defines> defines = defines_for(kernel, options);
  if (!defines) return defines.error();
  Outcome<Build> build = compile(options.source, architecture_of(*ours), *defines, keep_on);
  if (!build) return build.error();
  if (!build->compiled()) return does_not_compile(*build);
  return std::make_shared<const Build>(std::move(*build));
}

Outcome<Fit> fit_for(const CatalogEntry& entry, const RunOptions& options) {
  const Outcome<Request> request = request_of(entry, options);
  if (!request) return request.error();
  return fit(entry, *request);
}

Outcome<Program> program_of(const CatalogEntry& entry, const Fit& fitted,
                            const RunOptions& options) {
  Outcome<std::string> ptx = ptx_of(entry, fitted, options);
  if (!ptx) return ptx.error();
  Program program{entry.name, std::move(*ptx)};
  if (options.ptx.empty() && !options.built) return program;
  // What is wrong with a text is said of its file.
  program.name = options.built ? "PTX of " + options.built->file : options.ptx;
  if (auto error = lacks_entry(program, fitted.variant.entry)) return *error;
  return program;
}

std::optional<Error> not_understood(const Program& program, const std::string& entry) {
  Outcome<ptx::Module> parsed = module_of(program);
  if (!parsed) return parsed.error();
  const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
  const Outcome<const ptx::Function*> found = module->entry(entry);
  if (!found) return found.error();
  const Outcome<ptx::Program> decoded = ptx::decode(module, **found);
  if (!decoded) return decoded.error();
  return {};
}

Outcome<PreparedRun> prepare_run(std::string_view kernel, const RunOptions& options) {
  const Outcome<const CatalogEntry*> entry = find_kernel(kernel);
  if (!entry) return entry.error();
  Outcome<Request> request = request_of(**entry, options);
  if (!request) return request.error();
  const auto fitted = fit(**entry, *request);
  if (!fitted) return fitted.error();
  Outcome<Program> program = program_of(**entry, *fitted, options);
  if (!program) return program.error();
  Job job = make_job(**entry, *fitted, std::move(*request), std::move(program->ptx));
  job.program.name = std::move(program->name);
  if (auto error = launch_as(options.grid, job)) return *error;
  launch_with_usual_memory(**entry, *fitted, job);

  const Variant& variant = fitted->variant;
  PreparedRun run{(*entry)->name, *entry, *fitted, std::move(job), {}, options.built};
  for (std::size_t i = 0; i < run.job.buffers.size(); ++i) {
    if (!is_written(fitted->tensors[i])) continue;
    run.outputs.push_back({i, {}, {}, {variant.rtol, variant.atol}});
  }
  run.known = (*entry)->known;
  return run;
}

Outcome<Program> read_program(const std::string& ptx, const std::vector<std::string>& linked) {
  Outcome<std::string> text = read_text(ptx);
  if (!text) return text.error();
  Program out{ptx, std::move(*text)};
  for (const std::string& other : linked) {
    Outcome<std::string> more = read_text(other);
    if (!more) return more.error();
    out.linked.push_back({other, std::move(*more)});
  }
  return out;
}

Outcome<PreparedRun> prepare_launch(const std::string& ptx, const std::string& launch,
                                    const std::vector<std::string>& linked) {
  const Outcome<std::string> toml = read_text(launch);
  if (!toml) return toml.error();
  const Outcome<LaunchFile> plan = parse_launch_file(*toml, launch);
  if (!plan) return plan.error();
  const std::filesystem::path folder = std::filesystem::path(launch).parent_path();
  const auto beside = [&](const std::string& path) { return (folder / path).string(); };

  // What does not fit is told before any is read.
  std::vector<std::uint64_t> sizes;
  for (const PlannedBuffer& buffer : plan->buffers) {
    if (buffer.fill != Fill::file) continue;
    const Outcome<NpyFacts> facts = facts_of_npy(beside(buffer.file), buffer.dtype);
    if (!facts) return facts.error();
    sizes.push_back(facts->bytes);
  }
  if (auto error = too_large(*plan, sizes)) return *error;
  for (const PlannedVariable& variable : plan->variables) {
    const Outcome<NpyFacts> facts = facts_of_npy(beside(variable.file), DType::u8);
    if (!facts) return facts.error();
    if (facts->bytes > largest_job_bytes) {
      return Error{ErrorKind::mismatch,
                   fmt::format("{} is larger than any variable can be.", variable.file),
                   variable.where};
    }
  }
  std::vector<std::vector<std::byte>> files;
  for (const std::string& path : wanted_files(*plan)) {
    Outcome<std::vector<std::byte>> bytes = read_file(beside(path));
    if (!bytes) return bytes.error();
    files.push_back(std::move(*bytes));
  }
  std::vector<std::string> others = linked;
  for (const std::string& path : plan->link) others.push_back(beside(path));
  Outcome<Program> program = read_program(ptx, others);
  if (!program) return program.error();
  Outcome<Job> job = make_job(*plan, std::move(*program), files);
  if (!job) return job.error();

  PreparedRun run{ptx, nullptr, {}, std::move(*job), {}, nullptr};
  run.device = plan->device;
  run.made_of = {ptx};
  run.made_of.insert(run.made_of.end(), others.begin(), others.end());
  for (const std::string& path : wanted_files(*plan)) run.made_of.push_back(beside(path));
  for (const PlannedBuffer& buffer : plan->buffers) {
    if (buffer.expect) run.made_of.push_back(beside(*buffer.expect));
  }
  for (std::size_t i = 0; i < plan->buffers.size(); ++i) {
    const PlannedBuffer& buffer = plan->buffers[i];
    if (!buffer.out && !buffer.expect) continue;
    const Tolerance usual = tolerance_for(buffer.dtype);
    Output output{i, {}, {}, {buffer.rtol.value_or(usual.rtol), buffer.atol.value_or(usual.atol)}};
    if (buffer.out) output.file = beside(*buffer.out);
    if (buffer.expect) output.want = beside(*buffer.expect);
    run.outputs.push_back(std::move(output));
  }
  for (const PlannedVariable& variable : plan->variables) {
    if (!variable.expect) continue;
    run.made_of.push_back(beside(*variable.expect));
    run.variables.push_back({variable.name, beside(*variable.expect)});
  }
  return run;
}

Outcome<Buffer> expected_output(const PreparedRun& run, const Effort& effort) {
  Outcome<std::vector<Buffer>> outputs = run.entry->reference(run.job, run.fit, effort);
  if (!outputs) return outputs.error();
  return std::move(outputs->front());
}

Outcome<std::optional<Buffer>> wanted_from_file(const PreparedRun& run, const Output& output) {
  if (!output.want) return std::optional<Buffer>();
  Outcome<Buffer> read = read_npy_file(*output.want, run.job.buffers[output.buffer].dtype);
  if (!read) return read.error();
  return std::optional<Buffer>(std::move(*read));
}

Outcome<std::optional<Buffer>> wanted(const PreparedRun& run, const Output& output) {
  if (output.want || !run.entry) return wanted_from_file(run, output);
  Outcome<Buffer> reference = expected_output(run);
  if (!reference) return reference.error();
  return std::optional<Buffer>(std::move(*reference));
}

bool has_products(const PreparedRun& run) {
  return run.job.program.ptx.find("mma.") != std::string::npos;
}

bool exact_by_default(const PreparedRun& run) {
  const double work = static_cast<double>(run.fit.sizes.m) * static_cast<double>(run.fit.sizes.n) *
                      static_cast<double>(run.fit.sizes.k) *
                      static_cast<double>(std::max<std::int64_t>(1, run.fit.sizes.l));
  return work <= 1024.0 * 1024.0 * 1024.0;
}

sim::Options simulator_options(const Order& order) {
  sim::Options options;
  options.schedule = order.schedule.seed;
  options.holds = order.schedule.holds;
  options.first_waits_fail = order.schedule.refuses_waits;
  options.grants_fail = order.schedule.refuses_grants;
  options.lazy = order.lazy;
  options.first_columns = order.first_columns;
  options.exact = order.exact;
  options.executor = order.executor;
  options.beside = order.beside;
  options.clocked = order.clocked && order.device.times.known();
  options.times = order.device.times;
  options.recorder = order.recorder;
  options.warm = order.warm;
  options.waves = static_cast<std::uint32_t>(std::min<std::uint64_t>(order.waves, 1u << 30));
  options.calculates = options.races = order.calculates;
  if (order.device_named) {
    options.capability = static_cast<std::uint32_t>(10 * order.device.major + order.device.minor);
  }
  options.processors = order.device.processors;
  options.processor_blocks = order.device.blocks;
  options.processor_threads = order.device.threads;
  options.processor_shared = order.device.shared;
  options.block_shared = order.device.reserved;
  options.shared_limit = order.device.block_shared;
  return options;
}

std::unique_ptr<Device> make_simulator(const Order& order) {
  return std::make_unique<sim::SimDevice>(simulator_options(order));
}

}  // namespace tilescope
