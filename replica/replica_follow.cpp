// Who owns what, and logs on their way from owners to the other replicas.
#include <algorithm>

#include "base/mutant.h"
#include "base/quote.h"
#include "replica/replica.h"
#include "replica/replica_etcd.h"
#include "replication/writer.h"

namespace witan::node {

namespace {

// For speed only: without it a lost batch is made good when the next one shows the gap, or by the standings that
// everybody tells once a minute (tick()).
constexpr std::int64_t kResendMs = 5'000;
constexpr std::size_t kPushBytes = 4 * 1024 * 1024;
constexpr std::size_t kFirstSeqAt = 8;           // in a batch: docs/ledger-format.md
constexpr std::string_view kLostTailRow = "w/";  // + partition -> "{number} {owner}" of its epoch

Lineage lineageOf(const Position& position) { return {position.epochs, position.batches}; }

}  // namespace

// --- standing

bool Replica::learn(const Claim& claim) {
  if (!owners_.learn(claim, pending_)) return false;
  followDirty_ = hurry_ = true;
  return true;
}

// If it is news, everybody hears of it, through whoever is connected.
void Replica::announce(const Claim& claim, std::string_view from) {
  if (!learn(claim)) return;
  for (auto& [name, peer] : peers_)
    if (name != from && peer.greeted) peer.news.claims.push_back(claim), peer.newsDue = true;
}

// Epochs that the log says have begun, from the n-th on. Owners named by etcd say so to nobody: devices without ledgers
// hear it from those that follow the log.
void Replica::learnFrom(PartitionHost& host, std::size_t epochsBefore) {
  for (std::size_t i = epochsBefore; i < host.ledger().epochStarts().size(); ++i)
    etcd_ ? announce(host.claimOf(i)) : void(learn(host.claimOf(i)));
}

// The owner's last word names this device.
void Replica::succeed(PartitionHost& host, Now now) {
  const Claim* claim = owners_.find(host.id());
  if (host.successor() != ownerName_ || reopen_.contains(host.id()) || lostTail_.contains(host.id())) return;
  if (claim != nullptr && claim->epoch() > host.epoch() && !mutated("succeedAnyway"))
    return;  // somebody has seized it meanwhile
  host.beginEpoch({host.epoch().number + 1, ownerName_}, kernel::EpochCause::handover, now.wall, "", pending_);
  ++counters_.handovers;
  announce(host.claim());
  tellAll(host);
  notices_.push_back({"owner", host.id(), "epoch " + std::to_string(host.epoch().number)});
}

// On a new connection: everything.
void Replica::greet(Peer& peer) {
  peer.greeted = true;
  for (const auto& [partition, claim] : owners_.all()) peer.news.claims.push_back(claim);
  peer.news.owner = ownerName_;
  peer.newsDue = true;
  for (auto& [id, host] : hosts_) tell(peer, *host, peer.following[id].asked);
  hurry_ = true;
}

void Replica::tell(Peer& peer, PartitionHost& host, bool follow) {
  if (!peer.keeper) return;
  Position position = host.position();
  position.follow = follow;
  Position& news = newsOf(peer, host.id());
  position.low = news.low, position.high = news.high, position.marks = std::move(news.marks);
  news = std::move(position);
  peer.newsDue = true;
}

// What the next standing to a peer says of a partition.
Position& Replica::newsOf(Peer& peer, const std::string& partition) {
  auto& positions = peer.news.positions;
  const auto same = [&](const Position& p) { return p.partition == partition; };
  const auto at = std::find_if(positions.begin(), positions.end(), same);
  if (at != positions.end()) return *at;
  positions.emplace_back().partition = partition;
  return positions.back();
}

// With digests of the log, for a peer whose log parts from it.
void Replica::tellMarks(Peer& peer, PartitionHost& host, std::uint64_t low, std::uint64_t high) {
  if (!peer.keeper) return;
  tell(peer, host, peer.following[host.id()].asked);
  newsOf(peer, host.id()).marks = host.chain().between(low, std::min(high, host.lineage().batches), kMaxLogMarks - 1);
}

void Replica::tellAll(PartitionHost& host) {
  for (auto& [name, peer] : peers_)
    if (peer.greeted) tell(peer, host, peer.following[host.id()].asked);
}

// Whether this device wants a partition's entries from a peer: from the owner if it is there, else from every replica.
bool Replica::wants(std::string_view from, const PartitionHost& host) const {
  if (owns(host) || host.ahead()) return false;
  if (etcd_ && !etcd_->engine().needsPeers(host.id())) return false;
  const std::string owner = ownerDevice(host.id());
  const auto at = peers_.find(owner);
  const bool ownerHere = at != peers_.end() && at->second.following.contains(host.id()) &&
                         at->second.following.find(host.id())->second.known;
  return ownerHere ? from == owner : true;
}

void Replica::refreshFollowing() {
  followDirty_ = false;
  for (auto& [name, peer] : peers_) {
    if (!peer.greeted) continue;
    for (auto& [id, host] : hosts_) {
      Following& following = peer.following[id];
      const bool want = following.known && wants(name, *host);
      if (want == following.asked) continue;
      following.asked = want;
      tell(peer, *host, want);
    }
  }
}

std::string Replica::engineName() const {
  return !config_.ledgerReplica ? std::string() : config_.etcd ? "etcd" : "embedded";
}

// Two engines, or two etcds, would name two owners, and each would be right.
bool Replica::fitsEngine(const std::string& from, Peer& peer, const Standing& standing) {
  const std::string mine = engineName();
  const bool known = !mine.empty() && !standing.engine.empty();
  const bool engines = known && standing.engine != mine;
  const bool etcds =
      known && !engines && standing.etcdCluster != 0 && etcdCluster_ != 0 && standing.etcdCluster != etcdCluster_;
  if (!engines && !etcds) {
    if (known) otherEngines_.erase(from);
    return true;
  }
  peer.parting =
      "the ledger engine of " + from + " is " + inQuotes(standing.engine) + ", this device's is " + inQuotes(mine);
  if (etcds)
    peer.parting = "the etcd of " + from + " is another one (cluster id " + std::to_string(standing.etcdCluster) +
                   ") than this device's (" + std::to_string(etcdCluster_) + ")";
  peer.parting += ": all devices of a cluster must say the same in [ledger] of their witan.toml";
  peer.newsDue = true;  // it may have learned its own only after it heard ours
  otherEngines_[from] = peer.parting;
  notices_.push_back({"otherEngine", "", peer.parting});
  return false;
}

void Replica::onStanding(const std::string& from, Peer& peer, Standing standing, Now now) {
  if (standing.claims.size() > kMaxPartitions || standing.positions.size() > kMaxPartitions)
    return cutOff(from, peer, invalid("a standing of more than " + std::to_string(kMaxPartitions) + " partitions"));
  if (Status valid = replication::validateWriter("owner", standing.owner); !valid.ok())
    return cutOff(from, peer, valid.error());
  if (replication::deviceOf(standing.owner) != from)
    return cutOff(from, peer, invalid("owner: " + standing.owner + " speaks through " + from));
  peer.owner = standing.owner;
  if (!peer.keeper) return;  // it has no logs to speak of
  if (!fitsEngine(from, peer, standing)) return;
  for (const Claim& claim : standing.claims) {
    if (Status valid = checkClaim(claim); !valid.ok()) return cutOff(from, peer, valid.error());
    announce(claim, from);
  }
  for (const Position& position : standing.positions) {
    onPosition(from, peer, position, now);
    if (peer.cut) return;
  }
}

void Replica::onPosition(const std::string& from, Peer& peer, const Position& position, Now now) {
  const Lineage theirs = lineageOf(position);
  if (Status valid = checkLineage(theirs); !valid.ok()) return cutOff(from, peer, valid.error());
  if (position.marks.size() > kMaxLogMarks)
    return cutOff(from, peer, invalid("more than " + std::to_string(kMaxLogMarks) + " marks of a log"));
  PartitionHost* mine = host(position.partition);
  if (mine == nullptr || reopen_.contains(mine->id())) return;
  const Lineage ours = mine->lineage();
  Following& following = peer.following[position.partition];
  if (!following.known) followDirty_ = true;
  following.known = true;
  following.follows = position.follow;
  following.theirs = position.batches;
  following.epoch = theirs.last();
  if (!theirs.epochs.empty())
    learn({position.partition,
           theirs.last().number,
           theirs.last().owner,
           kernel::EpochCause::founding,
           theirs.epochs.back().start,
           0,
           {}});
  const std::uint64_t common = commonBatches(ours, theirs);
  if ((theirs.last() > ours.last() || mutated("acceptOldEpoch")) && ours.batches > common && !mine->ahead() &&
      !mutated("keepSurplus")) {
    reopen_[mine->id()] = Aside{from, common};
    return;
  }
  if (position.high > 0) tellMarks(peer, *mine, position.low, position.high);
  // Of whose epoch is over and who has a surplus by its epochs alone nothing need be compared: it hears so below.
  const bool behind = theirs.last() < ours.last() && theirs.batches > common;
  const Parting parting = behind ? Parting{} : partingOf(mine->chain(), ours.batches, position);
  if (parting.parted && !mutated("neverParted")) return onParted(from, peer, *mine, position, parting);
  // Of a log that is longer than this one nothing was compared.
  if (parting.low == theirs.batches || theirs.last() != ours.last()) following.forked = false;
  if (theirs.last() == ours.last() && theirs.batches > ours.batches && owns(*mine)) noteWentBack(from, *mine, theirs);
  following.subscribed = position.follow && theirs.batches == common;
  following.sent = following.acked = common;
  following.progressMs = now.ms;
  // The peer is asked already and has more: it may have been asked when it was behind, and does not send then.
  if (following.asked && common == ours.batches && theirs.batches > common) tell(peer, *mine, true);
  // A replica with a surplus learns from our position that its epoch is over.
  if (theirs.batches > common && theirs.last() < ours.last() && peer.greeted) tell(peer, *mine, following.asked);
}

// A disk went back: others know more of this device's own epoch than it does itself.
void Replica::noteWentBack(const std::string& from, PartitionHost& host, const Lineage& theirs) {
  if (etcd_ || mutated("goOnBehind")) return;
  ++counters_.wentBack;
  stopDeciding(host);
  local_->note({"wentBack", from,
                host.id() + ": " + from + " has " + std::to_string(theirs.batches) +
                    " batches of this device's own epoch, here are " + std::to_string(host.ledger().batches())});
  notices_.push_back({"wentBack", host.id(), from});
}

// The two logs differ where both have something. Of one epoch neither yields (noteFork). Else the one of the earlier
// epoch goes back to where they part, which it finds by asking for digests.
void Replica::onParted(const std::string& from, Peer& peer, PartitionHost& host, const Position& position,
                       const Parting& parting) {
  Following& following = peer.following[host.id()];
  following.subscribed = false;
  if (following.epoch == host.epoch()) noteFork(from, host, following);
  if (following.epoch > host.epoch()) {
    if (mutated("keepSurplus") || host.ahead()) return;  // etcd tells first; it says so again
    if (parting.high - parting.low <= 1) {
      reopen_[host.id()] = Aside{from, parting.low};
      return;
    }
    tell(peer, host, following.asked);
    Position& question = newsOf(peer, host.id());
    question.low = parting.low, question.high = parting.high;
  } else if (position.marks.empty() && position.high == 0) {
    tellMarks(peer, host, 0, position.batches);
  }
}

// Two logs of one epoch: its owner came back with an older disk and decided again before it met who had followed it.
// Neither is right, so nobody follows, and the owner decides nothing more; an operator seizes the partition where the
// log is that is to stand, and its next epoch ends the other one.
void Replica::noteFork(const std::string& from, PartitionHost& host, Following& following) {
  if (mutated("ignoreFork")) return;
  following.subscribed = false;
  if (host.epoch().owner == ownerName_) stopDeciding(host);
  if (std::exchange(following.forked, true)) return;
  ++counters_.forks;
  local_->note({"fork", from, host.id() + ": another log of epoch " + std::to_string(host.epoch().number)});
  notices_.push_back({"fork", host.id(), from});
}

// Decides nothing more in an epoch of its own, of which others have another log or more: also not after a restart.
void Replica::stopDeciding(PartitionHost& host) {
  if (!lostTail_.insert(host.id()).second) return;
  const kernel::Epoch epoch = host.epoch();
  pending_.put(std::string(kLostTailRow) + host.id(), std::to_string(epoch.number) + " " + epoch.owner);
  followDirty_ = true;
}

void Replica::forgetLostTail(const std::string& partition) {
  if (lostTail_.erase(partition) > 0) pending_.erase(std::string(kLostTailRow) + partition);
}

Status Replica::loadLostTails() {
  return stores_.ledgers.scan(kLostTailRow, {}, [&](std::string_view row, std::string_view value) {
    const PartitionHost* mine = host(row.substr(kLostTailRow.size()));
    if (mine == nullptr) return true;
    const kernel::Epoch epoch = mine->epoch();
    if (value == std::to_string(epoch.number) + " " + epoch.owner) lostTail_.insert(mine->id());
    return true;
  });
}

// This log holds entries of an epoch that is over: they are kept aside and reported, and the log goes back to what it
// shares with the later epoch.
void Replica::setAside(const std::string& from, PartitionHost& host, std::uint64_t keep) {
  auto surplus = host.setAside(keep, pending_);
  if (!surplus) {
    local_->note({"surplus", from, host.id() + ": " + surplus.error().message});
    return;
  }
  counters_.surplusEntries += surplus->entries;
  const bool mine = host.epoch().owner == ownerName_;
  if (surplus->entries > 0 && !mutated("dropSurplusSilently")) {
    std::string what = host.id() + ": " + std::to_string(surplus->entries) + " entries of epoch " +
                       std::to_string(host.epoch().number) + " of " + host.epoch().owner +
                       (mine ? ", which this device decided," : "") +
                       " are not in the log of the epoch after it; they are kept aside:";
    for (const std::string& operation : surplus->operations) what += " " + operation;
    if (surplus->operations.size() < surplus->entries) what += " ...";
    local_->note({"surplus", from, what});
    notices_.push_back({"surplus", host.id(), what});
  }
  forgetLostTail(host.id());
}

// --- entries

void Replica::onEntries(const std::string& from, Peer& peer, const Entries& entries, Now now) {
  PartitionHost* mine = peer.keeper ? host(entries.partition) : nullptr;
  if (mine == nullptr || reopen_.contains(mine->id()) || owns(*mine) || mine->ahead()) return;
  const kernel::Epoch epoch{entries.epochNumber, entries.epochOwner};
  const Claim* claim = owners_.find(entries.partition);
  const bool over = epoch < mine->epoch() || (claim != nullptr && epoch < claim->epoch() &&
                                              entries.batch >= claim->batches && !mutated("followOldEpoch"));
  if (over && !mutated("acceptOldEpoch")) {  // the fence, on the followers' side
    ++counters_.zombieRefused;
    return;
  }
  Following& following = peer.following[entries.partition];
  const std::uint64_t next = mine->ledger().batches();
  if (entries.batch < next) {
    ++counters_.batchesRepeated;
    following.ackDue = true;
    return;
  }
  const kernel::Epoch previous{entries.previousNumber, entries.previousOwner};
  const bool joins = entries.batch == next && (next == 0 || mine->lineage().epochAt(next - 1) == previous);
  if (!joins && !mutated("skipBatch")) {
    ++counters_.gaps;  // something was lost on the way, or the logs have parted: say where we are
    tell(peer, *mine, following.asked);
    return;
  }
  if (hasParted(*mine, entries) && !mutated("skipBatch")) {
    if (epoch == mine->epoch()) noteFork(from, *mine, following);
    tell(peer, *mine, following.asked);  // the peer says where they part
    return;
  }
  const std::size_t epochs = mine->partition().epochs().size();
  const std::string_view value(reinterpret_cast<const char*>(entries.value.data()), entries.value.size());
  if (Status folded = mine->follow(value, pending_.empty() ? held_ : pending_); !folded.ok()) {
    local_->note({"badEntries", from, entries.partition + ": " + folded.error().message});
    reopen_[mine->id()] = std::nullopt;
    return cutOff(from, peer, folded.error());
  }
  ++counters_.batchesFollowed;
  following.theirs = std::max(following.theirs, mine->ledger().batches());
  if (following.subscribed) following.sent = following.acked = std::max(following.acked, mine->ledger().batches());
  following.ackDue = true;
  learnFrom(*mine, epochs);
  succeed(*mine, now);
}

// Whether the batch, which is the next by its number, was written on top of another log than this one.
bool Replica::hasParted(PartitionHost& host, const Entries& entries) const {
  if (host.ledger().batches() == 0 || mutated("neverParted")) return false;  // what comes first is the log
  if (entries.previousChain != Hash{} && entries.previousChain != host.chain().last()) return true;
  if (entries.value.size() < kernel::kBatchHeader) return false;  // follow() says what it is
  std::uint64_t first = 0;
  for (unsigned i = 0; i < 8; ++i) first |= std::uint64_t{entries.value[kFirstSeqAt + i]} << (8 * i);
  return first != host.partition().size() + 1;
}

void Replica::onFollowed(Peer& peer, const Followed& followed, Now now) {
  PartitionHost* mine = host(followed.partition);
  if (mine == nullptr) return;
  Following& following = peer.following[followed.partition];
  if (followed.batches > mine->ledger().batches()) return;
  if (followed.batches > following.acked) following.acked = followed.batches, following.progressMs = now.ms;
  following.theirs = std::max(following.theirs, followed.batches);
  following.sent = std::max(following.sent, following.acked);
}

void Replica::pushEntries(Now now) {
  for (auto& [name, peer] : peers_) {
    if (!mayTalk(peer)) continue;
    for (auto& [id, following] : peer.following) {
      PartitionHost* mine = host(id);
      if (mine == nullptr) continue;
      if (following.ackDue && !unsynced_) {  // what a device says that it has, it has
        say(peer, Followed{id, mine->durableBatches()});
        following.ackDue = false;
      }
      if (following.subscribed) pushTo(peer, *mine, following, now);
    }
  }
}

void Replica::pushTo(Peer& peer, PartitionHost& host, Following& following, Now now) {
  if (following.sent > following.acked && now.ms - following.progressMs > kResendMs) {
    ++counters_.resent;
    following.sent = following.acked;
    following.progressMs = now.ms;
  }
  if (following.sent == following.acked) following.progressMs = now.ms;
  if (following.sent >= host.durableBatches()) return;
  const Lineage lineage = host.lineage();
  const kernel::Epoch epoch = lineage.last();
  std::size_t bytes = 0;
  while (following.sent < host.durableBatches() && following.sent - following.acked < config_.followWindow &&
         bytes < kPushBytes) {
    auto value = host.ledger().batch(following.sent);
    if (!value) return;  // the store fails: drain() meets it too
    bytes += value->size();
    const kernel::Epoch previous = following.sent == 0 ? kernel::Epoch{} : lineage.epochAt(following.sent - 1);
    say(peer, Entries{host.id(),
                      following.sent,
                      epoch.number,
                      epoch.owner,
                      previous.number,
                      previous.owner,
                      {value->begin(), value->end()},
                      Hash{},
                      host.chain().after(following.sent).value_or(Hash{})});
    ++following.sent;
    ++counters_.batchesSent;
  }
}

// --- operators

Status Replica::checkEmbedded() const {
  if (!config_.etcd) return okStatus();
  return Error{ErrorCode::conflict, "etcd gives partitions their owners", "see who holds them there"};
}

Status Replica::found(Now now, const std::function<bool(std::string_view partition)>& which) {
  WITAN_DO(checkEmbedded());
  for (auto& [id, host] : hosts_) {
    if (which && !which(id)) continue;
    if (host->epoch().number > 0 || owners_.find(id) != nullptr)
      return Error{ErrorCode::conflict, "partition " + id + " has an owner", "a cluster is founded once"};
    host->beginEpoch({1, ownerName_}, kernel::EpochCause::founding, now.wall, "", pending_);
    learnFrom(*host, 0);
  }
  return okStatus();
}

Status Replica::move(std::string_view partition, std::string_view to, std::string_view reason, Now now) {
  WITAN_DO(checkEmbedded());
  PartitionHost* mine = host(partition);
  if (mine == nullptr || !owns(*mine))
    return Error{ErrorCode::conflict, "this device does not own partition " + std::string(partition),
                 "its owner is " + ownerDevice(partition)};
  const auto at = peers_.find(to);
  const std::string where = "device " + std::string(to);
  if (at == peers_.end() || !mayTalk(at->second)) return Error{ErrorCode::unavailable, where + " is not connected", ""};
  const auto following = at->second.following.find(partition);
  if (at->second.owner.empty() || following == at->second.following.end() || !following->second.known)
    return Error{ErrorCode::conflict, where + " keeps no copy of partition " + std::string(partition), ""};
  mine->beginEpoch({mine->epoch().number + 1, ownerName_}, kernel::EpochCause::handover, now.wall, reason, pending_,
                   at->second.owner);
  announce(mine->claim());
  notices_.push_back({"handover", std::string(partition), "to " + at->second.owner});
  return okStatus();
}

Status Replica::seize(std::string_view partition, std::string_view reason, Now now) {
  WITAN_DO(checkEmbedded());
  PartitionHost* mine = host(partition);
  if (mine == nullptr)
    return Error{ErrorCode::conflict, "this device keeps no copy of partition " + std::string(partition), ""};
  if (owns(*mine)) return Error{ErrorCode::conflict, "this device owns partition " + std::string(partition), ""};
  if (mine->epoch().number == 0 || reopen_.contains(mine->id()))
    return Error{ErrorCode::conflict, "this device has nothing of partition " + std::string(partition) + " yet", ""};
  const Claim* claim = owners_.find(partition);
  const kernel::Epoch last = std::max(mine->epoch(), claim == nullptr ? kernel::Epoch{} : claim->epoch());
  const std::string owner(replication::deviceOf(last.owner));
  const auto at = peers_.find(owner);
  const bool ownerHere = at != peers_.end() && at->second.owner == last.owner &&
                         !at->second.following[std::string(partition)].follows;  // it knows that it owns no more
  if (ownerHere)
    return Error{ErrorCode::conflict, "the owner " + owner + " is connected", "let it hand the partition over"};
  for (const auto& [name, peer] : peers_) {
    const auto following = peer.following.find(partition);
    // Of two logs that have parted the operator says which is to stand.
    if (following != peer.following.end() && !following->second.forked && following->second.epoch >= mine->epoch() &&
        following->second.theirs > mine->ledger().batches())
      return Error{ErrorCode::conflict, name + " has more of partition " + std::string(partition), "seize it there"};
  }
  const kernel::Epoch next{mutated("seizeSameEpoch") ? last.number : last.number + 1, ownerName_};
  mine->beginEpoch(next, kernel::EpochCause::seizure, now.wall, reason, pending_);
  forgetLostTail(mine->id());
  ++counters_.seizures;
  announce(mine->claim());
  tellAll(*mine);
  notices_.push_back({"seizure", std::string(partition), "epoch " + std::to_string(next.number)});
  return okStatus();
}

}  // namespace witan::node
