// tcgen05.mma: atoms of one CTA or a pair (sm_100a), made from their parameters.
//
//     SM100_MMA_{KIND}[_2x1SM]_{SS|TS}<A,B,C,M,N,MAJOR_A,MAJOR_B>
//     SM100_MMA_{F16BF16|TF32}[_2x1SM]_{SS|TS}_SCALED<..., SCALE_C>     C times 2^-SCALE_C
//     SM100_MMA_{MXF8F6F4|MXF4}[_2x1SM]_SS<A,B,C,SCALE,M,N[,VS],MAJOR_A,MAJOR_B>
//     SM100_MMA_{KIND}[_2x1SM]_SS_SPARSE<...>          A 2:4 sparse, K twice as long; also MXF4NVF4
//     SM103_MXF4_ULTRA[_2x1SM]_SS_VS<A,B,C,SCALE,M,N,VS,MAJOR_A,MAJOR_B>        sm_103a, K 96
//
// A "thread" of these atoms is a CTA. One CTA holds everything; of a pair each holds half the rows
// of A, of B and of the accumulator (all columns of it). A lies in shared memory (SS) or in tensor
// memory (TS, K-major only), B in shared memory, the accumulator in TMEM. K is 32 bytes.
// Source: the static_asserts of CuTe's include/cute/arch/mma_sm100_umma.hpp and the traits in
// include/cute/atom/mma_traits_sm100.hpp; PTX ISA 9.7.16.2 (shapes).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/tensor/catalog.h"
#include "core/tensor/mma_names.h"

namespace tilescope {
namespace {

using E = ElementType;

struct Kind {
  std::string_view name;
  std::vector<ElementType> in, out;
  std::int64_t k;
  bool tensor_memory;  // whether there is a TS form
  bool scaled;         // a type of scale factors follows the accumulator's
  bool vector_size;    // and so does VS, behind N
  bool scaled_c_ss = false, scaled_c_ts = false;  // forms that scale the accumulator
  bool dense = true, sparse = true;
  std::vector<std::int64_t> vector_sizes = {16, 32};
  std::string_view prefix = "SM100_MMA_", suffix = "";
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"F16BF16", {E::f16, E::bf16}, {E::f32, E::f16}, 16, true, false, false, true, true},
      {"TF32", {E::tf32, E::f32}, {E::f32}, 8, true, false, false, false, true},
      {"S8", {E::s8, E::u8}, {E::s32}, 32, true, false, false},
      {"F8F6F4",
       {E::e4m3, E::e5m2, E::e2m3, E::e3m2, E::e2m1},
       {E::f32, E::f16},
       32,
       true,
       false,
       false},
      {"MXF8F6F4", {E::e4m3, E::e5m2, E::e2m3, E::e3m2, E::e2m1}, {E::f32}, 32, false, true, false},
      {"MXF4", {E::e2m1}, {E::f32}, 64, false, true, true, false, false, true, false},
      {"MXF4NVF4", {E::e2m1}, {E::f32}, 64, false, true, true, false, false, false, true, {32, 64}},
      {"MXF4_ULTRA",
       {E::e2m1},
       {E::f32},
       96,
       false,
       true,
       true,
       false,
       false,
       true,
       false,
       {16, 32},
       "SM103_",
       "_VS"}};
  return all;
}

// A form of a kind: F16BF16_2x1SM_SS.
struct Form {
  const Kind* kind = nullptr;
  bool pair = false, a_in_tmem = false;
  bool scaled_c = false, sparse = false;
};

// What its arguments say.
struct Parameters {
  ElementType a = E::f16, b = E::f16, c = E::f32;
  std::int64_t m = 0, n = 0;
  Major a_major = Major::k, b_major = Major::k;
};

// Steps of N, from that step up to 256, and the legal M.
struct Legal {
  std::vector<std::int64_t> m;
  std::int64_t n_step = 8;
  bool eight_too = false;  // N 8 besides multiples of 16
};

