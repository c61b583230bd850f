#include "app/films.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "app/files.h"
#include "app/pictures.h"
#include "app/process.h"
#include "app/scratch.h"
#include "app/terminal.h"
#include "viz/paint/player.h"

namespace tilescope {
namespace {

namespace fs = std::filesystem;

std::optional<Error> paint_frames(const Film& film, const fs::path& room) {
  for (std::size_t i = 0; i < film.frames.size(); ++i) {
    if (interrupted()) return Error{ErrorKind::interrupted, "Interrupted.", ""};
    const std::string name = (room / fmt::format("{:05}.png", i)).string();
    const auto bytes = paint_for_file(film.frames[i].scene, name);
    if (!bytes) return bytes.error();
    if (auto error = write_file(name, std::span<const std::byte>(*bytes))) return error;
  }
  return std::nullopt;
}

std::optional<Error> encode(const Film& film, const std::string& path, const std::string& ffmpeg) {
  const Scratch scratch;
  const fs::path& room = scratch.folder();
  if (room.empty()) {
    return Error{ErrorKind::unreadable,
                 "The film's frames need a folder for temporary files, and none can be made: set "
                 "TMPDIR to one "
                 "that can be written.",
                 ""};
  }
  if (auto error = paint_frames(film, room)) return error;
  const bool gif = path.ends_with(".gif");
  const std::string made = (room / (gif ? "film.gif" : "film.webm")).string();
  ProcessPlan plan;
  plan.words = {ffmpeg,
                "-loglevel",
                "error",
                "-framerate",
                fmt::format("{:.0f}", film.frames_a_second),
                "-i",
                (room / "%05d.png").string()};
  const auto add = [&](std::initializer_list<const char*> words) {
    plan.words.insert(plan.words.end(), words.begin(), words.end());
  };
  if (gif) {
    add({"-vf", "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=none"});
  } else {
    add({"-c:v", "libvpx-vp9", "-crf", "30", "-b:v", "0", "-pix_fmt", "yuv420p"});
  }
  plan.words.push_back(made);
  const auto end = run_process(plan, [] { return !interrupted(); });
  if (!end) return end.error();
  if (end->exit_code != 0) {
    return Error{ErrorKind::unsupported,
                 fmt::format("ffmpeg does not make {}: {}", path, end->said), path};
  }
  const auto bytes = read_file(made);
  if (!bytes) return bytes.error();
  return write_file(path, std::span<const std::byte>(*bytes));
}

}  // namespace

std::optional<Error> write_film(const Film& film, const std::string& path) {
  if (path.ends_with(".html")) {
    const std::string text = paint_player(film);
    return write_file(path, std::as_bytes(std::span(text)));
  }
  const std::string ffmpeg = on_path("ffmpeg");
  if (ffmpeg.empty()) {
    return Error{ErrorKind::no_device,
                 fmt::format("{} needs ffmpeg, which is not installed here (Debian: apt install "
                             "ffmpeg). An .html plays without it.",
                             path),
                 ""};
  }
  return encode(film, path, ffmpeg);
}

}  // namespace tilescope
