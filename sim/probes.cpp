#include "sim/probes.h"
#include "replica/core/replica_config.h"

#include <algorithm>

#include "base/reflect.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "sim/plan.h"
#include "sim/sim_agents.h"

namespace witan::sim {

namespace {

// Counted by the cluster, its workloads, faults and checkers, the network and etcd.
constexpr const char* kCounted[] = {"admitted again",
                                    "bit rot beside the log",
                                    "bit rot found",
                                    "commit refused",
                                    "connection dies",
                                    "decision lost with its disk",
                                    "disk given up",
                                    "etcd applied without an answer",
                                    "etcd connection dies",
                                    "etcd has a leader",
                                    "etcd lets go of batches",
                                    "etcd without a leader",
                                    "fact of a ledger",
                                    "frame lost",
                                    "frame overtaken",
                                    "frame repeated",
                                    "linearizability undecided",
                                    "mail goes out",
                                    "mails not confirmed",
                                    "member of etcd gone",
                                    "not admitted again",
                                    "one operation of two plans",
                                    "operation carried out by several devices",
                                    "operation undone",
                                    "orphan not seized",
                                    "orphan seized",
                                    "pardoned",
                                    "power fails in a saga",
                                    "request refused at the door",
                                    "request repeated",
                                    "request repeated elsewhere",
                                    "run started",
                                    "run started by several devices",
                                    "run with several plans",
                                    "saga put aside",
                                    "start refused",
                                    "store failed",
                                    "violated after an unsafe commit"};

// Kinds of replication::Incident and node::Notice. Both are open: texts of whoever reports.
constexpr const char* kIncidents[] = {"badBatch",   "badEntries",     "digestAlarm", "equivocation",
                                      "fork",       "newIncarnation", "olderCopy",   "quarantine",
                                      "rolledBack", "surplus",        "wentBack"};
constexpr const char* kNotices[] = {"agent answer",   "agent failed",  "agent needsAttention",
                                    "agent question", "agent unheard", "badFrame",
                                    "fork",           "handover",      "notAllowed",
                                    "otherEngine",    "owner",         "seizure",
                                    "session ends",   "surplus",       "tooLarge",
                                    "wentBack"};

std::vector<std::string> allNames() {
  std::vector<std::string> names(std::begin(kCounted), std::end(kCounted));
  for (const char* kind : kIncidents) names.push_back("incident: " + std::string(kind));
  for (const char* kind : kNotices) names.push_back("notice: " + std::string(kind));
  for (const std::string_view says : enumNames<ToolSays>()) names.push_back("tool: " + std::string(says));
  for (const std::string_view name : enumNames<EventKind>())
    if (isFault(*parseEnum<EventKind>(name))) names.push_back("fault: " + std::string(name));
  for (const EventKind kind : {EventKind::movePartition, EventKind::seizePartition, EventKind::retire, EventKind::join})
    for (const char* how : {" done", " refused"}) names.push_back(std::string(enumName(kind)) + how);
  forEachMember<node::ReplicaCounters>([&](auto member, auto) { names.emplace_back(member.name); });
  forEachMember<node::EtcdCounters>([&](auto member, auto) { names.push_back("etcd " + std::string(member.name)); });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

const std::vector<std::string>& probeNames() {
  static const std::vector<std::string> names = allNames();
  return names;
}

}  // namespace witan::sim
