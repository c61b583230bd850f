// Programs that compile as they run ask NVRTC or nvJitLink for the machine code of the chip that
// they found, and what runs here is PTX. So both give PTX where machine code is asked for; the
// stand-in for the driver takes either. `tilescope exec` has the dynamic loader load this as an
// auditor (rtld-audit(7)), since both libraries are mostly opened by a program while it runs, by a
// path of their own, and their functions looked up by name.
//
// NVRTC makes the PTX on the way to machine code (NVRTC, "nvrtcGetPTX"). nvJitLink links PTX only
// in link-time optimization, with -ptx (nvJitLink, "Supported Link Options"); PTX that it is given
// otherwise is handed over as it is, one text after the other, for the driver to link.
//
// A program that looks for the driver by a path of its own gets the stand-in as well.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/cuda/linked_texts.h"

namespace tilescope::compilers {
namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// __nvJitLinkCreate_13_0, as the headers of nvJitLink call it: nvJitLinkCreate.
std::string_view plain(std::string_view name) {
  if (name.substr(0, 2) != "__") return name;
  name.remove_prefix(2);
  for (int part = 0; part < 2; ++part) {
    const std::size_t end = name.find_last_not_of("0123456789");
    if (end == name.npos || end + 1 == name.size() || name[end] != '_') break;
    name.remove_suffix(name.size() - end);
  }
  return name;
}

// Where a function of a library is that the program has asked for nothing of: by the library's own
// hash table (DT_GNU_HASH), since dlsym takes what dlopen gave alone, and a library that the
// program was linked with was not opened so.
void* function_of(const link_map* library, std::string_view name) {
  const auto table = [&](ElfW(Sxword) tag) {
    for (const ElfW(Dyn)* each = library->l_ld; each->d_tag != DT_NULL; ++each) {
      if (each->d_tag != tag) continue;
      const ElfW(Addr) at = each->d_un.d_ptr;  // the loader may have made it an address
      return reinterpret_cast<const char*>(at < library->l_addr ? at + library->l_addr : at);
    }
    return static_cast<const char*>(nullptr);
  };
  const char* const names = table(DT_STRTAB);
  const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(table(DT_SYMTAB));
  const auto* const header = reinterpret_cast<const std::uint32_t*>(table(DT_GNU_HASH));
  if (!names || !symbols || !header) return nullptr;
  const std::uint32_t buckets = header[0], first = header[1], filter_words = header[2];
  const std::uint32_t* const bucket = header + 4 + filter_words * (sizeof(ElfW(Addr)) / 4);
  const std::uint32_t* const chain = bucket + buckets;
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  for (std::uint32_t i = buckets ? bucket[hash % buckets] : 0; i >= first && i != 0; ++i) {
    const std::uint32_t other = chain[i - first];
    if ((other | 1) == (hash | 1) && names + symbols[i].st_name == name &&
        symbols[i].st_shndx != SHN_UNDEF) {
      return reinterpret_cast<void*>(library->l_addr + symbols[i].st_value);
    }
    if (other & 1) break;
  }
  return nullptr;
}

constexpr std::string_view elf_magic =
    "\x7f"
    "ELF";

// How many copies of each library a program may have open: 12's and 13's, say. What is opened
// beyond that is left alone.
constexpr std::uintptr_t most = 4;

// ---- NVRTC --------------------------------------------------------------------------------------

using Program = void*;
using GetSize = int (*)(Program, std::size_t*);
using GetText = int (*)(Program, char*);

struct Nvrtc {
  const link_map* library = nullptr;
  GetSize code_bytes = nullptr;
  GetText code = nullptr;

