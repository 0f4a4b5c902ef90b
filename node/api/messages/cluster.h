// Requests and answers of the control API about members, pending devices and links. Values.
#pragma once

#include "base/json_schema.h"
#include "node/cluster/roster.h"

namespace witan::node::api {

struct DeviceRow {
  std::string device, name;
  std::vector<std::string> keys;
  DeviceState state = DeviceState::active;
  std::vector<std::string> roles, scopes, addresses;
  Time since;
  std::string reason;
  bool this_ = false, connected = false;
  WITAN_MEMBERS(DeviceRow, device, name, keys, state, roles, scopes, addresses, since, reason, this_, connected)
  static constexpr std::array notes{MemberNote{"device", "Id of the device"},
                                    MemberNote{"name", "Name of the device"},
                                    MemberNote{"keys", "Public keys in hex; the last one is in force"},
                                    MemberNote{"state", "Whether the device is a member or was revoked"},
                                    MemberNote{"roles", "Roles of the device"},
                                    MemberNote{"scopes", "Scopes of replicated data; empty: by role"},
                                    MemberNote{"addresses", "Addresses at which peers dial the device"},
                                    MemberNote{"since", "When the device was admitted"},
                                    MemberNote{"reason", "Reason of a revocation"},
                                    MemberNote{"this", "Whether it is the device that answers"},
                                    MemberNote{"connected", "Whether it has a link to the device that answers"}};
};

struct Devices {
  std::string cluster;
  std::uint64_t version = 0;
  bool admin = false;
  std::uint64_t pending = 0;
  std::vector<DeviceRow> devices;
  WITAN_MEMBERS(Devices, cluster, version, admin, pending, devices)
  static constexpr std::array notes{
      MemberNote{"cluster", "Id of the cluster"}, MemberNote{"version", "Version of the roster"},
      MemberNote{"admin", "Whether the device that answers holds the admin key"},
      MemberNote{"pending", "Number of devices that wait to be approved"}, MemberNote{"devices", "Devices, by id"}};
};

struct PendingRow {
  std::string device, key, name;
  std::vector<std::string> addresses;
  std::string from;
  Time since;
  Omittable<std::string> fingerprint;
  WITAN_MEMBERS(PendingRow, device, key, name, addresses, from, since, fingerprint)
  static constexpr std::array notes{MemberNote{"device", "Id of the device"},
                                    MemberNote{"key", "Public key in hex"},
                                    MemberNote{"name", "Name that the device gives itself"},
                                    MemberNote{"addresses", "Addresses that the device claims"},
                                    MemberNote{"from", "Address from which the request came"},
                                    MemberNote{"since", "When the request came"},
                                    MemberNote{"fingerprint", "Fingerprint of the key"}};
};

struct PendingDevices {
  std::vector<PendingRow> pending;
  WITAN_MEMBERS(PendingDevices, pending)
  static constexpr std::array notes{MemberNote{"pending", "Devices that wait to be approved"}};
};

struct InviteRequest {
  Omittable<std::vector<std::string>> roles, scopes;
  Omittable<std::uint64_t> ttlSeconds, uses;
  Omittable<std::vector<std::string>> addresses;
  WITAN_MEMBERS(InviteRequest, roles, scopes, ttlSeconds, uses, addresses)
  static constexpr std::array notes{
      MemberNote{"roles", "Roles of the devices that join; default: ledger and *"},
      MemberNote{"scopes", "Scopes of the devices that join; default: all"},
      MemberNote{"ttlSeconds", "Seconds until the token expires; default: 900"},
      MemberNote{"uses", "Number of devices that may join with the token; default: 1"},
      MemberNote{"addresses", "Addresses at which a device finds this one; default: where this one listens"}};
};

struct Invitation {
  std::string token;
  Time expires;
  std::uint64_t uses = 0;
  std::vector<std::string> warnings;
  WITAN_MEMBERS(Invitation, token, expires, uses, warnings)
  static constexpr std::array notes{MemberNote{"token", "Token for `witan join`"},
                                    MemberNote{"expires", "When the token expires"},
                                    MemberNote{"uses", "Number of devices that may join with it"},
                                    MemberNote{"warnings", "Roles that no domain has, and the like"}};
};

struct DeviceRequest {
  std::string device;
  WITAN_MEMBERS(DeviceRequest, device)
  static constexpr std::array notes{MemberNote{"device", "Id or name of the device", 1}};
};

struct ApproveRequest {
  std::string device;
  Omittable<std::vector<std::string>> roles, scopes;
  WITAN_MEMBERS(ApproveRequest, device, roles, scopes)
  static constexpr std::array notes{MemberNote{"device", "Id or name of the pending device", 1},
                                    MemberNote{"roles", "Roles of the device; default: ledger and *"},
                                    MemberNote{"scopes", "Scopes of the device; default: all"}};
};

struct RevokeRequest {
  std::string device;
  Omittable<std::string> reason;
  WITAN_MEMBERS(RevokeRequest, device, reason)
  static constexpr std::array notes{MemberNote{"device", "Id or name of the member", 1},
                                    MemberNote{"reason", "Reason, for the roster"}};
};

struct RolesRequest {
  std::string device;
  std::vector<std::string> roles;
  WITAN_MEMBERS(RolesRequest, device, roles)
  static constexpr std::array notes{MemberNote{"device", "Id or name of the member", 1},
                                    MemberNote{"roles", "All roles of the member from now on; []: none"}};
};

struct RosterChanged {
  std::uint64_t version = 0;
  std::vector<std::string> warnings;
  WITAN_MEMBERS(RosterChanged, version, warnings)
  static constexpr std::array notes{MemberNote{"version", "Version of the new roster"},
                                    MemberNote{"warnings", "Roles that no domain has, and the like"}};
};

struct Approved {
  std::uint64_t version = 0;
  std::vector<std::string> warnings;
  std::string device;
  Omittable<std::string> fingerprint;
  WITAN_MEMBERS(Approved, version, warnings, device, fingerprint)
  static constexpr std::array notes{MemberNote{"version", "Version of the new roster"},
                                    MemberNote{"warnings", "Roles that no domain has, and the like"},
                                    MemberNote{"device", "Id of the new member"},
                                    MemberNote{"fingerprint", "Fingerprint of the member's key"}};
};

struct Denied {
  std::string denied, device;
  Omittable<std::string> fingerprint;
  WITAN_MEMBERS(Denied, denied, device, fingerprint)
  static constexpr std::array notes{MemberNote{"denied", "Id or name as given"},
                                    MemberNote{"device", "Id of the device"},
                                    MemberNote{"fingerprint", "Fingerprint of the device's key"}};
};

struct KeyRotated {
  std::string device;
  bool pending = false;
  WITAN_MEMBERS(KeyRotated, device, pending)
  static constexpr std::array notes{MemberNote{"device", "Id of this device"},
                                    MemberNote{"pending", "Whether the new key waits for the roster to contain it"}};
};

struct PeerRow {
  std::string device, name, address;
  bool connected = false, cut = false;
  std::uint64_t framesIn = 0, bytesIn = 0, bytesOut = 0, queuedBytes = 0;
  Omittable<std::string> via;
  Omittable<std::int64_t> seconds;
  Omittable<std::string> lastEnd, session;
  Omittable<bool> inSync;
  WITAN_MEMBERS(PeerRow, device, name, address, connected, cut, framesIn, bytesIn, bytesOut, queuedBytes, via, seconds,
                lastEnd, session, inSync)
  static constexpr std::array notes{MemberNote{"device", "Id of the peer"},
                                    MemberNote{"name", "Name of the peer"},
                                    MemberNote{"address", "Address of the link"},
                                    MemberNote{"connected", "Whether the link is up"},
                                    MemberNote{"cut", "Whether an operator keeps the link down"},
                                    MemberNote{"framesIn", "Frames received over the present link"},
                                    MemberNote{"bytesIn", "Bytes received over the present link"},
                                    MemberNote{"bytesOut", "Bytes sent over the present link"},
                                    MemberNote{"queuedBytes", "Bytes that wait to be sent"},
                                    MemberNote{"via", "Id of the device that relays the link; absent: a direct link"},
                                    MemberNote{"seconds", "Seconds since the link began or ended"},
                                    MemberNote{"lastEnd", "Why the last link ended"},
                                    MemberNote{"session", "State of the sync session"},
                                    MemberNote{"inSync", "Whether both sides have the same data"}};
};

struct Peers {
  std::vector<PeerRow> peers;
  WITAN_MEMBERS(Peers, peers)
  static constexpr std::array notes{MemberNote{"peers", "Other members and their links"}};
};

struct PeerCut {
  std::string cut;
  WITAN_MEMBERS(PeerCut, cut)
  static constexpr std::array notes{MemberNote{"cut", "Id of the peer"}};
};

struct PeerHealed {
  std::string healed;
  WITAN_MEMBERS(PeerHealed, healed)
  static constexpr std::array notes{MemberNote{"healed", "Id of the peer"}};
};

}  // namespace witan::node::api
