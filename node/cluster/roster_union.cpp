#include "node/cluster/roster_union.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "base/quote.h"
#include "base/utf8.h"
#include "node/cluster/roster_follows.h"

namespace witan::node {

namespace {

using Words = std::vector<std::string>;

std::string listed(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool has(const Words& words, std::string_view one) { return std::ranges::find(words, one) != words.end(); }

Words shared(const Words& one, const Words& other) {
  Words both;
  std::ranges::copy_if(one, std::back_inserter(both), [&](const std::string& each) { return has(other, each); });
  return both;
}

// The keys that go on from the other ones, and those before them. Where both went on, people have accepted two: that of
// the later roster, `mine`, counts.
Words laterOf(const Words& mine, const Words& theirs) {
  const bool goOn = mine.back() != theirs.back() && has(theirs, mine.back());
  const Words &later = goOn ? theirs : mine, &earlier = goOn ? mine : theirs;
  Words keys = rolesLost(earlier, later);
  const bool oneFirst = later.front() == earlier.front();
  if (oneFirst) keys.insert(keys.begin(), later.front());
  keys.insert(keys.end(), later.begin() + (oneFirst ? 1 : 0), later.end());
  while (keys.size() > kMaxDeviceKeys) keys.erase(keys.begin() + 1);
  return keys;
}

// Keys that were replaced, or are of persons that were revoked.
std::set<std::string> deadKeysOf(const Roster& roster) {
  std::set<std::string> dead;
  for (const RosterPerson& person : personsOf(roster))
    dead.insert(person.keys.begin(), person.keys.end() - (person.active() ? 1 : 0));
  for (const RosterPerson& person : personsOf(roster))
    if (person.active()) dead.erase(person.keys.back());
  return dead;
}

// `mine`: it has an act more, or both have the same and it is the later one.
class Union {
 public:
  Union(const Roster& mine, const Roster& other) : out_{.roster = mine, .other = &other}, mine_(mine), other_(other) {
    byActs_ = !mine.allActs().empty();
    firstAct_ = byActs_ && other.allActs().empty();
    newActs_ = mine.allActs().subspan(actsInCommon(mine, other));
  }

  RosterUnion make() {
    for (const RosterDevice& theirs : other_.devices) add(theirs);
    keepNames();
    if (byActs_) moveContested();
    for (const RosterPerson& theirs : personsOf(other_)) add(theirs);
    oneNameForAKey();
    compareCopies();
    compareRetention();
    return std::move(out_);
  }

 private:
  void take(std::string words) { out_.taken.push_back(std::move(words)); }
  void propose(ActKind kind, const std::string& subject) {
    out_.toSign.push_back(concat("witan admin propose ", enumName(kind), " ", subject));
  }

  // --- devices

  void add(const RosterDevice& theirs) {
    RosterDevice* mine = out_.roster.find(theirs.device);
    if (mine == nullptr) return addNewcomer(theirs);
    if (firstAct_)
      proposeWhatWasAlone(theirs, *mine);
    else if (!byActs_)
      mine->keys = laterOf(mine->keys, theirs.keys);
    if (!theirs.active() && mine->active() && !byActs_) {
      const Words keys = mine->keys;
      *mine = theirs, mine->keys = keys;
      take(concat(theirs.device, " is revoked: ", theirs.reason));
    }
    if (!mine->active() || !theirs.active()) return;
    if (theirs.sealsRows.value_or(false)) mine->sealsRows = true;
    const bool hadAll = hasAllScopes(*mine);
    mine->roles = rolesOf(ActKind::withdraw, mine->device, mine->roles, theirs.roles);
    mine->scopes = scopesOf(*mine, hadAll, theirs);
    if (!mine->site)
      mine->site = theirs.site;
    else if (theirs.site && *theirs.site != *mine->site)
      take(concat(mine->device, " stands in ", *mine->site, ", not in ", *theirs.site));
  }

  void addNewcomer(RosterDevice newcomer) {
    // Its last key, or its revocation, lacks an act. Without either it would be let in by a key that was replaced.
    if (firstAct_ && (!newcomer.active() || newcomer.keys.size() > 1))
      return newcomer.active() ? take(concat(newcomer.device,
                                             " is no member, since its key was replaced without an act "
                                             "of the admins: invite it again with a new directory"))
                               : void();
    if (firstAct_ && newcomer.takesOver()) {
      std::erase(newcomer.roles, kTakeoverRole);
      propose(ActKind::takeover, newcomer.device);
    }
    const std::string name = newcomer.name;
    if (newcomer.active()) newcomer.name = freeNameIn(out_.roster, name, newcomer.device);
    if (newcomer.name != name)
      take(concat(newcomer.device, " is called ", newcomer.name, " now, since another device is ", inQuotes(name)));
    std::vector<RosterDevice>& devices = out_.roster.devices;
    devices.insert(std::ranges::lower_bound(devices, newcomer.device, {}, &RosterDevice::device), std::move(newcomer));
  }

  void proposeWhatWasAlone(const RosterDevice& theirs, const RosterDevice& mine) {
    if (!mine.active()) return;
    if (!theirs.active()) return propose(ActKind::revoke, mine.device);
    if (!has(mine.keys, theirs.keys.back())) {
      propose(ActKind::rekey, mine.device);
      out_.keys.push_back({mine.device, theirs.keys.back()});
    }
    if (theirs.takesOver() && !mine.takesOver()) propose(ActKind::takeover, mine.device);
  }

  // One history gave a name to another device: those who know it as the first one's keep that.
  void keepNames() {
    for (const RosterDevice& theirs : other_.devices) {
      const RosterDevice* kept = out_.roster.member(theirs.device);
      if (!theirs.active() || kept == nullptr || kept->name == theirs.name) continue;
      if (kept->name == longerName(theirs.name, theirs.device)) continue;
      for (RosterDevice& device : out_.roster.devices)
        if (device.active() && device.device != theirs.device && device.name == theirs.name) {
          device.name = longerName(theirs.name, device.device);
          take(concat(device.device, " is called ", device.name, " now"));
        }
    }
  }

  Words rolesOf(ActKind kind, const std::string& whose, const Words& mine, const Words& theirs) {
    Words roles = mine, lost;
    for (const std::string& role : rolesLost(theirs, mine)) {
      // An act gives the role takeover, and these are all here.
      if (byActs_ && role != kTakeoverRole &&
          std::ranges::none_of(newActs_, [&](const AdminAct& act) { return withdraws(act, kind, whose, role); }))
        roles.push_back(role);
      else
        lost.push_back(role);
    }
    if (roles.size() > 1) std::erase(roles, kCopyRole);  // which stands alone
    if (!byActs_) {
      const Words onlyMine = rolesLost(mine, theirs);
      roles = shared(mine, theirs);
      lost.insert(lost.end(), onlyMine.begin(), onlyMine.end());
      // A single role that the other one gives with all of them.
      const bool all = has(roles, kAnyRole);
      for (const auto& [one, other] : {std::pair(&mine, &theirs), std::pair(&theirs, &mine)})
        for (const std::string& role : rolesLost(*one, *other))
          if (!all && role.find('.') != role.npos && has(*other, kAnyRole))
            roles.push_back(role), std::erase(lost, role);
    }
    if (!lost.empty()) take(concat(whose, " lost ", listed(lost)));
    return roles;
  }

  // Empty: all that its roles open.
  Words scopesOf(RosterDevice& mine, bool hadAll, const RosterDevice& theirs) {
    if (mine.scopes == theirs.scopes) return mine.scopes;
    if (byActs_) {  // which can only give
      if (hadAll || hasAllScopes(theirs)) return {};
      Words scopes = mine.scopes;
      for (const std::string& scope : rolesLost(theirs.scopes, mine.scopes)) scopes.push_back(scope);
      return scopes;
    }
    Words scopes = mine.scopes.empty()     ? theirs.scopes
                   : theirs.scopes.empty() ? mine.scopes
                                           : shared(mine.scopes, theirs.scopes);
    take(concat(mine.device, " keeps the scopes ", scopes.empty() ? "of none" : listed(scopes)));
    if (scopes.empty()) mine.roles.clear(), scopes = mine.scopes;
    return scopes;
  }

  // --- persons

  std::vector<RosterPerson>& persons() {
    return out_.roster.persons ? *out_.roster.persons : out_.roster.persons.emplace();
  }
  RosterPerson* personOf(std::string_view name) { return const_cast<RosterPerson*>(out_.roster.person(name)); }
  void insert(RosterPerson person) {
    persons().insert(std::ranges::lower_bound(persons(), person.name, {}, &RosterPerson::name), std::move(person));
  }

  // Whether one name is of two first keys, here or there, and no act says whose it is.
  bool contested(const RosterPerson& person) const {
    for (const Roster* roster : {&mine_, &other_})
      for (const RosterPerson& other : personsOf(*roster)) {
        const std::string& key = other.keys.front();
        const bool moved = other.active() && other.name != person.name && other.name == longerName(person.name, key);
        if (key != person.keys.front() && (other.name == person.name || moved)) return true;
      }
    return false;
  }
  bool decided(const std::string& name) const {
    return std::ranges::any_of(mine_.allActs(), [&](const AdminAct& act) { return concerns(act, name); });
  }
  std::string nameOf(const RosterPerson& person) {
    if (!contested(person)) return person.name;
    std::string name = longerName(person.name, person.keys.front());
    take(concat("the person ", person.name, " with the key ", clip(person.keys.front(), 8), "... is ", name,
                " now, since both rosters gave that name to another key"));
    return name;
  }

  void moveContested() {
    const std::vector<RosterPerson> all = std::exchange(persons(), {});
    for (RosterPerson person : all) {
      if (!decided(person.name)) person.name = nameOf(person);
      insert(std::move(person));
    }
    if (all.empty()) out_.roster.persons = mine_.persons;
  }

  void add(RosterPerson theirs) {
    const std::string longer = longerName(theirs.name, theirs.keys.front());
    RosterPerson* mine = personOf(theirs.name);
    const auto same = [&](const RosterPerson* one) {
      return one != nullptr && one->keys.front() == theirs.keys.front();
    };
    if (byActs_ && !same(mine)) {
      if (same(personOf(longer)))
        mine = personOf(longer);
      else if (mine != nullptr || contested(theirs))
        theirs.name = nameOf(theirs), mine = personOf(theirs.name);
    }
    if (mine == nullptr) return addNewcomer(std::move(theirs));
    if (firstAct_ && mine->active()) {
      if (!theirs.active()) return propose(ActKind::revokePerson, mine->name);
      if (!has(mine->keys, theirs.keys.back()))
        propose(ActKind::rekeyPerson, concat(mine->name, "=", theirs.keys.back()));
    }
    if (!byActs_) {
      if (mine->keys.front() != theirs.keys.front())
        take(concat("the person ", mine->name, " had two first keys, ", clip(mine->keys.front(), 8), "... and ",
                    clip(theirs.keys.front(), 8), "..."));
      const Words keys = laterOf(mine->keys, theirs.keys);
      if (!theirs.active() && mine->active()) *mine = theirs, take(concat("the person ", mine->name, " is revoked"));
      mine->keys = keys;
    }
    if (mine->active() && theirs.active())
      mine->roles = rolesOf(ActKind::withdrawPerson, mine->name, mine->roles, theirs.roles);
  }

  void addNewcomer(RosterPerson person) {
    if (firstAct_ && (!person.active() || person.keys.size() > 1)) {
      if (person.active())
        take(concat("the person ", person.name,
                    " is none, since the key was replaced without an act "
                    "of the admins: witan person add ",
                    person.name));
      return;
    }
    insert(std::move(person));
  }

  // One key counts for one person, and one that was replaced or revoked in either counts for none.
  void oneNameForAKey() {
    if (!out_.roster.persons) return;
    std::set<std::string> dead = deadKeysOf(mine_);
    dead.merge(deadKeysOf(other_));
    std::vector<RosterPerson*> all;
    for (RosterPerson& person : persons()) all.push_back(&person);
    const auto isNew = [&](const RosterPerson* one) {
      const RosterPerson* was = standsFor(mine_, *one);
      const bool there = std::ranges::any_of(personsOf(mine_), [&](const RosterPerson& mine) {
        return mine.active() && mine.keys.back() == one->keys.back() && standsFor(out_.roster, mine) == one;
      });
      return !(there || (was != nullptr && was->active() && was->keys.back() == one->keys.back()));
    };
    std::ranges::stable_partition(all, [&](const RosterPerson* one) { return !isNew(one); });
    std::map<std::string, RosterPerson*> counts;
    for (RosterPerson* person : all) {
      if (!person->active()) continue;
      const bool revoked = dead.contains(person->keys.back());
      if (revoked && byActs_ && !isNew(person)) {
        propose(ActKind::revokePerson, person->name);
        counts.emplace(person->keys.back(), person);
        continue;
      }
      const auto [at, first] = counts.emplace(person->keys.back(), person);
      if (first && !revoked) continue;
      if (first) counts.erase(at);
      person->state = DeviceState::revoked;
      person->reason = revoked ? "its key was replaced or revoked" : "its key is that of " + at->second->name + " too";
      take(concat("the person ", person->name, " is revoked: ", person->reason));
      if (!revoked && byActs_)
        for (const std::string& role : rolesLost(person->roles, at->second->roles)) at->second->roles.push_back(role);
    }
  }

  // Of what only says where copies are, the later roster's word counts.
  void compareCopies() {
    const auto of = [](const Roster& roster) { return roster.copies.value_or(std::vector<DomainCopies>()); };
    for (const DomainCopies& theirs : of(other_)) {
      const auto mine = of(mine_);
      const auto at = std::ranges::find(mine, theirs.domain, &DomainCopies::domain);
      if (at == mine.end() || at->copies != theirs.copies)
        take(concat("copies of ", theirs.domain, " were ", theirs.copies, " in one roster: witan partition copies ",
                    theirs.domain, " ", theirs.copies));
    }
  }

  // Likewise.
  void compareRetention() {
    const auto of = [](const Roster& roster) { return roster.retention.value_or(std::vector<DomainRetention>()); };
    const auto mine = of(mine_);
    for (const DomainRetention& theirs : of(other_))
      if (std::ranges::find(mine, theirs) == mine.end())
        take(concat("the retention of ", theirs.domain, " was another one in one roster: witan partition retain ",
                    theirs.domain, theirs.entries > 0 ? concat(" --entries ", theirs.entries) : "",
                    theirs.days > 0 ? concat(" --days ", theirs.days) : "", " --whole ", theirs.whole));
  }

  RosterUnion out_;
  const Roster &mine_, &other_;
  std::span<const AdminAct> newActs_;  // that the other lacks
  bool byActs_ = false;
  bool firstAct_ = false;  // is one of them
};

}  // namespace

std::string freeNameIn(const Roster& roster, const std::string& wanted, const std::string& device) {
  const std::string base = wanted.empty() ? device.substr(0, 8) : wanted;
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(roster.devices,
                               [&](const RosterDevice& d) { return d.active() && looksLike(d.name, name); });
  };
  return taken(base) ? longerName(base, device) : base;
}

RosterUnion uniteRosters(const Roster& one, const RosterLink& link, const RosterStore::Parted& parted) {
  const auto age = [](const Roster& roster, const RosterLink& its) {
    return std::tuple(roster.allActs().size(), roster.version, its.digest);
  };
  const bool theirs = age(parted.roster, parted.link) > age(one, link);
  RosterUnion united = theirs ? Union(parted.roster, one).make() : Union(one, parted.roster).make();
  // Both are before it.
  united.roster.before = linksAfter(united.roster, theirs ? parted.link : link);
  Roster other;
  other.before = theirs ? one.before : parted.roster.before;
  for (const RosterLink& each : linksAfter(other, theirs ? link : parted.link))
    united.roster.before = linksAfter(united.roster, each);
  return united;
}

}  // namespace witan::node
