#include "sim/run/lies.h"

#include <algorithm>

#include "base/json_codec.h"
#include "kernel/record/fork_proof.h"
#include "replica/core/log_head.h"
#include "replica/graph_runtime.h"
#include "replica/head_exchange.h"
#include "replication/writer.h"

namespace witan::sim {

namespace {

constexpr std::size_t kHeardFrames = 400;
constexpr std::uint64_t kFlood = 60;  // frames
constexpr Micros kPatience = 20 * kSecond;

bool isOfAdjudication(std::string_view frame) {
  return frame.size() > replication::kFrameHeaderBytes &&
         static_cast<std::uint8_t>(frame[4]) >= node::kFirstAdjudicationFrame;
}

}  // namespace

// --- when it lies

void Liar::begin(const Event& event, std::uint64_t number) {
  const auto lie = static_cast<Lie>(event.n % enumNames<Lie>().size());
  c_.probe("fault: lie");
  if (c_.liar() == nullptr || tell(lie, event.seed) || lie < kFirstOwnerLie) return;
  if (lie == Lie::falseAnswer) answers_ = event.seed;
  for (Seat* at : c_.honest())
    if (at->works() && c_.network().connected(at->index(), c_.liar()->index()))
      c_.put(at->index(), {.kind = Arrival::Kind::event, .event = number});
}

void Liar::onEvent(Seat& at, const Event& event) {
  Seat* self = c_.liar();
  if (event.kind != EventKind::lie || self == nullptr || c_.isLiar(at.index())) return;
  for (const auto& [id, host] : self->works() ? self->replica().hosts() : decltype(self->replica().hosts()){})
    if (self->replica().owns(*host)) return;
  for (const auto& [id, host] : at.replica().hosts()) {
    if (!at.replica().owns(*host) || id.starts_with(node::kGraphDomain)) continue;
    const Status moved =
        at.replica().transferOwnership(id, self->name(), "rebalanced", at.device->now(c_.agenda().now()));
    c_.probe(moved.ok() ? "partition handed to the liar" : "partition not handed to the liar");
    return;
  }
}

void Liar::goOn(std::uint64_t round) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::uint64_t seed = c_.plan().options.seed ^ (3 * round + i + 1) * 0x9e3779b97f4a7c15u;
    SeededRandom random(seed);
    tell(static_cast<Lie>(random.below(enumNames<Lie>().size())), seed);
  }
}

void Liar::onFrame(Seat& at, std::uint32_t peer, std::string_view frame) {
  if (!c_.isLiar(at.index()) || !isOfAdjudication(frame)) return;
  if (node::AskBase asked; static_cast<std::uint8_t>(frame[4]) == static_cast<std::uint8_t>(node::AskBase::kFrame) &&
                           readMessage(frame.substr(replication::kFrameHeaderBytes), asked, "frame").ok())
    sayBase(at, peer, asked);
  heard_.emplace_back(frame);
  if (heard_.size() > kHeardFrames) heard_.pop_front();
  if (answers_ && static_cast<std::uint8_t>(frame[4]) == static_cast<std::uint8_t>(node::AdjudicationFrame::request) &&
      tell(Lie::falseAnswer, *answers_))
    answers_.reset();
}

bool Liar::tell(Lie lie, std::uint64_t seed) {
  Seat* self = c_.liar();
  if (self == nullptr || !self->works()) return false;
  SeededRandom random(seed);
  if (!Lies(c_, *self, heard_, random).tell(lie)) return false;
  c_.probe(concat("lie: ", enumName(lie)));
  if (c_.tracing()) c_.trace(self->index(), "fault", "lies", enumName(lie));
  return true;
}

// --- what it says

bool Lies::tell(Lie lie) {
  switch (lie) {
    case Lie::claim: return claim();
    case Lie::position: return position();
    case Lie::answer: return answer();
    case Lie::acknowledgement: return acknowledgement();
    case Lie::batch: return batch();
    case Lie::replay: return replay();
    case Lie::head: return head();
    case Lie::request: return request();
    case Lie::flood: return flood();
    case Lie::proof: return proof();
    case Lie::row: return row();
    case Lie::revocation: return revocation();
    case Lie::commits: return commits();
    case Lie::unlawfulEntry: return unlawfulEntry();
    case Lie::unsignedEntry: return unsignedEntry();
    case Lie::forgedEntry: return forgedEntry();
    case Lie::secondHead: return secondHead();
    case Lie::secondBatch: return secondBatch();
    case Lie::falseAnswer: return falseAnswer();
  }
  return false;
}

