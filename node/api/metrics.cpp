#include "node/api/metrics.h"

#include <cstdio>
#include <fstream>

#include <unistd.h>

#include "agents/host/agent_host.h"
#include "node/daemon/daemon.h"

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
  void one(std::string_view name, std::string_view type, std::string_view help, double value) {
    family(name, type, help);
    sample(value);
  }
  std::string take() { return std::move(text_); }

 private:
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
  double entries = 0, entities = 0, owned = 0, pending = 0, oldest = 0, lost = 0;
  for (const auto& [id, claim] : daemon.replica().owners().all())
    lost += daemon.replica().ownerState(id) == OwnerState::lost ? 1 : 0;
  const Time now = daemon.now().wall;
  for (const auto& [id, host] : daemon.replica().hosts()) {
    const LedgerReaders::Census census = daemon.readers().censusOf(*host);
    entries += static_cast<double>(census.entries);
    entities += static_cast<double>(census.entities);
    pending += static_cast<double>(census.pending);
    if (census.oldestPending)
      oldest = std::max(oldest, static_cast<double>(now.micros - census.oldestPending->micros) / 1e6);
    owned += daemon.replica().owns(*host) ? 1 : 0;
  }
  page.one("ledger_entries", "gauge", "Entries in the ledgers kept here.", entries);
  page.one("entities", "gauge", "Entities known here.", entities);
  page.one("partitions_owned", "gauge", "Partitions for which this device decides.", owned);
  page.one("partitions_lost", "gauge", "Partitions whose owner has lost its ledgers: an operator must seize them.",
           lost);
  page.one("counselor_queue_length", "gauge", "Proposals that wait for a counselor.", pending);
  page.one("counselor_oldest_pending_seconds", "gauge", "Age of the oldest of them.", oldest);
}

void counters(Page& page, const ReplicaCounters& c) {
  page.one("decisions_total", "counter", "Requests decided here.", static_cast<double>(c.decided));
  page.one("duplicate_requests_total", "counter", "Requests answered from the ledger.",
           static_cast<double>(c.duplicates));
  page.one("requests_forwarded_total", "counter", "Requests sent to their owner.", static_cast<double>(c.forwarded));
  page.one("requests_refused_total", "counter", "Requests of devices that may not make them.",
           static_cast<double>(c.notAllowed));
  page.one("batches_sent_total", "counter", "Ledger batches sent to followers.", static_cast<double>(c.batchesSent));
  page.one("batches_followed_total", "counter", "Ledger batches taken from owners.",
           static_cast<double>(c.batchesFollowed));
  page.one("stale_epoch_refused_total", "counter", "Batches of an epoch that was over.",
           static_cast<double>(c.zombieRefused));
  page.one("surplus_entries_total", "counter", "Entries set aside after a seizure.",
           static_cast<double>(c.surplusEntries));
  page.one("handovers_total", "counter", "Partitions taken over from their owner.", static_cast<double>(c.handovers));
  page.one("seizures_total", "counter", "Partitions taken over without it.", static_cast<double>(c.seizures));
  page.one("forks_total", "counter", "Logs of one epoch that differ: an operator must look.",
           static_cast<double>(c.forks));
  page.one("bad_frames_total", "counter", "Frames that no honest peer sends.", static_cast<double>(c.badFrames));
}

void etcdOf(Page& page, const EtcdGatewayState& s, const EtcdCounters& c) {
  const auto total = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    page.one("etcd_" + std::string(name) + "_total", "counter", help, static_cast<double>(value));
  };
  page.one("etcd_up", "gauge", "Whether a member of etcd that has a majority answers.", s.connected ? 1 : 0);
  total("connections", "Members of etcd connected to.", s.connections);
  total("connection_failures", "Members of etcd that did not answer or went away.", s.failures);
  total("requests", "Requests to etcd.", s.requests);
  total("answers", "Answers of etcd.", s.answers);
  total("unanswered", "Requests to etcd that were not answered in time.", s.unanswered);
  total("refused", "Requests that etcd refused: no leader, too busy, no space.", s.refused);
  total("too_large", "Batches larger than etcd takes.", s.tooLarge);
  total("sent_bytes", "Bytes of requests to etcd.", s.bytesOut);
  total("received_bytes", "Bytes of answers of etcd.", s.bytesIn);
  total("watch_events", "Changes heard from etcd.", s.events);
  total("partitions_taken", "Partitions whose key this device got.", c.granted);
  total("partitions_lost", "Partitions whose key this device lost.", c.lost);
  total("late_writes_refused", "Batches refused because the partition had another owner by then.", c.discarded);
  total("commits_repeated", "Commits asked for again because nobody answered.", c.askedAgain);
  total("commits_found", "Of these, the ones that had been made the first time.", c.foundCommitted);
  total("leases_lost", "Leases that ran out.", c.leasesLost);
  total("batches_read", "Ledger batches followed by way of etcd.", c.batchesRead);
  total("gaps", "Times that etcd had already forgotten what this device lacked.", c.gaps);
  total("trims", "Times that etcd was told to forget batches.", c.trims);
  total("compacted", "Watches that began before what etcd remembers.", c.compacted);
}

