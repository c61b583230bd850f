// What a launch file gives an argument besides bytes: tensor maps, textures and surfaces, read from
// their tables. Whose buffer it is, and which it is, the parser of launch files knows. Used inside
// core/io only.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "core/io/toml_reader.h"
#include "core/run/tensor_map.h"
#include "core/run/texture.h"

namespace tilescope {

constexpr std::int64_t most_int32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t most_int64 = std::numeric_limits<std::int64_t>::max();

// `of`: "the tensormap of argument 2", for sentences.
void only_of_tensor_map(TomlReader& toml, const toml::table& given, const std::string& of);
void read_tensor_map(TomlReader& toml, const toml::table& given, const std::string& of,
                     TensorMap& map);
// Of t whether it is a surface is known already.
void read_texture(TomlReader& toml, const toml::table& given, const std::string& of, Texture& t);

}  // namespace tilescope
