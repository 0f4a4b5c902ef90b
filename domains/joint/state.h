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
  Cell<bool> active;      // false: it has left
  Cell<Request> request;  // of the open epoch
  Cell<Request> closed;   // of the last closed one
  Cell<Outcome> outcome;  // what came of it
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
struct Epoch : Scalar<"epoch", &State::epoch> {};
struct Fruitless : Scalar<"fruitless", &State::fruitless> {};
struct ClassOf : Scalar<"class", &State::epochClass> {};

using Fields = FieldList<WorldValue, WorldBefore, AuthorityCommitment, AuthorityHolder, AuthorityReads, AuthorityWrites,
                         AgentActive, AgentRequest, AgentClosed, AgentOutcome, Epoch, Fruitless, ClassOf>;

using AuthorityFields = Footprint<AuthorityCommitment, AuthorityHolder, AuthorityReads, AuthorityWrites>;

}  // namespace witan::domains::joint
