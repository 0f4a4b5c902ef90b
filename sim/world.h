// World: one run: the devices, the network between them, simulated time, and everything that the plan lets happen.
//
// Two phases. In the safety phase the plan's work and faults happen; the checkers that must hold at every moment look
// at what passes by. In the settling phase nothing new is asked, faults end, operators and counselors do what they
// would: and within the time that the options allow everything pending must be done and all devices agree. Then the
// final checkers look at disks, ledgers and books (sim/final_checks.cpp).
//
// Used by run() (sim/run.h), once. Single-threaded and deterministic.
#pragma once

#include <deque>
#include <memory>
#include <set>

#include "replication/records/plan.h"
#include "sim/book.h"
#include "sim/check/operation.h"
#include "sim/check/run_rules.h"
#include "sim/check/taint.h"
#include "sim/device.h"
#include "sim/digest.h"
#include "sim/etcd_service.h"
#include "sim/network.h"
#include "sim/run.h"

namespace witan::sim {

inline constexpr std::uint32_t kMostDevices = 24;  // of a simulated cluster, with those that join

WITAN_ENUM(ToolSays, done, refused, unreachable, nothing)

class World final : NetworkHooks, EtcdHooks {
 public:
  World(const Plan& plan, const RunOptions& options);
  ~World() override;
  RunResult run();

 private:
  // What a device finds in its inbox when it is free.
  struct Arrival {
    enum class Kind : std::uint8_t {
      connected,
      disconnected,
      frames,
      event,
      tick,
      etcdConnected,
      etcdDisconnected,
      etcdAnswer,
      tool
    } kind = Kind::tick;
    std::uint32_t peer = 0;
    std::uint64_t event = 0;  // of the plan; of a tool: its answer
    std::string frames;
    node::EtcdAnswer answer;
  };
  // A partition whose log here ends in an epoch that this device knows to be over: when it was looked at, how long the
  // log was, how many batches of others had been taken and epochs begun, and where the later epoch begins.
  struct Fence {
    std::uint64_t batches = 0, followed = 0, begun = 0;
    kernel::Epoch last;
    std::uint64_t begins = 0;
    kernel::Epoch later;
  };
  // What a peer has said that it has of an epoch of this device.
  struct Shown {
    std::uint32_t peer = 0;
    std::string partition;
    kernel::Epoch epoch;
    std::uint64_t batches = 0;
  };
  // Power that fails in the middle of a saga.
  struct Strike {
    std::size_t store = 0;
    std::uint64_t steps = 0;
    store::Moment moment = store::Moment::before;
    Micros until = 0;
  };
  struct Seat {
    std::unique_ptr<SimDevice> device;
    std::deque<Arrival> inbox;
    bool workDue = false;
    bool releasing = false;
    node::Effects held;  // durable, not yet out
    Micros imageAt = -1;
    bool retired = false;
    bool wentBack = false;   // its disk is an earlier copy, and it has not started since
    std::uint64_t down = 0;  // faults that keep it switched off
    std::map<std::string, Fence, std::less<>> fenced;
    std::vector<Shown> shown;                                  // in the step that is being made
    std::string spokenAs;                                      // its name as an owner that others have heard
    std::map<std::string, kernel::Epoch, std::less<>> claims;  // of which it has heard durably
    std::uint64_t epochsBegun = 0;
    std::map<std::string, std::uint64_t, std::less<>> batchesLost;  // by partition: most that a lost disk of it had
    std::vector<node::Request> recent;                              // its last requests
    std::map<std::string, std::uint64_t, std::less<>> told;         // by partition: entries of which the trace speaks
    // --- its agents
    std::uint64_t toolsDown = 0;
    std::optional<Strike> strike;
    std::vector<OperationId> heardCalls;  // answered for good in the step that is being made
    std::set<OperationId> settledCalls;   // durably so
    Micros unconfirmedSince = -1;         // no confirmation of mails stands here; -1: one does
    std::map<RunKey, Micros> begun;       // runs, when for the first time
  };

  // NetworkHooks
  bool reachable(std::uint32_t device) const override;
  void onConnected(std::uint32_t device, std::uint32_t peer) override;
  void onDisconnected(std::uint32_t device, std::uint32_t peer) override;
  void onFrames(std::uint32_t device, std::uint32_t peer, std::string frames) override;
  void onNetwork(std::uint32_t device, std::string_view what, std::uint32_t peer) override;
  void onDeparture(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) override;
  void onArrival(std::uint32_t device, std::uint32_t peer, std::string_view frames, std::uint64_t number) override;

