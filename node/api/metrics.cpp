#include "node/api/control_routes.h"

#include <cstdio>
#include <fstream>
#include <utility>

#include <unistd.h>

#include "agents/host/agent_host.h"
#include "node/data_dir/disk_space.h"
#include "replica/core/partition_host.h"
#include "replica/graph_runtime.h"

namespace witan::node {

namespace {

class Page {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = std::string("witan_") + std::string(name);
    text_ += "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " " + std::string(type) + "\n";
  }
  void sample(double value, const std::string& labels = {}) {
    char number[64];
    std::snprintf(number, sizeof number, "%.17g", value);
    text_ += name_ + (labels.empty() ? "" : "{" + labels + "}") + " " + number + "\n";
  }
  template <class Number>
  void gauge(std::string_view name, std::string_view help, Number value) {
    family(name, "gauge", help);
    sample(static_cast<double>(value));
  }
  // NAME_total, a counter.
  void total(std::string_view name, std::string_view help, std::uint64_t value) {
    family(std::string(name) + "_total", "counter", help);
    sample(static_cast<double>(value));
  }
  // Of times in seconds.
  void histogram(std::string_view name, std::string_view help, const Histogram& times) {
    family(name, "histogram", help);
    timesOf(times, "");
  }
  // One of several in a family; `labels` ends with a comma.
  void timesOf(const Histogram& times, const std::string& labels) {
    const std::string family = std::exchange(name_, name_ + "_bucket");
    for (std::size_t i = 0; i < kTimeBoundsMs.size(); ++i)
      sample(static_cast<double>(times.atMost[i]), labels + le(static_cast<double>(kTimeBoundsMs[i]) / 1e3));
    sample(static_cast<double>(times.count), labels + "le=\"+Inf\"");
    const std::string own = labels.substr(0, labels.size() - (labels.empty() ? 0 : 1));
    name_ = family + "_sum";
    sample(static_cast<double>(times.sumMs) / 1e3, own);
    name_ = family + "_count";
    sample(static_cast<double>(times.count), own);
    name_ = family;
  }
  std::string take() { return std::move(text_); }

 private:
  static std::string le(double bound) {
    char text[32];
    std::snprintf(text, sizeof text, "le=\"%g\"", bound);
    return text;
  }

