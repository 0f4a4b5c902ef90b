// Lies about logs, and those that only the owner of a partition can tell.
#include <algorithm>

#include "base/bytes.h"
#include "kernel/proposal_message.h"
#include "kernel/record/log_batch.h"
#include "kernel/record/merkle.h"
#include "kernel/record/signed_note.h"
#include "kernel/record/statement.h"
#include "replica/core/log_head.h"
#include "replica/core/outbox.h"
#include "replica/graph_runtime.h"
#include "sim/run/lies.h"

namespace witan::sim {

bool Lies::ofPeople(const std::string& partition) const { return !partition.starts_with(node::kGraphDomain); }

std::optional<std::string> Lies::owned() {
  std::vector<std::string> all;
  for (const auto& [id, host] : self_.replica().hosts())
    if (ofPeople(id) && self_.replica().owns(*host) && host->showsLog() &&
        host->durableBatches() == host->ledger().batches() && host->partition().size() > 0)
      all.push_back(id);
  if (all.empty()) return std::nullopt;
  return all[draw(all.size())];
}

std::optional<Lies::Batch> Lies::next(Seat& of, const std::string& partition) {
  auto copy = of.device->openCopy(c_.agenda().now());
  if (!copy.ok()) return std::nullopt;
  node::PartitionHost* host = copy->replica->host(partition);
  if (host == nullptr || !copy->replica->owns(*host) || host->ledger().batches() == 0) return std::nullopt;
  Batch made{.partition = partition, .epoch = host->epoch(), .number = host->ledger().batches()};
  made.previous = host->lineage().epochAt(made.number - 1);
  made.before = host->chain().last();
  made.format = host->partition().epochs().back().format;
  const Now now = of.device->now(c_.agenda().now());
  for (const std::string& entity : host->partition().entities()) {
    const kernel::ActionPtr action = host->module().sample(*host->partition().state(entity), random_, now.wall);
    if (!action || host->partition().pending(entity)) continue;
    const kernel::ProcessInfo& process = host->module().signature().processes[action->process];
    node::Request request{.domain = host->module().signature().domain,
                          .entity = entity,
                          .role = process.role,
                          .operationId = concat("lie-", random_.next()),
                          .actionType = process.name};
    const std::string bytes = host->module().encodeAction(*action);
    request.action.assign(bytes.begin(), bytes.end());
    node::Effects out;
    made.request = request;
    made.request.device = of.name();
    if (!copy->replica->submit(std::move(request), now).ok() || !copy->replica->drain(now, out).ok())
      return std::nullopt;
    host = copy->replica->host(partition);
    if (host->ledger().batches() != made.number + 1) return std::nullopt;
    auto value = host->ledger().batch(made.number);
    if (!value.ok()) return std::nullopt;
    made.value = *std::move(value);
    made.entries = host->partition().size(), made.root = host->partition().tree().root();
    return made;
  }
  return std::nullopt;
}

std::optional<std::string> Lies::altered(const std::string& batch, const std::function<bool(kernel::Entry&)>& change) {
  bool changed = false;
  std::optional<kernel::LogBatch> out;
  WordWriter words;
  const auto aligned = alignedWords(batch);
  if (!aligned.ok()) return std::nullopt;
  const std::string_view value(reinterpret_cast<const char*>(aligned->data()), batch.size());
  std::uint64_t first = 0;
  for (unsigned i = 0; i < 8; ++i) first |= std::uint64_t{static_cast<unsigned char>(value[8 + i])} << (8 * i);
  out.emplace(first);
  const auto read = kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
    if (record.kind != kernel::RecordKind::entry) {
      out->add(record.kind, record.payload, record.leaf);
      return okStatus();
    }
    WITAN_TRY(entry, kernel::readEntry(record.payload));
    changed = change(entry) || changed;
    const std::string_view bytes = words.message(entry);
    out->add(record.kind, bytes, kernel::leafHash(bytes));
    return okStatus();
  });
  if (!read.ok() || !changed) return std::nullopt;
  return out->take();
}