template <class T>
void Lies::say(const Seat& to, const T& message) {
  std::string frame;
  WordWriter words;
  node::appendFrame(frame, words, message);
  c_.network().forge(self_.index(), to.index(), std::move(frame));
}
template void Lies::say(const Seat&, const node::Answer&);
template void Lies::say(const Seat&, const node::Entries&);
template void Lies::say(const Seat&, const node::PeerAdvertisement&);

void Lies::told(Lie lie, const Seat& to, const Batch* batch, const std::string& operation) {
  LieRecord record{.kind = lie, .victim = to.index(), .at = c_.agenda().now()};
  record.operationId = operation;
  if (batch != nullptr) {
    record.partition = batch->partition, record.epoch = batch->epoch;
    record.batches = batch->number + 1, record.chain = node::chained(batch->before, batch->value);
  }
  c_.history().lies.push_back(std::move(record));
}

Seat* Lies::victim(bool keeper) {
  std::vector<Seat*> all = c_.honest();
  std::erase_if(all, [&](Seat* at) {
    return !at->works() || !c_.network().connected(at->index(), self_.index()) ||
           (keeper && !at->device->isLedgerReplica());
  });
  return all.empty() ? nullptr : all[draw(all.size())];
}

std::string Lies::anyPartition() { return c_.partitions()[draw(c_.partitions().size())].second; }

std::string Lies::anyOwner() {
  std::vector<Seat*> all = c_.members();
  std::erase_if(all, [](Seat* at) { return !at->running(); });
  return all[draw(all.size())]->replica().ownerName();
}

Seat* Lies::ownerOf(const std::string& partition) {
  for (Seat* at : c_.honest()) {
    if (!at->works()) continue;
    const node::PartitionHost* host = at->replica().host(partition);
    if (host != nullptr && at->replica().owns(*host)) return at;
  }
  return nullptr;
}

node::PeerAdvertisement Lies::standing() const {
  node::PeerAdvertisement standing;
  standing.owner = self_.replica().ownerName();
  standing.engine = "embedded";
  return standing;
}

// Nearly right: what somebody honest knows, with some of it changed, mostly signed.
node::OwnershipRecord Lies::anyClaim() {
  node::OwnershipRecord claim{.partition = anyPartition(), .number = 1, .owner = anyOwner()};
  if (const Seat* at = victim())
    if (const node::OwnershipRecord* known = at->replica().owners().find(claim.partition)) claim = *known;
  if (draw(4) != 0) claim.previousNumber = claim.number, claim.previousOwner = claim.owner;
  if (draw(4) != 0) claim.number += draw(3), claim.owner = anyOwner();
  if (draw(4) != 0) claim.owner = self_.replica().ownerName();
  if (draw(2) == 0) claim.cause = static_cast<kernel::EpochCause>(draw(4));
  if (draw(2) == 0) claim.batches = draw(10), claim.chain = anyHash();
  if (draw(3) == 0) claim.successor = draw(2) == 0 ? "" : anyOwner();
  if (draw(4) != 0) node::signClaim(ClusterSetup::kCluster, claim, ClusterSetup::keyOf(self_.index()));
  return claim;
}

// One that somebody made before, as it was signed then.
std::optional<node::OwnershipRecord> Lies::oldClaim() {
  std::vector<node::OwnershipRecord> all;
  for (const std::string& frame : heard_) {
    node::PeerAdvertisement said;
    if (static_cast<std::uint8_t>(frame[4]) == static_cast<std::uint8_t>(node::AdjudicationFrame::standing) &&
        readMessage(std::string_view(frame).substr(replication::kFrameHeaderBytes), said, "frame").ok())
      std::ranges::copy(said.claims, std::back_inserter(all));
  }
  if (all.empty()) return std::nullopt;
  return all[draw(all.size())];
}

bool Lies::claim() {
  Seat* to = victim();
  if (to == nullptr) return false;
  node::PeerAdvertisement claims = standing();
  if (draw(3) == 0)
    if (auto old = oldClaim()) claims.claims.push_back(*std::move(old));
  for (std::uint64_t n = draw(3) + 1; n > 0; --n) claims.claims.push_back(anyClaim());
  say(*to, claims);
  return true;
}

node::LogPosition Lies::anyPosition() {
  node::LogPosition position{.partition = anyPartition()};
  Seat* like = victim(true);
  if (node::PartitionHost* host = like == nullptr ? nullptr : like->replica().host(position.partition))
    position = host->position();
  position.follow = draw(2) == 0;
  if (draw(2) == 0) position.batches = draw(2) == 0 ? draw(20) : position.batches + draw(5);
  if (draw(2) == 0) position.chain = anyHash();
  const std::uint64_t last = position.epochs.empty() ? 0 : position.epochs.back().number;
  if (draw(2) == 0) position.epochs.push_back({last + draw(3), anyOwner(), draw(10)});
  if (draw(4) == 0 && !position.epochs.empty()) position.epochs.erase(position.epochs.begin());
  if (draw(4) == 0) position.probes = {{draw(10), anyHash()}};
  if (draw(4) == 0) position.low = draw(5), position.high = draw(20);
  return position;
}

