// Rules about a disclosure at T: DISCLOSURE_TIMELINE_CONSISTENCY, EMBARGO_ENFORCEMENT, PATCH_BEFORE_DISCLOSURE,
// CVE_ATTRIBUTION_CONSISTENCY, DISCLOSURE_COMPLETENESS.
#include "base/mutant.h"
#include "domains/disclosure/invariants.h"
#include "domains/vocabulary.h"

namespace witan::domains::disclosure {

// ---- DISCLOSURE_TIMELINE_CONSISTENCY

namespace {

using Timeline = View<DisclosureTimelineConsistency>;
using Member = RowView<DisclosureTimelineConsistency, kVulns>;

// Could the group be disclosed at T, as far as this member goes? Else some members would be out, and others held back.
std::string_view hindranceOf(const Timeline& s, const Member& m, Time at) {
  if (m.get<VulnPhase>() == Phase::DISCLOSED) return {};
  if (m.get<VulnPhase>() != Phase::EMBARGOED || !isBy(m.get<ReadyAt>(), at))
    return "is neither disclosed nor embargoed and ready";
  if (!embargoPermits(s, m, at)) return "is under an embargo that does not permit it yet";
  return patchPermits(s, m, at) ? "" : "has no patch";
}

// Why v's disclosure does not fit its group, or "".
std::string misfit(const Timeline& s, const Member& v) {
  const std::string& g = *v.get<GroupOf>();
  const Time at = *v.get<DiscAt>();
  const auto group = s.row<kGroups>(g);
  if (!group || !group->has<GroupPlannedAt>()) return "group " + clipped(g) + " has no planned time";
  if (at < *group->get<GroupPlannedAt>())
    return "group " + clipped(g) + " is planned for " + formatTime(*group->get<GroupPlannedAt>());
  for (const Member& m : s.matching<kVulns, ByGroup>(g))
    if (const std::string_view why = m.slot() == v.slot() ? "" : hindranceOf(s, m, at); !why.empty())
      return "member " + clipped(m.key()) + " of group " + clipped(g) + " " + std::string(why);
  return {};
}

Verdict judgeDisclosure(const Timeline& s, const Member& v) {
  if (!v.has<DiscAt>() || !v.has<GroupOf>()) return Verdict::pass();
  const std::string why = misfit(s, v);
  if (why.empty() || s.waived(DisclosureTimelineConsistency::id, v.key())) return Verdict::pass();
  const std::string what = "disclosure of " + clipped(v.key()) + ": " + why;
  if (isBy(v.get<PubKnownAt>(), *v.get<DiscAt>())) return Verdict::escalate(what + ", but it has leaked");
  return Verdict::reject(what);
}

}  // namespace

Verdict DisclosureTimelineConsistency::check(const Timeline& s) {
  return judgeAll(s.rows<kVulns>(), [&](const Member& v) { return judgeDisclosure(s, v); });
}

std::optional<Verdict> DisclosureTimelineConsistency::checkTouched(
    const Timeline& s, const Touched<DisclosureTimelineConsistency, Fields>& touched) {
  Affected<Member> affected;
  const auto addGroup = [&](const std::string& g) {
    for (const Member& m : s.matching<kVulns, ByGroup>(g))
      if (m.has<DiscAt>()) affected.add(m);
  };
  for (const auto& group : touched.rows<kGroups>()) addGroup(std::string(group.key()));
  for (const Member& v : touched.rows<kVulns>()) {
    affected.add(v);
    // A member that is disclosed stands in nobody's way.
    if (v.has<GroupOf>() && v.get<VulnPhase>() != Phase::DISCLOSED) addGroup(*v.get<GroupOf>());
  }
  return affected.judge([&](const Member& v) { return judgeDisclosure(s, v); });
}

// ---- EMBARGO_ENFORCEMENT

Verdict EmbargoEnforcement::checkRow(const View<EmbargoEnforcement>& s, const RowView<EmbargoEnforcement, table>& v) {
  const bool any = v.has<EmbargoStartAt>() || v.has<EmbargoBaseDays>() || v.has<EmbargoExtensionDays>();
  if (!any && !v.has<EmbargoDeadline>()) return Verdict::pass();
  const auto of = [&](const std::string& what) { return what + " of " + clipped(v.key()); };
  if (!v.has<EmbargoStartAt>() || !v.has<EmbargoBaseDays>() || !v.has<EmbargoExtensionDays>() ||
      !v.has<EmbargoDeadline>())
    return Verdict::reject(of("the embargo") + " is incomplete");
  const Time deadline = *v.get<EmbargoDeadline>();
  const std::int64_t extension = *v.get<EmbargoExtensionDays>();
  const __int128 days = static_cast<__int128>(*v.get<EmbargoBaseDays>()) + extension;
  if (deadline.micros != days * kMicrosPerDay + v.get<EmbargoStartAt>()->micros)
    return Verdict::reject(of("the deadline") + " is not its start and " + std::to_string(*v.get<EmbargoBaseDays>()) +
                           " + " + std::to_string(extension) + " days");
  const EmbargoSpec spec = s.policy().embargo();
  // A waiver is for what a person saw: it lets no agent take days back afterwards.
  const bool waived = s.waived(EmbargoEnforcement::id, v.key());
  if (extension < 0 || (!waived && *v.get<EmbargoBaseDays>() < spec.baseDays))
    return Verdict::reject(of("the embargo") + " is " + std::to_string(*v.get<EmbargoBaseDays>()) + " + " +
                           std::to_string(extension) + " days: the regime's base is " + std::to_string(spec.baseDays) +
                           ", and no extension is negative");
  if (waived) return Verdict::pass();
  const __int128 beyond = days - spec.baseDays;
  if (spec.maxExtensionDays && beyond > *spec.maxExtensionDays)
    return Verdict::escalate(of("the embargo") + " would be extended by " +
                             std::to_string(static_cast<std::int64_t>(beyond)) + " days, at most " +
                             std::to_string(*spec.maxExtensionDays) + " are foreseen");
  if (!v.has<DiscAt>()) return Verdict::pass();
  const Time at = *v.get<DiscAt>();
  if (embargoPermits(s, v, at) || mutated("earlyDisclosure")) return Verdict::pass();
  const Time release = spec.releaseAt(deadline, v.get<PatchReleasedAt>(), at);
  const std::string what = of("the embargo") + " permits disclosure from " + formatTime(release) + " on";
  if (isBy(v.get<ExploitObservedAt>(), at)) return Verdict::escalate(what + ", but it is being exploited");
  return Verdict::reject(what);
}

// ---- PATCH_BEFORE_DISCLOSURE

namespace {

// Released once and for all, at some time and place.
Verdict judgeRelease(const RowView<PatchBeforeDisclosure, kVulns>& v) {
  const bool released = v.get<PatchStatusOf>() == PatchStatus::RELEASED;
  const auto reject = [&](const char* what) {
    return Verdict::reject("the fix of " + clipped(v.key()) + " " + std::string(what));
  };
  if (v.has<PatchReleasedAt>() != released)
    return reject(released ? "is released at no time" : "was released, and is not taken back");
  if (released && !isStated(v.get<PatchRef>().value_or(std::string()))) return reject("is released nowhere");
  return Verdict::pass();
}

}  // namespace

Verdict PatchBeforeDisclosure::checkRow(const View<PatchBeforeDisclosure>& s,
                                        const RowView<PatchBeforeDisclosure, table>& v) {
  if (Verdict verdict = judgeRelease(v); !verdict.passed()) return verdict;
  if (!v.has<DiscAt>() || patchPermits(s, v, *v.get<DiscAt>())) return Verdict::pass();
  return Verdict::reject("no patch for " + clipped(v.key()) +
                         " was released, it is not publicly known, and no embargo has elapsed");
}

// ---- CVE_ATTRIBUTION_CONSISTENCY

Verdict CveAttributionConsistency::checkRow(const View<CveAttributionConsistency>&,
                                            const RowView<CveAttributionConsistency, table>& v) {
  const auto &observed = v.get<CveObserved>(), &dedup = v.get<CveDedup>();
  for (const auto* id : {&observed, &dedup, &v.get<DiscCve>()})
    if (*id && !isCveId(**id))
      return Verdict::reject("\"" + clipped(**id) + "\" of " + clipped(v.key()) +
                             " is no CVE id (CVE-<year>-<4 to 19 digits>)");
  if (observed && dedup && *observed != *dedup)
    return Verdict::escalate(clipped(*observed) + " was assigned to " + clipped(v.key()) +
                             ", which deduplication knows as " + clipped(*dedup));
  if (dedup && v.has<CveRequestedAt>())
    return Verdict::reject("a new CVE id is requested for " + clipped(v.key()) + ", which has " + clipped(*dedup));
  if (!v.has<DiscAt>()) return Verdict::pass();
  const Cell<std::string> none;
  const auto& due = dedup ? dedup : isBy(v.get<CveObservedAt>(), *v.get<DiscAt>()) ? observed : none;
  if (v.get<DiscCve>() == due) return Verdict::pass();
  return Verdict::reject("the disclosure of " + clipped(v.key()) + " names " +
                         clipped(v.get<DiscCve>().value_or("no CVE id")) + ", not " + clipped(due.value_or("none")));
}

// ---- DISCLOSURE_COMPLETENESS

namespace {

using Records = View<DisclosureCompleteness>;
using Record = RowView<DisclosureCompleteness, kVulns>;

// Whether the reason given for publishing without a patch holds at T. A waiver ends the embargo as time does.
bool isTrueReason(const Records& s, const Record& v, std::string_view reason, Time at) {
  if (reason == "PUBLIC_KNOWLEDGE") return isBy(v.get<PubKnownAt>(), at);
  return reason == "EMBARGO_ELAPSED" &&
         (isBy(v.get<EmbargoDeadline>(), at) || s.waived(EmbargoEnforcement::id, v.key()));
}

// The link to the patch, or the reason why there is none.
std::string_view defectOfPatch(const Records& s, const Record& v, Time at) {
  const auto& reason = v.get<DiscNoPatchReason>();
  if (reason && !isTrueReason(s, v, *reason, at))
    return "gives an untrue reason why there is no patch (PUBLIC_KNOWLEDGE or EMBARGO_ELAPSED)";
  if (releasedBy(v, at)) return v.get<DiscPatchLink>() == v.get<PatchRef>() ? "" : "does not link the released patch";
  if (v.has<DiscPatchLink>()) return "links a patch that was not released";
  return reason ? "" : "does not say why there is no patch (PUBLIC_KNOWLEDGE or EMBARGO_ELAPSED)";
}

bool creditsSomebody(const Record& v) {
  const auto& credits = v.get<DiscAttribution>();
  return credits && !credits->empty() && std::all_of(credits->begin(), credits->end(), isStated);
}

bool isResolvedBy(const Records& s, const std::string& hash, Time by) {
  for (const auto& r : s.matching<kResolves, ByResolveHash>(hash))
    if (r.get<ResolveLog>()->at <= by) return true;
  return false;
}

Verdict judgeHashes(const Records& s, const Record& v, Time at) {
  static const Texts kNone;
  const Texts& cited = v.has<DiscHashes>() ? *v.get<DiscHashes>() : kNone;
  Texts resolved;
  for (const auto& c : s.matching<kCommits, ByCommitVuln>(v.key()))
    if (const std::string& hash = c.get<CommitLog>()->hash; isResolvedBy(s, hash, at)) resolved.push_back(hash);
  for (const std::string& hash : resolved)
    if (std::find(cited.begin(), cited.end(), hash) == cited.end())
      return Verdict::reject("the disclosure of " + clipped(v.key()) + " does not cite the resolved commitment " +
                             hash);
  for (const std::string& hash : cited)
    if (std::find(resolved.begin(), resolved.end(), hash) == resolved.end())
      return Verdict::reject("the disclosure of " + clipped(v.key()) + " cites " + clipped(hash) +
                             ", which is no resolved commitment of it");
  return Verdict::pass();
}

Verdict judgeRecord(const Records& s, const Record& v) {
  if (!v.has<DiscAt>()) return Verdict::pass();
  const Time at = *v.get<DiscAt>();
  const auto reject = [&](std::string_view why) {
    return Verdict::reject("the disclosure of " + clipped(v.key()) + " " + std::string(why));
  };
  if (const std::string_view why = defectOfPatch(s, v, at); !why.empty()) return reject(why);
  if (Verdict verdict = judgeHashes(s, v, at); !verdict.passed()) return verdict;
  if (isBy(v.get<CveObservedAt>(), at) && !v.has<DiscCve>()) return reject("does not name the assigned CVE id");
  if (!creditsSomebody(v)) return reject("credits nobody");
  return Verdict::pass();
}

}  // namespace

Verdict DisclosureCompleteness::check(const Records& s) {
  return judgeAll(s.rows<kVulns>(), [&](const Record& v) { return judgeRecord(s, v); });
}

std::optional<Verdict> DisclosureCompleteness::checkTouched(const Records& s,
                                                            const Touched<DisclosureCompleteness, Fields>& touched) {
  Affected<Record> affected;
  const auto addOwner = [&](const auto& commit) {
    if (const auto v = s.row<kVulns>(commit.template get<CommitLog>()->vuln)) affected.add(*v);
  };
  for (const Record& v : touched.rows<kVulns>()) affected.add(v);
  for (const auto& c : touched.rows<kCommits>()) {
    if (touched.existedBefore<CommitLog>(c)) return std::nullopt;
    addOwner(c);
  }
  for (const auto& r : touched.rows<kResolves>()) {
    if (touched.existedBefore<ResolveLog>(r)) return std::nullopt;
    for (const auto& c : s.matching<kCommits, ByCommitHash>(r.get<ResolveLog>()->hash)) addOwner(c);
  }
  return affected.judge([&](const Record& v) { return judgeRecord(s, v); });
}

}  // namespace witan::domains::disclosure
