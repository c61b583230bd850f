#include "core/tensor/text.h"

#include <fmt/format.h>

#include "core/layout/text.h"

namespace tilescope {
namespace {

// (32,(8,2,2):(1,16,8),_): a tile as CuTe prints a tuple of its parts.
std::string tile_text(const Tiler& tile) {
  std::string out = "(";
  for (int i = 0; i < tile.rank(); ++i) {
    const Tiler part = tile.mode(i);
    const bool number = part.modes.scalar() && (part.numbers & 1) != 0;
    out += i > 0 ? "," : "";
    out += number ? text(part.modes.leaf[0].shape) : text(part);
  }
  return out + ")";
}

}  // namespace

std::optional<Memory> memory_named(std::string_view name) {
  for (const Memory memory : {Memory::gmem, Memory::smem, Memory::rmem, Memory::tmem}) {
    if (name_of(memory) == name) return memory;
  }
  return std::nullopt;
}

std::string text(const Tensor& tensor) {
  std::string out = fmt::format("{}<{}>", name_of(tensor.memory), name_of(tensor.type));
  if (!tensor.offset.zero()) out += "+" + text(tensor.offset);
  return tensor.alone() ? out : out + " o " + text(tensor.layout);
}

std::string text(const MmaAtom& atom) {
  return fmt::format(
      "MMA_Atom\n  ThrID:      {}\n  Shape_MNK:  {}\n  LayoutA_TV: {}\n  LayoutB_TV: {}\n"
      "  LayoutC_TV: {}",
      text(atom.thr_id), text(atom.shape_mnk), text(atom.a.tv), text(atom.b.tv), text(atom.c.tv));
}

std::string text(const CopyAtom& atom) {
  return fmt::format(
      "Copy_Atom\n  ThrID:        {}\n  ValLayoutSrc: {}\n  ValLayoutDst: {}\n  ValLayoutRef: {}\n"
      "  ValueType:    {}b",
      text(atom.thr_id), text(atom.src), text(atom.dst), text(atom.ref), bits_of(atom.value));
}

std::string text(const TiledMma& mma) {
  return fmt::format("TiledMMA\n  ThrLayoutVMNK:  {}\n  PermutationMNK: {}\n{}",
                     text(mma.thr_layout_vmnk), tile_text(mma.permutation), text(mma.atom));
}

std::string text(const TiledCopy& copy) {
  return fmt::format("TiledCopy\n  Tiler_MN:       {}\n  TiledLayout_TV: {}\n{}", text(copy.tiler),
                     text(copy.layout_tv), text(copy.atom));
}

}  // namespace tilescope
