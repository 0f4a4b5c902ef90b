// Two entities, one saga: a finding that is verified becomes an intake of disclosure once, whatever disk fails at
// whatever write, in whichever life of the device (domains/verification/, replica/ledger_watch.h).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agents/episode/gate.h"
#include "domains/agents.h"
#include "domains/registry.h"
#include "kernel/record/log_batch.h"
#include "replica/agent_runtime.h"
#include "replica/core/messages.h"
#include "replica/replica.h"
#include "replica/replica_effects.h"
#include "replication/records/journal_entity.h"
#include "store/memory_store.h"
#include "tests/reproduced_finding.h"

namespace witan::node::verified_intake_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A policy that denies proposals while it is told to.
class Policy final : public agents::episode::Gate {
 public:
  bool denies = false;
  agents::episode::GateVerdict judge(const agents::episode::GateRequest& request) const override {
    if (denies && request.tool->name == "propose") return {};
    return agents::episode::LocalGate().judge(request);
  }
  std::string epoch() const override { return denies ? "denies" : "allows"; }
};

// A device alone, whose disks fail when they are told to.
class Lab {
 public:
  Lab() {
    for (const char* name : {"verification", "disclosure"}) modules_.push_back(domains::makeDomain(name).value());
    auto setup = std::make_shared<AgentSetup>();
    setup->agents = {domains::findAgent("verified-intake")};
    setup->gate = &policy;
    addLedgerTools(*setup, domains::contentSeals());
    setup->look = [this, look = setup->look](const Replica& replica, const agents::ToolCall& call, Now when) {
      if (blind && call.arguments.at("domain") == "verification")
        return std::optional(agents::episode::Observation{false, nullptr, "the tool did not answer in time", 0, 0});
      if (stale && call.arguments.at("domain") == "disclosure")
        return std::optional(agents::episode::Observation{true, json::object{}, "", 0, 0});
      return look(replica, call, when);
    };
    setup_ = setup;
  }

  std::array<store::MemoryStore, 3> disks;  // journal, agents, ledgers
  std::vector<Answered> answers;
  bool blind = false;  // looks at verification fail
  bool stale = false;  // those at disclosure show portfolios as they began
  Policy policy;

  Status open() {
    ReplicaConfig config;
    config.replication.cluster = "test";
    config.replication.clusterKey = "key";
    config.replication.device = "lab";
    config.replication.freshTag = [this] { return nextTag_++; };
    for (const auto& module : modules_) config.domains.push_back(module.get());
    config.partitions = 1;
    config.agents = setup_;
    WITAN_TRY(opened, Replica::open({disks[0], disks[1], disks[2]}, std::move(config), now()));
    replica_ = std::move(opened);
    return replica_->bootstrap(now(), [&](std::string_view p) { return replica_->owners().find(p) == nullptr; });
  }
  // The power goes, and comes back.
  void crash() {
    replica_.reset();
    for (store::MemoryStore& disk : disks) disk.crash();
  }

  // Until nothing is left to do. Errors: a disk.
  Status settle() {
    Effects effects;
    for (int round = 0; round < 400; ++round) {
      replica_->tick(now());
      effects.clear();
      WITAN_DO(replica_->drain(now(), effects));
      std::move(effects.answers.begin(), effects.answers.end(), std::back_inserter(answers));
      if (replica_->nextTickMs() <= ms_) continue;
      if (replica_->agents()->quiet() && replica_->outbox().size() == 0) return okStatus();
      ms_ = replica_->nextTickMs();
    }
    return Error{ErrorCode::unavailable, "it does not come to rest", ""};
  }

