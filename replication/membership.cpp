#include "replication/membership.h"

#include <algorithm>
#include <tuple>

#include "base/bytes.h"
#include "replication/writer.h"

namespace witan::replication {

namespace {

// The statements that count, in an order in which each follows its past, with the facts that retirements need. It
// copies what it keeps. The statements passed validateStatement.
class StatementIndex {
 public:
  StatementIndex(std::span<const Statement> statements, const MayRetire& mayRetire);

  struct Entry {
    Statement statement;
    VectorClock seen;
    int issuer = -1;   // member: the device that states it, under its latest admission that it knew of; -1: none
    int subject = -1;  // member: whom it is about
  };
  struct About {
    Member member;
    std::vector<int> admits;  // entries, in their order
    std::vector<int> acks;
    bool proposed = false;
  };

  const std::vector<Entry>& entries() const { return entries_; }
  const std::vector<About>& members() const { return members_; }  // by device, then admission
  std::size_t waiting() const { return waiting_; }
  const std::vector<Dot>& forked() const { return forked_; }

  // Whether a member has acked another, by itself, by what its sponsor had acked when it admitted it, or by having
  // acked the subject's sponsor without knowing the subject.
  bool hasAcked(int member, int subject) const { return hasAcked(member, subject, kAll, kNone); }

 private:
  static constexpr int kAll = -1;
  static constexpr int kNone = -1;

  void order(std::vector<Statement> statements);
  void nameMembers(const MayRetire& mayRetire);
  bool precedes(int entry, int horizon) const;
  // Among the statements in the past of the entry `horizon`, counting only acks that do not know the entry `unknown`.
  bool hasAcked(int member, int subject, int horizon, int unknown) const;
  bool findAck(int member, int subject, int horizon, int unknown) const;