  // EtcdHooks: etcd_world.cpp
  bool etcdReachable(std::uint32_t device) const override;
  void onEtcdConnected(std::uint32_t device) override;
  void onEtcdDisconnected(std::uint32_t device) override;
  void onEtcdAnswer(std::uint32_t device, node::EtcdAnswer answer) override;
  void onEtcdApplied(const node::EtcdRequest& request) override;
  void onEtcd(std::uint32_t device, std::string_view what, std::string_view detail) override;
  void startEtcd();
  void sendToEtcd(std::uint32_t device, std::vector<node::EtcdRequest> requests);
  bool blockEtcd(const Event& event, bool block);
  void addEtcdProbes(const node::EtcdCounters& counters);
  std::uint64_t batchesOnDisk(Seat& seat, const std::string& partition);
  std::vector<std::uint64_t> batchesOnDisks(const std::string& partition);
  void rememberBatches(Seat& seat);

  // world.cpp: the run
  std::unique_ptr<Confinement> makeConfinement() const;
  void foundCluster();
  void foundPartitions();
  void step(const Step& step);
  std::uint32_t addSeat();
  // Devices that were there from the beginning: what plans speak of. Later ones only join in.
  std::uint32_t founders() const { return static_cast<std::uint32_t>(plan_.options.cluster.devices); }

  // device_work.cpp
  void put(std::uint32_t device, Arrival arrival);
  void scheduleWork(std::uint32_t device);
  void work(std::uint32_t device);
  void take(Seat& seat, Arrival& arrival);
  void release(std::uint32_t device);
  void setTimer(std::uint32_t device);
  void start(std::uint32_t device);
  void switchOff(std::uint32_t device, bool power, Micros backAt);
  void fail(std::uint32_t device, const Error& why);
  void tellDecisions(Seat& seat);

  // faults.cpp
  void fault(const Event& event, std::uint64_t number);
  void endFault(std::uint64_t number);
  void blockAll(const Event& event, bool block);
  void hostile(const Event& event, std::uint64_t number, std::uint64_t round);
  void hostileFrames(std::uint32_t device, std::uint32_t other, std::uint64_t seed);
  void flap(const Event& event, std::uint64_t number, std::uint64_t round);
  void rot(const Event& event);
  void operate(Seat& seat, const Event& event);
  Status retire(node::Replica& by, std::uint32_t leaving);
  Status join(node::Replica& by);
  Status admit(node::Replica& by, const std::string& device);

  // work.cpp: what agents, people and counselors do on a device
  void act(Seat& seat, const Event& event);
  void write(Seat& seat, replication::DatabaseName database, std::string scope, std::vector<replication::Write> writes);
  std::vector<replication::Write> recordWrites(Seat& seat, const Event& event);
  replication::Write agentWrite(Seat& seat, std::uint64_t agent, std::uint64_t change, Random& random);
  void propose(Seat& seat, const Event& event);
  void proposeAgain(Seat& seat, const Event& event);
  void misuse(Seat& seat, const Event& event);
  void decidePending(Seat& seat, const Event& event, std::string_view impostor = {});
  void submit(Seat& seat, node::Request request, bool plain);
  std::string entityName(const kernel::DomainModule& module, std::uint64_t n) const;
  const kernel::DomainModule* moduleOf(std::string_view domain) const;  // null: none
  // Any ledger replica that runs and has the entity, the given device first; for plausible actions only.
  const kernel::Partition* someCopy(const Seat& seat, const kernel::DomainModule& module, std::string_view entity);

  // agent_world.cpp: agents, and the tools that they call
  struct ToolAnswer {
    std::uint32_t device = 0;
    std::uint64_t life = 0;
    agents::ToolCall call;
    ToolSays says = ToolSays::done;
    std::string content;
  };
  struct BookedTurn {
    RunKey run;
    std::uint32_t device = 0;
    bool durable = false;
  };
  void enterRequest(Seat& seat, const Event& event);
  std::optional<json::value> plausible(const Seat& seat, const Event& event);
  void sayToClerk(Seat& seat, const Event& event);
  void pauseAgent(Seat& seat, const Event& event);
  void confirmMails(Seat& seat, bool stands);
  void watchConfirmation(Seat& seat);
  void callTool(std::uint32_t device, agents::ToolCall call);
  void answerTool(std::uint64_t number);
  void hearTool(Seat& seat, const ToolAnswer& answer);
  void strikeSaga(Seat& seat);
  void watchRuns(Seat& seat);
  bool undisturbed() const;
  void forgetRuns(Seat& seat, bool disk);

