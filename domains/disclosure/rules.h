// What a worker of each role proposes next for one vulnerability: deterministic rules over its instance's slice and the
// news that reached the lab. Nothing to do: no proposal. The built-in agents of the domain, as pure functions.
//
// Callers: domains/disclosure/portfolio.cpp and tests. Borrow nothing beyond the call.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/sha256.h"
#include "domains/disclosure/instance.h"

namespace witan::domains::disclosure {

// What is known from outside about one vulnerability, and what is due. Facts only: no role's state.
struct News {
  std::string maintainer;               // whom its organisation named for reports
  bool acknowledged = false;            // the report was answered
  std::optional<PatchStatus> patch;     // what the maintainer's repository shows
  std::string fix;                      // where the fix is, once released
  std::optional<Time> fixExpected;      // promised
  std::optional<std::string> cve;       // assigned
  std::optional<std::string> severity;  // of the receiving organisation
  bool publiclyKnown = false;
  bool exploited = false;
  bool due = false;      // the day of disclosure has come
  std::string artifact;  // the report to commit to, until then secret
  Hash nonce{};
  Texts credits;
};

template <class... P>
using Maybe = std::variant<std::monostate, P...>;

// Reports within the rate limit, records the answer, asks for the days that a promised fix needs.
Maybe<SubmitReport, RecordAcknowledgment, ExtendEmbargo> propose(const Instance<ReporterCoordination>&, const News&,
                                                                 Time);
// Records what is seen outside, one fact at a time, oldest kind first.
Maybe<DevelopPatch, ReviewPatch, ReleaseFix, ReviseSeverity, ObserveExternalFact> propose(
    const Instance<PatchTracking>&, const News&, Time);
// Commits to the report when it is known, and opens it when disclosure is due.
Maybe<PublishCommitment, ResolveCommitment> propose(const Instance<CommitmentManagement>&, const News&, Time);
// Declares readiness when due, and discloses when its group's day has come and all of it is ready.
Maybe<AssertReadiness, ExecuteDisclosure> propose(const Instance<Disclosure>&, const News&, Time);

}  // namespace witan::domains::disclosure
