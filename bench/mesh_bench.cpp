// Many simulated devices of few links each (replica/mesh.h, replication/tree_link.h), in virtual time, on one core:
// how long an edit takes to all of them, how many frames carry it, how many links a device has, what it sends when
// nothing happens, and how long the others are in pieces after a third have died without a word.
//
//   witan_mesh_bench [--devices N] [--links N] [--keepers N] [--writers N] [--edits N] [--delay MS] [--minutes N]
//                    [--seed N] [--check 1]
//
// --keepers: devices that keep ledgers (default: all). --check 1: fails beyond 1.5 payload frames for each device and
// edit, or --links links of a device, or if the survivors are in pieces 30 s after. None of the simulator's checkers
// looks: `witan sim run` has them.
#include <map>

#include "base/signature_memory.h"
#include "bench/bench_tools.h"
#include "replication/records/agent_state.h"
#include "replication/sync_messages.h"
#include "sim/cluster/cluster.h"
#include "sim/trace_format.h"

namespace {

using namespace witan;
using namespace witan::bench;
using namespace witan::sim;

constexpr Micros kDeadAfter = 20 * kSecond;  // net::PeerNetworkOptions::deadAfterMs
constexpr Micros kGap = 2 * kSecond;         // between edits
constexpr double kRecordBytes = 15.2;        // a second and link: ping and pong, in TLS records (docs/SCALE.md)

class Bench final : public ClusterObserver {
 public:
  Bench(const Plan& plan, std::uint64_t writers, bool isChecked)
      : cluster_(plan, options_), writers_(writers), checked_(isChecked), random_(plan.options.seed) {
    cluster_.add(*this);
    cluster_.found();
  }

  // Until all are linked and have each other's statements.
  void begin() {
    const ThreadStopwatch cpu;
    const Micros start = now();
    while (pieces() > 1 || !allAdmitted()) runFor(kSecond);
    std::printf("began: all linked and admitted after %lld s, %.1f s of processor\n", seconds(now() - start),
                cpu.seconds());
    runFor(kSecond * 60);
  }

  void idle(std::string_view when) {
    const std::uint64_t before = cluster_.network().bytes();
    bytesOf_.clear();
    runFor(60 * kSecond);
    const auto rate = [&](std::uint64_t sum) { return static_cast<double>(sum) / 60 / static_cast<double>(alive()); };
    const double bytes = rate(cluster_.network().bytes() - before);
    std::printf("idle %s: %.1f bytes/s a device of frames, %.1f with the records of quiet links; of these", when.data(),
                bytes, bytes + kRecordBytes * meanLinks());
    for (const auto& [type, sum] : bytesOf_) std::printf(" %s %.1f", std::string(frameName(type)).c_str(), rate(sum));
    std::printf("\n");
  }

  // The first few over links that just came up go over all of them, and are not judged.
  void edit(std::uint64_t edits, std::string_view when, bool judged) {
    arrivals_.clear(), edits_.clear(), segments_ = 0;
    for (std::uint64_t n = 0; n < edits; ++n) write(), runFor(kGap);
    runFor(30 * kSecond);
    std::uint64_t missing = 0;
    for (const Edit& one : edits_) missing += alive() - one.have.size();
    const double frames = static_cast<double>(segments_) / static_cast<double>(edits * alive());
    std::printf(
        "%llu edits %s: to a device %.0f ms (median), %.0f (p99), %.0f (last); %.3f payload frames a device "
        "and edit; lacking after 30 s: %llu\n",
        number(edits), when.data(), median(arrivals_), quantile(arrivals_, 0.99), quantile(arrivals_, 1), frames,
        number(missing));
    require(!judged || (frames <= 1.5 && missing == 0),
            "an edit takes more than 1.5 frames a device, or does not come");
  }

  void links(std::string_view when, std::uint64_t most) {
    std::vector<double> all;
    for (const auto& seat : cluster_.seats())
      if (seat->running()) all.push_back(static_cast<double>(seat->replica().connectedPeers().size()));
    std::printf("links %s: %.1f on average, %.0f (median), %.0f (p99), %.0f at most\n", when.data(), meanLinks(),
                median(all), quantile(all, 0.99), quantile(all, 1));
    require(quantile(all, 1) <= static_cast<double>(most), "a device keeps too many links");
  }

