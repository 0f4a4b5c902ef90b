// Who reads from an owner whose copy is ahead of what etcd has confirmed: people (node/ledgers/ledger_readers.h) and
// devices without ledgers (node/slices/slices.h).
#include "node/ledgers/ledger_readers.h"

#include <gmock/gmock.h>

#include "node/slices/slices.h"
#include "tests/sim/etcd_owner.h"

namespace witan::node::ledger_readers_test {
namespace {

using sim::at;
using sim::Owner;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string stateOf(const PartitionHost& host) {
  std::string text;
  host.module().writeState(text, *host.partition().state("e"), ~kernel::FieldMask{0});
  return text;
}

class LedgerReadersTest : public ::testing::Test {
 protected:
  // Ok: done; what was seen is in seen_.
  void read() {
    done_.reset();
    seen_.clear();
    readers_.read(
        {"budget/0"}, [this](const PartitionHost& host) { seen_ = stateOf(host); },
        [this](const Status& status) { done_ = status; });
  }
  // Decides, and leaves it with etcd, which says nothing.
  void goAhead() {
    owner_.submit(owner_.spend("one"));
    underWay_ = owner_.drain();
    ASSERT_TRUE(owner_.host().ahead());
  }
  void confirm() {
    for (const EtcdRequest& request : std::exchange(underWay_, {})) owner_.carry(request);
    (void)owner_.drain();
    readers_.poll();
  }

  Owner owner_;
  net::Loop loop_;
  LedgerReaders readers_{loop_, owner_.replica(), owner_.ledgers(), 0};
  std::vector<EtcdRequest> underWay_;
  std::optional<Status> done_;
  std::string seen_;
};

TEST_F(LedgerReadersTest, WhatIsConfirmedIsSeenAtOnce) {
  read();
  ASSERT_TRUE(done_ && done_->ok());
  EXPECT_THAT(seen_, HasSubstr(R"("spentA":0)"));
}

TEST_F(LedgerReadersTest, WhatIsNotIsWaitedFor) {
  goAhead();
  read();
  readers_.poll();
  EXPECT_FALSE(done_);
  EXPECT_THAT(seen_, IsEmpty());
  confirm();
  ASSERT_TRUE(done_ && done_->ok());
  EXPECT_THAT(seen_, HasSubstr(R"("spentA":1)"));
}

TEST_F(LedgerReadersTest, WhileEtcdIsAwayTheStoreIsShown) {
  goAhead();
  read();
  ASSERT_TRUE(loop_.runUntil([&] { return done_.has_value(); }, 30'000));
  EXPECT_TRUE(done_->ok());
  EXPECT_THAT(seen_, HasSubstr(R"("spentA":0)"));
  confirm();
  read();
  EXPECT_THAT(seen_, HasSubstr(R"("spentA":1)"));
}

// Each copy is the whole log folded, on the thread of the loop.
TEST_F(LedgerReadersTest, AllThatWaitAreShownOneCopyOfTheStore) {
  goAhead();
  std::string told;
  for (int i = 0; i < 3; ++i)
    readers_.read(
        {"budget/0"}, [&](const PartitionHost&) { told += 'v'; },
        [&](const Status& status) {
          told += status.ok() ? 'd' : 'x';
          if (told.size() == 4) read();  // one who comes then waits for a time of its own
        });
  ASSERT_TRUE(loop_.runUntil([&] { return done_.has_value(); }, 30'000));
  EXPECT_EQ(told, "vvvddd");
  EXPECT_THAT(seen_, HasSubstr(R"("spentA":0)"));
}

TEST_F(LedgerReadersTest, CountsAreOfWhatIsConfirmed) {
  readers_.poll();
  goAhead();
  EXPECT_EQ(readers_.censusOf(owner_.host()).entries, 0u);
  EXPECT_EQ(readers_.censusOf(owner_.host()).entities, 1u);
  confirm();
  EXPECT_EQ(readers_.censusOf(owner_.host()).entries, 1u);
}

TEST_F(LedgerReadersTest, SoManyMayWait) {
  goAhead();
  for (std::size_t i = 0; i < kMaxReaders; ++i) read();
  EXPECT_FALSE(done_);
  read();
  ASSERT_TRUE(done_);
  EXPECT_EQ(done_->error().code, ErrorCode::unavailable);
}

// Both what its log adds up to, and nothing while it is ahead of that.
TEST_F(LedgerReadersTest, SlicesAreOfWhatIsConfirmed) {
  SliceServer slices(owner_.replica());
  RosterDevice device;
  device.device = "b";
  device.roles = {"budget.A"};
  slices.connected(device);
  ASSERT_TRUE(slices.onHave("b", {}).ok());
  owner_.submit(owner_.spend("zero"));
  owner_.pass(1'000);
  goAhead();
  std::string frames;
  EXPECT_THAT(slices.waiting(), IsEmpty());
  ASSERT_TRUE(slices.produce("b", frames).ok());
  EXPECT_THAT(frames, IsEmpty());
  // Somebody else owns it by now.
  EtcdRequest end;
  end.then = {{EtcdAct::remove, {"witan/c/owner/budget/0", ""}, "", 0, 0}};
  (void)owner_.etcd.apply(end, owner_.ms * 1000);
  confirm();
  ASSERT_TRUE(slices.produce("b", frames).ok());
  EXPECT_THAT(frames, HasSubstr(R"("spentA":1)"));
  EXPECT_THAT(frames, Not(HasSubstr(R"("spentA":2)")));
  frames.clear();
  owner_.pass(20'000);  // it is the owner again, and is asked again
  ASSERT_TRUE(slices.produce("b", frames).ok());
  EXPECT_THAT(frames, HasSubstr(R"("spentA":2)"));
}

}  // namespace
}  // namespace witan::node::ledger_readers_test
