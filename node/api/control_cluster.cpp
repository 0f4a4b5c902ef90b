// Members, those who would like to be, and the links to them.
#include <algorithm>

#include "base/seams.h"
#include "base/string_util.h"
#include "node/api/control_routes.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster.h"

namespace witan::node::api {

namespace {

WITAN_STRUCT(DeviceRow, (std::string, device, "Id of the device"), (std::string, name, "Name of the device"),
             (std::vector<std::string>, keys, "Public keys in hex; the last one is in force"),
             (DeviceState, state, "Whether the device is a member or was revoked"),
             (std::vector<std::string>, roles, "Roles of the device"),
             (std::vector<std::string>, scopes, "Scopes of replicated data; empty: by role"),
             (std::vector<std::string>, addresses, "Addresses at which peers dial the device"),
             (Time, since, "When the device was admitted"), (std::string, reason, "Reason of a revocation"),
             (bool, this_, "Whether it is the device that answers"),
             (bool, connected, "Whether it has a link to the device that answers"),
             (Omittable<std::string>, site, "Where it stands; absent: not said"))

WITAN_STRUCT(Devices, (std::string, cluster, "Id of the cluster"), (std::uint64_t, version, "Version of the roster"),
             (bool, admin, "Whether the device that answers holds the admin key"),
             (std::uint64_t, pending, "Number of devices that wait to be approved"),
             (std::vector<DeviceRow>, devices, "Devices, by id"))

WITAN_STRUCT(PendingRow, (std::string, device, "Id of the device"), (std::string, key, "Public key in hex"),
             (std::string, name, "Name that the device gives itself"),
             (std::vector<std::string>, addresses, "Addresses that the device claims"),
             (std::string, from, "Address from which the request came"), (Time, since, "When the request came"),
             (Omittable<std::string>, fingerprint, "Fingerprint of the key"))

WITAN_STRUCT(AskedKeyRow, (std::string, device, "Id of the member"), (std::string, name, "Name of the member"),
             (std::string, key, "Public key in hex, for which the member asks"), (Time, since, "When it first asked"),
             (std::string, fingerprint, "Fingerprint of that key"))

WITAN_STRUCT(PendingDevices, (std::vector<PendingRow>, pending, "Devices that wait to be approved"),
             (std::vector<AskedKeyRow>, keys, "Members that ask for another key"))

WITAN_STRUCT(AcceptKeyRequest, (std::string, device, "Id or name of the member", 1),
             (Omittable<bool>, deny, "Forget that it asked; default: false"))

WITAN_STRUCT(KeyAccepted, (std::uint64_t, version, "Version of the roster"), (std::string, device, "Id of the member"),
             (bool, accepted, "Whether the key is in force"), (std::string, fingerprint, "Fingerprint of the key"))

WITAN_STRUCT(InviteRequest, (std::vector<std::string>, roles, "Roles of the devices that join"),
             (Omittable<std::vector<std::string>>, scopes, "Scopes of the devices that join; default: all"),
             (Omittable<std::uint64_t>, ttlSeconds, "Seconds until the token expires; default: 900"),
             (Omittable<std::uint64_t>, uses, "Number of devices that may join with the token; default: 1"),
             (Omittable<std::vector<std::string>>, addresses,
              "Addresses at which a device finds this one; default: where this one listens"))

WITAN_STRUCT(Invitation, (std::string, token, "Token for `witan join`"), (Time, expires, "When the token expires"),
             (std::uint64_t, uses, "Number of devices that may join with it"),
             (std::vector<std::string>, warnings, "Roles that no domain has, and the like"),
             (std::string, invitation, "Id of the invitation"))

WITAN_STRUCT(InvitationRow, (std::string, invitation, "Id of the invitation"),
             (std::vector<std::string>, roles, "Roles of the devices that join"),
             (std::vector<std::string>, scopes, "Scopes of the devices that join; empty: by role"),
             (Time, expires, "When it expires"), (std::uint64_t, uses, "Number of devices that may still join with it"),
             (std::vector<std::string>, devices, "Ids of the devices that came by it"))

WITAN_STRUCT(Invitations, (std::vector<InvitationRow>, invitations, "Open invitations, the oldest first"))

WITAN_STRUCT(UninviteRequest, (std::string, invitation, "Id of the invitation; `all`: every open one", 1))

WITAN_STRUCT(Uninvited, (std::uint64_t, ended, "Number of invitations that ended"))

WITAN_STRUCT(DeviceRequest, (std::string, device, "Id or name of the device", 1))

WITAN_STRUCT(ApproveRequest, (std::string, device, "Id or name of the pending device", 1),
             (std::vector<std::string>, roles, "Roles of the device"),
             (Omittable<std::vector<std::string>>, scopes, "Scopes of the device; default: all"))

WITAN_STRUCT(RevokeRequest, (std::string, device, "Id or name of the member", 1),
             (Omittable<std::string>, reason, "Reason, for the roster"))

WITAN_STRUCT(RolesRequest, (std::string, device, "Id or name of the member", 1),
             (std::vector<std::string>, roles, "All roles of the member from now on; []: none"))

WITAN_STRUCT(SiteRequest, (std::string, device, "Id or name of the member", 1),
             (std::string, site, "Where it stands: devices of one site may fail together; empty: not said"))

WITAN_STRUCT(CopiesRequest, (std::string, domain, "Domain of the partitions", 1),
             (std::uint64_t, copies,
              "Copies of each partition, 2 or more; 0: each device with the role ledger has one"))

WITAN_STRUCT(RetentionRequest, (std::string, domain, "Domain of the partitions", 1),
             (Omittable<std::uint64_t>, entries, "Each copy keeps the newest so many entries; default: by days alone"),
             (Omittable<std::uint64_t>, days,
              "Each copy keeps the entries of so many days, at most 36500; default: by their number alone. Without "
              "both, each keeps every entry"),
             (Omittable<std::uint64_t>, whole,
              "So many copies of each partition keep every entry, 2 or more; default: 2"))

WITAN_STRUCT(RosterChanged, (std::uint64_t, version, "Version of the new roster"),
             (std::vector<std::string>, warnings, "Roles that no domain has, and the like"))

WITAN_STRUCT(Approved, (std::uint64_t, version, "Version of the new roster"),
             (std::vector<std::string>, warnings, "Roles that no domain has, and the like"),
             (std::string, device, "Id of the new member"),
             (Omittable<std::string>, fingerprint, "Fingerprint of the member's key"))

WITAN_STRUCT(Denied, (std::string, denied, "Id or name as given"), (std::string, device, "Id of the device"),
             (Omittable<std::string>, fingerprint, "Fingerprint of the device's key"))

WITAN_STRUCT(KeyRotated, (std::string, device, "Id of this device"),
             (bool, pending, "Whether the new key waits for the roster to contain it"),
             (Omittable<std::string>, fingerprint, "Fingerprint of the key that waits"))

WITAN_STRUCT(PeerRow, (std::string, device, "Id of the peer"), (std::string, name, "Name of the peer"),
             (std::string, address, "Address of the link"), (bool, connected, "Whether the link is up"),
             (bool, cut, "Whether an operator keeps the link down"),
             (std::uint64_t, framesIn, "Frames received over the present link"),
             (std::uint64_t, bytesIn, "Bytes received over the present link"),
             (std::uint64_t, bytesOut, "Bytes sent over the present link"),
             (std::uint64_t, queuedBytes, "Bytes that wait to be sent"),
             (Omittable<std::string>, via, "Id of the device that relays the link; absent: a direct link"),
             (Omittable<std::int64_t>, seconds, "Seconds since the link began or ended"),
             (Omittable<std::string>, lastEnd, "Why the last link ended"),
             (Omittable<std::string>, session, "State of the sync session"),
             (Omittable<bool>, inSync, "Whether both sides have the same data"))

WITAN_STRUCT(Peers, (std::vector<PeerRow>, peers, "Other members and their links"))

WITAN_STRUCT(PeerCut, (std::string, cut, "Id of the peer"))

WITAN_STRUCT(PeerHealed, (std::string, healed, "Id of the peer"))

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
                              d.device == daemon.replica().device(), daemon.peers().connected(d.device), d.site});
  return answer;
}