  // How much devices know of what others have acknowledged: of all, and as they now have it. Then what was replaced
  // goes.
  void acknowledged(std::string_view when) {
    double known = 0, current = 0;
    for (const auto& seat : cluster_.seats()) {
      const replication::Space* space = seat->running() ? agentsOf(*seat) : nullptr;
      if (space == nullptr) continue;
      const replication::VectorClock clock = space->clock();
      const auto& all = seat->replica().data().acks().entries();
      const auto at = all.find("agents/main");
      if (at == all.end()) continue;
      known += static_cast<double>(at->second.size());
      for (const auto& [device, acked] : at->second) current += acked == clock ? 1 : 0;
    }
    const double devices = static_cast<double>(alive()) * static_cast<double>(cluster_.seats().size());
    std::printf("acknowledgements known %s: of %.0f%% of the devices, of %.0f%% as they are\n", when.data(),
                100 * known / devices, 100 * current / devices);
  }

  // Without a word: nothing comes from them or reaches them, and each link is given up after kDeadAfter.
  void kill(std::uint64_t share) {
    std::vector<std::uint32_t> dead;
    for (std::uint32_t device = 1; device < cluster_.seats().size(); ++device)  // the first owns the partition
      if (random_.below(100) < share) dead.push_back(device);
    Network& network = cluster_.network();
    const auto isDead = [&](std::uint32_t device) { return std::ranges::binary_search(dead, device); };
    for (const std::uint32_t device : dead)
      for (std::uint32_t other = 0; other < cluster_.seats().size(); ++other)
        if (other != device) network.block(device, other), network.block(other, device);
    const Micros start = now();
    runFor(kDeadAfter);
    for (const std::uint32_t device : dead) {
      for (std::uint32_t other = 0; other < cluster_.seats().size(); ++other)
        if (!isDead(other) && network.connected(device, other)) network.close(other, device);
      cluster_.switchOff(device, false, -1);
    }
    std::printf("%llu of %llu devices dead without a word: %llu pieces when that is noticed (%lld s)",
                number(dead.size()), number(cluster_.seats().size()), number(pieces()), seconds(now() - start));
    while (pieces() > 1 && now() - start < 600 * kSecond) runFor(kSecond / 4);
    std::printf("; connected again %.2f s after their death\n", static_cast<double>(now() - start) / kSecond);
    require(pieces() == 1 && now() - start <= 30 * kSecond, "the survivors stay in pieces");
  }

  void runUntil(Micros until) {
    Agenda& agenda = cluster_.agenda();
    while (!agenda.empty() && agenda.next().at <= until && !cluster_.hasFailed()) {
      cluster_.step(agenda.take());
      ++steps_;
    }
    reached_ = std::max(reached_, until);
  }
  void runFor(Micros time) { runUntil(now() + time); }
  Micros now() const { return reached_; }
  std::uint64_t steps() const { return steps_; }
  bool failed() const { return failed_; }

  // --- ClusterObserver
  void onBytes(std::uint32_t, std::uint32_t, std::string_view frames) override {
    forEachFrame(frames, [&](std::string_view frame) {
      const auto type = static_cast<replication::FrameType>(frame[4]);
      segments_ += type == replication::FrameType::segment || type == replication::FrameType::live ? 1 : 0;
      bytesOf_[static_cast<std::uint8_t>(type)] += frame.size();
    });
  }
  void onDurable(Seat& at) override {
    for (Edit& one : edits_) {
      if (one.have.contains(at.index())) continue;
      const replication::Space* space = agentsOf(at);
      const auto writer = space == nullptr ? std::nullopt : space->writers().find(one.dot.host);
      if (!writer || !space->vector().covers(*writer, one.dot.counter)) continue;
      one.have.insert(at.index());
      arrivals_.push_back(static_cast<double>(cluster_.agenda().now() - one.at) / 1000);
    }
  }

 private:
  struct Edit {
    replication::Dot dot;
    Micros at = 0;
    std::set<std::uint32_t> have;
  };

  static unsigned long long number(std::uint64_t n) { return n; }
  static long long seconds(Micros micros) { return micros / kSecond; }

  static const replication::Space* agentsOf(Seat& at) {
    return at.replica().data().database(replication::DatabaseName::agents).find("main");
  }

  void require(bool holds, const char* otherwise) {
    if (!checked_ || holds) return;
    std::printf("FAILED: %s\n", otherwise);
    failed_ = true;
  }

