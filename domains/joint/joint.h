// Joint: the second architecture (seed 001) as what a partition holds. The entity is a commons: a flat world, the
// authorities over it, and the agents that share it. Agents propose into the open epoch, one proposal each; closing the
// epoch adjudicates all of them at once by coordination/admissibility.h. Proposals and epochs are entries of the
// ledger.
//
// Unlike the vectors of `witan coordinate` the world holds texts, its keys are those of `init`, and an epoch stays open
// until somebody closes it; the rest is as in docs/coordination.md.
#pragma once

#include <string>
#include <vector>

#include "coordination/strategy.h"
#include "kernel/domain.h"

namespace witan::domains::joint {

using namespace kernel;
using kernel::joint::Commitment;
using kernel::joint::Outcome;

// What the last closed epoch shows. STATE_DEADLOCK holds as long as it is shown; only COLLAPSE is for ever.
WITAN_ENUM(EpochClass, NONE, STATE_DEADLOCK, STATE_LIVELOCK, COLLAPSE, ORPHANING)

struct Policy {
  static constexpr std::size_t required = 0;
  std::int64_t livelockEpochs = 3;
  WITAN_MEMBERS(Policy, livelockEpochs)

  Status validate() const {
    if (livelockEpochs < 1 || livelockEpochs > 1000) return invalid("policy.livelockEpochs: 1..1000");
    return okStatus();
  }
};

struct Change {
  static constexpr bool asTuple = true;
  std::string key, value;
  WITAN_MEMBERS(Change, key, value)
};

struct Request {
  static constexpr bool asTuple = true;
  std::int64_t epoch = 0;
  std::string actionType;
  std::vector<std::string> declaredScope;
  std::vector<Change> proposedDelta;
  std::vector<std::string> authoritiesCited;
  WITAN_MEMBERS(Request, epoch, actionType, declaredScope, proposedDelta, authoritiesCited)
};

struct WorldRow {
  Cell<std::string> value;
  Cell<std::string> before;  // where the last closed epoch changed it
};
struct AuthorityRow {
  Cell<Commitment> commitment;
  Cell<std::string> holder;
  Cell<std::vector<std::string>> reads, writes;  // keys
};
struct AgentRow {
  Cell<bool> active;          // false: it has left
  Cell<Request> request;      // of the open epoch
  Cell<Request> closed;       // of the last closed one
  Cell<Outcome> outcome;      // what came of it
  Cell<std::string> message;  // to all, in the open epoch
  Cell<std::string> heard;    // what it said in the last closed one: everybody's observation of now
};

struct State {
  using Policy = joint::Policy;
  Table<WorldRow> world;
  Table<AuthorityRow> authorities;
  Table<AgentRow> agents;
  std::int64_t epoch = 0;      // the open one
  std::int64_t fruitless = 0;  // closed epochs in a row that count towards livelock
  EpochClass epochClass = EpochClass::NONE;
};

struct WorldValue : Column<"world.value", &State::world, &WorldRow::value> {};
struct WorldBefore : Column<"world.before", &State::world, &WorldRow::before> {};
struct AuthorityCommitment : Column<"authority.commitment", &State::authorities, &AuthorityRow::commitment> {};
struct AuthorityHolder : Column<"authority.holder", &State::authorities, &AuthorityRow::holder> {};
struct AuthorityReads : Column<"authority.reads", &State::authorities, &AuthorityRow::reads> {};
struct AuthorityWrites : Column<"authority.writes", &State::authorities, &AuthorityRow::writes> {};
struct AgentActive : Column<"agent.active", &State::agents, &AgentRow::active> {};
struct AgentRequest : Column<"agent.request", &State::agents, &AgentRow::request> {};
struct AgentClosed : Column<"agent.closed", &State::agents, &AgentRow::closed> {};
struct AgentOutcome : Column<"agent.outcome", &State::agents, &AgentRow::outcome> {};
struct AgentMessage : Column<"agent.message", &State::agents, &AgentRow::message> {};
struct AgentHeard : Column<"agent.heard", &State::agents, &AgentRow::heard> {};
struct Epoch : Scalar<"epoch", &State::epoch> {};
struct Fruitless : Scalar<"fruitless", &State::fruitless> {};
struct ClassOf : Scalar<"class", &State::epochClass> {};

using Fields = FieldList<WorldValue, WorldBefore, AuthorityCommitment, AuthorityHolder, AuthorityReads, AuthorityWrites,
                         AgentActive, AgentRequest, AgentClosed, AgentOutcome, AgentMessage, AgentHeard, Epoch,
                         Fruitless, ClassOf>;

using AuthorityFields = Footprint<AuthorityCommitment, AuthorityHolder, AuthorityReads, AuthorityWrites>;

// Joint: the processes. Agents propose or leave; the clock closes the epoch.

// At most one a epoch and agent. Approved means received, and nothing more: what comes of it stands in agent.outcome
// once the epoch is closed.
struct Propose {
  static constexpr std::string_view name = "Propose";
  using Reads = Footprint<WorldValue, AgentActive, AgentRequest, Epoch>;
  using Writes = Footprint<AgentRequest>;
  std::string agent;
  std::int64_t epoch = 0;  // the open one: what is late is for no other
  std::string actionType;
  std::vector<std::string> declaredScope;
  std::vector<std::string> authoritiesCited;
  std::vector<std::string> deltaKeys, deltaValues;  // of one length
  static constexpr std::size_t required = 5;
  WITAN_MEMBERS(Propose, agent, epoch, actionType, declaredScope, authoritiesCited, deltaKeys, deltaValues)
  void apply(Mutator<Fields>& m, Time) const;
};

// The message phase (seed 001, FQ21): at most one an epoch and agent, to all, before its proposal. It is heard in the
// next epoch.
struct Tell {
  static constexpr std::string_view name = "Tell";
  using Reads = Footprint<AgentActive, AgentRequest, AgentMessage, AgentHeard, Epoch>;
  using Writes = Footprint<AgentMessage>;
  std::string agent;
  std::int64_t epoch = 0;  // the open one
  std::string content;
  WITAN_MEMBERS(Tell, agent, epoch, content)
  void apply(Mutator<Fields>& m, Time) const;
};

// For ever. It releases nothing.
struct Leave {
  static constexpr std::string_view name = "Leave";
  using Reads = Footprint<AgentActive, AgentRequest>;
  using Writes = Footprint<AgentActive>;
  std::string agent;
  WITAN_MEMBERS(Leave, agent)
  void apply(Mutator<Fields>& m, Time) const;
};

struct CloseEpoch {
  static constexpr std::string_view name = "CloseEpoch";
  using Reads =
      Union<AuthorityFields,
            Footprint<WorldValue, WorldBefore, AgentActive, AgentRequest, AgentMessage, Epoch, Fruitless>>::Type;
  using Writes = Footprint<WorldValue, WorldBefore, AgentRequest, AgentClosed, AgentOutcome, AgentMessage, AgentHeard,
                           Epoch, Fruitless, ClassOf>;
  std::int64_t epoch = 0;  // the open one: nobody closes two by mistake
  WITAN_MEMBERS(CloseEpoch, epoch)
  void apply(Mutator<Fields>& m, Time) const;
};

struct AgentRole : Role<"Agent", Propose, Leave, Tell> {};
struct ClockRole : Role<"Clock", CloseEpoch> {};

// Joint: the invariants. The second is the auditor: it recomputes the last closed epoch from what the state remembers
// of it, with the auditors' own reading of the rules (coordination/judge.h), so that a kernel that arbitrates
// cannot commit.

struct RequestsAreOpen : NamedInvariant<"JOINT_REQUESTS_ARE_OPEN"> {
  static constexpr std::string_view rule =
      "what waits is of the open epoch, by who is there, and about keys of the world";
  using Reads = Footprint<WorldValue, AgentActive, AgentRequest, Epoch>;
  static Verdict check(const View<RequestsAreOpen>& s);
};

struct NoArbitration : NamedInvariant<"JOINT_NO_ARBITRATION"> {
  static constexpr std::string_view rule =
      "of the last epoch exactly what both passes admit was executed, and the world is what that made of it";
  using Reads = Union<AuthorityFields, Footprint<WorldValue, WorldBefore, AgentClosed, AgentOutcome, Epoch>>::Type;
  static Verdict check(const View<NoArbitration>& s);
};

}  // namespace witan::domains::joint
