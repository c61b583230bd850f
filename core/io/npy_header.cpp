#include "core/io/npy_header.h"

#include <fmt/format.h>

#include <optional>

namespace tilescope {
namespace {

constexpr std::size_t max_rank = 64;  // NumPy 2's own limit (NPY_MAXDIMS)

// A byte of the file as it can be shown: the rest is not known to be text.
std::string shown(char c) {
  if (c >= ' ' && c <= '~') return fmt::format("'{}'", c);
  return fmt::format("byte 0x{:02x}", static_cast<unsigned char>(c));
}

// Recursive descent over the literal. Each function returns false after it has set error_.
class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  Outcome<NpyHeader> parse() {
    if (dict()) return header_;
    return error_;
  }

 private:
  bool dict() {
    if (!expect('{', "the '{' of a Python dict")) return false;
    while (!take('}')) {
      if (!entry()) return false;
      if (!take(',') && peek() != '}') return fail("a ',' or the closing '}'");
    }
    peek();
    if (at_ < text_.size()) return fail("nothing but spaces after the closing '}'");
    if (!has_descr_) return missing("descr");
    if (!has_order_) return missing("fortran_order");
    if (!has_shape_) return missing("shape");
    return true;
  }

  bool entry() {
    std::string key;
    if (!string(key, "a key in quotes")) return false;
    if (!expect(':', "a ':' after the key")) return false;
    if (key == "descr") return once(has_descr_, key) && descr();
    if (key == "fortran_order") return once(has_order_, key) && boolean(header_.fortran_order);
    if (key == "shape") return once(has_shape_, key) && shape();
    return refuse(
        fmt::format("has the key '{}' in its header; only 'descr', 'fortran_order' and "
                    "'shape' belong there",
                    key));
  }

  bool descr() {
    if (peek() == '[') {
      return refuse(
          "holds a structured array (its 'descr' is a list of fields); save one plain field "
          "instead, for example np.save(f, x['field'])");
    }
    return string(header_.descr, "an element type in quotes, like '<f4'");
  }

  bool boolean(bool& value) {
    if (word("True")) return value = true, true;
    if (word("False")) return value = false, true;
    return fail("True or False");
  }

  bool shape() {
    if (!expect('(', "a tuple of sizes, like (3, 4) or (3,) or ()")) return false;
    bool comma = true;
    while (!take(')')) {
      if (!comma) return fail("a ',' or the closing ')' of the shape");
      std::int64_t extent = 0;
      if (!size(extent)) return false;
      if (header_.shape.size() == max_rank) {
        return refuse(fmt::format("has more than {} dimensions, NumPy's limit", max_rank));
      }
      header_.shape.push_back(extent);
      comma = take(',');
    }
    // (3) is Python for 3.
    if (header_.shape.size() == 1 && !comma) {
      return refuse(
          fmt::format("has the shape ({0}), which is a number and not a tuple; it would "
                      "be ({0},)",
                      header_.shape[0]));
    }
    return true;
  }

  bool size(std::int64_t& value) {
    const char first = peek();
    if (first < '0' || first > '9') return fail("a size of 0 or more");
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      const int digit = text_[at_] - '0';
      if (value > (INT64_MAX - digit) / 10) {
        return refuse("has a size of more than 2^63 - 1 in its shape");
      }
      value = 10 * value + digit;
      ++at_;
    }
    if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2's long
    return true;
  }

  bool string(std::string& out, std::string_view wanted) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') return fail(wanted);
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && text_[at_] != quote) {
      const char c = text_[at_];
      if (c < ' ' || c > '~' || c == '\\') return fail("plain text up to the closing quote");
      ++at_;
    }
    if (at_ == text_.size()) return fail("a closing quote");
    out = text_.substr(begin, at_ - begin);
    ++at_;
    return true;
  }

  bool word(std::string_view w) {
    peek();
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }

  // The next character that is no space, 0 at the end.
  char peek() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  bool expect(char c, std::string_view wanted) { return take(c) || fail(wanted); }

  bool once(bool& seen, std::string_view key) {
    if (seen) return refuse(fmt::format("has the key '{}' twice in its header", key));
    return seen = true;
  }

  bool missing(std::string_view key) {
    return refuse(
        fmt::format("has no '{}' in its header; a .npy header has 'descr', "
                    "'fortran_order' and 'shape'",
                    key));
  }

  bool fail(std::string_view wanted) {
    peek();
    const std::string found =
        at_ < text_.size() ? shown(text_[at_]) : std::string("the end of the header");
    return refuse(fmt::format("has a broken header: expected {}, found {} at character {}", wanted,
                              found, at_ + 1));
  }

  bool refuse(std::string what) {
    error_ = {ErrorKind::unreadable, fmt::format("{} {}.", file_, what), std::string(file_)};
    return false;
  }

  std::string_view text_, file_;
  std::size_t at_ = 0;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
  Error error_;
};

}  // namespace

Outcome<NpyHeader> parse_npy_header(std::string_view text, std::string_view file) {
  return Parser(text, file).parse();
}

}  // namespace tilescope
