// From statements to instructions: private to core/ptx. One Decoder decodes one entry.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ptx/program.h"

namespace tilescope::ptx {

class Decoder {
 public:
  Decoder(Program& program, const Body& body) : program_(program), body_(body) {}
  bool run();
  const Error& error() const { return error_; }

 private:
  // What a name can mean.
  struct Meaning {
    enum class Kind : std::uint8_t { nothing, reg, memory, label, special } kind = Kind::nothing;
    std::uint32_t index = 0;    // register, label's instruction, special
    std::uint64_t address = 0;  // memory: within its space
    Space space = Space::generic;
    bool dynamic = false;  // dynamic shared memory: placed behind everything static
  };
  using Names = std::unordered_map<std::string_view, Meaning>;

  // names (names.cpp)
  bool declare_variables();
  bool place(const Variable& variable, Names& names);
  static void move_to(std::uint64_t dynamic, Meaning& meaning);
  void declare_registers();
  bool declare_labels();
  Meaning look_up(std::string_view name, std::uint32_t scope) const;
  Meaning numbered(std::string_view name, std::uint32_t scope) const;

  // instructions (decode.cpp)
  bool instruction(const Statement& statement);
  bool guard(const Statement& statement, Instruction& out);
  bool operands(const Statement& statement, const Opcode& row, Instruction& out);
  bool operand(const Statement& s, const OperandRule& rule, Type type, const Written& w,
               Operand& out);
  bool special_forms(const Statement& statement, Instruction& out);
  bool name(const Statement& s, const OperandRule& rule, Type type, const Written& w, Operand& out);
  bool number(const Statement& s, Type type, const Written& w, Operand& out);
  bool address(const Statement& s, const Instruction& i, const Written& w, Operand& out);
  bool vector(const Statement& s, const OperandRule& rule, Type type, const Written& w,
              Operand& out);
  bool label(const Statement& s, const Written& w, Operand& out);
  Operand constant(Type type, std::uint64_t bits);
  bool fail(const Statement& s, std::string_view what);
  bool refuse(std::uint32_t line, std::string sentence);

  Program& program_;
  const Body& body_;
  Error error_;
  Names module_names_;
  std::vector<Names> scope_names_;  // variables, labels and single registers of each scope
  std::vector<std::unordered_map<std::string_view, const Registers*>> ranges_;
  std::map<std::pair<std::uint64_t, int>, std::uint32_t> constants_;  // (bits, width) -> place
  std::map<Special, std::uint32_t> specials_;                         // -> register
};

}  // namespace tilescope::ptx
