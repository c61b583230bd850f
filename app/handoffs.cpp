#include "app/handoffs.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/deadlock.h"
#include "app/descriptions.h"
#include "app/devices.h"
#include "app/files.h"
#include "app/kernel_options.h"
#include "app/profiles.h"
#include "app/reports.h"
#include "app/runs.h"
#include "core/io/record_file.h"
#include "core/profile/critical_path.h"
#include "core/profile/handoffs.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;

Outcome<PreparedRun> prepare(const HandoffsOptions& options, std::int64_t processors) {
  if (options.of.ends_with(".ptx")) {
    if (!options.launch.empty()) return prepare_launch(options.of, options.launch);
    return Error{ErrorKind::usage,
                 fmt::format("{} needs a launch file that says grid, block, buffers and arguments: "
                             "tilescope explain handoffs {} --launch F.toml.",
                             options.of, options.of),
                 ""};
  }
  const Outcome<const CatalogEntry*> entry = find_kernel(options.of);
  if (!entry) return entry.error();
  Outcome<RunOptions> run = run_options(**entry, options.own);
  if (!run) return run.error();
  run->ptx = options.ptx;
  if (processors) run->processors = processors;
  return prepare_run(options.of, *run);
}

Json json_of(const sim::Record& record, const sim::Pipeline& pipeline) {
  const auto time = [](sim::Cycle at) { return at == sim::never_ends ? Json() : Json(at); };
  const auto barrier = [&](const std::optional<std::size_t>& which, std::uint8_t rank) {
    return which ? Json(barrier_text(record, pipeline.barriers[*which], rank)) : Json();
  };
  Json rings = Json::array();
  for (const sim::Ring& ring : pipeline.rings) {
    Json stages = Json::array();
    for (const std::size_t number : ring.stages) {
      const sim::RingStage& stage = pipeline.stages[number];
      Json uses = Json::array();
      for (const sim::Filling& f : stage.fillings) {
        uses.push_back({{stage.groups ? "group" : "phase", f.phase},
                        {"what", parts_text(record, f.parts)},
                        {"bytes", f.bytes},
                        {"step", f.step},
                        {"issued", time(f.issued)},
                        {"full", time(f.full)},
                        {"read_from", time(f.read_begin)},
                        {"read_to", time(f.read_end)},
                        {"free", time(f.freed)}});
        if (!stage.groups) continue;
        uses.back()["landed"] = time(f.landed);
        uses.back()["awaited"] = time(f.awaited);
      }
      Json spans = Json::array();
      for (const sim::ByteSpan& span : stage.spans) spans.push_back({span.begin, span.end});
      stages.push_back({{"bytes", std::move(spans)},
                        {"by", stage.by_threads ? "cp.async" : "bulk copies"},
                        {"waits", stage.groups ? Json(full_text(record, pipeline, stage)) : Json()},
                        {"full", barrier(stage.full, stage.rank)},
                        {"free", barrier(stage.free, stage.rank)},
                        {"uses", std::move(uses)}});
    }
    rings.push_back({{"holds", ring.holds}, {"cta", ring.rank}, {"stages", std::move(stages)}});
  }
  Json sums = Json::array();
  for (const sim::Accumulator& a : pipeline.accumulators) {
    Json all = Json::array();
    for (const sim::Accumulation& sum : a.sums) {
      all.push_back({{"products", sum.products.size()},
                     {"steps", sum.last_step + 1},
                     {"begin", time(sum.begin)},
                     {"end", time(sum.end)},
                     {"complete", time(sum.complete)},
                     {"read_from", time(sum.read_begin)},
                     {"read_to", time(sum.read_end)},
                     {"drained", time(sum.drained)}});
      if (sum.tile) {
        all.back()["tile"] = {sum.tile->row, sum.tile->row + sum.tile->rows, sum.tile->column,
                              sum.tile->column + sum.tile->columns};
      }
    }
    const bool registers = a.where.of == sim::MemoryUse::Of::registers;
    sums.push_back({{"in", registers ? "registers" : "TMEM"},
                    {"cta", a.where.rank},
                    {"row", a.where.row},
                    {"rows", a.where.rows},
                    {"column", a.where.column},
                    {"columns", a.where.columns},
                    {"complete", barrier(a.complete, a.where.rank)},
                    {"drained", barrier(a.drained, a.where.rank)},
                    {"sums", std::move(all)}});
  }
  Json roles = Json::array();
  for (std::size_t i = 0; i < pipeline.roles.size(); ++i) {
    Json warps = Json::array();
    for (const sim::PipelineWarp& warp : pipeline.warps) {
      if (warp.role == i && warp.rank == 0) warps.push_back(warp.index);
    }
    if (!warps.empty()) roles.push_back({{"name", pipeline.roles[i]}, {"warps", std::move(warps)}});
  }
  return {{"ok", true},
          {"kernel", record.kernel},
          {"ctas", pipeline.blocks},
          {"roles", std::move(roles)},
          {"rings", std::move(rings)},
          {"accumulators", std::move(sums)},
          {"absent", absent_handoffs(record, pipeline)}};
}

}  // namespace

