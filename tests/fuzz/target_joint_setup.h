// Any bytes as a setup of joint admissibility. What is read runs, its log is canonical JSON, the auditors agree with a
// lawful kernel, and a broken one ends too.
#pragma once

#include "base/check.h"
#include "coordination/coordinate.h"

namespace witan::fuzz {

inline void fuzzJointSetup(std::string_view bytes) {
  using namespace kernel::joint;
  const auto setup = readSetup(bytes, {.bytes = 1 << 16, .agents = 50, .epochs = 50, .logBytes = 1 << 22});
  if (!setup.ok()) {
    WITAN_CHECK(!setup.error().message.empty(), "an error has words");
    return;
  }
  std::string log;
  const Verdict verdict = coordinate(*setup, [&](std::string_view piece) { log += piece; });
  const auto value = parseJson(log, {.bytes = log.size()});
  WITAN_CHECK(value.ok() && canonicalJson(*value) == log, "the log is canonical JSON");
  WITAN_CHECK(setup->injection != Injection::none || !verdict.kernel, "nothing is found in a lawful run");
}

}  // namespace witan::fuzz
