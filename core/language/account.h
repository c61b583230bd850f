// How explanations are written down: steps at one level, or one deeper.
#pragma once

#include <string>
#include <utility>

#include "core/language/language.h"
#include "core/layout/text.h"

namespace tilescope {

inline std::string text_of(const Mode& mode) {
  return text(Layout(Tree<Mode>(mode)));
}

// Writes steps at one level, or one deeper.
class Account {
 public:
  Account(Derivation& steps, int level) : steps_(&steps), level_(level) {}

  void say(std::string operation, std::string operands, std::string sentence) {
    add(std::move(operation), std::move(operands), {}, std::nullopt, std::move(sentence));
  }
  void say(std::string operation, std::string operands, const Layout& layout,
           std::string sentence) {
    add(std::move(operation), std::move(operands), text(layout), layout, std::move(sentence));
  }
  void say(std::string operation, std::string operands, const Mode& mode, std::string sentence) {
    say(std::move(operation), std::move(operands), Layout(Tree<Mode>(mode)), std::move(sentence));
  }
  // An operation inside another one: its result or the sentence of its refusal.
  void call(std::string operation, std::string operands, const Result<Layout>& result,
            std::string sentence) {
    if (result) return say(std::move(operation), std::move(operands), *result, std::move(sentence));
    say(std::move(operation), std::move(operands), tilescope::sentence(result.refusal));
  }
  Account deeper() const {
    Account out = *this;
    ++out.level_;
    return out;
  }
  // The same, of layouts whose values are coordinates of `layout`.
  Account through(const Layout& layout) const {
    Account out = *this;
    out.through_ = layout;
    return out;
  }

 private:
  void add(std::string operation, std::string operands, std::string result,
           std::optional<Layout> layout, std::string sentence) {
    steps_->push_back({level_, std::move(operation), std::move(operands), std::move(result),
                       std::move(sentence), std::move(layout), through_});
  }

  Derivation* steps_;
  int level_;
  std::optional<Layout> through_;
};

}  // namespace tilescope
