// Members, those who would like to be, and the links to them.
#include "base/seams.h"
#include "node/api/control_routes.h"
#include "node/api/messages/cluster.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster.h"

namespace witan::node::api {

namespace {

std::vector<std::string> warningsOf(Daemon& daemon, const std::vector<std::string>& roles) {
  return roleWarnings(roles, [&](std::string_view domain) {
    const kernel::DomainModule* module = daemon.replica().moduleOf(domain);
    return module == nullptr ? nullptr : &module->signature();
  });
}

// The roster has changed here: publish it, then answer.
RosterChanged published(const ApiContext& context, const std::vector<std::string>& roles = {}) {
  context.daemon.peers().rosterPublished();
  context.daemon.scheduleTick();
  return {context.daemon.roster().current().version, warningsOf(context.daemon, roles)};
}

// A name is what the stranger calls itself; its key tells which device it was.
Omittable<std::string> fingerprintOfKey(const std::string& hex) {
  auto key = publicKeyFromHex(hex, "key");
  return key.ok() ? Omittable<std::string>(fingerprintOf(*key)) : Omittable<std::string>();
}

Result<std::string> otherDevice(const ApiContext& context, const std::string& idOrName) {
  WITAN_TRY(device, context.daemon.roster().current().lookUp(idOrName));
  if (device->device == context.daemon.replica().device()) return invalid("that is this device");
  return device->device;
}

Result<Devices> devices(const ApiContext& context, const Nothing&) {
  Daemon& daemon = context.daemon;
  const Roster& roster = daemon.roster().current();
  Devices answer{roster.cluster, roster.version, daemon.enrolment().isAdmin(), daemon.enrolment().pending().size(), {}};
  for (const RosterDevice& d : roster.devices)
    answer.devices.push_back({d.device, d.name, d.keys, d.state, d.roles, d.scopes, d.addresses, d.since, d.reason,
                              d.device == daemon.replica().device(), daemon.peers().connected(d.device)});
  return answer;
}

Result<PendingDevices> pendingDevices(const ApiContext& context, const Nothing&) {
  PendingDevices answer;
  for (const PendingDevice& d : context.daemon.enrolment().pending())
    answer.pending.push_back({d.device, d.key, d.name, d.addresses, d.from, d.since, fingerprintOfKey(d.key)});
  return answer;
}

Result<Invitation> invite(const ApiContext& context, const InviteRequest& request) {
  Daemon& daemon = context.daemon;
  InviteOptions options;
  std::vector<std::string> addresses = request.addresses.value_or(std::vector<std::string>());
  for (const std::string& address : addresses) WITAN_DO(checkAddress(address));
  options.roles = request.roles.value_or(std::vector<std::string>());
  options.scopes = request.scopes.value_or(std::vector<std::string>());
  const std::uint64_t seconds = std::min<std::uint64_t>(request.ttlSeconds.value_or(900), 1u << 30);
  options.ttlMicros = static_cast<std::int64_t>(seconds) * 1'000'000;
  options.uses = request.uses.value_or(1);
  if (addresses.empty()) addresses = dialable(daemon.addresses());
  SystemRandom random;
  WITAN_TRY(token, daemon.enrolment().invite(options, addresses, daemon.key().publicKey(), daemon.now().wall, random));
  const Invite& made = daemon.enrolment().invites().back();
  daemon.log().info("enrolment", "invited", {{"invitation", made.id}, {"expires", formatTime(made.expires)}});
  return Invitation{token, made.expires, made.usesLeft, warningsOf(daemon, options.roles)};
}

Result<Approved> approve(const ApiContext& context, const ApproveRequest& request) {
  const std::vector<std::string> none, &roles = request.roles ? *request.roles : none;
  WITAN_TRY(one, context.daemon.enrolment().approve(request.device, roles, request.scopes ? *request.scopes : none,
                                                    context.daemon.now().wall));
  RosterChanged changed = published(context, roles);
  return Approved{changed.version, std::move(changed.warnings), one.device, fingerprintOfKey(one.key)};
}

Result<Denied> deny(const ApiContext& context, const DeviceRequest& request) {
  WITAN_TRY(one, context.daemon.enrolment().deny(request.device));
  return Denied{request.device, one.device, fingerprintOfKey(one.key)};
}

Result<RosterChanged> revoke(const ApiContext& context, const RevokeRequest& request) {
  WITAN_TRY(device, otherDevice(context, request.device));  // the admin's device does not shut itself out
  WITAN_DO(context.daemon.enrolment().revoke(device, request.reason.value_or("")));
  return published(context);
}

Result<RosterChanged> setRoles(const ApiContext& context, const RolesRequest& request) {
  WITAN_DO(context.daemon.enrolment().setRoles(request.device, request.roles));
  return published(context, request.roles);
}

Result<KeyRotated> rotateKey(const ApiContext& context, const Nothing&) {
  WITAN_DO(context.daemon.rotateKey());
  context.daemon.scheduleTick();
  return KeyRotated{context.daemon.replica().device(), hasKey(context.daemon.path(), KeyName::nextDevice)};
}

Result<Peers> peers(const ApiContext& context, const Nothing&) {
  Peers answer;
  const std::int64_t now = context.daemon.now().ms;
  for (const PeerStatus& peer : context.daemon.peers().status()) {
    PeerRow row{peer.device,   peer.name,    peer.address,  peer.connected,  peer.blocked,
                peer.framesIn, peer.bytesIn, peer.bytesOut, peer.queuedBytes};
    if (!peer.via.empty()) row.via = peer.via;
    if (peer.sinceMs > 0) row.seconds = (now - peer.sinceMs) / 1000;
    if (!peer.lastEnd.empty()) row.lastEnd = peer.lastEnd;
    if (const replication::SyncSession* session = context.daemon.replica().session(peer.device)) {
      row.session = std::string(enumName(session->state()));
      row.inSync = session->full() && session->quiet();
    }
    answer.peers.push_back(std::move(row));
  }
  return answer;
}

Result<PeerCut> cutPeer(const ApiContext& context, const DeviceRequest& request) {
  WITAN_TRY(device, otherDevice(context, request.device));
  context.daemon.peers().cut(device);
  context.daemon.log().warn("peers", "an operator cut the link", {{"id", device}});
  return PeerCut{device};
}

Result<PeerHealed> healPeer(const ApiContext& context, const DeviceRequest& request) {
  WITAN_TRY(device, otherDevice(context, request.device));
  context.daemon.peers().heal(device);
  context.daemon.log().info("peers", "an operator healed the link", {{"id", device}});
  return PeerHealed{device};
}

std::vector<ControlRoute> deviceRoutes() {
  return {
      typedRoute({.method = "GET",
                  .path = "/v1/devices",
                  .operationId = "listDevices",
                  .tag = "devices",
                  .role = ControlRole::observer,
                  .summary = "The roster: every device of the cluster",
                  .response = R"({"cluster":"c1","version":3,"admin":true,"pending":0,"devices":[{"device":
                          "0d66796d1c3b9a52","name":"office","keys":["9f86d081884c7d65"],"state":"active",
                          "roles":["ledger","*"],"scopes":[],"addresses":["192.0.2.7:7400"],
                          "since":"2026-03-23T08:00:00Z","reason":"","this":true,"connected":false}]})"},
                 devices),
      typedRoute({.method = "GET",
                  .path = "/v1/devices/pending",
                  .operationId = "listPendingDevices",
                  .tag = "devices",
                  .role = ControlRole::observer,
                  .summary = "Devices that wait to be approved",
                  .response = R"({"pending":[{"device":"7be2a90c44d1f38e","key":"9f86d081884c7d65","name":"laptop",
                          "addresses":[],"from":"192.0.2.9:51034","since":"2026-03-23T08:00:00Z"}]})"},
                 pendingDevices),
      typedRoute({.method = "POST",
                  .path = "/v1/devices/invite",
                  .operationId = "inviteDevice",
                  .tag = "devices",
                  .role = ControlRole::admin,
                  .summary = "Makes a token with which a device may join",
                  .errors = {409, 500, 503},
                  .request = R"({"roles":["ledger","*"],"ttlSeconds":900,"uses":1})",
                  .response = R"({"token":"witan-join-1","expires":"2026-03-23T08:15:00Z","uses":1,"warnings":[]})"},
                 invite),
      typedRoute({.method = "POST",
                  .path = "/v1/devices/approve",
                  .operationId = "approveDevice",
                  .tag = "devices",
                  .role = ControlRole::admin,
                  .summary = "Makes a pending device a member",
                  .errors = {404, 409, 500},
                  .request = R"({"device":"laptop","roles":["*"]})",
                  .response = R"({"version":4,"warnings":[],"device":"7be2a90c44d1f38e"})"},
                 approve),
      typedRoute({.method = "POST",
                  .path = "/v1/devices/deny",
                  .operationId = "denyDevice",
                  .tag = "devices",
                  .role = ControlRole::admin,
                  .summary = "Rejects a pending device for good",
                  .errors = {404, 409, 500},
                  .request = R"({"device":"laptop"})",
                  .response = R"({"denied":"laptop","device":"7be2a90c44d1f38e"})"},
                 deny),
      typedRoute({.method = "POST",
                  .path = "/v1/devices/revoke",
                  .operationId = "revokeDevice",
                  .tag = "devices",
                  .role = ControlRole::admin,
                  .summary = "Revokes a member everywhere",
                  .errors = {404, 409, 500},
                  .request = R"({"device":"laptop","reason":"stolen"})",
                  .response = R"({"version":5,"warnings":[]})"},
                 revoke),
      typedRoute({.method = "POST",
                  .path = "/v1/devices/roles",
                  .operationId = "setDeviceRoles",
                  .tag = "devices",
                  .role = ControlRole::admin,
                  .summary = "Replaces a member's roles",
                  .errors = {404, 409, 500},
                  .request = R"({"device":"laptop","roles":["udt.LabOrder"]})",
                  .response = R"({"version":6,"warnings":[]})"},
                 setRoles),
      typedRoute({.method = "POST",
                  .path = "/v1/devices/rotate-key",
                  .operationId = "rotateDeviceKey",
                  .tag = "devices",
                  .role = ControlRole::admin,
                  .summary = "Gives this device a new key; its id stays",
                  .errors = {409, 500, 503},
                  .response = R"({"device":"0d66796d1c3b9a52","pending":true})"},
                 rotateKey)};
}

