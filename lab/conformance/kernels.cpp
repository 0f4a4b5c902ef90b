#include "lab/conformance/kernels.h"

#include <algorithm>
#include <functional>

#include "agents/episode/replay.h"
#include "base/json_codec.h"
#include "lab/conformance/graph_checks.h"
#include "lab/conformance/laws.h"
#include "lab/conformance/market_checks.h"
#include "lab/conformance/running_checks.h"

namespace witan::agents::conformance {

using episode::Context;
using episode::EntryKind;
using episode::Grant;

namespace {

constexpr std::uint64_t kRuns = 200;

Finding failed(std::string detail) { return {false, std::move(detail)}; }

std::string words(std::uint64_t n, const char* what) { return concat(n, " ", what); }

struct Lived {
  ToyDisk disk;
  std::uint64_t boundaries = 0;
  Status status = okStatus();
};

Lived live(std::uint64_t seed, std::set<std::uint64_t> crashAt = {}, bool checkRecords = true) {
  const ToyAgent agent(seed, {seed % 7 == 0, seed % 11 == 0, true});
  const ToyGate gate(seed);
  Lived out;
  ToyHost host(agent, gate, {"d1", std::move(crashAt), seed, seed, checkRecords}, out.disk);
  out.status = host.run();
  out.boundaries = host.boundaries();
  return out;
}

std::size_t effectsIn(const ToyDisk& disk) {
  return static_cast<std::size_t>(std::ranges::count_if(
      disk.history, [](const Step& s) { return s.kind == StepKind::looked || s.kind == StepKind::acted; }));
}

std::size_t entriesIn(const ToyDisk& disk, std::initializer_list<std::string_view> kinds) {
  std::size_t count = 0;
  for (const auto& [device, transcript] : disk.transcripts)
    for (const std::string& content : transcript)
      for (const std::string_view kind : kinds)
        count += content.find(concat("\"entry\":\"", kind, "\"")) != std::string::npos ? 1 : 0;
  return count;
}

// The law over many runs; `extra` may have something against one as well.
Finding holds(Law law, const std::function<Status(const Lived&)>& extra = {}) {
  std::size_t effects = 0, entries = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const Lived lived = live(seed);
    Status status = lived.status;
    if (status.ok()) status = law(lived.disk);
    if (status.ok() && extra) status = extra(lived);
    if (!status.ok()) return failed(concat("run ", seed, ": ", status.error().message));
    effects += effectsIn(lived.disk);
    entries += lived.disk.transcripts.at("d1").size();
  }
  if (effects == 0) return failed("the toys did nothing");
  Finding running = holdsOnHosts(law);
  if (!running.pass) return running;
  return {true, words(kRuns, "runs, ") + words(effects, "effects, ") + words(entries, "entries; ") + running.detail};
}

// Breaks a lawful history and asks the law. The first run in which there was something to break decides.
Finding foundOut(Law law, const std::function<bool(ToyDisk&)>& breakIt) {
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    ToyDisk disk = live(seed).disk;
    if (!law(disk).ok()) return failed("the history was unlawful before it was broken");
    if (!breakIt(disk)) continue;
    const Status status = law(disk);
    return status.ok() ? failed("nothing was noticed") : Finding{true, status.error().message};
  }
  return failed("there was nothing to break");
}

// Rewrites the first entry for which `change` returns true.
bool rewrite(ToyDisk& disk, const std::function<bool(EntryKind, json::object&)>& change) {
  for (auto& [device, transcript] : disk.transcripts)
    for (std::string& content : transcript) {
      auto entry = episode::parseEntry(content);
      if (!entry.ok() || !change(entry->kind, entry->body)) continue;
      content = episode::makeEntry(entry->kind, std::move(entry->body)).content;
      return true;
    }
  return false;
}

// ---- K-01

Status permissionOnlyFromAnnouncement(const Lived& lived) {
  const std::size_t announced = entriesIn(lived.disk, {"look", "intended"});
  return effectsIn(lived.disk) <= announced ? okStatus() : Status(invalid("more effects than announcements"));
}

Finding effectContainment() { return holds(effectsAreContained, permissionOnlyFromAnnouncement); }

Finding hiddenInput() {
  return foundOut(effectsAreContained, [](ToyDisk& disk) {
    disk.history.push_back({StepKind::looked, "d1", 0, "look-hidden"});
    return true;
  });
}

// ---- K-02

