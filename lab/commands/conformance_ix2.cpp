// Seed 001, IX-2: its ten conditions, each run twice; and for each a broken twin that must be found out.
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
  if (!first.why.empty()) detail += "; " + first.why;
  return {std::string(vector.name), setup.title, first.pass && same, std::move(detail)};
}

ConformanceRow twinOf(const ShippedVector& vector) {
  Setup setup = setupOf(vector);
  for (const Twin& twin : kTwins) {
    if (twin.name != vector.name) continue;
    setup.injection = twin.injection;
    const Verdict verdict = runQuietly(setup);
    const bool found = verdict.kernel == dueKernelClass(twin.injection) && !verdict.pass;
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
