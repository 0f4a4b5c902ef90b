#include "sim/checkers/agent_requests.h"

#include "agents/host/builtin_tools.h"
#include "saga/saga_rows.h"
#include "sim/check/agent_rules.h"

namespace witan::sim {

namespace {

std::optional<RequestRecord> requestOf(const kernel::DomainModule& module, const replication::Plan& plan,
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
  RequestRecord booked;
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

}  // namespace

std::vector<RequestRecord> agentRequests(Cluster& cluster, const kernel::DomainModule& module) {
  std::vector<RequestRecord> asked;
  if (cluster.plan().options.cluster.hosts == 0) return asked;
  for (Seat* at : cluster.members()) {
    auto records = agentRecordsOf(at->replica().data());
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

Result<PartitionLog> logAt(Seat& at, const std::string& id) {
  kernel::Ledger& ledger = at.replica().host(id)->ledger();
  std::vector<std::string> batches;
  for (std::uint64_t n = 0; n < ledger.batches(); ++n) {
    WITAN_TRY(batch, ledger.batch(n));
    batches.push_back(std::move(batch));
  }
  return readLog(batches);
}

}  // namespace witan::sim
