#include "replication/membership_index.h"

#include <algorithm>
#include <numeric>

#include "replication/writer.h"

namespace witan::replication {

namespace {

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

}  // namespace

StatementIndex::StatementIndex(std::span<const Statement> statements) {
  order(joinStatements(statements, {}));
  nameMembers();
}

// What is in a statement's past has a strictly smaller weight, so one pass in the order of the weights finds everything
// whose past is complete. A statement that claims a past without that past's own past never counts.
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
  std::sort(byWeight.begin(), byWeight.end());  // ties: by dot, as the candidates stand

  std::map<std::pair<std::string_view, std::uint64_t>, int> there;
  for (const auto& [unused, at] : byWeight) {
    Entry& candidate = candidates[at];
    const bool complete =
        std::all_of(candidate.seen.entries().begin(), candidate.seen.entries().end(), [&](const VectorClock::Entry& e) {
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

void StatementIndex::nameMembers() {
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
      const bool known = std::any_of(own.admits.begin(), own.admits.end(),
                                     [&](int admit) { return precedes(admit, static_cast<int>(i)); });
      if (known) entry.issuer = at->second;
    }
    if (entry.subject < 0) continue;
    About& about = members_[static_cast<std::size_t>(entry.subject)];
    if (s.kind == StatementKind::admit) about.admits.push_back(static_cast<int>(i));
    if (s.kind == StatementKind::proposeRetire) about.proposed = true;
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

}  // namespace witan::replication