std::vector<ControlRoute> peerRoutes() {
  return {typedRoute({.method = "GET",
                      .path = "/v1/peers",
                      .operationId = "listPeers",
                      .tag = "peers",
                      .role = ControlRole::observer,
                      .summary = "Links to the other members",
                      .response = R"({"peers":[{"device":"7be2a90c44d1f38e","name":"laptop","address":"192.0.2.9:7400",
                          "connected":true,"cut":false,"framesIn":12,"bytesIn":4096,"bytesOut":2048,"queuedBytes":0,
                          "seconds":31,"session":"full","inSync":true}]})"},
                     peers),
          typedRoute({.method = "POST",
                      .path = "/v1/peers/cut",
                      .operationId = "cutPeer",
                      .tag = "peers",
                      .role = ControlRole::operator_,
                      .summary = "Drops the link to a peer and keeps it down, for drills",
                      .errors = {404, 409},
                      .request = R"({"device":"laptop"})",
                      .response = R"({"cut":"7be2a90c44d1f38e"})"},
                     cutPeer),
          typedRoute({.method = "POST",
                      .path = "/v1/peers/heal",
                      .operationId = "healPeer",
                      .tag = "peers",
                      .role = ControlRole::operator_,
                      .summary = "Allows the link to a peer again",
                      .errors = {404, 409},
                      .request = R"({"device":"laptop"})",
                      .response = R"({"healed":"7be2a90c44d1f38e"})"},
                     healPeer)};
}

}  // namespace

std::vector<ControlRoute> clusterRoutes() {
  std::vector<ControlRoute> all = deviceRoutes();
  for (const ControlRoute& one : peerRoutes()) all.push_back(one);
  return all;
}

}  // namespace witan::node::api