Legal legal_of(const Form& form, const Parameters& p) {
  const std::string_view kind = form.kind->name;
  const bool b_by_columns = p.b_major == Major::mn;
  Legal out;
  if (form.pair) {
    out.m = {128, 256};
    if (kind == "MXF8F6F4") out.m = {256};
    out.n_step = form.a_in_tmem || kind == "S8" ? 32 : 16;
    if (kind == "F8F6F4" && (b_by_columns || form.sparse)) out.n_step = 32;
    return out;
  }
  out.m = {64, 128};
  if (form.kind->scaled) out.m = {128};
  if (kind == "MXF4_ULTRA") out.n_step = 16;
  if (kind == "F8F6F4" && form.sparse) {
    out.n_step = p.m == 128 ? 16 : 8;
  } else if (kind == "S8") {
    out.n_step = 16;
    out.eight_too = true;
  } else if (form.a_in_tmem) {
    out.n_step = p.m == 128 ? 16 : 8;
  } else if (kind == "F8F6F4" && b_by_columns) {
    out.n_step = 16;
  }
  return out;
}

std::string text_of(const std::vector<std::int64_t>& numbers) {
  std::string out;
  for (const std::int64_t n : numbers) out += fmt::format("{}{}", out.empty() ? "" : " or ", n);
  return out;
}

std::string text_of(const std::vector<ElementType>& types) {
  std::string out;
  for (const ElementType t : types) out += fmt::format("{}{}", out.empty() ? "" : " ", name_of(t));
  return out;
}

std::string n_text(const Legal& legal) {
  return fmt::format("{}{}, {} .. 256", legal.eight_too ? "8, " : "", legal.n_step,
                     2 * legal.n_step);
}

bool legal_n(const Legal& legal, std::int64_t n) {
  return (n % legal.n_step == 0 && n >= legal.n_step && n <= 256) || (legal.eight_too && n == 8);
}

// Reads the arguments one by one; the first that is not what should stand there is the problem.
class Reader {
 public:
  explicit Reader(const AtomSpelling& spelling) : spelling_(spelling) {}

  ElementType type(std::string_view what, const std::vector<ElementType>& legal) {
    const std::string_view word = next();
    const std::optional<ElementType> found = element_named(word);
    if (found && std::find(legal.begin(), legal.end(), *found) != legal.end()) return *found;
    fail(fmt::format("{} of type {}: legal are {}.", what, word, text_of(legal)));
    return legal[0];
  }
  std::int64_t number(std::string_view what) {
    const std::string_view word = next();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) {
      fail(fmt::format("{} is `{}`, and should be a number.", what, word));
    }
    return value;
  }
  Major major(std::string_view what) {
    const std::string_view word = next();
    if (word != "K" && word != "MN") {
      fail(fmt::format("the major of {} is `{}`; K and MN are.", what, word));
    }
    return word == "MN" ? Major::mn : Major::k;
  }
  void fail(const std::string& sentence) {
    if (!problem_) problem_ = no_atom(spelling_, sentence);
  }
  const std::optional<Error>& problem() const { return problem_; }

 private:
  std::string_view next() { return spelling_.arguments[at_++]; }

  const AtomSpelling& spelling_;
  std::size_t at_ = 0;
  std::optional<Error> problem_;
};

std::string arguments_of(const Form& form) {
  return fmt::format("<A,B,C,{}M,N,{}MAJOR_A,MAJOR_B{}>", form.kind->scaled ? "SCALE," : "",
                     form.kind->vector_size ? "VS," : "", form.scaled_c ? ",SCALE_C" : "");
}

