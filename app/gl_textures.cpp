#include "app/gl_textures.h"

#include <GL/gl.h>

#include <cstdint>

namespace tilescope {
namespace {

constexpr GLint kClampToEdge = 0x812F;  // GL_CLAMP_TO_EDGE, OpenGL 1.2: not in every gl.h

// ImTextureID is a pointer up to Dear ImGui 1.91 and an integer after it: a cast of the old kind
// fits both.
unsigned name_of(ImTextureID texture) {
  return (unsigned)(std::uintptr_t)texture;
}

}  // namespace

GlTextures::~GlTextures() {
  for (unsigned name : alive_) glDeleteTextures(1, &name);
}

ImTextureID GlTextures::make(int width, int height, std::span<const std::uint8_t> rgba,
                             bool smooth) {
  GLuint name = 0;
  glGenTextures(1, &name);
  glBindTexture(GL_TEXTURE_2D, name);
  const GLint filter = smooth ? GL_LINEAR : GL_NEAREST;
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, kClampToEdge);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, kClampToEdge);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
               rgba.data());
  alive_.insert(name);
  return (ImTextureID)(std::uintptr_t)name;
}

void GlTextures::drop(ImTextureID texture) {
  const GLuint name = name_of(texture);
  if (alive_.erase(name)) glDeleteTextures(1, &name);
}

int GlTextures::largest() const {
  GLint size = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
  return size;
}

}  // namespace tilescope
