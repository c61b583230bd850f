#include "app/values.h"

#include <nlohmann/json.hpp>

#include "core/layout/text.h"

namespace tilescope {
namespace {

using Json = nlohmann::ordered_json;

Json number(const Int& n) {
  return n.known() && n.axis.none() ? Json(n.value) : Json(text(n));
}

Json tuple(const Tuple& t) {
  if (t.scalar()) return number(t.leaf[0]);
  Json out = Json::array();
  for (int i = 0; i < t.rank(); ++i) out.push_back(tuple(t.mode(i)));
  return out;
}

Json swizzle(Swizzle s) {
  return {{"bits", s.bits}, {"base", s.base}, {"shift", s.shift}};
}

Json layout(const Layout& l) {
  Json out = {{"shape", tuple(l.shape())}, {"stride", tuple(l.stride())}};
  if (l.plain()) return out;
  out["swizzle"] = swizzle(l.swizzle);
  out["offset"] = number(l.offset);
  return out;
}

Json operand(const MmaOperand& o) {
  Json out = {{"type", name_of(o.type)}, {"memory", name_of(o.memory)}, {"layout", layout(o.tv)}};
  if (o.major != Major::none) out["major"] = name_of(o.major);
  return out;
}

Json mma_atom(const MmaAtom& atom) {
  return {{"name", atom.name.view()},
          {"source", atom.source},
          {"shape", tuple(atom.shape_mnk)},
          {"threads", layout(atom.thr_id)},
          {"A", operand(atom.a)},
          {"B", operand(atom.b)},
          {"C", operand(atom.c)}};
}

Json copy_atom(const CopyAtom& atom) {
  return {
      {"name", atom.name.view()}, {"source", atom.source},          {"from", name_of(atom.from)},
      {"to", name_of(atom.to)},   {"threads", layout(atom.thr_id)}, {"value", name_of(atom.value)},
      {"src", layout(atom.src)},  {"dst", layout(atom.dst)},        {"ref", layout(atom.ref)}};
}

struct Data {
  Json operator()(const Tuple& t) const { return tuple(t); }
  Json operator()(const Layout& l) const { return layout(l); }
  Json operator()(const Tiler& t) const { return text(t); }
  Json operator()(Swizzle s) const { return swizzle(s); }
  Json operator()(const Slice& s) const {
    Json out = {{"offset", (*this)(s.offset)}};
    if (!s.layout.modes.empty()) out["layout"] = layout(s.layout);
    return out;
  }
  // A number, a coordinate as an array, or {"TLane": 3, "TCol": 4}; the offset's name is "".
  Json operator()(const Place& p) const {
    if (p.plain()) return number(p.offset());
    if (const Result<Tuple> coordinate = coordinate_of(p)) return tuple(*coordinate);
    Json out = Json::object();
    for (int i = 0; i < p.parts; ++i) {
      Int plain = p.part[i];
      plain.axis = {};
      const std::string axis = text(p.part[i].axis);
      out[axis.empty() ? axis : axis.substr(1)] = number(plain);
    }
    return out;
  }
  Json operator()(const ThreadValue& tv) const {
    return {{"tiler", tuple(tv.tiler)}, {"layout", layout(tv.layout)}};
  }
  Json operator()(const Numbers& numbers) const { return numbers; }
  Json operator()(const Tuples& tuples) const {
    Json out = Json::array();
    for (const Tuple& t : tuples) out.push_back(tuple(t));
    return out;
  }
  Json operator()(const Places& places) const {
    Json out = Json::array();
    for (const Place& p : places) out.push_back((*this)(p));
    return out;
  }
  Json operator()(const Shared<TileLayout>& x) const {
    Json out = Json::object();
    if (!x->shard.modes.empty()) out["shard"] = layout(x->shard);
    if (!x->replica.modes.empty()) out["replica"] = layout(x->replica);
    out["offset"] = (*this)(x->offset);
    if (!x->swizzle.identity()) out["swizzle"] = swizzle(x->swizzle);
    return out;
  }
  Json operator()(const Verdict& v) const { return {{"value", v.value}, {"because", v.because}}; }
  Json operator()(const Shared<MmaAtom>& atom) const { return mma_atom(*atom); }
  Json operator()(const Shared<CopyAtom>& atom) const { return copy_atom(*atom); }
  Json operator()(const Shared<TiledMma>& mma) const {
    return {{"thr_layout_vmnk", layout(mma->thr_layout_vmnk)},
            {"permutation", text(mma->permutation)},
            {"atom", mma_atom(mma->atom)}};
  }
  Json operator()(const Shared<TiledCopy>& copy) const {
    return {{"tiler", tuple(copy->tiler)},
            {"layout_tv", layout(copy->layout_tv)},
            {"atom", copy_atom(copy->atom)}};
  }
  Json operator()(const Tensor& t) const {
    Json out = {
        {"memory", name_of(t.memory)}, {"type", name_of(t.type)}, {"offset", (*this)(t.offset)}};
    if (!t.alone()) out["layout"] = layout(t.layout);
    return out;
  }
  Json operator()(const Facts& facts) const {
    Json out = Json::object();
    for (const Fact& fact : facts) {
      std::visit([&](const auto& each) { out[std::string(fact.name)] = each; }, fact.value);
    }
    return out;
  }
};

}  // namespace

Json data_of(const Value& value) {
  return std::visit(Data{}, value);
}

Json data_of(const Derivation& steps) {
  Json out = Json::array();
  for (const DerivationStep& step : steps) {
    Json each = {{"level", step.level},
                 {"operation", step.operation},
                 {"operands", step.operands},
                 {"result", step.result},
                 {"sentence", step.sentence}};
    if (step.layout) each["layout"] = layout(*step.layout);
    out.push_back(std::move(each));
  }
  return out;
}

// A result of several lines stands below the call, indented.
std::string derivation_text(const Derivation& steps) {
  std::string out;
  for (const DerivationStep& step : steps) {
    const std::string indent(static_cast<std::size_t>(2 * step.level), ' '),
        deeper = indent + "    ";
    out += indent + step.operation;
    if (!step.operands.empty()) out += " " + step.operands;
    const bool lines = step.result.find('\n') != std::string::npos;
    if (!step.result.empty()) out += lines ? " =\n" + deeper : " = ";
    for (const char c : step.result) {
      out += c;
      if (c == '\n') out += deeper;
    }
    out += "\n";
    if (!step.sentence.empty()) out += deeper + step.sentence + "\n";
  }
  return out;
}

}  // namespace tilescope
