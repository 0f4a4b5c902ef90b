// Instance<R>: role R as it works on one vulnerability (seed 000, Table 3): its slice of Def. A.7, narrowed to the keys
// of that vulnerability. So two instances of a role see disjoint states, and what one organisation is told cannot come
// from another's case.
//
// What reaches beyond the vulnerability is what Table 3 grants: ReporterCoordination the rate-limit status of one
// maintainer, as a number; Disclosure the readiness of group peers. Borrows the slice's state for the length of a call.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/sha256.h"
#include "domains/disclosure/actions.h"

namespace witan::domains::disclosure {

template <class R>
class Instance {
 public:
  using Reader = RoleReader<R>;
  template <auto TablePointer>
  using Row = RowView<Reader, TablePointer>;
  template <auto TablePointer>
  using RowList = boost::container::small_vector<Row<TablePointer>, 4>;

  Instance(const Slice<R>& slice, std::string_view v) : slice_(&slice), v_(v) {}

  const std::string& name() const { return v_; }
  const Policy& policy() const { return slice_->policy(); }
  Time clock() const { return slice_->clock(); }

  std::optional<Row<kVulns>> vulnerability() const { return slice_->template row<kVulns>(v_); }

  // Its reports, in key order.
  RowList<kReports> reports() const requires(contains<ReportVuln, typename Reader::Reads>) {
    return slice_->template matching<kReports, ByReportVuln>(v_);
  }

  // Its commitments, in the order of publication; and whether one is opened.
  RowList<kCommits> commitments() const requires(contains<CommitLog, typename Reader::Reads>) {
    return slice_->template matching<kCommits, ByCommitVuln>(v_);
  }
  bool isOpened(const Commitment& own) const requires(contains<ResolveLog, typename Reader::Reads>) {
    return own.vuln == v_ && !slice_->template matching<kResolves, ByResolveHash>(own.hash).empty();
  }

  // How many reports this maintainer got in the rate limit's window that ends at t.
  std::int64_t recentReports(const std::string& org, const std::string& maintainer, Time t) const
      requires(contains<ReportSubmittedAt, typename Reader::Reads>) {
    const Time from{t.micros - policy().rate.W * kMicrosPerDay};
    std::int64_t held = 0;
    for (const auto& r : slice_->template matching<kReports, ByMaintainer>(org, canonicalName(maintainer)))
      if (const auto& at = r.template get<ReportSubmittedAt>(); at && from < *at && *at <= t) ++held;
    return held;
  }

  // The other members of its group, as far as R may see them; and when the group means to disclose.
  RowList<kVulns> peers() const requires(contains<GroupOf, typename Reader::Reads>) {
    const auto own = vulnerability();
    if (!own || !own->template has<GroupOf>()) return {};
    RowList<kVulns> all = slice_->template matching<kVulns, ByGroup>(*own->template get<GroupOf>());
    all.erase(std::remove_if(all.begin(), all.end(), [&](const Row<kVulns>& peer) { return peer.key() == v_; }),
              all.end());
    return all;
  }
  std::optional<Time> plannedAt() const requires(contains<GroupPlannedAt, typename Reader::Reads>) {
    const auto own = vulnerability();
    if (!own || !own->template has<GroupOf>()) return std::nullopt;
    const auto group = slice_->template row<kGroups>(*own->template get<GroupOf>());
    return group ? group->template get<GroupPlannedAt>() : std::nullopt;
  }

 private:
  const Slice<R>* slice_;
  std::string v_;
};

// What a worker of each role proposes next for one vulnerability: deterministic rules over its instance's slice and the
// news that reached the lab. Nothing to do: no proposal. The built-in agents of the domain, as pure functions.
//
// Callers: domains/disclosure/portfolio.cpp and tests. Borrow nothing beyond the call.

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
// Declares readiness when due and somebody is credited, and discloses when its group's day has come and all of it is
// ready.
Maybe<AssertReadiness, ExecuteDisclosure> propose(const Instance<Disclosure>&, const News&, Time);

}  // namespace witan::domains::disclosure