  Status begin(std::size_t module, const std::string& entity, std::string_view fields) {
    return replica_->enqueue(
        initRequest(*modules_[module], entity, "begin-" + std::to_string(module) + entity, *parseJson(fields)), now());
  }
  Status propose(std::size_t module, const std::string& entity, const std::string& role, const std::string& id,
                 std::string_view action) {
    WITAN_TRY(request, proposalRequest(*modules_[module], entity, role, id, *parseJson(action)));
    return replica_->enqueue(std::move(request), now());
  }
  // The beginnings of both entities and the verdict; any of them may have been made in an earlier life.
  Status ask() {
    WITAN_DO(begin(0, "proj", witan::test::kReproducedFinding));
    WITAN_DO(begin(1, "proj", "{}"));
    WITAN_DO(settle());
    return verdict("F1", "verdict");
  }
  // Asked for, and signed.
  Status verdict(const std::string& f, const std::string& id) {
    WITAN_DO(propose(0, "proj", "SeverityAssessment", id,
                     canonicalJson(json::object{{"type", "ProposeVerdict"}, {"f", f}, {"outcome", "VERIFIED"}})));
    WITAN_DO(settle());
    Request sign;
    sign.kind = RequestKind::commit;
    sign.domain = "verification";
    sign.entity = "proj";
    sign.operationId = id + "-signed";
    sign.counselor = "human.verifier";
    sign.reason = "reproduced";
    sign.text = R"({"verdict.by":{")" + f + R"(":[]}})";
    WITAN_DO(replica_->enqueue(std::move(sign), now()));
    return settle();
  }

  // Findings "F{from}" to "F{to}" of "proj" are verified; nothing is done about that yet.
  Status verify(int from, int to) {
    for (int n = from; n <= to; ++n) {
      const std::string f = "F" + std::to_string(n);
      WITAN_DO(verdict(f, "verdict-" + f));
    }
    return okStatus();
  }
  // Somebody enters where the findings of "proj" go.
  Status route(const std::string& payload) {
    replication::Space& journal = **replica_->data().database(replication::DatabaseName::journal).space("main");
    WITAN_TRY(view, replication::journalViewIn(journal, "disclosure/intake/proj"));
    WITAN_TRY(body,
              replication::journalEdit(view, {"disclosure.intake", payload, "ann", now().wallMs(), std::nullopt}));
    const std::array change{
        replication::JournalChange{"disclosure/intake/proj", std::move(body), "", ChangeOrigin::local}};
    WITAN_TRY(writes, replication::journalWrites(journal, change));
    WITAN_TRY(dot, replica_->commit(replication::DatabaseName::journal, "main", writes));
    (void)dot;
    return okStatus();
  }
  // Time passes, a second at a time.
  Status live(int seconds) {
    for (int n = 0; n < seconds; ++n) {
      wait(1'000);
      WITAN_DO(settle());
    }
    return okStatus();
  }

  // Findings that wait, by their entries.
  std::vector<std::string> waiting() {
    std::vector<std::string> findings;
    auto* entries = replica_->data().database(replication::DatabaseName::journal).find("main");
    if (entries == nullptr) return findings;
    for (const std::string& id : entries->keys(replication::Kind::journal, "disclosure/waiting/")) {
      const auto view = replication::journalViewIn(*entries, id).value();
      if (view.shown)
        findings.emplace_back(parseJson(view.siblings[*view.shown].body->payload)->at("finding").as_string());
    }
    std::sort(findings.begin(), findings.end());
    return findings;
  }

  Replica& replica() { return *replica_; }
  Now now() const { return {Time{ms_ * 1000}, ms_}; }
  void wait(std::int64_t ms) { ms_ += ms; }

  // What the ledger of a domain says was decided: process and outcome.
  std::vector<std::string> decided(const std::string& domain) {
    std::vector<std::string> lines;
    PartitionHost& host = *replica_->host(partitionId(domain, 0));
    for (std::uint64_t n = 0; n < host.durableBatches(); ++n) {
      const std::string value = host.ledger().batch(n).value();
      const auto read = kernel::readLogBatch(value, [&](const kernel::LogRecord& record) -> Status {
        if (record.kind != kernel::RecordKind::entry) return okStatus();
        WITAN_TRY(entry, kernel::readEntryView(record.payload));
        lines.push_back(std::string(enumName(entry.tag)) + " " + std::string(entry.action));
        return okStatus();
      });
      EXPECT_TRUE(read.ok());
    }
    return lines;
  }

 private:
  std::vector<std::unique_ptr<kernel::DomainModule>> modules_;
  std::shared_ptr<const AgentSetup> setup_;
  std::unique_ptr<Replica> replica_;
  std::uint32_t nextTag_ = 1;
  std::int64_t ms_ = 1'774'252'800'000;
};

constexpr std::int64_t kDayMs = 24 * 3'600'000;

// witan::test::kReproducedFinding with findings "F1" to "F{n}" alike.
std::string bodyOf(int findings) {
  json::object body = parseJson(witan::test::kReproducedFinding)->get_object();
  for (auto& [field, cells] : body)
    for (int n = 2; n <= findings; ++n) {
      const std::string f = "F" + std::to_string(n);
      if (cells.is_object()) {
        cells.get_object()[f] = json::value(cells.get_object().at("F1"));
        continue;
      }
      for (std::size_t i = 0; i < 2; ++i) {
        json::object row = cells.get_array().at(i).get_object();
        row["f"] = f;
        cells.get_array().push_back(std::move(row));
      }
    }
  return canonicalJson(body);
}

const std::string kIntake = R"(approved {"orgs":["parser"],"type":"Intake","v":"proj/F1"})";

TEST(VerifiedIntake, AVerifiedFindingIsTakenInOnce) {
  Lab lab;
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.ask().ok());
  EXPECT_THAT(lab.decided("verification"),
              ElementsAre(R"(escalated {"f":"F1","outcome":"VERIFIED","type":"ProposeVerdict"})",
                          R"(cCommitted {"f":"F1","outcome":"VERIFIED","type":"ProposeVerdict"})"));
  EXPECT_THAT(lab.decided("disclosure"), ElementsAre(kIntake));
  // Another start looks at the ledger no more than at what is new, and a verdict in another place is another finding.
  lab.crash();
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.settle().ok());
  EXPECT_THAT(lab.decided("disclosure"), ElementsAre(kIntake));
  EXPECT_EQ(lab.replica().agents()->counters().started, 0u);
}