Finding auditBeforeMutation() { return holds(auditedBeforeMutation); }

Finding effectFirst() {
  return foundOut(auditedBeforeMutation, [](ToyDisk& disk) {
    for (std::size_t i = 1; i < disk.history.size(); ++i)
      if (disk.history[i].kind == StepKind::acted) {
        const Step effect = disk.history[i];
        disk.history.erase(disk.history.begin() + static_cast<std::ptrdiff_t>(i));
        disk.history.insert(disk.history.begin(), effect);
        return true;
      }
    return false;
  });
}

// ---- K-03

Finding budgetMonotone() {
  std::size_t denied = 0;
  Finding out = holds(quotaIsMonotone, [&](const Lived& lived) -> Status {
    for (const std::string& content : lived.disk.transcripts.at("d1"))
      denied += content.find("\"budget_exhausted\"") != std::string::npos ? 1 : 0;
    return okStatus();
  });
  if (out.pass && denied == 0) return failed("no budget was ever exhausted");
  out.detail += ", " + words(denied, "denials on exhaustion");
  return out;
}

Finding budgetGivenBack() {
  return foundOut(quotaIsMonotone, [](ToyDisk& disk) {
    return rewrite(disk, [](EntryKind kind, json::object& body) {
      if (kind != EntryKind::look) return false;
      body["tokens"] = -1;
      body["verdict"] = json::object{{"by", "gate"}, {"kind", "allow"}};
      return true;
    });
  });
}

// ---- K-04

Finding localeNarrowing() { return holds(localeOnlyNarrows); }

Finding localeWidened() {
  return foundOut(localeOnlyNarrows, [](ToyDisk& disk) {
    return rewrite(disk, [](EntryKind kind, json::object& body) {
      if (kind != EntryKind::look || body.at("tool").as_string() != "look.eu") return false;
      body["verdict"] = json::object{{"by", "gate"}, {"kind", "allow"}};
      return true;
    });
  });
}

// ---- E-1, replay determinism: seeds, crash and restart, equal transcripts

Finding replayIsEqual() {
  std::size_t entries = 0, restarts = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const ToyAgent agent(seed, {seed % 7 == 0, seed % 11 == 0, true});
    const std::uint64_t boundaries = live(seed).boundaries;
    for (const std::uint64_t at : {boundaries, boundaries / 2, boundaries / 3}) {
      const Lived lived = live(seed, {at});
      if (!lived.status.ok()) return failed(concat("run ", seed, ": ", lived.status.error().message));
      const auto again = episode::replay(agent, lived.disk.transcripts.at("d1"));
      if (!again.ok()) return failed(again.error().message);
      if (!again->reproduced())
        return failed(
            concat("run ", seed, " differs at entry ", again->difference ? again->difference->entry : again->entries));
      entries += again->entries;
      restarts += at < boundaries ? 1 : 0;
    }
  }
  Finding running = replayOfHosts();
  running.detail = words(entries, "entries byte for byte, ") + words(restarts, "restarts; ") + running.detail;
  return running;
}

Finding impurityShows() {
  const ImpureAgent agent(7);
  const ToyGate gate(7);
  ToyDisk disk;
  const Status status = ToyHost(agent, gate, {"d1", {}, 7, 7, true}, disk).run();
  if (!status.ok()) return failed(status.error().message);
  const auto again = episode::replay(agent, disk.transcripts.at("d1"));
  if (!again.ok()) return failed(again.error().message);
  if (!again->difference) return failed("an agent that keeps a count was not noticed");
  return {true, concat("an agent that keeps a count differs at entry ", again->difference->entry)};
}

// ---- E-2, budget monotonicity: fuzzed spends

struct Spends {
  episode::Quota quota{Budget{100, 1000, 1000}};
  std::uint64_t random = 1;
  std::int64_t draw(std::int64_t bound) {
    random = mix(random, "spend");
    return static_cast<std::int64_t>(random % static_cast<std::uint64_t>(bound));
  }
};

