// What the window asks of the program around it: kernels, runs, files. The window knows neither
// the catalog nor the simulator nor the disk; app answers through this, and tests answer with a
// backend of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/lesson/course.h"
#include "core/lesson/run_facts.h"
#include "core/lower/code.h"
#include "core/run/job.h"
#include "viz/layout/layout_view.h"
#include "viz/machine/live_run.h"
#include "viz/machine/run_result.h"
#include "viz/matrix/diff_view.h"
#include "viz/matrix/matrices_view.h"
#include "viz/scene/film.h"
#include "viz/scene/scene.h"
#include "viz/timeline/timeline_view.h"

namespace tilescope {

struct Comparison;  // viz/session/comparison.h

// A result with the views of it, which take time to make and are made where the run ended.
struct FinishedRun {
  std::shared_ptr<const RunResult> result;
  std::shared_ptr<const MatricesView> matrices;
  std::shared_ptr<const Comparison> comparison;  // null where nothing was compared, as its map
  std::shared_ptr<const DiffView> diff;
  std::shared_ptr<const TimelineView> timeline;  // null where nothing was recorded
  std::shared_ptr<LiveRun> live;  // the machine at the end; null where there is none to see
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::vector<KernelName> kernels() const = 0;
  // Refused: an unknown kernel or option, sizes that the kernel cannot do, unreadable files.
  virtual Outcome<KernelCard> kernel(std::string_view name, const KernelOptions& options) = 0;

  // Starts a run and returns at once. One at a time: an earlier one is cancelled.
  virtual std::optional<Error> start(const KernelCard& kernel, const KernelOptions& options) = 0;
  virtual RunProgress progress() const = 0;
  virtual void cancel() = 0;
  // The result of the run that has finished, once; an Error where it could not be run.
  virtual std::optional<Outcome<FinishedRun>> take_result() = 0;
  // Blocks until the run has finished; for commands without a window.
  virtual void wait() = 0;

  // Compiles the file that --source names for this kernel, and returns at once. One at a time: an
  // earlier one is stopped. Whoever starts a run hands the card over with what came out.
  virtual std::optional<Error> start_build(const KernelCard& kernel, const KernelOptions&) {
    return Error{ErrorKind::unsupported, "Nothing here compiles " + kernel.name + ".", ""};
  }
  virtual double build_seconds() const { return 0; }  // since it was started
  virtual void cancel_build() {}
  virtual void wait_build() {}
  // Once, when it has ended; an Error where the compiler could not be asked at all.
  virtual std::optional<Outcome<std::shared_ptr<const Build>>> take_build() { return {}; }
  // The CUDA text that the PTX of a kernel of the catalog was made from.
  virtual Outcome<std::string> kernel_source(std::string_view kernel) {
    return Error{ErrorKind::unknown, "There is no source of " + std::string(kernel) + ".", ""};
  }
  // The PTX that a lowering goes on to: of a kernel of the catalog, or of a file.
  virtual Outcome<lowering::Code> code_below(const std::string& of, const lowering::Lowering&) {
    return Error{ErrorKind::unknown, "There is no PTX of " + of + ".", ""};
  }
  // Another number when the file is another; 0: there is none. Cheap, unlike reading it.
  virtual std::uint64_t stamp(const std::string& /*path*/) const { return 0; }

  // The kernel's machine, before the first instruction.
  virtual Outcome<std::shared_ptr<LiveRun>> live(const KernelCard& kernel,
                                                 const KernelOptions& options) = 0;

  // The values in a .npy file. Raw bits (a type that NumPy lacks) are taken as that type.
  virtual Outcome<std::shared_ptr<const Buffer>> matrix(const std::string& path,
                                                        std::optional<DType> as = {}) = 0;
  // The first output of the kernel, as a GPU computes it. Refused: there is none, or it cannot.
  virtual Outcome<std::shared_ptr<const Buffer>> on_gpu(const KernelCard& kernel,
                                                        const KernelOptions& options) = 0;
  // The files beside this one whose names end so: the one of the same name alone, where there is
  // one, else all.
  virtual std::vector<std::string> beside(const std::string& path, std::string_view end) = 0;

  // A file's name from the root, so that it means the same from any folder.
  virtual std::string whole_path(const std::string& path) const { return path; }

  // A text file, whole: read, and written so that no reader sees half of it.
  virtual Outcome<std::string> read_text(const std::string& path) = 0;
  virtual std::optional<Error> write_text(const std::string& path, std::string_view text) = 0;

  // A layout as characters, in the format that `tilescope draw -o F.txt` writes.
  virtual std::optional<Error> export_text(const LayoutView& view, const LayoutChoice& choice,
                                           const Theme& theme, const std::string& path) = 0;
  // Paints the scene in the format that the file's name ends in and writes it whole or not at all.
  virtual std::optional<Error> export_picture(const Scene& scene, const std::string& path) = 0;
  // A film, in the format that the name ends in: .html, .gif or .webm.
  virtual std::optional<Error> export_film(const Film& /*film*/, const std::string& path) {
    return Error{ErrorKind::unsupported, "Nothing here writes " + path + ".", ""};
  }

  // Lessons by name, and the text of one. What a learner has done is handed over each time that it
  // changes (viz/session/lesson_progress.h); where it is kept, if anywhere, is the program's
  // business. An Error where it should be kept and could not be.
  virtual std::vector<std::string> lesson_names() const { return {}; }
  virtual Outcome<std::string> lesson_text(std::string_view name) const {
    return Error{ErrorKind::unknown, "There is no lesson `" + std::string(name) + "`.", ""};
  }
  // What lies beside the lessons ("order.ptx"), or a source that the program carries.
  virtual Outcome<std::string> lesson_file(std::string_view name) const {
    return Error{ErrorKind::unknown, "There is no file `" + std::string(name) + "`.", ""};
  }
  // Runs that are only judged, to their end, beside what is open: a kernel with its options as
  // `open` takes them; a program with its launch file.
  virtual Outcome<Trial> try_kernel(std::string_view /*kernel*/) {
    return Error{ErrorKind::unsupported, "Nothing here can run it.", ""};
  }
  virtual Outcome<Trial> try_program(std::string_view /*ptx*/, std::string_view /*launch*/) {
    return Error{ErrorKind::unsupported, "Nothing here can run it.", ""};
  }
  // The exercises of the course, and the source that one is made of, with its marks.
  virtual CourseIndex course_exercises() const { return {}; }
  virtual Outcome<std::string> course_source(const CourseExercise& exercise) const {
    return Error{ErrorKind::unknown, "There is no source of " + exercise.kernel + ".", ""};
  }
  // Judges a text and returns at once. One at a time: an earlier judge is stopped. Refused where
  // nothing can be judged here: there is no compiler.
  virtual std::optional<Error> start_check(const CourseExercise& exercise, const std::string&) {
    return Error{ErrorKind::unsupported, "Nothing here judges " + exercise.name + ".", ""};
  }
  virtual CourseProgress check_progress() const { return {}; }
  virtual void cancel_check() {}
  virtual void wait_check() {}
  // Once, when it has ended; an Error where it could not be judged, or was stopped.
  virtual std::optional<Outcome<CourseVerdict>> take_check() { return {}; }
  virtual std::optional<Error> keep_progress(const std::string& /*text*/) { return {}; }
};

}  // namespace tilescope