void peersOf(Page& page, Daemon& daemon) {
  const auto all = daemon.peers().status();
  page.family("peer_up", "gauge", "Whether a member is connected.");
  for (const PeerStatus& peer : all) page.sample(peer.connected ? 1 : 0, label("peer", peer.device));
  page.family("peer_received_bytes", "gauge", "Bytes of frames from a member over its present link.");
  for (const PeerStatus& peer : all) page.sample(static_cast<double>(peer.bytesIn), label("peer", peer.device));
  page.family("peer_queued_bytes", "gauge", "Bytes that wait to be sent to a member.");
  for (const PeerStatus& peer : all) page.sample(static_cast<double>(peer.queuedBytes), label("peer", peer.device));
  page.one("links_refused_total", "counter", "Links of strangers and revoked devices.",
           static_cast<double>(daemon.peers().refusedLinks()));
}

void relayOf(Page& page, const RelayManager& relay) {
  const TunnelCounters& c = relay.counters();
  page.one("relay_tunnels", "gauge", "Links between two others that this device carries.",
           static_cast<double>(relay.carrying()));
  page.one("relay_own_tunnels", "gauge", "Tunnels through others that this device has or asks for.",
           static_cast<double>(relay.ends()));
  page.one("relay_opened_total", "counter", "Tunnels opened between two others.", static_cast<double>(c.carried));
  page.one("relay_refused_total", "counter", "Tunnels asked for that did not come to be.",
           static_cast<double>(c.refused));
  page.one("relay_absent_total", "counter", "Tunnels asked for to devices without a link.",
           static_cast<double>(c.absent));
  page.one("relay_carried_bytes_total", "counter", "Bytes carried between others.", static_cast<double>(c.bytes));
}

void agentsOf(Page& page, const agents::AgentHost& host) {
  const agents::HostCounters& c = host.counters();
  page.one("agent_runs_started_total", "counter", "Runs of agents started here.", static_cast<double>(c.started));
  page.one("agent_runs_completed_total", "counter", "Runs that ended well.", static_cast<double>(c.completed));
  page.one("agent_runs_failed_total", "counter", "Runs that failed.", static_cast<double>(c.failed));
  page.one("agent_actions_total", "counter", "Actions of agents carried out.", static_cast<double>(c.actions));
}

}  // namespace

std::string metricsText(Daemon& daemon) {
  Page page;
  page.family("build_info", "gauge", "The running build.");
  page.sample(1, label("version", WITAN_VERSION));
  page.one("uptime_seconds", "gauge", "Since the start.",
           static_cast<double>(daemon.now().ms - daemon.startedMs()) / 1e3);
  page.one("resident_memory_bytes", "gauge", "Memory of the process.", residentBytes());
  page.one("store_up", "gauge", "0 after the store has failed.", daemon.failed().ok() ? 1 : 0);
  page.one("rounds_total", "counter", "Rounds of work, each with its syncs.", static_cast<double>(daemon.rounds()));
  page.one("slowest_round_seconds", "gauge", "The slowest round since the start.",
           static_cast<double>(daemon.slowestRoundMs()) / 1e3);
  page.one("outbox_requests", "gauge", "Requests of this device without an answer.",
           static_cast<double>(daemon.replica().outbox().size()));
  page.one("roster_version", "gauge", "Of the newest roster.", static_cast<double>(daemon.roster().current().version));
  ledgers(page, daemon);
  counters(page, daemon.replica().counters());
  if (daemon.etcd() != nullptr) etcdOf(page, daemon.etcd()->state(), daemon.replica().counters().etcd);
  peersOf(page, daemon);
  relayOf(page, daemon.peers().relay());
  if (const agents::AgentHost* host = daemon.replica().agents()) agentsOf(page, *host);
  if (const Tracer* tracer = daemon.tracer()) {
    page.one("trace_spans_exported_total", "counter", "Spans that the collector took.",
             static_cast<double>(tracer->exported()));
    page.one("trace_spans_dropped_total", "counter", "Spans that it did not take.",
             static_cast<double>(tracer->dropped()));
  }
  page.one("log_warnings_total", "counter", "Warnings logged.", static_cast<double>(daemon.log().warnings()));
  page.one("log_errors_total", "counter", "Errors logged.", static_cast<double>(daemon.log().errors()));
  return page.take();
}

}  // namespace witan::node
