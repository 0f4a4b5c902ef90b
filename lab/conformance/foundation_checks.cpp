// The test obligations of seed 003, section 11, on the code that runs.
#include <algorithm>

#include "agents/entry_agent.h"
#include "agents/policy/monitor.h"
#include "agents/wake/wake_queue.h"
#include "base/sha256.h"
#include "lab/conformance/laws.h"
#include "lab/conformance/running_checks.h"
#include "replication/records/agent_view.h"
#include "replication/records/journal_entity.h"
#include "replication/records/notification.h"
#include "replication/records/record_views.h"

namespace witan::agents::conformance {

using namespace replication;

namespace {

Finding failed(std::string detail) { return {false, std::move(detail)}; }

// In an order that `random` draws.
template <class T>
void shuffle(std::vector<T>& all, std::uint64_t& random) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[(random = mix(random, "shuffle")) % i]);
}

BatchDraft drawnDraft(std::uint64_t& random) {
  BatchDraft draft{"local-1", {}, {{TokenClass::entityId, std::nullopt, "e1"}}, {}, ""};
  for (std::uint64_t n = 1 + (random = mix(random, "n")) % 6; n > 0; --n)
    draft.changes.push_back({"note", concat("e", (random = mix(random, "e")) % 9), ChangeOrigin::local});
  return draft;
}

Result<BatchNews> newsOf(const BatchDraft& draft, const Dot& dot) {
  WITAN_TRY(body, batchBodyOf(draft));
  WITAN_TRY(bytes, encodeRecord(body));
  return batchNews(dot, std::move(bytes));
}

}  // namespace

// ---- 1: the logical change key follows from the canonical change units

Finding changeKeysAreCanonical() {
  std::uint64_t random = 1;
  std::set<std::string> keys;
  for (int i = 0; i < 500; ++i) {
    BatchDraft draft = drawnDraft(random);
    const Dot dot{"a:1", static_cast<std::uint64_t>(i + 1)};
    const auto first = newsOf(draft, dot);
    draft.changes.push_back(draft.changes.front());  // said twice
    shuffle(draft.changes, random);
    draft.localBatchId = "local-2";
    const auto second = newsOf(draft, dot);
    if (!first.ok() || !second.ok()) return failed("a batch was refused");
    if (first->batch.logicalChangeKey != second->batch.logicalChangeKey) return failed("one change has two keys");
    keys.insert(first->batch.logicalChangeKey.hex());
  }
  return {keys.size() == 500, concat("500 changes in any order, twice or once, ", keys.size(), " keys")};
}

// Joined as they came.
Finding unsortedKeysShow() {
  std::uint64_t random = 1;
  for (int i = 0; i < 100; ++i) {
    BatchDraft draft = drawnDraft(random);
    const auto keyOf = [](const BatchDraft& one) {
      std::string all;
      for (const BatchChange& change : one.changes) all += change.payloadId + ",";
      return toHex(sha256(all));
    };
    const std::string before = keyOf(draft);
    shuffle(draft.changes, random);
    if (keyOf(draft) != before) return {true, concat("change ", i, " has two keys")};
  }
  return failed("an order was not noticed");
}

// ---- 2: only wakes with equal keys are one

namespace {

// How many wakes 200 batches, each told twice, become; `keyOf` says which are one.
struct Coalesced {
  std::size_t changes = 0, wakes = 0;
};
Result<Coalesced> coalesce(const std::function<std::string(const WakeJob&)>& keyOf) {
  const ToyAgent agent(1);
  const ToyGate gate(1);
  ToyDisk disk;
  RunningHost host("a", agent, gate, 1, disk);
  WITAN_DO(host.open());
  WakeQueue queue(host.replica().database(DatabaseName::agents), {});
  std::set<std::string> changes, merged;
  Coalesced counted;
  std::uint64_t random = 3;
  for (std::uint64_t i = 1; i <= 200; ++i) {
    WITAN_TRY(news, newsOf(drawnDraft(random), {"a:1", i}));
    WITAN_TRY(job, subscriptionJob("toy", "notes", "journal/main", news));
    changes.insert(toHex(*job.change));
    if (keyOf && !merged.insert(keyOf(job)).second) continue;
    for (int told = 0; told < 2; ++told) counted.wakes += queue.enqueue(job, 0) == Enqueued::queued ? 1 : 0;
  }
  counted.changes = changes.size();
  return counted;
}

Finding judged(const Result<Coalesced>& counted, bool asChanges) {
  if (!counted.ok()) return failed(counted.error().message);
  return {(counted->changes == counted->wakes) == asChanges,
          concat(counted->changes, " changes, ", counted->wakes, " wakes")};
}

}  // namespace

