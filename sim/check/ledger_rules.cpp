#include "sim/check/ledger_rules.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/json.h"
#include "kernel/record/merkle.h"
#include "sim/check/domain_rules.h"

namespace witan::sim {

using kernel::Entry;
using kernel::Tag;

struct LedgerRules::Entity {
  kernel::EntityPtr state;  // folded from the write sets
  Hash digest{};
  std::uint64_t pending = 0;  // the escalation that waits
  std::string pendingAction;
  Time pendingSince;
  Time clock;
  bool poisoned = false;  // an unsafe commit, and no approval since
};

namespace {

std::optional<json::object> objectIn(const std::string& text) {
  auto parsed = parseJson(text, {.bytes = kernel::kRecordMax, .depth = 64});
  if (!parsed || !parsed->is_object()) return std::nullopt;
  return std::move(parsed->get_object());
}

bool isProposal(const Entry& entry) { return entry.tag <= Tag::escalated; }
bool isCommit(const Entry& entry) { return entry.tag == Tag::approved || entry.tag == Tag::cCommitted; }

// The first invariant that does not hold: its id and what it says; "" if all hold.
std::string firstViolated(const kernel::DomainModule& module, const kernel::EntityState& state) {
  const std::vector<kernel::Verdict> verdicts = module.walk(state);
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (!verdicts[i].passed()) return module.signature().invariants[i].id + " says " + verdicts[i].message();
  return {};
}

}  // namespace

LedgerRules::LedgerRules(const kernel::DomainModule& module, std::int64_t pendingTtlMicros)
    : module_(module), pendingTtlMicros_(pendingTtlMicros), replay_(module) {}
LedgerRules::~LedgerRules() = default;

std::string LedgerRules::add(const LedgerLine& line) {
  const Entry& entry = line.entry;
  const auto wrong = [&](const std::string& why) { return why.empty() ? why : nameOf(entry) + ": " + why; };
  if (entry.seq != entries_ + 1) return wrong(concat("stands where entry ", entries_ + 1, " is due"));
  ++entries_;
  if (std::string why = plan(entry); !why.empty()) return wrong(why);
  if (kernel::leafHash(words_.message(entry)) != line.leaf) return wrong("its leaf is not that of its canonical bytes");
  auto& entity = entities_[entry.entity];
  if (entity == nullptr) {
    entity = std::make_unique<Entity>();
    if (std::string why = begin(entry, *entity); !why.empty()) return wrong(why);
  } else if (!entry.genesis.empty()) {
    return wrong("its entity begins a second time");
  }
  return wrong(check(entry, *entity));
}

std::string LedgerRules::check(const Entry& entry, Entity& entity) {
  for (const std::string& why : {members(entry), resolution(entry, entity)})
    if (!why.empty()) return why;
  // Replay reads the view in place.
  auto view = kernel::readEntryView(words_.message(entry));
  if (!view) return view.error().message;
  if (Status same = replay_.check(*view); !same.ok()) return same.error().message;
  if (std::string why = fold(entry, entity); !why.empty()) return why;
  if (entry.tag == Tag::escalated) {
    entity.pending = entry.seq;
    entity.pendingAction = entry.action;
    entity.pendingSince = entry.time;
  } else if (!isProposal(entry)) {
    entity.pending = 0;
  }
  return invariants(entry, entity);
}

// Finding F3, and theorem 4 (v): an operation id that was turned away for its plan may be decided under the right one.
std::string LedgerRules::plan(const Entry& entry) {
  const auto bound = plans_.find(entry.runKey);
  const bool elsewhere = bound != plans_.end() && bound->second != entry.planDigest;
  const auto known = operations_.find(entry.operationId);
  if (known != operations_.end() && (!known->second || elsewhere || entry.runKey.empty()))
    return "its operation id was decided before (theorem 4 v)";
  operations_[entry.operationId] = elsewhere;
  if (entry.runKey.empty() != entry.planDigest.empty()) return "a run and its plan go together";
  if (entry.runKey.empty()) return {};
  if (!isProposal(entry)) return "a counselor who is a run";
  if (bound == plans_.end()) plans_.emplace(entry.runKey, entry.planDigest);
  if (!elsewhere) return isTurnedAway(entry) ? "turned away for the plan that its run is bound to" : "";
  const std::string names = toHex(bound->second).substr(0, 32);
  const bool named = entry.message.find(names) != std::string::npos;
  return isTurnedAway(entry) && named ? "" : "its run acts by a second plan, beside " + names + " (F3)";
}

// Every theorem starts from a state in which the invariants hold.
std::string LedgerRules::begin(const Entry& entry, Entity& entity) {
  const auto genesis = objectIn(entry.genesis);
  const json::value* state = genesis ? genesis->if_contains("state") : nullptr;
  if (state == nullptr || !state->is_object()) return "its entity has no beginning";
  auto made = module_.readState(state->get_object());
  if (!made) return "its entity's beginning: " + made.error().message;
  entity.state = *std::move(made);
  entity.clock = entity.state->shared.clock;
  entity.digest = kernel::firstStateDigest(entry.genesis);
  const std::string violated = firstViolated(module_, *entity.state);
  return violated.empty() ? std::string() : "its entity begins in violation: " + violated;
}

// Theorem 4 (vi) to (viii), lemma A.65.
std::string LedgerRules::resolution(const Entry& entry, Entity& entity) const {
  const std::string waits = concat("entry ", entity.pending);
  if (isProposal(entry)) {
    if (entity.pending != 0 && (!module_.signature().freezesByKey() || entry.tag == Tag::escalated))
      return "decides while " + waits + " waits for a counselor (lemma A.65)";
    return entry.escalation == 0 ? std::string() : "a proposal that resolves something";
  }
  if (entity.pending == 0) return concat("resolves entry ", entry.escalation, ", but nothing waits (4 viii)");
  if (entry.escalation != entity.pending)
    return concat("resolves entry ", entry.escalation, ", but ", waits, " waits (4 viii)");
  if (entry.action != entity.pendingAction) return "its action is not the one that waits";
  const std::int64_t waited = entry.time.micros - entity.pendingSince.micros;
  const bool human = entry.counselor != "system";
  if (pendingTtlMicros_ > 0 && (human ? waited >= pendingTtlMicros_ : waited != pendingTtlMicros_))
    return concat(human ? "a counselor decides " : "it expires ", waited,
                  " us after it was asked for, and the time is ", pendingTtlMicros_, " us (F17)");
  if (pendingTtlMicros_ == 0 && !human) return "it expires, and nothing does (F17)";
  if (human)
    return module_.authorised(entry.counselor) ? "" : entry.counselor + " is no authorised counselor (4 vi, vii)";
  const bool expiry = entry.tag == Tag::cRejected && entry.operationId == concat("expire:", entry.escalation);
  return expiry && !entry.reason.empty() ? "" : "the system counselor rejects by expiry only, and says so (F17)";
}

// Which members an entry of its tag has: theorem 4 (i), (ii), (vi), (vii).
std::string LedgerRules::members(const Entry& entry) const {
  if (entry.entity.empty() || entry.operationId.empty()) return "names no entity or no operation";
  const bool witness = entry.tag == Tag::rejected || entry.tag == Tag::escalated;
  if (witness == entry.invariant.empty()) return witness ? "no witness (4 ii)" : "a witness where none belongs (4 i)";
  if (isCommit(entry) == entry.writes.empty())
    return isCommit(entry) ? "a commit without its writes" : "writes without a commit (lemma A.47)";
  if (isProposal(entry) != entry.counselor.empty())
    return isProposal(entry) ? "a counselor who decided nothing" : "nobody decided it (4 vi, vii)";
  if (entry.tag != Tag::escalated && (entry.tag == Tag::cCommitted) == entry.decision.empty())
    return "what a counselor decided belongs to commits, and what is frozen to escalations";
  const bool vector = entry.tag == Tag::escalated || entry.tag == Tag::cCommitted;
  if (!vector && !entry.findings.empty()) return "a detection vector where none belongs";
  const std::size_t verdicts = entry.tag == Tag::cRejected ? 0 : module_.signature().invariants.size() + 1;
  return entry.verdicts.size() == verdicts ? "" : "not one verdict an invariant";
}

// The second fold: from what the entry says was written.
std::string LedgerRules::fold(const Entry& entry, Entity& entity) const {
  if (isCommit(entry)) {
    if (entry.time < entity.clock) return "its time lies before its entity's clock (F5)";
    const auto writes = objectIn(entry.writes);
    if (!writes) return "its writes are no JSON object";
    if (Status applied = module_.applyWrites(*entity.state, *writes); !applied.ok()) return applied.error().message;
    entity.clock = entity.state->shared.clock = entry.time;
    entity.digest = kernel::nextStateDigest(entity.digest, entry.time, entry.writes);
  }
  return entry.stateDigest == entity.digest ? "" : "its state digest is not that of what was written (lemma A.47)";
}

// Theorems 1 and 1+, lemma A.48.
std::string LedgerRules::invariants(const Entry& entry, Entity& entity) const {
  if (!isCommit(entry)) return {};
  const std::string violated = firstViolated(module_, *entity.state);
  if (entry.tag == Tag::cCommitted) entity.poisoned = !entry.findings.empty();
  if (entry.tag == Tag::approved) entity.poisoned = false;
  if (!violated.empty() && !entity.poisoned) return "the state after it violates " + violated + " (theorem 1)";
  if (violated.empty() && entity.poisoned) return "recorded as unsafe, but every invariant holds after it";
  return {};
}

std::string LedgerRules::states() const {
  for (const auto& [name, entity] : entities_) {
    if (entity->poisoned) continue;
    std::string text;
    module_.writeState(text, *entity->state);
    const auto state = objectIn(text);
    const std::string wrong = state ? checkDomainState(module_.signature().domain, *state) : "it is no JSON object";
    if (!wrong.empty()) return "the state of " + name + ": " + wrong;
  }
  return {};
}

std::string checkLedger(const kernel::DomainModule& module, std::span<const LedgerLine> lines,
                        std::int64_t pendingTtlMicros) {
  LedgerRules rules(module, pendingTtlMicros);
  for (const LedgerLine& line : lines)
    if (std::string problem = rules.add(line); !problem.empty()) return problem;
  return rules.states();
}

namespace {

std::string checkEpochsOf(const DeviceLog& one) {
  const kernel::EpochRecord* before = nullptr;
  kernel::MerkleFrontier tree;
  for (const kernel::EpochRecord& epoch : one.log->epochs) {
    const std::string name = "the log of " + one.device + ": " + nameOf(epochOf(epoch));
    if (before != nullptr && epoch.number <= before->number) return name + " follows " + nameOf(epochOf(*before));
    if (before != nullptr && epoch.entries < before->entries)
      return concat(name, " begins after ", epoch.entries, " entries, ", nameOf(epochOf(*before)), " after ",
                    before->entries);
    if (epoch.entries > one.log->lines.size())
      return concat(name, " begins after ", epoch.entries, " entries, but there are ", one.log->lines.size());
    while (tree.size() < epoch.entries) tree.append(one.log->lines[tree.size()].leaf);
    if (tree.root() != epoch.root) return name + " begins on other entries than those before it";
    if (before != nullptr && (epoch.previousNumber != before->number || epoch.previousOwner != before->owner))
      return name + " names another predecessor than " + nameOf(epochOf(*before));
    before = &epoch;
  }
  return {};
}

// Of two logs one must begin with the other.
std::string compareLogs(const DeviceLog& a, const DeviceLog& b) {
  const auto differ = [&](const std::string& what) {
    return "the logs of " + a.device + " and " + b.device + ": " + what;
  };
  const auto &left = *a.log, &right = *b.log;
  const std::size_t lines = std::min(left.lines.size(), right.lines.size());
  for (std::size_t i = 0; i < lines; ++i)
    if (left.lines[i].leaf != right.lines[i].leaf)
      return differ(nameOf(left.lines[i].entry) + " is " + nameOf(right.lines[i].entry) + " in the other");
  const std::size_t epochs = std::min(left.epochs.size(), right.epochs.size());
  for (std::size_t i = 0; i < epochs; ++i)
    if (epochOf(left.epochs[i]) != epochOf(right.epochs[i]) || left.epochs[i].entries != right.epochs[i].entries)
      return differ(nameOf(epochOf(left.epochs[i])) + " is " + nameOf(epochOf(right.epochs[i])) + " in the other");
  // The shorter list must not have entries that the longer has under an epoch which the shorter lacks.
  const auto& longer = left.epochs.size() >= right.epochs.size() ? left : right;
  const auto& shorter = &longer == &left ? right : left;
  if (longer.epochs.size() > epochs && longer.epochs[epochs].entries < shorter.lines.size())
    return differ("one has entries beyond the beginning of " + nameOf(epochOf(longer.epochs[epochs])) +
                  ", which it does not know");
  return {};
}

}  // namespace

std::string checkFences(std::span<const DeviceLog> logs, std::span<const LostRange> lost) {
  std::map<std::uint64_t, std::pair<const kernel::EpochRecord*, const DeviceLog*>> byNumber;
  for (const DeviceLog& one : logs) {
    if (std::string problem = checkEpochsOf(one); !problem.empty()) return problem;
    for (const kernel::EpochRecord& epoch : one.log->epochs) {
      if (hasLosses(lost, epochOf(epoch))) continue;
      const auto [first, fresh] = byNumber.emplace(epoch.number, std::pair(&epoch, &one));
      if (fresh) continue;
      const auto& [other, holder] = first->second;
      if (other->owner != epoch.owner)
        return concat("epoch ", epoch.number, " has two owners: ", other->owner, " in the log of ", holder->device,
                      ", ", epoch.owner, " in that of ", one.device);
      if (other->entries != epoch.entries)
        return concat(nameOf(epochOf(epoch)), " begins after ", other->entries, " entries at ", holder->device,
                      ", after ", epoch.entries, " at ", one.device);
    }
  }
  for (std::size_t i = 0; i < logs.size(); ++i)
    for (std::size_t k = i + 1; k < logs.size(); ++k)
      if (std::string problem = compareLogs(logs[i], logs[k]); !problem.empty()) return problem;
  return {};
}

}  // namespace witan::sim
