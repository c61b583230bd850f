// Errors are values with a sentence: what was asked, what is wrong, where, and what would work.
//
// A function that can be refused returns Outcome<T>: either the T, or an Error. Nothing in core
// throws on bad input, and nothing prints: whoever asked decides how the sentence is shown.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tilescope {

// What kind of no it is. The program turns it into an exit code and into "kind" of --json.
enum class ErrorKind {
  refused,      // a layout expression that has no value: exit 1
  usage,        // asked in a way that nobody understands: exit 2
  unknown,      // a name that does not exist: exit 2
  mismatch,     // shapes, sizes, counts that do not fit, or that a kernel cannot do: exit 2
  unreadable,   // a file that is missing, broken, or not what it should be: exit 2
  unsupported,  // PTX that is not understood: exit 2
  fault,        // the kernel faulted: exit 3
  no_device,    // no such GPU or display: exit 4
  interrupted,  // exit 130
};

constexpr std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::refused:
      return "refused";
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::unknown:
      return "unknown";
    case ErrorKind::mismatch:
      return "mismatch";
    case ErrorKind::unreadable:
      return "unreadable";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::fault:
      return "fault";
    case ErrorKind::no_device:
      return "no_device";
    case ErrorKind::interrupted:
      return "interrupted";
  }
  return "";
}

constexpr int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::refused:
      return 1;
    case ErrorKind::fault:
      return 3;
    case ErrorKind::no_device:
      return 4;
    case ErrorKind::interrupted:
      return 130;
    default:
      return 2;
  }
}

struct Error {
  ErrorKind kind = ErrorKind::usage;
  std::string sentence;  // complete: a person can act on it alone
  std::string where;  // "file.ptx:12", "column 5 of the expression"; empty where there is no place
};

inline Error refused(std::string sentence) {
  return {ErrorKind::refused, std::move(sentence), ""};
}

template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : state_(std::move(value)) {}
  Outcome(Error error) : state_(std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() { return *std::get_if<0>(&state_); }
  const T& value() const { return *std::get_if<0>(&state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace tilescope
