#include "core/language/completion.h"

#include <algorithm>
#include <cctype>

#include "core/language/functions.h"
#include "core/language/lexer.h"
#include "core/tensor/catalog.h"

namespace tilescope {
namespace {

constexpr std::size_t most_completions = 64;

bool in_word(char c) {
  return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
}

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// Collects what begins like the word, and behind it what holds it.
class Found {
 public:
  explicit Found(std::string_view word) : word_(word) {}

  void offer(Completion::Kind kind, std::string_view name, std::string_view detail) {
    const Match match = matches(name, word_);
    if (!match.any) return;
    (match.begins ? begins_ : holds_).push_back({kind, std::string(name), std::string(detail)});
  }
  std::vector<Completion> all() {
    begins_.insert(begins_.end(), std::make_move_iterator(holds_.begin()),
                   std::make_move_iterator(holds_.end()));
    if (begins_.size() > most_completions) begins_.resize(most_completions);
    return std::move(begins_);
  }

 private:
  std::string_view word_;
  std::vector<Completion> begins_, holds_;
};

// What the statements before the last `;` bind; one that has a problem binds nothing.
Scope bound_before(std::string_view text) {
  Scope scope;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if ((c != ';' || depth > 0) && c != '\n') continue;
    (void)scope.evaluate(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return scope;
}

// "(L, WIDTH[, ELEMENT])" as the places of L, WIDTH and ELEMENT.
std::vector<std::pair<std::size_t, std::size_t>> parameters_in(std::string_view text) {
  std::vector<std::pair<std::size_t, std::size_t>> out;
  std::size_t begin = std::min<std::size_t>(1, text.size());
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] != ',' && i + 1 != text.size()) continue;
    std::size_t from = begin, to = i;
    const auto blank = [&](std::size_t at) {
      return text[at] == ' ' || text[at] == '[' || text[at] == ']' || text[at] == ')';
    };
    while (from < to && blank(from)) ++from;
    while (to > from && blank(to - 1)) --to;
    if (to > from) out.emplace_back(from, to);
    begin = i + 1;
  }
  return out;
}

}  // namespace

std::string_view name_of(Completion::Kind kind) {
  switch (kind) {
    case Completion::Kind::name:
      return "name";
    case Completion::Kind::function:
      return "function";
    case Completion::Kind::atom:
      return "atom";
    case Completion::Kind::preset:
      return "preset";
    case Completion::Kind::kernel:
      return "kernel";
  }
  return "";
}

Match matches(std::string_view name, std::string_view word) {
  if (word.empty() || name == word) return {};
  const auto at = std::search(name.begin(), name.end(), word.begin(), word.end(),
                              [](char a, char b) { return lower(a) == lower(b); });
  // A letter or two stand in nearly every name.
  const bool begins = at == name.begin();
  return {at != name.end() && (begins || word.size() > 2), begins};
}

Completions completions(std::string_view text, std::size_t caret) {
  Completions out;
  caret = std::min(caret, text.size());
  out.begin = out.end = caret;
  while (out.begin > 0 && in_word(text[out.begin - 1])) --out.begin;
  while (out.end < text.size() && in_word(text[out.end])) ++out.end;
  const std::string_view word = text.substr(out.begin, caret - out.begin);
  const bool number = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
  if (word.empty() || number || word == "_") return out;
  Found found(word);
  const Scope scope = bound_before(text.substr(0, out.begin));
  for (const auto& [name, value] : scope.names()) {
    found.offer(Completion::Kind::name, name, tilescope::text(value));
  }
  for (const FunctionHelp& function : functions()) {
    found.offer(Completion::Kind::function, function.name,
                std::string(function.parameters) + "  " + std::string(function.help));
  }
  for (const std::string& atom : atom_names()) found.offer(Completion::Kind::atom, atom, "");
  out.all = found.all();
  return out;
}

std::optional<Signature> signature_at(std::string_view text, std::size_t caret) {
  struct Open {
    char bracket;
    std::string_view before;  // the word that it stands behind
    std::size_t commas = 0;
  };
  std::vector<Open> open;
  language::Lexer lexer(text.substr(0, caret));
  std::string_view word;
  for (language::Token token = lexer.next(); token.kind != language::Token::Kind::end;
       token = lexer.next()) {
    if (token.kind == language::Token::Kind::mark) {
      const char mark = token.text[0];
      if (mark == '(' || mark == '<' || mark == '[' || mark == '{') open.push_back({mark, word});
      const bool closes = mark == ')' || mark == '>' || mark == ']' || mark == '}';
      if (closes && !open.empty()) open.pop_back();
      if (mark == ',' && !open.empty()) ++open.back().commas;
      if (mark == ';') open.clear();
    }
    word = token.kind == language::Token::Kind::word ? token.text : std::string_view();
  }
  for (auto at = open.rbegin(); at != open.rend(); ++at) {
    if (at->bracket != '(' || at->before.empty()) continue;
    for (const FunctionHelp& function : functions()) {
      if (function.name != at->before) continue;
      Signature out{function.name, function.parameters, function.help, at->commas, 0, 0};
      const auto all = parameters_in(function.parameters);
      const bool more = !all.empty() && function.parameters.find("...") != std::string_view::npos;
      if (at->commas < all.size() || more) {
        const auto [begin, end] = all[std::min(at->commas, all.size() - 1)];
        out.begin = begin;
        out.end = end;
      }
      return out;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tilescope
