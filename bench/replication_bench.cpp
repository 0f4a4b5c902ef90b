// Replication on the workloads of bench/run-crdt-peers.sh: real wire bytes, real stores.
//
//   witan_replication_bench w1 [--agents N] [--updates K] [--dir D]     3 devices cut off, K updates an agent, heal
//   witan_replication_bench w2 [--updates N] [--dir D]                  N updates of one register, one frame each
//   witan_replication_bench million [--agents N] [--dirty D]            heal with many resident agents
//   witan_replication_bench idle [--devices N]                          equal replicas greet each other
//
// Devices seal their rows, as nodes do; --seals 0: as pipes without keys do not.
// CPU is the processor time of the thread, store commits (write and sync) counted apart. One line of JSON.
#include <malloc.h>
#include <sys/resource.h>

#include <filesystem>
#include <map>
#include <memory>

#include "bench/bench_tools.h"
#include "replica/core/row_proofs.h"
#include "replication/local_replica.h"
#include "replication/records/agent_state.h"
#include "replication/records/record_schemas.h"
#include "replication/sync_session.h"
#include "store/memory_store.h"
#include "store/rocks_store.h"

namespace witan::replication {
namespace {

using bench::Arguments;
using bench::must;
using bench::ThreadStopwatch;

double rssMb() { return static_cast<double>(bench::residentBytes()) / 1048576; }

double peakRssMb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

bool seals = true;

class BenchKeys final : public node::HeadKeys {
 public:
  explicit BenchKeys(std::string_view device) : key_(keyOf(device)) {}
  const SigningKey& key() const override { return key_; }
  std::vector<PublicKey> keysOf(std::string_view device) const override { return {publicKeyOf(device)}; }
  node::Takeover mayTakeOver(std::string_view) const override { return node::Takeover::yes; }
  bool sealsRows(std::string_view) const override { return true; }
  Result<std::string> remembered() const override { return std::string(); }
  Status remember(std::string_view) override { return okStatus(); }

 private:
  static const PublicKey& publicKeyOf(std::string_view device) {
    static std::map<std::string, PublicKey, std::less<>> known;
    const auto at = known.find(device);
    return at != known.end() ? at->second : known.emplace(device, keyOf(device).publicKey()).first->second;
  }
  static SigningKey keyOf(std::string_view device) {
    const Hash seed = sha256(device);
    return *SigningKey::fromSeed({reinterpret_cast<const char*>(seed.data()), seed.size()});
  }
  SigningKey key_;
};

struct Node {
  std::unique_ptr<store::Store> journal, agents;
  std::unique_ptr<LocalReplica> replica;
  double commitMs = 0;

