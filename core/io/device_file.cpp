#include "core/io/device_file.h"

#include "core/io/device_times_file.h"
#include "core/io/toml_reader.h"

namespace tilescope {
namespace {

constexpr std::int64_t most_processors = 65536, most_bytes = std::int64_t{1} << 24;

class DeviceParser {
 public:
  explicit DeviceParser(std::string_view name) : toml_(name) {}

  Outcome<DeviceDescription> parse(std::string_view text) {
    const toml::table root = toml_.parse(text);
    const std::string_view what = "the device file";
    if (!toml_.failed()) {
      const std::string_view number = spelling(root, "sms", "processors");
      const std::string_view one = spelling(root, "sm", "processor");
      std::vector<std::string_view> keys = {"name", "compute_capability", number, one, "block"};
      keys.insert(keys.end(), tables_of_times().begin(), tables_of_times().end());
      toml_.only(root, keys, what);
      device_.name = toml_.text(root, "name", what).value_or("");
      if (device_.name.empty()) missing(root, "name", what, "\"NVIDIA B200\"");
      capability(root, what);
      device_.processors = count(root, number, what, most_processors, "148");
      if (const toml::table* sm = part(root, one)) {
        const std::string in = fmt::format("[{}]", one);
        toml_.only(*sm, {"blocks", "threads", "shared"}, in);
        device_.blocks = count(*sm, "blocks", in, 1024, "32");
        device_.threads = count(*sm, "threads", in, most_processors, "2048");
        device_.shared = count(*sm, "shared", in, most_bytes, "233472");
      }
      if (const toml::table* block = part(root, "block")) {
        toml_.only(*block, {"shared", "shared_reserved"}, "[block]");
        device_.block_shared = count(*block, "shared", "[block]", most_bytes, "232448");
        device_.reserved = count(*block, "shared_reserved", "[block]", most_bytes, "1024", 0);
      }
      if (!toml_.failed()) read_times(toml_, root, device_);
    }
    if (!toml_.failed() && device_.block_shared + device_.reserved > device_.shared) {
      toml_.fail(root.source(),
                 fmt::format("A CTA may have {} bytes of shared memory and {} are reserved for it, "
                             "but an SM has {}.",
                             device_.block_shared, device_.reserved, device_.shared));
    }
    if (toml_.failed()) return toml_.error();
    return device_;
  }

 private:
  // Files from before SMs were called so have the other word. One that has both is refused for it.
  static std::string_view spelling(const toml::table& root, std::string_view now,
                                   std::string_view before) {
    return root.contains(before) && !root.contains(now) ? before : now;
  }

  void missing(const toml::table& table, std::string_view key, std::string_view what,
               std::string_view example) {
    toml_.fail(table.source(),
               fmt::format("In {} {} is missing; {} = {} would work.", what, key, key, example));
  }

  std::uint32_t count(const toml::table& table, std::string_view key, std::string_view what,
                      std::int64_t most, std::string_view example, std::int64_t least = 1) {
    const auto value = toml_.integer(table, key, what, least, most);
    if (!table.contains(key)) missing(table, key, what, example);
    return static_cast<std::uint32_t>(value.value_or(1));
  }

  const toml::table* part(const toml::table& root, std::string_view key) {
    const toml::table* table = root.get_as<toml::table>(key);
    if (!table) {
      toml_.fail(root.contains(key) ? root.get(key)->source() : root.source(),
                 fmt::format("The device file has no table [{}].", key));
    }
    return table;
  }

  // "10.0"
  void capability(const toml::table& root, std::string_view what) {
    const std::string text = toml_.text(root, "compute_capability", what).value_or("");
    const std::size_t point = text.find('.');
    const auto digits = [](std::string_view s) {
      return !s.empty() && s.size() <= 3 && s.find_first_not_of("0123456789") == s.npos;
    };
    const std::string_view all = text;
    if (point == text.npos || !digits(all.substr(0, point)) || !digits(all.substr(point + 1))) {
      return missing(root, "compute_capability", what, "\"10.0\"");
    }
    device_.major = std::stoi(text.substr(0, point));
    device_.minor = std::stoi(text.substr(point + 1));
  }

  TomlReader toml_;
  DeviceDescription device_;
};

}  // namespace

Outcome<DeviceDescription> parse_device_file(std::string_view text, std::string_view name) {
  return DeviceParser(name).parse(text);
}

}  // namespace tilescope