  std::string name_, text_;
};

// The exposition format's escapes.
std::string label(std::string_view name, std::string_view value) {
  std::string out = std::string(name) + "=\"";
  for (const char c : value) {
    if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else
      out += c;
  }
  return out + "\"";
}

double residentBytes() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  file >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

void ledgers(Page& page, Daemon& daemon) {
  std::uint64_t entries = 0, entities = 0, owned = 0, pending = 0, lost = 0;
  double oldest = 0;
  for (const auto& [id, claim] : daemon.replica().owners().all())
    lost += daemon.replica().ownerState(id) == OwnerState::lost ? 1 : 0;
  const Time now = daemon.now().wall;
  for (const auto& [id, host] : daemon.replica().hosts()) {
    const LedgerReaders::Census census = daemon.readers().censusOf(*host);
    entries += census.entries;
    entities += census.entities;
    pending += census.pending;
    if (census.oldestPending)
      oldest = std::max(oldest, static_cast<double>(now.micros - census.oldestPending->micros) / 1e6);
    owned += daemon.replica().owns(*host) ? 1 : 0;
  }
  page.gauge("ledger_entries", "Entries in the ledgers kept here.", entries);
  page.gauge("entities", "Entities known here.", entities);
  page.gauge("partitions_owned", "Partitions for which this device decides.", owned);
  page.gauge("partitions_lost", "Partitions whose owner has lost its ledgers: an operator must seize them.", lost);
  page.gauge("partitions_orphaned", "Partitions whose owner was revoked: an operator must seize them.",
             api::orphanedPartitions(daemon).size());
  page.gauge("counselor_queue_length", "Proposals that wait for a counselor.", pending);
  page.gauge("counselor_oldest_pending_seconds", "Age of the oldest of them.", oldest);
}

void counters(Page& page, const ReplicaCounters& c) {
  page.total("decisions", "Requests decided here.", c.decided);
  page.total("duplicate_requests", "Requests answered from the ledger.", c.duplicates);
  page.total("requests_forwarded", "Requests sent to their owner.", c.forwarded);
  page.total("requests_refused", "Requests of devices that may not make them.", c.notAllowed);
  page.total("batches_sent", "Ledger batches sent to followers.", c.batchesSent);
  page.total("batches_followed", "Ledger batches taken from owners.", c.batchesFollowed);
  page.total("stale_epoch_refused", "Batches of an epoch that was over.", c.zombieRefused);
  page.total("unlawful_logs", "Logs refused for a decision that the rules do not give.", c.logsRefused);
  page.total("unasked_answers", "Answers of devices that were not asked.", c.answersUnasked);
  page.total("unproven_answers", "Answers that their entry does not prove.", c.answersUnproven);
  page.total("unproven_requests", "Requests that no known key of their device signed.", c.requestsUnproven);
  page.total("heads_signed", "Heads of ledgers signed here as their owner.", c.headsSigned);
  page.total("heads_cosigned", "Heads of others' ledgers signed here.", c.headsCosigned);
  page.total("claims_refused", "Claims of ownership that nothing proves.", c.claimsRefused);
  page.total("false_positions", "Peers that told of an own log of this device that it did not write.",
             c.positionsRefused);
  page.total("heads_refused", "Heads that contradict this device's copy.", c.headsRefused);
  page.total("forks_proven", "Owners that signed two heads which contradict each other.", c.forksProven);
  page.total("surplus_entries", "Entries set aside after a seizure.", c.surplusEntries);
  page.total("handovers", "Partitions taken over from their owner.", c.handovers);
  page.total("seizures", "Partitions taken over without it.", c.seizures);
  page.total("forks", "Logs of one epoch that differ: an operator must look.", c.forks);
  page.total("bad_frames", "Frames that no honest peer sends.", c.badFrames);
}

void etcdOf(Page& page, const EtcdGatewayState& s, const EtcdCounters& c) {
  page.gauge("etcd_up", "Whether a member of etcd that has a majority answers.", s.connected ? 1 : 0);
  page.total("etcd_connections", "Members of etcd connected to.", s.connections);
  page.total("etcd_connection_failures", "Members of etcd that did not answer or went away.", s.failures);
  page.total("etcd_requests", "Requests to etcd.", s.requests);
  page.total("etcd_answers", "Answers of etcd.", s.answers);
  page.total("etcd_unanswered", "Requests to etcd that were not answered in time.", s.unanswered);
  page.total("etcd_refused", "Requests that etcd refused: no leader, too busy, no space.", s.refused);
  page.total("etcd_too_large", "Batches larger than etcd takes.", s.tooLarge);
  page.total("etcd_sent_bytes", "Bytes of requests to etcd.", s.bytesOut);
  page.total("etcd_received_bytes", "Bytes of answers of etcd.", s.bytesIn);
  page.total("etcd_watch_events", "Changes heard from etcd.", s.events);
  page.total("etcd_partitions_taken", "Partitions whose key this device got.", c.granted);
  page.total("etcd_partitions_lost", "Partitions whose key this device lost.", c.lost);
  page.total("etcd_late_writes_refused", "Batches refused because the partition had another owner by then.",
             c.discarded);
  page.total("etcd_commits_repeated", "Commits asked for again because nobody answered.", c.askedAgain);
  page.total("etcd_commits_found", "Of these, the ones that had been made the first time.", c.foundCommitted);
  page.total("etcd_leases_lost", "Leases that ran out.", c.leasesLost);
  page.total("etcd_batches_read", "Ledger batches followed by way of etcd.", c.batchesRead);
  page.total("etcd_gaps", "Times that etcd had already forgotten what this device lacked.", c.gaps);
  page.total("etcd_trims", "Times that etcd was told to forget batches.", c.trims);
  page.total("etcd_compacted", "Watches that began before what etcd remembers.", c.compacted);
}

void peersOf(Page& page, Daemon& daemon) {
  const auto all = daemon.peers().status();
  page.family("peer_up", "gauge", "Whether a member is connected.");
  for (const PeerStatus& peer : all) page.sample(peer.connected ? 1 : 0, label("peer", peer.device));
  page.family("peer_received_bytes", "gauge", "Bytes of frames from a member over its present link.");
  for (const PeerStatus& peer : all) page.sample(static_cast<double>(peer.bytesIn), label("peer", peer.device));
  page.family("peer_queued_bytes", "gauge", "Bytes that wait to be sent to a member.");
  for (const PeerStatus& peer : all) page.sample(static_cast<double>(peer.queuedBytes), label("peer", peer.device));
  page.total("links_refused", "Links of strangers and revoked devices.", daemon.peers().refusedLinks());
}

void relayOf(Page& page, const RelayManager& relay) {
  const TunnelCounters& c = relay.counters();
  page.gauge("relay_tunnels", "Links between two others that this device carries.", relay.carrying());
  page.gauge("relay_own_tunnels", "Tunnels through others that this device has or asks for.", relay.ends());
  page.total("relay_opened", "Tunnels opened between two others.", c.carried);
  page.total("relay_refused", "Tunnels asked for that did not come to be.", c.refused);
  page.total("relay_absent", "Tunnels asked for to devices without a link.", c.absent);
  page.total("relay_carried_bytes", "Bytes carried between others.", c.bytes);
}

void agentsOf(Page& page, const agents::AgentHost& host) {
  const agents::HostCounters& c = host.counters();
  page.total("agent_runs_started", "Runs of agents started here.", c.started);
  page.total("agent_runs_completed", "Runs that ended well.", c.completed);
  page.total("agent_runs_failed", "Runs that failed.", c.failed);
  page.total("agent_actions", "Actions of agents carried out.", c.actions);
}

void graphsOf(Page& page, Daemon& daemon) {
  const GraphRuntime* graphs = daemon.replica().graphs();
  if (graphs == nullptr) return;
  page.family("graph_steps_total", "counter", "Steps of the graphs that run here, by node, and why.");
  for (const auto& [key, count] : graphs->meter().counts()) {
    const auto& [graph, node, step, why] = key;
    page.sample(static_cast<double>(count), label("graph", graph) + "," + label("node", node) + "," +
                                                label("step", step) + "," + label("why", why));
  }
  const auto times = [&](std::string_view name, std::string_view help, Histogram GraphMeter::Times::*which) {
    page.family(name, "histogram", help);
    for (const auto& [at, both] : graphs->meter().times())
      page.timesOf(both.*which, label("graph", at.first) + "," + label("node", at.second) + ",");
  };
  times("graph_wait_seconds", "From sending to delivery of messages of the graphs that run here.",
        &GraphMeter::Times::waits);
  times("graph_work_seconds", "From delivery to the end of an attempt.", &GraphMeter::Times::works);
  page.family("graph_open", "gauge", "Messages and spans of the graphs that run here, by node and state.");
  for (const auto& [id, host] : daemon.replica().hosts()) {
    if (host->module().signature().domain != kGraphDomain) continue;
    for (const std::string& entity : host->partition().entities()) {
      const graph::Runtime* runtime = graphs->runtime(entity);
      if (runtime == nullptr) continue;
      for (const graph::NodeLoad& load : runtime->loads())
        for (const auto& [state, count] : {std::pair("queued", load.queued), std::pair("running", load.running),
                                           std::pair("asking", load.asking), std::pair("backoff", load.backoff)})
          page.sample(static_cast<double>(count),
                      label("graph", entity) + "," + label("node", load.node) + "," + label("state", state));
    }
  }
}

}  // namespace