TEST(VerifiedIntake, TheEntryOfTheJournalSaysWhereTo) {
  Lab lab;
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.begin(1, "alpha", "{}").ok());
  ASSERT_TRUE(lab.route(R"({"orgs":{"parser":["org-a.example"]},"portfolio":"alpha"})").ok());
  ASSERT_TRUE(lab.ask().ok());
  EXPECT_THAT(lab.decided("disclosure"),
              ElementsAre(R"(approved {"orgs":["org-a.example"],"type":"Intake","v":"proj/F1"})"));
}

// The portfolio is not there yet: the finding waits, over a restart too, and is taken in when it begins; once.
TEST(VerifiedIntake, AFindingWaitsForItsPortfolio) {
  Lab lab;
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.begin(0, "proj", witan::test::kReproducedFinding).ok());
  ASSERT_TRUE(lab.settle().ok());
  ASSERT_TRUE(lab.verdict("F1", "verdict").ok());
  EXPECT_THAT(lab.decided("disclosure"), IsEmpty());
  EXPECT_EQ(lab.replica().agents()->counters().failed, 0u) << "waiting is no failure";
  lab.crash();
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.begin(1, "another", "{}").ok());
  ASSERT_TRUE(lab.settle().ok());
  EXPECT_THAT(lab.decided("disclosure"), IsEmpty());
  ASSERT_TRUE(lab.begin(1, "proj", "{}").ok());
  ASSERT_TRUE(lab.settle().ok());
  EXPECT_THAT(lab.decided("disclosure"), ElementsAre(kIntake));
  lab.wait(3 * 24 * 3'600'000);
  ASSERT_TRUE(lab.begin(1, "third", "{}").ok());
  ASSERT_TRUE(lab.settle().ok());
  EXPECT_THAT(lab.decided("disclosure"), ElementsAre(kIntake));
}

