#include "replica/advertisement_exchange.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/mutant.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "replica/core/log_head.h"
#include "replication/incidents.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

constexpr std::size_t kClaimsOfOne = 256;    // of one partition, to one peer, at a time
constexpr std::int64_t kClaimsMs = 30'000;   // a peer is not told all claims more often
constexpr std::int64_t kRolloutMs = 60'000;  // devices may have two versions of a rule file for so long

std::string shortDigest(const kernel::DomainModule& module) { return toHex(std::span(module.digest()).first(8)); }

EpochHistory historyOf(const LogPosition& position) { return {position.epochs, position.batches}; }

kernel::Epoch epochOf(const EpochMark& mark) { return {mark.number, mark.owner}; }

}  // namespace

// Of this device's own epochs the claims are signed here, also those of a store from before claims were signed.
bool AdvertisementExchange::learn(const OwnershipRecord& claim) {
  const OwnershipRecord* known = state_.owners.find(claim.partition, claim.epoch());
  OwnershipRecord mine = claim;
  const bool sign = state_.provesOwners() && claim.owner == state_.ownerName && claim.signature.empty() &&
                    (known == nullptr || known->signature.empty());
  if (sign) signClaim(state_.config.replication.cluster, mine, state_.config.heads->key());
  if (!state_.owners.learn(mine, state_.writes.pending())) return false;
  state_.followDirty = state_.expedite = true;
  if (state_.isSuccessor(claim.partition) && state_.partitions.find(claim.partition) == nullptr) state_.placed = false;
  return true;
}

// Sends news to every greeted peer; it spreads through those that are connected.
void AdvertisementExchange::announce(const OwnershipRecord& claim, std::string_view from) {
  if (!learn(claim)) return;
  for (auto& [name, peer] : state_.peers)
    if (name != from && peer.greeted) tellClaim(peer, *state_.owners.find(claim.partition));
}

void AdvertisementExchange::tellClaim(Peer& peer, const OwnershipRecord& claim) const {
  std::vector<const OwnershipRecord*> chain{&claim};
  while (state_.provesOwners() && chain.back()->cause == kernel::EpochCause::handover && chain.size() < kClaimsOfOne &&
         state_.config.heads->mayTakeOver(replication::deviceOf(chain.back()->owner)) != Takeover::yes) {
    const OwnershipRecord* before = state_.owners.find(claim.partition, chain.back()->previous());
    if (before == nullptr) break;
    chain.push_back(before);
  }
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) peer.news.claims.push_back(**at);
  peer.newsDue = true;
}

bool AdvertisementExchange::believes(const std::string& from, const OwnershipRecord& claim) {
  if (!state_.provesOwners()) return true;
  const OwnershipRecord* known = state_.owners.find(claim.partition, claim.epoch());
  if (known != nullptr && !known->signature.empty() && known->signature == claim.signature) return true;
  if (isProven(state_.config.replication.cluster, claim, *state_.config.heads, state_.owners)) return true;
  const auto [at, fresh] = unproven_.insert_or_assign({claim.partition, claim.owner}, claim);
  if (unproven_.size() > kMaxPartitions) unproven_.erase(at);
  if (!fresh) return false;
  ++state_.counters.claimsRefused;
  state_.notice("claimRefused", claim.partition,
                concat(claim.partition, ": ", claim.owner, " as the owner of epoch ", claim.number,
                       ", which nothing proves (from ", from, ")"));
  return false;
}

void AdvertisementExchange::retryClaims() {
  for (auto at = unproven_.begin(); at != unproven_.end();) {
    const bool proven = isProven(state_.config.replication.cluster, at->second, *state_.config.heads, state_.owners);
    if (proven) announce(at->second);
    at = proven ? unproven_.erase(at) : std::next(at);
  }
}

void AdvertisementExchange::tellClaims(Peer& peer) const {
  for (const auto& [partition, claim] : state_.owners.all()) tellClaim(peer, claim);
}

