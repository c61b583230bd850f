// What came of a run: Run and its Reports.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/profiles.h"
#include "app/python/arguments.h"
#include "app/python/settings.h"
#include "app/python/steppers.h"
#include "app/python/timelines.h"
#include "app/python/values.h"
#include "core/profile/statistics.h"
#include "core/run/suppressions.h"

namespace tilescope::python {
namespace {

// Of the line that a user wrote: the caller's, where code is inlined.
const std::string& file_of(const Report& r) {
  return r.site.caller.empty() ? r.site.source : r.site.caller;
}
std::uint32_t line_of(const Report& r) {
  return r.site.caller.empty() ? r.site.source_line : r.site.caller_line;
}

void define_report(nb::module_& module) {
  nb::class_<Report>(module, "Report", "Something about a run: a fault, a hazard or a note.")
      .def_prop_ro(
          "weight", [](const Report& self) { return std::string(name_of(self.weight)); },
          "fault: a chip refuses it, hangs or surely corrupts; hazard: PTX does not promise it; "
          "note.")
      .def_ro("kind", &Report::kind, "A word that stays: out_of_bounds, tcgen05_fence...")
      .def_ro("sentence", &Report::sentence)
      .def_ro("expected", &Report::expected)
      .def_ro("found", &Report::found)
      .def_ro("count", &Report::count, "How often it was seen there.")
      .def_prop_ro("kernel", [](const Report& self) { return self.site.kernel; })
      .def_prop_ro(
          "file", [](const Report& self) { return file_of(self); },
          "The source, where the PTX names it.")
      .def_prop_ro(
          "line", [](const Report& self) { return line_of(self); },
          "Of the file, from 1 on; 0: not known.")
      .def_prop_ro("ptx_line", [](const Report& self) { return self.site.ptx_line; })
      .def_prop_ro(
          "block",
          [](const Report& self) {
            const Dim3& b = self.site.block;
            return nb::make_tuple(b.x, b.y, b.z);
          },
          nb::sig("def block(self) -> tuple[int, int, int]"))
      .def_prop_ro("warp", [](const Report& self) { return self.site.warp; })
      .def_prop_ro("lane", [](const Report& self) { return self.site.lane; })
      .def("__str__", [](const Report& self) { return text_of_reports({self}, true); })
      .def("__repr__", [](const Report& self) {
        return fmt::format("<Report {} {}: {}>", name_of(self.weight), self.kind, self.sentence);
      });
}

sim::Statistics statistics_in(const Run& run) {
  return sim::statistics_of(record_of(run));
}

std::string count_text(std::size_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// "<Run of add on NVIDIA B200: 3.2 us, 1 hazard>"
std::string repr_of(const Run& run) {
  std::size_t weights[3] = {};
  for (const Report& r : run.reports) ++weights[static_cast<std::size_t>(r.weight)];
  std::string found;
  const auto add = [&](Weight weight) {
    const std::size_t n = weights[static_cast<std::size_t>(weight)];
    if (n) found += ", " + count_text(n, name_of(weight));
  };
  add(Weight::fault), add(Weight::hazard), add(Weight::note);
  for (const Difference& each : run.differences) {
    if (!each.report.ok())
      found += fmt::format(", {} of {} elements wrong", each.report.wrong, each.report.compared);
  }
  if (found.empty()) found = ", nothing found";
  const std::string time =
      run.seconds > 0 ? fmt::format("{:.3g} us", run.seconds * 1e6) : "no time";
  return fmt::format("<Run of {} on {}: {}{}>", run.kernel, run.device, time, found);
}

std::string text_of(const Run& run) {
  std::string out = repr_of(run);
  if (!run.reports.empty()) out += "\n" + text_of_reports(run.reports, false, in_the_run);
  for (const Difference& each : run.differences) out += "\n" + text(each);
  return out;
}

// The output that is meant, and how it is compared.
DiffHow output_meant(const Run& run, nb::handle output) {
  if (!nb::isinstance<nb::dict>(run.outputs)) refuse("This run has no outputs.");
  std::vector<std::string> names;
  for (const auto& [name, array] : nb::cast<nb::dict>(run.outputs)) names.push_back(str_of(name));
  const auto known = [&](const std::string& name) {
    for (const DiffHow& each : run.results) {
      if (each.name == name) return each;
    }
    return DiffHow{.name = name};
  };
  if (PyUnicode_Check(output.ptr())) {
    const std::string name(text_in(output));
    if (std::find(names.begin(), names.end(), name) != names.end()) return known(name);
  } else if (!output.is_none()) {
    const std::int64_t place = number_of(output);
    if (place >= 0 && place < static_cast<std::int64_t>(names.size()))
      return known(names[static_cast<std::size_t>(place)]);
  } else if (run.results_known == 1) {
    return run.results.front();
  } else if (names.size() == 1) {
    return known(names.front());
  }
  refuse(fmt::format("diff: output={} of {}: {} are its outputs, by name or place.",
                     output.is_none() ? "None" : about(output), run.kernel,
                     fmt::join(names, ", ")));
}

Difference run_difference(const Run& run, nb::handle reference, nb::handle output, nb::dict words) {
  const DiffHow how = diff_how(std::move(words), output_meant(run, output), "diff");
  const nb::object array = nb::cast<nb::dict>(run.outputs)[how.name.c_str()];
  return difference_of(array, reference, how);
}

const std::string difference_signature = fmt::format(
    "def diff(self, reference: Any, output: str | int | None = None, *, {}) -> Difference",
    diff_signature);

}  // namespace

const sim::Record& record_of(const Run& run) {
  if (!run.record) {
    refuse(
        "There is no record of this run: launch(..., record=True) keeps one, and run(..., "
        "record=True).");
  }
  return *run.record;
}

void define_run(nb::module_& module) {
  define_differences(module);
  define_report(module);
  define_timelines(module);
  define_steppers(module);
  nb::class_<Run> run(module, "Run", "What came of a launch.");
  run.def_ro("kernel", &Run::kernel, "The entry's name, or the catalog's.")
      .def_ro("device", &Run::device, "The chip that was simulated.")
      .def_ro("reports", &Run::reports,
              "Faults, hazards and notes, in the order in which they came.")
      .def_prop_ro(
          "hazards",
          [](const Run& self) {
            std::vector<Report> out;
            for (const Report& r : self.reports) {
              if (r.weight == Weight::hazard) out.push_back(r);
            }
            return out;
          },
          "Those of the reports that strict=True raises for.")
      .def_ro("time", &Run::seconds,
              "Seconds that it takes on the chip, launch and all, as its description predicts; 0 "
              "where the order was "
              "another one (schedule, lazy).")
      .def_ro("instructions", &Run::instructions, "PTX instructions, by warps.")
      .def_ro("blocks", &Run::blocks, "CTAs that have ended.")
      .def_ro("printed", &Run::printed, "What the kernel printed (printf).")
      .def_ro(
          "outputs", &Run::outputs,
          "Arrays by name: of a kernel of the catalog its tensors, of a launch file its buffers, "
          "of a launch the arrays that it was given, by their parameters.")
      .def_prop_ro(
          "wrong",
          [](const Run& self) {
            if (!self.compared) return std::optional<std::uint64_t>();
            std::uint64_t wrong = 0;
            for (const Difference& each : self.differences) wrong += each.report.wrong;
            return std::optional(wrong);
          },
          "Elements that differ from the reference of a kernel of the catalog, or from what a "
          "launch file expects. None: nothing was compared.")
      .def_prop_ro(
          "difference",
          [](const Run& self) {
            std::string out;
            for (const Difference& each : self.differences) out += text(each);
            return out;
          },
          "The same in words, with the patterns of what is wrong.")
      .def(
          "diff",
          [](const Run& self, nb::handle reference, nb::handle output, nb::kwargs words) {
            return run_difference(self, reference, output, nb::dict(words));
          },
          nb::arg("reference"), nb::arg("output") = nb::none(), nb::arg("words"),
          nb::sig(difference_signature.c_str()),
          "Compares one of the outputs with what it should be, as ts.diff() does, with the "
          "tolerance of the kernel.\n"
          "output: its name, or its place among them; None: the kernel's result, or the only one. "
          "Error: which one is meant cannot be told.")
      .def(
          "stats",
          [](const Run& self) {
            const std::string document = json_of(statistics_in(self)).dump();
            return nb::module_::import_("json").attr("loads")(
                nb::str(document.c_str(), document.size()));
          },
          nb::sig("def stats(self) -> dict[str, Any]"),
          "Where the time went: busy units, warp roles, stalls, bytes, lines; as `tilescope run "
          "--stats --json` has it. "
          "Error: the run was not recorded (record=True).")
      .def(
          "stats_text", [](const Run& self) { return text(statistics_in(self), source_line); },
          "The same as tables for people.")
      .def(
          "suppressions", [](const Run& self) { return tilescope::rules_for(self.reports); },
          "Rules that silence this run's hazards and notes, as `--generate-suppressions` writes "
          "them: the text of a file for suppressions=, whose reasons are to be filled in.")
      .def("__str__", &text_of)
      .def("__repr__", &repr_of);
  define_timeline_methods(run);
  define_stepping_methods(run);
}

}  // namespace tilescope::python
