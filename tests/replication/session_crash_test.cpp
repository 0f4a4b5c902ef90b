// Power loss and failing disks at every write step of a session, in each of the four databases in turn: afterwards the
// devices are opened again, sync, and are equal; no dot was ever told with two contents.
#include <gtest/gtest-spi.h>

#include <map>

#include "tests/replication/cluster.h"

namespace witan::replication::test::session_crash_test {
namespace {

SessionOptions smallSegments() {
  SessionOptions options;
  options.segmentBytes = 150;
  return options;
}

// Every (space, dot, key) that anybody ever told anybody, with what was told: a dot that stands for two contents is a
// dot that was used twice.
class DotBook {
 public:
  void see(Device& device) {
    for (const std::string& id : device.replica().spaceIds()) {
      Space& space = *device.replica().findSpace(id);
      space.table().visit([&](Record& record) {
        for (const Held* held : record.versions) {
          const std::string dot = id + " " + space.writers().name(held->writer) + ":" + std::to_string(held->seq);
          const std::string place =
              dot + " " + std::to_string(static_cast<int>(record.kind)) + std::string(record.key());
          const auto [at, fresh] = book_.emplace(place, held->fingerprint());
          EXPECT_TRUE(fresh || at->second == held->fingerprint()) << "used twice: " << place;
        }
        return true;
      });
    }
  }

 private:
  std::map<std::string, Uint128> book_;
};

// Two devices that drive a session as the node does: nothing leaves before flush() has returned ok; a device whose
// flush fails says nothing more.
class Drive {
 public:
  Drive(Device& a, Device& b, DotBook& book)
      : devices_{&a, &b}, book_(book), a_(a.replica(), smallSegments(), 0), b_(b.replica(), smallSegments(), 0) {}

  // Until nothing is said any more, or a disk fails. Both sides write between the rounds, `writes` times.
  void run(int writes) {
    for (int round = 0; round < 200; ++round) {
      if (round < writes && !(write(0, round) && write(1, round))) return;
      std::string toB, toA;
      if (!say(0, a_, toB) || !say(1, b_, toA)) return;
      if (toB.empty() && toA.empty() && round >= writes) return;
      for (const std::string& frame : framesOf(toB))
        if (b_.state() != SessionState::closed) {
          EXPECT_TRUE(b_.receive(frame, 0).ok() || broken(1));
        }
      for (const std::string& frame : framesOf(toA))
        if (a_.state() != SessionState::closed) {
          EXPECT_TRUE(a_.receive(frame, 0).ok() || broken(0));
        }
    }
    ADD_FAILURE() << "the session never came to rest";
  }

 private:
  bool broken(std::size_t side) {
    return devices_[side]->journalStore().struck() || devices_[side]->agentStore().struck();
  }
  bool say(std::size_t side, SyncSession& session, std::string& out) {
    session.produce(out, std::size_t{1} << 30, 0);
    if (!devices_[side]->replica().flush().ok()) return false;
    book_.see(*devices_[side]);  // only what is durable counts as told
    return true;
  }
  bool write(std::size_t side, int round) {
    LocalReplica& replica = devices_[side]->replica();
    AgentState state;
    state.consecutiveFailureCount = static_cast<std::uint64_t>(100 * (side + 1) + static_cast<std::size_t>(round));
    const Write agent{Kind::agentState, "live-" + std::to_string(round % 3), encodeAgentState(state, replica.writer()),
                      false};
    EXPECT_TRUE(replica.commit(DatabaseName::agents, "main", {&agent, 1}).ok());
    MessageBody message;
    message.id = devices_[side]->name() + "-" + std::to_string(round) + "-" + replica.writer() +
                 std::to_string(replica.findSpace("agents/main")->clock().at(replica.writer()));
    message.agentId = "agent";
    message.threadId = "thread";
    const Write said{Kind::message, message.id, encodeRecord(message).value(), false};
    EXPECT_TRUE(replica.commit(DatabaseName::agents, "main", {&said, 1}).ok());
    JournalBody body;
    body.type = "task";
    body.payload = std::to_string(round);
    body.lamport = 1;
    body.author = replica.writer();
    const Write journal{Kind::journal, "note-" + std::to_string(round % 2), encodeRecord(body).value(), false};
    EXPECT_TRUE(replica.commit(DatabaseName::journal, "main", {&journal, 1}).ok());
    return replica.flush().ok();
  }

