#include "app/proofs.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/reports.h"

namespace tilescope {
namespace {

using ProofVerdict = sim::Proof::Verdict;

std::string number(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string_view name_of(sim::Reversal::Kind kind) {
  switch (kind) {
    case sim::Reversal::Kind::mbarrier:
      return "mbarrier";
    case sim::Reversal::Kind::barrier:
      return "barrier";
    case sim::Reversal::Kind::exit:
      return "exit";
    default:
      return "memory";
  }
}

std::string text(const sim::Proof::Pair& pair) {
  const std::string earlier = text(pair.earlier), later = text(pair.later);
  switch (pair.kind) {
    case sim::Reversal::Kind::mbarrier:
      return fmt::format(
          "what comes to an mbarrier by {} does not come behind what completed the "
          "phase before, at {}: it could come in that phase",
          later, earlier);
    case sim::Reversal::Kind::exit:
      return fmt::format(
          "{} accesses the memory of another CTA of the cluster, which may have ended by "
          "then",
          earlier);
    case sim::Reversal::Kind::barrier:
      return fmt::format(
          "the arrival at {} does not come behind the one of the round before, at {}: "
          "it could come in that round",
          later, earlier);
    default:
      return fmt::format(
          "{} and {} access one place, which one of them writes: either could be first", earlier,
          later);
  }
}

std::string_view name_of(ProofVerdict verdict) {
  return verdict == ProofVerdict::proved  ? "proved"
         : verdict == ProofVerdict::fails ? "fails"
                                          : "open";
}

}  // namespace

std::optional<double> seconds_of(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, wrong] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (wrong != std::errc{} || !std::isfinite(value) || value <= 0) return std::nullopt;
  if (unit.empty() || unit == "s") return value;
  if (unit == "m") return 60 * value;
  return std::nullopt;
}

Outcome<Proved> prove_orders(const PreparedRun& run, const Order& order, double seconds,
                             Terminal& terminal) {
  constexpr std::uint64_t piece = 100'000;  // warp instructions
  const auto began = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  Outcome<sim::Proof> begun = sim::Proof::begin(run.job, simulator_options(order));
  if (!begun) return begun.error();
  Proved out{std::move(*begun)};
  watch_for_interrupt();
  for (;;) {
    const Outcome<ProofVerdict> verdict = out.proof.advance(piece);
    if (!verdict) return verdict.error();
    if (*verdict != ProofVerdict::running) break;
    terminal.progress("prove: " + out.proof.doing(), std::min(1.0, passed() / seconds));
    if (passed() > seconds) {
      out.cut_short = true;
      out.proof.stop();
      break;
    }
    if (interrupted()) {
      terminal.end_progress();
      return Error{ErrorKind::interrupted,
                   fmt::format("Interrupted after {}; nothing is proved, and nothing was written.",
                               number(out.proof.runs() + out.proof.searched(), "order")),
                   ""};
    }
  }
  terminal.end_progress();
  out.seconds = passed();
  return out;
}

std::string text(const Proved& proved) {
  const sim::Proof& p = proved.proof;
  const std::string tried = number(p.runs() + p.searched(), "order");
  switch (p.verdict()) {
    case ProofVerdict::proved:
      return fmt::format(
          "prove: proved: no deadlock, no race, one result in every order. {} ({} run)\n",
          p.orders() >= 0.5
              ? fmt::format("None of {} can change places with another one and mean something "
                            "else, in any of 10^{:.0f} orders",
                            number(p.steps(), "synchronising step"), p.orders())
              : "Its warps have nothing to tell each other in one order or another",
          tried);
    case ProofVerdict::fails:
      return fmt::format("prove: fails in {}; {} run\n", p.failure()->how, tried);
    default:
      break;
  }
  const bool some = std::log10(static_cast<double>(p.runs() + p.searched())) < p.orders();
  std::string out =
      fmt::format("prove: not proved; no fault in {}{}, in {:.1f} s{}\n", tried,
                  some ? fmt::format(" of 10^{:.0f}", p.orders()) : "", proved.seconds,
                  proved.cut_short ? ": more time with --within" : "");
  for (const std::string& reason : p.reasons()) out += fmt::format("  {}\n", reason);
  for (const sim::Proof::Pair& pair : p.pairs()) out += fmt::format("  {}\n", text(pair));
  return out;
}

nlohmann::ordered_json to_json(const Proved& proved) {
  const sim::Proof& p = proved.proof;
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (const sim::Proof::Pair& pair : p.pairs()) {
    pairs.push_back({{"kind", name_of(pair.kind)},
                     {"earlier", text(pair.earlier)},
                     {"later", text(pair.later)}});
  }
  nlohmann::ordered_json out = {
      {"verdict", name_of(p.verdict())}, {"steps", p.steps()},        {"orders_log10", p.orders()},
      {"runs", p.runs() + p.searched()}, {"seconds", proved.seconds}, {"reasons", p.reasons()},
      {"pairs", std::move(pairs)},       {"fails_in", nullptr}};
  if (p.failure()) {
    out["fails_in"] = p.failure()->how;
    out["reports"] = to_json(p.failure()->reports);
  }
  return out;
}

}  // namespace tilescope
