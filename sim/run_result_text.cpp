#include "sim/run.h"

#include <charconv>
#include <cstdio>

#include "base/json_codec.h"
#include "base/utf8.h"

namespace witan::sim {

namespace {

struct Probe {
  std::string name;
  std::uint64_t count = 0;
  static constexpr bool asTuple = true;
  WITAN_MEMBERS(Probe, name, count)
};

struct Form {
  std::string digest;
  std::optional<Failure> failure;
  std::vector<Probe> probes;
  Statistics statistics;
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

}  // namespace witan::sim