void AdvertisementExchange::compareClaims() {
  const std::uint64_t digest = state_.owners.digest();
  for (auto& [name, peer] : state_.peers)
    if (peer.greeted && !peer.copies) peer.news.claimsDigest = digest, peer.newsDue = true;
}

// Everything: the peer knows nothing yet.
void AdvertisementExchange::greet(Peer& peer) {
  peer.greeted = true;
  tellClaims(peer);
  peer.news.owner = state_.ownerName;
  peer.newsDue = true;
  for (auto& [id, host] : state_.partitions.hosts()) tell(peer, *host, peer.partitions[id].asked);
  if (peer.keeper)
    for (const auto& [id, why] : state_.partitions.damaged()) (void)newsOf(peer, id);  // nothing of it is here
  state_.expedite = true;
}

void AdvertisementExchange::tell(Peer& peer, PartitionHost& host, bool follow) {
  if (!peer.keeper) return;
  LogPosition position = host.position();
  position.follow = follow;
  if (state_.isPlaced(host.id()) && position.batches == host.durableBatches())
    position.keeps = state_.placement.version();
  if (state_.provesOwners() && position.batches > 0 && peer.device == replication::deviceOf(host.epoch().owner))
    position.seal = state_.seals.find(host.id(), position.batches - 1);
  LogPosition& news = newsOf(peer, host.id());
  position.low = news.low, position.high = news.high, position.probes = std::move(news.probes);
  news = std::move(position);
  peer.newsDue = true;
}

// What the next standing to a peer says of a partition.
LogPosition& AdvertisementExchange::newsOf(Peer& peer, const std::string& partition) {
  auto& positions = peer.news.positions;
  const auto same = [&](const LogPosition& p) { return p.partition == partition; };
  const auto at = std::find_if(positions.begin(), positions.end(), same);
  if (at != positions.end()) return *at;
  positions.emplace_back().partition = partition;
  return positions.back();
}

// With digests of the log, for a peer whose log diverges from it.
void AdvertisementExchange::tellProbes(Peer& peer, PartitionHost& host, std::uint64_t low, std::uint64_t high) {
  if (!peer.keeper) return;
  tell(peer, host, peer.partitions[host.id()].asked);
  newsOf(peer, host.id()).probes = host.chain().between(low, std::min(high, host.lineage().batches), kMaxLogProbes - 1);
}

void AdvertisementExchange::tellAll(PartitionHost& host) {
  for (auto& [name, peer] : state_.peers)
    if (peer.greeted) tell(peer, host, peer.partitions[host.id()].asked);
}

// Whether this device wants a partition's entries from a peer: from the owner if it is there, else from every replica.
bool AdvertisementExchange::wants(std::string_view from, const PartitionHost& host) const {
  if (ownership_->owns(host) || host.ahead() || state_.leaving.contains(host.id()) ||
      state_.beginning.contains(host.id()))
    return false;
  if (!ownership_->needsPeers(host.id()) || state_.refusesOwner(host.id())) return false;
  const std::string owner = state_.ownerDevice(host.id());
  const auto at = state_.peers.find(owner);
  const auto has = [&](const Peer& peer) {  // what comes next
    const auto link = peer.partitions.find(host.id());
    return link == peer.partitions.end() || link->second.first <= host.ledger().batches();
  };
  const bool ownerHere = at != state_.peers.end() && at->second.follower(host.id()).known() &&
                         !at->second.follower(host.id()).hasNothing() && has(at->second);
  return ownerHere ? from == owner : true;
}

void AdvertisementExchange::refreshFollowing() {
  if (!state_.followDirty) return;
  state_.followDirty = false;
  for (auto& [name, peer] : state_.peers) {
    if (!peer.greeted) continue;
    for (auto& [id, host] : state_.partitions.hosts()) {
      PeerPartition& link = peer.partitions[id];
      const bool want = link.follower.known() && wants(name, *host);
      if (want == link.asked) continue;
      link.asked = want;
      tell(peer, *host, want);
    }
  }
}

