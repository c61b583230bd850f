// Stands for nvJitLink: its "machine code" tells the options and the kinds of input that it got.
#include <cstdint>
#include <cstring>
#include <string>

namespace {
struct Linker {
  std::string got;
};
int give(const std::string& text, void* to) {
  std::memcpy(to, text.c_str(), text.size() + 1);
  return 0;
}
}  // namespace

extern "C" {
int __nvJitLinkCreate_13_0(Linker** linker, std::uint32_t count, const char** options) {
  *linker = new Linker;
  for (std::uint32_t i = 0; i < count; ++i) (*linker)->got += std::string(options[i]) + " ";
  return count == 0 ? 3 : 0;
}
int __nvJitLinkDestroy_13_0(Linker** linker) {
  delete *linker;
  *linker = nullptr;
  return 0;
}
int __nvJitLinkAddData_13_0(Linker* linker, int kind, const void*, std::size_t, const char*) {
  linker->got += std::to_string(kind) + " ";
  return kind == 9 ? 3 : 0;
}
int __nvJitLinkGetLinkedCubinSize_13_0(Linker* linker, std::size_t* bytes) {
  *bytes = ("\x7f"
            "ELF " +
            linker->got)
               .size() +
           1;
  return 0;
}
int __nvJitLinkGetLinkedCubin_13_0(Linker* linker, void* to) {
  return give(
      "\x7f"
      "ELF " +
          linker->got,
      to);
}
int nvJitLinkGetLinkedPtxSize(Linker* linker, std::size_t* bytes) {
  *bytes = (".version of " + linker->got).size() + 1;
  return 0;
}
int nvJitLinkGetLinkedPtx(Linker* linker, void* to) {
  return give(".version of " + linker->got, to);
}
}
