#include "sim/history.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/bytes.h"
#include "replication/writer.h"
#include "sim/device.h"
#include "sim/trace_format.h"

namespace witan::sim {

namespace {

Operation operationOf(const RequestRecord& booked, const kernel::DomainModule& module) {
  const node::Request& request = booked.request;
  Operation operation{.client = booked.device,
                      .invoked = booked.invoked,
                      .entity = request.entity,
                      .operationId = request.operationId,
                      .device = request.device,
                      .agent = request.agent};
  switch (request.kind) {
    case node::RequestKind::propose:
      operation.role = request.role;
      if (request.runKey != Hash{}) operation.run = asView(request.runKey), operation.plan = asView(request.planDigest);
      operation.action = actionText(module, request);
      return operation;
    case node::RequestKind::init: operation.kind = OperationKind::init; break;
    default:
      operation.kind = OperationKind::decide;
      operation.counselor = request.counselor;
      operation.reason = request.reason;
      operation.commit = request.kind == node::RequestKind::commit;
      operation.base = request.base;
      if (request.escalation != 0) operation.escalation = request.escalation;
      if (request.pendingDigest != Hash{}) operation.pendingDigest = request.pendingDigest;
  }
  operation.fields = request.text.empty() ? "{}" : request.text;
  return operation;
}

Answer answerOf(const node::Answer& told) {
  Answer answer;
  answer.epoch = {told.epochNumber, told.epochOwner};
  answer.decision.outcome = told.outcome;
  answer.decision.recorded = told.recorded;
  answer.decision.seq = told.seq;
  answer.decision.invariant = told.invariant;
  answer.decision.message = told.message;
  if (told.safe != node::Safety::none) answer.decision.safe = told.safe == node::Safety::safe;
  return answer;
}

}  // namespace

void History::gave(std::uint32_t device, std::string_view frames, Micros at) {
  constexpr auto kAnswer = static_cast<std::uint8_t>(node::AdjudicationFrame::answer);
  forEachFrame(frames, [&](std::string_view frame) {
    node::Answer answer;
    if (frame.size() <= kFrameHeaderBytes || static_cast<std::uint8_t>(frame[4]) != kAnswer ||
        !readMessage(frame.substr(kFrameHeaderBytes), answer, "frame").ok())
      return;
    const bool firstOfEntry = answer.seq != 0 && answer.outcome != kernel::Outcome::duplicate;
    if (firstOfEntry || answer.outcome == kernel::Outcome::initialised) given_[givenKey(device, answer)] = at;
  });
}

std::vector<Operation> operationsOf(std::span<const RequestRecord> requests, const kernel::DomainModule& module,
                                    const std::function<bool(const node::Request&)>& isOfPartition) {
  std::vector<Operation> operations;
  for (const RequestRecord& booked : requests) {
    if (!isOfPartition(booked.request)) continue;
    Operation operation = operationOf(booked, module);
    if (booked.returned) {
      operation.returned = *booked.returned;
      operation.answer = answerOf(booked.answer);
      kernel::Decision& decision = operation.answer.decision;
      if (booked.given && *booked.given <= booked.invoked) {
        decision.recorded = decision.outcome;
        decision.outcome = kernel::Outcome::duplicate;
      }
    }
    operations.push_back(std::move(operation));
  }
  return operations;
}

bool diskLostSince(std::span<const DiskLoss> losses, const Operation& operation) {
  const std::uint32_t owner = ClusterSetup::deviceIndex(replication::deviceOf(operation.answer.epoch.owner));
  return std::ranges::any_of(
      losses, [&](const DiskLoss& loss) { return loss.device == owner && loss.at >= operation.invoked; });
}

std::vector<LostRange> lossesOf(std::span<const Operation> operations, const PartitionLog& log,
                                std::span<const DiskLoss> losses) {
  std::map<Epoch, std::uint64_t> lost;
  std::set<Epoch> known;
  for (const kernel::EpochRecord& epoch : log.epochs) known.insert(epochOf(epoch));
  for (const Operation& operation : operations)
    if (operation.returned && operation.answer.epoch.number > 0 && !known.contains(operation.answer.epoch) &&
        diskLostSince(losses, operation))
      lost.emplace(operation.answer.epoch, 0);
  const kernel::EpochRecord* before = nullptr;
  for (const kernel::EpochRecord& epoch : log.epochs) {
    const Epoch previous = before == nullptr ? Epoch{} : epochOf(*before), next = epochOf(epoch);
    if (epoch.cause == kernel::EpochCause::seizure) lost.emplace(previous, epoch.entries + 1);
    // An epoch between them is that of a seizure elsewhere, of which this log's owners did not know.
    for (const Operation& operation : operations)
      if (operation.returned && operation.answer.epoch > previous && operation.answer.epoch < next)
        lost.emplace(operation.answer.epoch, 0);
    before = &epoch;
  }
  std::vector<LostRange> ranges;
  for (const auto& [epoch, from] : lost) ranges.push_back({epoch, from});
  return ranges;
}

}  // namespace witan::sim