node::Entries Lies::sealed(const Batch& batch, bool seal) const {
  node::Entries entries{batch.partition,
                        batch.number,
                        batch.epoch.number,
                        batch.epoch.owner,
                        batch.previous.number,
                        batch.previous.owner,
                        {batch.value.begin(), batch.value.end()},
                        Hash{},
                        batch.before,
                        {}};
  if (!seal) return entries;
  node::BatchSeal made{batch.epoch.number, batch.epoch.owner, batch.number + 1,
                       node::chained(batch.before, batch.value), sha256(batch.value)};
  made.format = batch.format;
  if (self_.running()) made.run = self_.replica().run();
  const std::pair<std::string, node::BatchSeal*> one{batch.partition, &made};
  node::sealTogether(ClusterSetup::kCluster, {&one, 1}, ClusterSetup::keyOf(self_.index()));
  WordWriter words;
  const std::string_view bytes = words.message(made);
  entries.seal.assign(bytes.begin(), bytes.end());
  return entries;
}

void Lies::sayBatch(Lie lie, const Seat& to, const Batch& batch) {
  say(to, sealed(batch));
  told(lie, to, &batch);
}

std::string Lies::headOf(const std::string& partition, const kernel::Epoch& epoch, std::uint64_t entries,
                         const Hash& root) {
  const std::vector<Seat*> all = c_.members();
  kernel::Checkpoint checkpoint{node::originOf(ClusterSetup::kCluster, {partition, epoch}), entries, root, {}};
  for (Seat* at : all)
    if (at->running())
      if (node::PartitionHost* host = at->replica().host(partition))
        checkpoint.extensions = host->ledger().format().checkpointLines();
  const auto text = kernel::checkpointText(checkpoint);
  const kernel::NoteSigner signer{node::keyNameOf(ClusterSetup::kCluster, self_.name()),
                                  ClusterSetup::keyOf(self_.index())};
  const auto note = text.ok() ? kernel::signNote(*text, {&signer, 1}) : Result<std::string>(text.error());
  return note.ok() ? *note : std::string();
}

void Lies::sayHead(const Seat& to, std::string note) {
  node::PeerAdvertisement heads = standing();
  heads.heads.push_back(std::move(note));
  say(to, heads);
}

// --- of an owner

// A decision that the rules do not give.
bool Lies::unlawfulEntry() {
  const auto partition = owned();
  Seat* const to = victim(true);
  auto batch = partition && to != nullptr ? next(self_, *partition) : std::nullopt;
  if (!batch) return false;
  const std::uint64_t how = draw(3);
  const auto value = altered(batch->value, [&](kernel::Entry& entry) {
    if (how == 0 && entry.tag == kernel::Tag::approved)
      entry.tag = kernel::Tag::escalated;
    else if (how == 1)
      entry.stateDigest = anyHash();
    else
      entry.message += " indeed";
    return true;
  });
  if (!value) return false;
  batch->value = *value;
  sayBatch(Lie::unlawfulEntry, *to, *batch);
  return true;
}

bool Lies::unsignedEntry() {
  const auto partition = owned();
  Seat* const to = victim(true);
  auto batch = partition && to != nullptr ? next(self_, *partition) : std::nullopt;
  if (!batch) return false;
  const auto value = altered(batch->value, [](kernel::Entry& entry) {
    entry.proof.clear();
    return true;
  });
  if (!value) return false;
  batch->value = *value;
  sayBatch(Lie::unsignedEntry, *to, *batch);
  return true;
}

// In the name of an honest device, with a signature of this one.
bool Lies::forgedEntry() {
  const auto partition = owned();
  Seat* const to = victim(true);
  auto batch = partition && to != nullptr ? next(self_, *partition) : std::nullopt;
  if (!batch) return false;
  const std::string other = to->name();
  const std::string domain = partition->substr(0, partition->find('/'));
  const auto value = altered(batch->value, [&](kernel::Entry& entry) {
    if (entry.device != self_.name()) return false;
    entry.device = other;
    WordWriter words;
    const auto view = kernel::readEntryView(words.message(entry));
    if (!view.ok()) return false;
    const Hash leaf = kernel::requestLeaf(kernel::statementOf(ClusterSetup::kCluster, domain, *view));
    entry.proof = kernel::packProof(
        kernel::signLeaves(ClusterSetup::kCluster, {&leaf, 1}, ClusterSetup::keyOf(self_.index())).front());
    return true;
  });
  if (!value) return false;
  batch->value = *value;
  sayBatch(Lie::forgedEntry, *to, *batch);
  return true;
}

