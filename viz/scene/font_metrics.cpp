#include "viz/scene/font_metrics.h"

#include <array>
#include <cstdint>

namespace tilescope {
namespace {

// Advance widths of U+0020 to U+007E in DejaVu 2.37, in 2048ths of the size.
constexpr double units = 2048, mono_advance = 1233;
constexpr std::array<std::int16_t, 95> sans_advance{
    651,  821,  942,  1716, 1303, 1946, 1597, 563,  799,  799,  1024, 1716, 651,  739,  651,  690,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690,  690,  1716, 1716, 1716, 1087,
    2048, 1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604,  604,  1343, 1141, 1767, 1532, 1612,
    1235, 1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799,  690,  799,  1716, 1024,
    1024, 1255, 1300, 1126, 1300, 1260, 721,  1300, 1298, 569,  569,  1186, 569,  1995, 1298, 1253,
    1300, 1300, 842,  1067, 803,  1298, 1212, 1675, 1212, 1212, 1075, 1303, 690,  1303, 1716,
};
constexpr std::array<std::int16_t, 95> bold_advance{
    713,  934,  1067, 1716, 1425, 2052, 1786, 627,  936,  936,  1071, 1716, 778,  850,  778,  748,
    1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 1425, 819,  819,  1716, 1716, 1716, 1188,
    2048, 1585, 1561, 1503, 1700, 1399, 1399, 1681, 1714, 762,  762,  1587, 1305, 2038, 1714, 1741,
    1501, 1741, 1577, 1475, 1397, 1663, 1585, 2259, 1579, 1483, 1485, 936,  748,  936,  1716, 1024,
    1024, 1382, 1466, 1214, 1466, 1389, 891,  1466, 1458, 702,  702,  1362, 702,  2134, 1458, 1407,
    1466, 1466, 1010, 1219, 979,  1458, 1335, 1892, 1321, 1335, 1192, 1458, 748,  1458, 1716,
};

// What else the scenes use: \u00d7 \u2192 \u2193 \u2026 \u00b7.
double other_advance(std::uint32_t code) {
  switch (code) {
    case 0x00d7:
    case 0x2192:
    case 0x2193:
      return 1716;
    case 0x00b7:
      return 651;
    default:
      return units;
  }
}

// The code point at `i`, and `i` moved behind it. Broken UTF-8 counts byte by byte.
std::uint32_t next_code(std::string_view text, std::size_t& i) {
  const auto byte = [&](std::size_t k) { return static_cast<std::uint8_t>(text[k]); };
  const std::uint8_t lead = byte(i);
  const int more = lead < 0xc0 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
  std::uint32_t code = more == 0 ? lead : lead & (0x3f >> more);
  ++i;
  for (int k = 0; k < more && i < text.size() && (byte(i) & 0xc0) == 0x80; ++k, ++i) {
    code = code << 6 | (byte(i) & 0x3f);
  }
  return code;
}

double advance(std::uint32_t code, Family family, FontWeight weight) {
  if (family == Family::mono) return mono_advance;
  if (code < 0x20 || code > 0x7e) return other_advance(code);
  return (weight == FontWeight::bold ? bold_advance : sans_advance)[code - 0x20];
}

}  // namespace

double text_width(std::string_view text, double size, Family family, FontWeight weight) {
  double sum = 0;
  for (std::size_t i = 0; i < text.size();) sum += advance(next_code(text, i), family, weight);
  return sum * size / units;
}

std::string fitted(std::string_view text, double width, double size, Family family,
                   FontWeight weight) {
  if (text_width(text, size, family, weight) <= width) return std::string(text);
  const std::string dots = "\u2026";
  std::string best = dots;
  // Characters go alternately to the front and the back, as long as they fit.
  std::size_t front = 0, back = text.size();
  const auto begins = [&](std::size_t i) {
    return i >= text.size() || (static_cast<std::uint8_t>(text[i]) & 0xc0) != 0x80;
  };
  for (bool ahead = true; front < back; ahead = !ahead) {
    std::size_t f = front, b = back;
    if (ahead) {
      do ++f;
      while (!begins(f));
    } else {
      do --b;
      while (b > f && !begins(b));
    }
    std::string tried = std::string(text.substr(0, f)) + dots + std::string(text.substr(b));
    if (text_width(tried, size, family, weight) > width) break;
    best = std::move(tried);
    front = f, back = b;
  }
  return text_width(best, size, family, weight) <= width ? best : std::string();
}

}  // namespace tilescope
