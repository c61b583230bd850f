// mma.sync against plain sums over matrices whose elements are spread over the lanes as the tables
// of PTX ISA 9.7.14.5.1 to 9.7.14.5.13 say, form by form; ldmatrix, stmatrix and movmatrix
// likewise. Elements are small integers, so that every sum is exact and no rounding hides a wrong
// place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "core/numeric/small_float.h"
#include "core/ptx/types.h"
#include "core/sim/machine/device.h"

namespace tilescope {
namespace {

using ptx::Type;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

struct Form {
  const char* shape;
  int m, n, k;
  const char *d, *a, *b;
  const char* flag = "";  // ".satfinite"
};

std::ostream& operator<<(std::ostream& out, const Form& f) {
  return out << f.shape << f.flag << "." << f.d << "." << f.a << "." << f.b;
}

std::vector<Form> forms() {
  std::vector<Form> out;
  for (const char* a : {"f16", "bf16"}) {
    out.push_back({"m16n8k8", 16, 8, 8, "f32", a, a});
    out.push_back({"m16n8k16", 16, 8, 16, "f32", a, a});
  }
  out.push_back({"m16n8k8", 16, 8, 8, "f16", "f16", "f16"});
  out.push_back({"m16n8k16", 16, 8, 16, "f16", "f16", "f16"});
  out.push_back({"m16n8k4", 16, 8, 4, "f32", "tf32", "tf32"});
  out.push_back({"m16n8k8", 16, 8, 8, "f32", "tf32", "tf32"});
  for (const char* a : {"e4m3", "e5m2"}) {
    for (const char* b : {"e4m3", "e5m2"}) {
      for (const char* d : {"f32", "f16"}) {
        out.push_back({"m16n8k16", 16, 8, 16, d, a, b});
        out.push_back({"m16n8k32", 16, 8, 32, d, a, b});
      }
    }
  }
  for (const char* a : {"s8", "u8"}) {
    for (const char* b : {"s8", "u8"}) {
      for (const char* flag : {"", ".satfinite"}) {
        out.push_back({"m8n8k16", 8, 8, 16, "s32", a, b, flag});
        out.push_back({"m16n8k16", 16, 8, 16, "s32", a, b, flag});
        out.push_back({"m16n8k32", 16, 8, 32, "s32", a, b, flag});
      }
    }
  }
  out.push_back({"m8n8k4", 8, 8, 4, "f64", "f64", "f64"});
  for (auto [shape, k] : {std::pair{"m16n8k4", 4}, {"m16n8k8", 8}, {"m16n8k16", 16}}) {
    out.push_back({shape, 16, 8, k, "f64", "f64", "f64"});
  }
  return out;
}

int width(const char* type) {  // bits of a register
  return std::strcmp(type, "f64") == 0 ? 64 : 32;
}
int bits(const char* type) {
  return ptx::bits_of(ptx::type_named(type));
}

// The pattern of a small integer.
u64 pattern(const char* type, std::int64_t value) {
  const auto real = static_cast<double>(value);
  switch (ptx::type_named(type)) {
    case Type::f16:
      return encode(format_f16, real);
    case Type::bf16:
      return encode(format_bf16, real);
    case Type::tf32:
    case Type::f32:
      return encode(format_f32, real);
    case Type::e4m3:
      return encode(format_e4m3, real);
    case Type::e5m2:
      return encode(format_e5m2, real);
    case Type::f64:
      return std::bit_cast<u64>(real);
    default:
      return static_cast<u64>(value) & ((u64{1} << bits(type)) - 1);
  }
}

// Where element i of a lane lies, in the words of the tables: groupID and threadID_in_group. Each
// table is this one for its number `e` of elements in a register.
struct Place {
  int row, column;
};
Place place_in_a(const Form& f, int lane, int i) {
  const int e = width(f.a) / bits(f.a), group = lane >> 2, thread = lane % 4;
  if (f.m == 8) return {group, thread * e + i};
  return {i / e % 2 ? group + 8 : group, thread * e + i % e + i / (2 * e) * 4 * e};
}
Place place_in_b(const Form& f, int lane, int i) {
  const int e = width(f.b) / bits(f.b), group = lane >> 2, thread = lane % 4;
  return {thread * e + i % e + i / e * 4 * e, group};
}
Place place_in_c(int lane, int i) {
  const int group = lane >> 2, thread = lane % 4;
  return {i < 2 ? group : group + 8, thread * 2 + (i & 1)};
}

// An operand's registers in memory: register after register, lane after lane.
struct Operand {
  const char* type;
  int registers;
  std::vector<std::byte> bytes;