  // agent_checks.cpp
  void checkAgents();
  std::string openSagas(Seat& seat, std::set<OperationId>& putAside);
  std::string checkRuns(Seat& seat);
  void expectFacts(std::vector<ExpectedRun>& expected);
  std::vector<BookedRequest> agentRequests(const kernel::DomainModule& module);
  std::optional<BookedRequest> requestOf(const kernel::DomainModule& module, const replication::Plan& plan,
                                         std::size_t n);

  // settle.cpp
  void beginSettling();
  void look();
  std::vector<std::uint32_t> unadmitted();
  void admitAgain();
  void seizeOrphans();
  void decideEverything();
  std::string unsettled();
  std::string unsettledPartition(const std::string& id);
  std::string standingsOf(const std::string& id);
  std::string standingOf(const node::Request& request);

  // standing_checks.cpp: after each step and start of a device
  void rememberStanding(Seat& at);
  void checkRestart(Seat& at);
  void diskLost(Seat& at, Micros since);
  void checkFenced(Seat& at);
  void noteShown(Seat& at, std::uint32_t peer, std::string_view frame);
  void checkShown(Seat& at);
  void checkPutOff(Seat& at);
  void checkCopies(Seat& at);
  void checkSuccession(Seat& at);
  std::string copiesDiffer(const std::string& id);

  // final_checks.cpp
  void checkAtEnd();
  void checkReplicas();
  void checkWrites();
  void checkLedgers();
  void checkRequests();
  void checkConfinement();
  void checkAlarms();

  // ledger_checks.cpp
  void checkLedger(const kernel::DomainModule& module, const std::string& id);
  std::string rowsSound(const kernel::DomainModule& module, const std::string& id);
  Result<PartitionLog> logAt(Seat& at, const std::string& id);
  std::vector<LedgerLine> keptAside(const std::string& id);
  std::string unreported(const std::string& id);
  std::string lostDecision(const std::vector<Operation>& operations, const PartitionLog& log, const std::string& id);

  void failed(std::string checker, std::string reason);
  void trace(std::uint32_t device, std::string_view category, std::string_view what, std::string_view detail = {},
             Micros lasts = 0, std::uint64_t flow = 0);
  void probe(std::string_view name) { ++result_.probes[std::string(name)]; }
  Seat& seat(std::uint32_t device) { return *seats_[device % seats_.size()]; }

  const Plan& plan_;
  const RunOptions& runOptions_;
  std::vector<std::unique_ptr<kernel::DomainModule>> modules_;
  ClusterSetup setup_;
  Agenda agenda_;
  Network network_;
  std::unique_ptr<EtcdService> etcd_;  // null: the embedded mode
  std::vector<std::unique_ptr<Seat>> seats_;
  Book book_;
  // By partition, for each disk that went back: its name as an owner, and where it stood. From there on it may decide
  // again, and begin epochs again that it had begun before.
  std::map<std::string, std::vector<std::pair<std::string, LostRange>>> goneBack_;
  // What should wake an agent: entries and their runs, what was said; who has begun which run; calls, by operation.
  std::map<Book::Key, RunKey> requests_;
  std::vector<BookedTurn> turns_;
  RunRules runRules_;
  std::map<std::string, std::uint64_t> toolCalls_;
  Micros unconfirmedAt_ = -1;  // the last moment at which a device with agents knew of no confirmation of mails
  std::vector<ToolAnswer> toolAnswers_;
  std::unique_ptr<Confinement> confinement_;
  RollingDigest digest_;
  RunResult result_;
  bool tracing_ = false;
  bool recordWentBack_ = false;  // of some device, with its disks
  bool settling_ = false, settled_ = false;
  Micros settleBy_ = 0;
  std::string waitingFor_;
  std::uint64_t looks_ = 0;
  std::uint64_t stories_ = 0;  // numbers for what is made in settling
};

}  // namespace witan::sim
