#include "app/output_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/npy_files.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

// Where a path leads; one that leads nowhere is taken as it is written.
fs::path real_place(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error);
  const fs::path place = fs::weakly_canonical(whole, error);
  return error ? whole.lexically_normal() : place;
}

// By place, or as one file with two names.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return real_place(a) == real_place(b) || (fs::equivalent(a, b, error) && !error);
}

bool lies_in(const fs::path& file, const fs::path& folder) {
  auto f = file.begin();
  for (const fs::path& part : folder) {
    if (part.empty()) continue;  // behind a last slash
    if (f == file.end() || *f != part) return false;
    ++f;
  }
  return f != file.end();
}

Error refused_output(const Buffer& buffer, const std::string& file, const std::string& launch,
                     std::string_view why) {
  return {ErrorKind::mismatch,
          fmt::format("[[buffer]] \"{}\" has out = {}, {}.", buffer.name, file, why), launch};
}

}  // namespace

std::optional<Error> wrong_outputs(const PreparedRun& run, const std::string& launch,
                                   bool allow_outside) {
  const fs::path folder = real_place(
      fs::path(launch).parent_path().empty() ? "." : fs::path(launch).parent_path().string());
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    if (!run.outputs[i].file) continue;
    const std::string& file = *run.outputs[i].file;
    const auto no = [&](std::string_view why) {
      return refused_output(run.job.buffers[run.outputs[i].buffer], file, launch, why);
    };
    if (same_file(file, launch)) {
      return no("which is the launch file itself; a name of its own would work");
    }
    for (const std::string& read : run.made_of) {
      if (same_file(file, read)) {
        return no(fmt::format("which the run reads ({}); a name of its own would work", read));
      }
    }
    for (std::size_t other = 0; other < i; ++other) {
      if (run.outputs[other].file && same_file(file, *run.outputs[other].file)) {
        return no(
            fmt::format("where [[buffer]] \"{}\" is written too; each needs a name of its own",
                        run.job.buffers[run.outputs[other].buffer].name));
      }
    }
    if (!allow_outside && !lies_in(real_place(file), folder)) {
      return no(
          fmt::format("which lies outside of the launch file's folder, {}; --allow-outside "
                      "lets it be written all the same",
                      folder.string()));
    }
    std::error_code error;
    if (fs::is_directory(file, error))
      return no("which is a folder; the name of a file would work");
    const fs::file_type type = fs::status(file, error).type();
    if (type == fs::file_type::fifo || type == fs::file_type::socket ||
        type == fs::file_type::block) {
      return no("which is a pipe, a socket or a disk; the name of a file would work");
    }
    if (!fs::is_regular_file(file, error)) continue;
    if (!is_npy(file)) {
      return no(
          "where a file stands that is no .npy file and would be replaced; move it away, or "
          "give another name");
    }
  }
  return std::nullopt;
}

std::optional<Error> wrong_file(const PreparedRun& run, const std::string& launch,
                                std::string_view option, const std::string& file) {
  if (file.empty()) return std::nullopt;
  const auto is_read = [&](const std::string& read) {
    return !read.empty() && same_file(file, read);
  };
  if (!is_read(launch) && std::none_of(run.made_of.begin(), run.made_of.end(), is_read)) {
    return std::nullopt;
  }
  return Error{
      ErrorKind::usage,
      fmt::format("{} would write over {}, which the run reads; a name of its own would work.",
                  option, file),
      ""};
}

}  // namespace tilescope