  Device* devices_[2];
  DotBook& book_;
  SyncSession a_, b_;
};

void work(Device& device, int n) {
  for (int i = 0; i < n; ++i) {
    device.write("agent-" + std::to_string(i % 5),
                 [&](AgentState& s, const std::string&) { s.consecutiveFailureCount = static_cast<std::uint64_t>(i); });
    device.write(device.name() + "-" + std::to_string(i), [](AgentState&, const std::string&) {});
  }
  device.flush();
}

enum class Fault { powerBefore, powerAfter, failBefore, failAfter };

// One life of the cluster with a fault at step n of one database. False: the fault never struck.
bool live(std::size_t side, bool journal, std::uint64_t n, Fault fault) {
  DotBook book;
  Device a("a"), b("b", 100);
  Device* devices[] = {&a, &b};
  work(a, 8), work(b, 8);
  store::MemoryStore& disk = journal ? devices[side]->journalStore() : devices[side]->agentStore();
  const store::Moment moment =
      fault == Fault::powerBefore || fault == Fault::failBefore ? store::Moment::before : store::Moment::after;
  if (fault == Fault::powerBefore || fault == Fault::powerAfter)
    disk.crashAt(n, moment);
  else
    disk.failAt(n, moment);
  { Drive(a, b, book).run(3); }
  const bool struck = disk.struck();
  // Both go down: the one with the fault, and the other at a moment of its own.
  a.crash(), b.crash();
  EXPECT_EQ(devices[side]->replica().writer().substr(0, 1), devices[side]->name());
  for (Device* device : devices) book.see(*device);
  { Drive(a, b, book).run(2); }
  sync(a, b);
  for (Device* device : devices) book.see(*device);
  expectEqual(a, b);
  for (Device* device : devices) {
    for (const Incident& incident : device->incidents()) ADD_FAILURE() << incident.what;
  }
  return struck;
}

void everyStep(std::size_t side, bool journal, Fault fault) {
  for (std::uint64_t n = 0;; ++n) {
    SCOPED_TRACE("step " + std::to_string(n));
    const bool struck = live(side, journal, n, fault);
    if (::testing::Test::HasFailure()) return;
    if (!struck) {
      EXPECT_GT(n, 8u) << "there were steps to fail at";
      return;
    }
  }
}

TEST(SessionCrash, PowerLossBeforeEveryWriteStep) {
  for (const std::size_t side : {0u, 1u})
    for (const bool journal : {false, true}) everyStep(side, journal, Fault::powerBefore);
}
TEST(SessionCrash, PowerLossAfterEveryWriteStep) {
  for (const std::size_t side : {0u, 1u})
    for (const bool journal : {false, true}) everyStep(side, journal, Fault::powerAfter);
}
TEST(SessionCrash, AFailedWriteAtEveryStep) {
  for (const std::size_t side : {0u, 1u})
    for (const bool journal : {false, true}) everyStep(side, journal, Fault::failBefore);
}
TEST(SessionCrash, AWriteThatFailsAfterItsEffectAtEveryStep) {
  for (const std::size_t side : {0u, 1u})
    for (const bool journal : {false, true}) everyStep(side, journal, Fault::failAfter);
}

// A body that cannot be read when its turn comes ends the session with the cause; the next one goes on.
TEST(SessionCrash, AFailedReadEndsTheSessionWithItsCause) {
  Device a("a"), b("b");
  MessageBody message;
  message.id = "m";
  message.agentId = "agent";
  message.threadId = "thread";
  const Write said{Kind::message, "m", encodeRecord(message).value(), false};
  ASSERT_TRUE(a.replica().commit(DatabaseName::agents, "main", {&said, 1}).ok());
  a.flush();
  {
    Link link(a, b);
    link.say(1), link.deliverToA(), link.deliverToB();
    while (!link.queueToA().empty()) link.deliverToA();
    while (!link.queueToB().empty()) link.deliverToB();
    link.say(0);
    while (!link.queueToA().empty()) link.deliverToA();
    a.agentStore().failReadAt(0);
    link.run();
    EXPECT_EQ(link.ofA().state(), SessionState::closed);
    EXPECT_EQ(link.ofB().state(), SessionState::closed);
    EXPECT_NE(link.ofB().closeReason().find("injected"), std::string::npos) << link.ofB().closeReason();
  }
  sync(a, b);
  expectEqual(a, b);
}

// The checker notices a dot that is used twice.
TEST(SessionCrash, TheBookOfDotsFires) {
  Device a("a"), clone("a");
  a.write("agent", [](AgentState& s, const std::string&) { s.consecutiveFailureCount = 1; });
  clone.write("agent", [](AgentState& s, const std::string&) { s.consecutiveFailureCount = 2; });
  EXPECT_NONFATAL_FAILURE(
      {
        DotBook book;
        book.see(a);
        book.see(clone);
      },
      "used twice");
}

}  // namespace
}  // namespace witan::replication::test::session_crash_test