// What names the owners, and the rule files of this device.
std::string AdvertisementExchange::engine() const {
  std::string words(ownership_->name());
  for (const kernel::DomainModule* module : state_.config.domains)
    if (!words.empty() && !module->ruleText().empty())
      words += concat(" ", module->signature().domain, ":", shortDigest(*module));
  return words;
}

bool AdvertisementExchange::otherRules(const std::string& from, std::string_view domain) const {
  const auto known = ruleFiles_.find(from);
  if (known == ruleFiles_.end()) return false;
  const auto file = known->second.find(domain);
  return file != known->second.end() && file->second.differsSince;
}

// Under other rules the same proposals are decided otherwise, and each device would say that the other one lies. While
// a version is rolled out they differ for moments, which is no incident.
void AdvertisementExchange::noteRules(const std::string& from, std::string_view theirs, Now now) {
  for (const kernel::DomainModule* module : state_.config.domains) {
    if (module->ruleText().empty()) continue;
    const std::string& domain = module->signature().domain;
    const std::string mark = concat(" ", domain, ":");
    const std::size_t at = theirs.find(mark);
    const std::string_view digest = at == theirs.npos ? std::string_view() : theirs.substr(at + mark.size(), 2 * 8);
    const auto [known, first] = ruleFiles_[from].try_emplace(domain);
    RuleFile& file = known->second;
    if (digest.empty() || digest == shortDigest(*module)) {
      // Also of before a restart.
      if (first || file.differsSince)
        replication::endIncidents(*state_.local, "otherRules", from, concat(domain, ": "));
      file = {};
      continue;
    }
    if (!file.differsSince) file.differsSince = now;
    if (file.told || now.ms < file.differsSince->ms + kRolloutMs) continue;
    file.told = true;
    const std::string what =
        concat(domain, ": ", from, " has another version of the rule file (digest ", clip(digest),
               ") than this device (", shortDigest(*module), ") since ", formatTime(file.differsSince->wall),
               ", so neither follows the other's ledgers of it: install the same file on both, ",
               "or give one of them another name");
    replication::endIncidents(*state_.local, "otherRules", from, concat(domain, ": "));
    state_.local->note({"otherRules", from, what});
    state_.notice("otherRules", "", what);
  }
}

// Two engines, or two etcds, would name two owners, and each would be right.
bool AdvertisementExchange::fitsEngine(const std::string& from, Peer& peer, const PeerAdvertisement& standing,
                                       Now now) {
  const std::string mine(ownership_->name());
  const std::uint64_t etcdCluster = ownership_->clusterId();
  const std::string_view words = standing.engine, theirs = words.substr(0, words.find(' '));
  const bool known = !mine.empty() && !theirs.empty();
  const bool engines = known && theirs != mine;
  const bool etcds =
      known && !engines && standing.etcdCluster != 0 && etcdCluster != 0 && standing.etcdCluster != etcdCluster;
  if (!engines && !etcds) {
    if (known) {
      otherEngines_.erase(from);
      noteRules(from, words.substr(theirs.size()), now);
    }
    return true;
  }
  peer.farewell = "the ledger engine of " + from + " is " + inQuotes(theirs) + ", this device's is " + inQuotes(mine);
  if (etcds)
    peer.farewell = "the etcd of " + from + " is another one (cluster id " + std::to_string(standing.etcdCluster) +
                    ") than this device's (" + std::to_string(etcdCluster) + ")";
  peer.farewell += ": all devices of a cluster must say the same in [ledger] of their witan.toml";
  peer.newsDue = true;  // it may have learned its own only after it heard ours
  otherEngines_[from] = peer.farewell;
  state_.notice("otherEngine", "", peer.farewell);
  return false;
}

