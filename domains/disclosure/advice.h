// Advice: what a built-in agent of a role does next about one vulnerability, by the rules of domains/disclosure/rules.h
// on its instance's slice (Table 3): the face of those rules for whoever speaks JSON (replica/ledger_queries.h).
//
// Pure. The rules are asked again after each step, on a copy on which the step was made, so that one plan holds all
// that a role has to say now. Nothing but the instance of the role is read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "domains/disclosure/rules.h"
#include "kernel/domain_module.h"

namespace witan::domains::disclosure {

// One vulnerability as the world outside shows it: what people, trackers and mail bring. Facts, and no role's state.
struct Case {
  static constexpr std::size_t required = 3;
  std::string portfolio;
  std::string v;
  Texts orgs;
  std::string maintainer;  // whom its organisation named for reports
  bool acknowledged = false;
  std::optional<PatchStatus> patch;  // what the maintainer's repository shows
  std::string fix;                   // where the released fix is, and since when
  std::optional<Time> fixedAt;
  std::optional<Time> fixExpected;  // promised
  std::optional<std::string> cve, severity;
  bool publiclyKnown = false;
  bool exploited = false;
  std::string artifact;  // to commit to; and its nonce, 64 hex digits
  std::string nonce;
  Texts credits;
  WITAN_MEMBERS(Case, portfolio, v, orgs, maintainer, acknowledged, patch, fix, fixedAt, fixExpected, cve, severity,
                publiclyKnown, exploited, artifact, nonce, credits)
};

// What agents of other roles have said of it, since no slice shows it: its day has come; its commitment is opened.
struct Said {
  bool due = false;
  bool opened = false;
};

struct Advice {
  std::vector<std::string> actions;  // canonical JSON, in order
  std::string due;                   // of ReporterCoordination: why its day has come; empty: it has not
  bool over = false;                 // as far as the role sees: disclosed or withdrawn
  WITAN_MEMBERS(Advice, actions, due, over)
};

// Requires: a disclosure module made the state. Errors: no such role; a case that cannot be (a released patch without
// its place and time, an artifact without its nonce). O(state), for the copy.
Result<Advice> adviseOn(const DomainModule& module, const EntityState& portfolio, std::string_view role,
                        const Case& about, Said said, Time now);

}  // namespace witan::domains::disclosure