Finding coalescingKeepsKeys() { return judged(coalesce({}), true); }

Finding merelyNearShows() {
  return judged(coalesce([](const WakeJob& job) { return job.agentId + "/" + job.subject; }), false);
}

// ---- 3: tokens are typed

namespace {

constexpr const char* kMalformed[] = {"",           "entityId",         "entityId|-",      "entityId|x|e1", "|-|e1",
                                      "Entity|-|e", "subtypeToken|-|t", "semanticKey|n|k", "entityId|-|",   "e1"};

// The malformed texts that a parser takes.
std::string taken(const std::function<bool(std::string_view)>& parses) {
  for (const char* text : kMalformed)
    if (parses(text)) return concat("\"", text, "\" is taken for a token");
  return {};
}

}  // namespace

Finding tokensAreTyped() {
  const std::string wrong = taken([](std::string_view text) { return parseLegacyToken(text).ok(); });
  if (!wrong.empty()) return failed(wrong);
  for (const char* text : {"entityId|-|e1", "subtypeToken|n|t", "semanticKey|-|k"}) {
    const auto token = parseLegacyToken(text);
    if (!token.ok()) return failed(token.error().message);
    const auto key = tokenKey(*token);
    if (!key.ok() || key->str() != text) return failed(concat(text, " does not come back"));
  }
  BatchDraft bare{"l", {{"note", "e1", ChangeOrigin::local}}, {{TokenClass::subtypeToken, std::nullopt, "t"}}, {}, ""};
  if (batchBodyOf(bare).ok()) return failed("a subtype without a namespace got into a batch");
  return {true, concat(std::size(kMalformed), " malformed tokens refused, 3 of each class come back")};
}

Finding looseParserShows() {
  const std::string wrong = taken([](std::string_view text) { return text.find('|') != text.npos; });
  return {!wrong.empty(), wrong};
}

// ---- 4: slots merge alike in any order

namespace {

std::vector<AgentSnapshot> drawnAntichain(std::uint64_t& random) {
  std::vector<AgentSnapshot> all;
  for (const char* host : {"a:1", "b:1", "c:1", "d:1"}) {
    AgentSnapshot one{"toy", {host, 1 + (random = mix(random, host)) % 5}, {}, {}};
    one.vc.raise(host, one.dot.counter);
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      Slot& cell = one.state.slots[slot];
      cell.version = (random = mix(random, "version")) % 3;
      if (cell.version == 0) continue;
      cell.host = host;
      cell.value = concat("\"", random % 5, "\"");
    }
    all.push_back(std::move(one));
  }
  return all;
}

using Merge = std::function<std::string(const std::vector<AgentSnapshot>&)>;

std::string slotsOf(const AgentState& state) {
  std::string text;
  for (const Slot& slot : state.slots) text += concat(slot.value, " ", slot.version, " ", slot.host, "; ");
  return text;
}

Finding mergesAlike(const Merge& merge) {
  std::uint64_t random = 9;
  for (int i = 0; i < 500; ++i) {
    std::vector<AgentSnapshot> all = drawnAntichain(random);
    const std::string first = merge(all);
    for (int again = 0; again < 4; ++again) {
      shuffle(all, random);
      if (merge(all) != first) return failed(concat("antichain ", i, " has two merges"));
    }
  }
  return {true, "500 antichains in five orders each"};
}

}  // namespace

Finding slotsMergeAlike() {
  return mergesAlike([](const std::vector<AgentSnapshot>& all) { return slotsOf(viewOf(all, nullptr).state); });
}

Finding lastWriterShows() {
  const Finding last = mergesAlike([](const std::vector<AgentSnapshot>& all) { return slotsOf(all.back().state); });
  return {!last.pass, last.detail};
}

