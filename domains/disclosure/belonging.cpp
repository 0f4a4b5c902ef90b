// Whose the rows of a portfolio are: DisclosureDomain::keysOf.
#include "domains/disclosure/disclosure.h"

namespace witan::domains::disclosure {

namespace {

const Texts& orgsOf(const VulnRow& row) {
  static const Texts none;
  return row.orgs ? *row.orgs : none;
}

Texts orgsOf(const State& state, const std::string& v) {
  const Slot slot = state.vulns.find(v);
  return slot == kNoSlot ? Texts{} : orgsOf(state.vulns.row(slot));
}

}  // namespace

Texts DisclosureDomain::keysOf(const State&, std::string_view, const VulnRow& row) { return orgsOf(row); }

Texts DisclosureDomain::keysOf(const State&, std::string_view, const ReportRow& row) {
  return row.org ? Texts{*row.org} : Texts{};
}

Texts DisclosureDomain::keysOf(const State& state, std::string_view g, const GroupRow&) {
  Texts keys;
  const std::string group(g);
  for (const Slot slot : state.vulns.index<ByGroup>().candidates(group)) {
    const VulnRow& member = state.vulns.row(slot);
    if (ByGroup::holds(member, group)) keys.insert(keys.end(), orgsOf(member).begin(), orgsOf(member).end());
  }
  return keys;
}

Texts DisclosureDomain::keysOf(const State& state, std::string_view, const CommitRow& row) {
  return row.fact ? orgsOf(state, row.fact->vuln) : Texts{};
}

Texts DisclosureDomain::keysOf(const State& state, std::string_view, const ResolveRow& row) {
  Texts keys;
  if (!row.fact) return keys;
  for (const Slot slot : state.commits.index<ByCommitHash>().candidates(row.fact->hash)) {
    const CommitRow& committed = state.commits.row(slot);
    if (!ByCommitHash::holds(committed, row.fact->hash)) continue;
    const Texts orgs = orgsOf(state, committed.fact->vuln);
    keys.insert(keys.end(), orgs.begin(), orgs.end());
  }
  return keys;
}

}  // namespace witan::domains::disclosure
