// Replication on the workloads of bench/run-crdt-peers.sh: real wire bytes, real stores.
//
//   witan_replication_bench w1 [--agents N] [--updates K] [--dir D]     3 devices cut off, K updates an agent, then
//   heal witan_replication_bench w2 [--updates N]                            N updates of one register, one frame each
//   witan_replication_bench million [--agents N] [--dirty D]            heal with many resident agents
//   witan_replication_bench idle [--devices N]                          equal replicas greet each other
//
// CPU is the processor time of the thread, store commits (write and sync) counted apart. One line of JSON.
#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>

#include "replication/local_replica.h"
#include "replication/records/agent_state_codec.h"
#include "replication/records/record_schemas.h"
#include "replication/sync_session.h"
#include "store/memory_store.h"
#include "store/rocks_store.h"

namespace witan::replication {
namespace {

double cpuMs() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
}

double rssMb() {
  long pages = 0, resident = 0;
  if (FILE* f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(f);
  }
  return static_cast<double>(resident) * 4096 / 1048576;
}

double peakRssMb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

template <class T>
T orDie(Result<T> result) {
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", result.error().message.c_str());
    std::exit(1);
  }
  return *std::move(result);
}

struct Node {
  std::unique_ptr<store::Store> journal, agents;
  std::unique_ptr<LocalReplica> replica;
  double commitMs = 0;

  void open(const std::string& device, const std::string& dir) {
    if (dir.empty()) {
      journal = std::make_unique<store::MemoryStore>();
      agents = std::make_unique<store::MemoryStore>();
    } else {
      store::RocksOptions options;
      options.memtableBytes = 1 << 20;
      options.blockCacheBytes = 1 << 20;
      options.preallocateLog = false;
      std::filesystem::create_directories(dir + "/" + device);
      journal = orDie(store::openRocksStore(dir + "/" + device + "/journal", options));
      agents = orDie(store::openRocksStore(dir + "/" + device + "/agents", options));
    }
    ReplicaOptions options;
    options.cluster = "bench";
    options.clusterKey = "key";
    options.device = device;
    options.freshTag = [] { return 0x5eedu; };
    replica = orDie(LocalReplica::open(*journal, *agents, recordSchemas(), std::move(options)));
    flush();
  }
  void flush() {
    const double start = cpuMs();
    orDie(replica->flush());
    commitMs += cpuMs() - start;
  }
  void write(const std::string& agent, const AgentState& state) {
    const Write write{Kind::agentState, agent, encodeAgentState(state, replica->writer()), false};
    orDie(replica->commit(DatabaseName::agents, "main", {&write, 1}));
  }
};

struct Traffic {
  std::size_t bytes = 0, frames = 0, steps = 0;
};

