// Daemon: one node of a cluster at work: its data directory (node/data_dir/node_dir.h), its links
// (node/peers/peer_manager.h), its agents, and the clock. It feeds the Replica what happens and carries out what the
// Replica says; it decides nothing.
//
//   Daemon::open(loop, log, dir, config)    takes the directory
//   start()                                 listens, dials, works; scheduleTick() after anything that others did to it
//   stop()                                  says good-bye, makes everything durable; done() is called then
//
// All on the loop's thread. Loop and log outlive it. An error of the store ends it: failed() says so, and nothing more
// is acknowledged.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/host/device_gate.h"
#include "base/histogram.h"
#include "net/loop.h"
#include "node/backup/backup.h"
#include "node/cluster/device_key.h"
#include "node/config/daemon_config.h"
#include "node/daemon/agent_files.h"
#include "node/daemon/node_clock.h"
#include "node/daemon/published_files.h"
#include "node/daemon/request_rights.h"
#include "node/data_dir/node_dir.h"
#include "node/enrolment/membership_inquiry.h"
#include "node/etcd/etcd_gateway.h"
#include "node/inbox/inbox_hooks.h"
#include "node/inbox/inbox_index.h"
#include "node/inbox/refused_answers.h"
#include "node/ledgers/holder_questions.h"
#include "node/ledgers/ledger_readers.h"
#include "node/peers/peer_manager.h"
#include "node/slices/slices.h"
#include "node/telemetry/tracer.h"
#include "node/tools/tool_broker.h"

namespace witan::node {

class MarketHost;
class WitnessRounds;

// What this node did since it started, for /metrics.
struct NodeTimings {
  Histogram rounds, answers;
  std::array<std::uint64_t, enumNames<kernel::Outcome>().size()> outcomes{};  // of the answers
};

class Daemon {
 public:
  // `wall` outlives it; null: the system's.
  static Result<std::unique_ptr<Daemon>> open(net::Loop& loop, Log& log, const std::filesystem::path& dir,
                                              DaemonConfig config, Clock* wall = nullptr);
  ~Daemon();

  // Errors: an address that cannot be listened on.
  Status start();
  // Takes no more work, tells the peers, makes everything durable, then calls `done`.
  void stop(std::function<void()> done);
  bool stopping() const { return stopping_; }
  // Whether this device got or lost the role `ledger` since the node started.
  bool ledgersChanged() const { return openedWithLedgers_ != keepsLedgers(); }
  // Why it cannot go on; ok while it can.
  const Status& failed() const { return failed_; }
  std::function<void()> onFailure;

  // Something was done to the replica: a round is due, soon.
  void scheduleTick();
  // The same at once. Errors: of the store; the daemon fails then.
  Status tick();
  // Once, after so many milliseconds. Dropped if the loop ends before.
  void later(std::int64_t ms, std::function<void()> work) { loop_.after(ms, std::move(work)); }
  // What this node believes; see base/held_clock.h.
  Now now() const;

  // The answer, once it is durable. After `waitMs` without one it is an error (unavailable), and the request goes on.
  // A node that is stopped meanwhile says that too (unavailable), or, of a request that its outbox does not keep,
  // conflict. Errors: it is not taken, and `done` is never called.
  using Done = std::function<void(Result<Answer>)>;
  Status ask(Request request, std::int64_t waitMs, Done done);

  // Asks devices with a copy of a partition, where this one keeps none. `done` is called once, later or at once.
  void askHolders(EntryAsk question, HolderQuestions::Done done);

  // A backup of this moment, written beside the work. Errors: conflict if one is being written; of the store.
  Status backUp(BackupOrder order, BackupJob::Done done);

  const std::filesystem::path& path() const { return path_; }
  const DaemonConfig& config() const { return config_; }
  const ClusterFile& cluster() const { return cluster_; }
  const SigningKey& key() const { return key_; }
  // Takes a new key of its own: asks for it, and goes over to it once the roster has it. Errors: it cannot be written.
  Status rotateKey();
  // Reads the policy of its agents again. In force from now on, or, with an error, the one before. Errors: of the file;
  // it is gone.
  Status reloadPolicy();
  // Why the policy file was not taken when it was last read again; empty: it was.
  const std::string& policyProblem() const { return policyProblem_; }
  // Of its agents and graphs. Null: there is none.
  const agents::Policy* policy() const { return gate_ ? gate_->policy() : nullptr; }
  // Names the policy in force; empty: no agents work here.
  std::string policyEpoch() const { return gate_ ? gate_->epoch() : std::string(); }
  // Those in files beside those of this build.
  const AgentFiles& agentFiles() const { return agentFiles_; }
  PublishedFiles& published() { return *published_; }
  // Puts what the admin has published where the next start reads it.
  void takePublished();
  // Of its agents. Null: none work here, or it is stopping.
  ToolBroker* tools() { return tools_.get(); }
  const std::vector<std::string>& addresses() const { return addresses_; }
  NodeDir& dir() { return *dir_; }
  Replica& replica() { return dir_->replica(); }
  RosterStore& roster() { return rosters_; }
  EnrolmentService& enrolment() { return *enrolment_; }
  PeerManager& peers() { return *peers_; }
  SliceStore& slices() { return *sliceStore_; }
  LedgerReaders& readers() { return *readers_; }
  // What waits for people in this device's records. Errors: of reading.
  Result<InboxIndex*> inbox();
  RefusedAnswers& refusedAnswers() { return *refused_; }
  // This device in the roster. Null: it was taken out.
  const RosterDevice* me() const { return rosters_.current().find(device_); }
  // That this device was revoked, why, and since when it knows. Empty: it was not.
  std::string revocation() const;
  Log& log() { return log_; }
  // Null: nothing is traced.
  Tracer* tracer() { return tracer_.get(); }
  std::int64_t startedMs() const { return startedMs_; }
  std::uint64_t rounds() const { return rounds_; }
  std::int64_t slowestRoundMs() const { return slowestRoundMs_; }
  const NodeTimings& timings() const { return timings_; }
  std::size_t waitingAnswers() const { return waiting_.size(); }
  // Null: the configuration names none.
  const WitnessRounds* witnesses() const { return witnesses_.get(); }
  // Null: this node takes no part in the market.
  MarketHost* market() { return market_.get(); }
  // Null: etcd is not asked from here.
  const EtcdGateway* etcd() const { return etcd_.get(); }

