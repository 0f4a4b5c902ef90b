// Daemon: what follows from the roster, and how a device hears of it that no other lets in.
#include <algorithm>

#include "base/time.h"
#include "node/cluster/roster_follows.h"
#include "node/daemon/daemon.h"
#include "replication/membership.h"
#include "replication/statement.h"

namespace witan::node {

namespace {

constexpr std::int64_t kLookMs = 3'000;
constexpr std::size_t kLooksPerQuestion = 10, kLooksOfQuestion = 4;
constexpr std::string_view kRevoked = "revoked";

// The incident's words; empty: there is none.
std::string notedRevocation(const replication::LocalReplica& data) {
  const auto incidents = data.incidents();
  if (!incidents.ok()) return "";
  const auto noted = std::ranges::find(*incidents, kRevoked, &replication::Incident::kind);
  return noted == incidents->end() ? "" : noted->what;
}

}  // namespace

void Daemon::rosterChanged() {
  replica().data().rosterChanged();
  switchToNextKey();
  askForNextKey();  // it waits where the last roster could not be written
  reconcileMembership();
  noteRevocation();
  applyRights();
  replica().rosterChanged();
  alone_ = 0;  // a device that got another key offers the roster at once
  scheduleTick();
}

// The statements by which members tidy up follow the roster, on the device that writes it.
void Daemon::reconcileMembership() {
  if (!enrolment_->isAdmin()) return;
  auto& data = replica().data();
  for (const RosterDevice& device : rosters_.current().devices) {
    auto members = data.membership();
    auto known = data.statements();
    if (!members.ok() || !known.ok()) return;
    const replication::Standing standing = members->standing(device.device);
    if (device.active() && (standing == replication::Standing::unknown || standing == replication::Standing::retired))
      (void)data.addStatement(
          replication::admit(*known, data.writer(), device.device, members->nextAdmission(device.device), device.name));
    if (!device.active() && standing == replication::Standing::active)
      (void)data.addStatement(
          replication::proposeRetire(*known, data.writer(), device.device, members->nextAdmission(device.device) - 1));
  }
  (void)data.acknowledgeRetirements();
}

std::string Daemon::revocation() const {
  const RosterDevice* known = me();
  if (known == nullptr || known->active()) return "";
  const std::string noted = notedRevocation(dir_->replica().data());
  return noted.empty() ? "this device was revoked: " + known->reason : noted;
}

// The roster does not say when: this device says since when it knows.
void Daemon::noteRevocation() {
  const RosterDevice* known = me();
  if (known == nullptr || known->active() || !notedRevocation(replica().data()).empty()) return;
  const std::string what = concat("this device was revoked", known->reason.empty() ? "" : ": " + known->reason,
                                  "; known here since ", formatTime(now().wall), " (version ",
                                  rosters_.current().version, " of the roster); the others let it in no more");
  log_.error("roster", what);
  replica().data().note({std::string(kRevoked), "", what});
}

void Daemon::alarm(const std::string& kind, const std::string& device, const std::string& what) {
  log_.warn("peers", kind, {{"id", device}, {"what", what}});
  replica().data().note({kind, device, what});
  // What a union took is on disk before the union is: nothing says it again.
  if (kind == kRosterPartedIncident)
    if (const Status kept = replica().data().flush(); !kept.ok()) fail(kept.error());
  scheduleTick();
}

// A device that has a link hears of the roster over it. One that the roster leaves out asks to be let in.
void Daemon::askIfAloneLater() {
  later(kLookMs, [this] { askIfAlone(), askIfAloneLater(); });
}

void Daemon::askIfAlone() {
  // Its disk went back to before its key was replaced. By acts of the admins it gets none by itself (memberCheck).
  const bool replaced = me() != nullptr && me() == hadKey(rosters_.current(), key_.publicKey());
  if (replaced && me()->active() && enrolment_->isAdmin() && rosters_.admins().admins.empty() && !stopping_)
    if (const Status done = rotateKey(); !done.ok())
      log_.error("node", "this device's key was replaced, and it gets no other: " + done.error().message);
  const auto linked = [](const PeerStatus& peer) { return peer.connected; };
  const bool revoked = me() != nullptr && !me()->active();
  alone_ = revoked || stopping_ || std::ranges::any_of(peers_->status(), linked) ? 0 : alone_ + 1;
  if (alone_ % kLooksPerQuestion == 0 || alone_ % kLooksPerQuestion == kLooksOfQuestion) inquiry_->stop();
  if (alone_ % kLooksPerQuestion != 1) return;
  const bool expecting = alone_ / kLooksPerQuestion % 2 == 0;  // each second question: they may have other keys
  std::vector<std::uint8_t> proof;
  if (const auto admin = enrolment_->isAdmin() ? readKey(path_, KeyName::admin) : Result<SigningKey>(key_);
      admin.ok()) {
    const Signature signature = admin->sign(adminProofText(rosters_.current().cluster, key_.publicKey()));
    proof.assign(signature.begin(), signature.end());
  }
  if (const Status asked = inquiry_->ask(key_, expecting, std::move(proof)); !asked.ok())
    log_.warn("roster", "no other device could be asked: " + asked.error().message);
}

}  // namespace witan::node
