#include "app/lesson_store.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "app/assets.h"
#include "app/files.h"
#include "assets/embedded.h"
#include "kernels/catalog/catalog.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "lessons/", kCourse = "course/", kEnding = ".md";

// Empty where there is no home.
fs::path progress_path() {
  const std::string folder = state_folder();
  return folder.empty() ? fs::path() : fs::path(folder) / "tilescope" / "progress.json";
}

// A name beside it that is not taken: progress.broken.json, progress.2.broken.json...
fs::path free_path_aside(const fs::path& path) {
  const fs::path stem = path.parent_path() / path.stem();
  std::error_code ignored;
  fs::path aside = stem.string() + ".broken.json";
  for (int number = 2; fs::exists(aside, ignored); ++number) {
    aside = fmt::format("{}.{}.broken.json", stem.string(), number);
  }
  return aside;
}

// Held by one program at a time, from its making to its end; a file system that knows no locks does
// without.
class Turn {
 public:
  explicit Turn(const fs::path& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (file_ >= 0) (void)::flock(file_, LOCK_EX);
  }
  ~Turn() {
    if (file_ >= 0) ::close(file_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int file_;
};

void add_name(std::string_view file, std::vector<std::string>& names) {
  if (file.size() <= kEnding.size() || !file.ends_with(kEnding)) return;
  const std::string name(file.substr(0, file.size() - kEnding.size()));
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// Of FOLDER/NAME.md, embedded and of TILESCOPE_ASSETS.
std::vector<std::string> names_in(std::string_view of) {
  std::vector<std::string> names;
  for (const std::string_view asset : asset_names()) {
    if (asset.substr(0, of.size()) == of) add_name(asset.substr(of.size()), names);
  }
  const char* folder = std::getenv("TILESCOPE_ASSETS");
  if (!folder || !*folder) return names;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(folder) / of, ignored)) {
    add_name(entry.path().filename().string(), names);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::vector<std::string> lesson_names() {
  return names_in(kFolder);
}

CourseIndex course_exercises() {
  CourseIndex out;
  for (const std::string& name : names_in(kCourse)) {
    const Outcome<Asset> asset = load_asset(fmt::format("{}{}{}", kCourse, name, kEnding));
    auto exercise =
        asset ? read_course_exercise(asset->text(), name) : Outcome<CourseExercise>(asset.error());
    if (exercise) {
      out.exercises.push_back(std::move(*exercise));
    } else {
      out.problems.push_back(exercise.error());
    }
  }
  std::stable_sort(
      out.exercises.begin(), out.exercises.end(),
      [](const CourseExercise& a, const CourseExercise& b) { return a.number < b.number; });
  return out;
}

Outcome<std::string> course_source(const CourseExercise& exercise) {
  if (!exercise.source.empty()) return lesson_file(exercise.source);
  const Outcome<const CatalogEntry*> entry = find_kernel(exercise.kernel);
  if (!entry) return entry.error();
  return lesson_file((*entry)->source);
}

Outcome<std::string> lesson_text(std::string_view name) {
  const Outcome<Asset> asset = load_asset(fmt::format("{}{}{}", kFolder, name, kEnding));
  if (!asset) return asset.error();
  return std::string(asset->text());
}

Outcome<std::string> lesson_file(std::string_view name) {
  const bool source = name.find('/') != name.npos;
  const Outcome<Asset> asset =
      load_asset(source ? std::string(name) : fmt::format("{}{}", kFolder, name));
  if (!asset) return asset.error();
  return std::string(asset->text());
}

Outcome<LessonProgress> saved_progress() {
  const fs::path path = progress_path();
  std::error_code ignored;
  if (path.empty() || !fs::exists(path, ignored)) return LessonProgress{};
  const Outcome<std::string> text = read_text(path.string());
  if (!text) return text.error();
  Outcome<LessonProgress> progress = read_progress(*text);
  if (progress) return progress;
  Error error = progress.error();
  error.where = path.string();
  return error;
}

Outcome<TakenUp> take_up_progress() {
  Outcome<LessonProgress> saved = saved_progress();
  if (saved) return TakenUp{std::move(*saved), ""};
  const fs::path path = progress_path();
  const fs::path aside = free_path_aside(path);
  std::error_code failed;
  fs::rename(path, aside, failed);
  if (failed) {
    return Error{saved.error().kind,
                 fmt::format("{} It cannot be moved aside ({}), so progress is not saved.",
                             saved.error().sentence, failed.message()),
                 path.string()};
  }
  return TakenUp{{},
                 fmt::format("{} It is now {}, and a new one is begun.", saved.error().sentence,
                             aside.string())};
}

std::optional<Error> write_progress(const std::string& text) {
  const fs::path path = progress_path();
  if (path.empty()) return {};
  Outcome<LessonProgress> progress = read_progress(text);
  if (!progress) return progress.error();
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (failed) {
    return Error{ErrorKind::unreadable,
                 fmt::format("The folder {} for progress cannot be made: {}.",
                             path.parent_path().string(), failed.message()),
                 ""};
  }
  const Turn turn(path.parent_path() / "progress.lock");
  const Outcome<TakenUp> there = take_up_progress();
  if (!there) return there.error();
  merge(*progress, there->progress);
  return write_file(path.string(), progress_text(*progress));
}

}  // namespace tilescope