Finding fuzzedSpends() {
  Spends s;
  std::size_t denied = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (i % 200 == 0) s.quota = episode::Quota(Budget{s.draw(50), s.draw(500), s.draw(500)});
    const Budget before = s.quota.spent(), left = s.quota.remaining();
    const Budget amount{s.draw(4) - 1, s.draw(40) - 1, s.draw(40) - 1};
    const bool fits = amount.steps >= 0 && amount.tokens >= 0 && amount.seconds >= 0 && amount.steps <= left.steps &&
                      amount.tokens <= left.tokens && amount.seconds <= left.seconds;
    const bool spent = s.quota.spend(amount).ok();
    const Budget after = s.quota.spent();
    denied += spent ? 0 : 1;
    if (spent != fits) return failed(concat("spend ", i, " was decided wrongly"));
    if (after.steps < before.steps || after.tokens < before.tokens || after.seconds < before.seconds)
      return failed(concat("a counter shrank at spend ", i));
    if (!spent && !(after == before)) return failed("a denied spend changed something");
  }
  Finding running = holdsOnHosts(quotaIsMonotone);
  running.detail = "20000 spends, " + words(denied, "denied; ") + running.detail;
  return running;
}

Finding overspendShows() {
  return foundOut(quotaIsMonotone, [](ToyDisk& disk) {
    return rewrite(disk, [](EntryKind kind, json::object& body) {
      if (kind != EntryKind::look) return false;
      body["tokens"] = 1'000'000;
      body["verdict"] = json::object{{"by", "gate"}, {"kind", "allow"}};
      return true;
    });
  });
}

// ---- E-3, locale narrowing: random branching

Grant randomWish(std::uint64_t& random) {
  static const char* const kTags[] = {"at", "de", "eu", "us"};
  Grant wish;
  for (const char* tag : kTags)
    if ((random = mix(random, "tag")) % 2 == 0) wish.locale.emplace_back(tag);
  if ((random = mix(random, "cap")) % 2 == 0)
    wish.capabilities.push_back({"look.us", static_cast<std::int64_t>(random % 4), {}, {}});
  wish.budget = {1, static_cast<std::int64_t>(random % 9), 1};
  return wish;
}

Finding branchedForks() {
  std::uint64_t random = 3, forks = 0, refused = 0;
  for (int tree = 0; tree < 200; ++tree) {
    std::vector<std::pair<Grant, Context>> nodes;
    const Grant root{{{"look.*", 20, {}, {}}}, {"de", "eu", "us"}, {30, 300, 300}};
    nodes.emplace_back(root, Context(root));
    for (int i = 0; i < 20; ++i) {
      const std::size_t at = (random = mix(random, "node")) % nodes.size();
      const Grant wish = randomWish(random);
      auto child = nodes[at].second.fork(wish);
      if (!child.ok()) {
        ++refused;
        continue;
      }
      ++forks;
      if (!episode::isSubset(child->locale, nodes[at].first.locale))
        return failed("a child reaches further than its parent");
      nodes.emplace_back(*child, Context(*child));
    }
  }
  if (forks == 0 || refused == 0) return failed("the trees did not branch, or nothing was refused");
  Finding running = narrowedOnHosts();
  running.detail = words(forks, "forks within their parents, ") + words(refused, "refused; ") + running.detail;
  return running;
}

Finding wideForkShows() {
  return foundOut(localeOnlyNarrows, [](ToyDisk& disk) {
    auto& transcript = disk.transcripts.at("d1");
    const Grant wide{{}, {"eu", "us"}, {0, 0, 0}};
    auto grant = parseJson(toJson(wide));
    if (!grant.ok()) return false;
    transcript.insert(
        transcript.begin() + 1,
        episode::makeEntry(EntryKind::fork, {{"agent", "x"}, {"grant", *std::move(grant)}, {"run", ""}}).content);
    return true;
  });
}

// ---- E-5, exactly once: killed before and after every commit

Finding onceThroughEveryDeath() {
  std::size_t deaths = 0, mutations = 0;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const std::uint64_t boundaries = live(seed).boundaries;
    for (std::uint64_t at = 0; at < boundaries; ++at, ++deaths) {
      const Lived lived = live(seed, {at});
      Status status = lived.status;
      if (status.ok()) status = appliedExactlyOnce(lived.disk);
      if (!status.ok()) return failed(concat("run ", seed, ", death at ", at, ": ", status.error().message));
      mutations += lived.disk.mutations.size();
    }
  }
  if (mutations == 0) return failed("the toys changed nothing");
  Finding running = onceOnHosts();
  running.detail = words(deaths, "deaths, ") + words(mutations, "mutations, each once; ") + running.detail;
  return running;
}