  void open(const std::string& device, const std::string& dir) {
    if (dir.empty()) {
      journal = std::make_unique<store::MemoryStore>();
      agents = std::make_unique<store::MemoryStore>();
    } else {
      store::RocksOptions options{.preallocateLog = false, .memtableBytes = 1 << 20, .blockCacheBytes = 1 << 20};
      std::filesystem::create_directories(dir + "/" + device);
      journal = must(store::openRocksStore(dir + "/" + device + "/journal", options));
      agents = must(store::openRocksStore(dir + "/" + device + "/agents", options));
    }
    ReplicaOptions options{.cluster = "bench", .clusterKey = "key", .device = device};
    options.freshTag = [] { return 0x5eedu; };
    if (seals) options.rowKeys = node::rowKeysOf(std::make_shared<BenchKeys>(device), "bench");
    replica = must(LocalReplica::open(*journal, *agents, recordSchemas(), std::move(options)));
    flush();
  }
  void flush() {
    const ThreadStopwatch watch;
    must(replica->flush());
    commitMs += 1e3 * watch.seconds();
  }
  void write(const std::string& agent, const AgentState& state) {
    const Write write{Kind::agentState, agent, encodeAgentState(state, replica->writer()), false};
    must(replica->commit(DatabaseName::agents, "main", {&write, 1}));
  }
};

struct Traffic {
  std::size_t bytes = 0, frames = 0, steps = 0;
};

// Hands whole frames to a session; how many.
std::size_t deliver(std::string_view frames, SyncSession& to) {
  std::size_t count = 0;
  for (; !frames.empty(); ++count) {
    const std::size_t size = kFrameHeaderBytes + must(readFrameHeader(frames, kMaxFrameBytes)).length;
    must(to.receive(frames.substr(0, size), 0));
    frames.remove_prefix(size);
  }
  return count;
}

// Carries frames until neither side has anything to say.
void exchange(Node& a, Node& b, Traffic& traffic) {
  SyncSession ofA(*a.replica, {}, 0), ofB(*b.replica, {}, 0);
  for (bool any = true; any; ++traffic.steps) {
    std::string toA, toB;
    any = ofA.produce(toB, 1 << 20, 0);
    a.flush();
    any = ofB.produce(toA, 1 << 20, 0) || any;
    b.flush();
    traffic.frames += deliver(toB, ofB) + deliver(toA, ofA);
    traffic.bytes += toB.size() + toA.size();
  }
}

// --- the peers' workload: the same generator, the same fields

struct Mulberry {
  std::uint32_t a;
  double next() {
    a += 0x6d2b79f5u;
    std::uint32_t t = (a ^ (a >> 15)) * (1 | a);
    t = (t + (t ^ (t >> 7)) * (61 | t)) ^ t;
    return static_cast<double>(t ^ (t >> 14)) / 4294967296.0;
  }
  std::string hex(std::size_t n) {
    std::string out;
    char word[9];
    while (out.size() < n) {
      std::snprintf(word, sizeof word, "%08x", static_cast<std::uint32_t>(next() * 4294967296.0));
      out += word;
    }
    return out.substr(0, n);
  }
};

constexpr std::uint64_t kT0 = 1'760'000'000'000;
constexpr const char* kHosts[] = {"hostA", "hostB", "hostC"};

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

AgentState baseState(std::uint32_t i, const std::string& host) {
  Mulberry r{1000003u * (i + 1)};
  AgentState s;
  s.schedule.sleepUntil = kT0;
  s.schedule.nextWakeAt = kT0 + 60000;
  s.pointers.recentHeadMessageId = r.hex(32);
  s.pointers.latestSummaryMessageId = r.hex(32);
  const std::string values[] = {"goal-" + r.hex(24), "task-" + r.hex(24), r.hex(48), r.hex(40), r.hex(16)};
  for (std::size_t k = 0; k < kSlots; ++k) s.slots[k] = {quoted(values[k]), 1, host};
  return s;
}

void update(AgentState& s, std::uint32_t i, std::uint32_t device, std::uint32_t k, const std::string& host) {
  Mulberry r{(i * 31 + device) * 131 + k * 7919 + 17};
  if (k == 0)
    s.lifecycle = Lifecycle::active;
  else if (k == 9 && r.next() < 0.1)
    s.lifecycle = Lifecycle::dormant;
  s.schedule.nextWakeAt = kT0 + static_cast<std::uint64_t>(r.next() * 1e7);
  if (r.next() < 0.3) s.schedule.sleepUntil = kT0 + static_cast<std::uint64_t>(r.next() * 1e6);
  s.pointers.recentHeadMessageId = r.hex(32);
  if (k % 5 == 4) s.pointers.latestSummaryMessageId = r.hex(32);
  Slot& slot = s.slots[(k + device) % 5];
  slot = {quoted("v-" + r.hex(30)), slot.version + 1, host};
  s.processedCounterByHost.set(host, k + 1);
  if (r.next() < 0.2) s.consecutiveFailureCount = static_cast<std::uint64_t>(r.next() * 4);
}

AgentState currentState(Node& node, const std::string& agent) {
  const auto versions =
      must((*node.replica->database(DatabaseName::agents).space("main"))->versions(Kind::agentState, agent));
  return must(decodeAgentState(versions.front().body, versions.front().dot.host));
}

bool allEqual(std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    Space& mine = **node.replica->database(DatabaseName::agents).space("main");
    Space& first = **nodes[0].replica->database(DatabaseName::agents).space("main");
    if (!(mine.digest() == first.digest()) || !(mine.clock() == first.clock())) return false;
  }
  return true;
}

struct Heal {
  Traffic traffic;
  double cpuMs = 0, commitMs = 0;
};

// Three devices meet in pairs, each pair once.
Heal heal(std::vector<Node>& nodes) {
  Heal out;
  for (Node& node : nodes) node.commitMs = 0;
  const ThreadStopwatch watch;
  exchange(nodes[0], nodes[1], out.traffic);
  exchange(nodes[0], nodes[2], out.traffic);
  exchange(nodes[1], nodes[2], out.traffic);
  for (const Node& node : nodes) out.commitMs += node.commitMs;
  out.cpuMs = 1e3 * watch.seconds() - out.commitMs;
  return out;
}

std::uint32_t countOf(const Arguments& arguments, const char* name, std::uint32_t otherwise) {
  return static_cast<std::uint32_t>(arguments.number(name, otherwise));
}

int w1(const Arguments& arguments) {
  const std::uint32_t agents = countOf(arguments, "--agents", 1000), updates = countOf(arguments, "--updates", 10);
  const std::string dir = arguments.text("--dir", "");
  std::vector<Node> nodes(3);
  for (std::size_t d = 0; d < 3; ++d) nodes[d].open(kHosts[d], dir);
  for (std::uint32_t i = 0; i < agents; ++i) nodes[0].write(concat("a", i), baseState(i, nodes[0].replica->writer()));
  Traffic base;
  exchange(nodes[0], nodes[1], base);
  exchange(nodes[0], nodes[2], base);
  const ThreadStopwatch generating;
  for (std::uint32_t d = 0; d < 3; ++d)
    for (std::uint32_t k = 0; k < updates; ++k) {
      for (std::uint32_t i = 0; i < agents; ++i) {
        const std::string agent = concat("a", i);
        AgentState state = currentState(nodes[d], agent);
        update(state, i, d, k, nodes[d].replica->writer());
        nodes[d].write(agent, state);
        if (i % 256 == 255) nodes[d].flush();
      }
      nodes[d].flush();
    }
  const double generate = 1e3 * generating.seconds();
  const double rssBefore = rssMb();
  const Heal healed = heal(nodes);
  const bool equal = allEqual(nodes);
  std::printf(
      "{\"w\":\"W1\",\"lib\":\"witan\",\"store\":\"%s\",\"agents\":%u,\"generateMs\":%.1f,\"healCpuMs\":%.2f,"
      "\"commitCpuMs\":%.2f,\"bytes\":%zu,\"frames\":%zu,\"rssBeforeMB\":%.1f,\"rssMB\":%.1f,\"peakRssMB\":%.1f,"
      "\"equal\":%s}\n",
      dir.empty() ? "memory" : "rocksdb", agents, generate, healed.cpuMs, healed.commitMs, healed.traffic.bytes,
      healed.traffic.frames, rssBefore, rssMb(), peakRssMb(), equal ? "true" : "false");
  return equal ? 0 : 1;
}

int w2(const Arguments& arguments) {
  const std::uint32_t n = countOf(arguments, "--updates", 100'000);
  std::vector<Node> nodes(2);
  for (std::size_t d = 0; d < 2; ++d) nodes[d].open(kHosts[d], arguments.text("--dir", ""));
  Node &a = nodes[0], &b = nodes[1];
  AgentState state;
  state.slots[0] = {quoted("0000000000000000"), 1, a.replica->writer()};
  a.write("register", state);
  Traffic first;
  exchange(a, b, first);
  const std::int64_t gather = countOf(arguments, "--gather-ms", 0);
  SyncSession ofA(*a.replica, {.window = 1u << 30, .gatherMs = gather}, 0), ofB(*b.replica, {.window = 1u << 30}, 0);
  const ThreadStopwatch producing;
  const auto now = [&] { return static_cast<std::int64_t>(1e3 * producing.seconds()); };
  for (int i = 0; i < 4; ++i) {
    std::string toA, toB;
    ofA.produce(toB, 1 << 20, 0);
    ofB.produce(toA, 1 << 20, 0);
    deliver(toB, ofB);
    deliver(toA, ofA);
  }
  std::string out;
  std::vector<std::size_t> ends;
  out.reserve(static_cast<std::size_t>(n) * 120);
  for (std::uint32_t i = 0; i < n; ++i) {
    char value[24];
    std::snprintf(value, sizeof value, "\"%08x%08x\"", static_cast<std::uint32_t>(i * 2654435761ull), i);
    state.slots[0] = {value, state.slots[0].version + 1, state.slots[0].host};
    a.write("register", state);
    ofA.produce(out, out.size() + (1 << 20), now());
    ends.push_back(out.size());
    if (i % 1024 == 1023) a.flush();
  }
  ofA.produce(out, out.size() + (1 << 20), now() + gather);
  ends.push_back(out.size());
  a.flush();
  const double produced = 1e3 * producing.seconds() - a.commitMs;
  const std::size_t bytes = out.size();
  b.commitMs = 0;
  const ThreadStopwatch applying;
  std::size_t at = 0;
  std::string replies;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] == at) continue;
    must(ofB.receive(std::string_view(out).substr(at, ends[i] - at), 0));
    at = ends[i];
    if (i % 1024 == 1023) ofB.produce(replies, 1 << 20, 0), b.flush();
  }
  b.flush();
  const double applied = 1e3 * applying.seconds() - b.commitMs;
  const bool equal = allEqual(nodes);
  std::printf(
      "{\"w\":\"W2\",\"lib\":\"witan\",\"n\":%u,\"produced_s\":%.0f,\"applied_s\":%.0f,\"commitCpuMs\":%.1f,"
      "\"bytesPerUpdate\":%.1f,\"segments\":%lu,\"peakRssMB\":%.1f,\"equal\":%s}\n",
      n, n / produced * 1e3, n / applied * 1e3, b.commitMs, static_cast<double>(bytes) / n,
      static_cast<unsigned long>(ofA.stats().segmentsOut), peakRssMb(), equal ? "true" : "false");
  return equal ? 0 : 1;
}