// More of them than a run takes: a pass goes through all, once, and comes again the next day. What is verified in
// between puts off nothing.
TEST(VerifiedIntake, ManyFindingsWaitWithoutKeepingTheDeviceBusy) {
  Lab lab;
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.begin(0, "proj", bodyOf(41)).ok() && lab.settle().ok());
  ASSERT_TRUE(lab.verify(1, 40).ok() && lab.settle().ok());
  const auto started = [&] { return lab.replica().agents()->counters().started; };
  EXPECT_EQ(started(), 40u);
  ASSERT_TRUE(lab.begin(1, "another", "{}").ok() && lab.live(60).ok());
  EXPECT_EQ(started(), 42u) << "a run for 32 of them, one for the others";
  lab.wait(24 * 3'600'000);
  ASSERT_TRUE(lab.live(60).ok());
  EXPECT_EQ(started(), 44u);
  EXPECT_THAT(lab.decided("disclosure"), IsEmpty());
  ASSERT_TRUE(lab.begin(1, "proj", "{}").ok() && lab.settle().ok());
  EXPECT_THAT(lab.decided("disclosure"), ::testing::SizeIs(32));
  ASSERT_TRUE(lab.verify(41, 41).ok() && lab.settle().ok());
  EXPECT_THAT(lab.decided("disclosure"), ::testing::SizeIs(33));
  ASSERT_TRUE(lab.live(5).ok());
  EXPECT_THAT(lab.decided("disclosure"), ::testing::SizeIs(41));
  EXPECT_EQ(lab.replica().agents()->counters().failed, 0u);
  // Nothing waits, nothing wakes it.
  const auto before = started();
  lab.wait(3 * 24 * 3'600'000);
  ASSERT_TRUE(lab.live(5).ok());
  EXPECT_LE(started(), before + 1);
  EXPECT_THAT(lab.waiting(), IsEmpty());
}

// A look that times out, or that a policy does not allow for now, is no verdict.
TEST(VerifiedIntake, AFindingThatCannotBeSeenForNowIsTakenInLater) {
  Lab lab;
  lab.blind = true;
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.ask().ok());
  ASSERT_TRUE(lab.live(10).ok());
  EXPECT_THAT(lab.decided("disclosure"), IsEmpty());
  lab.wait(24 * 3'600'000);
  ASSERT_TRUE(lab.live(2).ok());
  EXPECT_THAT(lab.decided("disclosure"), IsEmpty()) << "nor is a second one";
  lab.blind = false;
  lab.wait(24 * 3'600'000);
  ASSERT_TRUE(lab.live(2).ok());
  EXPECT_THAT(lab.decided("disclosure"), ElementsAre(kIntake));
}

// Denied at first sight, again the next day, and then allowed.
TEST(VerifiedIntake, AFindingWhoseIntakeIsDeniedWaits) {
  Lab lab;
  lab.policy.denies = true;
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.ask().ok() && lab.live(5).ok());
  EXPECT_THAT(lab.waiting(), ElementsAre("F1"));
  lab.crash();
  ASSERT_TRUE(lab.open().ok());
  lab.wait(kDayMs);
  ASSERT_TRUE(lab.live(60).ok());
  EXPECT_THAT(lab.waiting(), ElementsAre("F1"));
  EXPECT_EQ(lab.replica().agents()->counters().started, 1u) << "once a day";
  EXPECT_EQ(lab.replica().agents()->counters().failed, 1u) << "and that is said";
  EXPECT_THAT(lab.decided("disclosure"), IsEmpty());
  lab.policy.denies = false;
  lab.wait(kDayMs);
  ASSERT_TRUE(lab.live(5).ok());
  EXPECT_THAT(lab.decided("disclosure"), ElementsAre(kIntake));
  EXPECT_THAT(lab.waiting(), IsEmpty());
  lab.wait(3 * kDayMs);
  ASSERT_TRUE(lab.live(5).ok());
  EXPECT_THAT(lab.decided("disclosure"), ElementsAre(kIntake));
}

// More than a list of the slot keeps, at once: none is forgotten.
TEST(VerifiedIntake, EveryFindingWhoseIntakeIsDeniedWaits) {
  constexpr int kMany = 150;
  Lab lab;
  lab.policy.denies = true;
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.begin(0, "proj", bodyOf(kMany)).ok() && lab.begin(1, "proj", "{}").ok() && lab.settle().ok());
  ASSERT_TRUE(lab.verify(1, kMany).ok());
  for (int n = 0; n < 30; ++n) (void)lab.live(1);
  EXPECT_THAT(lab.waiting(), ::testing::SizeIs(kMany));
}

