#include "node/cluster/roster_union.h"

#include <algorithm>

#include "base/quote.h"
#include "base/utf8.h"
#include "node/cluster/roster_follows.h"

namespace witan::node {

namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// One of the two has an act more, or both have the same.
class Union {
 public:
  Union(Roster next, const Roster& other) : out_{std::move(next), &other, {}}, other_(other) {
    acts_.assign(out_.roster.allActs().begin(), out_.roster.allActs().end());
    byActs_ = !acts_.empty();
  }

  RosterUnion make() {
    for (const RosterDevice& theirs : other_.devices) add(theirs);
    for (const RosterPerson& theirs : personsOf(other_)) add(theirs);
    return std::move(out_);
  }

 private:
  void add(const RosterDevice& theirs) {
    std::vector<RosterDevice>& devices = out_.roster.devices;
    RosterDevice* mine = out_.roster.find(theirs.device);
    if (mine == nullptr) {
      RosterDevice newcomer = theirs;
      if (newcomer.active() && newcomer.takesOver() && !permits(ActKind::takeover, newcomer.device)) {
        std::erase(newcomer.roles, kTakeoverRole);
        propose(ActKind::takeover, newcomer.device);
      }
      if (newcomer.active()) newcomer.name = freeNameIn(out_.roster, theirs.name, theirs.device);
      if (newcomer.name != theirs.name)
        out_.taken.push_back(concat(theirs.device, " is called ", newcomer.name, " now, since another device is ",
                                    inQuotes(theirs.name)));
      devices.insert(std::ranges::lower_bound(devices, theirs.device, {}, &RosterDevice::device), std::move(newcomer));
      return;
    }
    if (!theirs.active() && mine->active() && !permits(ActKind::revoke, mine->device))
      return propose(ActKind::revoke, mine->device);
    const std::vector<std::string> keys = laterOf(mine->keys, theirs.keys);
    if (!theirs.active() && mine->active()) *mine = theirs;
    mine->keys = keys;
    if (!mine->active() || !theirs.active()) return;
    mine->roles = rolesOf(ActKind::withdraw, mine->device, mine->device, mine->roles, theirs.roles);
    mine->scopes = scopesOf(*mine, theirs);
  }

  void add(const RosterPerson& theirs) {
    std::vector<RosterPerson>& persons = out_.roster.persons ? *out_.roster.persons : out_.roster.persons.emplace();
    const auto mine = std::ranges::lower_bound(persons, theirs.name, {}, &RosterPerson::name);
    if (mine == persons.end() || mine->name != theirs.name) {
      // One key is of one person: who has it by another name answers by that.
      if (std::ranges::any_of(persons, [&](const RosterPerson& one) { return !shared(one.keys, theirs.keys).empty(); }))
        out_.taken.push_back("the person " + theirs.name + " is none: the key is another person's too");
      else
        persons.insert(mine, theirs);
      return;
    }
    if (!theirs.active() && mine->active() && !permits(ActKind::revokePerson, mine->name))
      return propose(ActKind::revokePerson, mine->name);
    const std::vector<std::string> keys = laterOf(mine->keys, theirs.keys);
    if (!theirs.active() && mine->active()) *mine = theirs;
    mine->keys = keys;
    if (mine->active() && theirs.active())
      mine->roles = rolesOf(ActKind::withdrawPerson, mine->name, mine->name, mine->roles, theirs.roles);
  }

  static std::vector<std::string> shared(const std::vector<std::string>& one, const std::vector<std::string>& other) {
    std::vector<std::string> both;
    std::ranges::copy_if(one, std::back_inserter(both),
                         [&](const std::string& each) { return std::ranges::find(other, each) != other.end(); });
    return both;
  }

  // What one history did without an act, before it knew that the admins act together, the other one lacks.
  bool permits(ActKind kind, const std::string& subject) const {
    const std::string text = settledText(kind, subject);
    return !byActs_ || std::ranges::any_of(acts_, [&](const AdminAct& act) {
      return settledText(act.kind, act.subject) == text || std::ranges::find(act.settled, text) != act.settled.end();
    });
  }
  void propose(ActKind kind, const std::string& subject) {
    out_.taken.push_back(concat("by the admins alone: witan admin propose ", enumName(kind), " ", subject));
  }

  // The keys that go on from the other ones. Where both do, people have accepted two: those of the later roster. A key
  // that an act gave stands in the one with more acts.
  std::vector<std::string> laterOf(const std::vector<std::string>& mine, const std::vector<std::string>& theirs) const {
    if (byActs_) return mine;
    return std::ranges::find(theirs, mine.back()) != theirs.end() ? theirs : mine;
  }

  std::vector<std::string> rolesOf(ActKind kind, const std::string& whose, const std::string& words,
                                   const std::vector<std::string>& mine, const std::vector<std::string>& theirs) {
    std::vector<std::string> roles = mine, lost;
    for (const std::string& role : rolesLost(theirs, mine)) {
      // An act gives the role takeover, and these are all here.
      if (byActs_ && role != kTakeoverRole &&
          std::ranges::none_of(acts_, [&](const AdminAct& act) { return withdraws(act, kind, whose, role); }))
        roles.push_back(role);
      else
        lost.push_back(role);
    }
    if (!byActs_) {
      const std::vector<std::string> onlyMine = rolesLost(mine, theirs);
      roles = shared(mine, theirs);
      lost.insert(lost.end(), onlyMine.begin(), onlyMine.end());
      // A single role that the other one gives with all of them.
      const bool all = std::ranges::find(roles, kAnyRole) != roles.end();
      for (const auto& [one, other] : {std::pair(&mine, &theirs), std::pair(&theirs, &mine)})
        for (const std::string& role : rolesLost(*one, *other))
          if (!all && role.find('.') != role.npos && std::ranges::find(*other, kAnyRole) != other->end())
            roles.push_back(role), std::erase(lost, role);
    }
    if (!lost.empty()) out_.taken.push_back(concat(words, " lost ", listed(lost)));
    return roles;
  }

  // Empty: all that its roles open.
  std::vector<std::string> scopesOf(RosterDevice& mine, const RosterDevice& theirs) {
    if (mine.scopes == theirs.scopes) return mine.scopes;
    std::vector<std::string> scopes = mine.scopes;
    if (byActs_) {  // which can only give
      for (const std::string& scope : rolesLost(theirs.scopes, mine.scopes)) scopes.push_back(scope);
      return scopes;
    }
    scopes = mine.scopes.empty()     ? theirs.scopes
             : theirs.scopes.empty() ? mine.scopes
                                     : shared(mine.scopes, theirs.scopes);
    out_.taken.push_back(concat(mine.device, " keeps the scopes ", scopes.empty() ? "of none" : listed(scopes)));
    if (scopes.empty()) mine.roles.clear(), scopes = mine.scopes;
    return scopes;
  }

  RosterUnion out_;
  const Roster& other_;
  std::vector<AdminAct> acts_;
  bool byActs_ = false;
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
  const auto age = [](const Roster& roster) { return std::pair(roster.allActs().size(), roster.version); };
  const bool theirs = age(parted.roster) > age(one);
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
