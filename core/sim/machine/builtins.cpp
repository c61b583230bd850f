// vprintf, __assertfail, malloc and free, which CUDA's printf, assert, malloc and new become (CUDA
// C++ Programming Guide, "Formatted Output", "Assertion", "Dynamic Global Memory Allocation").
#include <fmt/format.h>
#include <fmt/printf.h>

#include <algorithm>
#include <cstring>

#include "core/sim/lanes/services.h"
#include "core/sim/machine/calls.h"
#include "core/sim/machine/heap.h"
#include "core/sim/machine/model.h"
#include "core/sim/tcgen05/handlers.h"

namespace tilescope::sim {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr std::size_t longest_text = 1u << 16;

u64 parameter(const Core& x, const ptx::Routine& r, std::size_t number, int lane, u32 frame) {
  u64 out = 0;
  const ptx::Slot& slot = r.parameters[number];
  std::memcpy(&out, x.block->local.data() + local_offset(x, lane, frame + slot.offset),
              std::min<std::size_t>(slot.bytes, sizeof out));
  return out;
}

// The text at a generic address, up to its 0. False where it leaves memory or does not end.
bool text_at(Core& x, int lane, u64 address, std::string& out) {
  out.clear();
  for (std::byte c{}; out.size() < longest_text; ++address) {
    if (!read_generic(x, lane, address, 1, &c)) return false;
    if (c == std::byte{0}) return true;
    out += static_cast<char>(c);
  }
  return false;
}

// printf's format, one lane's arguments: packed one after the other, each on a multiple of its
// size, 4 bytes or 8 (what varargs promotion leaves).
class Printer {
 public:
  Printer(Core& x, int lane, u64 arguments) : x_(x), lane_(lane), next_(arguments) {}

  // False: `problem` says what could not be printed.
  bool run(const std::string& format) {
    for (std::size_t at = 0; at < format.size();) {
      if (format[at] != '%') {
        const std::size_t end = std::min(format.size(), format.find('%', at));
        text_ += format.substr(at, end - at);
        at = end;
        continue;
      }
      if (at + 1 < format.size() && format[at + 1] == '%') {
        text_ += '%';
        at += 2;
        continue;
      }
      if (!conversion(format, at)) return false;
    }
    return true;
  }
  const std::string& text() const { return text_; }
  const std::string& problem() const { return problem_; }
  u32 count() const { return count_; }

 private:
  bool argument(std::size_t bytes, u64& out) {
    next_ = (next_ + bytes - 1) / bytes * bytes;
    out = 0;
    ++count_;
    std::byte raw[8] = {};
    if (!read_generic(x_, lane_, next_, bytes, raw)) {
      problem_ = fmt::format("its argument {} is in no memory (0x{:x})", count_, next_);
      return false;
    }
    std::memcpy(&out, raw, bytes);
    next_ += bytes;
    return true;
  }

  // %[flags][width][.precision][size]type
  bool conversion(const std::string& format, std::size_t& at) {
    std::string spec = "%";
    ++at;
    const auto take_while = [&](std::string_view of) {
      while (at < format.size() && of.find(format[at]) != std::string_view::npos) {
        spec += format[at++];
      }
    };
    const auto number = [&] {
      if (at >= format.size() || format[at] != '*') {
        take_while("0123456789");
        return true;
      }
      u64 value = 0;
      ++at;
      if (!argument(4, value)) return false;
      spec += std::to_string(static_cast<std::int32_t>(value));
      return true;
    };
    take_while("#0- +");
    if (!number()) return false;
    if (at < format.size() && format[at] == '.') {
      spec += format[at++];
      if (!number()) return false;
    }
    bool wide = false;
    std::string size;
    while (at < format.size() && std::strchr("hlLqjzt", format[at])) size += format[at++];
    wide = size == "l" || size == "ll" || size == "q" || size == "j" || size == "z" || size == "t";
    // Widths and precisions that no terminal has.
    if (spec.size() > 24 || at >= format.size()) {
      text_ += spec;
      return true;
    }
    return value(spec, format[at++], wide);
  }

  bool value(std::string spec, char type, bool wide) {
    u64 bits = 0;
    switch (type) {
      case 'd':
      case 'i':
        if (!argument(wide ? 8 : 4, bits)) return false;
        return put(spec + "lld", wide ? static_cast<long long>(bits)
                                      : static_cast<long long>(static_cast<std::int32_t>(bits)));
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        if (!argument(wide ? 8 : 4, bits)) return false;
        return put(spec + "ll" + type, static_cast<unsigned long long>(bits));
      case 'c':
        if (!argument(4, bits)) return false;
        return put(spec + "c", static_cast<int>(bits));
      case 'p':
        if (!argument(8, bits)) return false;
        return put(spec + "p", reinterpret_cast<void*>(bits));
      case 's': {
        std::string text;
        if (!argument(8, bits)) return false;
        if (!text_at(x_, lane_, bits, text)) {
          problem_ = fmt::format("its argument {} is no text (0x{:x})", count_, bits);
          return false;
        }
        return put(spec + "s", text.c_str());
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        double number = 0;
        if (!argument(8, bits)) return false;
        std::memcpy(&number, &bits, sizeof number);
        return put(spec + type, number);
      }
      default:
        // As CUDA does: what is no conversion is printed as it stands.
        text_ += spec + type;
        return true;
    }
  }

