#include "core/ptx/debug_section.h"

#include <fmt/format.h>

#include "core/ptx/cursor.h"

namespace tilescope::ptx {
namespace {

// One number: digits, or a name with what is added to it; of what else there may be (a - b) the
// value is not known here, and 0.
struct Value {
  std::uint64_t bits = 0;
  std::string_view name;
};

class SectionReader {
 public:
  SectionReader(Lexer& lexer, DebugSection& section) : lexer_(lexer), section_(section) {}

  // From behind its '{' to behind its '}'. What is wrong; empty: nothing.
  std::string read() {
    while (true) {
      const Token token = lexer_.take();
      if (token.is('}')) return {};
      const bool ends = token.kind == Token::Kind::end || token.kind == Token::Kind::bad;
      if (ends) return fmt::format("line {}: {} never ends", token.line, section_.name);
      if (token.kind == Token::Kind::word) {  // a label
        section_.labels.emplace(token.text, section_.bytes.size());
        if (lexer_.peek().is(':')) lexer_.take();
        continue;
      }
      const std::size_t width = token.is(".b8")    ? 1
                                : token.is(".b16") ? 2
                                : token.is(".b32") ? 4
                                : token.is(".b64") ? 8
                                                   : 0;
      if (width == 0) {
        return fmt::format("line {}: {} has '{}' where numbers should be", token.line,
                           section_.name, token.text.substr(0, 40));
      }
      do {
        add(value(), width);
        if (section_.bytes.size() > most_debug_bytes) {
          return fmt::format("{} has more than {} bytes", section_.name, most_debug_bytes);
        }
      } while (accept(','));
    }
  }

 private:
  bool accept(char c) {
    if (!lexer_.peek().is(c)) return false;
    lexer_.take();
    return true;
  }

  Value value() {
    Value out;
    bool minus = false, several = false;
    while (true) {
      const Token& next = lexer_.peek();
      if (next.kind == Token::Kind::number) {
        Number number;
        parse_number(next.text, number);
        out.bits += minus ? std::uint64_t{0} - number.bits : number.bits;
      } else if (next.kind == Token::Kind::word || next.kind == Token::Kind::dotted) {
        if (next.is(".b8") || next.is(".b16") || next.is(".b32") || next.is(".b64")) break;
        several = several || minus || !out.name.empty();
        out.name = next.text;
      } else if (next.is('-') || next.is('+')) {
        minus = next.is('-');
        lexer_.take();
        continue;
      } else {
        break;
      }
      lexer_.take();
      if (!lexer_.peek().is('+') && !lexer_.peek().is('-')) break;
    }
    if (several) return {};
    return out;
  }

  void add(const Value& value, std::size_t width) {
    if (!value.name.empty()) section_.names.emplace(section_.bytes.size(), value.name);
    for (std::size_t i = 0; i < width; ++i) {
      section_.bytes.push_back(static_cast<std::uint8_t>(value.bits >> 8 * i));
    }
  }

  Lexer& lexer_;
  DebugSection& section_;
};

}  // namespace

const DebugSection* DebugSections::find(std::string_view name) const {
  for (const DebugSection& section : all) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

DebugSections debug_sections(const Module& module, std::uint32_t part) {
  DebugSections out;
  const FilePart& file = module.parts[part];
  const std::string_view text = std::string_view(*module.text).substr(0, file.end);
  // Most files have none, and need no second reading.
  if (text.find(".debug_info", file.begin) == std::string_view::npos) return out;
  Lexer lexer(text, file.begin, file.first_line);
  Token before;
  while (out.wrong.empty()) {
    const Token token = lexer.take();
    if (token.kind == Token::Kind::end || token.kind == Token::Kind::bad) break;
    if (token.is(':') && before.kind == Token::Kind::word)
      out.lines.emplace(before.text, token.line);
    before = token;
    if (!token.is(".section")) continue;
    const Token name = lexer.take();
    if (!lexer.peek().is('{')) continue;
    lexer.take();
    out.all.push_back({name.text, {}, {}, {}});
    out.wrong = SectionReader(lexer, out.all.back()).read();
  }
  return out;
}

std::uint64_t DebugReader::fixed(std::size_t bytes) {
  if (bytes > left()) fail();
  if (failed_) return 0;
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i < 8) out |= std::uint64_t{section_->bytes[at_ + i]} << 8 * i;
  }
  at_ += bytes;
  return out;
}

std::uint64_t DebugReader::fixed(std::size_t bytes, std::string_view& name) {
  const auto known = section_->names.find(at_);
  const std::uint64_t out = fixed(bytes);
  name = known == section_->names.end() || failed_ ? std::string_view() : known->second;
  return out;
}

std::uint64_t DebugReader::uleb() {
  std::uint64_t out = 0;
  for (int shift = 0; !failed_; shift += 7) {
    const std::uint64_t byte = fixed(1);
    if (shift < 64) out |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return out;
}

std::int64_t DebugReader::sleb() {
  std::uint64_t out = 0;
  for (int shift = 0; !failed_;) {
    const std::uint64_t byte = fixed(1);
    if (shift < 64) out |= (byte & 127) << shift;
    shift += 7;
    if (byte >= 128) continue;
    if (shift < 64 && byte & 64) out |= ~std::uint64_t{0} << shift;
    break;
  }
  return static_cast<std::int64_t>(out);
}

std::string DebugReader::text() {
  std::string out;
  while (!failed_) {
    const auto c = static_cast<char>(fixed(1));
    if (c == 0) break;
    out += c;
  }
  return out;
}

void DebugReader::skip(std::uint64_t bytes) {
  if (bytes > left()) return fail();
  at_ += static_cast<std::size_t>(bytes);
}

}  // namespace tilescope::ptx
