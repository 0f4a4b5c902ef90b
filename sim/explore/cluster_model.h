// ClusterModel: two or three real devices (node::Replica on stores in memory), and everything that the stated bounds
// let happen between them, in every order.
//
// A state: the local state of each device (sim/explore/device_table.h says when two are one); the connections, as each
// end sees them, and the messages under way in them; what of the bounds is used up; and what was promised to somebody:
// the writes that are durable, the answers that were given. Nothing else exists, so states with equal numbers are
// equal.
//
// A message is what one drain said to one peer. Of the two protocols on a stream one is explored, the sync protocol or
// adjudication; the other's frames arrive at once. A connection is two ordered streams; it can die at any moment, and
// each end notices at some later one. A device that loses power is back at once; being away for longer is being cut
// off. Time passes only where a step says so.
//
// Checked in every state: see problem(). In every state without messages under way also the ending: everything is
// connected, all is delivered, clocks go on: then all devices must agree, and every promise be kept.
#pragma once

#include "sim/explore.h"
#include "sim/explore/device_table.h"

namespace witan::sim {

// How often each thing may happen; all devices and connections together where nothing else is said.
struct ClusterBounds {
  std::uint32_t devices = 2;
  // replication
  std::uint32_t writesEach = 0, writes = 0, removals = 0;
  // adjudication
  bool ledgers = false;
  std::uint32_t proposals = 0, moves = 0, seizures = 0;
  std::uint32_t losses = 0, repetitions = 0, overtakings = 0;  // of messages of adjudication
  // both
  std::uint32_t connections = 1;  // of each pair
  bool chain = false;             // only neighbours meet: a and b, b and c
  std::uint32_t cuts = 0;
  std::uint32_t crashes = 0;
  bool midWrite = false;  // the power may also go before any write of a step
  std::uint32_t ticks = 0;
};

class ClusterModel final : public ExploreModel {
 public:
  explicit ClusterModel(const ClusterBounds& bounds);

  Explored start() override;
  void steps(const Explored& from, const Visit& visit) override;
  std::string nameOf(const Explored& from, std::size_t n) override;
  std::string problem(const Explored& state) override;
  std::string describe(const Explored& state) override;

  std::size_t locals() const { return table_.locals(); }

 private:
  enum Use : std::size_t {
    writes,
    removals,
    proposals,
    moves,
    seizures,
    losses,
    repetitions,
    overtakings,
    cuts,
    crashes,
    ticks,
    kUses
  };
  struct Line {  // between the devices a < b
    bool alive = false;
    std::array<bool, 2> up{};                           // as a, as b sees it
    std::uint32_t made = 0;                             // connections so far
    std::array<std::vector<std::uint32_t>, 2> towards;  // messages under way to a, to b
  };
  struct Cluster {
    std::vector<std::uint32_t> local;
    std::vector<Line> lines;
    std::array<std::uint32_t, kUses> used{};
    std::uint32_t promises = 0;  // text: writes and answers
    std::uint32_t broken = 0;    // text: what went wrong on the way here; "": nothing
  };
  // One step: a happening at a device, or something between two.
  struct Step {
    enum class Kind : std::uint8_t { happening, connect, deliver, lose, repeat, cut, notice } kind = Kind::happening;
    std::uint32_t device = 0, peer = 0;  // deliver, lose, repeat: to `device`, from `peer`
    std::uint32_t place = 0;             // in the queue
    Happening happening;
    std::optional<Use> use;
  };
  // A write, as whoever has read everything would know it.
  struct Written {
    replication::Dot dot;
    bool removal = false;
    replication::VectorClock context;
  };
  struct Promises {
    std::vector<Written> writes;
    std::vector<std::string> answers;
  };

  static Cluster parse(const Explored& state, const ClusterBounds& bounds);
  static Explored numbers(const Cluster& cluster);
  Line& line(Cluster& cluster, std::uint32_t a, std::uint32_t b) const;
  static std::size_t side(std::uint32_t device, std::uint32_t peer) { return device < peer ? 0 : 1; }

  void walk(Cluster& from, const std::function<void(const Step&)>& visit);
  void walkDevice(Cluster& from, std::uint32_t device, const std::function<void(const Step&)>& visit);
  void walkLine(Cluster& from, std::uint32_t a, std::uint32_t b, const std::function<void(const Step&)>& visit);
  void withPower(Cluster& from, Step step, const std::function<void(const Step&)>& visit);
  Happening happeningOf(Cluster& from, const Step& step) const;
  Cluster after(const Cluster& from, const Step& step);
  void happen(Cluster& cluster, std::uint32_t device, const Happening& happening);
  void handOver(Cluster& cluster);
  void settle(Cluster& cluster);
  void connect(Cluster& cluster, std::uint32_t a, std::uint32_t b);
  void losePower(Cluster& cluster, std::uint32_t device);
  std::string words(Cluster& from, const Step& step);

  // Checks.
  std::uint32_t numberOf(Promises promises);
  void promiseWrite(Cluster& cluster, std::uint32_t device, const replication::Dot& dot, bool removal,
                    const Observed& before);
  void promiseAnswer(Cluster& cluster, const std::string& answer);
  std::string problemOf(const Cluster& cluster);
  std::string replicationProblem(const Cluster& cluster, const Promises& promises);
  std::string logProblem(const Cluster& cluster);
  bool atRest(const Cluster& cluster) const;
  std::string endingProblem(const Cluster& cluster);
  std::string disagreement(const Cluster& cluster);
  std::string ledgerDisagreement(const Cluster& cluster, const Promises& promises);

  const ClusterBounds bounds_;
  DeviceTable table_;
  Interner promiseTexts_, problems_;
  std::deque<Promises> promises_;  // by number; references stay valid
  Explored start_;
};

}  // namespace witan::sim
