// .npy files as NumPy writes them, and as we do.
#include "core/io/npy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "core/numeric/random.h"

namespace tilescope {
namespace {

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> bytes_of_text(const std::string& text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

// A file of this version (1 to 3) around a header and data.
std::vector<std::byte> file_of(int version, const std::string& header, const std::string& data) {
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(version), '\x00'};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 0xff);
  }
  return bytes_of_text(file + header + data);
}

Buffer read(const std::vector<std::byte>& file, std::optional<DType> as = std::nullopt) {
  const Outcome<Buffer> tensor = read_npy(file, "x.npy", as);
  if (!tensor.ok()) {
    ADD_FAILURE() << tensor.error().sentence;
    return {};
  }
  return *tensor;
}

std::vector<double> values(const Buffer& tensor) {
  std::vector<double> out;
  for (std::size_t at = 0; at < tensor.bytes.size(); at += bytes_of(tensor.dtype)) {
    out.push_back(load_element(tensor.dtype, tensor.bytes.data() + at));
  }
  return out;
}

TEST(Npy, WhatIsWrittenIsRead) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {}, {0}, {1}, {7}, {3, 4}, {2, 0, 3}, {2, 3, 4}, {1, 1, 1, 1, 5}};
  for (int t = 0; t <= static_cast<int>(DType::i64); ++t) {
    for (const auto& shape : shapes) {
      Buffer tensor{"x.npy", static_cast<DType>(t), shape, {}, false};
      tensor.bytes =
          random_elements(tensor.dtype, 1, 0, static_cast<std::size_t>(tensor.elements()));
      const Buffer back = read(write_npy(tensor), tensor.dtype);
      EXPECT_EQ(back.dtype, tensor.dtype);
      EXPECT_EQ(back.shape, tensor.shape);
      EXPECT_EQ(back.bytes, tensor.bytes) << name_of(tensor.dtype);
    }
  }
}

TEST(Npy, TheFileIsNumPysToTheByte) {
  Buffer tensor{"x", DType::f32, {1, 2}, std::vector<std::byte>(8), false};
  store_element(DType::f32, tensor.bytes.data(), 1.0);
  // numpy.save of float32 [[1, 0]]: the header ends in a newline at byte 128.
  std::string want("\x93NUMPY\x01\x00\x76\x00", 10);
  want += "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }";
  want += std::string(127 - want.size(), ' ') + "\n";
  want += std::string("\x00\x00\x80\x3f\x00\x00\x00\x00", 8);
  EXPECT_EQ(text_of(write_npy(tensor)), want);
}

TEST(Npy, DataAlwaysBeginsAtAMultipleOf64) {
  std::vector<std::int64_t> shape;
  for (int rank = 0; rank < 30; ++rank) {
    Buffer tensor{"x", DType::u8, shape, {std::byte{42}}, false};
    const std::vector<std::byte> file = write_npy(tensor);
    EXPECT_EQ((file.size() - 1) % 64, 0u) << rank;
    EXPECT_EQ(read(file).bytes, tensor.bytes);
    shape.push_back(1);
  }
}

TEST(Npy, TypesThatNumPyLacksAreIntegersOfTheirWidth) {
  const auto descr = [](DType type) {
    Buffer tensor{"x", type, {1}, std::vector<std::byte>(bytes_of(type)), false};
    const std::string file = text_of(write_npy(tensor));
    return file.substr(file.find("'descr': ") + 9, 5);
  };
  EXPECT_EQ(descr(DType::bf16), "'<u2'");
  EXPECT_EQ(descr(DType::e4m3), "'|u1'");
  EXPECT_EQ(descr(DType::e5m2), "'|u1'");
  EXPECT_EQ(descr(DType::f16), "'<f2'");
  EXPECT_EQ(descr(DType::i8), "'|i1'");
}

