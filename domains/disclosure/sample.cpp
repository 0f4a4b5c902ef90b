// Workload of property tests, lint and simulator: plausible proposals, lawful and unlawful, for the state at hand.
#include <array>

#include "base/bytes.h"
#include "domains/disclosure/commitment.h"
#include "domains/disclosure/disclosure.h"

namespace witan::domains::disclosure {

namespace {

template <class T, std::size_t N>
T pick(Random& random, const std::array<T, N>& from) {
  return from[random.below(N)];
}

constexpr std::array<const char*, 3> kOrgs{"kernel.org", "glibc", "curl"};

std::string vulnName(Random& random) { return "V" + std::to_string(1 + random.below(8)); }

// One of the state, mostly; sometimes one that may not exist.
std::string knownVuln(const State& s, Random& random) {
  if (s.vulns.size() == 0 || random.below(25) == 0) return vulnName(random);
  return s.vulns.key(static_cast<Slot>(random.below(s.vulns.size())));
}

const VulnRow* rowOf(const State& s, const std::string& v) {
  const Slot slot = s.vulns.find(v);
  return slot == kNoSlot ? nullptr : &s.vulns.row(slot);
}

std::string knownReport(const State& s, Random& random) {
  if (s.reports.size() == 0 || random.below(25) == 0) return "R" + std::to_string(1 + random.below(30));
  return s.reports.key(static_cast<Slot>(random.below(s.reports.size())));
}

std::string cveName(Random& random) { return "CVE-2026-" + std::to_string(10001 + random.below(6)); }

SubmitReport sampleReport(const State& s, Random& random) {
  SubmitReport report;
  report.r = random.below(15) == 0 ? knownReport(s, random) : "R" + std::to_string(s.reports.size() + 1);
  report.v = knownVuln(s, random);
  report.org = pick(random, kOrgs);
  if (const VulnRow* row = rowOf(s, report.v);
      row != nullptr && row->orgs && !row->orgs->empty() && random.below(10) != 0)
    report.org = row->orgs->front();
  report.maint = random.below(2) == 0 ? "core" : "net";
  return report;
}

RecordAcknowledgment sampleAcknowledgment(const State& s, Random& random) {
  RecordAcknowledgment ack;
  ack.r = knownReport(s, random);
  ack.embargo = random.below(5) != 0;
  if (random.below(6) == 0) ack.baseDays = 88 + static_cast<std::int64_t>(random.below(20));
  return ack;
}

// The nonce and the digest follow from the artifact, so that whoever samples a resolution can open it.
Hash nonceOf(const std::string& artifact) { return sha256("nonce of " + artifact); }

PublishCommitment sampleCommitment(const State& s, Random& random) {
  PublishCommitment commitment;
  commitment.v = knownVuln(s, random);
  commitment.artifact = "report " + std::to_string(random.below(12)) + " on " + commitment.v;
  const bool old = random.below(2) == 0;
  commitment.alg = random.below(25) == 0 ? "MD5" : old ? "SHA-256" : "SHA3-256";
  commitment.hash = toHex(commitmentOf(old ? CommitmentHash::sha256 : CommitmentHash::sha3_256,
                                       nonceOf(commitment.artifact), sha256(commitment.artifact)));
  if (random.below(25) == 0) commitment.hash[0] = 'X';
  return commitment;
}

ResolveCommitment sampleResolution(const State& s, Random& random) {
  std::string artifact = "nothing";
  ResolveCommitment resolution;
  resolution.hash = toHex(sha256(artifact));
  if (s.commits.size() > 0) {
    const Cell<Commitment>& fact = s.commits.row(static_cast<Slot>(random.below(s.commits.size()))).fact;
    if (fact) {
      resolution.hash = fact->hash;
      if (random.below(12) != 0) artifact = fact->artifact;
    }
  }
  resolution.nonce = toHex(nonceOf(artifact));
  resolution.digest = toHex(sha256(artifact));
  return resolution;
}

Texts sampleMentions(const State& s, Random& random) {
  if (random.below(4) != 0) return {};
  return {knownVuln(s, random)};
}

ObserveExternalFact sampleObservation(const State& s, Random& random) {
  constexpr std::array<const char*, 8> kWhat{"public", "exploited", "cve", "cve", "cve", "dedup", "request", "rumour"};
  ObserveExternalFact fact{knownVuln(s, random), pick(random, kWhat), std::nullopt};
  if (fact.what != "rumour" || random.below(2) == 0) fact.value = cveName(random);
  return fact;
}

bool isResolved(const State& s, const std::string& hash) {
  for (Slot slot : s.resolves.byKey())
    if (const auto& fact = s.resolves.row(slot).fact; fact && fact->hash == hash) return true;
  return false;
}

ExecuteDisclosure sampleDisclosure(const State& s, Random& random) {
  ExecuteDisclosure disclosure;
  disclosure.v = knownVuln(s, random);
  const VulnRow* row = rowOf(s, disclosure.v);
  if (row == nullptr) return disclosure;
  if (row->patchStatus == PatchStatus::RELEASED)
    disclosure.patchLink = row->patchRef;
  else
    disclosure.noPatchReason = row->pubKnownAt ? "PUBLIC_KNOWLEDGE" : "EMBARGO_ELAPSED";
  disclosure.attribution = Texts{"Example Lab"};
  disclosure.cve = row->cveDedup ? row->cveDedup : row->cveObserved;
  for (Slot slot : s.commits.byKey())
    if (const auto& c = s.commits.row(slot).fact; c && c->vuln == disclosure.v && isResolved(s, c->hash))
      disclosure.hashes.push_back(c->hash);
  switch (random.below(24)) {
    case 0: disclosure.attribution.reset(); break;
    case 1: disclosure.cve = cveName(random); break;
    case 2: disclosure.hashes.clear(); break;
    case 3: disclosure.patchLink.reset(); break;
    case 4: disclosure.hashes.push_back(toHex(sha256("uncommitted"))); break;
    case 5: disclosure.attribution = Texts{"Example Lab", " "}; break;
    case 6: disclosure.patchLink = "https://example.org/c/another"; break;
    case 7: disclosure.noPatchReason = "PUBLIC_KNOWLEDGE"; break;
    default: break;
  }
  return disclosure;
}

FormCoDisclosureGroup sampleGroup(const State& s, Random& random, Time at) {
  const std::int64_t hours = static_cast<std::int64_t>(random.below(48)) - 36;
  return {"G" + std::to_string(1 + random.below(3)),
          {knownVuln(s, random), knownVuln(s, random)},
          Time{at.micros + hours * 3600 * kMicrosPerSecond}};
}

}  // namespace

DisclosureDomain::AnyAction DisclosureDomain::sample(const State& s, Random& random, Time at) {
  const std::uint64_t draw = random.below(100);
  if (draw < 10 || (s.vulns.size() == 0 && random.below(4) == 0)) {
    Texts orgs{pick(random, kOrgs)};
    if (random.below(3) == 0) orgs.emplace_back(pick(random, kOrgs));
    return Intake{random.below(12) == 0 ? knownVuln(s, random) : "V" + std::to_string(s.vulns.size() + 1), orgs};
  }
  if (draw < 26) return sampleReport(s, random);
  if (draw < 40) return sampleAcknowledgment(s, random);
  if (draw < 43) return ExtendEmbargo{knownVuln(s, random), static_cast<std::int64_t>(random.below(20)) - 2};
  if (draw < 45) return DevelopPatch{{knownVuln(s, random), sampleMentions(s, random)}};
  if (draw < 47) return ReviewPatch{{knownVuln(s, random), sampleMentions(s, random)}};
  if (draw < 54) return ReleaseFix{knownVuln(s, random), "https://example.org/c/" + std::to_string(random.below(99))};
  if (draw < 57)
    return ReviseSeverity{knownVuln(s, random), random.below(12) == 0 ? "BOGUS" : "HIGH", sampleMentions(s, random)};
  if (draw < 66) return sampleObservation(s, random);
  if (draw < 72) return sampleCommitment(s, random);
  if (draw < 78) return sampleResolution(s, random);
  if (draw < 82) return sampleGroup(s, random, at);
  if (draw < 86) return AssertReadiness{knownVuln(s, random)};
  return sampleDisclosure(s, random);
}

// Every other portfolio begins with two vulnerabilities whose embargo ends within the hours of a history.
std::string DisclosureDomain::sampleInit(Random& random, Time at) {
  if (random.below(2) == 0) return "{}";
  std::string phases, logs, orgs, starts, deadlines, base, extension;
  for (const char* v : {"V1", "V2"}) {
    const auto hours = static_cast<std::int64_t>(random.below(36));
    const Time start{at.micros - 90 * kMicrosPerDay + hours * 3600 * kMicrosPerSecond};
    const std::string name = (phases.empty() ? "\"" : ",\"") + std::string(v) + "\":", when = toJson(start);
    phases += name + "\"EMBARGOED\"";
    logs += name + "[";
    for (const char* phase : {"DISCOVERED", "TRIAGED", "REPORTED", "ACKNOWLEDGED", "EMBARGOED"})
      logs += (*phase == 'D' ? "[\"" : ",[\"") + std::string(phase) + "\"," + when + "]";
    logs += "]";
    orgs += name + "[\"" + pick(random, kOrgs) + "\"]";
    starts += name + when;
    deadlines += name + toJson(Time{start.micros + 90 * kMicrosPerDay});
    base += name + "90";
    extension += name + "0";
  }
  return R"({"vuln.phase":{)" + phases + R"(},"phase.log":{)" + logs + R"(},"vuln.orgs":{)" + orgs +
         R"(},"embargo.startAt":{)" + starts + R"(},"embargo.deadline":{)" + deadlines + R"(},"embargo.baseDays":{)" +
         base + R"(},"embargo.extensionDays":{)" + extension + "}}";
}

namespace {

void appendWaiver(std::string& waivers, std::string_view invariant, std::string_view subject) {
  waivers += waivers.empty() ? "[\"" : ",[\"";
  waivers += invariant;
  waivers += "\",";
  appendJsonString(waivers, subject);
  waivers += ']';
}

std::string editOf(std::string_view field, std::string_view key, const Cell<std::string>& value,
                   const std::string& waivers) {
  std::string edit = "{";
  if (!field.empty()) {
    edit += '"' + std::string(field) + "\":{";
    appendJsonString(edit, key);
    edit += ':' + toJson(value) + '}';
    if (!waivers.empty()) edit += ',';
  }
  if (!waivers.empty()) edit += R"("waivers":{"add":[)" + waivers + "]}";
  return edit + '}';
}

}  // namespace

std::string DisclosureDomain::sampleEdit(const State& s, const AnyAction& pending, std::string_view, Random&, Time) {
  std::string waivers;
  if (const auto* extension = std::get_if<ExtendEmbargo>(&pending)) {
    appendWaiver(waivers, EmbargoEnforcement::id, extension->v);
    return editOf("", "", {}, waivers);
  }
  if (const auto* disclosure = std::get_if<ExecuteDisclosure>(&pending)) {
    for (std::string_view id : {DisclosureTimelineConsistency::id, EmbargoEnforcement::id, PatchBeforeDisclosure::id})
      appendWaiver(waivers, id, disclosure->v);
    return editOf("", "", {}, waivers);
  }
  if (const auto* group = std::get_if<FormCoDisclosureGroup>(&pending)) {
    for (const std::string& v : group->members) appendWaiver(waivers, DisclosureTimelineConsistency::id, v);
    return editOf("", "", {}, waivers);
  }
  const auto* fact = std::get_if<ObserveExternalFact>(&pending);
  if (fact == nullptr || !fact->value) return "{}";
  appendWaiver(waivers, CveAttributionUniqueness::id, *fact->value);
  const VulnRow* row = rowOf(s, fact->v);
  // What was assigned outside stands; deduplication follows it.
  if (fact->what == "cve" && row != nullptr && row->cveDedup) return editOf("cve.dedup", fact->v, fact->value, waivers);
  if (fact->what == "dedup" && row != nullptr && row->cveObserved)
    return editOf("cve.dedup", fact->v, row->cveObserved, waivers);
  return editOf("", "", {}, waivers);
}

}  // namespace witan::domains::disclosure