// ---- 5: the same run key and operation again change nothing

namespace {

// A turn is said again after a restart, and on a device whose records are gone; how often anything was changed then.
Result<Status> sayAgain(bool forget) {
  Status once = okStatus();
  for (std::uint64_t seed = 0; seed < 20 && once.ok(); ++seed) {
    const ToyAgent agent(seed);
    const ToyGate gate(seed);
    ToyDisk disk;
    RunningHost host("d1", agent, gate, seed, disk, !forget);
    bool died = false;
    WITAN_DO(liveThrough(host, seed, nullptr, died));
    if (forget) host.wipe();
    WITAN_DO(host.open());
    WITAN_DO(host.turn(seed));
    WITAN_DO(host.settle());
    if (!forget && host.host().counters().started > 0) return Status(invalid(concat("turn ", seed, " ran twice")));
    for (const auto& [operation, times] : disk.mutations)
      if (times > 1) once = invalid(concat("operation ", operation.hex(), " changed the world ", times, " times"));
  }
  return once;
}

Finding judged(const Result<Status>& said, bool once) {
  if (!said.ok()) return failed(said.error().message);
  return {said->ok() == once, said->ok() ? "20 turns said again, none ran or changed anything" : said->error().message};
}

}  // namespace

Finding replayedKeysDoNothing() { return judged(sayAgain(false), true); }

Finding forgottenRunShows() { return judged(sayAgain(true), false); }

// ---- 6: a death between the commits of two databases

namespace {

class Scribe final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{.id = "scribe",
                                 .version = "1",
                                 .what = "writes down that it was asked",
                                 .category = "toys",
                                 .subscriptions = {onEntries("toy")},
                                 .capabilities = {{"journal.put"}}};
    return kSpec;
  }
  Turn step(const json::value&, const Input& input) const override {
    if (input.kind == InputKind::results) return {nullptr, {}, Finish{"written", {}, {}, {}, false}};
    return {nullptr, {}, Actions{action("journal.put", {{"id", "n"}, {"type", "note"}, {"payload", "asked"}}, {"n"})}};
  }
};

// Both databases hold the records of the same operations, and the entry stands where there is one.
Status agree(RunningHost& host) {
  const auto journal = host.space(DatabaseName::journal).keys(Kind::operation);
  const auto agents = host.space(DatabaseName::agents).keys(Kind::operation);
  if (journal != agents)
    return invalid(concat(journal.size(), " operations in the journal, ", agents.size(), " with the agents"));
  WITAN_TRY(view, journalViewIn(host.space(DatabaseName::journal), "n"));
  const std::size_t entries = view.siblings.size();
  if (entries != journal.size()) return invalid(concat(entries, " entries of ", journal.size(), " operations"));
  return okStatus();
}

// The process dies at a write; `recovers`: it works on afterwards. Whether it died, and what stands then.
Status dieAt(const Death& death, bool recovers, bool& died, Status& after) {
  const Scribe agent;
  const episode::LocalGate gate;
  ToyDisk disk;
  RunningHost host("d1", agent, gate, 1, disk);
  WITAN_DO(host.open());
  host.disk(death.database).crashAt(death.step, death.moment);
  Status status = host.turn(1);
  if (status.ok()) status = host.settle();
  died = !status.ok();
  if (!died) return okStatus();
  host.powerBack();
  WITAN_DO(host.open());
  if (recovers) {
    WITAN_DO(host.turn(1));
    WITAN_DO(host.settle());
  }
  after = agree(host);
  return okStatus();
}

// At each write of both databases.
Finding sagasThroughDeaths(bool recovers) {
  std::size_t deaths = 0;
  Status apart = okStatus();
  for (const DatabaseName database : {DatabaseName::journal, DatabaseName::agents})
    for (const auto moment : {store::Moment::before, store::Moment::after})
      for (Death death{database, 0, moment};; ++death.step) {
        bool died = false;
        Status after = okStatus();
        if (const Status lived = dieAt(death, recovers, died, after); !lived.ok()) return failed(lived.error().message);
        if (!died) break;
        ++deaths;
        if (!after.ok()) apart = after;
      }
  if (deaths < 10) return failed("too few deaths");
  return {apart.ok() == recovers,
          apart.ok() ? concat(deaths, " deaths, both databases agree after each") : apart.error().message};
}

}  // namespace

