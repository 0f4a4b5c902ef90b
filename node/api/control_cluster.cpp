// Members, those who would like to be, and the links to them.
#include "base/json_codec.h"
#include "base/seams.h"
#include "node/api/control_routes.h"
#include "node/cluster/enrolment_input.h"
#include "node/daemon/role_warnings.h"

namespace witan::node::control {

namespace {

Result<std::vector<std::string>> listOf(const ControlCall& call, const char* name) {
  std::vector<std::string> items;
  if (const json::value* value = call.body.if_contains(name)) WITAN_DO(readJson(*value, items, name));
  return items;
}

json::value asJson(const auto& value) { return parseJson(toJson(value)).value(); }

json::array warningsOf(const ControlCall& call, const std::vector<std::string>& roles) {
  json::array list;
  for (std::string& warning : roleWarnings(roles, [&](std::string_view domain) {
         const kernel::DomainModule* module = call.daemon.replica().moduleOf(domain);
         return module == nullptr ? nullptr : &module->signature();
       }))
    list.emplace_back(std::move(warning));
  return list;
}

// The roster has changed here: tell everybody, then answer.
Result<json::value> published(const ControlCall& call, const Status& done, const std::vector<std::string>& roles = {}) {
  if (!done.ok()) return done.error();
  call.daemon.peers().rosterPublished();
  call.daemon.touch();
  return json::value(
      json::object{{"version", call.daemon.roster().current().version}, {"warnings", warningsOf(call, roles)}});
}

// Which of those that wait it was: a name is whatever a stranger calls itself.
void addWho(json::object& answer, const PendingDevice& device) {
  answer["device"] = device.device;
  if (auto key = publicKeyFromHex(device.key, "key"); key.ok()) answer["fingerprint"] = fingerprintOf(*key);
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
  call.put([&]() -> Result<json::value> {
    InviteOptions options;
    WITAN_TRY(roles, listOf(call, "roles"));
    WITAN_TRY(scopes, listOf(call, "scopes"));
    WITAN_TRY(addresses, listOf(call, "addresses"));
    for (const std::string& address : addresses) WITAN_DO(checkAddress(address));
    WITAN_TRY(seconds, call.number("ttlSeconds", 900));
    WITAN_TRY(uses, call.number("uses", 1));
    options.roles = roles;
    options.scopes = std::move(scopes);
    options.ttlMicros = static_cast<std::int64_t>(std::min<std::uint64_t>(seconds, 1u << 30)) * 1'000'000;
    options.uses = uses;
    if (addresses.empty()) addresses = dialable(call.daemon.addresses());
    SystemRandom random;
    WITAN_TRY(token, call.daemon.enrolment().invite(options, addresses, call.daemon.key().publicKey(),
                                                    call.daemon.now().wall, random));
    const Invite& made = call.daemon.enrolment().invites().back();
    const std::string expires = formatTime(made.expires);
    call.daemon.log().info("enrolment", "invited", {{"invitation", made.id}, {"expires", expires}});
    return json::value(json::object{
        {"token", token}, {"expires", expires}, {"uses", made.usesLeft}, {"warnings", warningsOf(call, roles)}});
  }());
}

void approve(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_TRY(roles, listOf(call, "roles"));
    WITAN_TRY(scopes, listOf(call, "scopes"));
    WITAN_TRY(one, call.daemon.enrolment().approve(call.text("device"), roles, scopes, call.daemon.now().wall));
    WITAN_TRY(answer, published(call, okStatus(), roles));
    addWho(answer.get_object(), one);
    return answer;
  }());
}

void deny(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_TRY(one, call.daemon.enrolment().deny(call.text("device")));
    json::object answer{{"denied", call.text("device")}};
    addWho(answer, one);
    return json::value(std::move(answer));
  }());
}

void revoke(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_TRY(device, deviceOf(call));  // the admin's device does not shut itself out
    return published(call, call.daemon.enrolment().revoke(device, call.text("reason")));
  }());
}

void setRoles(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_TRY(roles, listOf(call, "roles"));
    return published(call, call.daemon.enrolment().setRoles(call.text("device"), roles), roles);
  }());
}

void rotateKey(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_DO(call.daemon.rotateKey());
    call.daemon.touch();
    return json::value(json::object{{"device", call.daemon.replica().device()},
                                    {"pending", hasKey(call.daemon.path(), KeyName::nextDevice)}});
  }());
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
  call.put([&]() -> Result<json::value> {
    WITAN_TRY(device, deviceOf(call));
    call.daemon.peers().cut(device);
    call.daemon.log().warn("peers", "an operator cut the link", {{"id", device}});
    return json::value(json::object{{"cut", device}});
  }());
}

void healPeer(const ControlCall& call) {
  call.put([&]() -> Result<json::value> {
    WITAN_TRY(device, deviceOf(call));
    call.daemon.peers().heal(device);
    call.daemon.log().info("peers", "an operator healed the link", {{"id", device}});
    return json::value(json::object{{"healed", device}});
  }());
}

}  // namespace witan::node::control