void AdvertisementExchange::onAdvertisement(const std::string& from, Peer& peer, PeerAdvertisement standing, Now now) {
  if (standing.claims.size() > kMaxClaims || standing.positions.size() > kMaxPartitions)
    return state_.cutOff(from, peer,
                         invalid("a standing of more than " + std::to_string(kMaxPartitions) + " partitions"));
  if (Status valid = replication::validateWriter("owner", standing.owner); !valid.ok())
    return state_.cutOff(from, peer, valid.error());
  if (replication::deviceOf(standing.owner) != from)
    return state_.cutOff(from, peer, invalid("owner: " + standing.owner + " speaks through " + from));
  peer.owner = standing.owner;
  const bool differs = standing.claimsDigest != 0 && standing.claimsDigest != state_.owners.digest();
  if (differs && now.ms - peer.claimsToldMs >= kClaimsMs) peer.claimsToldMs = now.ms, tellClaims(peer);
  // A signed claim counts, no matter who passes it on: its owner may have told it to one device alone.
  if (!peer.keeper && !state_.provesOwners()) return;
  if (peer.keeper && !fitsEngine(from, peer, standing, now)) return;
  for (const OwnershipRecord& claim : standing.claims) {
    const std::uint64_t known = state_.owners.latestEpoch(claim.partition);
    if (Status valid = checkOwnershipRecord(claim, known); !valid.ok()) return state_.cutOff(from, peer, valid.error());
    if (believes(from, claim)) announce(claim, from);
  }
  if (!peer.keeper) return;  // it has no logs to speak of
  for (const LogPosition& position : standing.positions) {
    onPosition(from, peer, position, now);
    if (peer.cut) return;
  }
}

void AdvertisementExchange::onPosition(const std::string& from, Peer& peer, const LogPosition& position, Now now) {
  const EpochHistory theirs = historyOf(position);
  if (Status valid = checkEpochHistory(theirs); !valid.ok()) return state_.cutOff(from, peer, valid.error());
  if (Status valid = kernel::checkEpochStep(theirs.last().number, state_.owners.latestEpoch(position.partition));
      !valid.ok() && !mutated("anyPosition"))
    return state_.cutOff(from, peer, valid.error());
  if (position.probes.size() > kMaxLogProbes)
    return state_.cutOff(from, peer, invalid("more than " + std::to_string(kMaxLogProbes) + " probes of a log"));
  PartitionHost* mine = state_.partitions.find(position.partition);
  if (mine == nullptr || !state_.partitions.usable(mine->id())) return;
  if (otherRules(from, mine->module().signature().domain)) return;
  const EpochHistory ours = mine->lineage();
  PeerPartition& link = peer.partitions[position.partition];
  FollowerProgress& follower = link.follower;
  if (!follower.known()) state_.followDirty = true;
  follower.report(position.follow, position.batches, theirs.last());
  if (link.first != position.first) state_.followDirty = true;
  noteKept(link, *mine, position);
  if (!theirs.epochs.empty() && !state_.provesOwners())
    learn({position.partition, theirs.last().number, theirs.last().owner, kernel::EpochCause::founding,
           theirs.epochs.back().start});
  const PartitionTable::RefusedEpoch* const refused = state_.partitions.refused(mine->id());
  const bool holdsRefused = refused != nullptr && theirs.last() <= refused->epoch && theirs.batches > refused->batch;
  if (holdsRefused && theirs.last() >= ours.last()) return;
  const std::uint64_t common = commonBatches(ours, theirs);
  if ((theirs.last() > ours.last() || mutated("acceptOldEpoch")) && ours.batches > common && !mine->ahead() &&
      !mutated("keepSurplus")) {
    const auto keep =
        state_.provesOwners() && !mutated("truncateUnproven") ? partingPoint(*mine, common) : std::optional(common);
    if (keep && *keep < ours.batches) state_.partitions.truncate(mine->id(), {from, *keep});
    return;
  }
  if (position.high > 0) tellProbes(peer, *mine, position.low, position.high);
  // If the peer's last epoch is over and the epochs alone show its divergent suffix, nothing is compared: it is told
  // below.
  const bool behind = theirs.last() < ours.last() && theirs.batches > common;
  const Divergence divergence = behind ? Divergence{} : divergenceOf(mine->chain(), ours.batches, position);
  if (divergence.diverged && !mutated("neverParted")) return onDiverged(from, peer, *mine, position, divergence);
  // Of a log that is longer than this one nothing was compared.
  if (divergence.low == theirs.batches || theirs.last() != ours.last()) follower.agree();
  const bool ahead = theirs.last() == ours.last() && theirs.batches > ours.batches;
  if (ahead && ownership_->ownerHoldsLog() && ownership_->owns(*mine)) {
    if (sealedHere(*mine, position))
      onRolledBack(from, *mine, theirs.batches);
    else
      accuse(from, link, *mine);
  }
  if (position.follow && theirs.batches == common && common >= mine->first()) follower.replicate(common, now.ms);
  // The peer is asked already and has more: it may have been asked when it was behind, and does not send then.
  if (link.asked && common == ours.batches && theirs.batches > common) tell(peer, *mine, true);
  // A replica with a divergent suffix learns from our position that its epoch is over.
  if (theirs.batches > common && theirs.last() < ours.last() && peer.greeted) {
    tell(peer, *mine, link.asked);
    if (!state_.provesOwners()) return;
    // From where the logs part on: of two epochs of one number it may have the one that ended.
    const auto parted = common == 0 ? kernel::Epoch{} : ours.epochAt(common - 1);
    const auto later = state_.owners.after(mine->id(), parted);
    for (const OwnershipRecord* claim : std::span(later).first(std::min(later.size(), kClaimsOfOne)))
      peer.news.claims.push_back(*claim);
  }
}

