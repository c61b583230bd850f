// The program behind the window: the catalog, the simulator in a thread of its own, the disk.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/builds.h"
#include "app/course_checks.h"
#include "app/jobs.h"
#include "app/runs.h"
#include "viz/session/backend.h"

namespace tilescope {

class AppBackend : public Backend {
 public:
  std::vector<KernelName> kernels() const override;
  Outcome<KernelCard> kernel(std::string_view name, const KernelOptions& options) override;
  std::optional<Error> start(const KernelCard& kernel, const KernelOptions& options) override;
  RunProgress progress() const override;
  void cancel() override;
  std::optional<Outcome<FinishedRun>> take_result() override;
  void wait() override;
  std::optional<Error> start_build(const KernelCard& kernel, const KernelOptions& options) override;
  double build_seconds() const override;
  void cancel_build() override;
  void wait_build() override;
  std::optional<Outcome<std::shared_ptr<const Build>>> take_build() override;
  Outcome<std::string> kernel_source(std::string_view kernel) override;
  Outcome<lowering::Code> code_below(const std::string& of,
                                     const lowering::Lowering& lowering) override;
  std::uint64_t stamp(const std::string& path) const override;
  Outcome<std::shared_ptr<const Buffer>> matrix(const std::string& path,
                                                std::optional<DType> as) override;
  Outcome<std::shared_ptr<const Buffer>> on_gpu(const KernelCard& kernel,
                                                const KernelOptions& options) override;
  std::string whole_path(const std::string& path) const override;
  Outcome<std::shared_ptr<LiveRun>> live(const KernelCard& kernel,
                                         const KernelOptions& options) override;
  std::vector<std::string> beside(const std::string& path, std::string_view end) override;
  std::optional<Error> export_text(const LayoutView& view, const LayoutChoice& choice,
                                   const Theme& theme, const std::string& path) override;
  Outcome<std::string> read_text(const std::string& path) override;
  std::optional<Error> write_text(const std::string& path, std::string_view text) override;
  std::optional<Error> export_picture(const Scene& scene, const std::string& path) override;
  std::optional<Error> export_film(const Film& film, const std::string& path) override;
  std::vector<std::string> lesson_names() const override;
  Outcome<std::string> lesson_text(std::string_view name) const override;
  Outcome<std::string> lesson_file(std::string_view name) const override;
  Outcome<Trial> try_kernel(std::string_view kernel) override;
  Outcome<Trial> try_program(std::string_view ptx, std::string_view launch) override;
  CourseIndex course_exercises() const override;
  Outcome<std::string> course_source(const CourseExercise& exercise) const override;
  std::optional<Error> start_check(const CourseExercise& exercise,
                                   const std::string& file) override;
  CourseProgress check_progress() const override;
  void cancel_check() override;
  void wait_check() override;
  std::optional<Outcome<CourseVerdict>> take_check() override;
  std::optional<Error> keep_progress(const std::string& text) override;

  // Progress goes to the user's own file from here on (app/lesson_store.h); else nowhere.
  void keep_progress_on_disk() { keeps_progress_ = true; }

 private:
  std::unique_ptr<BackgroundRun> run_;
  std::unique_ptr<BackgroundBuild> build_;
  std::unique_ptr<BackgroundCheck> check_;
  bool keeps_progress_ = false;
};

}  // namespace tilescope