Result<PendingDevices> pendingDevices(const ApiContext& context, const Nothing&) {
  PendingDevices answer;
  for (const PendingDevice& d : context.daemon.enrolment().pending())
    answer.pending.push_back({d.device, d.key, d.name, d.addresses, d.from, d.since, fingerprintOfKey(d.key)});
  for (const AskedKey& asked : context.daemon.enrolment().askedKeys())
    if (const RosterDevice* member = context.daemon.roster().current().member(asked.device))
      answer.keys.push_back({asked.device, member->name, asked.key, asked.since, *fingerprintOfKey(asked.key)});
  return answer;
}

Result<KeyAccepted> acceptKey(const ApiContext& context, const AcceptKeyRequest& request) {
  const bool accepts = !request.deny.value_or(false);
  EnrolmentService& enrolment = context.daemon.enrolment();
  WITAN_TRY(asked, accepts ? enrolment.acceptKey(request.device) : enrolment.denyKey(request.device));
  const std::string fingerprint = *fingerprintOfKey(asked.key);
  if (!accepts) return KeyAccepted{context.daemon.roster().current().version, asked.device, false, fingerprint};
  context.daemon.log().warn("enrolment", "a member has another key",
                            {{"id", asked.device}, {"fingerprint", fingerprint}});
  return KeyAccepted{published(context).version, asked.device, true, fingerprint};
}

