// Stands for NVRTC: what it was asked for it hands over, so that a test sees which that was.
#include <cstring>

namespace {
const char code[] =
    "\x7f"
    "ELF of nvrtc",
           text[] = ".version 9.0 // of nvrtc";
}

extern "C" {
// 0 was compiled for link-time optimization: it has neither PTX nor machine code; 1 for a virtual
// chip: PTX alone; 2 for a chip.
int nvrtcGetPTXSize(void* program, std::size_t* bytes) {
  *bytes = program ? sizeof text : 0;
  return 0;
}
int nvrtcGetPTX(void*, char* to) {
  std::memcpy(to, text, sizeof text);
  return 0;
}
int nvrtcGetCUBINSize(void* program, std::size_t* bytes) {
  *bytes = program == reinterpret_cast<void*>(2) ? sizeof code : 0;
  return program == reinterpret_cast<void*>(3) ? 4 : 0;
}
int nvrtcGetCUBIN(void*, char* to) {
  std::memcpy(to, code, sizeof code);
  return 0;
}
}
