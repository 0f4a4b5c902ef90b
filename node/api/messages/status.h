// Requests and answers of the control API about the node itself. Values.
#pragma once

#include "base/json_schema.h"

namespace witan::node::api {

struct ReadyRequest {
  Omittable<std::string> verbose;
  WITAN_MEMBERS(ReadyRequest, verbose)
  static constexpr std::array notes{MemberNote{"verbose", "Any value: each check with its state"}};
};

struct NodeCheck {
  std::string name;
  bool ok = false;
  std::string what;
  std::optional<std::string> todo;
  WITAN_MEMBERS(NodeCheck, name, ok, what, todo)
  static constexpr std::array notes{
      MemberNote{"name", "Name of the check"}, MemberNote{"ok", "False: this node does not serve because of it"},
      MemberNote{"what", "State, in words"}, MemberNote{"todo", "What an operator should do; null: nothing"}};
};

struct AgentFailure {
  std::string agent;
  std::string cause;
  Time at;
  WITAN_MEMBERS(AgentFailure, agent, cause, at)
  static constexpr std::array notes{MemberNote{"agent", "Id of the agent"}, MemberNote{"cause", "Why its run failed"},
                                    MemberNote{"at", "When its run failed"}};
};

struct AgentRuns {
  std::uint64_t started = 0, completed = 0, failed = 0;
  std::optional<AgentFailure> lastFailure;
  WITAN_MEMBERS(AgentRuns, started, completed, failed, lastFailure)
  static constexpr std::array notes{
      MemberNote{"started", "Runs that started or resumed"}, MemberNote{"completed", "Runs that completed"},
      MemberNote{"failed", "Runs that failed"}, MemberNote{"lastFailure", "The last failed run; null: none"}};
};

struct PeerCount {
  std::uint64_t known = 0, connected = 0;
  WITAN_MEMBERS(PeerCount, known, connected)
  static constexpr std::array notes{MemberNote{"known", "Other active members"},
                                    MemberNote{"connected", "Members with a link to this device"}};
};

struct PartitionCount {
  std::uint64_t kept = 0, owned = 0;
  WITAN_MEMBERS(PartitionCount, kept, owned)
  static constexpr std::array notes{MemberNote{"kept", "Partitions with a copy on this device"},
                                    MemberNote{"owned", "Partitions for which this device decides"}};
};

struct NodeStatus {
  std::string version, device, name, fingerprint, cluster;
  std::uint64_t rosterVersion = 0;
  std::string writer;
  std::vector<std::string> roles;
  bool admin = false;
  std::vector<std::string> addresses;
  std::int64_t uptimeSeconds = 0;
  PeerCount peers;
  PartitionCount partitions;
  std::uint64_t entries = 0, entities = 0, waitingForCounselor = 0, outbox = 0;
  bool agents = false;
  std::optional<AgentRuns> agentRuns;
  bool quiet = false;
  std::uint64_t incidents = 0;
  std::vector<NodeCheck> checks;
  WITAN_MEMBERS(NodeStatus, version, device, name, fingerprint, cluster, rosterVersion, writer, roles, admin, addresses,
                uptimeSeconds, peers, partitions, entries, entities, waitingForCounselor, outbox, agents, agentRuns,
                quiet, incidents, checks)
  static constexpr std::array notes{
      MemberNote{"version", "Version of the running program"},
      MemberNote{"device", "Id of this device"},
      MemberNote{"name", "Name of this device"},
      MemberNote{"fingerprint", "Fingerprint of this device's key"},
      MemberNote{"cluster", "Id of the cluster"},
      MemberNote{"rosterVersion", "Version of the newest roster"},
      MemberNote{"writer", "Id under which this device writes replicated data"},
      MemberNote{"roles", "Roles of this device"},
      MemberNote{"admin", "Whether this device holds the cluster's admin key"},
      MemberNote{"addresses", "Addresses on which this device listens for peers"},
      MemberNote{"uptimeSeconds", "Seconds since the start"},
      MemberNote{"peers", "Other members"},
      MemberNote{"partitions", "Partitions of all domains"},
      MemberNote{"entries", "Ledger entries on this device"},
      MemberNote{"entities", "Entities on this device"},
      MemberNote{"waitingForCounselor", "Proposals that wait for a counselor"},
      MemberNote{"outbox", "Requests of this device without an answer"},
      MemberNote{"agents", "Whether agents work on this device"},
      MemberNote{"agentRuns", "Runs of agents since the start; null: no agents work here"},
      MemberNote{"quiet", "Whether no work is due"},
      MemberNote{"incidents", "Number of incidents"},
      MemberNote{"checks", "Checks of readiness"}};
};

struct IncidentRow {
  std::string kind, peer, what;
  WITAN_MEMBERS(IncidentRow, kind, peer, what)
  static constexpr std::array notes{MemberNote{"kind", "Kind of the incident"},
                                    MemberNote{"peer", "Id of the device concerned; empty: none"},
                                    MemberNote{"what", "What happened"}};
};

struct Incidents {
  std::vector<IncidentRow> incidents;
  WITAN_MEMBERS(Incidents, incidents)
  static constexpr std::array notes{MemberNote{"incidents", "Incidents on record, oldest first"}};
};

WITAN_ENUM(LogLevelName, debug, info, warn, error)

struct LogSetting {
  LogLevelName level = LogLevelName::info;
  WITAN_MEMBERS(LogSetting, level)
  static constexpr std::array notes{MemberNote{"level", "Least severe level that is logged"}};
};

}  // namespace witan::node::api
