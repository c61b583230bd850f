#include "tests/bench/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <numeric>
#include <thread>

#include "app/assets.h"
#include "app/runs.h"
#include "assets/embedded.h"
#include "core/io/device_file.h"
#include "core/sim/machine/machine.h"

namespace tilescope::bench {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Outcome<double> predicted(const PredictionAsked& asked, const DeviceDescription& device) {
  Request request;
  request.sizes = {{"m", asked.sizes.m}, {"n", asked.sizes.n}, {"k", asked.sizes.k}};
  request.processors = device.processors;
  const Outcome<Fit> fits = fit(*asked.entry, request);
  if (!fits) return fits.error();
  Outcome<Program> program = program_of(*asked.entry, *fits, {});
  if (!program) return program.error();
  // What the matrices hold makes no difference: nothing is multiplied.
  for (std::size_t i = 0; i < fits->tensors.size(); ++i) {
    const TensorSpec& tensor = fits->tensors[i];
    if (tensor.role != TensorRole::input) continue;
    Buffer zeros{tensor.name, fits->variant.dtypes[i], shape_of(tensor, fits->sizes), {}};
    zeros.bytes.resize(static_cast<std::size_t>(zeros.elements()) * bytes_of(zeros.dtype));
    request.inputs[tensor.name] = std::move(zeros);
  }
  Order order;
  order.device = device;
  order.clocked = true;  // not warm: the launches before had other matrices
  order.calculates = false;
  Job job = make_job(*asked.entry, *fits, std::move(request), std::move(program->ptx));
  Outcome<sim::Machine> machine = sim::Machine::load(std::move(job), simulator_options(order));
  if (!machine) return machine.error();
  machine->run(~std::uint64_t{0});
  if (machine->state() == RunState::done) return machine->seconds();
  return Error{ErrorKind::fault,
               machine->reports().empty() ? "It does not come to an end."
                                          : machine->reports().back().sentence,
               ""};
}

}  // namespace

Outcome<DeviceDescription> description_of(const std::string& card) {
  constexpr std::string_view folder = "devices/", ending = ".toml";
  std::string known;
  for (const std::string_view name : asset_names()) {
    if (name.substr(0, folder.size()) != folder) continue;
    const std::string stem(name.substr(folder.size(), name.size() - folder.size() - ending.size()));
    known += (known.empty() ? "" : ", ") + stem;
    if (lower(card).find(stem) == std::string::npos) continue;
    const Outcome<Asset> text = load_asset(name);
    if (!text) return text.error();
    return parse_device_file(text->text(), name);
  }
  return Error{
      ErrorKind::unknown,
      fmt::format("There is no description of {} to predict times by; there are {}.", card, known),
      ""};
}

std::vector<Outcome<double>> predictions(const std::vector<PredictionAsked>& asked,
                                         const DeviceDescription& device, unsigned threads) {
  std::vector<Outcome<double>> out(asked.size(), Outcome<double>(0.0));
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min<unsigned>(threads, static_cast<unsigned>(asked.size()));
  // The longest first: large shapes, and early rungs, which have many short operations.
  std::vector<std::size_t> order(asked.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    const auto volume = [](const Sizes& s) { return s.m * s.n * s.k; };
    return volume(asked[x].sizes) > volume(asked[y].sizes);
  });
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      for (std::size_t at; (at = next++) < order.size();) {
        out[order[at]] = predicted(asked[order[at]], device);
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  return out;
}

}  // namespace tilescope::bench