  std::vector<Entry> entries_;
  std::vector<About> members_;
  std::size_t waiting_ = 0;
  std::vector<Dot> forked_;
  mutable std::map<std::tuple<int, int, int, int>, bool> memo_;
};

VectorClock clockOf(const Statement& s) {
  VectorClock seen;
  for (const SeenStatements& entry : s.seen) seen.raise(entry.writer, entry.number);
  return seen;
}

std::uint64_t weight(const VectorClock& clock) {
  std::uint64_t sum = 0;
  for (const auto& [writer, number] : clock.entries()) sum += number;
  return sum;
}

StatementIndex::StatementIndex(std::span<const Statement> statements, const MayRetire& mayRetire) {
  order(joinStatements(statements, {}));
  nameMembers(mayRetire);
}

// The statements in the past of another have a strictly smaller weight, so one pass in the order of the weights finds
// everything whose past is complete. A statement that claims a past without that past's own past never counts.
void StatementIndex::order(std::vector<Statement> statements) {
  std::vector<Entry> candidates;
  for (Statement& s : statements) {
    if (!candidates.empty() && candidates.back().statement.writer == s.writer &&
        candidates.back().statement.number == s.number) {
      if (forked_.empty() || forked_.back() != Dot{s.writer, s.number}) forked_.push_back({s.writer, s.number});
      continue;
    }
    VectorClock seen = clockOf(s);
    candidates.push_back({std::move(s), std::move(seen)});
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> byWeight;
  for (std::size_t i = 0; i < candidates.size(); ++i) byWeight.emplace_back(weight(candidates[i].seen), i);
  std::ranges::sort(byWeight);  // ties: by dot, as the candidates stand

  std::map<std::pair<std::string_view, std::uint64_t>, int> there;
  for (const auto& [unused, at] : byWeight) {
    Entry& candidate = candidates[at];
    const bool complete = std::ranges::all_of(candidate.seen.entries(), [&](const VectorClock::Entry& e) {
      const auto found = there.find({e.first, e.second});
      return found != there.end() && le(entries_[static_cast<std::size_t>(found->second)].seen, candidate.seen);
    });
    if (!complete) {
      ++waiting_;
      continue;
    }
    // The name stays where it is: candidates outlives `there`, and the entry takes a copy.
    there[{candidate.statement.writer, candidate.statement.number}] = static_cast<int>(entries_.size());
    entries_.push_back(candidate);
  }
}

void StatementIndex::nameMembers(const MayRetire& mayRetire) {
  std::map<Member, int> numbers;
  for (const Entry& entry : entries_)
    if (entry.statement.kind == StatementKind::admit) numbers[{entry.statement.device, entry.statement.admission}] = 0;
  for (auto& [member, number] : numbers) {
    number = static_cast<int>(members_.size());
    members_.push_back({member});
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    const Statement& s = entry.statement;
    const auto subject = numbers.find({s.device, s.admission});
    if (subject != numbers.end()) entry.subject = subject->second;
    const std::string device(deviceOf(s.writer));
    for (auto at = numbers.lower_bound({device, 0}); at != numbers.end() && at->first.device == device; ++at) {
      const About& own = members_[static_cast<std::size_t>(at->second)];
      const bool known =
          std::ranges::any_of(own.admits, [&](int admit) { return precedes(admit, static_cast<int>(i)); });
      if (known) entry.issuer = at->second;
    }
    if (entry.subject < 0) continue;
    About& about = members_[static_cast<std::size_t>(entry.subject)];
    if (s.kind == StatementKind::admit) about.admits.push_back(static_cast<int>(i));
    if (s.kind == StatementKind::proposeRetire && (!mayRetire || mayRetire(s.device))) about.proposed = true;
    if (s.kind == StatementKind::retireAck) about.acks.push_back(static_cast<int>(i));
  }
}

bool StatementIndex::precedes(int entry, int horizon) const {
  if (horizon == kAll) return true;
  const Statement& s = entries_[static_cast<std::size_t>(entry)].statement;
  return entries_[static_cast<std::size_t>(horizon)].seen.at(s.writer) >= s.number;
}

bool StatementIndex::hasAcked(int member, int subject, int horizon, int unknown) const {
  const auto [at, isNew] = memo_.try_emplace({member, subject, horizon, unknown}, false);
  // Every step below goes to a statement further in the past, so no answer waits for itself.
  if (isNew) at->second = findAck(member, subject, horizon, unknown);
  return at->second;
}

bool StatementIndex::findAck(int member, int subject, int horizon, int unknown) const {
  const About& about = members_[static_cast<std::size_t>(subject)];
  for (const int ack : about.acks) {
    const bool own = entries_[static_cast<std::size_t>(ack)].issuer == member;
    if (own && precedes(ack, horizon) && (unknown == kNone || !precedes(unknown, ack))) return true;
  }
  const auto issuer = [&](int admit) { return entries_[static_cast<std::size_t>(admit)].issuer; };

  // A stranger: whoever acked its sponsor without knowing of it has nothing of it. An ack that does not know how the
  // sponsor joined does not know `unknown` either, which the sponsor stated later.
  bool stranger = false;
  for (const int admit : about.admits) {
    if (unknown != kNone && !precedes(admit, unknown)) continue;
    stranger = issuer(admit) >= 0 && hasAcked(member, issuer(admit), horizon, admit);
    if (!stranger) break;
  }
  if (stranger) return true;

  // With several admissions by several sponsors it may have come through any of them: all must have acked before.
  bool inherits = false;
  for (const int admit : members_[static_cast<std::size_t>(member)].admits) {
    if (!precedes(admit, horizon)) continue;
    if (issuer(admit) < 0 || !hasAcked(issuer(admit), subject, admit, unknown)) return false;
    inherits = true;
  }
  return inherits;
}

// --- retirement

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
      if (leaving[i] || !std::ranges::all_of(admits, byLeaving)) continue;
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
    hash.update(concat("member ", about.member.device, ' ', about.member.admission, '\n'));
  for (const RetiredMember& retired : m.retired) {
    hash.update(concat("retired ", retired.member.device, ' ', retired.member.admission, '\n'));
    for (const auto& [space, clock] : retired.finals)
      for (const auto& [writer, counter] : clock.entries())
        hash.update(concat("final ", space, ' ', writer, ' ', counter, '\n'));
  }
  return hash.finish();
}

Hash statementsHash(const StatementIndex& index) {
  std::vector<Hash> each;
  for (const auto& entry : index.entries()) each.push_back(sha256(encodeStatement(entry.statement)));
  std::ranges::sort(each);
  Sha256 hash;
  hash.update("witan statements 1\n");
  for (const Hash& one : each) hash.update(asView(one));
  return hash.finish();
}

}  // namespace

Membership membershipOf(std::span<const Statement> statements, const MayRetire& mayRetire) {
  const StatementIndex index(statements, mayRetire);
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
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

std::vector<Member> acksDue(const Membership& membership, std::string_view device) {
  std::vector<Member> due;
  for (const RetiringMember& retiring : membership.retiring) {
    const auto isOwn = [&](const Member& member) { return member.device == device; };
    if (std::ranges::any_of(retiring.missing, isOwn)) due.push_back(retiring.member);
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
