// Daemon's data for devices without copies: slices, what a change of roles means for them, and entries that are asked.
#include <algorithm>
#include <utility>

#include "node/daemon/daemon.h"
#include "replication/writer.h"

namespace witan::node {

void Daemon::onConnected(const std::string& device) {
  replica().connected(device, now());
  askForNextKey(device);
  const RosterDevice* known = rosters_.current().find(device);
  if (known == nullptr || me() == nullptr) return;
  if (me()->keepsLedgers()) return sliceServer_->connected(*known);
  if (!known->keepsLedgers()) return;
  if (auto have = sliceStore_->have(); have.ok()) peers_->send(device, clusterFrame(*have), false);
}

void Daemon::onFrame(const std::string& device, std::string_view frame) {
  const auto type = static_cast<std::uint8_t>(frame[4]);
  if (type < kFirstClusterFrame || type > kLastClusterFrame) return replica().received(device, frame, now());
  if (Status taken = onSliceFrame(device, frame); !taken.ok())
    log_.warn("slices", taken.error().message, {{"from", device}});
}

Status Daemon::onSliceFrame(const std::string& device, std::string_view frame) {
  const auto type = static_cast<ClusterFrame>(frame[4]);
  if (type == ClusterFrame::entryAsk) return onEntryAsk(device, frame);
  if (type == ClusterFrame::entryTold) {
    EntryTold told;
    WITAN_DO(readClusterFrame(frame, told));
    questions_.told(device, told, [this](const EntryAsk& ask, const EntryTold& answer, const LogHead* known) {
      return checkTold(replica(), ask, answer, known);
    });
    workQuestions();
    return okStatus();
  }
  const RosterDevice* from = rosters_.current().find(device);
  if (type == ClusterFrame::sliceHave) {
    SliceHave have;
    WITAN_DO(readClusterFrame(frame, have));
    return sliceServer_->onHave(device, have);
  }
  if (from == nullptr || !from->keepsLedgers() || me() == nullptr)
    return Error{ErrorCode::unauthorised, "slices of a device that keeps no ledgers", ""};
  if (type == ClusterFrame::sliceUpTo) {
    SliceUpTo upTo;
    WITAN_DO(readClusterFrame(frame, upTo));
    return sliceStore_->upTo(upTo);
  }
  Slice slice;
  WITAN_DO(readClusterFrame(frame, slice));
  return sliceStore_->take(slice, *me());
}

// Who has the role ledger may have all entries. An answer reads a partition's tree: no more than a quarter of the time
// goes to answers, and no device has more than its share of them.
Status Daemon::onEntryAsk(const std::string& device, std::string_view frame) {
  EntryAsk ask;
  WITAN_DO(readClusterFrame(frame, ask));
  const RosterDevice* from = rosters_.current().member(device);
  if (from == nullptr || !from->keepsLedgers())
    return Error{ErrorCode::unauthorised, "entries are asked by a device without the role ledger", ""};
  const std::int64_t begun = now().ms;
  EntryTold told{ask.id, EntryVerdict::busy};
  if (begun >= tellsFromMs_ && askers_.try_emplace(device, 8, 2).first->second.take(begun)) {
    told = tellEntry(replica(), ask);
    const std::int64_t ended = now().ms;
    tellsFromMs_ = ended + 3 * (ended - begun);
  }
  peers_->send(device, clusterFrame(told), false);
  return okStatus();
}

void Daemon::askHolders(EntryAsk question, HolderQuestions::Done done) {
  std::vector<std::string> holders = replica().placement().whole(question.partition);  // who prunes lacks old entries
  const auto add = [&](const std::string& device) {
    if (std::ranges::find(holders, device) == holders.end()) holders.push_back(device);
  };
  for (const std::string& keeper : replica().placement().keepers(question.partition)) add(keeper);
  if (const OwnershipRecord* claim = replica().owners().find(question.partition))
    add(std::string(replication::deviceOf(claim->owner)));
  std::erase(holders, replica().device());
  (void)peers_->seek({holders.begin(), holders.end()});  // what it finds, workQuestions() sees
  if (Status taken = questions_.ask(std::move(question), holders, now(), done); !taken.ok()) return done(taken.error());
  workQuestions();
}

void Daemon::workQuestions() {
  constexpr std::int64_t kLookMs = 100;
  if (stopping_) return questions_.stop();
  questions_.work(now(), [this](const std::string& device, const EntryAsk& ask) {
    if (!replica().isConnected(device)) return false;
    peers_->send(device, clusterFrame(ask), false);
    return true;
  });
  if (questions_.idle() || std::exchange(asksAgain_, true)) return;
  later(kLookMs, [this] { asksAgain_ = false, workQuestions(); });
}

// A slow reader gets no more than its link can take.
Status Daemon::sendSlices() {
  for (const std::string& device : sliceServer_->waiting()) {
    if (peers_->queuedBytes(device) > 4 * kSliceBudget) continue;  // Events::room brings the next round
    std::string frames;
    WITAN_TRY(more, sliceServer_->produce(device, frames));
    if (!frames.empty()) peers_->send(device, std::move(frames), false);
    if (more) scheduleTick();
  }
  return okStatus();
}

void Daemon::applyRights() {
  if (me() == nullptr) return;
  if (Status applied = sliceStore_->applyRights(*me()); !applied.ok()) fail(applied.error());
  // Who is connected has heard how far it was with its roles of before.
  const auto have = sliceStore_->have();
  if (!peers_ || !have.ok() || me()->keepsLedgers()) return;
  for (const RosterDevice& device : rosters_.current().devices)
    if (device.keepsLedgers()) peers_->send(device.device, clusterFrame(*have), false);
}

}  // namespace witan::node