Result<Invitation> invite(const ApiContext& context, const InviteRequest& request) {
  Daemon& daemon = context.daemon;
  InviteOptions options;
  std::vector<std::string> addresses = request.addresses.value_or(std::vector<std::string>());
  for (const std::string& address : addresses) WITAN_DO(checkAddress(address));
  options.roles = request.roles;
  options.scopes = request.scopes.value_or(std::vector<std::string>());
  const std::uint64_t seconds = std::min<std::uint64_t>(request.ttlSeconds.value_or(900), 1u << 30);
  options.ttlMicros = static_cast<std::int64_t>(seconds) * 1'000'000;
  options.uses = request.uses.value_or(1);
  if (addresses.empty()) addresses = dialable(daemon.addresses());
  SystemRandom random;
  WITAN_TRY(token, daemon.enrolment().invite(options, addresses, daemon.key().publicKey(), daemon.now().wall, random));
  const Invite& made = daemon.enrolment().invites().back();
  daemon.log().info("enrolment", "invited", {{"invitation", made.id}, {"expires", formatTime(made.expires)}});
  return Invitation{token, made.expires, made.usesLeft, warningsOf(daemon, options.roles), made.id};
}

Result<Invitations> invitations(const ApiContext& context, const Nothing&) {
  WITAN_TRY(open, context.daemon.enrolment().openInvites(context.daemon.now().wall));
  Invitations answer;
  for (const Invite& one : open)
    answer.invitations.push_back(
        {one.id, one.roles, one.scopes, one.expires, one.usesLeft, one.devices.value_or(std::vector<std::string>())});
  return answer;
}

Result<Uninvited> uninvite(const ApiContext& context, const UninviteRequest& request) {
  WITAN_TRY(ended, context.daemon.enrolment().withdrawInvites(request.invitation, context.daemon.now().wall));
  context.daemon.log().info("enrolment", "invitations ended", {{"ended", std::to_string(ended)}});
  return Uninvited{ended};
}

Result<Approved> approve(const ApiContext& context, const ApproveRequest& request) {
  const std::vector<std::string> none, &roles = request.roles;
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
  RosterChanged changed = published(context);
  if (const auto orphans = orphanedPartitions(context.daemon); !orphans.empty())
    changed.warnings.push_back(concat("no member decides for ", joined(orphans),
                                      " any more; on the device with the longest copy: witan partition seize ",
                                      orphans.size() == 1 ? orphans.front() : "--all-lost",
                                      " --reason 'owner revoked'"));
  if (const auto open = context.daemon.enrolment().openInvites(context.daemon.now().wall); open.ok() && !open->empty())
    changed.warnings.push_back(concat(open->size(), open->size() == 1 ? " invitation is" : " invitations are",
                                      " open, by which devices may join: see witan device invitations"));
  return changed;
}

Result<RosterChanged> setRoles(const ApiContext& context, const RolesRequest& request) {
  WITAN_DO(context.daemon.enrolment().setRoles(request.device, request.roles));
  return published(context, request.roles);
}

Result<RosterChanged> setSite(const ApiContext& context, const SiteRequest& request) {
  if (!request.site.empty()) WITAN_DO(checkSite(request.site));
  WITAN_DO(context.daemon.enrolment().change([&](Roster& roster) -> Status {
    WITAN_TRY(known, roster.lookUp(request.device));
    RosterDevice& device = *roster.find(known->device);
    device.site.reset();
    if (!request.site.empty()) device.site = request.site;
    return okStatus();
  }));
  return published(context);
}

// Where copies are as few as are to keep every entry, none prunes.
void warnIfNonePrunes(const Roster& roster, const std::string& domain, RosterChanged& changed) {
  const Placement placement = placementOf(roster);
  const std::string partition = partitionId(domain, 0);
  if (placement.retention(partition) == nullptr) return;
  const auto keep = [](const RosterDevice& one) { return one.active() && one.keepsLedgers(); };
  const std::size_t copies = placement.partial(partition)
                                 ? placement.keepers(partition).size()
                                 : static_cast<std::size_t>(std::ranges::count_if(roster.devices, keep));
  if (copies > placement.whole(partition).size()) return;
  changed.warnings.push_back(concat("no more than ", copies, copies == 1 ? " device keeps" : " devices keep",
                                    " each partition of ", domain, ": each copy has every entry until there are more"));
}

