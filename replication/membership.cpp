#include "replication/membership.h"

#include <algorithm>

#include "base/bytes.h"
#include "replication/membership_index.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

using Flags = std::vector<bool>;  // by member

// Proposed, or brought in by nobody but those: with their sponsors they may turn out to be strangers.
Flags mayLeave(const StatementIndex& index) {
  const auto& members = index.members();
  Flags leaving(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) leaving[i] = members[i].proposed;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto byLeaving = [&](int admit) {
        const int issuer = index.entries()[static_cast<std::size_t>(admit)].issuer;
        return issuer >= 0 && leaving[static_cast<std::size_t>(issuer)];
      };
      const auto& admits = members[i].admits;
      if (leaving[i] || !std::all_of(admits.begin(), admits.end(), byLeaving)) continue;
      leaving[i] = changed = true;
    }
  }
  return leaving;
}

// A device is not asked about its own earlier admission.
bool isAsked(const StatementIndex& index, int other, int subject) {
  const auto& members = index.members();
  return members[static_cast<std::size_t>(other)].member.device !=
         members[static_cast<std::size_t>(subject)].member.device;
}

bool isAckedByThoseWhoStay(const StatementIndex& index, const Flags& leaving, int subject) {
  bool byAnybody = false;
  for (int other = 0; other < static_cast<int>(leaving.size()); ++other) {
    if (!isAsked(index, other, subject)) continue;
    const bool acked = index.hasAcked(other, subject);
    byAnybody = byAnybody || acked;
    if (!acked && !leaving[static_cast<std::size_t>(other)]) return false;
  }
  return byAnybody;  // that nobody is left to ask is no agreement
}

// The largest set of members of whom everybody outside has acked everyone inside. Two such sets have such a union, so
// taking out whoever does not qualify, until nothing changes, finds it.
Flags retiredMembers(const StatementIndex& index, Flags leaving) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < static_cast<int>(leaving.size()); ++i) {
      if (!leaving[static_cast<std::size_t>(i)] || isAckedByThoseWhoStay(index, leaving, i)) continue;
      leaving[static_cast<std::size_t>(i)] = false;
      changed = true;
    }
  }
  return leaving;
}

// Any ack counts for any device that has left. A member's second ack joins the first by maximum, as all do: the final
// must bound what anybody has committed, and the maximum is the only such rule that needs no order.
ClocksBySpace finalsOf(const StatementIndex& index, std::string_view device) {
  ClocksBySpace finals;
  for (const StatementIndex::Entry& entry : index.entries())
    for (const AckedCounter& acked : entry.statement.acked)
      if (deviceOf(acked.writer) == device) finals[acked.space].raise(acked.writer, acked.counter);
  return finals;
}

// Admitted by one that leaves or has left, and somebody acked that one without knowing of it: that is a proposal and an
// ack in one, since whoever has said so will not say anything more about it when its sponsor's knowers leave as well.
bool isStranger(const StatementIndex& index, const Flags& leaving, int subject) {
  if (!leaving[static_cast<std::size_t>(subject)]) return false;
  for (int other = 0; other < static_cast<int>(leaving.size()); ++other)
    if (isAsked(index, other, subject) && index.hasAcked(other, subject)) return true;
  return false;
}

RetiringMember retiringMember(const StatementIndex& index, const Flags& retired, int subject, std::string name) {
  const StatementIndex::About& about = index.members()[static_cast<std::size_t>(subject)];
  RetiringMember retiring{about.member, std::move(name), about.proposed};
  for (int other = 0; other < static_cast<int>(retired.size()); ++other) {
    if (!isAsked(index, other, subject)) continue;
    const Member& member = index.members()[static_cast<std::size_t>(other)].member;
    if (index.hasAcked(other, subject))
      retiring.acked.push_back(member);
    else if (!retired[static_cast<std::size_t>(other)])
      retiring.missing.push_back(member);
  }
  return retiring;
}

