// Broken .npy files: each gets one sentence that says what is wrong, and none crashes.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/io/npy.h"

namespace tilescope {
namespace {

std::vector<std::byte> bytes_of_text(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// A file of version 1.0 with this header and so many zero bytes of data.
std::string file_with(const std::string& header, std::size_t data) {
  std::string file = "\x93NUMPY";
  file += {'\x01', '\x00', static_cast<char>(header.size() & 0xff),
           static_cast<char>(header.size() >> 8)};
  return file + header + std::string(data, '\0');
}

Error refusal(const std::string& file, std::optional<DType> as = std::nullopt) {
  const Outcome<Buffer> read = read_npy(bytes_of_text(file), "a.npy", as);
  if (read.ok()) return {ErrorKind::refused, "it was read", ""};
  EXPECT_EQ(read.error().where, "a.npy");
  return read.error();
}

std::string sentence(const std::string& file, std::optional<DType> as = std::nullopt) {
  return refusal(file, as).sentence;
}

const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";

TEST(BrokenNpy, TheGoodFileIsRead) {
  EXPECT_EQ(sentence(file_with(good, 24)), "it was read");
}

TEST(BrokenNpy, NotAnNpyFile) {
  EXPECT_EQ(sentence(""), "a.npy is empty; a .npy file as np.save writes it would work.");
  EXPECT_EQ(sentence("PK\x03\x04 an npz"),
            "a.npy is not a .npy file (it does not begin with \\x93NUMPY); save the matrix with "
            "np.save.");
  EXPECT_EQ(sentence("\x93NUM"), "a.npy ends inside the .npy magic and version.");
  EXPECT_EQ(sentence(std::string("\x93NUMPY\x01\x00\x10", 9)),
            "a.npy ends inside the length of its header.");
}

TEST(BrokenNpy, AVersionThatDoesNotExist) {
  std::string file = file_with(good, 24);
  file[6] = 4;
  EXPECT_EQ(sentence(file), "a.npy is .npy version 4.0; versions 1.0, 2.0 and 3.0 are read.");
}

TEST(BrokenNpy, EveryPrefixIsRefused) {
  const std::string file = file_with(good, 24);
  for (std::size_t n = 0; n < file.size(); ++n) {
    EXPECT_EQ(refusal(file.substr(0, n)).kind, ErrorKind::unreadable) << n;
  }
}

TEST(BrokenNpy, DataThatDoesNotFitTheShape) {
  EXPECT_EQ(sentence(file_with(good, 23)),
            "a.npy has 23 bytes of data, but its shape (2, 3) of f32 needs 24: the file is cut "
            "short.");
  EXPECT_EQ(sentence(file_with(good, 25)),
            "a.npy has 25 bytes of data, but its shape (2, 3) of f32 needs 24: the file is longer "
            "than one array; save each array to a file of its own.");
}

TEST(BrokenNpy, SizesThatOverflowAreRefusedBeforeAnythingIsAllocated) {
  const auto shaped = [](const std::string& shape) {
    return file_with("{'descr': '<f8', 'fortran_order': True, 'shape': " + shape + "}", 0);
  };
  EXPECT_EQ(sentence(shaped("(4294967296, 4294967296)")),
            "a.npy has the shape (4294967296, 4294967296), more bytes than any memory holds.");
  EXPECT_EQ(sentence(shaped("(1000000000000,)")),
            "a.npy has 0 bytes of data, but its shape (1000000000000,) of f64 needs 8000000000000: "
            "the file is cut short.");
  EXPECT_EQ(sentence(shaped("(9223372036854775808,)")),
            "a.npy has a size of more than 2^63 - 1 in its shape.");
  EXPECT_EQ(sentence(shaped("(0, 9223372036854775807, 9223372036854775807)")), "it was read");
  std::string deep = "(";
  for (int i = 0; i < 65; ++i) deep += "1,";
  EXPECT_EQ(sentence(shaped(deep + ")")), "a.npy has more than 64 dimensions, NumPy's limit.");
}

TEST(BrokenNpy, AHeaderThatIsNoDict) {
  const auto header = [](const std::string& text) { return sentence(file_with(text, 0)); };
  EXPECT_EQ(header(""),
            "a.npy has a broken header: expected the '{' of a Python dict, found the end "
            "of the header at character 1.");
  EXPECT_EQ(header("{}"),
            "a.npy has no 'descr' in its header; a .npy header has 'descr', "
            "'fortran_order' and 'shape'.");
  EXPECT_EQ(header("{'descr': '<f4', 'shape': (1,)}"),
            "a.npy has no 'fortran_order' in its header; a .npy header has 'descr', "
            "'fortran_order' and 'shape'.");
  EXPECT_EQ(header("{'descr' '<f4'}"),
            "a.npy has a broken header: expected a ':' after the key, "
            "found ''' at character 10.");
  EXPECT_EQ(header("{'descr': '<f4"),
            "a.npy has a broken header: expected a closing quote, found "
            "the end of the header at character 15.");
  EXPECT_EQ(header("{'fortran_order': 0}"),
            "a.npy has a broken header: expected True or False, found '0' at character 19.");
  EXPECT_EQ(header("{'shape': (3)}"),
            "a.npy has the shape (3), which is a number and not a tuple; it would be (3,).");
  EXPECT_EQ(
      header("{'shape': (3 4)}"),
      "a.npy has a broken header: expected a ',' or the closing ')' of the shape, found '4' at "
      "character 14.");
  EXPECT_EQ(header("{'shape': (-1,)}"),
            "a.npy has a broken header: expected a size of 0 or more, found '-' at character 12.");
  EXPECT_EQ(
      header("{'shape': [3]}"),
      "a.npy has a broken header: expected a tuple of sizes, like (3, 4) or (3,) or (), found "
      "'[' at character 11.");
  EXPECT_EQ(header("{'order': 3}"),
            "a.npy has the key 'order' in its header; only 'descr', 'fortran_order' and 'shape' "
            "belong there.");
  EXPECT_EQ(header("{'shape': (), 'shape': ()}"), "a.npy has the key 'shape' twice in its header.");
  EXPECT_EQ(
      header("{'descr': '<f4', 'fortran_order': True, 'shape': ()} x"),
      "a.npy has a broken header: expected nothing but spaces after the closing '}', found 'x' "
      "at character 54.");
  EXPECT_EQ(header("{'de\x01scr': 1}"),
            "a.npy has a broken header: expected plain text up to the closing quote, found byte "
            "0x01 at character 5.");
}

TEST(BrokenNpy, ElementTypesThatNoKernelTakes) {
  const auto descr = [](const std::string& d, std::optional<DType> as = std::nullopt) {
    return sentence(file_with("{'descr': " + d + ", 'fortran_order': False, 'shape': (1,)}", 16),
                    as);
  };
  EXPECT_EQ(descr("'|b1'"),
            "a.npy holds booleans ('|b1'); numbers of a type in f16 f32 f64 u8 ... i64 are read; "
            "x.astype(np.uint8) in NumPy makes it one.");
  EXPECT_EQ(descr("'<c8'", DType::f32), "a.npy holds complex numbers ('<c8'); f32 was asked for.");
  EXPECT_EQ(descr("'<U7'"),
            "a.npy holds strings ('<U7'); numbers of a type in f16 f32 f64 u8 ... i64 are read.");
  EXPECT_EQ(descr("'|O'"),
            "a.npy holds Python objects ('|O'); numbers of a type in f16 f32 f64 u8 "
            "... i64 are read.");
  EXPECT_EQ(descr("'<M8[ns]'"),
            "a.npy holds dates or durations ('<M8[ns]'); numbers of a type in "
            "f16 f32 f64 u8 ... i64 are read.");
  EXPECT_EQ(descr("'<f16'"),
            "a.npy holds floats of a width that no kernel here knows ('<f16'); "
            "numbers of a type in f16 f32 f64 u8 ... i64 are read.");
  EXPECT_EQ(
      descr("[('x', '<f4')]"),
      "a.npy holds a structured array (its 'descr' is a list of fields); save one plain field "
      "instead, for example np.save(f, x['field']).");
  for (const char* bad : {"''", "'<'", "'f'", "'<x4'", "'<f4x'", "'<f99999999999999999999'"}) {
    EXPECT_NE(descr(bad).find("which is no NumPy type; '<f4' (f32) or '<i8' (i64) would be."),
              std::string::npos)
        << bad;
  }
}

TEST(BrokenNpy, AWholeFileOfAnotherTypeIsAMismatch) {
  const std::string raw = file_with("{'descr': '|V2', 'fortran_order': False, 'shape': (1,)}", 2);
  EXPECT_EQ(refusal(raw).kind, ErrorKind::mismatch);
  EXPECT_EQ(sentence(raw),
            "a.npy holds raw 2-byte values ('|V2') and cannot say of which type; give the dtype: "
            "bf16 or f16.");
  EXPECT_EQ(sentence(file_with(good, 24), DType::f16),
            "a.npy holds f32 ('<f4'), but f16 was asked for; convert it with astype in NumPy, or "
            "ask for f32.");
}

}  // namespace
}  // namespace tilescope
