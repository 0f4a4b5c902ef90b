// The domain itself, and the workload of property tests, lint and simulator: plausible proposals, lawful and unlawful,
// for the state at hand.
#include "domains/verification/verification.h"

#include <array>

#include "domains/extension.h"
#include "domains/vocabulary.h"
#include "kernel/typed_module.h"
#include "rules/program/cvss.h"

namespace witan::domains::verification {

const Extension& Verification::extension() {
  static const Extension extension{.agents = {&workers::verifiedIntake()}};
  return extension;
}

namespace {

std::string anyName(Random& random) { return "F" + std::to_string(1 + random.below(8)); }

// A finding of the state, mostly; sometimes one that may not exist.
std::string knownName(const State& s, Random& random) {
  if (s.findings.size() == 0 || random.below(12) == 0) return anyName(random);
  return s.findings.key(static_cast<Slot>(random.below(s.findings.size())));
}

// One that waits in `phase`, if a few tries find any.
std::string nameIn(const State& s, Random& random, Phase phase) {
  for (int tries = 0; tries < 4; ++tries) {
    const std::string name = knownName(s, random);
    if (const Slot slot = s.findings.find(name); slot != kNoSlot && s.findings.row(slot).phase == phase) return name;
  }
  return knownName(s, random);
}

RunReproduction sampleRun(const State& s, Random& random) {
  RunReproduction run;
  run.f = nameIn(s, random, random.below(2) == 0 ? Phase::TRIAGED : Phase::REPRODUCED);
  run.env = pick<const char*, 3>(random, {"asan", "ubsan", "valgrind"});
  run.seed = static_cast<std::int64_t>(random.below(4));
  run.ok = random.below(4) != 0;
  if (random.below(8) != 0) run.trace = "sha256:" + std::to_string(random.below(1000));
  return run;
}

// Vectors of scores at the edges of the bands, and now and then another score, the wrong band or no vector at all.
AssessSeverity sampleSeverity(const State& s, Random& random) {
  constexpr std::array<const char*, 8> vectors{
      "AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", "AV:N/AC:H/PR:H/UI:R/S:U/C:L/I:L/A:L",
      "AV:N/AC:H/PR:N/UI:N/S:C/C:L/I:N/A:N", "AV:N/AC:L/PR:H/UI:R/S:C/C:H/I:L/A:N",
      "AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:L/A:L", "AV:N/AC:L/PR:L/UI:R/S:C/C:H/I:H/A:L",
      "AV:N/AC:L/PR:L/UI:R/S:C/C:H/I:H/A:H", "AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H"};
  AssessSeverity assess;
  assess.f = knownName(s, random);
  assess.vector = std::string("CVSS:3.1/") + pick(random, vectors);
  assess.score = Score::ofTenths(rules::cvssTenths(assess.vector).value_or(0));
  assess.b = enumName(random.below(10) == 0 ? static_cast<Band>(random.below(5)) : bandOf(assess.score));
  if (random.below(30) == 0) assess.score = Score::ofTenths(static_cast<std::int64_t>(random.below(102)));
  if (random.below(40) == 0) assess.vector = "garbage";
  return assess;
}

}  // namespace

Verification::AnyAction Verification::sample(const State& s, Random& random, Time) {
  const std::uint64_t draw = random.below(100);
  if (draw < 14)
    return SubmitFinding{anyName(random), "src/parse.c:" + std::to_string(random.below(500)),
                         pick<const char*, 3>(random, {"CWE-125", "CWE-416", "CWE-787"})};
  if (draw < 24) return LocateDefect{knownName(s, random), random.below(6) == 0 ? "" : "src/decode.c:77"};
  if (draw < 40) {
    TriageFinding triage{nameIn(s, random, Phase::SUBMITTED), pick<const char*, 2>(random, {"parser", "decoder"}), {}};
    if (random.below(2) == 0) triage.maintainer = "maintainer@example.org";
    return triage;
  }
  if (draw < 46) return MarkDuplicate{knownName(s, random), knownName(s, random)};
  if (draw < 68) return sampleRun(s, random);
  if (draw < 82) return sampleSeverity(s, random);
  const bool verified = random.below(4) != 0;
  return ProposeVerdict{nameIn(s, random, verified ? Phase::REPRODUCED : Phase::TRIAGED), random.below(40) == 0
                                                                                              ? "DUPLICATE"
                                                                                          : verified ? "VERIFIED"
                                                                                                     : "REFUTED"};
}

// Every fourth entity takes over a finding from elsewhere, reproduced there.
std::string Verification::sampleInit(Random& random, Time at) {
  if (random.below(4) != 0) return "{}";
  const std::string when = toJson(at);
  std::string runs;
  for (int seed = 1; seed <= 2; ++seed)
    runs += std::string(seed == 1 ? "" : ",") + R"({"f":"F1","env":"asan","seed":)" + std::to_string(seed) +
            R"(,"ok":true,"trace":"sha256:aa","at":)" + when + "}";
  return R"({"finding.phase":{"F1":"REPRODUCED"},"phase.log":{"F1":[["SUBMITTED",)" + when + R"(],["TRIAGED",)" + when +
         R"(],["REPRODUCED",)" + when + R"(]]},"repro.log":[)" + runs +
         R"(],"static.cwe":{"F1":"CWE-787"},"static.location":{"F1":"src/parse.c:1"}})";
}

std::string Verification::sampleEdit(const State&, const AnyAction& pending, std::string_view counselor, Random&,
                                     Time) {
  const auto* verdict = std::get_if<ProposeVerdict>(&pending);
  if (verdict == nullptr) return "{}";
  std::string edit = "{\"verdict.by\":{";
  appendJsonString(edit, verdict->f);
  edit += ':';
  appendJsonString(edit, counselor);
  return edit + "}}";
}

}  // namespace witan::domains::verification

WITAN_DEFINE_DOMAIN(verification, verification::Verification)