Finding databasesAgree() { return sagasThroughDeaths(true); }

Finding halfASagaShows() { return sagasThroughDeaths(false); }

// ---- 7: each gate closes

namespace {

// One request that passes, and each way of closing one gate of it.
struct Crossing {
  Policy policy{"laboratory",
                1,
                {{"cloud", {"eu"}, {{.name = "ask", .allow = {"text"}, .inference = true, .secrets = {"key"}}}}},
                {{"asker", "notes", {"eu"}, {"model.ask"}, {"cloud"}, {"journal:note"}, {{"example", "large"}}}}};
  ModelName model{"example", "large"};
  json::value payload = json::object{{"text", "hello"}};
  std::vector<std::string> scopes{"journal:note"};
  PolicyScope held = grantedScope(policy, "asker", "notes");
  SecretNames secrets{"key"};
  std::string agent = "asker", tool = "model.ask", boundary = "cloud", operation = "ask", secret = "key";
  bool confirmed = true;

  PolicyVerdict judge() const {
    ReceiptBook receipts;
    if (confirmed) (void)receipts.add(confirm(policy, "asker", &model, "cloud", "person-1", 1));
    PolicyRequest request;
    request.agent = agent;
    request.category = "notes";
    request.tool = tool;
    request.scopes = scopes;
    request.held = &held;
    request.boundary = boundary;
    request.operation = operation;
    request.model = &model;
    request.secret = secret;
    request.payload = &payload;
    request.operationId = "op-1";
    const auto monitor = Monitor::compile(policy);
    return monitor.ok() ? monitor->check(request, receipts, secrets) : PolicyVerdict{};
  }
};

struct Closing {
  PolicyToken token;
  void (*close)(Crossing&);
};
constexpr Closing kClosings[] = {
    {PolicyToken::out_of_scope, [](Crossing& c) { c.agent = "stranger"; }},
    {PolicyToken::out_of_scope, [](Crossing& c) { c.tool = "shell"; }},
    {PolicyToken::out_of_scope, [](Crossing& c) { c.boundary = "pastebin"; }},
    {PolicyToken::out_of_scope, [](Crossing& c) { c.operation = "train"; }},
    {PolicyToken::out_of_scope, [](Crossing& c) { c.scopes = {"journal:bill"}; }},
    {PolicyToken::disallowed_provider_model, [](Crossing& c) { c.model.model = "huge"; }},
    {PolicyToken::privacy_confirmation_required, [](Crossing& c) { c.confirmed = false; }},
    {PolicyToken::secret_unavailable, [](Crossing& c) { c.secrets.clear(); }},
    {PolicyToken::secret_unavailable, [](Crossing& c) { c.secret = ""; }},
    {PolicyToken::overshared_payload_blocked,
     [](Crossing& c) {
       c.payload = json::object{{"text", "hello"}, {"patient", "David"}};
     }},
};

Finding gatesJudgedBy(const std::function<PolicyVerdict(const Crossing&)>& judge) {
  if (!judge(Crossing()).mayRun()) return failed("what holds everything does not pass: " + judge(Crossing()).witness);
  for (const Closing& closing : kClosings) {
    Crossing crossing;
    closing.close(crossing);
    const PolicyVerdict verdict = judge(crossing);
    if (verdict.mayRun()) return failed(concat("it passes without ", enumName(closing.token)));
    if (verdict.token != closing.token)
      return failed(concat(enumName(verdict.token), " in place of ", enumName(closing.token)));
  }
  return {true, concat(std::size(kClosings), " closed gates, each with its token")};
}

}  // namespace

Finding gatesFailClosed() {
  return gatesJudgedBy([](const Crossing& crossing) { return crossing.judge(); });
}

Finding openGateShows() {
  const Finding open = gatesJudgedBy([](const Crossing& crossing) {
    PolicyVerdict verdict = crossing.judge();
    if (verdict.token == PolicyToken::secret_unavailable) verdict.kind = VerdictKind::allow;  // it asks without one
    return verdict;
  });
  return {!open.pass, open.detail};
}

}  // namespace witan::agents::conformance
