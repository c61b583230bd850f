// A film in the format that a file's name asks for: .html plays by itself; .gif and .webm are made
// by ffmpeg where it is installed (Debian: ffmpeg), from pictures that the program paints.
#pragma once

#include <optional>
#include <string>

#include "core/error.h"
#include "viz/scene/film.h"

namespace tilescope {

// Whole or not at all.
std::optional<Error> write_film(const Film& film, const std::string& path);

}  // namespace tilescope
