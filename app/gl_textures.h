// Textures of the OpenGL 3 context that is current; used by the window and by pictures of it.
#pragma once

#include <unordered_set>

#include "viz/ui/textures.h"

namespace tilescope {

class GlTextures : public ui::Textures {
 public:
  ~GlTextures() override;
  ImTextureID make(int width, int height, std::span<const std::uint8_t> rgba, bool smooth) override;
  void drop(ImTextureID texture) override;
  int largest() const override;

 private:
  std::unordered_set<unsigned> alive_;
};

}  // namespace tilescope
