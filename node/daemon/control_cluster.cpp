// Members, those who would like to be, and the links to them.
#include "base/json_codec.h"
#include "base/seams.h"
#include "node/cluster/typed.h"
#include "node/daemon/control_routes.h"

namespace witan::node::control {

namespace {

Result<std::vector<std::string>> listOf(const ControlCall& call, const char* name) {
  std::vector<std::string> items;
  if (const json::value* value = call.body.if_contains(name)) WITAN_DO(readJson(*value, items, name));
  return items;
}

json::value asJson(const auto& value) { return parseJson(toJson(value)).value(); }

// The roster has changed here: tell everybody, then answer.
void published(const ControlCall& call, const Status& done) {
  if (!done.ok()) return call.refuse(done.error());
  call.daemon.peers().rosterPublished();
  call.daemon.touch();
  call.answer({{"version", call.daemon.roster().current().version}});
}

Result<std::string> deviceOf(const ControlCall& call) {
  WITAN_TRY(device, call.daemon.roster().current().lookUp(call.text("device")));
  if (device->device == call.daemon.replica().device()) return invalid("that is this device");
  return device->device;
}

}  // namespace

void devices(const ControlCall& call) {
  Daemon& daemon = call.daemon;
  const Roster& roster = daemon.roster().current();
  json::array list;
  for (const RosterDevice& device : roster.devices) {
    json::object row = asJson(device).as_object();
    row["this"] = device.device == daemon.replica().device();
    row["connected"] = daemon.peers().connected(device.device);
    list.push_back(std::move(row));
  }
  call.answer({{"cluster", roster.cluster},
               {"version", roster.version},
               {"admin", daemon.enrolment().isAdmin()},
               {"pending", daemon.enrolment().pending().size()},
               {"devices", std::move(list)}});
}

void pendingDevices(const ControlCall& call) {
  json::array list;
  for (const PendingDevice& device : call.daemon.enrolment().pending()) {
    json::object row = asJson(device).as_object();
    if (auto key = publicKeyFromHex(device.key, "key"); key.ok()) row["fingerprint"] = fingerprintOf(*key);
    list.push_back(std::move(row));
  }
  call.answer({{"pending", std::move(list)}});
}

void invite(const ControlCall& call) {
  InviteOptions options;
  const auto made = [&]() -> Result<std::string> {
    WITAN_TRY(roles, listOf(call, "roles"));
    WITAN_TRY(scopes, listOf(call, "scopes"));
    WITAN_TRY(addresses, listOf(call, "addresses"));
    for (const std::string& address : addresses) WITAN_DO(checkAddress(address));
    WITAN_TRY(seconds, call.number("ttlSeconds", 900));
    WITAN_TRY(uses, call.number("uses", 1));
    options.roles = std::move(roles);
    options.scopes = std::move(scopes);
    options.ttlMicros = static_cast<std::int64_t>(std::min<std::uint64_t>(seconds, 1u << 30)) * 1'000'000;
    options.uses = uses;
    if (addresses.empty()) addresses = dialable(call.daemon.addresses());
    SystemRandom random;
    return call.daemon.enrolment().invite(options, addresses, call.daemon.key().publicKey(), call.daemon.now().wall,
                                          random);
  }();
  if (!made.ok()) return call.refuse(made.error());
  const Invite& invite = call.daemon.enrolment().invites().back();
  call.daemon.log().info("enrolment", "invited", {{"invitation", invite.id}, {"expires", formatTime(invite.expires)}});
  call.answer({{"token", *made}, {"expires", formatTime(invite.expires)}, {"uses", invite.usesLeft}});
}

void approve(const ControlCall& call) {
  auto roles = listOf(call, "roles");
  auto scopes = listOf(call, "scopes");
  if (!roles.ok()) return call.refuse(roles.error());
  if (!scopes.ok()) return call.refuse(scopes.error());
  published(call, call.daemon.enrolment().approve(call.text("device"), *roles, *scopes, call.daemon.now().wall));
}

void deny(const ControlCall& call) {
  const Status done = call.daemon.enrolment().deny(call.text("device"));
  done.ok() ? call.answer({{"denied", call.text("device")}}) : call.refuse(done.error());
}

void revoke(const ControlCall& call) {
  auto device = deviceOf(call);  // the admin's device does not shut itself out
  if (!device.ok()) return call.refuse(device.error());
  published(call, call.daemon.enrolment().revoke(*device, call.text("reason")));
}

void setRoles(const ControlCall& call) {
  auto roles = listOf(call, "roles");
  if (!roles.ok()) return call.refuse(roles.error());
  published(call, call.daemon.enrolment().setRoles(call.text("device"), *roles));
}

void rotateKey(const ControlCall& call) {
  const Status done = call.daemon.rotateKey();
  if (!done.ok()) return call.refuse(done.error());
  call.daemon.touch();
  call.answer(
      {{"device", call.daemon.replica().device()}, {"pending", hasKey(call.daemon.path(), KeyName::nextDevice)}});
}

void peers(const ControlCall& call) {
  json::array list;
  const std::int64_t now = call.daemon.now().ms;
  for (const PeerStatus& peer : call.daemon.peers().status()) {
    json::object row{{"device", peer.device},       {"name", peer.name},         {"address", peer.address},
                     {"connected", peer.connected}, {"cut", peer.blocked},       {"framesIn", peer.framesIn},
                     {"bytesIn", peer.bytesIn},     {"bytesOut", peer.bytesOut}, {"queuedBytes", peer.queuedBytes}};
    if (!peer.via.empty()) row["via"] = peer.via;
    if (peer.sinceMs > 0) row["seconds"] = (now - peer.sinceMs) / 1000;
    if (!peer.lastEnd.empty()) row["lastEnd"] = peer.lastEnd;
    if (const replication::SyncSession* session = call.daemon.replica().session(peer.device)) {
      row["session"] = std::string(enumName(session->state()));
      row["inSync"] = session->full() && session->quiet();
    }
    list.push_back(std::move(row));
  }
  call.answer({{"peers", std::move(list)}});
}

void cutPeer(const ControlCall& call) {
  auto device = deviceOf(call);
  if (!device.ok()) return call.refuse(device.error());
  call.daemon.peers().cut(*device);
  call.daemon.log().warn("peers", "an operator cut the link", {{"id", *device}});
  call.answer({{"cut", *device}});
}

void healPeer(const ControlCall& call) {
  auto device = deviceOf(call);
  if (!device.ok()) return call.refuse(device.error());
  call.daemon.peers().heal(*device);
  call.daemon.log().info("peers", "an operator healed the link", {{"id", *device}});
  call.answer({{"healed", *device}});
}

}  // namespace witan::node::control
