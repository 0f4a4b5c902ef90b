// The domain itself, and the workload of property tests, lint and simulator: plausible proposals, lawful and unlawful,
// for the state at hand.
#include "domains/moderation/moderation.h"

#include <array>

#include "base/quote.h"
#include "domains/registry.h"
#include "domains/vocabulary.h"
#include "kernel/typed_module.h"

namespace witan::domains::moderation {

namespace {

std::string numbered(char letter, std::uint64_t number) { return letter + std::to_string(number); }

// A row of the table, mostly; sometimes one that may not exist.
template <class Row>
std::string knownKey(const Table<Row>& table, char letter, Random& random) {
  if (table.size() == 0 || random.below(12) == 0) return numbered(letter, 1 + random.below(9));
  return table.key(static_cast<Slot>(random.below(table.size())));
}

std::string nextAction(const State& s) { return numbered('A', s.actions.size() + 1); }

std::string item(Random& random) { return numbered('p', 1 + random.below(5)); }

std::string reason(Random& random) { return random.below(15) == 0 ? "" : "rule scam_links v2"; }

ApplyLabel sampleLabel(Random& random, Time at) {
  ApplyLabel label;
  const bool user = random.below(3) == 0;
  label.entityType = user ? "User" : "Post";
  label.entity = user ? "u1" : item(random);
  label.label = user ? pick<const char*, 3>(random, {"likely_spammer", "scam_link", "trusted"}) : "scam_link";
  if (random.below(20) == 0) label.label = pick<const char*, 2>(random, {"trusted", "unheard_of"});
  label.reason = reason(random);
  if (random.below(6) == 0) {
    label.status = pick<const char*, 2>(random, {"MANUALLY_ADDED", "MANUALLY_REMOVED"});
    if (random.below(4) != 0)
      label.expires = Time{at.micros + static_cast<std::int64_t>(random.below(4)) * kMicrosPerDay / 2};
  }
  return label;
}

// The removal of a label that somebody applied, mostly.
RemoveLabel sampleRemoval(const State& s, Random& random) {
  RemoveLabel removal{"Post", item(random), "scam_link", reason(random)};
  if (s.labels.size() > 0 && random.below(5) != 0)
    if (const auto& entry = s.labels.row(static_cast<Slot>(random.below(s.labels.size()))).entry)
      removal = {entry->type, entry->entity, entry->label, reason(random)};
  if (random.below(5) == 0) removal.status = "MANUALLY_REMOVED";
  return removal;
}

DraftNotice sampleNotice(const State& s, Random& random) {
  DraftNotice notice;
  notice.n = random.below(10) == 0 ? knownKey(s.notices, 'N', random) : numbered('N', s.notices.size() + 1);
  notice.action = random.below(6) == 0 ? knownKey(s.actions, 'A', random) : nextAction(s);
  notice.facts = "posted a link to a phishing page";
  notice.clause = "scams, 4.2";
  if (random.below(12) != 0) notice.redress = "appeal in the app";
  return notice;
}

TakeAction sampleAction(const State& s, Random& random) {
  TakeAction taken;
  taken.a = random.below(12) == 0 ? knownKey(s.actions, 'A', random) : nextAction(s);
  taken.kind = pick<const char*, 8>(
      random, {"WARN", "REMOVE_CONTENT", "REMOVE_CONTENT", "REMOVE_CONTENT", "RESTRICT", "RESTRICT", "SUSPEND", "BAN"});
  taken.policy = pick<const char*, 6>(random, {"spam", "harassment", "hate", "scam", "scam", "csam"});
  taken.item = item(random);
  for (std::uint64_t n = random.below(12) == 0 ? 0 : 1 + random.below(2); n > 0; --n)
    taken.evidence.push_back(numbered('L', 1 + random.below(s.labels.size() + (random.below(8) == 0 ? 2 : 0) + 1)));
  if (!taken.evidence.empty() && s.labels.size() > 0 && random.below(2) == 0)
    taken.evidence = {numbered('L', s.labels.size())};
  return taken;
}

}  // namespace

Moderation::AnyAction Moderation::sample(const State& s, Random& random, Time at) {
  const std::uint64_t draw = random.below(100);
  if (draw < 20) return sampleLabel(random, at);
  if (draw < 26) return sampleRemoval(s, random);
  if (draw < 44) return sampleNotice(s, random);
  if (draw < 70) return sampleAction(s, random);
  if (draw < 76) return ReverseAction{knownKey(s.actions, 'A', random)};
  if (draw < 80) return CloseCase{};
  if (draw < 89)
    return OpenAppeal{random.below(8) == 0 ? knownKey(s.appeals, 'P', random) : numbered('P', s.appeals.size() + 1),
                      knownKey(s.actions, 'A', random)};
  return DecideAppeal{knownKey(s.appeals, 'P', random), random.below(2) == 0 ? "UPHELD" : "OVERTURNED",
                      random.below(2) == 0 ? "agent.appeals" : "human.fake"};
}

// Every fourth user comes with a strike from before.
std::string Moderation::sampleInit(Random& random, Time at) {
  if (random.below(4) != 0) return "{}";
  const std::string when = toJson(at);
  return R"({"label.log":[{"id":"L1","type":"Post","entity":"p9","label":"scam_link","status":"ADDED",)"
         R"("reason":"reported by a user","at":)" +
         when + R"(,"expires":null}],"notice.action":{"N1":"A1"},"notice.at":{"N1":)" + when +
         R"(},"notice.facts":{"N1":"posted a link to a phishing page"},"notice.clause":{"N1":"scams, 4.2"},)"
         R"("notice.redress":{"N1":"appeal in the app"},"action.kind":{"A1":"REMOVE_CONTENT"},)"
         R"("action.policy":{"A1":"scam"},"action.item":{"A1":"p9"},"action.at":{"A1":)" +
         when + R"(},"action.evidence":{"A1":["L1"]},"strike.weight":{"A1":5},"case.phase":"ACTIONED"})";
}

std::string Moderation::sampleEdit(const State&, const AnyAction& pending, std::string_view counselor, Random&, Time) {
  if (const auto* taken = std::get_if<TakeAction>(&pending))
    return "{\"humanReview\":{" + jsonQuoted(taken->a) + ":" + jsonQuoted(counselor) + "}}";
  if (const auto* decided = std::get_if<DecideAppeal>(&pending))
    return "{\"appeal.decidedBy\":{" + jsonQuoted(decided->p) + ":" + jsonQuoted(counselor) + "}}";
  return "{}";
}

}  // namespace witan::domains::moderation

WITAN_DEFINE_DOMAIN(moderation, moderation::Moderation)