  Operand(const char* t, int elements) : type(t), registers(elements / 32 * bits(t) / width(t)) {
    bytes.resize(static_cast<std::size_t>(registers * 32 * width(t) / 8));
  }
  std::size_t offset(int lane, int i) const {
    const int e = width(type) / bits(type);
    return static_cast<std::size_t>(((i / e) * 32 + lane) * width(type) + i % e * bits(type)) / 8;
  }
  void set(int lane, int i, u64 value) {
    std::memcpy(&bytes[offset(lane, i)], &value, static_cast<std::size_t>(bits(type)) / 8);
  }
  u64 get(int lane, int i) const {
    u64 value = 0;
    std::memcpy(&value, &bytes[offset(lane, i)], static_cast<std::size_t>(bits(type)) / 8);
    return value;
  }
  const char* register_type() const {
    const std::string t = type;
    return t == "f64" ? "f64" : t == "f32" ? "f32" : t == "s32" ? "s32" : "b32";
  }
};

std::string braces(char name, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format("{}%{}{}", i ? ", " : "", name, i);
  return "{" + out + "}";
}

// Loads the registers of A, B and C one after the other, multiplies, stores those of D.
std::string program(const Form& f, const std::vector<const Operand*>& in, const Operand& out) {
  std::string text =
      ".version 8.7\n.target sm_90\n.address_size 64\n"
      ".visible .entry multiply(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .b32 %r<2>;\n.reg .b64 %at<6>;\n"
      "ld.param.u64 %at0, [in];\nld.param.u64 %at1, [out];\nmov.u32 %r0, %laneid;\n";
  std::size_t offset = 0;
  const auto lines = [&](const Operand& o, char name, bool load) {
    text += fmt::format(".reg .{} %{}<{}>;\n", o.register_type(), name, o.registers);
    text += fmt::format("mad.wide.u32 %at2, %r0, {}, %at{};\n", width(o.type) / 8, load ? 0 : 1);
    for (int r = 0; r < o.registers; ++r) {
      const auto at = offset + static_cast<std::size_t>(r * 32 * width(o.type) / 8);
      text += load
                  ? fmt::format("ld.global.{} %{}{}, [%at2+{}];\n", o.register_type(), name, r, at)
                  : fmt::format("st.global.{} [%at2+{}], %{}{};\n", o.register_type(), at, name, r);
    }
    offset += o.bytes.size();
  };
  for (std::size_t i = 0; i < 3; ++i) lines(*in[i], static_cast<char>('a' + i), true);
  std::string store;
  const std::string loads = text;
  text.clear();
  offset = 0;
  lines(out, 'd', false);
  const std::size_t cut = text.find('\n') + 1;  // behind the declaration
  return loads + text.substr(0, cut) +
         fmt::format("mma.sync.aligned.{}.row.col{}.{}.{}.{}.{} {}, {}, {}, {};\n", f.shape, f.flag,
                     f.d, f.a, f.b, f.d, braces('d', out.registers), braces('a', in[0]->registers),
                     braces('b', in[1]->registers), braces('c', in[2]->registers)) +
         text.substr(cut) + "ret;\n}\n";
}

std::vector<std::byte> run(const std::string& text, std::vector<std::byte> in, std::size_t out) {
  Job job;
  job.program.name = "multiply.ptx";
  job.program.ptx = text;
  job.launch.block = {32, 1, 1};
  for (bool writes : {false, true}) {
    Buffer b;
    b.name = writes ? "OUT" : "IN";
    b.dtype = DType::u8;
    b.undefined = writes;
    b.bytes = writes ? std::vector<std::byte>(out) : std::move(in);
    b.shape = {static_cast<std::int64_t>(b.bytes.size())};
    job.buffers.push_back(std::move(b));
    job.arguments.push_back(Argument::pointer(writes));
  }
  sim::SimDevice device;
  auto execution = device.start(std::move(job));
  EXPECT_TRUE(execution.ok()) << (execution.ok() ? "" : execution.error().sentence);
  if (!execution.ok()) return {};
  while ((*execution)->advance(1000) == RunState::running) {
  }
  EXPECT_TRUE((*execution)->reports().empty()) << (*execution)->reports()[0].sentence;
  return (*execution)->buffers()[1].bytes;
}

// Integers from -2 to 2 for floats; of 8 bits all values, and sums up to both ends of 32 bits.
std::int64_t value_of(const Form& f, const char* type, int i, int j) {
  const int mixed = (i * 37 + j * 101 + i * j * 13) & 0x7fff;
  switch (ptx::type_named(type)) {
    case Type::s8:
      return mixed % 256 - 128;
    case Type::u8:
      return mixed % 256;
    case Type::s32:
      return mixed % 3 == 0   ? std::int64_t{0x7fffffff} - mixed % 5
             : mixed % 3 == 1 ? -std::int64_t{0x80000000} + mixed % 5
                              : mixed - 16384;
    default:
      return mixed % 5 - 2 + (f.m == 8);
  }
}

std::int64_t limited(const Form& f, std::int64_t exact) {
  if (std::strcmp(f.d, "s32") != 0) return exact;
  if (!*f.flag) return static_cast<std::int32_t>(static_cast<u32>(exact));
  return std::min<std::int64_t>(0x7fffffff, std::max<std::int64_t>(-0x80000000ll, exact));
}

class MmaForm : public testing::TestWithParam<Form> {};

TEST_P(MmaForm, MultipliesWhatTheLanesHold) {
  const Form& f = GetParam();
  Operand a(f.a, f.m * f.k), b(f.b, f.k * f.n), c(f.d, f.m * f.n), d(f.d, f.m * f.n);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < f.m * f.k / 32; ++i) {
      const Place p = place_in_a(f, lane, i);
      a.set(lane, i, pattern(f.a, value_of(f, f.a, p.row, p.column)));
    }
    for (int i = 0; i < f.k * f.n / 32; ++i) {
      const Place p = place_in_b(f, lane, i);
      b.set(lane, i, pattern(f.b, value_of(f, f.b, p.column + 5, p.row)));
    }
    for (int i = 0; i < f.m * f.n / 32; ++i) {
      const Place p = place_in_c(lane, i);
      c.set(lane, i, pattern(f.d, value_of(f, f.d, p.row + 9, p.column + 3)));
    }
  }
  std::vector<std::byte> in;
  for (const Operand* o : {&a, &b, &c}) in.insert(in.end(), o->bytes.begin(), o->bytes.end());
  d.bytes = run(program(f, {&a, &b, &c}, d), in, d.bytes.size());
  ASSERT_FALSE(d.bytes.empty());
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < f.m * f.n / 32; ++i) {
      const Place p = place_in_c(lane, i);
      std::int64_t sum = value_of(f, f.d, p.row + 9, p.column + 3);
      for (int k = 0; k < f.k; ++k) {
        sum += value_of(f, f.a, p.row, k) * value_of(f, f.b, p.column + 5, k);
      }
      ASSERT_EQ(d.get(lane, i), pattern(f.d, limited(f, sum)))
          << "lane " << lane << ", element " << i << ": (" << p.row << "," << p.column << ")";
    }
  }
}

