#include "core/io/toml_reader.h"

#include <algorithm>

namespace tilescope {
namespace {

std::string_view type_in_words(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a point";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

}  // namespace

toml::table TomlReader::parse(std::string_view text) {
  guarded_.emplace(text);
  if (guarded_->refusal()) {
    const TomlPlace at = guarded_->refused_at();
    error_ = Error{ErrorKind::unreadable, *guarded_->refusal(),
                   fmt::format("{}:{}:{}", file_, at.line, at.column)};
    return {};
  }
  toml::parse_result result = toml::parse(guarded_->text());
  if (result.succeeded()) return std::move(result).table();
  fail(result.error().source(), fmt::format("This is not TOML: {}.", result.error().description()));
  return {};
}

std::string TomlReader::place(const toml::source_region& at) const {
  TomlPlace place{at.begin.line, at.begin.column};
  if (guarded_) place = guarded_->original(place);
  return fmt::format("{}:{}:{}", file_, place.line, place.column);
}

void TomlReader::fail(const toml::source_region& at, std::string sentence, ErrorKind kind) {
  if (!error_) error_ = Error{kind, std::move(sentence), place(at)};
}

void TomlReader::only(const toml::table& table, const std::vector<std::string_view>& keys,
                      std::string_view what) {
  for (const auto& [key, value] : table) {
    if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
    std::string known;
    for (const std::string_view k : keys) {
      if (!known.empty()) known += ", ";
      known += k;
    }
    return fail(key.source(),
                fmt::format("{} has no key \"{}\"; its keys are {}.", what, key.str(), known));
  }
}

void TomlReader::wrong_type(const toml::node& node, std::string_view key, std::string_view what,
                            std::string_view wanted) {
  fail(node.source(),
       fmt::format("{} of {} must be {}, but it is {}.", key, what, wanted, type_in_words(node)));
}

std::optional<std::string> TomlReader::text(const toml::table& table, std::string_view key,
                                            std::string_view what) {
  const toml::node* node = table.get(key);
  if (!node || failed()) return std::nullopt;
  const auto* value = node->as_string();
  if (!value) return wrong_type(*node, key, what, "a text in quotes"), std::nullopt;
  if (value->get().empty()) {
    return fail(node->source(), fmt::format("{} of {} is empty.", key, what)), std::nullopt;
  }
  return value->get();
}

std::optional<std::int64_t> TomlReader::integer(const toml::table& table, std::string_view key,
                                                std::string_view what, std::int64_t least,
                                                std::int64_t most) {
  const toml::node* node = table.get(key);
  if (!node || failed()) return std::nullopt;
  const auto* value = node->as_integer();
  if (!value) return wrong_type(*node, key, what, "an integer"), std::nullopt;
  if (value->get() < least || value->get() > most) {
    fail(node->source(), fmt::format("{} of {} is {}, but must be from {} to {}.", key, what,
                                     value->get(), least, most));
    return std::nullopt;
  }
  return value->get();
}

std::optional<double> TomlReader::number(const toml::table& table, std::string_view key,
                                         std::string_view what) {
  const toml::node* node = table.get(key);
  if (!node || failed()) return std::nullopt;
  if (const auto* integer = node->as_integer()) return static_cast<double>(integer->get());
  if (const auto* floating = node->as_floating_point()) return floating->get();
  return wrong_type(*node, key, what, "a number"), std::nullopt;
}

std::optional<bool> TomlReader::boolean(const toml::table& table, std::string_view key,
                                        std::string_view what) {
  const toml::node* node = table.get(key);
  if (!node || failed()) return std::nullopt;
  const auto* value = node->as_boolean();
  if (!value) return wrong_type(*node, key, what, "true or false"), std::nullopt;
  return value->get();
}

std::optional<std::vector<std::string>> TomlReader::texts(const toml::table& table,
                                                          std::string_view key,
                                                          std::string_view what) {
  const toml::node* node = table.get(key);
  if (!node || failed()) return std::nullopt;
  const toml::array* list = node->as_array();
  if (!list)
    return wrong_type(*node, key, what, "a list of texts like [\"a\", \"b\"]"), std::nullopt;
  std::vector<std::string> values;
  for (const toml::node& item : *list) {
    const auto* value = item.as_string();
    if (!value) {
      wrong_type(item, fmt::format("an item of {}", key), what, "a text");
      return std::nullopt;
    }
    values.push_back(value->get());
  }
  return values;
}

std::optional<std::vector<std::int64_t>> TomlReader::integers(const toml::table& table,
                                                              std::string_view key,
                                                              std::string_view what,
                                                              std::int64_t least,
                                                              std::int64_t most) {
  const toml::node* node = table.get(key);
  if (!node || failed()) return std::nullopt;
  const toml::array* list = node->as_array();
  if (!list) return wrong_type(*node, key, what, "a list of integers like [4, 1, 1]"), std::nullopt;
  std::vector<std::int64_t> values;
  for (const toml::node& item : *list) {
    const auto* value = item.as_integer();
    if (!value) {
      wrong_type(item, fmt::format("an item of {}", key), what, "an integer");
      return std::nullopt;
    }
    if (value->get() < least || value->get() > most) {
      fail(item.source(), fmt::format("{} of {} holds {}, but takes numbers from {} to {}.", key,
                                      what, value->get(), least, most));
      return std::nullopt;
    }
    values.push_back(value->get());
  }
  return values;
}

std::vector<const toml::table*> TomlReader::tables(const toml::table& table, std::string_view key,
                                                   std::string_view what) {
  std::vector<const toml::table*> out;
  const toml::node* node = table.get(key);
  if (!node || failed()) return out;
  const std::string wanted = fmt::format("a list of tables, written [[{}]] or [{{...}}]", key);
  const toml::array* list = node->as_array();
  if (!list) return wrong_type(*node, key, what, wanted), out;
  for (const toml::node& item : *list) {
    if (const toml::table* one = item.as_table()) {
      out.push_back(one);
    } else {
      wrong_type(item, fmt::format("an item of {}", key), what, "a table");
    }
  }
  return out;
}

}  // namespace tilescope