TEST(Npy, AllThreeVersionsAreRead) {
  const std::string header = "{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }\n";
  for (int version = 1; version <= 3; ++version) {
    const Buffer tensor = read(file_of(version, header, std::string("\1\0\2\0\3\0", 6)));
    EXPECT_EQ(tensor.dtype, DType::i16);
    EXPECT_EQ(values(tensor), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(tensor.name, "x.npy");
  }
}

TEST(Npy, FortranOrderComesBackRowMajor) {
  const Buffer matrix = read(file_of(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}",
                                     std::string("\1\4\2\5\3\6", 6)));
  EXPECT_EQ(matrix.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(values(matrix), (std::vector<double>{1, 2, 3, 4, 5, 6}));

  // x[i][j][k] = 100 i + 10 j + k, laid down with i fastest.
  std::string data;
  std::vector<double> want;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) data += static_cast<char>(100 * i + 10 * j + k);
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) want.push_back(100 * i + 10 * j + k);
    }
  }
  EXPECT_EQ(
      values(read(file_of(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4)}", data))),
      want);
}

TEST(Npy, BigEndianIsTurned) {
  const auto one = [](const std::string& descr, const std::string& data) {
    return values(
        read(file_of(1, "{'descr': '" + descr + "', 'fortran_order': False, 'shape': ()}", data)));
  };
  EXPECT_EQ(one(">f4", std::string("\x3f\x80\0\0", 4)), std::vector<double>{1});
  EXPECT_EQ(one(">f8", std::string("\xc0\0\0\0\0\0\0\0", 8)), std::vector<double>{-2});
  EXPECT_EQ(one(">f2", std::string("\x3c\0", 2)), std::vector<double>{1});
  EXPECT_EQ(one(">i4", std::string("\xff\xff\xff\xfe", 4)), std::vector<double>{-2});
  EXPECT_EQ(one(">u2", std::string("\1\0", 2)), std::vector<double>{256});
  EXPECT_EQ(one("=f4", std::string("\0\0\x80\x3f", 4)), std::vector<double>{1});
  EXPECT_EQ(one("f4", std::string("\0\0\x80\x3f", 4)), std::vector<double>{1});
}

TEST(Npy, HeadersAsPythonAllowsThem) {
  for (const char* header :
       {"{'shape': (2,), 'fortran_order': False, 'descr': '|u1'}",
        "  {\"descr\":\"|u1\",\"fortran_order\":False,\"shape\":(2,)}   \n\n",
        "{ 'descr' : '|u1' ,\n\t'fortran_order' : True ,\r\n 'shape' : ( 2 , ) , }",
        "{'descr': 'u1', 'fortran_order': False, 'shape': (2L,), }"}) {
    EXPECT_EQ(values(read(file_of(1, header, "\1\2"))), (std::vector<double>{1, 2})) << header;
  }
}

TEST(Npy, RawBitsAreWhatTheReaderSays) {
  const auto as = [](const std::string& descr, DType type, const std::string& data) {
    const Buffer tensor = read(
        file_of(1, "{'descr': '" + descr + "', 'fortran_order': False, 'shape': ()}", data), type);
    EXPECT_EQ(tensor.dtype, type);
    return values(tensor);
  };
  const std::vector<double> one{1};
  EXPECT_EQ(as("|V2", DType::bf16, "\x80\x3f"), one);
  EXPECT_EQ(as("<u2", DType::bf16, "\x80\x3f"), one);
  EXPECT_EQ(as("<i2", DType::bf16, "\x80\x3f"), one);
  EXPECT_EQ(as(">u2", DType::bf16, "\x3f\x80"), one);
  EXPECT_EQ(as("|u1", DType::e4m3, "\x38"), one);
  EXPECT_EQ(as("|V1", DType::e5m2, "\x3c"), one);
  EXPECT_EQ(as("<f1", DType::e4m3, "\x38"), one);
  EXPECT_EQ(as("|V4", DType::f32, std::string("\0\0\x80\x3f", 4)), one);
}

}  // namespace
}  // namespace tilescope
