// Daemon's slices: what comes and goes of them, and what a change of roles means for them.
#include "node/daemon/daemon.h"

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