Outcome<Parameters> parameters_of(const AtomSpelling& s, const Form& form) {
  const std::size_t count = 7u + form.kind->scaled + form.kind->vector_size + form.scaled_c;
  if (s.arguments.size() != count) {
    return no_atom(s, fmt::format("it takes {} arguments, {}, and here are {}.", count,
                                  arguments_of(form), s.arguments.size()));
  }
  Reader read(s);
  Parameters p;
  p.a = read.type("A", form.kind->in);
  p.b = read.type("B", form.kind->in);
  p.c = read.type("the accumulator", form.kind->out);
  // PTX ISA, tcgen05.mma (data types of .kind::f16): D is f16 only where A and B are.
  if (form.kind->name == "F16BF16" && p.c == E::f16 && (p.a != E::f16 || p.b != E::f16)) {
    read.fail(
        fmt::format("accumulators of f16 with A {} and B {}: both are f16 then; f32 goes "
                    "with each type.",
                    name_of(p.a), name_of(p.b)));
  }
  const E scale = form.kind->scaled ? read.type("scale factors", {E::ue8m0, E::ue4m3}) : E::ue8m0;
  p.m = read.number("M");
  p.n = read.number("N");
  if (form.kind->vector_size) {
    const std::int64_t vs = read.number("VS");
    const std::vector<std::int64_t>& legal = form.kind->vector_sizes;
    if (std::find(legal.begin(), legal.end(), vs) == legal.end()) {
      read.fail(fmt::format("VS is {}; legal is {}.", vs, text_of(legal)));
    }
    if (form.kind->name == "MXF4_ULTRA" && vs == 32 && scale != E::ue8m0) {
      read.fail("VS 32 goes with scale factors of type ue8m0; others have VS 16.");
    }
  }
  p.a_major = read.major("A");
  p.b_major = read.major("B");
  constexpr std::int64_t most_scale = 15;  // scale-input-d (PTX ISA, tcgen05.mma)
  if (const std::int64_t down = form.scaled_c ? read.number("SCALE_C") : 0;
      down < 0 || down > most_scale) {
    read.fail(fmt::format("SCALE_C is {}; 0 to {} are legal.", down, most_scale));
  }
  const Legal legal = legal_of(form, p);
  if (std::find(legal.m.begin(), legal.m.end(), p.m) == legal.m.end()) {
    read.fail(fmt::format("M is {}, and legal is {} for {}.", p.m, text_of(legal.m),
                          form.pair ? "a pair of CTAs" : "one CTA"));
  }
  if (!legal_n(legal, p.n)) {
    read.fail(fmt::format("N is {}, and legal are {} for M {}.", p.n, n_text(legal), p.m));
  }
  if (form.a_in_tmem && p.a_major == Major::mn) {
    read.fail("A in TMEM is K-major; MN is for A in shared memory (SS).");
  }
  if (form.kind->vector_size && (p.a_major == Major::mn || p.b_major == Major::mn)) {
    read.fail("4-bit operands are K-major.");
  }
  if (read.problem()) return *read.problem();
  return p;
}

// An operand of `rows` x `columns`, its rows dealt out to one CTA or two.
Layout spread(std::int64_t rows, std::int64_t columns, bool pair) {
  if (!pair) {
    return make_layout_of(Layout(1, 0), make_layout_of(Layout(rows, 1), Layout(columns, rows)));
  }
  return make_layout_of(Layout(2, rows / 2),
                        make_layout_of(Layout(rows / 2, 1), Layout(columns, rows)));
}

std::optional<Form> form_of(std::string_view base) {
  for (const Kind& kind : kinds()) {
    std::string_view rest = base;
    if (!mma_names::take(rest, kind.prefix) || !mma_names::take(rest, kind.name) ||
        !mma_names::take(rest, "_")) {
      continue;
    }
    Form form;
    form.kind = &kind;
    form.pair = mma_names::take(rest, "2x1SM_");
    form.a_in_tmem = mma_names::take(rest, "TS");
    if (form.a_in_tmem ? !kind.tensor_memory : !mma_names::take(rest, "SS")) continue;
    form.scaled_c = (form.a_in_tmem ? kind.scaled_c_ts : kind.scaled_c_ss) && rest == "_SCALED";
    form.sparse = kind.sparse && !form.a_in_tmem && rest == "_SPARSE";
    if ((kind.dense && rest == kind.suffix) || form.scaled_c || form.sparse) return form;
  }
  return std::nullopt;
}