Result<RosterChanged> setDomainCopies(const ApiContext& context, const CopiesRequest& request) {
  Daemon& daemon = context.daemon;
  WITAN_TRY(module, moduleNamed(daemon, request.domain));
  (void)module;
  if (request.copies > 0 && daemon.config().engine == "etcd")
    return conflict("with etcd each device that keeps ledgers keeps all", "the tail of each log is in etcd");
  WITAN_DO(
      daemon.enrolment().change([&](Roster& roster) { return setCopies(roster, request.domain, request.copies); }));
  RosterChanged changed = published(context);
  if (request.copies > 0 && !placementOf(daemon.roster().current()).partial(partitionId(request.domain, 0)))
    changed.warnings.push_back(
        concat("no more than ", request.copies, " devices have the role ledger: each keeps all of ", request.domain));
  warnIfNonePrunes(daemon.roster().current(), request.domain, changed);
  return changed;
}

Result<RosterChanged> setDomainRetention(const ApiContext& context, const RetentionRequest& request) {
  Daemon& daemon = context.daemon;
  WITAN_TRY(module, moduleNamed(daemon, request.domain));
  (void)module;
  const DomainRetention wanted{request.domain, request.whole.value_or(kLeastCopies), request.entries.value_or(0),
                               request.days.value_or(0)};
  if ((wanted.entries > 0 || wanted.days > 0) && daemon.config().engine == "etcd")
    return conflict("with etcd each copy keeps every entry", "the tail of each log is in etcd");
  WITAN_DO(daemon.enrolment().change([&](Roster& roster) { return setRetention(roster, wanted); }));
  RosterChanged changed = published(context);
  warnIfNonePrunes(daemon.roster().current(), request.domain, changed);
  return changed;
}

Result<KeyRotated> rotateKey(const ApiContext& context, const Nothing&) {
  WITAN_DO(context.daemon.rotateKey());
  context.daemon.scheduleTick();
  KeyRotated done{context.daemon.replica().device(), hasKey(context.daemon.path(), KeyName::nextDevice)};
  if (!done.pending) return done;
  WITAN_TRY(next, readKey(context.daemon.path(), KeyName::nextDevice));
  done.fingerprint = fingerprintOf(next.publicKey());
  return done;
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

}  // namespace

std::vector<ControlRoute> clusterRoutes() {
  using enum ControlRole;
  return {
      get("/v1/devices", "listDevices", "devices", observer, "The roster: every device of the cluster", devices),
      get("/v1/devices/pending", "listPendingDevices", "devices", observer, "Devices and keys that wait to be approved",
          pendingDevices),
      post("/v1/devices/invite", "inviteDevice", "devices", admin, "Makes a token with which a device may join", invite,
           {409, 500, 503}),
      get("/v1/devices/invitations", "listInvitations", "devices", observer,
          "Open invitations, where the admin's key is", invitations, {409}),
      post("/v1/devices/uninvite", "endInvitation", "devices", admin, "Ends an open invitation, or all", uninvite,
           {404, 409, 500}),
      post("/v1/devices/approve", "approveDevice", "devices", admin, "Makes a pending device a member", approve,
           {404, 409, 500}),
      post("/v1/devices/deny", "denyDevice", "devices", admin, "Rejects a pending device for good", deny,
           {404, 409, 500}),
      post("/v1/devices/revoke", "revokeDevice", "devices", admin, "Revokes a member everywhere", revoke,
           {404, 409, 500}),
      post("/v1/devices/roles", "setDeviceRoles", "devices", admin, "Replaces a member's roles", setRoles,
           {404, 409, 500}),
      post("/v1/devices/site", "setDeviceSite", "devices", admin, "Says where a member stands", setSite,
           {404, 409, 500}),
      post("/v1/partitions/copies", "setCopies", "partitions", admin,
           "Says how many copies of each partition of a domain there are", setDomainCopies, {404, 409, 500}),
      post("/v1/partitions/retention", "setRetention", "partitions", admin,
           "Says which entries copies of a domain's partitions keep, and how many copies keep all", setDomainRetention,
           {404, 409, 500}),
      post("/v1/devices/accept-key", "acceptDeviceKey", "devices", admin,
           "Gives a member the key for which it asked, or denies it", acceptKey, {404, 409, 500}),
      post("/v1/devices/rotate-key", "rotateDeviceKey", "devices", admin,
           "Gives this device a new key, once the admin accepts it; its id stays", rotateKey, {409, 500, 503}),
      get("/v1/peers", "listPeers", "peers", observer, "Links to the other members", peers),
      post("/v1/peers/cut", "cutPeer", "peers", operator_, "Drops the link to a peer and keeps it down, for drills",
           cutPeer, {404, 409}),
      post("/v1/peers/heal", "healPeer", "peers", operator_, "Allows the link to a peer again", healPeer, {404, 409})};
}

}  // namespace witan::node::api