  template <class F>
  F find(const char* name) const {
    return reinterpret_cast<F>(function_of(library, name));
  }
  // 0: there is none, as where the program was compiled for link-time optimization.
  std::size_t ptx_bytes(Program program) const {
    std::size_t bytes = 0;
    const auto ask = find<GetSize>("nvrtcGetPTXSize");
    return ask && ask(program, &bytes) == 0 && bytes > 1 ? bytes : 0;
  }
};
Nvrtc nvrtcs[most];
std::atomic<std::uintptr_t> nvrtc_count{0};

template <std::uintptr_t n>
int get_code_bytes(Program program, std::size_t* bytes) {
  const int result = nvrtcs[n].code_bytes(program, bytes);
  if (result == 0 && bytes && *bytes) {
    if (const std::size_t ptx = nvrtcs[n].ptx_bytes(program)) *bytes = ptx;
  }
  return result;
}
// Who asks for machine code has asked for its size, and that was the PTX's.
template <std::uintptr_t n>
int get_code(Program program, char* to) {
  std::size_t bytes = 0;
  if (nvrtcs[n].code_bytes && nvrtcs[n].code_bytes(program, &bytes) == 0 && bytes &&
      nvrtcs[n].ptx_bytes(program)) {
    if (const auto ask = nvrtcs[n].find<GetText>("nvrtcGetPTX")) return ask(program, to);
  }
  return nvrtcs[n].code(program, to);
}

// ---- nvJitLink ----------------------------------------------------------------------------------

using Linker = void*;
enum Input : int { cubin = 1, ptx = 2, any = 10 };  // nvJitLinkInputType

struct Link {
  bool optimized = false;          // linked as one program, which gives PTX
  std::vector<std::string> texts;  // PTX that it was given
};

struct NvJitLink {
  int (*create)(Linker*, std::uint32_t, const char**) = nullptr;
  int (*destroy)(Linker*) = nullptr;
  int (*add)(Linker, int, const void*, std::size_t, const char*) = nullptr;
  int (*code_bytes)(Linker, std::size_t*) = nullptr;
  int (*code)(Linker, void*) = nullptr;
  const link_map* library = nullptr;
  std::mutex mutex;
  std::map<Linker, Link> links;

  Link of(Linker linker) {
    const std::lock_guard lock(mutex);
    const auto found = links.find(linker);
    return found == links.end() ? Link{} : found->second;
  }
};
NvJitLink linkers[most];
std::atomic<std::uintptr_t> linker_count{0};

template <std::uintptr_t n>
int create(Linker* linker, std::uint32_t count, const char** options) {
  Link link;
  std::vector<const char*> all(options, options + (options ? count : 0));
  bool asks_for_ptx = false;
  for (const std::string_view option : all) {
    link.optimized = link.optimized || option == "-lto" || option == "-dlto";
    asks_for_ptx = asks_for_ptx || option == "-ptx";
  }
  if (link.optimized && !asks_for_ptx) all.push_back("-ptx");
  link.optimized = link.optimized && !asks_for_ptx;
  const int result = linkers[n].create(linker, static_cast<std::uint32_t>(all.size()), all.data());
  if (result == 0) {
    const std::lock_guard lock(linkers[n].mutex);
    linkers[n].links[*linker] = std::move(link);
  }
  return result;
}
template <std::uintptr_t n>
int destroy(Linker* linker) {
  if (linker) {
    const std::lock_guard lock(linkers[n].mutex);
    linkers[n].links.erase(*linker);
  }
  return linkers[n].destroy(linker);
}
// What NVRTC handed over as machine code is PTX here too.
template <std::uintptr_t n>
int add(Linker linker, int kind, const void* data, std::size_t bytes, const char* name) {
  const std::string_view text(static_cast<const char*>(data), data ? bytes : 0);
  if (kind == cubin && !text.empty() && text.substr(0, elf_magic.size()) != elf_magic) kind = ptx;
  const int result = linkers[n].add(linker, kind, data, bytes, name);
  const bool is_text = kind == ptx || (kind == any && text.find(".version") != text.npos);
  if (result == 0 && is_text) {
    const std::lock_guard lock(linkers[n].mutex);
    linkers[n].links[linker].texts.emplace_back(text.substr(0, text.find('\0')));
  }
  return result;
}
template <std::uintptr_t n>
int get_linked_bytes(Linker linker, std::size_t* bytes) {
  const Link link = linkers[n].of(linker);
  if (link.optimized) {
    const auto ask = reinterpret_cast<decltype(NvJitLink::code_bytes)>(
        function_of(linkers[n].library, "nvJitLinkGetLinkedPtxSize"));
    if (ask) return ask(linker, bytes);
  }
  const int result = linkers[n].code_bytes(linker, bytes);
  if (result == 0 && bytes && !link.texts.empty()) *bytes = one_text(link.texts).size() + 1;
  return result;
}
template <std::uintptr_t n>
int get_linked(Linker linker, void* to) {
  const Link link = linkers[n].of(linker);
  if (link.optimized) {
    const auto ask = reinterpret_cast<decltype(NvJitLink::code)>(
        function_of(linkers[n].library, "nvJitLinkGetLinkedPtx"));
    if (ask) return ask(linker, to);
  }
  if (link.texts.empty() || !to) return linkers[n].code(linker, to);
  const std::string text = one_text(link.texts);
  std::memcpy(to, text.c_str(), text.size() + 1);
  return 0;
}

// ---- what stands for which function -------------------------------------------------------------

// The real address is kept, and the other one given.
template <class F>
std::uintptr_t instead(F& real, std::uintptr_t address, F other) {
  real = reinterpret_cast<F>(address);
  return reinterpret_cast<std::uintptr_t>(other);
}

template <std::uintptr_t n>
std::uintptr_t of_copy(std::string_view name, std::uintptr_t address) {
  Nvrtc& nvrtc = nvrtcs[n];
  NvJitLink& linker = linkers[n];
  if (name == "nvrtcGetCUBINSize") return instead(nvrtc.code_bytes, address, get_code_bytes<n>);
  if (name == "nvrtcGetCUBIN") return instead(nvrtc.code, address, get_code<n>);
  if (name == "nvJitLinkCreate") return instead(linker.create, address, create<n>);
  if (name == "nvJitLinkDestroy") return instead(linker.destroy, address, destroy<n>);
  if (name == "nvJitLinkAddData") return instead(linker.add, address, add<n>);
  if (name == "nvJitLinkGetLinkedCubinSize") {
    return instead(linker.code_bytes, address, get_linked_bytes<n>);
  }
  if (name == "nvJitLinkGetLinkedCubin") return instead(linker.code, address, get_linked<n>);
  return address;
}

std::uintptr_t of_copy(std::uintptr_t copy, std::string_view name, std::uintptr_t address) {
  switch (copy) {
    case 0:
      return of_copy<0>(name, address);
    case 1:
      return of_copy<1>(name, address);
    case 2:
      return of_copy<2>(name, address);
    default:
      return of_copy<3>(name, address);
  }
}

// The stand-in for the driver, which lies beside this library.
const std::string& driver() {
  static const std::string path = [] {
    Dl_info self{};
    const bool found = ::dladdr(reinterpret_cast<void*>(&file_name), &self) && self.dli_fname;
    const std::string own = found ? self.dli_fname : "";
    return own.substr(0, own.rfind('/') + 1) + "libcuda.so.1";
  }();
  return path;
}

}  // namespace
}  // namespace tilescope::compilers