void AdvertisementExchange::noteKept(PeerPartition& link, const PartitionHost& host, const LogPosition& position) {
  link.keeps = position.keeps;
  link.first = position.first;
  link.shares = std::min(link.shares, position.batches);
  if (position.keeps == 0) return;
  const auto share = [&](std::uint64_t batches, const Hash& chain) {
    const bool had = batches <= std::min(position.batches, host.ledger().batches());
    if (had && chain != Hash{} && host.chain().after(batches) == chain) link.shares = std::max(link.shares, batches);
  };
  share(position.batches, position.chain);
  for (const LogProbe& probe : position.probes) share(probe.batches, probe.chain);
}

void AdvertisementExchange::askForAll(Peer& peer, PartitionHost& host) {
  tell(peer, host, peer.partitions[host.id()].asked);
  LogPosition& question = newsOf(peer, host.id());
  question.low = host.ledger().batches();
  question.high = std::max<std::uint64_t>(question.low, 1);  // else nothing is asked
}

// The latest claim and those before it lead back to an epoch that this log has.
std::optional<std::uint64_t> AdvertisementExchange::partingPoint(const PartitionHost& host,
                                                                 std::uint64_t common) const {
  const EpochHistory ours = host.lineage();
  const auto here = [&](const kernel::Epoch& epoch) { return std::ranges::find(ours.epochs, epoch, epochOf); };
  const OwnershipRecord* claim = state_.owners.find(host.id());
  if (claim == nullptr || claim->epoch() <= ours.last()) return std::nullopt;
  while (here(claim->previous()) == ours.epochs.end()) {
    const OwnershipRecord* before = state_.owners.find(host.id(), claim->previous());
    if (before == nullptr || before->epoch() >= claim->epoch()) return std::nullopt;
    claim = before;
  }
  const auto next = std::next(here(claim->previous()));
  const std::uint64_t end = std::min(claim->batches, next == ours.epochs.end() ? ours.batches : next->start);
  // A device that went back may have begun an epoch twice. Then this is not the log that the claim goes on from.
  const bool another =
      claim->chain != Hash{} && claim->batches <= ours.batches && host.chain().after(claim->batches) != claim->chain;
  return another ? std::min(end, common) : end;
}

