#include "replica/peer_sessions.h"

#include <limits>

#include "base/mutant.h"
#include "replica/advertisement_exchange.h"
#include "replica/base_transfer.h"
#include "replica/copy_pruning.h"
#include "replica/entry_replicator.h"
#include "replica/head_exchange.h"
#include "replica/replica_effects.h"
#include "replica/request_router.h"

namespace witan::node {

namespace {
constexpr std::size_t kProduceBudget = 4 * 1024 * 1024;
// With so many links an edit that comes over each of them is too much. With fewer all stay eager: nothing is faster.
constexpr std::size_t kTreeFrom = 5;
}  // namespace

void PeerSessions::connected(const std::string& name, Now now) {
  const ReplicaConfig& config = state_.config;
  Peer& peer = state_.peers[name];
  peer = Peer{};
  peer.device = name;
  peer.sinceMs = peer.claimsToldMs = now.ms;
  peer.keeper = !config.keepsLedgers || config.keepsLedgers(name);
  peer.copies = config.copiesOnly && (config.copiesOnly(name) || config.copiesOnly(state_.device()));
  replication::SessionOptions options = config.session;
  options.copiesOnly = config.copiesOnly;
  options.peer = name;
  options.prunes = [this] { return state_.peers.size() >= kTreeFrom; };
  options.mayGraft = [this](const std::string& space, std::int64_t nowMs) {
    std::int64_t& last = graftedMs_.try_emplace(space, nowMs - replication::TreeLink::kGraftMs).first->second;
    if (nowMs - last < replication::TreeLink::kGraftMs) return false;
    last = nowMs;
    return true;
  };
  if (config.mayHave && !mutated("ignoreScopes"))
    options.mayHave = [mayHave = config.mayHave, name](replication::DatabaseName database, std::string_view scope) {
      return mayHave(name, database, scope);
    };
  peer.session = std::make_unique<replication::SyncSession>(*state_.local, std::move(options), now.ms);
  state_.followDirty = true;
}

void PeerSessions::disconnected(const std::string& name) {
  const auto at = state_.peers.find(name);
  if (at == state_.peers.end()) return;
  const bool fed = at->second.session->feeds();
  state_.peers.erase(at);
  for (auto& [other, peer] : state_.peers)
    if (fed && peer.full()) peer.session->regraft();
  state_.followDirty = true;
}

void PeerSessions::received(const std::string& from, std::string_view frame, Now now) {
  const auto at = state_.peers.find(from);
  if (at == state_.peers.end()) return;
  Peer& peer = at->second;
  if (peer.cut) return;
  const bool whole = frame.size() > replication::kFrameHeaderBytes;
  if (!whole) return state_.cutOff(from, peer, invalid("a frame without a message"));
  if (static_cast<std::uint8_t>(frame[4]) < kFirstAdjudicationFrame) {
    // The session notes its own errors and says BYE.
    if (peer.session->state() != replication::SessionState::closed) (void)peer.session->receive(frame, now.ms);
    return;
  }
  auto header = replication::readFrameHeader(frame, kMaxAdjudicationFrame);
  if (!header) return state_.cutOff(from, peer, header.error());
  if (header->length != frame.size() - replication::kFrameHeaderBytes)
    return state_.cutOff(from, peer, invalid("a frame of another length than it says"));
  if (!peer.full() || peer.copies || !peer.farewell.empty()) return;  // no member: membership only
  dispatch(from, peer, static_cast<std::uint8_t>(header->type), frame.substr(replication::kFrameHeaderBytes), now);
}

void PeerSessions::dispatch(const std::string& from, Peer& peer, std::uint8_t type, std::string_view bytes, Now now) {
  const auto read = [&](auto message, auto&& handle) {
    if (Status status = readMessage(bytes, message, "frame"); !status.ok())
      return state_.cutOff(from, peer, status.error());
    handle(message);
  };
  switch (static_cast<AdjudicationFrame>(type)) {
    case AdjudicationFrame::request:
      return read(Request{}, [&](Request& m) { router_.onRequest(from, std::move(m), now); });
    case AdjudicationFrame::answer:
      return read(Answer{}, [&](Answer& m) { router_.onAnswer(from, std::move(m), now); });
    case AdjudicationFrame::standing:
      return read(PeerAdvertisement{}, [&](PeerAdvertisement& m) {
        const auto heads = std::move(m.heads), proofs = std::move(m.proofs);
        exchange_.onAdvertisement(from, peer, std::move(m), now);
        heads_.received(from, peer, heads, proofs, now);
      });
    case AdjudicationFrame::entries:
      return read(Entries{}, [&](Entries& m) { entries_.onEntries(from, peer, m, now); });
    case AdjudicationFrame::followed: return read(Followed{}, [&](Followed& m) { entries_.onFollowed(peer, m, now); });
    case AdjudicationFrame::askPast: return read(AskPast{}, [&](AskPast& m) { pruning_.onAsked(peer, std::move(m)); });
    case AdjudicationFrame::past:
      return read(Past{}, [&](Past& m) {
        if (!bases_.onPast(from, m)) pruning_.onPast(from, peer, m);
      });
    case AdjudicationFrame::askFolded: return read(AskFolded{}, [&](AskFolded& m) { bases_.onAskFolded(peer, m); });
    case AdjudicationFrame::folded: return read(Folded{}, [&](Folded& m) { bases_.onFolded(from, m); });
    case AdjudicationFrame::askBase: return read(AskBase{}, [&](AskBase& m) { bases_.onAskBase(peer, std::move(m)); });
    case AdjudicationFrame::base: return read(Base{}, [&](Base& m) { bases_.onBase(from, m); });
  }
  state_.cutOff(from, peer, invalid("a frame of the unknown type " + std::to_string(type)));
}

std::int64_t PeerSessions::nextMs(std::int64_t nowMs) const {
  std::int64_t next = std::numeric_limits<std::int64_t>::max();
  for (const auto& [name, peer] : state_.peers) next = std::min(next, peer.session->nextMs(nowMs));
  return next;
}

void PeerSessions::tick(Now now) {
  for (auto& [name, peer] : state_.peers) peer.session->tick(now.ms);
}

void PeerSessions::runMembershipMaintenance() {
  const replication::Space* cluster =
      state_.local->database(replication::DatabaseName::agents).find(replication::kClusterScope);
  if (cluster == nullptr || cluster->changes() == statementsSeen_) return;
  statementsSeen_ = cluster->changes();
  auto members = state_.local->membership();
  if (!members.ok()) return;  // sessions say so
  // This device takes nothing more from a device whose retirement it has acknowledged.
  for (const replication::Member& member : replication::acksDue(*members, state_.device()))
    if (const auto at = state_.peers.find(member.device); at != state_.peers.end() && !mutated("keepSession"))
      at->second.session->close("retired", member.device + " is leaving");
  // A session with a stranger shares membership alone: it begins again when the stranger is a member.
  for (auto& [name, peer] : state_.peers)
    if (peer.session->state() == replication::SessionState::running && !peer.session->full() &&
        members->standing(name) == replication::Standing::active)
      peer.session->close("admitted", name + " is a member now: the session begins again");
  (void)state_.local->acknowledgeRetirements();  // if it fails, the next statements try again
}

void PeerSessions::greet() {
  for (auto& [name, peer] : state_.peers)
    if (!peer.greeted && peer.full()) exchange_.greet(peer), heads_.greet(peer);
}

void PeerSessions::send(Now now, std::vector<Outgoing>& out) {
  for (auto& [name, peer] : state_.peers) {
    replication::SyncSession& session = *peer.session;
    std::string frames;
    session.produce(frames, kProduceBudget, now.ms);
    if (peer.full() && !peer.copies) frames += peer.out;
    peer.out.clear();
    if (!peer.farewell.empty() && session.state() != replication::SessionState::closed) {
      session.close("engine", peer.farewell);
      session.produce(frames, kProduceBudget, now.ms);
    }
    const bool ended = session.state() == replication::SessionState::closed;
    const bool close = peer.cut || ended;
    if (ended && !std::exchange(peer.endReported, true))
      state_.notice("session ends", "", name + ": " + session.closeCode() + ": " + session.closeReason());
    if (!frames.empty() || close) out.push_back({name, std::move(frames), close});
  }
}

bool PeerSessions::quiet() const {
  for (const auto& [name, peer] : state_.peers)
    if (!peer.session->quiet() || peer.newsDue) return false;
  return true;
}

}  // namespace witan::node
