// Options: everything that a simulated run depends on besides its events. Drawn from the seed within the ranges of a
// scenario (sim/scenario.h), printed in full with every failure, and kept with the plan (sim/plan.h).
//
// Rates are expected events per simulated hour of the whole cluster; lengths are means of exponential draws unless a
// name says otherwise. Value types. No member is required where options are read: a plan that was kept before a member
// came into being still is one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"

namespace witan::sim {

// Where partitions get their owners from (kernel rooms: replica/).
WITAN_ENUM(Engine, embedded, etcd)
// What lies under the devices' stores: the twin in memory, or RocksDB over a file system in memory.
WITAN_ENUM(StoreKind, memory, rocksdb)

inline constexpr std::int64_t kMostSigningDevices = 24;  // where one lies

struct ClusterOptions {
  std::int64_t devices = 5;
  std::int64_t ledgerReplicas = 3;  // the first so many devices keep a copy of every ledger; the others route to them
  std::int64_t agents = 10;         // per device: states that are written, by nobody in particular
  std::int64_t hosts = 0;           // the first so many devices let agents work (sim/sim_agents.h)
  std::int64_t retentionDays = 0;   // what runs left that ended longer ago goes; 0: everything stays
  std::int64_t entities = 6;        // per domain
  std::int64_t partitions = 2;      // per domain
  std::int64_t pendingTtlSeconds = 0;  // of a proposal that waits for a counselor; 0: for ever
  std::int64_t scopes = 2;             // private scopes beside "main"; a device has about half of them
  std::string domains = "udt budget";
  std::int64_t marketLiar = 0;    // who lies in the market: 0 nobody, 1 the buyer, 2 the seller, 3 the holder
  std::int64_t liar = 0;          // which device lies: 0 none; where one does, all sign
  std::int64_t copies = 0;        // 1: the last device keeps encrypted copies only (copierOf)
  std::int64_t ledgerCopies = 0;  // of each partition, among the ledger replicas; 0: each keeps all (Placement)
  std::int64_t keepEntries = 0;   // of a ledger, the newest so many, in all but two copies of it; 0: every entry
  std::int64_t sites = 0;         // where these stand, one after the other; 0: each at one of its own
  Engine engine = Engine::embedded;
  StoreKind store = StoreKind::memory;
  // Limits of the product that small ones exercise: bytes of a segment of sync, batches under way to a follower.
  std::int64_t segmentBytes = 256 * 1024;
  std::int64_t followWindow = 32;
  std::int64_t etcdRequestBytes = 0;  // the most that etcd takes in one transaction; 0: whatever comes
  static constexpr std::size_t required = 0;
  WITAN_MEMBERS(ClusterOptions, devices, ledgerReplicas, agents, hosts, retentionDays, entities, partitions,
                pendingTtlSeconds, scopes, domains, marketLiar, liar, copies, ledgerCopies, keepEntries, sites, engine,
                store, segmentBytes, followWindow, etcdRequestBytes)
};

struct TimeOptions {
  std::int64_t seconds = 600;         // the safety phase: workload and faults
  std::int64_t settleSeconds = 3600;  // the liveness phase: within so long everything pending must be done
  std::int64_t skewMs = 0;            // of each device's wall clock, uniform within +-
  std::int64_t driftPpm = 0;          // of each device's clocks, uniform within +-
  static constexpr std::size_t required = 0;
  WITAN_MEMBERS(TimeOptions, seconds, settleSeconds, skewMs, driftPpm)
};

// Between any two devices. A connection is an ordered stream that may die anywhere; what dies with it is lost.
struct NetworkOptions {
  std::int64_t delayMinMicros = 500;
  std::int64_t delayMeanMicros = 5'000;  // beyond the least
  std::int64_t bytesPerSecond = 0;       // 0: no limit
  std::int64_t lossPerMillion = 0;       // of the frames that may be lost alone (proposals, answers, log entries)
  std::int64_t duplicatePerMillion = 0;  // of the same
  std::int64_t reorderPerMillion = 0;    // of the same: delayed by up to a second
  std::int64_t resetPerMillion = 0;      // of all frames: the connection dies there
  std::int64_t reconnectMillis = 1'000;  // mean, after a connection died
  std::int64_t chords = 0;               // 0: all talk to each other; n: a ring, with chords of 2, 4, ... 2^(n-1) steps
  std::int64_t links = 0;                // 0: as chords say; n: each device keeps about so many (replica/mesh.h)
  static constexpr std::size_t required = 0;
  WITAN_MEMBERS(NetworkOptions, delayMinMicros, delayMeanMicros, bytesPerSecond, lossPerMillion, duplicatePerMillion,
                reorderPerMillion, resetPerMillion, reconnectMillis, chords, links)
};

struct DiskOptions {
  std::int64_t syncMicros = 300;  // mean; the device does nothing else meanwhile
  std::int64_t keepPercent = 50;  // chance of each un-synced batch, oldest first, to survive a crash
  bool tear = false;  // RocksDB: the last write may be torn, and files keep what they like of what is un-synced
  static constexpr std::size_t required = 0;
  WITAN_MEMBERS(DiskOptions, syncMicros, keepPercent, tear)
};

// Per simulated hour of the whole cluster.
struct WorkOptions {
  std::int64_t agentWrites = 600;
  std::int64_t journalEdits = 300;
  std::int64_t messages = 120;
  std::int64_t batches = 60;    // a commit with a notification batch
  std::int64_t summaries = 30;  // and the other record kinds: plans, wake runs, policies
  std::int64_t removals = 20;
  std::int64_t scopedWrites = 60;  // into a private scope
  std::int64_t proposals = 600;
  std::int64_t repeats = 60;        // of a proposal that was made before, under its operation id
  std::int64_t misuses = 30;        // malformed, unknown entity, wrong role, one id for two acts
  std::int64_t decisions = 120;     // of a counselor, when something is pending
  std::int64_t requests = 0;        // entries of the journal that wake agents
  std::int64_t turns = 0;           // what people say to an agent
  std::int64_t agentPauses = 0;     // of an agent, and as often woken again
  std::int64_t confirmations = 0;   // of what agents send outside, and as often taken back
  std::int64_t approvals = 0;       // answers of people to what agents ask; some are about something else
  std::int64_t policyChanges = 0;   // of the policy over payments, on one device
  std::int64_t deskEdits = 0;       // by people, of entries that agents write too
  std::int64_t clearUps = 0;        // people take away old entries, and give up what agents put aside
  std::int64_t remarks = 0;         // what people tell an agent that remembers, which works only where they do
  std::int64_t slips = 0;           // requests on which an agent writes one entry twice, and mails or pays in between
  std::int64_t contradictions = 0;  // requests on which agents write one of few entries, and so about each again
  std::int64_t marketOrders = 0;    // calls that one organisation buys from another
  std::int64_t graphSends = 0;      // where the domain "graph" is one of the cluster's: messages at its ingress
  std::int64_t graphActs = 0;       // answers, some that do not count; runs cancelled, dead letters sent again
  std::int64_t graphDeploys = 0;    // of the next version
  static constexpr std::size_t required = 0;
  WITAN_MEMBERS(WorkOptions, agentWrites, journalEdits, messages, batches, summaries, removals, scopedWrites, proposals,
                repeats, misuses, decisions, requests, turns, agentPauses, confirmations, approvals, policyChanges,
                deskEdits, clearUps, remarks, slips, contradictions, marketOrders, graphSends, graphActs, graphDeploys)
};

// Per simulated hour of the whole cluster, unless said otherwise.
struct FaultOptions {
  std::int64_t cuts = 0;          // between two devices, both directions
  std::int64_t oneWayCuts = 0;    // one direction only: a half-open connection
  std::int64_t splits = 0;        // the cluster falls into two parts
  std::int64_t isolations = 0;    // one device alone
  std::int64_t flaps = 0;         // one link up and down every few seconds
  std::int64_t clogs = 0;         // one link holds everything back, then lets it through at once
  std::int64_t cutSeconds = 60;   // mean length of all of these
  std::int64_t crashes = 0;       // power loss now
  std::int64_t writeCrashes = 0;  // power loss at one of the next write steps of a store
  std::int64_t downSeconds = 20;  // mean, before it starts again
  std::int64_t pauses = 0;        // frozen with everything it holds, then goes on (SIGSTOP, a closed lid)
  std::int64_t pauseSeconds = 30;
  std::int64_t offlines = 0;          // no network for long; per simulated day, not hour
  std::int64_t offlineHours = 0;      // mean
  std::int64_t diskLosses = 0;        // the whole disk: the device comes back empty
  std::int64_t restores = 0;          // its disk goes back to an earlier copy
  std::int64_t ledgerRestores = 0;    // its store of the ledgers does, alone; then often it is cut off for a while
  std::int64_t ioErrors = 0;          // one of the next write steps fails; the device must restart
  std::int64_t fullDisks = 0;         // every write fails for a while
  std::int64_t slowDisks = 0;         // syncs take a hundred times as long for a while
  std::int64_t bitRots = 0;           // one byte of one stored record
  std::int64_t clockJumps = 0;        // of a device's wall clock
  std::int64_t clockJumpSeconds = 0;  // mean, either way
  std::int64_t moves = 0;             // an operator hands a partition over
  std::int64_t seizures = 0;          // an operator seizes a partition whose owner is out of reach
  std::int64_t retirements = 0;
  std::int64_t comebacks = 0;       // a retired device is switched on again for a while
  std::int64_t readmissions = 0;    // an operator admits such a device again
  std::int64_t joins = 0;           // a new device
  std::int64_t hostiles = 0;        // a member that sends malformed, replayed or absurd frames for a while
  std::int64_t sagaCrashes = 0;     // power loss at one of the next writes of a saga
  std::int64_t toolOutages = 0;     // no tool outside answers a device's agents
  std::int64_t engineOutages = 0;   // etcd: a minority, now and then a majority, is gone for a while
  std::int64_t marketDeaths = 0;    // of an organisation's process, before or after one of its next writes
  std::int64_t marketSilences = 0;  // an organisation hears and does nothing for a while
  std::int64_t marketClocks = 0;    // an organisation's clock is off from now on
  std::int64_t marketLies = 0;      // of who lies (cluster.marketLiar)
  std::int64_t lies = 0;            // of the device that lies (cluster.liar)
  static constexpr std::size_t required = 0;
  WITAN_MEMBERS(FaultOptions, cuts, oneWayCuts, splits, isolations, flaps, clogs, cutSeconds, crashes, writeCrashes,
                downSeconds, pauses, pauseSeconds, offlines, offlineHours, diskLosses, restores, ledgerRestores,
                ioErrors, fullDisks, slowDisks, bitRots, clockJumps, clockJumpSeconds, moves, seizures, retirements,
                comebacks, readmissions, joins, hostiles, sagaCrashes, toolOutages, engineOutages, marketDeaths,
                marketSilences, marketClocks, marketLies, lies)
};

struct Options {
  WITAN_DECLARED(Options, (std::string, scenario), (std::uint64_t, seed), (ClusterOptions, cluster),
                 (TimeOptions, time), (NetworkOptions, network), (DiskOptions, disk), (WorkOptions, work),
                 (FaultOptions, faults))
  static constexpr std::size_t required = 0;
};

// The device that lies, which is never the only one that keeps ledgers. None: all are honest, and nothing is signed.
std::optional<std::uint32_t> liarOf(const ClusterOptions& cluster);

// Whether the devices have keys: where one lies, and where copies prune, which is signed.
bool hasKeys(const ClusterOptions& cluster);
// The device that keeps encrypted copies only. None: there is none, or that device has other work.
std::optional<std::uint32_t> copierOf(const ClusterOptions& cluster);

// The names in cluster.domains.
std::vector<std::string> domainsOf(const Options& options);

// Is every value within what the simulator can do? The error names the member. Needed only for options from outside.
Status checkOptions(const Options& options);

// ---- options by their path ("faults.crashes"), for code that treats them alike: scenarios, the shrinker, reports

// visit(table, name, value) for every option but the scenario's name and the seed, in the order of their declaration.
template <class OptionsT, class Visit>
void forEachOption(OptionsT& options, Visit&& visit) {
  forEachMember<Options>([&](auto section, auto) {
    using Section = typename decltype(section)::Type;
    if constexpr (Reflected<Section>) {
      auto& table = options.*section.pointer;
      forEachMember<Section>([&](auto member, auto) { visit(section.name, member.name, table.*member.pointer); });
    }
  });
}

// What a number may be, and where the shrinker moves it, as far as a failure allows. Numbers that are not listed: a
// rate at most 1,000,000 an hour, a length at most ten years; the shrinker leaves them alone, because the events are
// drawn.
struct OptionRange {
  std::string_view table, member;
  std::int64_t low = 0, high = 0;
  std::optional<std::int64_t> calm = std::nullopt;
};
std::span<const OptionRange> optionRanges();

// Micros of the unit in a member's name (cutSeconds, delayMinMicros); 0 if it has none.
std::int64_t unitOf(std::string_view member);

// An expected number per hour ("crashes"), not a length.
bool isFaultRate(std::string_view table, std::string_view member);

}  // namespace witan::sim
