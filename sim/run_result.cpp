#include "sim/run.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/json_codec.h"
#include "base/utf8.h"
#include "sim/draw.h"

namespace witan::sim {

namespace {

struct Probe {
  WITAN_DECLARED(Probe, (std::string, name), (std::uint64_t, count))
  static constexpr bool asTuple = true;
};

struct Form {
  WITAN_DECLARED(Form, (std::string, digest), (std::optional<Failure>, failure), (std::vector<Probe>, probes),
                 (Statistics, statistics))
};

// What a checker says may quote bytes of a hostile peer, and may be long.
std::string printable(std::string_view text) {
  constexpr std::size_t kMostText = 4'000;
  const bool clean = isUtf8(text);
  std::string out;
  for (const char c : text.substr(0, kMostText)) out += clean || (c >= ' ' && c <= '~') ? c : '?';
  while (!isUtf8(out)) out.pop_back();  // a character was cut
  return out;
}

using Digests = std::vector<std::uint64_t>;

std::size_t firstDifference(const Digests& a, const Digests& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

// The last line told before the digest of `step` was made: only in a third run, because text takes time.
std::string toldAt(const Plan& plan, const Runner& run, std::size_t step) {
  Digests digests;
  std::string line;
  RunOptions options;
  options.digests = &digests;
  options.trace = [&](const TraceLine& told) {
    if (digests.size() > step) return;
    line = concat(told.at, " us: ");
    line += told.what;
    line += told.detail.empty() ? "" : " ";
    line += told.detail;
  };
  run(plan, options);
  return line;
}

}  // namespace

std::string hexDigest(std::uint64_t digest) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(digest));
  return text;
}

std::string writeRunResult(const RunResult& result) {
  Form form;
  form.digest = hexDigest(result.digest);
  if (result.failure)
    form.failure = Failure{printable(result.failure->checker), printable(result.failure->reason), result.failure->at};
  for (const auto& [name, count] : result.probes) form.probes.push_back({name, count});
  form.statistics = result.statistics;
  return toJson(form);
}

Result<RunResult> readRunResult(std::string_view text) {
  WITAN_TRY(value, parseJson(text));
  Form form;
  WITAN_DO(readJson(value, form, "result"));
  RunResult result;
  const auto [end, failure] =
      std::from_chars(form.digest.data(), form.digest.data() + form.digest.size(), result.digest, 16);
  if (failure != std::errc{} || end != form.digest.data() + form.digest.size())
    return invalid("result.digest: not hexadecimal");
  result.failure = std::move(form.failure);
  for (const Probe& probe : form.probes) result.probes[probe.name] = probe.count;
  result.statistics = form.statistics;
  return result;
}

RunResult runTwice(const Plan& plan, const Runner& run) {
  Digests first, second;
  RunResult result = run(plan, {.digests = &first});
  const RunResult again = run(plan, {.digests = &second});
  const bool sameEnd = result.failure.has_value() == again.failure.has_value() &&
                       (!result.failure || (result.failure->checker == again.failure->checker &&
                                            result.failure->reason == again.failure->reason));
  if (result.digest == again.digest && first == second && sameEnd) return result;
  if (result.failure) {
    result.failure->reason += " (and a second run of the same plan went differently)";
    return result;
  }
  const std::size_t step = firstDifference(first, second);
  std::string reason = "two runs of one plan differ";
  if (step < std::max(first.size(), second.size())) {
    reason += concat(" from step ", step, " on (of ", first.size(), " and ", second.size(), ")");
    if (const std::string line = toldAt(plan, run, step); !line.empty()) reason += "; about there: " + line;
  } else {
    reason += " in their results only";
  }
  result.failure = Failure{"determinism", reason, result.statistics.simulated};
  return result;
}

bool chosenForTwice(std::uint64_t seed, std::int64_t perMillion) {
  SeededRandom random(streamSeed(seed, "twice"));
  return static_cast<std::int64_t>(random.below(1'000'000)) < perMillion;
}

}  // namespace witan::sim
