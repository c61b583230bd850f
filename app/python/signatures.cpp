#include "app/python/signatures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

namespace tilescope::python {
namespace {

// What a parameter takes, by its letter in Function::kinds.
std::string_view type_of(char kind) {
  switch (std::toupper(static_cast<unsigned char>(kind))) {
    case 'L':
    case 'O':
    case 'K':
      return "LayoutLike";
    case 'H':
    case 'E':
      return "LayoutLike | Tensor";
    case 'T':
      return "TilerLike";
    case 'S':
    case 'J':
      return "TupleLike";
    case 'N':
      return "int";
    case 'I':
      return "int | Int";
    case 'W':
      return "str";
    case 'M':
      return "TiledMMA | MMAAtom | str";
    case 'A':
      return "MMAAtom | str";
    case 'C':
      return "TiledCopy | str";
    case 'X':
      return "TiledMMA | TiledCopy | str";
    case 'P':
      return "CopyAtom | str";
    case 'D':
      return "TileLayout | str";
    default:
      return "Value";
  }
}

// What functions answer that has one type whatever they are given; the rest answer a layout, or
// what `follows` says. tests/python compares the examples' values with the stub.
struct Answers {
  std::string_view type;
  std::string_view functions;  // with a blank before and behind each
};
constexpr std::array answers = {
    Answers{"TileLayout",
            " ComposeLayout canonicalize direct_sum in_shape mma_shared_layout pack permute_dims "
            "storage tile tile_to tma_shared_layout tmem_datapath_layout tmem_metadata "
            "tmem_scale_factors to_tirx unpack wg_local_layout "},
    Answers{"dict[str, int | str]", " bank_conflicts coalescing vector "},
    Answers{"Verdict", " injective surjective compact contiguous "},
    Answers{"list[tuple[Any, ...]]", " coordinates "},
    Answers{"list[Any]", " indices owners "},
    Answers{"int", " depth rank max_alignment max_common_vector "},
    Answers{"int | Int", " size "},
    Answers{"Shape", " shape stride idx2crd tile_shape tiler_mn get_slice to_matrix "},
    Answers{"Shape | Place", " cosize crd2idx span "},
    Answers{"TiledMMA", " make_tiled_mma "},
    Answers{"TiledCopy",
            " make_tiled_copy make_tiled_copy_A make_tiled_copy_B make_tiled_copy_C "
            "make_tiled_copy_D make_tiled_copy_S "},
    Answers{"Swizzle", " find_swizzle "},
    Answers{"ThreadValue", " make_layout_tv "},
    Answers{"Layout | Slice", " to_cute "},
};

std::string_view answer_of(std::string_view name) {
  const std::string word = fmt::format(" {} ", name);
  for (const Answers& each : answers) {
    if (each.functions.find(word) != std::string_view::npos) return each.type;
  }
  return "";
}

// The parameters' names: of "(L, I[, J...])", L, I and J.
std::vector<std::string> names_in(std::string_view parameters) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : parameters) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      name += c;
    } else if (!name.empty()) {
      names.push_back(std::move(name));
      name.clear();
    }
  }
  return names;
}

// A parameter that may be repeated has several letters, of which the later ones are without a name.
// The one at `place` has this type.
std::string definition(const language::Function& f, std::size_t place, std::string_view type,
                       std::string_view answer) {
  const std::vector<std::string> names = names_in(f.help.parameters);
  std::set<std::string> used;
  std::string out = fmt::format("def {}(", f.help.name);
  for (std::size_t i = 0; i < f.kinds.size(); ++i) {
    std::string own = i < names.size() ? names[i] : names.empty() ? "x" : names.back();
    if (!used.insert(own).second) own += fmt::format("_{}", i), used.insert(own);
    const bool optional = std::islower(static_cast<unsigned char>(f.kinds[i])) != 0;
    out += fmt::format("{}: {}{}, ", own, i == place ? type : type_of(f.kinds[i]),
                       optional ? " = ..." : "");
  }
  return out + fmt::format("/) -> {}", answer);
}

constexpr std::size_t nowhere = std::string_view::npos;

// A part of what is given: of a tensor a tensor, of a slice what begins where it does.
std::string following(const language::Function& f, std::size_t place, bool tensors,
                      std::string_view of_slice, std::string_view of_layout) {
  std::string out;
  if (tensors) out += "@overload\n" + definition(f, place, "Tensor", "Tensor") + ": ...\n";
  if (of_slice != of_layout)
    out += "@overload\n" + definition(f, place, "Slice", of_slice) + ": ...\n";
  return out + (out.empty() ? "" : "@overload\n") +
         definition(f, place, of_slice == of_layout ? "LayoutLike" : "LayoutAlone", of_layout);
}

// TIRx's functions of the same name: of a TileLayout a TileLayout.
bool of_tile_layouts_too(std::string_view name) {
  return name == "group" || name == "slice" || name == "broadcast";
}

}  // namespace

std::string signature_of(const language::Function& f) {
  const std::string_view name = f.help.name;
  if (const std::string_view type = answer_of(name); !type.empty())
    return definition(f, nowhere, "", type);
  std::string out;
  if (of_tile_layouts_too(name)) {
    out += fmt::format("@overload\ndef {}(X: TileLayout, *more: Any) -> TileLayout: ...\n", name);
  }
  const bool overloaded = !out.empty();
  const auto last = [&](std::string text) {
    return out + (overloaded && !text.starts_with('@') ? "@overload\n" : "") + text;
  };
  if (name == "broadcast") return last(definition(f, nowhere, "", "dict[str, int | str]"));
  if (name == "composition") {
    return "@overload\n" + definition(f, 0, "Tensor", "Tensor") + ": ...\n@overload\n" +
           "def composition(A: Swizzle, B: Swizzle, /) -> Swizzle: ...\n@overload\n" +
           definition(f, 0, "Slice", "Layout | Slice") + ": ...\n@overload\n" +
           "def composition(A: Swizzle, B: TileLayout, /) -> TileLayout: ...\n@overload\n" +
           definition(f, 0, "LayoutAlone | Swizzle", "Layout");
  }
  const std::size_t part = f.kinds.find_first_of("HEO");
  if (part == nowhere) return last(definition(f, nowhere, "", "Layout"));
  if (name.starts_with("fragment_")) return definition(f, nowhere, "", "Layout");
  const bool tensors = f.kinds[part] != 'O';
  // What is cut out begins somewhere.
  const bool slices =
      name.starts_with("partition_") || name.starts_with("local_") || name == "slice_and_offset";
  return last(following(f, part, tensors, slices ? "Slice" : "Layout | Slice",
                        slices ? "Slice" : "Layout"));
}

}  // namespace tilescope::python
