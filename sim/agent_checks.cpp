// The work of agents when everything has come to rest: checkers "agents-apart", "runs", "operations" and "sagas".
#include <algorithm>

#include "agents/agent.h"
#include "agents/host/agent_host.h"
#include "agents/host/builtin_tools.h"
#include "agents/wake/wake_checks.h"
#include "saga/saga_rows.h"
#include "sim/check/agent_rules.h"
#include "sim/check/ledger_facts.h"
#include "sim/sim_agents.h"
#include "sim/world.h"

namespace witan::sim {

using namespace replication;

void World::checkAgents() {
  if (plan_.options.cluster.hosts == 0) return;
  Seat* first = nullptr;
  AgentRuleOptions options;
  options.wholeDisks = book_.losses().empty();
  for (auto& at : seats_) {
    if (at->retired) continue;
    if (first == nullptr) first = at.get();
    if (const std::string wrong = checkApart(at->device->replica().data()); !wrong.empty())
      return failed("agents-apart", wrong);
    if (const std::string wrong = openSagas(*at, options.putAside); !wrong.empty()) return failed("sagas", wrong);
  }
  if (first == nullptr) return;
  if (const std::string wrong = checkRuns(*first); !wrong.empty()) return failed("runs", wrong);
  auto records = agentRecordsOf(first->device->replica().data());
  if (!records.ok()) return failed("store", first->device->name() + ": " + records.error().message);
  std::map<RunKey, Micros> begun;
  for (auto& at : seats_)
    for (const auto& [run, when] : at->begun) begun[run] = std::min(begun.try_emplace(run, when).first->second, when);
  options.denied = perhapsDenied(*records, "sim.mail", begun, unconfirmedAt_, toolCalls_);
  if (const std::string wrong = checkOperations(*records, options); !wrong.empty()) return failed("operations", wrong);
  if (const std::string wrong = checkCompensations(*records, options); !wrong.empty()) return failed("sagas", wrong);
  for (const auto& [run, plans] : records->plans)
    if (!plans.losers.empty()) probe("run with several plans");
  for (const auto& [operation, view] : records->journal) {
    if (view.record && view.record->body.compensates) probe("operation undone");
    if (!view.repeats.empty()) probe("operation carried out by several devices");
  }
}

// Checker "sagas": each has ended, or was put aside for a person after its last attempt.
std::string World::openSagas(Seat& at, std::set<OperationId>& putAside) {
  saga::SagaRows rows(at.device->replica().data().database(DatabaseName::agents), 0);
  std::string open;
  const Status read = rows.visitOpen([&](saga::SagaRow&& row) {
    open = at.device->name() + " has not ended the saga of operation " + row.id().hex() + " (" +
           std::string(enumName(row.status)) + ")";
  });
  if (!read.ok()) return at.device->name() + ": " + read.error().message;
  const Status held = rows.visitHeld([&](saga::SagaRow&& row) {
    probe("saga put aside");
    putAside.insert(row.id());
  });
  return held.ok() ? open : at.device->name() + ": " + held.error().message;
}

// Checker "runs" at the end: what should wake an agent did, tokens are typed (invariant 3), and every run that was
// started has ended (invariant 5).
std::string World::checkRuns(Seat& at) {
  LocalReplica& data = at.device->replica().data();
  auto space = data.database(DatabaseName::agents).space("main");
  if (!space.ok()) return space.error().message;
  auto runs = agents::knownRuns(**space);
  if (!runs.ok()) return runs.error().message;
  std::vector<const agents::AgentSpec*> specs;
  const auto setup = simAgents().setup;
  for (const agents::Agent* agent : setup->agents) specs.push_back(&agent->spec());
  auto unwoken = agents::wakesWithoutEnd(data, "main", specs);
  if (!unwoken.ok()) return unwoken.error().message;
  if (!unwoken->empty()) return unwoken->front();
  std::vector<ExpectedRun> expected;
  for (const auto& [key, run] : requests_) {
    const auto writes = book_.writes().find(key);
    if (writes == book_.writes().end() || !writes->second.front().durable || writes->second.front().mayBeLost) continue;
    expected.push_back({key.second.second + " was entered, and nobody has worked on it", run});
  }
  for (const BookedTurn& turn : turns_)
    if (turn.durable)
      expected.push_back({"what was said on " + ClusterSetup::deviceName(turn.device) + " was never heard", turn.run});
  expectFacts(expected);
  if (const std::string wrong = checkAtRest(*runs, expected); !wrong.empty()) return wrong;
  for (const std::string& id : data.spaceIds()) {
    auto batches = agents::batchesOf(*data.findSpace(id));
    if (!batches.ok()) return batches.error().message;
    if (const auto untyped = agents::untypedTokens(*batches); !untyped.empty()) return untyped.front();
  }
  return {};
}

// What a ledger says wakes who watches it, on the devices that keep it and let agents work.
void World::expectFacts(std::vector<ExpectedRun>& expected) {
  const agents::AgentSpec* herald = nullptr;
  const auto setup = simAgents().setup;
  for (const agents::Agent* agent : setup->agents)
    if (!agent->spec().ledgers.empty()) herald = &agent->spec();
  WITAN_CHECK(herald != nullptr, "one of the simulated agents watches ledgers");
  for (auto& at : seats_) {
    if (at->retired || at->device->replica().agents() == nullptr || at->device->replica().hosts().empty()) continue;
    for (const auto& [id, host] : at->device->replica().hosts())
      for (const agents::LedgerSpec& spec : herald->ledgers) {
        if (host->module().signature().domain != spec.domain) continue;
        auto log = logAt(*at, id);
        if (!log.ok()) return failed("store", at->device->name() + " " + id + ": " + log.error().message);
        for (const agents::LedgerFact& fact : factsOf(*log, spec)) {
          auto job = agents::ledgerJob(herald->id, spec.id, fact);
          WITAN_CHECK(job.ok(), "the herald's ids are ids");
          probe("fact of a ledger");
          expected.push_back(
              {id + " says that " + fact.key + " is " + fact.value + ", and nobody has heard", job->key()});
        }
      }
    return;  // all copies are alike
  }
}

// What agents have asked of the meta-agents stands in their plans. When, and whether they heard of it, is nowhere.
std::vector<BookedRequest> World::agentRequests(const kernel::DomainModule& module) {
  std::vector<BookedRequest> asked;
  if (plan_.options.cluster.hosts == 0) return asked;
  for (auto& at : seats_) {
    if (at->retired) continue;
    auto records = agentRecordsOf(at->device->replica().data());
    if (!records.ok()) return asked;
    for (const auto& [run, view] : records->plans) {
      const auto add = [&](const replication::Plan& plan) {
        for (std::size_t i = 0; i < plan.operations.size(); ++i)
          if (plan.body.actions[i].toolName == "propose")
            if (auto one = requestOf(module, plan, i)) asked.push_back(*std::move(one));
      };
      if (view.winner) add(*view.winner);
      for (const replication::Plan& loser : view.losers) add(loser);
    }
    break;  // all devices hold the same
  }
  return asked;
}

std::optional<BookedRequest> World::requestOf(const kernel::DomainModule& module, const replication::Plan& plan,
                                              std::size_t n) {
  saga::SagaRow row;
  row.intent.operation = plan.operations[n].value;
  row.intent.run = plan.body.runKey;
  row.intent.agentId = plan.body.agentId;
  row.intent.tool = plan.body.actions[n].toolName;
  row.intent.arguments = plan.body.actions[n].arguments;
  auto call = agents::proposalOf(row);
  if (!call.ok() || call->domain != module.signature().domain) return std::nullopt;
  auto action = module.parseAction(call->body);
  if (!action.ok()) return std::nullopt;
  BookedRequest booked;
  booked.request.domain = call->domain;
  booked.request.entity = call->entity;
  booked.request.role = call->role;
  booked.request.operationId = call->operation.hex();
  booked.request.agent = call->agentId;
  booked.request.actionType = module.signature().processes[(*action)->process].name;
  const std::string bytes = module.encodeAction(**action);
  booked.request.action.assign(bytes.begin(), bytes.end());
  booked.request.runKey = plan.body.runKey;
  booked.request.planDigest = plan.digest.value;
  return booked;
}

}  // namespace witan::sim