std::string metricsText(Daemon& daemon) {
  Page page;
  page.family("build_info", "gauge", "The running build.");
  page.sample(1, label("version", WITAN_VERSION));
  page.gauge("uptime_seconds", "Since the start.", static_cast<double>(daemon.now().ms - daemon.startedMs()) / 1e3);
  page.gauge("resident_memory_bytes", "Memory of the process.", residentBytes());
  page.gauge("store_up", "0 after the store has failed.", daemon.failed().ok() ? 1 : 0);
  const DiskSpace disk = diskSpaceOf(daemon.path());
  page.gauge("disk_free_bytes", "Free space on the disk of the data directory.", disk.free);
  page.gauge("disk_capacity_bytes", "Size of that disk.", disk.capacity);
  page.total("rounds", "Rounds of work, each with its syncs.", daemon.rounds());
  page.gauge("slowest_round_seconds", "The slowest round since the start.",
             static_cast<double>(daemon.slowestRoundMs()) / 1e3);
  page.histogram("round_seconds", "How long rounds took.", daemon.timings().rounds);
  page.histogram("answer_seconds", "From a request to this node until its answer was durable.",
                 daemon.timings().answers);
  page.family("answers_total", "counter", "Answers to requests of this node, by what was decided.");
  for (std::size_t i = 0; i < daemon.timings().outcomes.size(); ++i)
    page.sample(static_cast<double>(daemon.timings().outcomes[i]), label("outcome", enumNames<kernel::Outcome>()[i]));
  page.gauge("outbox_requests", "Requests of this device without an answer.", daemon.replica().outbox().size());
  page.gauge("roster_version", "Of the newest roster.", daemon.roster().current().version);
  ledgers(page, daemon);
  counters(page, daemon.replica().counters());
  if (daemon.etcd() != nullptr) etcdOf(page, daemon.etcd()->state(), daemon.replica().counters().etcd);
  peersOf(page, daemon);
  relayOf(page, daemon.peers().relay());
  if (const agents::AgentHost* host = daemon.replica().agents()) agentsOf(page, *host);
  graphsOf(page, daemon);
  if (const Tracer* tracer = daemon.tracer()) {
    page.total("trace_spans_exported", "Spans that the collector took.", tracer->exported());
    page.total("trace_spans_dropped", "Spans that it did not take.", tracer->dropped());
  }
  page.total("log_warnings", "Warnings logged.", daemon.log().warnings());
  page.total("log_errors", "Errors logged.", daemon.log().errors());
  return page.take();
}

}  // namespace witan::node