AtomAnswer make(const AtomSpelling& s) {
  if (s.base.substr(0, 5) == "SM100" && s.base.find("_INTERLEAVED_") != s.base.npos) {
    return no_atom(s,
                   "complex numbers whose parts are interleaved in TMEM are not there; "
                   "SM100_MMA_TF32_TS<tf32,tf32,f32,128,256,K,K> multiplies real ones.");
  }
  const std::optional<Form> form = form_of(s.base);
  if (!form) return std::nullopt;
  const Outcome<Parameters> p = parameters_of(s, *form);
  if (!p) return p.error();
  const std::int64_t k = form->sparse ? 2 * form->kind->k : form->kind->k;
  MmaAtom out;
  out.name = AtomName(s.whole);
  out.source = "cute/atom/mma_traits_sm100.hpp; PTX ISA tcgen05.mma";
  out.shape_mnk = make_tuple_of(p->m, p->n, k);
  out.thr_id = form->pair ? Layout(2, 1) : Layout(1, 0);
  out.a = {p->a, form->a_in_tmem ? Memory::tmem : Memory::smem, p->a_major,
           spread(p->m, k, form->pair)};
  if (form->sparse) out.a.sparsity = 2;
  out.b = {p->b, Memory::smem, p->b_major, spread(p->n, k, form->pair)};
  out.c = {p->c, Memory::tmem, Major::none, spread(p->m, p->n, form->pair)};
  return Atom(out);
}

std::string base_name(const Form& form) {
  return fmt::format("{}{}_{}{}{}{}{}", form.kind->prefix, form.kind->name,
                     form.pair ? "2x1SM_" : "", form.a_in_tmem ? "TS" : "SS", form.kind->suffix,
                     form.scaled_c ? "_SCALED" : "", form.sparse ? "_SPARSE" : "");
}

template <class F>
void each_form(F f) {
  for (const Kind& kind : kinds()) {
    for (const bool pair : {false, true}) {
      for (const bool a_in_tmem : {false, true}) {
        if (kind.dense && (!a_in_tmem || kind.tensor_memory)) f(Form{&kind, pair, a_in_tmem});
        const bool scaled_c = a_in_tmem ? kind.scaled_c_ts : kind.scaled_c_ss;
        if (scaled_c) f(Form{&kind, pair, a_in_tmem, true});
        if (kind.sparse && !a_in_tmem) f(Form{&kind, pair, false, false, true});
      }
    }
  }
}

void list(std::vector<AtomFamily>& out) {
  each_form([&](const Form& form) {
    const Kind& kind = *form.kind;
    const std::int64_t m = form.pair ? 256 : 128;
    const Legal legal = legal_of(form, {.m = m});
    out.push_back(
        {fmt::format("{}<{},{},{},{}{},256,{}K,K{}>", base_name(form), name_of(kind.in[0]),
                     name_of(kind.in[0]), name_of(kind.out[0]), kind.scaled ? "ue8m0," : "", m,
                     kind.vector_size ? "32," : "", form.scaled_c ? ",1" : ""),
         fmt::format("A, B {}; C {}; M {}; N {}; majors {}", text_of(kind.in), text_of(kind.out),
                     text_of(legal.m), n_text(legal),
                     kind.vector_size ? "K"
                     : form.a_in_tmem ? "A K, B K or MN"
                                      : "K or MN")});
  });
}

void list_names(std::vector<std::string>& out) {
  each_form([&](const Form& form) { out.push_back(base_name(form)); });
}

}  // namespace

const AtomMaker tcgen05_mmas = {make, list, list_names};

}  // namespace tilescope
