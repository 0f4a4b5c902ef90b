#include "node/api/counselor_queue.h"

#include "base/bytes.h"
#include "base/quote.h"
#include "node/ledgers/ledger_reader.h"
#include "replica/core/partition_host.h"

namespace witan::node::api {

using namespace kernel;

namespace {

std::vector<FindingRow> findingRows(const DomainModule& module, const std::vector<Finding>& findings) {
  std::vector<FindingRow> rows;
  for (const Finding& finding : findings)
    rows.push_back({std::string(module.invariantId(finding.invariant)), finding.result, finding.message});
  return rows;
}

}  // namespace

Result<Omittable<Resolution>> resolutionOf(const PartitionHost& host, std::string_view entity,
                                           std::uint64_t escalation) {
  Omittable<Resolution> found;
  const auto pending = host.partition().pending(entity);
  if (pending && pending->seq == escalation) return found;
  WITAN_TRY(n, batchWith(host.rows(), host.durableBatches(), escalation));
  for (; n < host.durableBatches() && !found; ++n)
    WITAN_DO(visitBatch(host.rows(), n, [&](const StoredEntry& stored) {
      const EntryView& entry = stored.entry;
      if (!found && entry.escalation == escalation)
        found = Resolution{entry.seq, outcomeOf(entry.tag), std::string(entry.counselor), std::string(entry.reason),
                           entry.tag == Tag::cRejected || entry.findings.empty()};
    }));
  return found;
}

std::vector<QueueRow> queueOf(const Partition& partition, const std::string& id) {
  const DomainModule& module = partition.module();
  std::vector<QueueRow> rows;
  for (const PendingView& p : partition.queue()) {
    std::string state;
    module.writeState(state, *partition.state(p.entity));
    QueueRow& row = rows.emplace_back(
        QueueRow{module.signature().domain, id, p.entity, p.seq, toHex(p.digest), p.at, p.role, p.device, p.agent});
    row.action = parseJson(p.action).value();
    row.invariant = p.invariant;
    row.message = p.message;
    row.findings = findingRows(module, p.findings);
    row.counselors = module.signature().counselors;
    // An answer of more is not sent: the slice shows it.
    if (state.size() <= kRecordTextMax) row.state = parseJson(state, kOwnJson).value();
    if (p.expires) row.expires = *p.expires;
  }
  return rows;
}

Result<CommitPreview> previewCommit(const Partition& partition, const DecideRequest& asked, Time at) {
  const auto pending = partition.pending(asked.entity);
  if (!pending)
    return Error{ErrorCode::notFound, "nothing is pending for " + inQuotes(asked.entity), "see: witan queue list"};
  if (toHex(pending->digest) != asked.digest)
    return Error{ErrorCode::conflict, "the digest is not of what is pending now", "see: witan queue show"};
  const DomainModule& module = partition.module();
  const EntityPtr copy = module.clone(*partition.state(asked.entity));
  WITAN_TRY(action, module.parseAction(parseJson(pending->action).value()));
  Evaluation evaluation;
  WITAN_DO(module.counselorCommit(*copy, asked.base.value_or(CommitBase::candidate), action.get(),
                                  asked.edit.value_or(json::object()), asked.counselor, at, evaluation));
  WITAN_TRY(writes, parseJson(evaluation.writes, {.bytes = kRecordTextMax, .depth = 64}));
  return CommitPreview{evaluation.findings.empty(), findingRows(module, evaluation.findings), std::move(writes)};
}

}  // namespace witan::node::api
