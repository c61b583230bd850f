// What a program hands to the driver as an image: PTX, a fat binary, machine code, or what nvcc
// puts around these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "app/cuda/linked_texts.h"

namespace tilescope::standin {

// What nvcc puts around a fat binary (crt/fatbinary_section.h): version 2 has others that are
// linked with each other behind it, up to null.
struct Wrapper {
  std::uint32_t magic, version;
  const void* data;
  const void* const* linked;
};

// What cuLinkComplete makes, as one piece of bytes that can be kept and copied: `count` images,
// each with its number of bytes (64 bits) before it.
struct Linked {
  std::uint32_t magic, count;
};
inline constexpr std::uint32_t linked_magic = 0x4b4e4c54;

inline constexpr std::uint32_t wrapper_magic = 0x466243b1, fatbin_magic = 0xBA55ED50;
inline constexpr std::uint32_t elf_magic = 0x464c457f;

template <class T>
T word_at(const void* from, std::size_t offset = 0) {
  T value;
  std::memcpy(&value, static_cast<const char*>(from) + offset, sizeof value);
  return value;
}

// The fat binary's bytes, as its header says; PTX up to its end. Machine code goes as its magic
// alone: all that will be said of it is that it is there.
inline std::string_view image_at(const void* from) {
  const auto* const text = static_cast<const char*>(from);
  const auto magic = word_at<std::uint32_t>(from);
  if (magic == fatbin_magic) {
    return {text, word_at<std::uint16_t>(from, 6) + word_at<std::uint64_t>(from, 8)};
  }
  if (magic == elf_magic) return {text, sizeof magic};
  return {text, std::strlen(text)};
}

inline std::vector<std::string_view> linked_at(const void* from) {
  std::vector<std::string_view> out;
  std::size_t at = sizeof(Linked);
  for (auto left = word_at<Linked>(from).count; left; --left) {
    const auto bytes = static_cast<std::size_t>(word_at<std::uint64_t>(from, at));
    out.emplace_back(static_cast<const char*>(from) + at + sizeof(std::uint64_t), bytes);
    at += sizeof(std::uint64_t) + bytes;
  }
  return out;
}

inline std::vector<std::string_view> images_at(const void* from) {
  if (word_at<std::uint32_t>(from) == linked_magic) return linked_at(from);
  if (word_at<std::uint32_t>(from) != wrapper_magic) return several_texts(image_at(from));
  const auto wrapper = word_at<Wrapper>(from);
  std::vector<std::string_view> out;
  if (wrapper.version == 2 && wrapper.linked) {
    for (const void* const* each = wrapper.linked; *each; ++each) out.push_back(image_at(*each));
  }
  if (out.empty() && wrapper.data) out.push_back(image_at(wrapper.data));
  return out;
}

}  // namespace tilescope::standin
