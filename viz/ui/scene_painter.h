// Paints a scene with Dear ImGui: rectangles, lines and text into a draw list, rasters as textures
// that are made once for each content and kept while they are used.
#pragma once

#include <imgui.h>

#include <unordered_map>
#include <vector>

#include "viz/scene/scene.h"
#include "viz/ui/fonts.h"
#include "viz/ui/textures.h"

namespace tilescope::ui {

class ScenePainter {
 public:
  explicit ScenePainter(Textures& textures) : textures_(textures) {}
  ~ScenePainter();
  ScenePainter(const ScenePainter&) = delete;
  ScenePainter& operator=(const ScenePainter&) = delete;

  // Paints with the scene's corner at `origin`; `scale` is pixels of the screen for one of the
  // scene. Nothing is painted outside the scene's size. `on_paper`: there is paper already, so the
  // scene's own is left out.
  void paint(const Scene& scene, ImDrawList& list, ImVec2 origin, const FontSet& fonts,
             float scale = 1, bool on_paper = false);

 private:
  // A raster larger than the largest texture is cut into several.
  struct Piece {
    ImTextureID texture;
    int column, row, columns, rows;
  };
  struct Kept {
    std::vector<Piece> pieces;
    int unused = 0;  // paints since it was last used
  };

  // `smooth`: drawn smaller than it is. Enlarged pixels keep their edges.
  const std::vector<Piece>& pieces_of(const Image& pixels, bool smooth);
  void forget_unused();

  Textures& textures_;
  std::unordered_map<std::uint64_t, Kept> kept_;
};

}  // namespace tilescope::ui