Outcome<ExplainedRun> explained_run(const HandoffsOptions& options, Terminal& terminal,
                                    bool wants_cause) {
  if (options.of.ends_with(".tsr")) {
    const Outcome<std::vector<std::byte>> file = read_file(options.of);
    if (!file) return file.error();
    Outcome<sim::Record> record = read_record(*file, options.of);
    if (!record) return record.error();
    return ExplainedRun{std::move(*record), {}, {}};
  }
  Outcome<PreparedRun> run = prepare(options, 0);
  if (!run) return run.error();
  Order order;
  if (!options.device.empty()) {
    const Outcome<DeviceDescription> device = device_described(options.device);
    if (!device) return device.error();
    order.device = *device;
    const auto target = target_for(order.device, run->job.program.ptx);
    if (!target) return target.error();
  } else if (const auto usual = usual_device_for(run->job.program.ptx)) {
    order.device = *usual;
  }
  if (order.device.processors) run = prepare(options, order.device.processors);
  if (!run) return run.error();
  order.exact = exact_by_default(*run);
  order.clocked = order.device.times.known();
  sim::Recorder recorder;
  order.recorder = &recorder;
  std::vector<OpenDevice> simulator;
  simulator.push_back(open_simulator(order));
  Outcome<std::vector<Ran>> ran = start_on(simulator, run->job);
  if (!ran) return ran.error();
  Ran& one = ran->front();
  if (const auto error = finish(one, run->kernel, terminal)) return *error;
  const bool told = wants_cause && deadlock_in(one.execution->reports());
  if (one.state == RunState::fault && !told) {
    terminal.say(text_of_reports(one.execution->reports(), false));
  }
  order.recorder = nullptr;
  sim::Record record = take_record(recorder, *run, order.device);
  return ExplainedRun{std::move(record), std::move(*run), std::move(order)};
}

int explain_handoffs(const HandoffsOptions& options, Terminal& terminal) {
  const Outcome<ExplainedRun> run = explained_run(options, terminal);
  if (!run) return terminal.fail(run.error());
  const sim::Record* const record = &run->record;
  const std::uint64_t blocks = record->launch.grid.count();
  if (options.block >= blocks) {
    return terminal.fail({ErrorKind::mismatch,
                          fmt::format("--block {}: the launch has {} CTA{}, 0 to {}.",
                                      options.block, blocks, blocks == 1 ? "" : "s", blocks - 1),
                          ""});
  }
  const sim::Timeline timeline(*record);
  const sim::Pipeline pipeline = sim::pipeline_of(timeline, sim::statistics_of(*record).roles,
                                                  sim::cluster_of(record->launch, options.block));
  if (pipeline.blocks.empty()) {
    return terminal.fail(
        {ErrorKind::mismatch,
         fmt::format("The record has no events of CTA {}: they were folded. Record it alone: "
                     "tilescope run ... --record F.tsr --record-block {}.",
                     options.block, options.block),
         ""});
  }
  if (terminal.json()) {
    terminal.document(json_of(*record, pipeline));
  } else {
    terminal.print(sim::handoffs_text(*record, pipeline, options.uses));
  }
  return 0;
}

int explain_why(const HandoffsOptions& options, Terminal& terminal) {
  const Outcome<ExplainedRun> run = explained_run(options, terminal, true);
  if (!run) return terminal.fail(run.error());
  const sim::Record* const record = &run->record;
  const Report* fault = nullptr;
  for (const Report& report : record->reports) {
    if (report.weight == Weight::fault) fault = &report;
  }
  const int code = fault ? exit_code(ErrorKind::fault) : 0;
  if (const DeadlockCause* const cause = deadlock_in(record->reports)) {
    if (terminal.json()) {
      terminal.document({{"ok", false},
                         {"kernel", record->kernel},
                         {"fault", fault ? fault->sentence : ""},
                         {"deadlock", to_json(*cause)}});
    } else {
      terminal.print(text_of(*cause));
    }
    return code;
  }
  if (fault && fault->kind == "deadlock") {
    terminal.say(fault->sentence);
    terminal.say(
        "This record, of an earlier version, does not say why nobody could go on: `tilescope "
        "explain "
        "why` of the kernel, or of its PTX with --launch, runs it again and tells.");
  }
  if (const std::string none = sim::without_time(*record); !none.empty()) {
    return terminal.fail({ErrorKind::mismatch, none, ""});
  }
  const std::string caveat = sim::caveat(*record);
  if (!caveat.empty()) terminal.say(caveat);
  const sim::Timeline timeline(*record);
  const sim::RunGraph graph(timeline);
  const std::vector<double> times = graph.times(options.what);
  const std::vector<sim::PathStep> path = graph.path(options.what, times);
  if (!terminal.json()) {
    if (options.what.changes()) terminal.print(sim::what_if_text(graph, options.what) + "\n");
    terminal.print(sim::path_text(*record, path));
    if (!options.what.changes()) terminal.print("\n" + sim::what_if_text(graph));
    return code;
  }
  Json answers = Json::array();
  const auto answer = [&](const std::string& text, const sim::WhatIf& what) {
    answers.push_back({{"what", text},
                       {"copies", what.copies},
                       {"products", what.products},
                       {"barriers", what.barriers},
                       {"latency", what.latency},
                       {"end", graph.end_of(graph.times(what))}});
  };
  if (options.what.changes()) {
    answer(text_of(options.what), options.what);
  } else {
    for (const sim::Question& q : sim::usual_questions()) answer(std::string(q.text), q.what);
  }
  Json totals = Json::object(), steps = Json::array();
  const auto sums = sim::totals_of(path);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i]) totals[std::string(name_of(static_cast<sim::PathKind>(i)))] = sums[i];
  }
  for (const sim::PathStep& step : path) {
    steps.push_back({{"what", name_of(step.kind)}, {"from", step.from}, {"to", step.to}});
    if (step.event != sim::no_event) steps.back()["event"] = step.event;
  }
  terminal.document({{"ok", code == 0},
                     {"kernel", record->kernel},
                     {"end", graph.end_of(times)},
                     {"totals", std::move(totals)},
                     {"path", std::move(steps)},
                     {"caveat", caveat},
                     {"what_if", std::move(answers)}});
  return code;
}

}  // namespace tilescope
