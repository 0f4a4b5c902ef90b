// Prover: decides with Z3, for all lawful states of a rule file at once, what `witan domain lint` only samples:
// which rules a process keeps by itself, which rules need roles to be coordinated, which processes may go in any order.
//
// Lawful: every invariant passes. A state has at most `rows` rows a table and kListElements elements a list or map.
// The time is of the years 1970 to 2099. A clock only goes on: invariants are taken to hold on as it does (`witan
// domain test` tries that). Whatever has no term, or is not answered in time, is unknown. A "no" is an example that the
// module itself has played. Each "yes" was asked with its twin: the premise alone, which some state must fulfil.
//
// Deterministic for one version of Z3, but for answers that come near a limit of time. Each of the three sorts of
// claims may take a third of the time, and what those before it left. One thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "rules/domain/rule_domain.h"

namespace witan::rules::proof {

struct ProofOptions {
  unsigned rows = 2;
  unsigned milliseconds = 2'000;  // a question
  unsigned seconds = 300;         // in all
};

enum class Answer : std::uint8_t { yes, no, unknown };

struct Claim {
  std::string invariant;      // empty: of two processes
  std::string first, second;  // processes
  Answer answer = Answer::unknown;
  bool vacuous = false;  // yes, because no state fulfils the premise
  bool decided = false;  // no, in a state with what a person decided: no scenario begins so
  std::string why;       // of unknown; of yes: that its twin is
  std::string example;   // of no: event lines with expectations
};

struct ProofReport {
  std::string domain;
  ProofOptions options;
  std::vector<std::pair<std::string, Answer>> commits;  // processes: is there a lawful state in which one commits?
  std::vector<Claim> kept;                              // first keeps invariant
  std::vector<Claim> uncoordinated;  // invariant needs no coordination of roles; no: of first and, later, second
  // At one moment first and second, in either order, are approved alike and give the same state.
  std::vector<Claim> orderless;
};

// `domain` and `module` are of the same file.
ProofReport prove(const RuleDomain& domain, const kernel::DomainModule& module, const ProofOptions& options);

std::string proofText(const ProofReport& report);
json::object proofJson(const ProofReport& report);
// All examples, one after the other, as `witan domain test FILE` plays them.
std::string proofScenarios(const ProofReport& report);

}  // namespace witan::rules::proof