// One line a fact, in the order of the lists. Ids contain neither spaces nor line ends.
Hash completedHash(const Membership& m, const std::vector<StatementIndex::About>& members) {
  Sha256 hash;
  hash.update("witan membership 1\n");
  for (const auto& about : members)
    hash.update("member " + about.member.device + ' ' + std::to_string(about.member.admission) + '\n');
  for (const RetiredMember& retired : m.retired) {
    hash.update("retired " + retired.member.device + ' ' + std::to_string(retired.member.admission) + '\n');
    for (const auto& [space, clock] : retired.finals)
      for (const auto& [writer, counter] : clock.entries())
        hash.update("final " + space + ' ' + writer + ' ' + std::to_string(counter) + '\n');
  }
  return hash.finish();
}

Hash statementsHash(const StatementIndex& index) {
  std::vector<Hash> each;
  for (const auto& entry : index.entries()) each.push_back(sha256(encodeStatement(entry.statement)));
  std::sort(each.begin(), each.end());
  Sha256 hash;
  hash.update("witan statements 1\n");
  for (const Hash& one : each) hash.update(asView(one));
  return hash.finish();
}

}  // namespace

const char* toString(Standing standing) {
  switch (standing) {
    case Standing::unknown: return "unknown";
    case Standing::active: return "active";
    case Standing::retiring: return "retiring";
    case Standing::retired: return "retired";
  }
  return "?";
}

Membership membershipOf(std::span<const Statement> statements) {
  const StatementIndex index(statements);
  const Flags leaving = mayLeave(index);
  const Flags retired = retiredMembers(index, leaving);
  Membership m;
  for (std::size_t i = 0; i < index.members().size(); ++i) {
    const StatementIndex::About& about = index.members()[i];
    const std::string& name = index.entries()[static_cast<std::size_t>(about.admits.front())].statement.name;
    if (retired[i]) {
      m.retired.push_back({about.member, name, finalsOf(index, about.member.device)});
      for (const auto& [space, clock] : m.retired.back().finals) m.finals[space].join(clock);
    } else if (about.proposed || isStranger(index, leaving, static_cast<int>(i))) {
      m.retiring.push_back(retiringMember(index, retired, static_cast<int>(i), name));
    } else {
      m.active.push_back({about.member, name});
    }
  }
  m.epoch = index.members().size() + m.retired.size();
  m.hash = completedHash(m, index.members());
  m.statements = statementsHash(index);
  m.waiting = index.waiting();
  m.forked = index.forked();
  return m;
}

Standing Membership::standing(std::string_view device) const {
  std::uint32_t latest = 0;
  Standing standing = Standing::unknown;
  const auto look = [&](const auto& list, Standing each) {
    for (const auto& one : list)
      if (one.member.device == device && one.member.admission > latest) latest = one.member.admission, standing = each;
  };
  look(active, Standing::active);
  look(retiring, Standing::retiring);
  look(retired, Standing::retired);
  return standing;
}

std::uint32_t Membership::nextAdmission(std::string_view device) const {
  std::uint32_t latest = 0;
  const auto look = [&](const auto& list) {
    for (const auto& one : list)
      if (one.member.device == device) latest = std::max(latest, one.member.admission);
  };
  look(active), look(retiring), look(retired);
  return latest + 1;
}

std::vector<std::string> Membership::presentDevices() const {
  std::vector<std::string> devices;
  for (const ActiveMember& one : active) devices.push_back(one.member.device);
  for (const RetiringMember& one : retiring) devices.push_back(one.member.device);
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

std::vector<Member> acksDue(const Membership& membership, std::string_view device) {
  std::vector<Member> due;
  for (const RetiringMember& retiring : membership.retiring) {
    const auto isOwn = [&](const Member& member) { return member.device == device; };
    if (std::any_of(retiring.missing.begin(), retiring.missing.end(), isOwn)) due.push_back(retiring.member);
  }
  return due;
}

std::vector<AckedCounter> countersToAck(const Membership& membership, const ClocksBySpace& committed) {
  std::vector<AckedCounter> counters;
  for (const auto& [space, clock] : committed)
    for (const auto& [writer, counter] : clock.entries())
      if (membership.standing(deviceOf(writer)) == Standing::retiring) counters.push_back({space, writer, counter});
  return counters;
}

}  // namespace witan::replication