// A host that does not look for the operation's record does things twice.
Finding doublesShow() {
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const std::uint64_t boundaries = live(seed).boundaries;
    for (std::uint64_t at = 0; at < boundaries; ++at)
      if (const Status status = appliedExactlyOnce(live(seed, {at}, false).disk); !status.ok())
        return doublesOnHostsShow();
  }
  return failed("a host that ignores operation records was not noticed");
}

constexpr KernelCheck kChecks[] = {
    {"K-01", "effect containment", "a look that nothing announced", effectContainment, hiddenInput},
    {"K-02", "audit before mutation", "an effect before its announcement", auditBeforeMutation, effectFirst},
    {"K-03", "budget monotonicity", "a cost that gives something back", budgetMonotone, budgetGivenBack},
    {"K-04", "locale narrowing", "a call beyond the locale that is let pass", localeNarrowing, localeWidened},
    {"K-05", "least privilege, also of forks", "an episode whose capabilities do not cover its calls", leastPrivilege,
     widePrivilegeShows},
    {"E-1", "replay determinism", "an agent with a memory of its own", replayIsEqual, impurityShows},
    {"E-2", "budget monotonicity under fuzzed spends", "a spend beyond the limit", fuzzedSpends, overspendShows},
    {"E-3", "locale narrowing under random branching", "a fork wider than its parent", branchedForks, wideForkShows},
    {"E-4", "completeness of the ledger", "each announcement left out, each denied call done", attemptsAreInTheLedger,
     unseenAttemptShows},
    {"E-5", "exactly once through deaths at every commit", "a host that ignores operation records",
     onceThroughEveryDeath, doublesShow},
    {"E-6s", "sagas: latency of compensations", "devices that stop after they met", losersAreUndone, lostUndoShows},
    {"E-6", "market: latency of compensations", "a buyer that compensates nothing", compensationsAreFast,
     passiveBuyerShows},
    {"F-1", "obligation 1: change keys are canonical", "keys joined as they came", changeKeysAreCanonical,
     unsortedKeysShow},
    {"F-2", "obligation 2: coalescing keeps keys", "a queue that merges what is merely near", coalescingKeepsKeys,
     merelyNearShows},
    {"F-3", "obligation 3: tokens are typed", "a parser that takes any text with a bar", tokensAreTyped,
     looseParserShows},
    {"F-4", "obligation 4: slots merge alike in any order", "the last writer wins", slotsMergeAlike, lastWriterShows},
    {"F-5", "obligation 5: a repeated run key or operation does nothing", "a device without its records",
     replayedKeysDoNothing, forgottenRunShows},
    {"F-6", "obligation 6: both databases agree after a death between their commits", "a saga that nobody takes up",
     databasesAgree, halfASagaShows},
    {"F-7", "obligation 7: each gate fails closed", "a monitor that asks without a secret", gatesFailClosed,
     openGateShows},
    {"G-01", "graphs: every run ends within the static bound", "a pass beyond a bound; no end; one guard a component",
     cyclesAreBounded, unboundedCycleShows},
    {"G-01b", "graphs: no deadlock under back-pressure", "a scheduler that waits for room on the edge back",
     fullCyclesMove, waitingCycleShows},
    {"G-02", "graphs: lanes in order, one span at a time, no duplicates",
     "deliveries swapped, doubled, unlocked, newest first", lanesKeepOrder, brokenLaneShows},
    {"G-03", "graphs: nothing passes a boundary unjudged", "a verdict left out; a denial not heeded; default allow",
     nothingPassesUnjudged, unjudgedShows},
    {"G-T2", "graphs: one effect through deaths at every write", "a host that ignores operation records",
     effectsOnceThroughDeaths, doubledEffectShows},
    {"G-L4", "graphs: locales and capabilities only narrow, in checks and at the call",
     "a wider locale, grant, a capability too many or too few", graphsOnlyNarrow, widerGraphShows},
    {"M-01", "market: evidence is complete", "a verifier that checks the root alone", evidenceIsComplete,
     rootAloneShows},
    {"M-02", "market: one settlement, whatever is repeated", "a domain that pays twice", settlementIsIdempotent,
     doubleSettlementShows},
    {"M-03", "market: evidence within order, contract and offer", "a wider contract, order and run",
     localesNarrowAcrossOrganisations, widerDocumentShows},
    {"M-04", "market: money is conserved, or the commit is named", "a domain that makes money", moneyIsConserved,
     madeMoneyShows},
};

}  // namespace

std::span<const KernelCheck> kernelChecks() { return kChecks; }

}  // namespace witan::agents::conformance
