#include "core/tensor/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/layout/text.h"

namespace tilescope {
namespace {

const std::array<const AtomMaker*, 8> makers = {&register_mmas, &sm120_mmas,    &wgmmas,
                                                &tcgen05_mmas,  &thread_copies, &matrix_copies,
                                                &tmem_copies,   &bulk_copies};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// `cute::GMMA::Major::K` is K, `cute::complex<T>` is complex<T>.
std::string_view without_namespace(std::string_view text) {
  const std::size_t colons = text.substr(0, text.find('<')).rfind("::");
  return colons == std::string_view::npos ? text : text.substr(colons + 2);
}

// The places in `spelling` point into its own text.
void split(AtomSpelling& spelling) {
  const std::string_view text = trimmed(spelling.whole);
  const std::size_t open = text.find('<');
  spelling.base = without_namespace(trimmed(text.substr(0, open)));
  if (open == std::string_view::npos || text.back() != '>') return;
  std::string_view rest = text.substr(open + 1, text.size() - open - 2);
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= rest.size(); ++i) {
    if (i < rest.size() && rest[i] == '<') ++depth;
    if (i < rest.size() && rest[i] == '>') --depth;
    if (i < rest.size() && (rest[i] != ',' || depth > 0)) continue;
    const std::string_view argument = trimmed(rest.substr(begin, i - begin));
    if (!argument.empty()) spelling.arguments.push_back(without_namespace(argument));
    begin = i + 1;
  }
}

// CuTe's Copy_Atom<OPERATION, TYPE> and MMA_Atom<OPERATION> (include/cute/atom/copy_atom.hpp,
// mma_atom.hpp) are the operation with the type as its last argument; what is wrong, or empty.
std::string unwrap(AtomSpelling& spelling) {
  const bool copy = spelling.base == "Copy_Atom";
  if (!copy && spelling.base != "MMA_Atom") return {};
  if (spelling.arguments.size() != (copy ? 2 : 1)) {
    return copy ? "it takes the copy operation and the type of the values: "
                  "Copy_Atom<SM75_U32x4_LDSM_N,f16>."
                : "it takes the MMA operation: MMA_Atom<SM80_16x8x16_F32F16F16F32_TN>.";
  }
  std::string inner(spelling.arguments[0]);
  if (copy) {
    const bool more = inner.back() == '>';
    if (more) inner.pop_back();
    inner += fmt::format("{}{}>", more ? ',' : '<', spelling.arguments[1]);
  }
  spelling = AtomSpelling();
  spelling.whole = std::move(inner);
  split(spelling);
  return {};
}

}  // namespace

Error no_atom(const AtomSpelling& spelling, std::string_view what_is_wrong) {
  return {ErrorKind::refused, fmt::format("{}: {}", spelling.whole, what_is_wrong), ""};
}

bool begins_like_an_atom(std::string_view word) {
  const bool architecture = word.size() > 4 && word.substr(0, 2) == "SM" && word[2] >= '1' &&
                            word[2] <= '9' && word.find('_') != std::string_view::npos;
  return architecture || word.substr(0, 9) == "Universal" || word.substr(0, 4) == "Auto" ||
         word == "DefaultCopy" || word == "Copy_Atom" || word == "MMA_Atom";
}

Outcome<Atom> atom_named(std::string_view name) {
  AtomSpelling spelling;
  spelling.whole = std::string(name);
  split(spelling);
  if (const std::string wrong = unwrap(spelling); !wrong.empty()) return no_atom(spelling, wrong);
  for (const AtomMaker* maker : makers) {
    if (AtomAnswer answer = maker->make(spelling)) return *std::move(answer);
  }
  std::vector<std::string_view> known(atom_names().begin(), atom_names().end());
  const std::string_view near = nearest(spelling.base, known);
  return no_atom(spelling, near.empty()
                               ? std::string("there is no such atom; `list atoms` shows them.")
                               : fmt::format("there is no such atom; did you mean {}?", near));
}

const std::vector<AtomFamily>& atom_families() {
  static const std::vector<AtomFamily> all = [] {
    std::vector<AtomFamily> out;
    for (const AtomMaker* maker : makers) maker->list(out);
    return out;
  }();
  return all;
}

const std::vector<std::string>& atom_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> out;
    for (const AtomMaker* maker : makers) maker->names(out);
    return out;
  }();
  return all;
}

}  // namespace tilescope