bool AdvertisementExchange::sealedHere(const PartitionHost& host, const LogPosition& position) {
  if (!state_.provesOwners() || mutated("positionUnsealed")) return true;
  BatchSeal seal;
  if (position.seal.empty() || !readMessage(asView(position.seal), seal, "seal").ok()) return false;
  const std::vector<PublicKey> mine = state_.config.heads->keysOf(state_.device());
  return seal.epoch() == host.epoch() && seal.batches == position.batches && seal.chain == position.chain &&
         holdsSeal(state_.config.replication.cluster, host.id(), seal, mine, state_.signatures);
}

// It says that there is another log of this device's own epoch, and cannot show that this device wrote it.
void AdvertisementExchange::accuse(const std::string& from, PeerPartition& link, const PartitionHost& host) {
  if (std::exchange(link.accused, true)) return;
  ++state_.counters.positionsRefused;
  const std::string what = host.id() + ": " + from + " tells of batches of this device's epoch " +
                           std::to_string(host.epoch().number) + " that this device did not write";
  state_.local->note({"falsePosition", from, what});
  state_.notice("falsePosition", host.id(), what);
}

// The two logs differ where both have batches. In one epoch neither yields (onFork). Else the log of the
// earlier epoch is truncated to where they diverge, which its device finds by asking for digests.
void AdvertisementExchange::onDiverged(const std::string& from, Peer& peer, PartitionHost& host,
                                       const LogPosition& position, const Divergence& divergence) {
  PeerPartition& link = peer.partitions[host.id()];
  const bool same = link.follower.epoch() == host.epoch();
  if (same && host.epoch().owner == state_.ownerName && !sealedHere(host, position)) return accuse(from, link, host);
  if (same) onFork(from, host, link.follower);
  if (link.follower.epoch() > host.epoch()) {
    if (mutated("keepSurplus") || host.ahead()) return;  // etcd tells first; it says so again
    const OwnershipRecord* latest = state_.owners.find(host.id());
    if (state_.provesOwners() && (latest == nullptr || latest->epoch() <= host.epoch())) return;
    if (divergence.high - divergence.low <= (mutated("cutCoarse") ? 4 : 1)) {
      state_.partitions.truncate(host.id(), {from, divergence.low});
      return;
    }
    tell(peer, host, link.asked);
    LogPosition& question = newsOf(peer, host.id());
    question.low = divergence.low, question.high = divergence.high;
  } else if (position.probes.empty() && position.high == 0) {
    tellProbes(peer, host, 0, position.batches);
  }
}

void AdvertisementExchange::onReleased(const std::string& partition) {
  for (auto& [name, peer] : state_.peers) {
    peer.partitions.erase(partition);
    std::erase_if(peer.news.positions, [&](const LogPosition& position) { return position.partition == partition; });
    if (peer.greeted && peer.keeper) (void)newsOf(peer, partition), peer.newsDue = true;
  }
}

void AdvertisementExchange::sendClaims() {
  if (!state_.provesOwners()) return;
  for (auto& [name, peer] : state_.peers) {
    if (!peer.newsDue || !peer.full() || peer.news.claims.empty()) continue;
    PeerAdvertisement claims;
    claims.owner = state_.ownerName;
    claims.engine = engine();
    claims.claims = std::exchange(peer.news.claims, {});
    state_.say(peer, claims);
  }
}

void AdvertisementExchange::sendNews() {
  for (auto& [name, peer] : state_.peers) {
    if (!peer.newsDue || !peer.full()) continue;
    peer.news.owner = state_.ownerName;
    peer.news.engine = engine();
    peer.news.etcdCluster = ownership_->clusterId();
    state_.say(peer, peer.news);
    peer.news = {};
    peer.newsDue = false;
  }
}

