// TOML tables read with a sentence for every mistake. Used inside core/io only.
//
// The first mistake wins: after it the readers return nothing and the caller goes on to its end,
// where error() is looked at once. So reading code has no error paths of its own.
#pragma once

#include <fmt/format.h>

// Header-only: Debian's compiled toml++ is built against libstdc++, and the clang preset has
// libc++. Its assertions are turned off in every build: toml++ 3.3 asserts on some bad keys ("[{")
// that it refuses properly a few lines below, and under NDEBUG makes the same conditions an
// assumption that lets the compiler remove the refusal.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/io/toml_guard.h"

namespace tilescope {

class TomlReader {
 public:
  explicit TomlReader(std::string_view file) : file_(file) {}

  // An empty table where the text is not TOML.
  toml::table parse(std::string_view text);

  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  void fail(const toml::source_region& at, std::string sentence,
            ErrorKind kind = ErrorKind::unreadable);
  // "run.toml:7:1"
  std::string place(const toml::source_region& at) const;

  // Refuses keys that are not listed. `what` names the table: `[[buffer]] "A"`.
  void only(const toml::table& table, const std::vector<std::string_view>& keys,
            std::string_view what);
  // Each: nothing where the key is missing, or after a mistake.
  std::optional<std::string> text(const toml::table& table, std::string_view key,
                                  std::string_view what);
  std::optional<std::int64_t> integer(const toml::table& table, std::string_view key,
                                      std::string_view what, std::int64_t least, std::int64_t most);
  std::optional<double> number(const toml::table& table, std::string_view key,
                               std::string_view what);
  std::optional<bool> boolean(const toml::table& table, std::string_view key,
                              std::string_view what);
  // A list of integers.
  std::optional<std::vector<std::int64_t>> integers(const toml::table& table, std::string_view key,
                                                    std::string_view what, std::int64_t least,
                                                    std::int64_t most);
  // A list of texts.
  std::optional<std::vector<std::string>> texts(const toml::table& table, std::string_view key,
                                                std::string_view what);
  // Tables under one key: [[key]], or key = [{...}, ...]. Empty where missing.
  std::vector<const toml::table*> tables(const toml::table& table, std::string_view key,
                                         std::string_view what);

 private:
  void wrong_type(const toml::node& node, std::string_view key, std::string_view what,
                  std::string_view wanted);

  std::string file_;
  std::optional<GuardedToml> guarded_;  // the text, once parsed
  std::optional<Error> error_;
};

}  // namespace tilescope
