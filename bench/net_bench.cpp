// Links over TLS on loopback: frames a second, round trips, handshakes, memory a link.
//
//   witan_net_bench [--size BYTES] [--links N] [--seconds S]
//
// One thread serves, one calls; processor time of both counts. Prints one line of JSON.
#include <cstdio>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/frame.h"
#include "bench/bench_tools.h"
#include "net/peer_network.h"

namespace {

using namespace witan;
using namespace witan::net;

TlsIdentity identity(char letter) {
  return *tlsIdentityOf(*SigningKey::fromSeed(std::string(32, letter)), std::string(1, letter));
}

// Type 1 is only counted, type 2 comes back.
struct EchoServer {
  EchoServer() {
    PeerEvents events;
    events.up = [this](const LinkInfo& info) { network->trust(info.id); };
    events.frame = [this](LinkId link, std::string_view frame) {
      if (frame[4] == 2) network->send(link, std::string(frame));
    };
    PeerNetworkOptions options;
    options.maxLinks = 4096;
    network = std::make_unique<PeerNetwork>(loop, identity('s'), options, std::move(events));
    address = *network->listen("127.0.0.1:0");
    thread = std::thread([this] { loop.run(); });
  }
  ~EchoServer() {
    loop.stop();
    thread.join();
  }
  Loop loop;
  std::unique_ptr<PeerNetwork> network;
  std::string address;
  std::thread thread;
};

struct Caller {
  Caller() {
    PeerEvents events;
    events.up = [this](const LinkInfo& info) { links.push_back(info.id); };
    events.frame = [this](LinkId link, std::string_view) {
      if (onEcho) onEcho(link);
    };
    events.log = [](std::string_view, std::string_view what) {
      std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
    };
    PeerNetworkOptions options;
    options.maxLinks = 4096;
    network = std::make_unique<PeerNetwork>(loop, identity('c'), options, std::move(events));
  }
  void connect(const std::string& address, std::size_t count) {
    const std::size_t before = links.size();
    for (std::size_t i = 0; i < count; ++i) {
      network->dial(std::to_string(before + i), address, std::nullopt);
      // No more than the server lets shake hands at a time from one address.
      loop.runUntil([&] { return links.size() + 8 > before + i; }, 60'000);
    }
    loop.runUntil([&] { return links.size() == before + count; }, 60'000);
  }

  Loop loop;
  std::vector<LinkId> links;
  std::function<void(LinkId)> onEcho;
  std::unique_ptr<PeerNetwork> network;
};

std::string frameOf(std::uint8_t type, std::size_t bytes) {
  std::string out;
  appendFrame(out, type, 1, std::string((bytes + 7) / 8 * 8, 'x'));
  return out;
}

// Keeps `window` echoes under way on each of `links` links; gives round trips a second, and their times.
double roundTrips(Caller& caller, std::size_t links, std::size_t window, std::size_t size, double seconds,
                  std::vector<double>& times) {
  const std::string frame = frameOf(2, size);
  std::map<LinkId, std::deque<double>> sent;
  std::size_t done = 0;
  const bench::Stopwatch watch;
  const auto send = [&](LinkId link) {
    sent[link].push_back(watch.seconds());
    caller.network->send(link, frame);
  };
  caller.onEcho = [&](LinkId link) {
    times.push_back(watch.seconds() - sent[link].front());
    sent[link].pop_front();
    ++done;
    if (watch.seconds() < seconds) send(link);
  };
  for (std::size_t i = 0; i < links; ++i)
    for (std::size_t w = 0; w < window; ++w) send(caller.links[i]);
  caller.loop.runUntil([&] { return watch.seconds() >= seconds; }, 60'000);
  const double rate = static_cast<double>(done) / watch.seconds();
  caller.loop.runUntil(
      [&] { return times.size() == done && done > 0 && caller.network->queuedBytes(caller.links[0]) == 0; }, 1'000);
  caller.onEcho = nullptr;
  caller.loop.runUntil([] { return false; }, 50);
  return rate;
}

// One way, as fast as the queue takes them.
double oneWay(Caller& caller, std::size_t size, double seconds) {
  const std::string frame = frameOf(1, size);
  std::size_t sent = 0;
  const bench::Stopwatch watch;
  while (watch.seconds() < seconds) {
    while (caller.network->queuedBytes(caller.links[0]) < 1u << 20) {
      caller.network->send(caller.links[0], frame);
      ++sent;
    }
    caller.loop.runUntil([&] { return caller.network->queuedBytes(caller.links[0]) < 1u << 19; }, 1'000);
  }
  return static_cast<double>(sent) / watch.seconds();
}

}  // namespace

int main(int count, char** words) {
  const bench::Arguments arguments(count, words, {"--size", "--links", "--seconds"});
  const std::size_t size = arguments.number("--size", 200), links = arguments.number("--links", 64);
  const auto seconds = static_cast<double>(arguments.number("--seconds", 2));
  EchoServer server;
  Caller caller;
  caller.connect(server.address, 1);
  std::vector<double> alone, pipelined, together;
  const double aloneRate = roundTrips(caller, 1, 1, size, seconds, alone);
  const double pipelinedRate = roundTrips(caller, 1, 64, size, seconds, pipelined);
  const bench::ThreadStopwatch cpuWatch(CLOCK_PROCESS_CPUTIME_ID);
  const bench::Stopwatch oneWayWatch;
  const double oneWayRate = oneWay(caller, size, seconds);
  const double oneWayCpu = cpuWatch.seconds() / (oneWayRate * oneWayWatch.seconds());
  const std::uint64_t memoryBefore = bench::residentBytes();
  const bench::Stopwatch handshakes;
  caller.connect(server.address, links - 1);
  const double handshakeRate = static_cast<double>(links - 1) / handshakes.seconds();
  const std::uint64_t memory = (bench::residentBytes() - memoryBefore) / std::max<std::size_t>(1, links - 1);
  const double togetherRate = roundTrips(caller, links, 4, size, seconds, together);
  std::printf(
      "{\"bytes\":%zu,\"one_in_flight\":{\"per_s\":%.0f,\"p50_us\":%.0f,\"p99_us\":%.0f},"
      "\"64_in_flight\":{\"per_s\":%.0f,\"p50_us\":%.0f,\"p99_us\":%.0f},"
      "\"one_way\":{\"per_s\":%.0f,\"cpu_us\":%.2f},\"handshakes_per_s\":%.0f,\"bytes_a_link_both_ends\":%llu,"
      "\"%zu_links_4_in_flight\":{\"per_s\":%.0f,\"p50_us\":%.0f,\"p99_us\":%.0f}}\n",
      size, aloneRate, 1e6 * bench::median(alone), 1e6 * bench::quantile(alone, 0.99), pipelinedRate,
      1e6 * bench::median(pipelined), 1e6 * bench::quantile(pipelined, 0.99), oneWayRate, 1e6 * oneWayCpu,
      handshakeRate, static_cast<unsigned long long>(memory), links, togetherRate, 1e6 * bench::median(together),
      1e6 * bench::quantile(together, 0.99));
}
