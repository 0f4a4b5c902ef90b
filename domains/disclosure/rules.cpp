#include "domains/disclosure/rules.h"

#include "base/bytes.h"
#include "domains/disclosure/commitment.h"

namespace witan::domains::disclosure {

namespace {

// Days before the deadline from which an extension is asked for.
constexpr std::int64_t kExtendAhead = 3;

std::int64_t daysUp(std::int64_t micros) { return (micros + kMicrosPerDay - 1) / kMicrosPerDay; }

}  // namespace

Maybe<SubmitReport, RecordAcknowledgment, ExtendEmbargo> propose(const Instance<ReporterCoordination>& i,
                                                                 const News& news, Time t) {
  const auto v = i.vulnerability();
  if (!v || !v->has<VulnPhase>() || !v->has<VulnOrgs>() || v->get<VulnOrgs>()->empty()) return {};
  const Phase phase = *v->get<VulnPhase>();
  const std::string& org = v->get<VulnOrgs>()->front();
  if (phase == Phase::TRIAGED) {
    if (news.maintainer.empty() || i.recentReports(org, news.maintainer, t) >= i.policy().rate.N) return {};
    return SubmitReport{"report/" + i.name(), i.name(), org, news.maintainer};
  }
  if (phase == Phase::REPORTED && news.acknowledged && !i.reports().empty())
    return RecordAcknowledgment{std::string(i.reports().front().key()), true, std::nullopt};
  const bool promised = phase == Phase::EMBARGOED && news.fixExpected && v->has<EmbargoDeadline>();
  if (!promised || *news.fixExpected <= *v->get<EmbargoDeadline>()) return {};
  const Time deadline = *v->get<EmbargoDeadline>();
  if (t < Time{deadline.micros - kExtendAhead * kMicrosPerDay} || t >= deadline) return {};
  return ExtendEmbargo{i.name(), daysUp(news.fixExpected->micros - deadline.micros)};
}

Maybe<DevelopPatch, ReviewPatch, ReleaseFix, ReviseSeverity, ObserveExternalFact> propose(
    const Instance<PatchTracking>& i, const News& news, Time) {
  const auto v = i.vulnerability();
  const auto holds = [&]<class F>(TypeBox<F>) { return v && v->template has<F>(); };
  const auto see = [&](const char* what, std::optional<std::string> value = std::nullopt) {
    return ObserveExternalFact{i.name(), what, std::move(value)};
  };
  if (news.publiclyKnown && !holds(TypeBox<PubKnownAt>{})) return see("public");
  if (news.exploited && !holds(TypeBox<ExploitObservedAt>{})) return see("exploited");
  if (news.cve && (!v || v->get<CveObserved>() != news.cve)) return see("cve", news.cve);
  if (news.severity && (!v || v->get<VulnSeverity>() != news.severity))
    return ReviseSeverity{i.name(), *news.severity, {}};
  // A released fix is never taken back by a late look at an old branch.
  const bool released = v && v->get<PatchStatusOf>() == PatchStatus::RELEASED;
  if (!news.patch || released || (v && v->get<PatchStatusOf>() == news.patch)) return {};
  switch (*news.patch) {
    case PatchStatus::IN_DEVELOPMENT: return DevelopPatch{{i.name(), {}}};
    case PatchStatus::UNDER_REVIEW: return ReviewPatch{{i.name(), {}}};
    case PatchStatus::RELEASED: return ReleaseFix{i.name(), news.fix};
  }
  return {};
}

Maybe<PublishCommitment, ResolveCommitment> propose(const Instance<CommitmentManagement>& i, const News& news, Time) {
  if (news.artifact.empty()) return {};
  const Hash digest = sha256(news.artifact);
  const std::string hash = toHex(commitmentOf(CommitmentHash::sha3_256, news.nonce, digest));
  const auto own = i.commitments();
  if (own.empty()) return PublishCommitment{hash, "SHA3-256", "report", i.name()};
  if (!news.due) return {};
  for (const auto& c : own)
    if (const Commitment& fact = *c.get<CommitLog>(); fact.hash == hash && !i.isOpened(fact))
      return ResolveCommitment{hash, toHex(news.nonce), toHex(digest)};
  return {};
}

Maybe<AssertReadiness, ExecuteDisclosure> propose(const Instance<Disclosure>& i, const News& news, Time t) {
  const auto v = i.vulnerability();
  if (!v || !news.due || news.credits.empty() || v->has<DiscAt>() || v->get<VulnPhase>() != Phase::EMBARGOED) return {};
  if (!v->has<ReadyAt>()) return AssertReadiness{i.name()};
  if (const auto planned = i.plannedAt(); planned && t < *planned) return {};
  for (const auto& peer : i.peers())
    if (peer.get<VulnPhase>() != Phase::DISCLOSED && !peer.has<ReadyAt>()) return {};
  ExecuteDisclosure record;
  record.v = i.name();
  if (news.patch == PatchStatus::RELEASED)
    record.patchLink = news.fix;
  else
    record.noPatchReason = news.publiclyKnown ? "PUBLIC_KNOWLEDGE" : "EMBARGO_ELAPSED";
  if (!news.artifact.empty())
    record.hashes.push_back(toHex(commitmentOf(CommitmentHash::sha3_256, news.nonce, sha256(news.artifact))));
  record.cve = news.cve;
  record.attribution = news.credits;
  return record;
}

}  // namespace witan::domains::disclosure