std::string name_of(const Form& f) {
  return fmt::format("{}{}_{}_{}_{}", f.shape, *f.flag ? "_satfinite" : "", f.d, f.a, f.b);
}

std::vector<std::byte> bytes_of(const std::string& hex) {
  std::vector<std::byte> out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    out.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return out;
}

void expect_same(const Form& f, const Operand& found, const Operand& wanted) {
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < f.m * f.n / 32; ++i) {
      ASSERT_EQ(found.get(lane, i), wanted.get(lane, i)) << "lane " << lane << ", element " << i;
    }
  }
}

TEST(MmaBits, AreThoseOfARealChip) {
  std::ifstream file(TILESCOPE_TESTS_DIR "/mma_bits.txt");
  int warps = 0;
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    std::string name, in, out;
    words >> name >> in >> out;
    SCOPED_TRACE(fmt::format("{}, warp {} of the file", name, ++warps));
    bool known = false;
    for (const Form& f : forms()) {
      if (name_of(f) != name) continue;
      known = true;
      const Operand a(f.a, f.m * f.k), b(f.b, f.k * f.n), c(f.d, f.m * f.n);
      Operand wanted(f.d, f.m * f.n), found = wanted;
      wanted.bytes = bytes_of(out);
      found.bytes = run(program(f, {&a, &b, &c}, found), bytes_of(in), wanted.bytes.size());
      ASSERT_EQ(found.bytes.size(), wanted.bytes.size());
      expect_same(f, found, wanted);
    }
    EXPECT_TRUE(known);
  }
  EXPECT_EQ(warps, 106);
}

std::string label(const testing::TestParamInfo<Form>& test) {
  return name_of(test.param);
}
INSTANTIATE_TEST_SUITE_P(Forms, MmaForm, testing::ValuesIn(forms()), label);

}  // namespace
}  // namespace tilescope