// Which peers follow it holds on.
void AdvertisementExchange::onReopened(const std::string& partition) {
  for (auto& [name, peer] : state_.peers)
    if (const auto at = peer.partitions.find(partition); at != peer.partitions.end()) {
      at->second.follower.pause();
      std::erase_if(peer.news.positions, [&](const LogPosition& position) { return position.partition == partition; });
    }
  tellAll(*state_.partitions.find(partition));
}

void AdvertisementExchange::onPruned(PartitionHost& host) {
  for (auto& [name, peer] : state_.peers)
    if (const auto at = peer.partitions.find(host.id());
        at != peer.partitions.end() && at->second.follower.replicating() && at->second.follower.next() < host.first())
      at->second.follower.pause();
  tellAll(host);
}

// --- logs that differ

void AdvertisementExchange::onFork(const std::string& from, const PartitionHost& host, FollowerProgress& follower) {
  if (mutated("ignoreFork")) return;
  if (host.epoch().owner == state_.ownerName) stopDeciding(host, state_.writes.pending());
  if (!follower.diverge()) return;
  ++state_.counters.forks;
  state_.local->note({"fork", from, host.id() + ": another log of epoch " + std::to_string(host.epoch().number)});
  state_.notice("fork", host.id(), from);
}

void AdvertisementExchange::onRolledBack(const std::string& from, const PartitionHost& host,
                                         std::uint64_t theirBatches) {
  noteRollback(
      from, host,
      concat(from, " has ", theirBatches, " batches of this device's own epoch, here are ", host.ledger().batches()),
      state_.writes.pending());
}

void AdvertisementExchange::onOwnEpochFrom(const std::string& from, const PartitionHost& host, store::WriteBatch& out) {
  state_.partitions.permitDeciding(host.id(), out);  // a stop of an earlier epoch ends with the next start
  noteRollback(from, host,
               concat("this device has epoch ", host.epoch().number, ", which is its own, from ", from,
                      " and not from its disk: an older copy of its directory was put back"),
               out);
}

void AdvertisementExchange::noteRollback(const std::string& from, const PartitionHost& host, const std::string& what,
                                         store::WriteBatch& out) {
  if (mutated("goOnBehind")) return;
  ++state_.counters.wentBack;
  stopDeciding(host, out);
  state_.local->note({"wentBack", from, concat(host.id(), ": ", what)});
  state_.notice("wentBack", host.id(), from);
}

void AdvertisementExchange::stopDeciding(const PartitionHost& host, store::WriteBatch& out) {
  if (state_.partitions.stopDeciding(host, out)) state_.followDirty = true;
}

void AdvertisementExchange::truncate(const std::string& from, PartitionHost& host, std::uint64_t keep) {
  if (mutated("cutTooDeep") && keep > 1) --keep;
  auto suffix = host.truncateDivergent(keep, state_.writes.pending());
  if (!suffix) {
    state_.local->note({"surplus", from, host.id() + ": " + suffix.error().message});
    return;
  }
  state_.counters.surplusEntries += suffix->entries;
  state_.beginRun();
  const bool mine = host.epoch().owner == state_.ownerName;
  if (suffix->entries > 0 && !mutated("dropSurplusSilently")) {
    std::string what = host.id() + ": " + std::to_string(suffix->entries) + " entries of epoch " +
                       std::to_string(host.epoch().number) + " of " + host.epoch().owner +
                       (mine ? ", which this device decided," : "") +
                       " are not in the log of the epoch after it; they are kept aside:";
    for (const std::string& operation : suffix->operations) what += " " + operation;
    if (suffix->operations.size() < suffix->entries) what += " ...";
    state_.local->note({"surplus", from, what});
    state_.notice("surplus", host.id(), what);
  }
  state_.partitions.permitDeciding(host.id(), state_.writes.pending());
}

}  // namespace witan::node