bool Lies::position() {
  Seat* to = victim(true);
  if (to == nullptr) return false;
  node::PeerAdvertisement positions = standing();
  positions.positions = {anyPosition()};
  if (draw(2) == 0) positions.claims = {anyClaim()};
  say(*to, positions);
  return true;
}

std::optional<std::pair<Seat*, node::Request>> Lies::openRequest(bool asked) {
  std::vector<std::pair<Seat*, const node::Request*>> open;
  for (Seat* at : c_.honest()) {
    if (!at->works() || !c_.network().connected(at->index(), self_.index())) continue;
    for (const auto& [id, waiting] : at->replica().outbox().all())
      if ((std::ranges::find(waiting.asked, self_.name()) != waiting.asked.end()) == asked &&
          waiting.request.kind == node::RequestKind::propose && id.starts_with("op-"))
        open.emplace_back(at, &waiting.request);
  }
  if (open.empty()) return std::nullopt;
  const auto& [at, request] = open[draw(open.size())];
  return std::pair(at, *request);
}

// It was not asked. With or without an entry, of an epoch of its own or of another's.
bool Lies::answer() {
  const auto open = openRequest(false);
  if (!open) return false;
  const auto& [to, request] = *open;
  node::Answer answer = node::answerTo(request, node::AnswerKind::decided, "");
  answer.outcome = kernel::Outcome::approved;
  answer.seq = draw(50) + 1;
  answer.epochNumber = draw(5) + 1, answer.epochOwner = draw(2) == 0 ? self_.replica().ownerName() : anyOwner();
  if (draw(3) != 0) convince(answer, request, to->replica().partitionFor(request.domain, request.entity));
  say(*to, answer);
  told(Lie::answer, *to, nullptr, request.operationId);
  return true;
}

bool Lies::acknowledgement() {
  Seat* to = victim(true);
  if (to == nullptr) return false;
  const std::string partition = anyPartition();
  const node::PartitionHost* host = to->replica().host(partition);
  const std::uint64_t batches = host == nullptr ? 0 : host->durableBatches();
  std::string frame;
  WordWriter words;
  node::appendFrame(frame, words, node::Followed{partition, draw(2) == 0 ? draw(batches + 3) : batches});
  c_.network().forge(self_.index(), to->index(), std::move(frame));
  return true;
}

// A next batch of an honest owner's log, made up or altered, under its own seal, another's or none.
bool Lies::batch() {
  const std::string partition = anyPartition();
  Seat* const to = victim(true);
  Seat* const owner = ownerOf(partition);
  if (to == nullptr || owner == nullptr || to == owner || !ofPeople(partition)) return false;
  auto forged = next(*owner, partition);
  if (!forged) return false;
  node::Entries entries = sealed(*forged, draw(4) != 0);
  if (draw(4) == 0) entries.value[draw(entries.value.size())] ^= 1;
  if (draw(4) == 0) entries.epochNumber += draw(3), entries.epochOwner = anyOwner();
  if (draw(4) == 0 && !entries.seal.empty()) entries.seal[draw(entries.seal.size())] ^= 1;
  if (draw(4) == 0) entries.seal = self_.replica().host(partition) == nullptr ? node::Bytes() : entries.seal;
  say(*to, entries);
  told(Lie::batch, *to, &*forged);
  return true;
}

bool Lies::replay() {
  Seat* to = victim(true);
  if (to == nullptr || heard_.empty()) return false;
  for (std::uint64_t n = draw(4) + 1; n > 0; --n)
    c_.network().forge(self_.index(), to->index(), heard_[draw(heard_.size())]);
  return true;
}

// Of a log that it does not own: under the owner's name, or its own cosignature.
bool Lies::head() {
  const std::string partition = anyPartition();
  Seat *const to = victim(true), *const owner = ownerOf(partition);
  if (to == nullptr || owner == nullptr) return false;
  const node::PartitionHost& host = *owner->replica().host(partition);
  const node::LogPosition log = host.position();
  if (log.entries == 0) return false;
  const std::string own = headOf(partition, host.epoch(), log.entries, draw(2) == 0 ? anyHash() : log.root);
  if (draw(2) == 0) {
    sayHead(*to, own);
    return true;
  }
  // The owner's name, this device's key.
  const std::string text = own.substr(0, own.rfind("\n\n") + 1);
  const kernel::NoteSigner signer{node::keyNameOf(ClusterSetup::kCluster, owner->name()),
                                  ClusterSetup::keyOf(self_.index())};
  if (auto note = kernel::signNote(text, {&signer, 1}); note.ok()) sayHead(*to, *note);
  return true;
}