  template <class T>
  bool put(const std::string& spec, T value) {
    try {
      text_ += fmt::sprintf(spec, value);
    } catch (const fmt::format_error& e) {
      problem_ = fmt::format("'{}' cannot be printed: {}", spec, e.what());
      return false;
    }
    return true;
  }

  Core& x_;
  int lane_;
  u64 next_;
  u32 count_ = 0;
  std::string text_, problem_;
};

Flow bad_builtin(Core& x, const ptx::Routine& r, int lane, const std::string& what) {
  return x.reports->fault(x, lane, "bad_call", fmt::format("{}: {}", r.name, what), "", "");
}

// int vprintf(const char* format, const void* arguments)
Flow print(Core& x, const ptx::Routine& r, int lane, u32 frame) {
  std::string format;
  if (!text_at(x, lane, parameter(x, r, 0, lane, frame), format)) {
    return bad_builtin(x, r, lane, "its format is no text");
  }
  Printer printer(x, lane, parameter(x, r, 1, lane, frame));
  if (!printer.run(format)) return bad_builtin(x, r, lane, printer.problem());
  x.machine->printed.append(printer.text());
  const u32 count = printer.count();
  x.block->local.write(local_offset(x, lane, frame + r.results[0].offset),
                       reinterpret_cast<const std::byte*>(&count), nullptr, sizeof count, {});
  return Flow::next;
}

// void __assertfail(const char* message, const char* file, unsigned line, const char* function,
// size)
Flow assertion(Core& x, const ptx::Routine& r, int lane, u32 frame) {
  std::string message, file, function;
  if (!text_at(x, lane, parameter(x, r, 0, lane, frame), message) ||
      !text_at(x, lane, parameter(x, r, 1, lane, frame), file) ||
      !text_at(x, lane, parameter(x, r, 3, lane, frame), function)) {
    return bad_builtin(x, r, lane, "its message is no text");
  }
  return x.reports->fault(
      x, lane, "assert",
      fmt::format("{}:{}: {}: assertion `{}` failed{}", file, parameter(x, r, 2, lane, frame),
                  function, message, moved_base_text(x)),
      message, "false");
}

Region* heap_of(Core& x) {
  for (const ptx::Placed& p : x.machine->program().variables) {
    if (p.variable.name == ptx::heap_name) return find_region(x, p.address);
  }
  return nullptr;
}

// void* malloc(size_t): a null pointer where there is no room any more.
Flow heap_allocate(Core& x, const ptx::Routine& r, int lane, u32 frame) {
  Region& heap = *heap_of(x);
  const u64 offset = take_piece(heap, parameter(x, r, 0, lane, frame));
  const u64 address = offset ? heap.base() + offset : 0;
  x.block->local.write(local_offset(x, lane, frame + r.results[0].offset),
                       reinterpret_cast<const std::byte*>(&address), nullptr, sizeof address, {});
  return Flow::next;
}

// void free(void*)
Flow heap_release(Core& x, const ptx::Routine& r, int lane, u32 frame) {
  Region& heap = *heap_of(x);
  const u64 address = parameter(x, r, 0, lane, frame);
  if (address == 0) return Flow::next;
  switch (give_back_piece(heap, address - heap.base())) {
    case GivesBack::done:
      return Flow::next;
    case GivesBack::again:
      return bad_builtin(x, r, lane, fmt::format("0x{:x} was given back before", address));
    case GivesBack::no_piece:
      break;
  }
  return bad_builtin(x, r, lane, fmt::format("0x{:x} is nothing that malloc gave", address));
}

struct Signature {
  std::size_t parameters, results;
  u32 result_bytes;
  Flow (*run)(Core& x, const ptx::Routine& r, int lane, u32 frame);
};
Signature signature_of(ptx::Builtin builtin) {
  switch (builtin) {
    case ptx::Builtin::print:
      return {2, 1, 4, print};
    case ptx::Builtin::allocate:
      return {1, 1, 8, heap_allocate};
    case ptx::Builtin::release:
      return {1, 0, 0, heap_release};
    default:
      return {5, 0, 0, assertion};
  }
}

}  // namespace

Flow run_builtin(Core& x, const ptx::Routine& r, Mask m, const u32* frame) {
  const Signature is = signature_of(r.builtin);
  if (r.parameters.size() != is.parameters || r.results.size() != is.results ||
      (is.results && r.results[0].bytes != is.result_bytes)) {
    return bad_builtin(x, r, __builtin_ctz(m), "it is declared with other parameters than CUDA's");
  }
  for (; m; m &= m - 1) {
    const int lane = __builtin_ctz(m);
    const Flow flow = is.run(x, r, lane, frame[lane]);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

}  // namespace tilescope::sim
