#include "core/io/record_cause.h"

#include <memory>
#include <type_traits>

#include "core/run/deadlock_cause.h"

namespace tilescope {
namespace {

using Cause = DeadlockCause;

// Both directions go through the same functions: `each` writes a value or reads it.
struct Write {
  ByteWriter& out;
  void operator()(const std::string& value) { out.text(value); }
  void operator()(bool value) { out.u8(value); }
  void operator()(std::uint32_t value) { out.varint(value); }
  void operator()(std::uint64_t value) { out.varint(value); }
  void operator()(std::int64_t value) { out.varint(zigzag(static_cast<std::uint64_t>(value))); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum value) { out.u8(static_cast<std::uint8_t>(value)); }
  // A place in a list, or none.
  void place(std::size_t index) { out.varint(index == Cause::none ? 0 : index + 1); }
  template <class T, class Of>
  void list(const std::vector<T>& values, std::size_t, Of of) {
    out.varint(values.size());
    for (const T& value : values) of(*this, value);
  }
};

struct Read {
  ByteReader& in;
  void operator()(std::string& value) { value = in.text(); }
  void operator()(bool& value) {
    const std::uint8_t byte = in.u8();
    if (byte > 1) in.fail();
    value = byte;
  }
  void operator()(std::uint32_t& value) { value = in.number(); }
  void operator()(std::uint64_t& value) { value = in.varint(); }
  void operator()(std::int64_t& value) { value = static_cast<std::int64_t>(unzigzag(in.varint())); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void operator()(Enum& value) {
    const std::uint8_t number = in.u8();
    if (number >= static_cast<std::uint8_t>(Enum::count_)) in.fail();
    value = in.failed() ? Enum{} : static_cast<Enum>(number);
  }
  void place(std::size_t& index) {
    const std::uint32_t value = in.number();
    index = value ? value - 1 : Cause::none;
  }
  // No more than there are bytes for, of so many each.
  template <class T, class Of>
  void list(std::vector<T>& values, std::size_t bytes_each, Of of) {
    values.resize(in.count(bytes_each));
    for (T& value : values) {
      if (in.failed()) return;
      of(*this, value);
    }
  }
};

template <class Each, class Of>
void site(Each& each, Of& of) {
  each(of.kernel);
  each(of.source);
  each(of.source_line);
  each(of.caller);
  each(of.caller_line);
  each(of.ptx_line);
  each(of.ptx_place);
  each(of.block.x);
  each(of.block.y);
  each(of.block.z);
  each(of.warp);
  each(of.lane);
}

template <class Each, class Of>
void warps(Each& each, Of& of) {
  each(of.rank);
  each(of.mask);
}

template <class Each, class Of>
void not_come(Each& each, Of& of) {
  each(of.why);
  warps(each, of.warps);
  each(of.lanes);
  each(of.others_came);
  each(of.been);
  each(of.is_ahead);
  each(of.phases);
  each(of.pc);
  site(each, of.site);
  each.place(of.waits_for);
  each(of.detail);
}

template <class Each, class Of>
void source(Each& each, Of& of) {
  each(of.pc);
  each(of.opcode);
  site(each, of.site);
  each(of.arrives);
  each(of.expects);
  each(of.brings);
  each(of.certain);
  each(of.bytes);
  each(of.bytes_before);
  each(of.times);
  each.list(of.not_come, 24, [](auto& e, auto& one) { not_come(e, one); });
}

template <class Each, class Of>
void waited_for(Each& each, Of& of) {
  each(of.of);
  each(of.rank);
  each(of.block);
  each(of.object);
  each(of.name);
  each(of.phase);
  each(of.count);
  each(of.everyone);
  each(of.pending);
  each(of.bytes);
  site(each, of.made);
  each.list(of.sources, 22, [](auto& e, auto& one) { source(e, one); });
  each(of.would_help);
}

template <class Each, class Of>
void waiting(Each& each, Of& of) {
  warps(each, of.warps);
  each(of.lanes);
  each(of.pc);
  site(each, of.site);
  each(of.opcode);
  each.place(of.waits_for);
  each(of.phase);
  each(of.words);
}

template <class Each, class Of>
void cause(Each& each, Of& of) {
  each(of.cluster_size);
  each.list(of.waiting, 20, [](auto& e, auto& one) { waiting(e, one); });
  each.list(of.barriers, 22, [](auto& e, auto& one) { waited_for(e, one); });
  each.list(of.cycle, 1, [](auto& e, auto& one) { e.place(one); });
  each(of.sentence);
}

// Places in lists that are not there would be read beyond their ends.
bool fits(const Cause& of) {
  const auto is_there = [&](std::size_t i) { return i == Cause::none || i < of.barriers.size(); };
  for (const Cause::Waiting& w : of.waiting) {
    if (!is_there(w.waits_for)) return false;
  }
  for (const std::size_t i : of.cycle) {
    if (i >= of.barriers.size()) return false;
  }
  for (const Cause::WaitedFor& b : of.barriers) {
    for (const Cause::Source& s : b.sources) {
      for (const Cause::NotCome& n : s.not_come) {
        if (!is_there(n.waits_for)) return false;
      }
    }
  }
  return true;
}

}  // namespace

void write_causes(ByteWriter& out, const std::vector<Report>& reports) {
  std::uint64_t count = 0;
  for (const Report& report : reports) count += report.deadlock ? 1 : 0;
  out.varint(count);
  Write each{out};
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!reports[i].deadlock) continue;
    out.varint(i);
    cause(each, *reports[i].deadlock);
  }
}

std::string read_causes(ByteReader& in, std::vector<Report>& reports) {
  Read each{in};
  const std::size_t count = in.count(6);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t number = in.varint();
    const auto of = std::make_shared<Cause>();
    cause(each, *of);
    if (in.failed()) return {};
    if (number >= reports.size()) return "the cause of a report that is not there";
    if (!fits(*of)) return "a deadlock's cause that names a barrier that is not there";
    reports[static_cast<std::size_t>(number)].deadlock = of;
  }
  return {};
}

}  // namespace tilescope
