// Seed 001, IX-2: its ten conditions, each run twice; and for each a broken twin that must be found out.
#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/check.h"
#include "coordination/coordinate.h"
#include "coordination/setup.h"
#include "lab/commands/lab_commands.h"

namespace witan::node {

using namespace kernel::joint;

namespace {

struct Twin {
  std::string_view name;
  Injection injection;
  const char* title;
};

// Together they make every auditor fire. E is the other way round: without its fault the auditor must be silent.
constexpr std::array<Twin, 10> kTwins{{
    {"A", Injection::implicit_priority, "a kernel that serves one at a time"},
    {"B", Injection::infinite_retry, "a kernel that never calls it livelock"},
    {"C", Injection::unauthorized_execution, "a kernel that does not hear the veto"},
    {"D", Injection::temporal_aggregation, "a kernel that gives in after two refusals"},
    {"E", Injection::none, "no fault, so that nothing must be found and E must fail"},
    {"F", Injection::nonterminating_condition, "a kernel that goes on beyond the maximum"},
    {"G", Injection::authority_theft, "a kernel that lets who stays inherit"},
    {"H", Injection::tie_break, "a kernel that breaks ties"},
    {"I.a", Injection::constraint_probing, "a kernel that tells from which pass a refusal came"},
    {"I.b", Injection::nondeterministic_execution, "a kernel that remembers earlier runs"},
}};

// The preregistration: the digest of each condition's log, frozen. A change of a vector, of the kernel or of the form
// of the log shows here, and is to be said in docs/coordination.md.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kFrozen{{
    {"A", "2db80d6dcc1dec71183c065653422a6b9a12f0d4713351dd075573df72f3980a"},
    {"B", "02e7556fbf5b3c54779b5f3ac71f7fa3595c2e042a09fd7a8575f6b555cc822a"},
    {"C", "d64f6e4c15f875e0042db1c11ce88427d9b4820f9ba4e7c192f8e436d7c78b62"},
    {"D", "e017a284e6760baffffa33f5a48f6cb231e50836a7670eaa9e5fb8163e862b24"},
    {"E", "21f8c9af2731fffe41020a4067a60d0cc2fe134a4870c33992f378073ecdc88c"},
    {"F", "f3f7e85425c0e4b13828d8f80282a274f9cee4a65be3b04e49380a666d857d71"},
    {"G", "e0493e77090ebfa6ae96f68f89936a310b0044b862be1267bfe17a62670e3821"},
    {"H", "1fdd62548a818b472383e238f681f2041786e46a4c45a2818be906789cc03e9e"},
    {"I.a", "ecd0c334305fc50d943af473926549e6b01519ba6303f13c7deb2c97a0c1d902"},
    {"I.b", "ea1eff72656baa71d175a083b20ea3e0f27cf021ba29f38c15a4b415d9150194"},
}};

bool isFrozen(std::string_view condition, const Hash& digest) {
  const auto frozen = std::ranges::find(kFrozen, condition, &std::pair<std::string_view, std::string_view>::first);
  return frozen != kFrozen.end() && frozen->second == toHex(digest);
}

std::string orNone(const std::optional<std::string>& word) { return word.value_or("none"); }

Setup setupOf(const ShippedVector& vector) {
  auto setup = readSetup(vector.text);
  WITAN_CHECK(setup.ok(), setup.ok() ? "" : setup.error().message);
  return *std::move(setup);
}

Verdict runQuietly(const Setup& setup, std::uint32_t earlierRuns = 0) {
  return coordinate(
      setup, [](std::string_view) {}, earlierRuns);
}

std::string told(const Verdict& v) {
  return concat("terminal ", orNone(v.terminal), ", kernel ", orNone(v.kernel), ", ", v.epochs,
                v.epochs == 1 ? " epoch" : " epochs", ", final state ", v.finalState);
}

ConformanceRow condition(const ShippedVector& vector) {
  const Setup setup = setupOf(vector);
  const Verdict first = runQuietly(setup), second = runQuietly(setup, 1);
  const bool same = first.digest == second.digest;
  std::string detail = told(first) + ", digest " + toHex(first.digest).substr(0, 16) +
                       (same ? " twice" : " and " + toHex(second.digest).substr(0, 16));
  const bool frozen = isFrozen(vector.name, first.digest);
  detail += frozen ? ", as preregistered" : ", which is not the preregistered log";
  if (!first.why.empty()) detail += "; " + first.why;
  return {std::string(vector.name), setup.title, first.pass && same && frozen, std::move(detail)};
}

ConformanceRow twinOf(const ShippedVector& vector) {
  Setup setup = setupOf(vector);
  for (const Twin& twin : kTwins) {
    if (twin.name != vector.name) continue;
    setup.injection = twin.injection;
    const Verdict verdict = runQuietly(setup);
    const bool fault = twin.injection != Injection::none;
    const bool found = verdict.kernel == dueKernelClass(twin.injection) && !verdict.pass &&
                       (!fault || !isFrozen(vector.name, verdict.digest));
    std::string detail = "found: " + orNone(verdict.kernel);
    if (!verdict.findings.empty()) detail += " (" + verdict.findings.front().detail + ")";
    if (!found) detail += ", due is " + orNone(dueKernelClass(twin.injection));
    return {concat(vector.name, "/twin"), concat("must fail: ", twin.title), found, std::move(detail)};
  }
  WITAN_CHECK(false, "each shipped vector has a twin");
  return {};
}

}  // namespace

void runIx2Suite(const ConformanceOptions& options, const EmitRow& emit) {
  for (const ShippedVector& vector : shippedVectors()) {
    if (!vector.name.starts_with(options.only)) continue;
    emit(condition(vector));
    if (options.proveIt) emit(twinOf(vector));
  }
}

}  // namespace witan::node
