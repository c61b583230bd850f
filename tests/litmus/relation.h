// A relation between the events of one execution: at most 64 of them, a row of bits each.
#pragma once

#include <cstdint>
#include <vector>

namespace tilescope::litmus {

class Relation {
 public:
  static constexpr int most = 64;
  explicit Relation(int events) : rows_(static_cast<std::size_t>(events)) {}

  int size() const { return static_cast<int>(rows_.size()); }
  bool operator()(int a, int b) const { return rows_[static_cast<std::size_t>(a)] >> b & 1; }
  void add(int a, int b) { rows_[static_cast<std::size_t>(a)] |= std::uint64_t{1} << b; }
  // a before b before c: a before c.
  void close() {
    for (int k = 0; k < size(); ++k) {
      for (int a = 0; a < size(); ++a) {
        if ((*this)(a, k)) rows_[static_cast<std::size_t>(a)] |= rows_[static_cast<std::size_t>(k)];
      }
    }
  }
  bool irreflexive() const {
    for (int a = 0; a < size(); ++a) {
      if ((*this)(a, a)) return false;
    }
    return true;
  }
  bool acyclic() const {
    Relation closed = *this;
    closed.close();
    return closed.irreflexive();
  }

 private:
  std::vector<std::uint64_t> rows_;
};

}  // namespace tilescope::litmus