  std::uint64_t alive() {
    std::uint64_t n = 0;
    for (const auto& seat : cluster_.seats()) n += seat->running() ? 1 : 0;
    return n;
  }
  double meanLinks() {
    double sum = 0;
    for (const auto& seat : cluster_.seats())
      if (seat->running()) sum += static_cast<double>(seat->replica().connectedPeers().size());
    return sum / static_cast<double>(alive());
  }
  std::uint64_t pieces() {
    std::vector<bool> seen(cluster_.seats().size());
    std::uint64_t n = 0;
    for (std::uint32_t device = 0; device < seen.size(); ++device) {
      if (seen[device] || !cluster_.seat(device).running()) continue;
      ++n;
      const std::vector<bool> reached = cluster_.network().reachedFrom(device);
      for (std::size_t at = 0; at < seen.size(); ++at) seen[at] = seen[at] || reached[at];
    }
    return n;
  }
  bool allAdmitted() {
    return std::ranges::all_of(cluster_.seats(), [&](const auto& seat) {
      const replication::Space* all =
          seat->replica().data().database(replication::DatabaseName::agents).find(replication::kClusterScope);
      return all != nullptr && all->digest().count == cluster_.seats().size();
    });
  }

  void write() {
    Seat* at = nullptr;
    while (at == nullptr || !at->running()) at = cluster_.seats()[random_.below(writers_)].get();
    const std::string self = at->replica().data().writer();
    replication::AgentState state;
    state.slots[0] = {concat("\"", random_.next(), "\""), ++versions_, self};
    const replication::Write write{replication::Kind::agentState, concat("agent-", at->index()),
                                   replication::encodeAgentState(state, self), false};
    const auto dot = must(at->replica().commit(replication::DatabaseName::agents, "main", {&write, 1}), "edit");
    edits_.push_back({dot, cluster_.agenda().now(), {}});
    cluster_.put(at->index(), {});
  }

  const RunOptions options_;
  Cluster cluster_;
  const std::uint64_t writers_;
  const bool checked_;
  SeededRandom random_;
  std::vector<Edit> edits_;
  std::vector<double> arrivals_;
  std::uint64_t segments_ = 0, versions_ = 0, steps_ = 0;
  std::map<std::uint8_t, std::uint64_t> bytesOf_;  // by type of frame, in idle()
  Micros reached_ = 0;
  bool failed_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(
      argc, argv,
      {"--devices", "--links", "--keepers", "--writers", "--edits", "--delay", "--minutes", "--seed", "--check"});
  setvbuf(stdout, nullptr, _IOLBF, 0);
  Plan plan;
  plan.options.seed = arguments.number("--seed", 1);
  const std::uint64_t devices = std::max<std::uint64_t>(20, arguments.number("--devices", 1'000));
  const std::uint64_t edits = arguments.number("--edits", 60), links = arguments.number("--links", 8);
  plan.options.cluster.devices = static_cast<std::int64_t>(devices);
  plan.options.cluster.ledgerReplicas = static_cast<std::int64_t>(arguments.number("--keepers", devices));
  plan.options.cluster.scopes = 0;
  plan.options.cluster.partitions = 1;
  plan.options.cluster.domains = "budget";
  plan.options.network.links = static_cast<std::int64_t>(links);
  plan.options.network.delayMinMicros = static_cast<std::int64_t>(arguments.number("--delay", 50)) * 1'000;
  plan.options.network.delayMeanMicros = 0;
  const SignatureMemory memory;
  const ThreadStopwatch cpu;
  Bench bench(plan, std::min(devices, arguments.number("--writers", 20)), arguments.number("--check", 0) != 0);
  bench.begin();
  bench.idle("before the first edit");
  bench.links("then", links);
  bench.edit(5, "to begin with", false);
  bench.edit(edits, "over the tree", true);
  bench.idle("after them");
  bench.acknowledged("then");
  bench.kill(30);
  bench.edit(5, "of the survivors", false);
  bench.edit(std::max<std::uint64_t>(edits / 4, 1), "over their tree", true);
  bench.links("then", links);
  bench.acknowledged("then");
  bench.runUntil(static_cast<Micros>(arguments.number("--minutes", 10)) * 60 * kSecond);
  bench.acknowledged("in the end");
  std::printf("%llu devices, %lld s of virtual time, %llu steps: %.1f s of processor, %.0f MB resident\n",
              static_cast<unsigned long long>(devices), static_cast<long long>(bench.now() / kSecond),
              static_cast<unsigned long long>(bench.steps()), cpu.seconds(),
              static_cast<double>(residentBytes()) / 1e6);
  return bench.failed() ? 1 : 0;
}