// Of the size of the true one. Whoever has that, too, has the proof.
bool Lies::secondHead() {
  const auto partition = owned();
  Seat* const to = victim(true);
  if (!partition || to == nullptr) return false;
  const node::PartitionHost& host = *self_.replica().host(*partition);
  sayHead(*to, headOf(*partition, host.epoch(), host.entries(), anyHash()));
  sayHead(*to, headOf(*partition, host.epoch(), host.entries(), host.position().root));
  told(Lie::secondHead, *to);
  return true;
}

// Another lawful batch than the one that the others get, and the heads of both logs.
bool Lies::secondBatch() {
  const auto partition = owned();
  Seat* const to = victim(true);
  const auto batch = partition && to != nullptr ? next(self_, *partition) : std::nullopt;
  if (!batch) return false;
  sayBatch(Lie::secondBatch, *to, *batch);
  // It may stand in the end: its entry is what this device asked for.
  c_.history().asked({.device = self_.index(), .invoked = c_.agenda().now(), .request = batch->request});
  sayHead(*to, headOf(*partition, batch->epoch, batch->entries, batch->root));
  const Hash other = anyHash();
  for (Seat* at : c_.honest())
    if (at->works()) sayHead(*at, headOf(*partition, batch->epoch, batch->entries, other));
  return true;
}

bool Lies::convince(node::Answer& answer, const node::Request& request, const std::string& partition) {
  auto copy = self_.device->openCopy(c_.agenda().now());
  node::PartitionHost* host = copy.ok() ? copy->replica->host(partition) : nullptr;
  if (host == nullptr || host->partition().state(request.entity) == nullptr) return false;
  kernel::ProposalMessage message;
  message.actionType = request.actionType;
  message.action = request.action;
  const auto action = kernel::actionOf(host->module(), message);
  if (!action.ok()) return false;
  const kernel::Decision made = host->ledger().partition().propose({.entity = request.entity,
                                                                    .role = request.role,
                                                                    .operationId = request.operationId,
                                                                    .device = request.device,
                                                                    .agent = request.agent,
                                                                    .action = action->get(),
                                                                    .at = self_.device->now(c_.agenda().now()).wall,
                                                                    .runKey = request.runKey,
                                                                    .planDigest = request.planDigest,
                                                                    .proof = request.proof});
  if (made.seq == 0 || made.outcome == kernel::Outcome::duplicate || !host->ledger().commit().ok()) return false;
  const auto entry = host->ledger().entryBytes(made.seq);
  if (!entry.ok()) return false;
  answer.entry.assign(entry->begin(), entry->end());
  answer.outcome = made.outcome, answer.seq = made.seq;
  answer.invariant = made.invariant, answer.message = made.message;
  answer.run = self_.replica().run();
  const Hash leaf = kernel::holdingLeaf(ClusterSetup::kCluster, partition, answer.epochNumber, answer.epochOwner,
                                        answer.run, answer.seq, kernel::leafHash(*entry));
  answer.proof = kernel::packProof(
      kernel::signLeaves(ClusterSetup::kCluster, {&leaf, 1}, ClusterSetup::keyOf(self_.index())).front());
  return true;
}

// It was asked, and tells what its log does not hold, now and then without an entry or in another's epoch.
bool Lies::falseAnswer() {
  const auto open = openRequest(true);
  if (!open) return false;
  const auto& [to, request] = *open;
  const std::string partition = to->replica().partitionFor(request.domain, request.entity);
  const node::PartitionHost* host = self_.replica().host(partition);
  if (host == nullptr || !self_.replica().owns(*host)) return false;
  node::Answer answer = node::answerTo(request, node::AnswerKind::decided, "");
  answer.outcome = kernel::Outcome::approved;
  answer.seq = host->entries() + 1 + draw(3);
  const std::uint64_t how = draw(3);
  answer.epochNumber = host->epoch().number, answer.epochOwner = host->epoch().owner;
  const bool keeper = to->device->isLedgerReplica();
  if (how == 0 && keeper) answer.epochOwner = to->replica().ownerName();
  if (how != 1 || !keeper) (void)convince(answer, request, partition);
  if (keeper && how < 2) answer.message = concat("lie-", random_.next());
  say(*to, answer);
  told(Lie::falseAnswer, *to, nullptr, request.operationId);
  if (keeper && how < 2) c_.history().lies.back().answer = answer.message;
  return true;
}

}  // namespace witan::sim
