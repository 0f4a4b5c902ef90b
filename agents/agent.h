// Agent: what an author writes, in one file: a name, what wakes it, what it may do, and one pure function.
//
// An episode (agents/episode/) is the K-12 execution of one wake (seed 004, section 3). It gives the agent messages and
// carries out what it answers. `step` is delta and lambda of Definition 1 in one: (working state, message) -> (working
// state, output). It must be pure and total (Law 1): no clock, no chance, no I/O, nothing kept between calls; the time,
// a random seed and everything else it may use stand in the message. So an episode can be replayed from its recorded
// messages, and resumes after a crash by being replayed.
//
//   wake     -> looks (reads, questions to a model), as many rounds as the budget allows, each answered by
//   `observation`
//            -> one plan of mutating actions, persisted before the first of them; answered by `results`
//            -> finish
//
// There is one plan a run; after `results` an agent may look again, but not plan again. Agents are registered once
// (domains/agents.h), outlive every episode, and may be called from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agents/knowledge.h"
#include "base/json.h"
#include "replication/records/agent_state.h"
#include "replication/records/records.h"
#include "replication/records/subscription_index.h"

namespace witan::agents {

// A capability (r, phi): a resource and what may be done with it (seed 004, Definition 2). Resources are tool names
// ("journal.put") or families of them ("journal.*").
struct Capability {
  std::string resource;
  std::int64_t uses = 1000;          // in one episode
  std::vector<std::string> targets;  // prefixes of the ids it may touch; empty: any
  std::vector<std::string> locales;  // where it may be used; empty: anywhere
  Omittable<std::int64_t> access;    // seed 002: 0 none, 1 to look, 2 to change; none: 2
  Omittable<bool> execute;           // also what executes code (ToolInfo::execute); none: no
  // Rates, on all devices together, by the clock's hours and days (UTC): a run begins with what is left, and while
  // nothing is left it waits (agents/host/standing.h).
  Omittable<std::int64_t> perHour = {}, perDay = {};
  WITAN_MEMBERS(Capability, resource, uses, targets, locales, access, execute, perHour, perDay)
  friend bool operator==(const Capability& a, const Capability& b) { return toJson(a) == toJson(b); }
};

// The budget of an episode (seed 002, agent-state; seed 004, kappa).
struct Budget {
  WITAN_DECLARED(Budget, (std::int64_t, steps, 20), (std::int64_t, tokens, 10'000), (std::int64_t, seconds, 3'600))
};

// Whose changes wake an agent: what people wrote, what runs of agents did, or both.
WITAN_ENUM(Authors, anyone, people, agents)

struct SubscriptionSpec {
  std::string id;
  std::string scope;  // of the batches; empty: any
  replication::TokenPredicate tokens;
  replication::EntityPredicate entities;  // none: true
  bool ownChanges = false;                // whether changes by the agent's own runs wake it too
  Authors authors = Authors::anyone;
};

// Wakes once for each key of `field` that takes `value` in a ledger of `domain`, on the devices that keep it: the run
// key derives from what was decided, not from the entry, so one such fact has one run however often logs are read.
struct LedgerSpec {
  std::string id;
  std::string domain;
  std::string field;  // a column: "finding.phase"; empty: that an entity has begun
  std::string value;  // a text: "VERIFIED"; empty of what has begun
};

// Wakes at every multiple of `everyMs` since 1970, wall time; of several that were missed only the last one runs. The
// agent's state may set another interval, and knows what has fired (replication/records/agent_state.h).
struct TimerSpec {
  std::string id;
  std::int64_t everyMs = 0;
};
inline constexpr std::int64_t kMinTimerMs = 1'000;
inline constexpr std::int64_t kMaxTimerMs = 366LL * 86'400'000;
// Errors: shorter than kMinTimerMs or longer than kMaxTimerMs.
Status checkTimer(std::int64_t everyMs);

struct AgentSpec {
  std::string id;       // "follow-up"
  std::string version;  // changes with the code: stands in every transcript as the model's identity
  std::string what;     // one line for people
  std::string category;
  std::string thread = "main";
  std::vector<SubscriptionSpec> subscriptions;
  std::vector<TimerSpec> timers;
  std::vector<LedgerSpec> ledgers;
  std::vector<Capability> capabilities;
  std::vector<std::string> locale;  // jurisdiction and residency tags; empty: none
  Budget budget;
  bool inGraphs = false;  // graphs wake it (docs/graphs.md)
  // Its wakes are given its memory (the thread's summary and newer messages), and the thread is kept short.
  bool remembers = false;
  // Names how it folds its thread itself, in runs of kFoldSubject (agents/memory/fold_run.h); empty: it does not, and
  // the first words of each message stay.
  std::string foldsBy;
  // It answers wakes by conflicts itself (agents/wake/agent_conflict.h); otherwise what readers see stands.
  bool settles = false;
  // It keeps facts and goals, and tools are chosen and charged by its experience of them (agents/knowledge.h). Its
  // slot `extension` is then an object.
  bool learns = false;
  std::int64_t enough = 100;  // satisfaction, the least progress of its goals, from which on it looks no more
};

// The subject of a wake by a conflict of entries that only agents wrote.
inline constexpr std::string_view kConflictSubject = "conflict";
// The subject of a wake by memory that has grown too long: the run's answer takes the place of what it is given.
inline constexpr std::string_view kFoldSubject = "memory-fold";

// All that a host asks of a spec before it runs its agent: valid ids, no duplicate names, at least one subscription,
// timer or ledger, tokens and intervals in their bounds. The error names the member.
Status checkSpec(const AgentSpec& spec);

enum class InputKind { wake, observation, results };

// `content`:
//   wake         {"reason", "subject", "nowMs", "seed", "changes": [{"type","id"}], "tokens": [token keys],
//                 "rules": those of the transcript (agents/episode/episode.h), from 8 on,
//                 "user": any, "memory": {"summary", "messages": [{"kind","content"}]}, "slots": {name: value},
//                 "knowledge": {"facts","goals","scores","costs"}, of an agent that learns; "standing": what is left of
//                 its budgets of the day, by provider, where there are any;
//                 "ledger": {"domain","entity","field","key","value"}}, where a ledger woke it; where a graph did
//                 "graph": {"graph","version","run","node","span","type","body","grant"}; where a conflict did
//                 "conflict": {"id","scope","settles","versions"} (agents/wake/agent_conflict.h); where its memory
//                 did "fold": {"summary","messages","leftOut"} instead of "memory"
//   observation  [{"tool", "arguments", "ok": bool, "content" | "error"}], in the order of the looks
//   results      [{"operation", "tool", "arguments", "outcome": "applied|denied|failed", "result"}], in the plan's
//                order
struct Input {
  InputKind kind = InputKind::wake;
  json::value content;
};

// A call that changes nothing. With a goal instead of a tool, the best tool that serves goals of this type is asked,
// and the next best if it fails; of an agent that learns.
struct Look {
  std::string tool;
  json::object arguments;
  std::int64_t tokens = 0;  // what it is expected to cost
  std::string goal = {};    // a type of goals (ToolInfo::serves)
};

// A step towards a goal, which it begins if there is no such goal.
struct GoalStep {
  std::string id;
  std::string type, description;  // of a new one
  std::int64_t gained = 0;        // of 100
};

struct SlotWrite {
  replication::SlotName slot = replication::SlotName::extension;
  json::value value;
};

// An output of a run that a graph woke.
struct Emission {
  std::string type;
  json::value body;
};

struct Finish {
  std::string answer;                        // for people; kept as a message of the thread
  std::vector<SlotWrite> slots;              // of the agent's durable state
  std::optional<std::int64_t> nextWakeAtMs;  // a timer wake of the agent itself
  std::optional<std::int64_t> sleepUntilMs;
  bool failed = false;  // it could not do what it was woken for
  std::vector<Emission> emits;
};

using Looks = std::vector<Look>;
using Actions = std::vector<replication::PlanAction>;

struct Turn {
  json::value sigma;                  // the working state for the next call
  std::vector<std::string> thoughts;  // kept in the transcript
  std::variant<Looks, Actions, Finish> output = Finish{};
  std::vector<Fact> facts = {};      // of an agent that learns
  std::vector<GoalStep> goals = {};  // likewise
  std::size_t leftOut = 0;           // facts and messages that found no room in a question of this turn
};

class Agent {
 public:
  virtual ~Agent() = default;
  virtual const AgentSpec& spec() const = 0;
  // `sigma` is null at first.
  virtual Turn step(const json::value& sigma, const Input& input) const = 0;
};

}  // namespace witan::agents