std::optional<node::Request> Lies::anyRequest(const std::string& device) {
  const std::string partition = anyPartition();
  Seat* const owner = ownerOf(partition);
  if (owner == nullptr || !ofPeople(partition)) return std::nullopt;
  const node::PartitionHost& host = *owner->replica().host(partition);
  for (const std::string& entity : host.partition().entities()) {
    const Now now = self_.device->now(c_.agenda().now());
    const kernel::ActionPtr action = host.module().sample(*host.partition().state(entity), random_, now.wall);
    if (!action) continue;
    const kernel::ProcessInfo& process = host.module().signature().processes[action->process];
    node::Request request{.domain = host.module().signature().domain,
                          .entity = entity,
                          .role = process.role,
                          .operationId = concat("lie-", random_.next()),
                          .device = device,
                          .actionType = process.name};
    const std::string bytes = host.module().encodeAction(*action);
    request.action.assign(bytes.begin(), bytes.end());
    return request;
  }
  return std::nullopt;
}

// In another's name, without a signature, or under the signature of another request.
bool Lies::request() {
  Seat* const other = victim();
  if (other == nullptr) return false;
  const std::uint64_t how = draw(3);
  auto request = anyRequest(how == 0 ? other->name() : self_.name());
  if (!request) return false;
  Seat* const to = ownerOf(other->replica().partitionFor(request->domain, request->entity));
  if (to == nullptr) return false;
  if (how != 1) {
    node::Request signing = *request;
    signing.device = self_.name();
    if (how == 2) signing.operationId += "-other";
    self_.replica().sign({&signing, 1});
    request->proof = signing.proof;
  }
  std::string frame;
  WordWriter words;
  node::appendFrame(frame, words, *request);
  c_.network().forge(self_.index(), to->index(), std::move(frame));
  told(Lie::request, *to, nullptr, request->operationId);
  return true;
}

bool Lies::flood() {
  Seat* const to = victim(true);
  if (to == nullptr) return false;
  std::string frames;
  WordWriter words;
  const auto unsignedRequest = anyRequest(self_.name());
  for (std::uint64_t n = 0; n < kFlood; ++n) {
    node::PeerAdvertisement standing = this->standing();
    switch (draw(4)) {
      case 0: standing.positions = {node::LogPosition{.partition = anyPartition(), .follow = true}}; break;
      case 1: node::appendFrame(frames, words, node::Followed{anyPartition(), 0}); continue;
      case 2:
        if (unsignedRequest) node::appendFrame(frames, words, *unsignedRequest);
        continue;
      default: break;
    }
    node::appendFrame(frames, words, standing);
  }
  c_.network().forge(self_.index(), to->index(), std::move(frames));
  return true;
}

// Two heads of an honest owner's log under this device's key, or the owner's head and one with a signature that is
// nobody's.
bool Lies::proof() {
  const std::string partition = anyPartition();
  Seat *const to = victim(true), *const owner = ownerOf(partition);
  if (to == nullptr || owner == nullptr) return false;
  const node::PartitionHost& host = *owner->replica().host(partition);
  const node::HeadExchange::Heads* heads = owner->replica().heads().find(partition);
  kernel::ForkProof proof;
  std::uint32_t accused = self_.index();
  const Hash root = anyHash();
  proof.root = toHex(root);
  proof.first = headOf(partition, host.epoch(), host.entries() + 1, anyHash());
  proof.second = headOf(partition, host.epoch(), host.entries() + 1, root);
  if (draw(2) == 0 && heads != nullptr) {
    accused = owner->index();
    proof.first = heads->latest->note;
    proof.second = proof.first;
    proof.second[proof.second.find('\n') + 1] ^= 1;
  }
  const auto verifier =
      kernel::makeNoteVerifier(node::keyNameOf(ClusterSetup::kCluster, ClusterSetup::deviceName(accused)),
                               ClusterSetup::keyOf(accused).publicKey());
  if (!verifier.ok()) return false;
  proof.key = kernel::verifierKeyText(*verifier);
  node::PeerAdvertisement accusing = standing();
  accusing.proofs = {toJson(proof)};
  say(*to, accusing);
  return true;
}

}  // namespace witan::sim
