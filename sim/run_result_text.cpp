#include "sim/run_result_text.h"

#include <charconv>
#include <cstdio>

#include "base/json_codec.h"
#include "base/utf8.h"

namespace witan::sim {

namespace {

struct Numbers {
  std::uint64_t steps = 0, frames = 0, bytes = 0, decisions = 0, commits = 0, crashes = 0;
  std::int64_t simulated = 0;
  WITAN_MEMBERS(Numbers, steps, frames, bytes, decisions, commits, crashes, simulated)
};

struct FailureText {
  std::string checker, reason;
  std::int64_t at = 0;
  WITAN_MEMBERS(FailureText, checker, reason, at)
};

struct Probe {
  std::string name;
  std::uint64_t count = 0;
  static constexpr bool asTuple = true;
  WITAN_MEMBERS(Probe, name, count)
};

struct Form {
  std::string digest;
  std::optional<FailureText> failure;
  std::vector<Probe> probes;
  Numbers statistics;
  WITAN_MEMBERS(Form, digest, failure, probes, statistics)
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
    form.failure =
        FailureText{printable(result.failure->checker), printable(result.failure->reason), result.failure->at};
  for (const auto& [name, count] : result.probes) form.probes.push_back({name, count});
  const Statistics& s = result.statistics;
  form.statistics = {s.steps, s.frames, s.bytes, s.decisions, s.commits, s.crashes, s.simulated};
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
  if (form.failure) result.failure = Failure{form.failure->checker, form.failure->reason, form.failure->at};
  for (const Probe& probe : form.probes) result.probes[probe.name] = probe.count;
  const Numbers& n = form.statistics;
  result.statistics = {n.steps, n.frames, n.bytes, n.decisions, n.commits, n.crashes, n.simulated};
  return result;
}

}  // namespace witan::sim