  // Each entry that became durable here. Returned handle: for unfollow().
  std::uint64_t follow(LedgerFeed::Visit visit);
  void unfollow(std::uint64_t handle) { followers_.erase(handle); }

 private:
  Daemon(net::Loop& loop, Log& log, std::filesystem::path path, DaemonConfig config, ClusterFile cluster,
         std::string device, SigningKey key, RosterStore rosters, Clock* wall);
  void failWaiting();
  Error noAnswer(const std::string& id, std::uint64_t asked);
  Status openDir();
  Status openPeers();
  Status openEtcd();
  Status openWitnesses();
  NodeSetup setup();
  bool keepsLedgers() const { return me() == nullptr || me()->keepsLedgers(); }
  bool copiesOnly() const { return me() != nullptr && me()->copiesOnly(); }
  Result<std::shared_ptr<const AgentSetup>> agentSetup();
  Status letFounderTakeOver();
  Status bootstrapMissing();
  void rosterChanged();
  void reconcileMembership();
  void noteRevocation();
  void alarm(const std::string& kind, const std::string& device, const std::string& what);
  void askIfAlone();
  void askIfAloneLater();
  void onConnected(const std::string& device);
  void onFrame(const std::string& device, std::string_view frame);
  Status onSliceFrame(const std::string& device, std::string_view frame);
  Status onEntryAsk(const std::string& device, std::string_view frame);
  void workQuestions();
  Status tellFollowers();
  Status sendSlices();
  Status openHooks();
  Status openMarket();
  void lookAtInbox();
  void applyRights();
  void switchToNextKey();
  void askForNextKey();
  void askForNextKey(const std::string& device);
  void seekForNextKey();
  Status work();
  void carryOut(Effects& effects);
  void callTool(const agents::ToolCall& call);
  void report(const Notice& notice);
  void give(const node::Answered& answered);
  void armTimer();
  void fail(const Error& why);

  struct Waiting {
    Done done;
    net::Loop::TimerId timer = 0;
    std::int64_t sinceMs = 0;
    std::uint64_t asked = 0;  // one operation id may name two requests: fingerprintOf() tells them apart
  };

  net::Loop& loop_;
  Log& log_;
  const std::filesystem::path path_;
  const DaemonConfig config_;
  const ClusterFile cluster_;
  const std::string device_;
  SigningKey key_;
  RosterStore rosters_;
  RequestRights rights_;
  mcp::RateLimit refusalLines_{20, 1};        // in the log, of requests that others may not make
  std::shared_ptr<agents::DeviceGate> gate_;  // of its agents; null: none work here
  std::string policyProblem_;
  AgentFiles agentFiles_;
  std::unique_ptr<NodeDir> dir_;
  std::unique_ptr<EnrolmentService> enrolment_;
  std::unique_ptr<PeerManager> peers_;
  std::unique_ptr<LedgerFeed> feed_;
  std::unique_ptr<LedgerReaders> readers_;
  std::unique_ptr<SliceServer> sliceServer_;
  std::unique_ptr<SliceStore> sliceStore_;
  HolderQuestions questions_;
  bool asksAgain_ = false;                                     // a look at them is due
  std::map<std::string, mcp::RateLimit, std::less<>> askers_;  // of this device's copies
  std::int64_t tellsFromMs_ = 0;                               // until then it answers none
  std::unique_ptr<InboxIndex> inbox_;
  std::unique_ptr<RefusedAnswers> refused_;
  agents::SecureStore hookSecrets_;
  std::unique_ptr<InboxHooks> hooks_;    // null: nobody is told
  std::set<std::string> changedGraphs_;  // since the hooks were told what their runs ask
  net::Loop::TimerId inboxTimer_ = 0, publishedTimer_ = 0, seekTimer_ = 0;
  std::size_t seekNext_ = 0;
  std::unique_ptr<PublishedFiles> published_;
  std::map<std::uint64_t, LedgerFeed::Visit> followers_;
  std::uint64_t nextFollower_ = 1;
  std::multimap<std::string, Waiting> waiting_;  // by operation id
  std::vector<std::string> addresses_;
  bool due_ = false, stopping_ = false, working_ = false;
  bool openedWithLedgers_ = true;
  net::Loop::TimerId timer_ = 0;
  std::int64_t startedMs_ = 0, slowestRoundMs_ = 0;
  std::uint64_t rounds_ = 0;
  NodeTimings timings_;
  Status failed_ = okStatus();
  std::unique_ptr<EtcdGateway> etcd_;
  std::unique_ptr<Tracer> tracer_;
  std::unique_ptr<ToolBroker> tools_;   // of its agents; null: none work here
  std::unique_ptr<MarketHost> market_;  // null: no part is taken in the market
  std::unique_ptr<BackupJob> backup_;   // goes before the stores
  std::unique_ptr<WitnessRounds> witnesses_;
  std::unique_ptr<MembershipInquiry> inquiry_;
  std::size_t alone_ = 0;  // looks since the last link
  mutable NodeClock clock_;
};

}  // namespace witan::node
