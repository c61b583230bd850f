#include "app/listed_atoms.h"

#include <fmt/format.h>

#include "core/layout/text.h"
#include "core/tensor/catalog.h"

namespace tilescope {
namespace {

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// 1 thread, 32 threads; of tcgen05 the threads are CTAs.
std::string threads_text(const Layout& thr_id, bool ctas) {
  const std::int64_t n = size(thr_id).value;
  const std::string_view what = ctas ? "CTA" : "thread";
  const std::string layout = thr_id.leaves() > 1 ? " " + text(thr_id) : "";
  return fmt::format("{} {}{}{}", n, what, n == 1 ? "" : "s", layout);
}

struct About {
  ListedAtom row;

  void operator()(const MmaAtom& atom) {
    row.shape = fmt::format("{}x{}x{}", atom.extent(0), atom.extent(1), atom.extent(2));
    row.threads = threads_text(atom.thr_id, atom.c.memory == Memory::tmem);
    row.types = fmt::format("{} ({}) x {} ({}) + {} ({})", name_of(atom.a.type),
                            name_of(atom.a.memory), name_of(atom.b.type), name_of(atom.b.memory),
                            name_of(atom.c.type), name_of(atom.c.memory));
    row.source = atom.source;
  }
  void operator()(const CopyAtom& atom) {
    const std::int64_t values = size(Layout(atom.ref.modes.mode(1))).value;
    const bool pair = atom.thr_id == Layout(2, 1);
    row.shape = fmt::format("{} values", values);
    row.threads = threads_text(atom.thr_id, pair);
    row.types =
        fmt::format("{}, {} to {}", name_of(atom.value), name_of(atom.from), name_of(atom.to));
    row.source = atom.source;
  }
};

// A row of the atom of this name; none where the name alone is no atom.
void add(const AtomFamily& family, std::vector<ListedAtom>& out) {
  const Outcome<Atom> atom = atom_named(family.example);
  if (!atom) return;
  About about;
  about.row.name = family.example;
  about.row.varies = family.varies;
  std::visit(about, *atom);
  ListedAtom& row = about.row;
  row.about = fmt::format("{}, {}, {}{}{} [{}]", row.shape, row.threads, row.types,
                          row.varies.empty() ? "" : "; ", row.varies, row.source);
  out.push_back(std::move(row));
}

}  // namespace

std::vector<ListedAtom> listed_atoms(std::string_view filter) {
  std::vector<ListedAtom> out;
  for (const AtomFamily& family : atom_families()) {
    if (holds(family.example, filter)) add(family, out);
  }
  if (!out.empty()) return out;
  for (const std::string& name : atom_names()) {
    if (holds(name, filter)) add({name, ""}, out);
  }
  return out;
}

}  // namespace tilescope