int million(const Arguments& arguments) {
  const std::uint32_t agents = countOf(arguments, "--agents", 1'000'000), dirty = countOf(arguments, "--dirty", 1000);
  const std::string dir = arguments.text("--dir", "");
  std::vector<Node> nodes(3);
  nodes[0].open(kHosts[0], dir);
  const double before = rssMb();
  for (std::uint32_t i = 0; i < agents; ++i) {
    nodes[0].write(concat("a", i), baseState(i, nodes[0].replica->writer()));
    if (i % 4096 == 4095) nodes[0].flush();
  }
  nodes[0].flush();
  malloc_trim(0);
  const double storeless = dir.empty() ? 0 : rssMb() - before;
  for (std::size_t d = 1; d < 3; ++d) {
    nodes[d].open(kHosts[d], dir);
    Traffic base;
    exchange(nodes[0], nodes[d], base);
  }
  for (std::uint32_t d = 0; d < 3; ++d)
    for (std::uint32_t k = 0; k < 2; ++k)
      for (std::uint32_t i = 0; i < dirty; ++i) {
        const std::uint32_t which = i * (agents / dirty);
        const std::string agent = concat("a", which);
        AgentState state = currentState(nodes[d], agent);
        update(state, which, d, k, nodes[d].replica->writer());
        nodes[d].write(agent, state);
      }
  for (Node& node : nodes) node.flush();
  const Heal healed = heal(nodes);
  const bool equal = allEqual(nodes);
  std::printf(
      "{\"w\":\"million\",\"agents\":%u,\"dirty\":%u,\"healCpuMs\":%.2f,\"commitCpuMs\":%.2f,\"bytes\":%zu,"
      "\"bytesPerResidentAgent\":%.0f,\"equal\":%s}\n",
      agents, dirty, healed.cpuMs, healed.commitMs, healed.traffic.bytes, storeless * 1048576 / agents,
      equal ? "true" : "false");
  return equal ? 0 : 1;
}

