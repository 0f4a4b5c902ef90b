#include "cli/sync/sync_status.h"

#include <cstdio>

#include "base/seams.h"

namespace witan::node {

using namespace replication;

namespace {

std::int64_t nowMs() { return SystemClock().now().micros / 1000; }

struct Peer {
  std::string device;
  VectorClock has;
  std::uint64_t lacks = 0;  // commits of this space
};

struct SpaceStatus {
  std::string id;
  VectorClock vector;
  Digest digest;
  std::size_t records = 0;
  bool settled = false, restored = false;
  std::vector<Peer> peers;
};

struct Overview {
  std::vector<SpaceStatus> spaces;
  std::vector<Holdup> holdups;
  std::vector<Incident> incidents;
  std::map<std::string, std::string> quarantines;
  Membership members;
};

std::uint64_t commitsBeyond(const VectorClock& all, const VectorClock& some) {
  std::uint64_t lacks = 0;
  for (const auto& [writer, counter] : all.entries()) lacks += counter - std::min(counter, some.at(writer));
  return lacks;
}

Result<Overview> statusOf(LocalReplica& replica) {
  Overview status;
  WITAN_TRY(members, replica.membership());
  status.members = std::move(members);
  AckTable acks = replica.acks();
  for (const std::string& id : replica.spaceIds()) {
    Space& space = *replica.findSpace(id);
    SpaceStatus one{id, space.clock(), space.digest(), space.table().records(), space.settled(), replica.restored(id),
                    {}};
    acks.record(id, replica.device(), one.vector, nowMs());
    if (const auto known = acks.entries().find(id); known != acks.entries().end())
      for (const auto& [device, clock] : known->second)
        if (device != replica.device()) one.peers.push_back({device, clock, commitsBeyond(one.vector, clock)});
    status.spaces.push_back(std::move(one));
  }
  status.holdups = acks.holdups(status.members.presentDevices(), nowMs());
  WITAN_TRY(incidents, replica.incidents());
  status.incidents = std::move(incidents);
  WITAN_TRY(quarantines, replica.quarantines());
  status.quarantines = std::move(quarantines);
  return status;
}

std::string spaceJson(const SpaceStatus& s) {
  std::string out =
      "{\"count\":" + std::to_string(s.digest.count) + ",\"digest\":\"" + digestHex(s.digest) + "\",\"peers\":[";
  for (const Peer& peer : s.peers)
    out += (out.back() == '[' ? "{\"device\":" : ",{\"device\":") + inJson(peer.device) +
           ",\"lacks\":" + std::to_string(peer.lacks) + ",\"vector\":" + clockJson(peer.has) + "}";
  return out + "],\"records\":" + std::to_string(s.records) + ",\"restored\":" + (s.restored ? "true" : "false") +
         ",\"settled\":" + (s.settled ? "true" : "false") + ",\"space\":" + inJson(s.id) +
         ",\"vector\":" + clockJson(s.vector) + "}";
}

std::string statusJson(const LocalReplica& replica, const Overview& status) {
  std::string out = "{\"cluster\":" + inJson(replica.cluster()) + ",\"device\":" + inJson(replica.device()) +
                    ",\"epoch\":" + std::to_string(status.members.epoch) + ",\"holdups\":[";
  for (const Holdup& holdup : status.holdups)
    out += (out.back() == '[' ? "{\"alarm\":" : ",{\"alarm\":") + std::string(holdup.alarm ? "true" : "false") +
           ",\"device\":" + inJson(holdup.device) +
           ",\"silentMs\":" + (holdup.silentMs ? std::to_string(*holdup.silentMs) : "null") +
           ",\"spaces\":" + std::to_string(holdup.spaces.size()) + "}";
  out += "],\"incidents\":[";
  for (const Incident& i : status.incidents)
    out += (out.back() == '[' ? "{\"kind\":" : ",{\"kind\":") + inJson(i.kind) + ",\"peer\":" + inJson(i.peer) +
           ",\"what\":" + inJson(i.what) + "}";
  out += "],\"quarantined\":{";
  for (const auto& [device, why] : status.quarantines)
    out += (out.back() == '{' ? "" : ",") + inJson(device) + ":" + inJson(why);
  out += "},\"spaces\":[";
  for (const SpaceStatus& space : status.spaces) out += (out.back() == '[' ? "" : ",") + spaceJson(space);
  return out + "],\"writer\":" + inJson(replica.writer()) + "}\n";
}

std::string spaceWords(const SpaceStatus& s) {
  std::string out = s.id + "\n  vector   " + clockWords(s.vector) + "\n  digest   " + digestHex(s.digest) + "  of " +
                    std::to_string(s.digest.count) + " versions; " + std::to_string(s.records) + " records held\n";
  for (const Peer& peer : s.peers)
    out +=
        "  " + peer.device + "  " +
        (peer.lacks == 0 ? "has all of it" : "lacks " + std::to_string(peer.lacks) + " commits, as far as known here") +
        "\n";
  if (!s.settled) out += "  half of a peer's round has arrived: digests compare after the next sync\n";
  if (s.restored) out += "  RESTORED: this copy may be old; what the others outlived leaves with the next sync\n";
  return out;
}

std::string statusWords(const LocalReplica& replica, const Overview& status) {
  std::string out =
      "device " + replica.device() + " of cluster " + replica.cluster() + ", writer " + replica.writer() + "\n";
  for (const SpaceStatus& space : status.spaces) out += spaceWords(space);
  for (const Holdup& holdup : status.holdups) out += (holdup.alarm ? "ALARM: " : "") + holdup.text + "\n";
  for (const auto& [device, why] : status.quarantines)
    out += "QUARANTINED " + device + ": " + why + "\n  lift it with: witan device recover " + device + "\n";
  for (const Incident& i : status.incidents)
    out += "incident " + i.kind + (i.peer.empty() ? "" : " (" + i.peer + ")") + ": " + i.what + "\n";
  return out;
}

}  // namespace

std::string digestHex(const Digest& digest) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(digest.sum >> 64),
                static_cast<unsigned long long>(digest.sum));
  return text;
}

Result<Printed> syncStatus(ReplicaDir& dir, const ReplicaArguments& arguments) {
  WITAN_TRY(status, statusOf(dir.replica()));
  return Printed{arguments.json ? statusJson(dir.replica(), status) : statusWords(dir.replica(), status)};
}

}  // namespace witan::node
