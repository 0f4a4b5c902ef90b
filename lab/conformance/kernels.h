// The conformance suite of seed 004: K-01 to K-04 of its appendix for single episodes, of the experiments of its
// section 8 those that concern one episode (1, 2, 3, 5), and G-01 to G-03 with theorem 2 for graphs
// (lab/conformance/graph_checks.h), M-01 to M-04 for the market (lab/conformance/market_checks.h). Each check runs the
// real kernel on toys; its twin gives the same judge a history, a value or a kernel that breaks the law, and must be
// found out. Deterministic; a second or so in all.
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
