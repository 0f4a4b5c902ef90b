#include "node/cluster/roster_follows.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/bytes.h"
#include "base/json_codec.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "node/cluster/scope_keys.h"

namespace witan::node {

namespace {

constexpr std::size_t kLinkDigits = 32;

// The admins named another signer in ignorance of acts that were applied meanwhile, where the key before signs. An act
// of after its expiry shows that the cluster went on without it. Where the disk of who signs went back, and admins have
// signed two acts of one number, another signer is the way out, too.
bool overtakes(std::span<const AdminAct> acts, std::span<const AdminAct> others) {
  const auto signer = std::ranges::find(acts, ActKind::signer, &AdminAct::kind);
  const auto other = std::ranges::find(others, ActKind::signer, &AdminAct::kind);
  if (signer == acts.end() || (other != others.end() && signer != acts.begin())) return false;
  if (other == others.begin()) return toJson(*signer) < toJson(*other);
  return std::ranges::all_of(
      others, [&](const AdminAct& act) { return act.expires.micros - kMaxActLifeMicros <= signer->expires.micros; });
}

Error lost(const AdminAct& act, const std::string& what, const std::string& subject) {
  return refusedRoster(concat("a roster that lacks act ", act.number, " of the admins, which is known here: ", what),
                       concat("the admins sign it again where the new key is: witan admin propose ", enumName(act.kind),
                              subject.empty() ? "" : " ", subject));
}

// Acts that a new signer's roster lacks still hold: the admins have signed them. (Who was revoked, or has another key,
// the rosters show.)
Status checkOvertaken(const Roster& before, const Roster& after) {
  for (const AdminAct& act : before.allActs().subspan(actsInCommon(before, after))) {
    const std::string whose = act.subject.substr(0, act.subject.find(' '));
    const RosterDevice* device = after.member(whose);
    const RosterPerson* person = after.person(whose);
    const bool ofDevice = act.kind == ActKind::withdraw && device != nullptr;
    const bool ofPerson = act.kind == ActKind::withdrawPerson && person != nullptr && person->active();
    if (ofDevice || ofPerson)
      for (const std::string& role : rolesWithdrawn(act))
        if (const auto& has = ofDevice ? device->roles : person->roles; std::ranges::find(has, role) != has.end())
          return lost(act, concat(whose, " has no role ", role), concat(whose, " --role ", role));
    if (act.kind != ActKind::admins) continue;
    const auto acts = after.allActs();
    const auto last = std::ranges::find(acts.rbegin(), acts.rend(), ActKind::admins, &AdminAct::kind);
    if (last->admins != act.admins || last->approvals != act.approvals) return lost(act, "other admins", "");
  }
  return okStatus();
}

bool keepsScopes(const RosterDevice& was, const RosterDevice& is) {
  if (was.scopes == is.scopes || hasAllScopes(is)) return true;
  if (was.scopes.empty()) return !hasAllScopes(was);
  return !is.scopes.empty() && rolesLost(was.scopes, is.scopes).empty();
}

// To take roles or scopes away is a revocation in effect.
Status checkKeepsRoles(const Roster& before, const Roster& after) {
  const auto acts = after.allActs().subspan(before.allActs().size());
  const auto check = [&](ActKind kind, const std::string& whose, const std::string& words,
                         const std::vector<std::string>& was, const std::vector<std::string>& is) -> Status {
    for (const std::string& role : rolesLost(was, is))
      // Of a device that two histories let in, one of them as a keeper of copies.
      if (role != kCopyRole &&
          std::ranges::none_of(acts, [&](const AdminAct& act) { return withdraws(act, kind, whose, role); }))
        return refusedRoster(
            concat("a roster that takes the role ", role, " from ", words, " without a new act of the admins"),
            concat("witan admin propose ", enumName(kind), " ", whose, " --role ", role));
    return okStatus();
  };
  for (const RosterDevice& was : before.devices) {
    const RosterDevice* is = after.find(was.device);
    if (!was.active() || is == nullptr || !is->active()) continue;
    WITAN_DO(check(ActKind::withdraw, was.device, deviceInWords(was), was.roles, is->roles));
    if (!keepsScopes(was, *is))
      return refusedRoster("a roster that takes scopes from " + deviceInWords(was), "witan admin propose revoke");
  }
  for (const RosterPerson& was : personsOf(before)) {
    const RosterPerson* is = standsFor(after, was);
    // Whose key two histories gave two names answers by the other one.
    if (is != nullptr && !is->active())
      for (const RosterPerson& other : personsOf(after))
        if (other.active() && other.keys.back() == is->keys.back()) is = &other;
    if (!was.active() || is == nullptr || !is->active()) continue;
    WITAN_DO(check(ActKind::withdrawPerson, was.name, was.name, was.roles, is->roles));
  }
  return okStatus();
}

// By the acts alone: the last one about it gave the role.
bool mayTakeOver(std::span<const AdminAct> acts, const std::string& device) {
  const auto& settled = acts.front().settled;
  bool may = std::ranges::find(settled, settledText(ActKind::takeover, device)) != settled.end();
  for (const AdminAct& act : acts) {
    if (act.kind == ActKind::takeover && act.subject == device) may = true;
    if (withdraws(act, ActKind::withdraw, device, kTakeoverRole)) may = false;
  }
  return may;
}

bool goesBack(const std::vector<std::string>& was, const std::vector<std::string>& is) {
  return is.back() != was.back() && std::ranges::find(was, is.back()) != was.end();
}

// What no later roster of a key does to devices, and of a new signer only the second and the third of it: to leave one
// out, to let a revoked one in again, to go back to an earlier key. `alone`: before the first act who signed could do
// the last two, and where two rosters part its word does not stand against the admins': whom it had revoked, or given
// another key, it may leave out.
Status keepsDevices(const Roster& before, const Roster& after, bool newSigner, bool alone = false) {
  for (const RosterDevice& was : before.devices) {
    const RosterDevice* is = after.find(was.device);
    if (is == nullptr && (newSigner || (alone && (!was.active() || was.keys.size() > 1)))) continue;
    if (is == nullptr) return refusedRoster("a roster that leaves out " + deviceInWords(was));
    if (alone) continue;
    if (is->active() && !was.active())
      return refusedRoster(
          "a roster that lets in again " + deviceInWords(was),
          newSigner ? "the admins revoke it again where the new key is: witan admin propose revoke" : "");
    if (goesBack(was.keys, is->keys))
      return refusedRoster("a roster that goes back to an earlier key of " + deviceInWords(was));
  }
  return okStatus();
}

bool newActConcerns(const Roster& before, const Roster& after, std::string_view whose) {
  return std::ranges::any_of(after.allActs().subspan(actsInCommon(before, after)),
                             [&](const AdminAct& act) { return concerns(act, whose); });
}

Status keepsPersons(const Roster& before, const Roster& after, bool newSigner, bool alone = false) {
  for (const RosterPerson& was : personsOf(before)) {
    const RosterPerson* is = standsFor(after, was);
    if (is == nullptr && (newSigner || (alone && (!was.active() || was.keys.size() > 1)))) continue;
    if (is == nullptr) return refusedRoster("a roster that leaves out " + was.name);
    if (alone) continue;
    if (is->active() && !was.active())
      return refusedRoster("a roster that lets in again " + was.name,
                           newSigner ? "the admins revoke again: witan admin propose revokePerson " + was.name : "");
    const bool another = is->keys.front() != was.keys.front();
    if (another ? !newSigner : goesBack(was.keys, is->keys))
      return refusedRoster(
          concat("a roster with another first key of ", was.name, ", or that goes back to an earlier one"));
    if (is->name != was.name && !newSigner && after.person(was.name) != nullptr &&
        !newActConcerns(before, after, was.name))
      return refusedRoster(concat("a roster that gives the name of ", was.name, " to another key"));
  }
  return okStatus();
}

// A name that two keys had stays nobody's, until the admins have revoked both.
Status checkNamesStayFree(const Roster& before, const Roster& after) {
  for (const RosterPerson& is : personsOf(after))
    for (const RosterPerson& was : personsOf(before))
      if (was.active() && was.keys.front() != is.keys.front() && was.name != is.name &&
          was.name == longerName(is.name, was.keys.front()) && before.person(is.name) == nullptr &&
          !newActConcerns(before, after, is.name))
        return refusedRoster(
            concat("a roster that gives the name ", is.name, " to another key than that of ", was.name));
  return okStatus();
}

// Nor does who signs exchange names, under which people act, or make rows of a member count that it did not seal.
Status checkKeepsNames(const Roster& before, const Roster& after) {
  for (const RosterDevice& was : before.devices) {
    const RosterDevice* is = after.member(was.device);
    if (!was.active() || is == nullptr) continue;
    if (was.sealsRows.value_or(false) && !is->sealsRows.value_or(false))
      return refusedRoster("a roster by which rows of " + deviceInWords(was) + " need no seal any more");
    const bool makesRoom = is->name == longerName(was.name, was.device);  // where rosters were united
    if (is->name == was.name || makesRoom) continue;
    for (const RosterDevice& other : after.devices)
      if (other.active() && other.name == was.name)
        return refusedRoster(concat("a roster that gives the name of ", deviceInWords(was), " to ", other.device));
  }
  return okStatus();
}

Status checkTakeovers(const Roster& before, const Roster& after, bool newSigner) {
  const std::span<const AdminAct> acts = after.allActs();
  const std::size_t known = before.allActs().size();
  if (known == 0 && !newSigner) return okStatus();
  for (const RosterDevice& is : after.devices) {
    if (!is.active() || !is.takesOver()) continue;
    const RosterDevice* was = before.find(is.device);
    const bool had = was != nullptr && was->active() && was->takesOver();
    const bool may = newSigner ? mayTakeOver(acts, is.device)
                               : had || std::ranges::any_of(acts.subspan(known), [&](const AdminAct& act) {
                                   return act.kind == ActKind::takeover && act.subject == is.device;
                                 });
    if (!may)
      return refusedRoster(
          concat("a roster that gives the role takeover to ", deviceInWords(is), " without a new act of the admins"));
  }
  return okStatus();
}

}  // namespace

std::size_t actsInCommon(const Roster& one, const Roster& other) {
  return static_cast<std::size_t>(std::ranges::mismatch(one.allActs(), other.allActs()).in1 - one.allActs().begin());
}

const RosterDevice* hadKey(const Roster& roster, const PublicKey& key) {
  const std::string hex = toHex(key);
  for (const RosterDevice& device : roster.devices)
    if (std::ranges::find(device.keys.begin(), device.keys.end() - 1, hex) != device.keys.end() - 1) return &device;
  return nullptr;
}

std::string adminProofText(std::string_view cluster, const PublicKey& device) {
  return concat("witan roster for|", cluster, "|", toHex(device));
}

bool concerns(const AdminAct& act, std::string_view whose) {
  const auto about = [&](ActKind kind, std::string_view subject) {
    return kind != ActKind::admins && kind != ActKind::signer &&
           (subject == whose || subject.starts_with(concat(whose, " ")));
  };
  return about(act.kind, act.subject) || std::ranges::any_of(act.settled, [&](const std::string& settled) {
           return about(ActKind::revoke, std::string_view(settled).substr(settled.find(' ') + 1));
         });
}

bool hasAllScopes(const RosterDevice& device) {
  return device.scopes.empty() && (device.copiesOnly() || device.keepsLedgers() ||
                                   std::ranges::find(device.roles, kAnyRole) != device.roles.end());
}

const RosterPerson* standsFor(const Roster& after, const RosterPerson& was) {
  const RosterPerson* named = after.person(was.name);
  if (named != nullptr && named->keys.front() == was.keys.front()) return named;
  const RosterPerson* moved = after.person(longerName(was.name, was.keys.front()));
  return moved != nullptr && moved->keys.front() == was.keys.front() ? moved : named;
}

bool hasNewSigner(const Roster& before, const Roster& after) {
  const auto acts = after.allActs().subspan(actsInCommon(before, after));
  return std::ranges::find(acts, ActKind::signer, &AdminAct::kind) != acts.end();
}

Result<int> compareActs(const Roster& mine, const Roster& theirs) {
  const std::size_t common = actsInCommon(mine, theirs);
  const auto here = mine.allActs().subspan(common), there = theirs.allActs().subspan(common);
  if (here.empty() || there.empty()) return static_cast<int>(!there.empty()) - static_cast<int>(!here.empty());
  if (overtakes(there, here)) return 1;
  if (overtakes(here, there)) return -1;
  return refusedRoster("a roster with other acts of the admins than those that are known here");
}

Status checkFollows(const Roster& before, const Roster& after) {
  const std::span<const AdminAct> acts = after.allActs();
  const bool newSigner = hasNewSigner(before, after);
  const bool alone = before.allActs().empty() && !newSigner;
  WITAN_DO(keepsDevices(before, after, newSigner, alone));
  WITAN_DO(checkTakeovers(before, after, newSigner));
  WITAN_DO(keepsPersons(before, after, newSigner, alone));
  if (newSigner) WITAN_DO(checkOvertaken(before, after));
  const std::size_t known = before.allActs().size();
  if (known > 0 && !newSigner) {
    WITAN_DO(checkKeepsRoles(before, after));
    WITAN_DO(checkKeepsNames(before, after));
    WITAN_DO(checkNamesStayFree(before, after));
    WITAN_DO(checkKeepsScopeKeys(before, after));
  }
  const std::vector<std::string> needed = actsNeededBy(after);
  // Who hears of several acts at once cannot know who had the role at the first one.
  for (const std::string& settled : acts.front().settled)
    if (known == 0 && (acts.size() == 1 || settled.starts_with("revoke")) &&
        std::ranges::find(needed, settled) == needed.end())
      return refusedRoster("a roster whose first act of the admins settles what did not happen: " + settled);
  if (!newSigner && before.partitions && *before.partitions != after.partitions.value_or(0))
    return refusedRoster("a roster with another number of partitions");
  return okStatus();
}

Error refusedRoster(std::string what, std::string hint) {
  return {ErrorCode::unauthorised, std::move(what), std::move(hint)};
}

std::string deviceInWords(const RosterDevice& device) { return device.device + " (" + device.name + ")"; }

const std::vector<RosterPerson>& personsOf(const Roster& roster) {
  static const std::vector<RosterPerson> none;
  return roster.persons ? *roster.persons : none;
}

std::string longerName(std::string_view name, std::string_view device) {
  return concat(clip(name, kMaxNodeNameBytes - 9), "-", device.substr(0, 8));
}

RosterLink linkOf(const Roster& roster, std::string_view document) {
  return {roster.version, toHex(sha256(document)).substr(0, kLinkDigits)};
}

std::vector<RosterLink> linksAfter(const Roster& roster, const RosterLink& link) {
  std::vector<RosterLink> all = roster.before.value_or(std::vector<RosterLink>());
  all.push_back(link);
  std::ranges::sort(all, std::greater(), [](const RosterLink& one) { return std::tie(one.version, one.digest); });
  const auto twice = std::ranges::unique(all);
  all.erase(twice.begin(), twice.end());
  if (all.size() > kMaxRosterLinks) all.resize(kMaxRosterLinks);
  return all;
}

Lineage lineageOf(const Roster& mine, const RosterLink& my, const Roster& theirs, const RosterLink& their) {
  const auto names = [](const Roster& later, const RosterLink& earlier) -> std::optional<bool> {
    if (!later.before || later.before->empty()) return std::nullopt;
    const std::vector<RosterLink>& known = *later.before;
    if (std::ranges::find(known, earlier) != known.end()) return true;
    const bool reaches = earlier.version > known.back().version ||
                         (earlier.version == known.back().version && known.size() < kMaxRosterLinks);
    return reaches ? std::optional(false) : std::nullopt;
  };
  if (my.version == their.version) return my == their ? Lineage::follows : Lineage::parts;
  const bool follows = my.version < their.version;
  const Roster &earlier = follows ? mine : theirs, &later = follows ? theirs : mine;
  const auto named = names(later, follows ? my : their);
  if (named) return !*named ? Lineage::parts : follows ? Lineage::follows : Lineage::precedes;
  // Without acts a person may be let in again. What was done alone before the first act does not stand against it.
  const bool alone = earlier.allActs().empty() && !later.allActs().empty();
  const bool kept = earlier.allActs().size() <= later.allActs().size() &&
                    keepsDevices(earlier, later, false, alone).ok() &&
                    std::ranges::all_of(personsOf(earlier), [&](const RosterPerson& was) {
                      if (alone && (!was.active() || was.keys.size() > 1)) return true;
                      const RosterPerson* is = standsFor(later, was);
                      return is != nullptr && (alone || !goesBack(was.keys, is->keys));
                    });
  return !kept ? Lineage::parts : follows ? Lineage::follows : Lineage::precedes;
}

bool revives(const Roster& before, const Roster& after) {
  return !keepsDevices(before, after, true).ok() || !keepsPersons(before, after, true).ok();
}

bool givesMore(const Roster& mine, const Roster& theirs) {
  return std::ranges::any_of(mine.devices,
                             [&](const RosterDevice& one) {
                               const RosterDevice* other = theirs.member(one.device);
                               return one.active() && other != nullptr && !rolesLost(one.roles, other->roles).empty();
                             }) ||
         std::ranges::any_of(personsOf(mine), [&](const RosterPerson& one) {
           const RosterPerson* other = theirs.person(one.name);
           return one.active() && other != nullptr && other->active() && !rolesLost(one.roles, other->roles).empty();
         });
}

Status checkRosterLinks(const std::vector<RosterLink>& links, std::uint64_t version) {
  if (links.size() > kMaxRosterLinks) return invalid(concat("more than ", kMaxRosterLinks, " rosters before this one"));
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i].version == 0 || links[i].version >= (i == 0 ? version : links[i - 1].version + 1))
      return invalid("before: not in order of their versions");
    if (links[i].digest.size() != kLinkDigits ||
        links[i].digest.find_first_not_of("0123456789abcdef") != std::string::npos)
      return invalid(concat("before: a digest has ", kLinkDigits, " hex digits"));
  }
  return okStatus();
}

}  // namespace witan::node