// The same of one that has waited for its portfolio already.
TEST(VerifiedIntake, AFindingThatWaitsGoesOnWaitingWhenItsIntakeIsDenied) {
  Lab lab;
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.begin(0, "proj", bodyOf(2)).ok() && lab.settle().ok());
  ASSERT_TRUE(lab.verify(1, 2).ok() && lab.settle().ok());
  lab.policy.denies = true;
  ASSERT_TRUE(lab.begin(1, "proj", "{}").ok() && lab.live(5).ok());
  EXPECT_THAT(lab.decided("disclosure"), IsEmpty());
  EXPECT_THAT(lab.waiting(), ElementsAre("F1", "F2"));
  lab.policy.denies = false;
  lab.wait(kDayMs);
  ASSERT_TRUE(lab.live(5).ok());
  EXPECT_THAT(lab.decided("disclosure"), ::testing::SizeIs(2));
  EXPECT_THAT(lab.waiting(), IsEmpty());
}

// One that the portfolio refuses, here since it has it already, is not proposed every day; one behind it is tried the
// next.
TEST(VerifiedIntake, AnIntakeThatIsRefusedIsNotProposedAgain) {
  Lab lab;
  ASSERT_TRUE(lab.open().ok());
  ASSERT_TRUE(lab.begin(0, "proj", bodyOf(2)).ok() && lab.settle().ok());
  ASSERT_TRUE(lab.verify(1, 2).ok() && lab.settle().ok());
  lab.stale = true;
  ASSERT_TRUE(lab.begin(1, "proj", "{}").ok());
  for (const std::string f : {"F1", "F2"})
    ASSERT_TRUE(lab.propose(1, "proj", "ReporterCoordination", "by-hand-" + f,
                            R"({"type":"Intake","v":"proj/)" + f + R"(","orgs":["parser"]})")
                    .ok());
  ASSERT_TRUE(lab.live(5).ok());
  const auto refused = [&] {
    const auto lines = lab.decided("disclosure");
    return std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("rejected "); });
  };
  EXPECT_EQ(refused(), 1);
  EXPECT_THAT(lab.waiting(), ::testing::SizeIs(1));
  for (int day = 0; day < 4; ++day) {
    lab.wait(kDayMs);
    ASSERT_TRUE(lab.live(5).ok());
  }
  EXPECT_EQ(refused(), 2);
  EXPECT_THAT(lab.waiting(), IsEmpty());
  // The agent was told which rule refused it, and why.
  std::size_t told = 0;
  auto space = lab.replica().data().database(replication::DatabaseName::agents).space("main");
  for (const std::string& key : (*space)->keys(replication::Kind::message))
    for (const replication::Version& version : (*space)->versions(replication::Kind::message, key).value())
      told += version.body.find(R"(\"outcome\":\"rejected\")") != std::string::npos &&
              version.body.find(R"(\"message\":)") != std::string::npos;
  EXPECT_EQ(told, 2u);
}

// Write step `step` of one disk is the last one of this life; whether the story got there.
bool crashesAt(std::size_t disk, std::uint64_t step, store::Moment moment) {
  SCOPED_TRACE("disk " + std::to_string(disk) + " step " + std::to_string(step) +
               (moment == store::Moment::before ? " before" : " after"));
  Lab lab;
  EXPECT_TRUE(lab.open().ok());
  lab.disks[disk].crashAt(step, moment);
  const bool lived = lab.ask().ok();
  if (!lived) {
    lab.crash();
    lab.wait(60'000);
    EXPECT_TRUE(lab.open().ok());
    EXPECT_TRUE(lab.ask().ok());  // who was not told asks again, under the same operation ids
  }
  EXPECT_THAT(lab.decided("verification"), ::testing::SizeIs(2));
  EXPECT_THAT(lab.decided("disclosure"), ElementsAre(kIntake));
  return !lived;
}

TEST(VerifiedIntake, ExactlyOnceWhateverWriteFails) {
  std::size_t boundaries = 0;
  for (std::size_t disk = 0; disk < 3; ++disk)
    for (const auto moment : {store::Moment::before, store::Moment::after})
      for (std::uint64_t step = 0; crashesAt(disk, step, moment); ++step) {
        ++boundaries;
        if (::testing::Test::HasFailure()) return;
      }
  EXPECT_GE(boundaries, 20u);
}

}  // namespace
}  // namespace witan::node::verified_intake_test
