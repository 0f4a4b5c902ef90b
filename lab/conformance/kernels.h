// The conformance suite of seeds 003 and 004: K-01 to K-04 of the appendix and law 5 for single episodes, the
// experiments of section 8, G-01 to G-03 with theorem 2 for graphs (lab/conformance/graph_checks.h), M-01 to M-04 for
// the market (lab/conformance/market_checks.h); F-1 to F-7 are the test obligations of seed 003, section 11. The checks
// of episodes run on toys and on AgentHost (lab/conformance/running_checks.h); each twin gives the same judge a
// history, a value or a kernel that breaks the law, and must be found out. Deterministic; some seconds in all.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace witan::agents::conformance {

struct Finding {
  bool pass = false;
  std::string detail;
};

struct KernelCheck {
  std::string_view id;  // "K-01", "E-1"
  std::string_view title;
  std::string_view twinTitle;  // what the twin breaks
  Finding (*run)();
  Finding (*twin)();  // pass: it was found out
};

std::span<const KernelCheck> kernelChecks();

}  // namespace witan::agents::conformance
