#include "replica/core/request_proofs.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/mutant.h"
#include "kernel/proposal_message.h"
#include "kernel/record/merkle.h"
#include "kernel/record/statement.h"
#include "replica/core/entry_evidence.h"
#include "replica/core/log_head.h"
#include "replica/core/replica_state.h"
#include "replication/writer.h"
#include "rules/domain/versions.h"

namespace witan::node {

namespace {

using kernel::LeafProof;
using kernel::Statement;

bool isAmong(const std::vector<PublicKey>& keys, const PublicKey& key) {
  return std::ranges::find(keys, key) != keys.end();
}

// Of a request that the ledger records. `text`: what the statement borrows besides the request.
Result<Statement> statementOf(const ReplicaState& state, const Request& request, std::string& text) {
  static constexpr std::string_view kKinds[] = {"propose", "begin", "commit", "reject"};
  Statement s{state.config.replication.cluster,
              request.domain,
              kKinds[static_cast<std::size_t>(request.kind)],
              request.entity,
              request.role,
              request.operationId,
              request.device,
              request.agent,
              {},
              {},
              {},
              {},
              {},
              {},
              {}};
  if (request.kind == RequestKind::propose) {
    const kernel::DomainModule* module = state.moduleOf(request.domain);
    if (module == nullptr) return notFound("no domain " + request.domain);
    kernel::ProposalMessage message;
    message.actionType = request.actionType;
    message.action = request.action;
    WITAN_TRY(action, kernel::actionOf(*module, message));
    module->writeAction(text, *action);
    s.action = text;
    if (request.runKey != Hash{}) s.runKey = request.runKey, s.planDigest = request.planDigest;
    return s;
  }
  s.role = {};
  if (request.kind == RequestKind::init) {
    WITAN_TRY(fields, parseJson(request.text.empty() ? "{}" : request.text));
    if (!fields.is_object()) return invalid("init: the fields are no JSON object");
    text = canonicalJson(fields);
    s.action = text;
    return s;
  }
  s.counselor = request.counselor, s.reason = request.reason;
  if (request.pendingDigest != Hash{}) s.shown = request.pendingDigest;
  if (request.kind == RequestKind::reject) return s;
  WITAN_TRY(edit, parseJson(request.text.empty() ? "{}" : request.text));
  if (!edit.is_object()) return invalid("edit: no JSON object");
  text = kernel::decisionText(enumName(request.base), edit.get_object());
  s.decision = text;
  return s;
}

Result<Hash> leafOf(const ReplicaState& state, const Request& request) {
  std::string text;
  WITAN_TRY(statement, statementOf(state, request, text));
  return kernel::requestLeaf(statement);
}

// A message to a graph is none: what it begins is a step of the graph's runtime.
bool isStatement(const Request& request) { return request.kind != RequestKind::ingress; }

constexpr std::size_t kMaxTold = 1024;

Error unproven(std::string what) { return Error{ErrorCode::unauthorised, std::move(what), ""}; }

bool isTag(kernel::Outcome outcome) {
  return outcome >= kernel::Outcome::approved && outcome <= kernel::Outcome::cRejected;
}

}  // namespace

void signRequests(ReplicaState& state, std::span<Request* const> requests) {
  if (!state.config.heads) return;
  std::vector<Request*> signing;
  std::vector<Hash> leaves;
  for (Request* request : requests) {
    if (!isStatement(*request) || !request->proof.empty() || request->device != state.device()) continue;
    const auto leaf = leafOf(state, *request);
    if (!leaf.ok()) continue;  // the owner says what is wrong with it
    signing.push_back(request), leaves.push_back(*leaf);
  }
  const auto proofs = kernel::signLeaves(state.config.replication.cluster, leaves, state.config.heads->key());
  if (!leaves.empty()) state.signatures.made(state.config.replication.cluster, leaves.front(), proofs.front());
  for (std::size_t i = 0; i < signing.size(); ++i) signing[i]->proof = kernel::packProof(proofs[i]);
}

Status checkProposer(ReplicaState& state, const Request& request) {
  if (!state.config.heads || !isStatement(request) || mutated("requestUnsigned")) return okStatus();
  const auto leaf = leafOf(state, request);
  if (!leaf.ok()) return okStatus();  // it is refused for that, and nobody can sign it
  if (request.proof.empty())
    return unavailable("the request bears no signature of " + request.device, "run one version of Witan everywhere");
  WITAN_TRY(proof, kernel::readProof(request.proof));
  if (isAmong(state.config.heads->keysOf(request.device), proof.key) &&
      state.signatures.holds(state.config.replication.cluster, *leaf, proof))
    return okStatus();
  return unavailable("no key of " + request.device + " that is known here signed the request");
}

Status mayBeUnsigned(const ReplicaState& state, std::string_view domain, std::string_view person) {
  const HeadKeys* keys = state.config.heads.get();
  if (!state.config.signedAnswers && (keys == nullptr || keys->mayAnswerUnsigned(domain, person))) return okStatus();
  return unproven(concat("the answer bears no signature of ", person, "; sign it with the key of `witan person add`"));
}

Status checkPerson(ReplicaState& state, const Request& request) {
  if (!isStatement(request) || request.kind == RequestKind::init) return okStatus();
  const bool proposes = request.kind == RequestKind::propose;
  if (proposes && !kernel::isPersonal(request.domain, request.role)) return okStatus();
  std::string text;
  const auto statement = statementOf(state, request, text);
  if (!statement.ok()) return proposes ? okStatus() : Status(statement.error());  // it is refused for that
  const auto word = kernel::personsWord(*statement, request.signature);
  if (!word) return okStatus();
  if (proposes && !request.agent.empty())
    return unproven(concat("the agent ", request.agent, " may not answer for ", word->person));
  const HeadKeys* keys = state.config.heads.get();
  if (word->signature.empty()) return mayBeUnsigned(state, request.domain, word->person);
  if (keys == nullptr || !keys->mayAnswer(word->person, word->key(), request.domain))
    return unproven(concat("the key that signed the answer is not one by which ", word->person, " may answer for ",
                           request.domain));
  if (word->holds(state.signatures)) return okStatus();
  return unproven(concat("the signature of ", word->person, " is not of this answer to what is pending"));
}

void signWith(RoundSignature& round, const ReplicaState& state, const std::string& partition, Answer& answer) {
  if (!state.config.heads) return;
  answer.run = state.run;
  const Hash leaf =
      kernel::holdingLeaf(state.config.replication.cluster, partition, answer.epochNumber, answer.epochOwner,
                          answer.run, answer.seq, kernel::leafHash(asView(answer.entry)));
  round.add(leaf, [&answer](const Hash&, const kernel::LeafProof& proof) { answer.proof = kernel::packProof(proof); });
}

namespace {

// Of the same act the first entry counts, as in Partition::propose and decide: another device may have asked for it,
// and a counselor given another reason.
Request asEntered(const Request& asked, const kernel::EntryView& entry) {
  Request same = asked;
  same.device = entry.device, same.agent = entry.agent;
  same.reason = entry.reason;
  same.runKey = same.planDigest = same.pendingDigest = Hash{};
  std::ranges::copy(entry.runKey, same.runKey.begin());
  std::ranges::copy(entry.planDigest, same.planDigest.begin());
  std::ranges::copy(entry.shown, same.pendingDigest.begin());
  return same;
}

}  // namespace

Status checkAnswer(ReplicaState& state, const std::string& from, const Request& asked, const Answer& answer) {
  const auto outcome = answer.outcome == kernel::Outcome::duplicate ? answer.recorded : answer.outcome;
  if (!state.config.heads || !isTag(outcome)) return okStatus();
  const std::string partition = state.partitionFor(asked.domain, asked.entity);
  const kernel::Epoch epoch{answer.epochNumber, answer.epochOwner};
  if (replication::deviceOf(epoch.owner) != from && !mutated("anyHolder"))
    return unproven("it is of an epoch of another owner");
  // Against an epoch that is in no log nothing could be held.
  if (state.provesOwners() && state.owners.find(partition, epoch) == nullptr && !mutated("anyHolder"))
    return unavailable(concat("no claim of epoch ", epoch.number, " of ", partition, " by ", from, " is known here"));
  if (!state.config.ledgerReplica) return okStatus();
  // The role was taken after this device started: the owner gives it no entry any more.
  if (answer.entry.empty() && state.config.keepsLedgers && !state.config.keepsLedgers(state.device()))
    return okStatus();
  if (answer.entry.empty() && mutated("answerWithoutEntry")) return okStatus();
  const auto entry = kernel::readEntry(asView(answer.entry));
  if (answer.entry.empty() || !entry.ok()) return unproven("it holds no entry");
  const std::string& cluster = state.config.replication.cluster;
  const auto words = alignedWords(asView(answer.entry));
  const auto view = kernel::readEntryView({reinterpret_cast<const char*>(words->data()), answer.entry.size()});
  if (!view.ok()) return unproven("its entry cannot be read");
  bool asAsked = entry->operationId == asked.operationId && entry->entity == asked.entity;
  if (isStatement(asked)) {
    const auto leaf = leafOf(state, answer.outcome == kernel::Outcome::duplicate ? asEntered(asked, *view) : asked);
    asAsked = leaf.ok() && *leaf == kernel::requestLeaf(kernel::statementOf(cluster, asked.domain, *view));
  }
  if (!asAsked || entry->seq != answer.seq) return unproven("its entry is of another request");
  if (kernel::outcomeOf(entry->tag) != outcome || entry->invariant != answer.invariant)
    return unproven("its entry says something else");
  if ((answer.safe == Safety::safe) != (entry->tag == kernel::Tag::cCommitted && entry->findings.empty()))
    return unproven("its entry says something else of its safety");
  const auto proof = kernel::readProof(answer.proof);
  const Hash holding = kernel::holdingLeaf(cluster, partition, answer.epochNumber, answer.epochOwner, answer.run,
                                           answer.seq, kernel::leafHash(asView(answer.entry)));
  const bool holds = proof.ok() && isAmong(state.config.heads->keysOf(from), proof->key) &&
                     state.signatures.holds(cluster, holding, *proof);
  if (!holds && !mutated("anyHolder")) return unproven("its owner did not sign that the log holds the entry");
  return okStatus();
}

void ToldAnswers::note(const std::string& partition, const Answer& answer) {
  if (answer.entry.empty() || answer.proof.empty()) return;
  if (told_.size() >= kMaxTold) told_.erase(told_.begin());
  told_[{partition, answer.seq}] = {{answer.epochNumber, answer.epochOwner}, answer.entry, answer.proof};
}

std::vector<std::pair<std::uint64_t, ToldAnswers::Told>> ToldAnswers::take(const std::string& partition,
                                                                           std::uint64_t entries) {
  std::vector<std::pair<std::uint64_t, Told>> due;
  for (auto at = told_.lower_bound({partition, 0});
       at != told_.end() && at->first.first == partition && at->first.second <= entries; at = told_.erase(at))
    due.emplace_back(at->first.second, std::move(at->second));
  return due;
}

void checkTold(ReplicaState& state, PartitionHost& host) {
  for (auto& [seq, told] : state.told.take(host.id(), host.entries())) {
    const auto held = host.ledger().entryBytes(seq);
    if (held.ok() && *held == asView(told.entry)) continue;
    const std::uint64_t batch = host.ledger().batchOf(seq);
    const auto value = host.ledger().batch(batch);
    if (!value.ok() || host.lineage().epochAt(batch) != told.epoch) continue;  // a takeover took it away
    EntryEvidence evidence{"falseAnswer", "", host.id(), seq, {}, toBase64(*value)};
    evidence.seal = toBase64(asView(state.seals.find(host.id(), batch)));
    evidence.answer = FileBytes(toBase64(asView(told.entry)));
    evidence.proof = toHex(told.proof);
    const std::string file = state.provenBy(replication::deviceOf(told.epoch.owner), evidence);
    if (!file.empty()) {
      state.takeEvidence(*verifyEvidence(file), file);
    } else if (held.ok()) {
      const std::string what =
          concat(host.id(), ": its owner, ", told.epoch.owner, ", told this device of another entry ", seq,
                 " than its log holds: its disk went back, or it lied; ask again");
      state.local->note({"contradiction", std::string(replication::deviceOf(told.epoch.owner)), what});
      state.notice("contradiction", host.id(), what);
    }
  }
}

namespace {

// Of one beginning, with the keys that are known here.
Result<std::optional<Offence>> offenceIn(ReplicaState& state, const std::string& domain, std::string_view owner,
                                         const kernel::GenesisView& g) {
  const HeadKeys& keys = *state.config.heads;
  const std::string name = concat("the beginning of ", g.entity);
  std::string kind;
  const std::string why =
      offenceOf(state.config.replication.cluster, domain, g, keys.keysOf(owner), owner, state.signatures, kind);
  if (!why.empty()) return std::optional(Offence{kind, concat(name, ": ", why), 0, std::string(g.entity)});
  if (!isAmong(keys.keysOf(g.device), kernel::readProof(g.proof)->key))
    return unavailable(concat(name, ": no key of ", g.device, " that is known here"));
  return std::optional<Offence>();
}

// Of one entry, likewise.
Result<std::optional<Offence>> offenceIn(ReplicaState& state, const std::string& domain, std::string_view owner,
                                         const kernel::EntryView& e) {
  const std::string& cluster = state.config.replication.cluster;
  const HeadKeys& keys = *state.config.heads;
  const auto offence = [&](std::string_view kind, std::string_view what) {
    return std::optional(Offence{std::string(kind), concat("entry ", e.seq, ": ", what), e.seq});
  };
  std::string kind;
  if (const std::string why = offenceOf(cluster, domain, e, keys.keysOf(owner), owner, state.signatures, kind);
      !why.empty())
    return offence(kind, why);
  if (!e.proof.empty() && !isAmong(keys.keysOf(e.device), kernel::readProof(e.proof)->key))
    return unavailable(concat("entry ", e.seq, ": no key of ", e.device, " that is known here"));
  const auto word = kernel::personsWord(kernel::statementOf(cluster, domain, e), e.signature);
  if (!word || !kernel::hasProposer(e)) return std::optional<Offence>();
  if (!word->signature.empty() && !isAmong(keys.keysOfPerson(word->person), word->key()))
    return unavailable(concat("entry ", e.seq, ": no key of ", word->person, " that is known here"));
  if (state.config.signedAnswers && word->signature.empty())
    return offence("unsigned", concat("bears no signature of ", word->person));
  // Its owner may not have known the person's key then: no offence, and not to be overlooked.
  if (word->signature.empty() && !mayBeUnsigned(state, domain, word->person).ok())
    state.local->note({"unsignedAnswer", std::string(owner),
                       concat("entry ", e.seq, " of ", e.entity, " in ", domain, " is an answer of ", word->person,
                              ", who has a key, and bears no signature: ask whose it is")});
  return std::optional<Offence>();
}

// Of a copy of a log under a rule file that has more than one version.
std::optional<VersionWatch> versionsOf(ReplicaState& state, const PartitionHost& host) {
  if (rules::versionOf(host.module()) == 1) return std::nullopt;
  auto& [chain, reached] = state.versionsReached[host.id()];
  if (chain != host.chain().last() || reached == 0) reached = VersionWatch::reachedIn(host);
  const auto named = state.namedRules.find(host.id());
  const bool counts = named != state.namedRules.end() && named->second.log.epoch == host.epoch();
  return VersionWatch(host.module(), reached, host.partition().size(),
                      counts ? std::optional(named->second.checkpoint) : std::nullopt);
}

Result<Offence> goneBack(const ReplicaState& state, const PartitionHost& host, const kernel::LogRecord& record,
                         std::string what, bool byHead) {
  Offence offence{"unlawful", std::move(what)};
  if (record.kind == kernel::RecordKind::genesis) {
    WITAN_TRY(beginning, kernel::readGenesis(record.payload));
    offence.entity = beginning.entity;
  } else {
    WITAN_TRY(entry, kernel::readEntryView(record.payload));
    offence.seq = entry.seq;
  }
  if (byHead) offence.head = state.namedRules.at(host.id()).note;
  return offence;
}

}  // namespace

Result<std::optional<Offence>> findOffence(ReplicaState& state, const PartitionHost& host, std::string_view owner,
                                           std::string_view batch) {
  std::optional<Offence> found;
  if (!state.config.heads) return found;
  WITAN_TRY(aligned, alignedWords(batch));
  const std::string& domain = host.module().signature().domain;
  std::uint16_t format = host.partition().format();
  const std::string_view value(reinterpret_cast<const char*>(aligned.data()), batch.size());
  std::optional<VersionWatch> versions = versionsOf(state, host);
  const auto read = kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
    if (record.kind == kernel::RecordKind::epoch) {
      kernel::EpochView epoch;
      WITAN_DO(
          withMessage(record.payload, [&](capnp::AnyStruct::Reader root) { return readCapnp(root, epoch, "epoch"); }));
      format = epoch.format;
    }
    if (found) return okStatus();
    if (versions) {
      WITAN_TRY(back, versions->objection(record));
      if (!back.empty()) WITAN_SET(found, goneBack(state, host, record, std::move(back), versions->isByHead()));
      if (found) return okStatus();
    }
    if (record.kind == kernel::RecordKind::genesis && format >= kernel::kSignedBeginnings && !mutated("anyBeginner")) {
      WITAN_TRY(beginning, kernel::readGenesis(record.payload));
      if (const std::string home = state.partitionFor(domain, beginning.entity); home != host.id()) {
        found = Offence{"unlawful", concat("the beginning of ", beginning.entity, ", which belongs to ", home), 0,
                        std::string(beginning.entity)};
        return okStatus();
      }
      WITAN_SET(found, offenceIn(state, domain, owner, beginning));
    }
    if (record.kind != kernel::RecordKind::entry || format < kernel::kSignedFormat) return okStatus();
    WITAN_TRY(entry, kernel::readEntryView(record.payload));
    WITAN_SET(found, offenceIn(state, domain, owner, entry));
    return okStatus();
  });
  if (!read.ok()) return read.error();
  if (versions && !found) state.versionsReached[host.id()] = {chained(host.chain().last(), batch), versions->reached()};
  return found;
}

}  // namespace witan::node