// Carries frames until nobody has anything to say.
void exchange(Node& a, Node& b, Traffic& traffic) {
  SyncSession ofA(*a.replica, {}, 0), ofB(*b.replica, {}, 0);
  std::string toA, toB;
  const auto deliver = [&](std::string& bytes, SyncSession& to) {
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const auto header = orDie(readFrameHeader(rest, kMaxFrameBytes));
      const std::size_t size = kFrameHeaderBytes + header.length;
      orDie(to.receive(rest.substr(0, size), 0));
      rest.remove_prefix(size);
      ++traffic.frames;
    }
    traffic.bytes += bytes.size();
    bytes.clear();
  };
  for (bool any = true; any; ++traffic.steps) {
    any = ofA.produce(toB, 1 << 20, 0);
    a.flush();
    any = ofB.produce(toA, 1 << 20, 0) || any;
    b.flush();
    deliver(toB, ofB);
    deliver(toA, ofA);
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

struct Arguments {
  std::map<std::string, std::string> values;
  std::uint32_t number(const std::string& name, std::uint32_t otherwise) const {
    const auto at = values.find(name);
    return at == values.end() ? otherwise : static_cast<std::uint32_t>(std::stoul(at->second));
  }
  std::string text(const std::string& name) const {
    const auto at = values.find(name);
    return at == values.end() ? "" : at->second;
  }
};

AgentState currentState(Node& node, const std::string& agent) {
  const auto versions =
      orDie((*node.replica->database(DatabaseName::agents).space("main"))->versions(Kind::agentState, agent));
  return orDie(decodeAgentState(versions.front().body, versions.front().dot.host));
}

bool allEqual(std::vector<Node>& nodes) {
  for (Node& node : nodes) {
    Space& mine = **node.replica->database(DatabaseName::agents).space("main");
    Space& first = **nodes[0].replica->database(DatabaseName::agents).space("main");
    if (!(mine.digest() == first.digest()) || !(mine.clock() == first.clock())) return false;
  }
  return true;
}

int w1(const Arguments& arguments) {
  const std::uint32_t agents = arguments.number("agents", 1000), updates = arguments.number("updates", 10);
  std::vector<Node> nodes(3);
  const char* names[] = {"hostA", "hostB", "hostC"};
  for (std::size_t d = 0; d < 3; ++d) nodes[d].open(names[d], arguments.text("dir"));
  for (std::uint32_t i = 0; i < agents; ++i)
    nodes[0].write("a" + std::to_string(i), baseState(i, nodes[0].replica->writer()));
  Traffic base;
  exchange(nodes[0], nodes[1], base);
  exchange(nodes[0], nodes[2], base);
  double start = cpuMs();
  for (std::uint32_t d = 0; d < 3; ++d)
    for (std::uint32_t k = 0; k < updates; ++k) {
      for (std::uint32_t i = 0; i < agents; ++i) {
        const std::string agent = "a" + std::to_string(i);
        AgentState state = currentState(nodes[d], agent);
        update(state, i, d, k, nodes[d].replica->writer());
        nodes[d].write(agent, state);
        if (i % 256 == 255) nodes[d].flush();
      }
      nodes[d].flush();
    }
  const double generate = cpuMs() - start;
  const double rssBefore = rssMb();
  for (Node& node : nodes) node.commitMs = 0;
  Traffic heal;
  start = cpuMs();
  exchange(nodes[0], nodes[1], heal);
  exchange(nodes[0], nodes[2], heal);
  exchange(nodes[1], nodes[2], heal);
  const double all = cpuMs() - start;
  const double commits = nodes[0].commitMs + nodes[1].commitMs + nodes[2].commitMs;
  std::printf(
      "{\"w\":\"W1\",\"lib\":\"witan\",\"store\":\"%s\",\"agents\":%u,\"generateMs\":%.1f,\"healCpuMs\":%.2f,"
      "\"commitCpuMs\":%.2f,\"bytes\":%zu,\"frames\":%zu,\"rssBeforeMB\":%.1f,\"rssMB\":%.1f,\"peakRssMB\":%.1f,"
      "\"equal\":%s}\n",
      arguments.text("dir").empty() ? "memory" : "rocksdb", agents, generate, all - commits, commits, heal.bytes,
      heal.frames, rssBefore, rssMb(), peakRssMb(), allEqual(nodes) ? "true" : "false");
  return allEqual(nodes) ? 0 : 1;
}

int w2(const Arguments& arguments) {
  const std::uint32_t n = arguments.number("updates", 100'000);
  std::vector<Node> nodes(2);
  nodes[0].open("hostA", arguments.text("dir"));
  nodes[1].open("hostB", arguments.text("dir"));
  Node &a = nodes[0], &b = nodes[1];
  AgentState state;
  state.slots[0] = {quoted("0000000000000000"), 1, a.replica->writer()};
  a.write("register", state);
  Traffic first;
  exchange(a, b, first);
  SyncSession ofA(*a.replica, {.window = 1u << 30}, 0), ofB(*b.replica, {.window = 1u << 30}, 0);
  std::string out;
  const auto settle = [&] {
    for (int i = 0; i < 4; ++i) {
      std::string toB, toA;
      ofA.produce(toB, 1 << 20, 0);
      ofB.produce(toA, 1 << 20, 0);
      for (auto* p : {&toB, &toA}) {
        std::string_view rest = *p;
        while (!rest.empty()) {
          const auto header = orDie(readFrameHeader(rest, kMaxFrameBytes));
          orDie((p == &toB ? ofB : ofA).receive(rest.substr(0, kFrameHeaderBytes + header.length), 0));
          rest.remove_prefix(kFrameHeaderBytes + header.length);
        }
      }
    }
  };
  settle();
  double start = cpuMs();
  std::vector<std::size_t> ends;
  out.reserve(static_cast<std::size_t>(n) * 120);
  for (std::uint32_t i = 0; i < n; ++i) {
    char value[24];
    std::snprintf(value, sizeof value, "\"%08x%08x\"", static_cast<std::uint32_t>(i * 2654435761ull), i);
    state.slots[0] = {value, state.slots[0].version + 1, state.slots[0].host};
    a.write("register", state);
    ofA.produce(out, out.size() + (1 << 20), 0);
    ends.push_back(out.size());
    if (i % 1024 == 1023) a.flush();
  }
  a.flush();
  const double produced = cpuMs() - start - a.commitMs;
  const std::size_t bytes = out.size();
  b.commitMs = 0;
  start = cpuMs();
  std::size_t at = 0;
  std::string replies;
  for (std::uint32_t i = 0; i < n; ++i) {
    orDie(ofB.receive(std::string_view(out).substr(at, ends[i] - at), 0));
    at = ends[i];
    if (i % 1024 == 1023) ofB.produce(replies, 1 << 20, 0), b.flush();
  }
  b.flush();
  const double applied = cpuMs() - start - b.commitMs;
  const bool equal = allEqual(nodes);
  std::printf(
      "{\"w\":\"W2\",\"lib\":\"witan\",\"n\":%u,\"produced_s\":%.0f,\"applied_s\":%.0f,\"commitCpuMs\":%.1f,"
      "\"bytesPerUpdate\":%.1f,\"segments\":%lu,\"peakRssMB\":%.1f,\"equal\":%s}\n",
      n, n / produced * 1e3, n / applied * 1e3, b.commitMs, static_cast<double>(bytes) / n,
      static_cast<unsigned long>(ofA.stats().segmentsOut), peakRssMb(), equal ? "true" : "false");
  return equal ? 0 : 1;
}

int million(const Arguments& arguments) {
  const std::uint32_t agents = arguments.number("agents", 1'000'000), dirty = arguments.number("dirty", 1000);
  std::vector<Node> nodes(3);
  const char* names[] = {"hostA", "hostB", "hostC"};
  nodes[0].open(names[0], arguments.text("dir"));
  const double before = rssMb();
  for (std::uint32_t i = 0; i < agents; ++i) {
    nodes[0].write("a" + std::to_string(i), baseState(i, nodes[0].replica->writer()));
    if (i % 4096 == 4095) nodes[0].flush();
  }
  nodes[0].flush();
  malloc_trim(0);
  const double storeless = arguments.text("dir").empty() ? 0 : rssMb() - before;
  for (std::size_t d = 1; d < 3; ++d) {
    nodes[d].open(names[d], arguments.text("dir"));
    Traffic base;
    exchange(nodes[0], nodes[d], base);
  }
  for (std::uint32_t d = 0; d < 3; ++d)
    for (std::uint32_t k = 0; k < 2; ++k)
      for (std::uint32_t i = 0; i < dirty; ++i) {
        const std::uint32_t which = i * (agents / dirty);
        const std::string agent = "a" + std::to_string(which);
        AgentState state = currentState(nodes[d], agent);
        update(state, which, d, k, nodes[d].replica->writer());
        nodes[d].write(agent, state);
      }
  for (Node& node : nodes) node.flush(), node.commitMs = 0;
  Traffic heal;
  const double start = cpuMs();
  exchange(nodes[0], nodes[1], heal);
  exchange(nodes[0], nodes[2], heal);
  exchange(nodes[1], nodes[2], heal);
  const double all = cpuMs() - start;
  const double commits = nodes[0].commitMs + nodes[1].commitMs + nodes[2].commitMs;
  std::printf(
      "{\"w\":\"million\",\"agents\":%u,\"dirty\":%u,\"healCpuMs\":%.2f,\"commitCpuMs\":%.2f,\"bytes\":%zu,"
      "\"bytesPerResidentAgent\":%.0f,\"equal\":%s}\n",
      agents, dirty, all - commits, commits, heal.bytes, storeless * 1048576 / agents,
      allEqual(nodes) ? "true" : "false");
  return allEqual(nodes) ? 0 : 1;
}

int idle(const Arguments& arguments) {
  const std::uint32_t devices = arguments.number("devices", 50);
  std::vector<Node> nodes(devices);
  for (std::uint32_t d = 0; d < devices; ++d) {
    char name[40];
    std::snprintf(name, sizeof name, "%032x", 0xabcdef01u * (d + 1));
    nodes[d].open(name, "");
    AgentState state;
    state.consecutiveFailureCount = 1'000'000;
    for (int i = 0; i < 100; ++i) nodes[d].write("agent-" + std::to_string(d), state);
    const Write entity{Kind::link, "l" + std::to_string(d), "", true};
    (void)entity;
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
  const std::string what = argc > 1 ? argv[1] : "";
  Arguments arguments;
  for (int i = 2; i + 1 < argc; i += 2) arguments.values[std::string(argv[i]).substr(2)] = argv[i + 1];
  if (what == "w1") return w1(arguments);
  if (what == "w2") return w2(arguments);
  if (what == "million") return million(arguments);
  if (what == "idle") return idle(arguments);
  std::fprintf(stderr, "usage: witan_replication_bench w1|w2|million|idle [--agents N] [--updates K] [--dir D] ...\n");
  return 2;
}
