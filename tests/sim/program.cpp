#include "tests/sim/program.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tilescope::test {
namespace {

std::string trimmed(std::string s) {
  const std::size_t first = s.find_first_not_of(" \t\r"), last = s.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : s.substr(first, last - first + 1);
}

std::vector<std::string> words_of(const std::string& s, const char* blanks = " \t,") {
  std::vector<std::string> out;
  std::size_t at = 0;
  while ((at = s.find_first_not_of(blanks, at)) != std::string::npos) {
    const std::size_t end = std::min(s.size(), s.find_first_of(blanks, at));
    out.push_back(s.substr(at, end - at));
    at = end;
  }
  return out;
}

void append(DType type, const std::string& word, std::vector<std::byte>& out) {
  std::byte element[8] = {};
  if (word.rfind("0x", 0) == 0) {
    const std::uint64_t bits = std::stoull(word, nullptr, 16);
    std::memcpy(element, &bits, sizeof bits);
  } else if (is_float(type)) {
    store_element(type, element, std::stod(word));
  } else {
    const std::uint64_t bits =
        word[0] == '-' ? static_cast<std::uint64_t>(std::stoll(word)) : std::stoull(word);
    std::memcpy(element, &bits, sizeof bits);
  }
  out.insert(out.end(), element, element + bytes_of(type));
}

std::vector<std::byte> values(DType type, const std::string& text) {
  std::vector<std::byte> out;
  for (const std::string& word : words_of(text)) {
    const std::size_t star = word.find('*'), dots = word.find("..");
    if (star != std::string::npos) {
      for (int n = std::stoi(word.substr(0, star)); n > 0; --n)
        append(type, word.substr(star + 1), out);
    } else if (dots != std::string::npos) {
      const long last = std::stol(word.substr(dots + 2));
      for (long v = std::stol(word.substr(0, dots)); v <= last; ++v)
        append(type, std::to_string(v), out);
    } else {
      append(type, word, out);
    }
  }
  return out;
}

Dim3 dim_of(const std::string& s) {
  const auto parts = words_of(s, ",");
  const auto part = [&](std::size_t i) {
    return i < parts.size() ? static_cast<std::uint32_t>(std::stoul(parts[i])) : 1u;
  };
  return {part(0), part(1), part(2)};
}

class Reader {
 public:
  explicit Reader(SimProgram& out) : out_(out) {}

  void line(const std::string& key, const std::string& rest) {
    if (key == "launch") return launch(rest);
    if (key == "buffer") return buffer(rest);
    if (key == "arg") return argument(rest);
    if (key == "expect") return expect(rest);
    if (key == "expect-fault") return parts(rest, out_.fault, out_.fault_text);
    if (key == "expect-why") out_.why = rest;
    if (key == "expect-found") out_.found.push_back(rest);
    if (key == "expect-note") return parts(rest, out_.note, out_.note_text);
    if (key == "expect-hazard") {
      SimProgram::Hazard one;
      std::string text;
      parts(rest, one.kind, text);
      parts(text, one.text, one.count);
      out_.hazards.push_back(std::move(one));
    }
    if (key == "expect-printed") out_.printed += rest + "\n";
    if (key == "expect-site") out_.site = rest;
    if (key == "expect-error") {
      std::string text;
      parts(rest, out_.error, text);
      parts(text, out_.error_text, out_.error_where);
    }
  }

 private:
  void parts(const std::string& s, std::string& first, std::string& second) {
    const std::size_t bar = s.find(" | ");
    first = trimmed(s.substr(0, bar));
    second = bar == std::string::npos ? "" : trimmed(s.substr(bar + 3));
  }

  void launch(const std::string& s) {
    for (const std::string& word : words_of(s, " \t")) {
      const std::size_t eq = word.find('=');
      const std::string key = word.substr(0, eq), value = word.substr(eq + 1);
      Launch& l = out_.job.launch;
      if (key == "entry") {
        l.entry = value;
      } else if (key == "grid") {
        l.grid = dim_of(value);
      } else if (key == "block") {
        l.block = dim_of(value);
      } else if (key == "cluster") {
        l.cluster = dim_of(value);
      } else if (key == "dynamic_smem") {
        l.dynamic_shared = static_cast<std::uint32_t>(std::stoul(value));
      } else if (key == "cooperative") {
        l.cooperative = value != "0";
      } else if (key == "resident") {
        out_.resident = static_cast<std::uint32_t>(std::stoul(value));
      } else if (key == "order") {
        out_.in_turns = value == "turns";
      } else if (key == "step") {
        out_.step = std::stoull(value);
      } else {
        out_.mistake = "launch: " + word;
      }
    }
  }

  void buffer(const std::string& s) {
    const std::size_t eq = s.find('=');
    const auto head = words_of(s.substr(0, eq));
    Buffer b;
    b.name = head.at(0);
    b.dtype = *dtype_named(head.at(1));
    for (const std::string& extent : words_of(head.at(2), "x"))
      b.shape.push_back(std::stol(extent));
    if (head.size() > 3 && std::isdigit(static_cast<unsigned char>(head[3][0]))) {
      for (const std::string& extent : words_of(head[3], "x")) b.tile.push_back(std::stol(extent));
    }
    const std::string given = eq == std::string::npos ? "" : trimmed(s.substr(eq + 1));
    b.undefined = given == "undefined";
    if (!b.undefined) b.bytes = values(b.dtype, given);
    b.bytes.resize(static_cast<std::size_t>(b.elements()) * bytes_of(b.dtype));
    out_.job.buffers.push_back(std::move(b));
  }

