// From statements to instructions: private to core/ptx. One Decoder decodes one entry and what it
// calls, function after function.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/ptx/program.h"
#include "core/ptx/symbols.h"

namespace tilescope::ptx {

// A function with its body; of one that CUDA provides there is none.
struct Reached {
  const Function* function = nullptr;
  Body body;
  Builtin builtin = Builtin::none;
};

// The entry, and every function that can be called from it (calls.cpp). With `all`, what is refused
// goes there and is left out.
Outcome<std::vector<Reached>> reach(const Module& module, const Function& entry,
                                    std::vector<Error>* all = nullptr);

class Decoder {
 public:
  // With `all`, every refusal goes there, and decoding goes on behind it.
  Decoder(Program& program, const std::vector<Reached>& functions,
          std::vector<Error>* all = nullptr, std::uint64_t variables = variables_base,
          bool meets = true)
      : program_(program), functions_(functions), all_(all), variables_(variables), meets_(meets) {}
  bool run();
  const Error& error() const { return error_; }

 private:
  // What a name can mean.
  struct Meaning {
    enum class Kind : std::uint8_t {
      nothing,
      reg,
      memory,
      label,
      special,
      grid_workspace,  // a half of its address
      targets,
      function
    } kind = Kind::nothing;
    std::uint32_t index = 0;    // register, label's instruction, special, routine, Body::targets
    std::uint64_t address = 0;  // memory: within its space
    Space space = Space::generic;
    bool dynamic = false;       // dynamic shared memory: placed after everything static
    bool in_frame = false;      // address: from the beginning of the function's frame
    std::uint64_t bytes = 0;    // of a variable in the frame
    std::uint32_t element = 1;  // bytes of an element of a variable
    // Where `w`, this and an offset or index, is in memory.
    std::uint64_t place(const Written& w) const {
      return address + (w.indexed ? w.bits * element : w.bits);
    }
  };
  using Names = std::unordered_map<std::string_view, Meaning>;
  using Mentioned = std::unordered_set<std::string_view>;  // names in the bodies of one file

  // names (names.cpp)
  bool declare_module();
  void declare_functions(const Symbols& symbols);
  bool declare_variables(const Symbols& symbols, const std::vector<Mentioned>& mentioned);
  bool declare_function();
  bool place_in_frame(const Variable& variable, Names& names);
  bool declare_parameters(const std::vector<Parameter>& parameters, std::vector<Slot>& slots);
  void place_dynamic_shared();
  bool place(const Variable& variable, Names& names);
  bool place_drivers(std::string_view name, std::uint64_t bytes);
  std::string why_not_a_form(const Statement& s, const Opcode& row) const;
  void declare_registers();
  bool declare_labels();
  bool declare_targets();
  Meaning look_up(std::string_view name, std::uint32_t scope) const;
  Meaning numbered(std::string_view name, std::uint32_t scope) const;

  // calls (calls.cpp)
  bool call(const Statement& statement, Instruction& out);
  bool actuals(const Statement& s, const Written& list, bool results,
               std::vector<Operand>& operands, std::vector<Call::Actual>& out);
  bool fits(const Statement& s, const Call& call);

  // instructions (decode.cpp), their operands (operands.cpp)
  bool function(std::size_t number);
  bool instruction(const Statement& statement);
  bool guard(const Statement& statement, Instruction& out);
  bool operands(const Statement& statement, const Opcode& row, Instruction& out);
  bool operand(const Statement& s, const OperandRule& rule, Type type, const Written& w,
               Operand& out);
  bool hint_fits(const Statement& s, const Instruction& i);
  bool copy_fits(const Statement& s, const Instruction& i);
  bool can_be_written(const Instruction& i) const;
  bool special_forms(const Statement& statement, Instruction& out);
  bool registers_fit(const Statement& s, const Instruction& i);
  bool scale_fits(const Statement& s, const Instruction& i);
  bool group_fits(const Statement& s, const Instruction& i);
  bool bulk_copy_fits(const Statement& s, const Instruction& i);
  bool conversion_fits(const Statement& s, const Instruction& i);
  bool name(const Statement& s, const OperandRule& rule, Type type, const Written& w, Operand& out);
  bool number(const Statement& s, Type type, const Written& w, Operand& out);
  bool address(const Statement& s, Space space, const Written& w, Operand& out);
  bool place_address(const Statement& s, Space space, const Written& w, Operand& out);
  bool tensor_map(const Statement& s, const Written& w, Operand& out);
  bool coordinates(const Statement& s, const Written& w, const Instruction& i, Operand& out);
  bool offsets(const Statement& s, const Written& w, const Instruction& i, Operand& out);
  bool size_or_predicate(const Statement& s, const Written& w, Operand& out);
  bool vector(const Statement& s, const OperandRule& rule, Type type, const Written& w,
              Operand& out, Type first = Type::none);
  bool label(const Statement& s, const Written& w, Operand& out);
  bool branch_targets(const Statement& s, const Written& w, Operand& out);
  bool move_frame_address(const Statement& s, Instruction& out);
  Operand constant(Type type, std::uint64_t bits, bool in_shared = false);
  bool fail(const Statement& s, std::string_view what);
  bool refuse(std::uint32_t line, std::string sentence);

  // What the names of one function mean.
  struct FunctionNames {
    Names parameters;
    std::vector<Names> scopes;  // variables, labels and single registers of each
    std::vector<std::unordered_map<std::string_view, const Registers*>> ranges;
  };

  const Body& body() const { return functions_[routine_].body; }
  const FilePart& part_of(std::size_t routine) const {
    return program_.module->parts[functions_[routine].function->part];
  }
  Routine& routine() { return program_.routines[routine_]; }
  FunctionNames& names() { return names_[routine_]; }
  const FunctionNames& names() const { return names_[routine_]; }

  Program& program_;
  const std::vector<Reached>& functions_;
  std::size_t routine_ = 0;  // the function that is being decoded
  std::vector<Error>* all_ = nullptr;
  std::uint64_t variables_ = variables_base;  // where those of the module lie
  bool meets_ = true;                         // the grid may wait for itself
  Error error_;
  std::vector<Names> module_names_;   // of each of Module::parts
  std::vector<FunctionNames> names_;  // of functions_
  // (bits, width, whether it is an address of shared memory) -> place
  std::map<std::tuple<std::uint64_t, int, bool>, std::uint32_t> constants_;
  std::map<Special, std::uint32_t> specials_;  // -> register
};

}  // namespace tilescope::ptx
