#include "app/python/timelines.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "app/files.h"
#include "app/python/values.h"
#include "app/timeline_page.h"
#include "core/io/trace_file.h"

namespace tilescope::python {
namespace {

struct ShownTimeline {
  std::string kernel, html;
  int height = 0;  // pixels, in a notebook
};

// As the value of an attribute in double quotes.
std::string attribute(std::string_view html) {
  std::string out;
  out.reserve(html.size() + html.size() / 8);
  for (const char c : html) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

// A document of its own, so that several on a page leave each other alone.
std::string framed(const ShownTimeline& shown) {
  return fmt::format(
      "<iframe srcdoc=\"{}\" title=\"timeline of {}\" style=\"width: 100%; height: {}px; border: "
      "1px "
      "solid rgba(128, 128, 128, 0.4); border-radius: 4px\"></iframe>",
      attribute(shown.html), attribute(shown.kernel), shown.height);
}

constexpr int least_height = 240, most_height = 4000, usual_height = 720;

ShownTimeline timeline_of(const Run& run, const std::string& theme, nb::handle height,
                          std::int64_t events) {
  const sim::Record& record = record_of(run);
  if (events < 1000 || events > 20'000'000) {
    refuse(fmt::format("timeline: events={}: a number from 1000 to 20000000.", events));
  }
  std::int64_t pixels = 0;
  if (!height.is_none()) {
    pixels = number_of(height);
    if (pixels < least_height || pixels > most_height) {
      refuse(fmt::format("timeline: height={}: pixels, from {} to {}.", pixels, least_height,
                         most_height));
    }
  }
  Outcome<TimelinePage> page = Error{};
  {
    const nb::gil_scoped_release released;
    page = timeline_page(record, theme, static_cast<std::size_t>(events));
  }
  TimelinePage made = taken(std::move(page));
  const int usual = std::clamp(static_cast<int>(made.height), 2 * least_height, usual_height);
  return {run.kernel, std::move(made.html), pixels ? static_cast<int>(pixels) : usual};
}

void write_trace_of(const Run& run, nb::handle file) {
  const sim::Record& record = record_of(run);
  const std::string path = path_of(file);
  std::optional<Error> error;
  bool interrupted = false;
  {
    const nb::gil_scoped_release released;
    error = write_pieces(path, [&](const Taker& take) {
      return write_trace(record, [&](std::string_view piece) {
        if (!take(piece)) return false;
        const nb::gil_scoped_acquire held;
        interrupted = interrupted || PyErr_CheckSignals() != 0;
        return !interrupted;
      });
    });
  }
  if (interrupted) throw nb::python_error();
  if (error) refuse(*error);
}

}  // namespace

void define_timelines(nb::module_& module) {
  nb::class_<ShownTimeline>(
      module, "Timeline",
      "A run's timeline as a page: zoom, pan, hover; who waits for whom. A notebook shows it.")
      .def_ro("html", &ShownTimeline::html,
              "The page, whole: it needs no other file and no network.")
      .def(
          "save",
          [](const ShownTimeline& self, nb::handle file) {
            const std::string path = path_of(file);
            if (const auto error = write_file(path, self.html)) refuse(*error);
          },
          nb::arg("file").none(), nb::sig("def save(self, file: str | os.PathLike) -> None"),
          "Writes the page, whole or not at all. Error: it cannot be written there.")
      .def("_repr_html_", &framed)
      .def("__repr__", [](const ShownTimeline& self) {
        return fmt::format("<Timeline of {}: {} KB>", self.kernel, self.html.size() / 1000);
      });
}

void define_timeline_methods(nb::class_<Run>& run) {
  static const std::string signature = fmt::format(
      "def timeline(self, *, theme: str = 'auto', height: int | None = None, events: int = {}) -> "
      "Timeline",
      most_data_events);
  run.def(
         "timeline",
         [](const Run& self, const std::string& theme, nb::handle height, std::int64_t events) {
           return timeline_of(self, theme, height, events);
         },
         nb::kw_only(), nb::arg("theme") = "auto", nb::arg("height") = nb::none(),
         nb::arg("events") = static_cast<std::int64_t>(most_data_events),
         nb::sig(signature.c_str()),
         "What each warp, unit and barrier did when, as the window's timeline shows it: in a "
         "notebook, or by .save(\"f.html\").\n\n"
         ">>> import tilescope as ts\n"
         ">>> run = ts.run(\"elementwise_add\", m=32, n=128, record=True)\n"
         ">>> run.timeline()\n"
         "<Timeline of elementwise_add: ... KB>\n\n"
         "theme: light, dark, or auto, that of the notebook or the system.\n"
         "height: of its place in a notebook, in pixels; None: what its rows need, 720 at most.\n"
         "events: of a record with more, what is short is taken together in the later CTAs.\n"
         "Error: the run was not recorded (record=True).")
      .def(
          "trace", &write_trace_of, nb::arg("file").none(),
          nb::sig("def trace(self, file: str | os.PathLike) -> None"),
          "Writes the trace that `tilescope run --trace` writes, for https://ui.perfetto.dev, "
          "whole "
          "or not at all. Error: the run was not recorded (record=True), or it cannot be written.");
}

}  // namespace tilescope::python