using namespace tilescope::compilers;

#define AUDITOR extern "C" __attribute__((visibility("default")))

AUDITOR unsigned la_version(unsigned version) {
  return version;
}

AUDITOR char* la_objsearch(const char* name, std::uintptr_t*, unsigned flag) {
  const std::string_view file = file_name(name);
  if (flag == LA_SER_ORIG && (file == "libcuda.so.1" || file == "libcuda.so")) {
    return const_cast<char*>(driver().c_str());
  }
  return const_cast<char*>(name);
}

AUDITOR unsigned la_objopen(link_map* object, Lmid_t, std::uintptr_t* cookie) {
  const std::string_view file = file_name(object->l_name);
  const auto begins = [&](std::string_view with) { return file.substr(0, with.size()) == with; };
  *cookie = 0;
  if (begins("libnvrtc.so")) {
    const std::uintptr_t n = nvrtc_count++;
    if (n < most) nvrtcs[n].library = object, *cookie = n + 1;
  } else if (begins("libnvJitLink.so")) {
    const std::uintptr_t n = linker_count++;
    if (n < most) linkers[n].library = object, *cookie = most + n + 1;
  }
  return LA_FLG_BINDFROM | (*cookie ? LA_FLG_BINDTO : 0);
}

// What the library calls of its own is its own.
AUDITOR std::uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned, std::uintptr_t* asked_by,
                                    std::uintptr_t* defined_in, unsigned*, const char* name) {
  if (*defined_in == 0 || *asked_by == *defined_in) return symbol->st_value;
  return of_copy((*defined_in - 1) % most, plain(name), symbol->st_value);
}