int idle(const Arguments& arguments) {
  const std::uint32_t devices = countOf(arguments, "--devices", 50);
  std::vector<Node> nodes(devices);
  for (std::uint32_t d = 0; d < devices; ++d) {
    char name[40];
    std::snprintf(name, sizeof name, "%032x", 0xabcdef01u * (d + 1));
    nodes[d].open(name, "");
    AgentState state;
    state.consecutiveFailureCount = 1'000'000;
    for (int i = 0; i < 100; ++i) nodes[d].write(concat("agent-", d), state);
  }
  Traffic all;
  for (int round = 0; round < 2; ++round)
    for (std::uint32_t d = 1; d < devices; ++d) exchange(nodes[0], nodes[d], all);
  Traffic check;
  exchange(nodes[1], nodes[2], check);
  Traffic again;
  exchange(nodes[1], nodes[2], again);
  std::printf("{\"w\":\"idle\",\"devices\":%u,\"bytes\":%zu,\"frames\":%zu,\"steps\":%zu,\"equal\":%s}\n", devices,
              again.bytes, again.frames, again.steps, allEqual(nodes) ? "true" : "false");
  return 0;
}

}  // namespace
}  // namespace witan::replication

int main(int argc, char** argv) {
  using namespace witan::replication;
  const Arguments arguments(argc, argv,
                            {"--agents", "--updates", "--dir", "--dirty", "--devices", "--seals", "--gather-ms"},
                            {"w1", "w2", "million", "idle"});
  seals = arguments.number("--seals", 1) != 0;
  if (arguments.verb() == "w1") return w1(arguments);
  if (arguments.verb() == "w2") return w2(arguments);
  return arguments.verb() == "million" ? million(arguments) : idle(arguments);
}
