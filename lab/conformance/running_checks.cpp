#include "lab/conformance/running_checks.h"

#include <algorithm>

#include "agents/entry_agent.h"
#include "agents/episode/replay.h"
#include "base/json_codec.h"
#include "lab/conformance/laws.h"
#include "replication/records/journal_entity.h"
#include "replication/records/record_views.h"

namespace witan::agents::conformance {

using namespace replication;
using episode::EntryKind;

namespace {

constexpr std::uint64_t kHosts = 30, kDying = 3;

Finding failed(std::string detail) { return {false, std::move(detail)}; }

struct Life {
  ToyDisk disk;
  Status status = okStatus();
  bool died = false;
};

Life liveOnHost(std::uint64_t seed, const Death* death = nullptr, bool honours = true) {
  const ToyAgent agent(seed, {seed % 7 == 0, seed % 11 == 0, true});
  const ToyGate gate(seed);
  Life life;
  RunningHost host("d1", agent, gate, seed, life.disk, honours);
  life.status = liveThrough(host, seed, death, life.died);
  return life;
}

// Each write of a life at which the power can go, one life each. False: the visitor has seen enough.
bool forEachDeath(std::uint64_t seed, bool honours, const std::function<bool(const Life&, const Death&)>& visit) {
  for (const DatabaseName database : {DatabaseName::journal, DatabaseName::agents})
    for (const auto moment : {store::Moment::before, store::Moment::after})
      for (Death death{database, 0, moment};; ++death.step) {
        const Life life = liveOnHost(seed, &death, honours);
        if (!visit(life, death)) return false;
        if (!life.died) break;
      }
  return true;
}

std::string placeOf(std::uint64_t seed, const Death& death) {
  return concat("run ", seed, ", ", death.database == DatabaseName::journal ? "journal" : "agents", " write ",
                death.step, death.moment == store::Moment::before ? ": " : " after: ");
}

std::size_t effectsIn(const ToyDisk& disk) {
  return static_cast<std::size_t>(std::ranges::count_if(
      disk.history, [](const Step& s) { return s.kind == StepKind::looked || s.kind == StepKind::acted; }));
}

template <class Visit>
Status forEachEntry(const ToyDisk& disk, Visit visit) {
  for (const auto& [device, transcript] : disk.transcripts)
    for (const std::string& content : transcript) {
      WITAN_TRY(entry, episode::parseEntry(content));
      WITAN_DO(visit(entry));
    }
  return okStatus();
}

std::string textAt(const json::object& body, std::string_view name) {
  const json::value* found = body.if_contains(name);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

Finding holdsOnHosts(Law law) {
  std::size_t effects = 0, deaths = 0;
  for (std::uint64_t seed = 0; seed < kHosts; ++seed) {
    const Life life = liveOnHost(seed);
    Status status = life.status.ok() ? law(life.disk) : life.status;
    if (!status.ok()) return failed(concat("host ", seed, ": ", status.error().message));
    effects += effectsIn(life.disk);
  }
  std::string problem;
  for (std::uint64_t seed = 0; seed < kDying && problem.empty(); ++seed)
    forEachDeath(seed, true, [&](const Life& life, const Death& death) {
      const Status status = life.status.ok() ? law(life.disk) : life.status;
      if (!status.ok()) problem = placeOf(seed, death) + status.error().message;
      deaths += life.died ? 1 : 0;
      return status.ok();
    });
  if (!problem.empty()) return failed(problem);
  if (effects == 0 || deaths == 0) return failed("the hosts did nothing, or none died");
  return {true, concat(kHosts, " running hosts, ", effects, " effects, ", deaths, " deaths")};
}

Finding replayOfHosts() {
  std::size_t entries = 0;
  for (std::uint64_t seed = 0; seed < kHosts; ++seed) {
    const ToyAgent agent(seed, {seed % 7 == 0, seed % 11 == 0, true});
    const Life life = liveOnHost(seed);
    if (!life.status.ok()) return failed(life.status.error().message);
    const auto again = episode::replay(agent, life.disk.transcripts.at("d1"));
    if (!again.ok()) return failed(again.error().message);
    if (!again->reproduced()) return failed(concat("host ", seed, " differs"));
    entries += again->entries;
  }
  return {true, concat(entries, " entries of running hosts")};
}

Finding onceOnHosts() {
  std::size_t deaths = 0, mutations = 0;
  std::string problem;
  for (std::uint64_t seed = 0; seed < 2 * kDying && problem.empty(); ++seed)
    forEachDeath(seed, true, [&](const Life& life, const Death& death) {
      const Status status = life.status.ok() ? appliedExactlyOnce(life.disk) : life.status;
      if (!status.ok()) problem = placeOf(seed, death) + status.error().message;
      deaths += life.died ? 1 : 0;
      mutations += life.disk.mutations.size();
      return status.ok();
    });
  if (!problem.empty()) return failed(problem);
  if (mutations == 0) return failed("the hosts changed nothing");
  return {true, concat(deaths, " deaths of running hosts, ", mutations, " mutations, each once")};
}

// A tool that does not know what it has done, behind a host that dies.
Finding doublesOnHostsShow() {
  Finding found = failed("a tool that repeats was not noticed");
  for (std::uint64_t seed = 0; seed < 4 * kDying && !found.pass; ++seed)
    forEachDeath(seed, false, [&](const Life& life, const Death&) {
      if (const Status status = appliedExactlyOnce(life.disk); life.status.ok() && !status.ok())
        found = {true, status.error().message};
      return !found.pass;
    });
  return found;
}

// ---- E-4, completeness of the ledger: an agent that tries everything

namespace {

// Counts what it asked for.
class Greedy final : public ToyAgent {
 public:
  using ToyAgent::ToyAgent;
  Turn step(const json::value& sigma, const Input& input) const override {
    Turn turn = ToyAgent::step(sigma, input);
    if (const auto* looks = std::get_if<Looks>(&turn.output)) asked += looks->size();
    return turn;
  }
  mutable std::size_t asked = 0;
};

struct Tried {
  std::size_t asked = 0, announced = 0, denied = 0, hidden = 0;
};

// Denied calls that were done all the same are hidden.
Result<Tried> triedIn(const ToyDisk& disk) {
  Tried tried;
  std::set<std::string> denied;
  WITAN_DO(forEachEntry(disk, [&](const episode::Entry& entry) -> Status {
    if (entry.kind != EntryKind::look && entry.kind != EntryKind::intended) return okStatus();
    tried.announced += entry.kind == EntryKind::look ? 1 : 0;
    const json::value* verdict = entry.body.if_contains("verdict");
    if (verdict == nullptr || !verdict->is_object()) return invalid("a call without a verdict");
    if (textAt(verdict->get_object(), "kind") == "deny") denied.insert(textAt(entry.body, "span"));
    return okStatus();
  }));
  tried.denied = denied.size();
  for (const Step& step : disk.history) tried.hidden += denied.contains(step.span) ? 1 : 0;
  return tried;
}

Result<Tried> tryEverything(std::uint64_t seed, ToyDisk& disk) {
  const Greedy agent(seed, {false, false, true});
  const ToyGate gate(seed);
  RunningHost host("d1", agent, gate, seed, disk);
  bool died = false;
  WITAN_DO(liveThrough(host, seed, nullptr, died));
  WITAN_TRY(tried, triedIn(disk));
  tried.asked = agent.asked;
  return tried;
}

}  // namespace

Finding attemptsAreInTheLedger() {
  Tried all;
  for (std::uint64_t seed = 0; seed < kHosts; ++seed) {
    ToyDisk disk;
    const auto tried = tryEverything(seed, disk);
    if (!tried.ok()) return failed(tried.error().message);
    // A turn that asks for more when the budget is gone ends the run, and the end says so.
    const bool ended = disk.transcripts.at("d1").back().find("budget is exhausted") != std::string::npos;
    if (tried->announced > tried->asked || (tried->announced < tried->asked && !ended))
      return failed(
          concat("host ", seed, ": ", tried->asked, " looks asked for, ", tried->announced, " in the ledger"));
    if (tried->hidden > 0) return failed(concat("host ", seed, ": a denied call was done"));
    if (const Status contained = effectsAreContained(disk); !contained.ok()) return failed(contained.error().message);
    all.asked += tried->asked;
    all.denied += tried->denied;
  }
  if (all.denied == 0) return failed("nothing was ever denied");
  return {true, concat(all.asked, " looks asked for, all in the ledger or the end of a run; ", all.denied,
                       " calls denied, none done")};
}

namespace {

bool announces(const std::string& content, const std::string& span) {
  const auto entry = episode::parseEntry(content);
  return entry.ok() && entry->kind != EntryKind::observation && entry->kind != EntryKind::outcome &&
         textAt(entry->body, "span") == span;
}

}  // namespace

// Each announcement of a lawful history left out, one at a time, and each denied call done: every mutant must show.
Finding unseenAttemptShows() {
  std::size_t mutants = 0;
  for (std::uint64_t seed = 0; seed < kHosts; ++seed) {
    ToyDisk disk;
    const auto tried = tryEverything(seed, disk);
    if (!tried.ok()) return failed(tried.error().message);
    const std::vector<std::string> whole = disk.transcripts.at("d1");
    for (std::size_t at = 1; at < whole.size(); ++at) {
      const auto entry = episode::parseEntry(whole[at]);
      if (!entry.ok() || (entry->kind != EntryKind::look && entry->kind != EntryKind::intended)) continue;
      const std::string span = textAt(entry->body, "span");
      if (std::ranges::count_if(whole, [&](const std::string& one) { return announces(one, span); }) > 1) continue;
      ToyDisk broken = disk;
      auto& transcript = broken.transcripts.at("d1");
      transcript.erase(transcript.begin() + static_cast<std::ptrdiff_t>(at));
      const bool done = std::ranges::any_of(disk.history, [&](const Step& step) { return step.span == span; });
      if (!done) {
        transcript = whole;
        broken.history.push_back({StepKind::looked, "d1", 0, span});
      }
      ++mutants;
      if (effectsAreContained(broken).ok()) return failed(concat("a call without its announcement: ", span));
    }
  }
  return {mutants > 0, concat(mutants, " mutants of histories, each found out")};
}

// ---- Law 5, least privilege, and the theorem of section 9

namespace {

Status withinCapabilities(const ToyDisk& disk) {
  for (const auto& [device, transcript] : disk.transcripts) {
    if (transcript.empty()) continue;
    WITAN_TRY(begin, episode::parseEntry(transcript.front()));
    episode::Grant grant;
    WITAN_DO(readJson(begin.body.at("grant"), grant, "grant"));
    std::vector<episode::ToolInfo> tools;
    WITAN_DO(readJson(begin.body.at("tools"), tools, "tools"));
    for (const episode::ToolInfo& tool : tools)
      if (std::ranges::none_of(grant.capabilities,
                               [&](const Capability& one) { return episode::coversResource(one.resource, tool.name); }))
        return invalid("the episode sees " + tool.name + ", which no capability of it covers");
    WITAN_DO(forEachEntry(disk, [&](const episode::Entry& entry) -> Status {
      if (entry.kind != EntryKind::look && entry.kind != EntryKind::intended) return okStatus();
      const std::string kind = textAt(entry.body.at("verdict").as_object(), "kind"), tool = textAt(entry.body, "tool");
      if (kind == "deny") return okStatus();
      if (std::ranges::none_of(grant.capabilities,
                               [&](const Capability& one) { return episode::coversResource(one.resource, tool); }))
        return invalid(tool + " was let pass, and no capability covers it");
      return okStatus();
    }));
  }
  return okStatus();
}

}  // namespace

Finding leastPrivilege() {
  Finding on = holdsOnHosts(withinCapabilities);
  if (!on.pass) return on;
  std::uint64_t random = 5, forks = 0;
  const episode::Grant root{{{"look.*", 20, {}, {}}, {"act.put", 4, {"a"}, {}}}, {"us"}, {30, 300, 300}};
  episode::Context parent(root);
  for (int i = 0; i < 500; ++i) {
    episode::Grant wish;
    wish.budget = {0, 0, 0};
    for (const char* tool : {"look.us", "look.*", "act.put", "act.us", "*"})
      if ((random = mix(random, tool)) % 4 == 0)
        wish.capabilities.push_back({tool, static_cast<std::int64_t>(random / 4 % 2), {"a"}, {}});
    const auto child = parent.fork(wish);
    if (!child.ok()) continue;
    forks += child->capabilities.empty() ? 0 : 1;
    for (const Capability& one : child->capabilities)
      if (std::ranges::none_of(root.capabilities, [&](const Capability& of) { return episode::within(one, of); }))
        return failed("a fork holds " + one.resource + ", which its parent does not");
  }
  if (forks == 0) return failed("nothing forked");
  on.detail += concat(", ", forks, " forks within their parents");
  return on;
}

Finding widePrivilegeShows() {
  Life life = liveOnHost(1);
  if (!life.status.ok() || !withinCapabilities(life.disk).ok()) return failed("the life was unlawful before");
  auto& transcript = life.disk.transcripts.at("d1");
  auto begin = episode::parseEntry(transcript.front());
  if (!begin.ok()) return failed("no beginning");
  json::array& held = begin->body.at("grant").as_object().at("capabilities").as_array();
  held.erase(held.begin());
  transcript.front() = episode::makeEntry(begin->kind, std::move(begin->body)).content;
  const Status status = withinCapabilities(life.disk);
  return status.ok() ? failed("a call beyond the capabilities was not noticed") : Finding{true, status.error().message};
}

// ---- E-3 on hosts: what a node of a graph grants is the only sub-episode of a running device

Finding narrowedOnHosts() {
  static const char* const kTags[] = {"at", "de", "eu", "us"};
  std::size_t narrowed = 0, looks = 0;
  for (std::uint64_t seed = 0; seed < kHosts; ++seed) {
    const ToyAgent agent(seed);
    const ToyGate gate(seed);
    ToyDisk disk;
    RunningHost host("d1", agent, gate, seed, disk);
    std::uint64_t random = mix(seed, "node");
    episode::Grant wish{{{"look.*", static_cast<std::int64_t>(random % 9), {}, {}}}, {}, {9, 90, 90}};
    for (const char* tag : kTags)
      if ((random = mix(random, tag)) % 2 == 0) wish.locale.emplace_back(tag);
    Status status = host.open();
    if (status.ok()) status = host.activate(toyRun(seed).hex(), wish);
    if (status.ok()) status = host.settle();
    if (status.ok()) status = localeOnlyNarrows(disk);
    if (status.ok()) status = withinCapabilities(disk);
    const std::vector<std::string>& transcript = disk.transcripts["d1"];
    if (status.ok() && transcript.empty()) status = invalid("the graph woke nobody");
    if (!status.ok()) return failed(concat("host ", seed, ": ", status.error().message));
    const auto begin = episode::parseEntry(transcript.front());
    episode::Grant grant;
    if (!begin.ok() || !readJson(begin->body.at("grant"), grant, "grant").ok()) return failed("no beginning");
    if (!episode::isSubset(grant.locale, wish.locale) || !episode::isSubset(grant.locale, agent.spec().locale) ||
        grant.capabilities != wish.capabilities)
      return failed(concat("host ", seed, ": the run of a graph holds more than its node grants"));
    narrowed += grant.locale != agent.spec().locale ? 1 : 0;
    looks += effectsIn(disk);
  }
  if (narrowed == 0 || looks == 0) return failed("no host was narrowed, or none looked");
  return {true, concat(kHosts, " running hosts in graphs, ", narrowed, " narrowed, ", looks, " looks within")};
}

// ---- E-6, sagas: how long until what a losing plan did is undone

namespace {

// Looks once and writes down what it saw.
class Writer final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{.id = "writer",
                                 .version = "1",
                                 .what = "writes down what it sees",
                                 .category = "toys",
                                 .subscriptions = {onEntries("toy")},
                                 .capabilities = {{"look.near"}, {"journal.put"}}};
    return kSpec;
  }
  Turn step(const json::value&, const Input& input) const override {
    if (input.kind == InputKind::wake) return {nullptr, {}, Looks{{"look.near", {}, 1}}};
    if (input.kind == InputKind::results) return {nullptr, {}, Finish{"written", {}, {}, {}, false}};
    return {
        nullptr,
        {},
        Actions{action("journal.put", {{"id", "seen"}, {"type", "note"}, {"payload", input.content.at(0)}}, {"seen"})}};
  }
};

struct Undone {
  std::int64_t ms = -1;  // from the meeting; -1: never
  bool contested = false;
};

// The same turn on two devices that cannot reach each other, then together; the power of one may go at a write of its
// journal after the meeting, and comes back seconds later. `listens`: the devices work on after they met.
Result<Undone> loseAPlan(std::uint64_t seed, bool listens) {
  const Writer agent;
  const episode::LocalGate gate;
  ToyDisk disk;
  RunningHost a("a", agent, gate, seed, disk), b("b", agent, gate, seed + 1'000, disk);
  for (RunningHost* one : {&a, &b}) {
    WITAN_DO(one->open());
    WITAN_DO(one->turn(1));
    WITAN_DO(one->settle());
  }
  WITAN_DO(RunningHost::meet(a, b, true));
  Undone undone;
  const auto shown = [](RunningHost& one) -> Result<std::string> {
    WITAN_TRY(view, journalViewIn(one.space(DatabaseName::journal), "seen"));
    return !view.inConflict() && view.shown ? view.siblings[*view.shown].body->payload : std::string();
  };
  {
    WITAN_TRY(ofA, shown(a));
    undone.contested = ofA.empty();
  }
  b.disk(DatabaseName::journal).crashAt(seed % 4);
  for (int rounds = 0, back = -1; listens && rounds < 400 && undone.ms < 0; ++rounds) {
    WITAN_DO(a.round());
    if (rounds == back) WITAN_DO(b.open());
    if (rounds >= back) {
      Status worked = b.round();
      if (worked.ok()) worked = RunningHost::meet(a, b, true);
      if (worked.ok()) {
        WITAN_TRY(ofA, shown(a));
        WITAN_TRY(ofB, shown(b));
        if (!ofA.empty() && ofA == ofB) undone.ms = (rounds + 1) * 500;
      } else {
        b.powerBack();
        back = rounds + 4 + static_cast<int>(seed % 16);
      }
    }
    a.later(500), b.later(500);
  }
  return undone;
}

}  // namespace

Finding losersAreUndone() {
  std::vector<std::int64_t> took;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto undone = loseAPlan(seed, true);
    if (!undone.ok()) return failed(undone.error().message);
    if (!undone->contested) continue;
    if (undone->ms < 0) return failed(concat("life ", seed, ": the losing plan's effect stands"));
    took.push_back(undone->ms);
  }
  if (took.size() < 20) return failed("too few plans lost");
  std::ranges::sort(took);
  return {true, concat(took.size(), " losing plans undone, p50 ", took[took.size() / 2], " ms, p99 ",
                       took[took.size() * 99 / 100], " ms of simulated time")};
}

Finding lostUndoShows() {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto undone = loseAPlan(seed, false);
    if (undone.ok() && undone->contested && undone->ms < 0)
      return {true, concat("life ", seed, ": the losing plan's effect stands")};
  }
  return failed("devices that do nothing were not noticed");
}

}  // namespace witan::agents::conformance