  const Buffer* named(const std::string& name, std::uint32_t& index) const {
    for (index = 0; index < out_.job.buffers.size(); ++index) {
      if (out_.job.buffers[index].name == name) return &out_.job.buffers[index];
    }
    return nullptr;
  }

  void tensor_map(const std::vector<std::string>& words) {
    TensorMap map;
    if (!named(words.at(1), map.buffer)) out_.mistake = "arg: tensormap " + words[1];
    const auto list = [](const std::string& text, auto& out) {
      for (const std::string& n : words_of(text, "x")) {
        out.push_back(static_cast<std::decay_t<decltype(out[0])>>(std::stoll(n)));
      }
    };
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::size_t eq = words[i].find('=');
      const std::string key = words[i].substr(0, eq), value = words[i].substr(eq + 1);
      if (key == "box") {
        list(value, map.box);
      } else if (key == "lower" || key == "upper") {
        list(value, key == "lower" ? map.lower : map.upper);
      } else if (key == "channels" || key == "pixels") {
        (key == "pixels" ? map.pixels : map.channels) =
            static_cast<std::uint32_t>(std::stoul(value));
      } else if (key == "dims") {
        list(value, map.dims);
      } else if (key == "strides") {
        list(value, map.strides);
      } else if (key == "steps") {
        list(value, map.element_strides);
      } else if (key == "swizzle") {
        map.swizzle = swizzle_named(value).value();
      } else if (key == "interleave") {
        map.interleave = value == "16B" ? MapInterleave::bytes16 : MapInterleave::bytes32;
      } else if (key == "wide") {
        map.wide = value == "w" ? MapWide::w : MapWide::w128;
      } else if (key == "dtype") {
        const auto packing = packing_named(value);
        const auto floats = map_float_named(value);
        map.packing = packing.value_or(MapPacking::none);
        map.floats = floats.value_or(MapFloat::f32);
        if (!packing && !floats) map.dtype = dtype_named(value).value();
      } else if (key == "oob") {
        map.nan_fill = value == "nan";
      } else if (key == "offset") {
        map.offset = std::stol(value);
      } else {
        out_.mistake = "arg: tensormap: " + words[i];
      }
    }
    out_.job.arguments.push_back(Argument::tensor_map(std::move(map)));
  }

  void texture(const std::vector<std::string>& words) {
    Texture t;
    t.surface = words[0] == "surface";
    if (!named(words.at(1), t.buffer)) out_.mistake = "arg: texture " + words[1];
    for (std::size_t i = 2; i < words.size(); ++i) {
      const std::size_t eq = words[i].find('=');
      const std::string key = words[i].substr(0, eq), value = words[i].substr(eq + 1);
      const auto number = [&] { return static_cast<std::uint32_t>(std::stoul(value)); };
      if (key == "width") {
        t.width = number();
      } else if (key == "height") {
        t.height = number();
      } else if (key == "depth") {
        t.depth = number();
      } else if (key == "layers") {
        t.layered = true, t.depth = number();
      } else if (key == "cube") {
        t.cube = true;
        if (!t.depth) t.depth = 6;
      } else if (key == "pitch") {
        t.pitch = number();
      } else if (key == "offset") {
        t.offset = number();
      } else if (key == "format") {
        if (!read_format(value, t)) out_.mistake = "arg: texture: " + words[i];
      } else if (key == "filter") {
        t.linear = value == "linear";
      } else if (key == "address") {
        t.address.fill(texture_address_named(value).value());
      } else if (key == "read") {
        t.as_float = value == "normalized";
      } else if (key == "border") {
        set_border(t, {std::stod(value), std::stod(value), std::stod(value), std::stod(value)});
      } else if (key == "normalized") {
        t.normalized = true;
      } else {
        out_.mistake = "arg: texture: " + words[i];
      }
    }
    out_.job.arguments.push_back(Argument::handle(t));
  }

  void argument(const std::string& s) {
    const auto head = words_of(s);
    if (head.at(0) == "tensormap") return tensor_map(head);
    if (head.at(0) == "texture" || head.at(0) == "surface") return texture(head);
    if (head.size() == 2) {
      Argument a;
      a.bytes = values(*dtype_named(head[0]), head[1]);
      out_.job.arguments.push_back(a);
      return;
    }
    const std::size_t plus = head.at(0).find('+');
    std::uint32_t index = 0;
    if (!named(head[0].substr(0, plus), index)) out_.mistake = "arg: " + s;
    const std::int64_t offset = plus == std::string::npos ? 0 : std::stol(head[0].substr(plus + 1));
    out_.job.arguments.push_back(Argument::pointer(index, offset));
  }

  void expect(const std::string& s) {
    const std::size_t eq = s.find('=');
    Expectation e;
    e.buffer = trimmed(s.substr(0, eq));
    std::uint32_t index = 0;
    const Buffer* b = named(e.buffer, index);
    if (!b) {
      out_.mistake = "expect: " + s;
      return;
    }
    e.bytes = values(b->dtype, s.substr(eq + 1));
    if (e.bytes.empty() || e.bytes.size() > b->bytes.size()) out_.mistake = "expect: " + s;
    out_.memory.push_back(std::move(e));
  }

  SimProgram& out_;
};

}  // namespace

SimProgram read_program(const std::string& path) {
  SimProgram out;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  out.job.program.name = std::filesystem::path(path).filename().string();
  out.job.program.ptx = text.str();
  Reader reader(out);
  std::string line;
  for (std::istringstream lines(out.job.program.ptx); std::getline(lines, line);) {
    if (line.rfind("// ", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    try {
      reader.line(line.substr(3, colon - 3), trimmed(line.substr(colon + 2)));
    } catch (const std::exception& e) {
      out.mistake = line + ": " + e.what();
    }
  }
  return out;
}

}  // namespace tilescope::test
