#include "store/group_commit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "store/memory_store.h"

namespace witan::store {
namespace {

struct Item {
  int producer = 0;
  int number = 0;
};

std::string key(const Item& item) { return std::to_string(item.producer) + "/" + std::to_string(item.number); }

// Puts every item under its key.
Status putAll(std::vector<Item>& items, WriteBatch& out) {
  for (const Item& item : items) out.put(key(item), "v");
  return okStatus();
}

// What `done` heard, in order. Read it after stop() or drain().
struct Heard {
  std::vector<std::string> durable, failed;
  std::vector<std::size_t> batches;
  std::optional<Error> error;

  GroupCommit<Item>::Done done() {
    return [this](std::vector<Item>& items, const Status& status) {
      batches.push_back(items.size());
      if (!status.ok()) error = status.error();
      for (const Item& item : items) (status.ok() ? durable : failed).push_back(key(item));
    };
  }
};

// Holds the commit thread inside `work` until opened.
struct Gate {
  std::promise<void> entered, opened;
  std::shared_future<void> open = opened.get_future().share();
  bool first = true;

  GroupCommit<Item>::Work work() {
    return [this](std::vector<Item>& items, WriteBatch& out) {
      if (std::exchange(first, false)) {
        entered.set_value();
        open.wait();
      }
      return putAll(items, out);
    };
  }
};

TEST(GroupCommit, WhatQueuesUpWhileTheDiskIsBusyBecomesOneBatch) {
  MemoryStore store;
  Gate gate;
  Heard heard;
  GroupCommit<Item> commit(store, gate.work(), heard.done());
  ASSERT_TRUE(commit.submit({0, 0}).ok());
  gate.entered.get_future().wait();
  for (int i = 1; i <= 100; ++i) ASSERT_TRUE(commit.submit({0, i}).ok());
  gate.opened.set_value();
  commit.drain();
  EXPECT_EQ(heard.batches, (std::vector<std::size_t>{1, 100}));
  EXPECT_EQ(store.writeSteps(), 4u) << "one write and one sync for each batch";
  EXPECT_EQ(store.unsyncedBatches(), 0u);
  EXPECT_EQ(commit.stats().items, 101u);
  EXPECT_EQ(commit.stats().batches, 2u);
  EXPECT_EQ(commit.stats().largestBatch, 100u);
}

TEST(GroupCommit, ManyProducersEachInOrderAndEachAnsweredOnce) {
  constexpr int kProducers = 8, kItems = 500;
  MemoryStore store;
  Heard heard;
  GroupCommit<Item> commit(store, putAll, heard.done(), {.maxQueued = 16});
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < kItems; ++i) EXPECT_TRUE(commit.submit({p, i}).ok());
    });
  }
  for (std::thread& producer : producers) producer.join();
  commit.stop();
  ASSERT_EQ(heard.durable.size(), static_cast<std::size_t>(kProducers * kItems));
  std::map<std::string, int> next;
  for (const std::string& k : heard.durable) {
    const auto slash = k.find('/');
    EXPECT_EQ(std::stoi(k.substr(slash + 1)), next[k.substr(0, slash)]++);
  }
  for (std::size_t size : heard.batches) EXPECT_LE(size, 16u);
  store.crash();
  for (const std::string& k : heard.durable) EXPECT_TRUE(store.get(k).value().has_value()) << k;
}

// The power goes at write step 0, 1, 2, ... until it does not: what was acknowledged is on the disk.
TEST(GroupCommit, NothingAcknowledgedIsLostInAnyCrash) {
  for (Moment moment : {Moment::before, Moment::after}) {
    bool struck = true;
    for (std::uint64_t n = 0; struck; ++n) {
      MemoryStore store;
      store.crashAt(n, moment);
      Heard heard;
      {
        GroupCommit<Item> commit(store, putAll, heard.done());
        for (int i = 0; i < 20; ++i) {
          if (!commit.submit({0, i}).ok()) break;
          if (i % 3 == 0) commit.drain();
        }
      }
      struck = store.struck();
      store.crash();
      for (const std::string& k : heard.durable) EXPECT_TRUE(store.get(k).value().has_value()) << k << " at " << n;
      EXPECT_EQ(struck, heard.error.has_value());
    }
  }
}

TEST(GroupCommit, AFailedSyncEndsItForEveryone) {
  MemoryStore store;
  store.failAt(3);  // the second batch's sync
  Gate gate;
  Heard heard;
  int worked = 0;
  auto work = [&, gated = gate.work()](std::vector<Item>& items, WriteBatch& out) {
    worked += static_cast<int>(items.size());
    return gated(items, out);
  };
  GroupCommit<Item> commit(store, work, heard.done());
  ASSERT_TRUE(commit.submit({0, 0}).ok());
  gate.entered.get_future().wait();
  ASSERT_TRUE(commit.submit({0, 1}).ok());
  ASSERT_TRUE(commit.submit({0, 2}).ok());
  gate.opened.set_value();
  commit.drain();
  EXPECT_EQ(heard.durable, (std::vector<std::string>{"0/0"}));
  EXPECT_EQ(heard.failed, (std::vector<std::string>{"0/1", "0/2"}));
  EXPECT_EQ(heard.error->code, ErrorCode::ioFailed);
  EXPECT_EQ(worked, 3);
  const Status refused = commit.submit({0, 3});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error(), *heard.error) << "the first failure is the answer to everything later";
  EXPECT_EQ(commit.failure(), heard.error);
  commit.stop();
  EXPECT_EQ(heard.batches.size(), 2u);
}

// Items queued behind the failing batch are answered with its error, and `work` never sees them.
TEST(GroupCommit, AFailedWorkEndsItAndSparesTheQueue) {
  MemoryStore store;
  Heard heard;
  std::promise<void> entered, opened;
  std::vector<std::string> worked;
  auto work = [&](std::vector<Item>& items, WriteBatch& out) -> Status {
    for (const Item& item : items) worked.push_back(key(item));
    entered.set_value();
    opened.get_future().wait();
    out.put("half", "done");
    return corrupt("the state does not add up");
  };
  GroupCommit<Item> commit(store, work, heard.done());
  ASSERT_TRUE(commit.submit({0, 0}).ok());
  entered.get_future().wait();
  ASSERT_TRUE(commit.submit({0, 1}).ok());
  opened.set_value();
  commit.drain();
  EXPECT_EQ(worked, (std::vector<std::string>{"0/0"}));
  EXPECT_EQ(heard.failed, (std::vector<std::string>{"0/0", "0/1"}));
  EXPECT_EQ(heard.error->code, ErrorCode::corrupt);
  EXPECT_EQ(store.writeSteps(), 0u) << "a half-filled batch is not written";
}

TEST(GroupCommit, AFullQueueRefusesOrBlocks) {
  MemoryStore store;
  Gate gate;
  Heard heard;
  GroupCommit<Item> commit(store, gate.work(), heard.done(), {.maxQueued = 2});
  ASSERT_TRUE(commit.submit({0, 0}).ok());
  gate.entered.get_future().wait();
  Item item{0, 1};
  ASSERT_TRUE(commit.trySubmit(item).ok());
  ASSERT_TRUE(commit.submit({0, 2}).ok());
  const Status full = commit.trySubmit(item);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, ErrorCode::unavailable);
  EXPECT_NE(full.error().message.find("full"), std::string::npos);
  std::thread blocked([&] { EXPECT_TRUE(commit.submit({0, 3}).ok()); });
  gate.opened.set_value();
  blocked.join();
  commit.stop();
  EXPECT_EQ(heard.durable, (std::vector<std::string>{"0/0", "0/1", "0/2", "0/3"}));
}

TEST(GroupCommit, StoppingCommitsWhatWasAcceptedAndRefusesTheRest) {
  MemoryStore store;
  Gate gate;
  Heard heard;
  GroupCommit<Item> commit(store, gate.work(), heard.done(), {.maxQueued = 1});
  ASSERT_TRUE(commit.submit({0, 0}).ok());
  gate.entered.get_future().wait();
  ASSERT_TRUE(commit.submit({0, 1}).ok());
  std::atomic<int> accepted = 0;
  std::vector<std::thread> late;
  for (int i = 0; i < 4; ++i) {
    late.emplace_back([&, i] {
      const Status status = commit.submit({1, i});  // the queue is full: accepted later, or refused by the stop
      if (status.ok()) ++accepted;
      EXPECT_TRUE(status.ok() || status.error().code == ErrorCode::unavailable);
    });
  }
  std::thread stopper([&] { commit.stop(); });
  gate.opened.set_value();
  stopper.join();
  for (std::thread& thread : late) thread.join();
  EXPECT_EQ(heard.durable.size(), 2u + static_cast<std::size_t>(accepted));
  EXPECT_TRUE(heard.failed.empty());
  EXPECT_FALSE(commit.submit({0, 9}).ok());
}

TEST(GroupCommit, AClosedLoopOfProposersFillsEveryBatch) {
  constexpr int kProposers = 64, kRounds = 20;
  MemoryStore store;
  Gate gate;
  GroupCommit<Item>* self = nullptr;
  std::vector<std::size_t> batches;
  auto done = [&](std::vector<Item>& items, const Status& status) {
    ASSERT_TRUE(status.ok());
    batches.push_back(items.size());
    for (Item& item : items) {
      if (++item.number == kRounds) continue;
      EXPECT_TRUE(self->submit(item).ok());
    }
  };
  GroupCommit<Item> commit(store, gate.work(), done, {.maxQueued = kProposers});
  self = &commit;
  ASSERT_TRUE(commit.submit({0, 0}).ok());
  gate.entered.get_future().wait();
  for (int p = 1; p < kProposers; ++p) ASSERT_TRUE(commit.submit({p, 0}).ok());
  gate.opened.set_value();
  commit.drain();
  while (commit.stats().items < static_cast<std::uint64_t>(kProposers) * kRounds) commit.drain();
  EXPECT_EQ(commit.stats().largestBatch, static_cast<std::size_t>(kProposers));
  EXPECT_LE(commit.stats().batches, kRounds + 1u);
}

TEST(GroupCommit, FromDoneAFullQueueRefusesInsteadOfWaitingForItself) {
  MemoryStore store;
  GroupCommit<Item>* self = nullptr;
  std::vector<bool> accepted;
  auto done = [&](std::vector<Item>& items, const Status&) {
    if (items[0].number > 0) return;
    for (int i = 1; i <= 2; ++i) accepted.push_back(self->submit({0, i}).ok());
  };
  Gate gate;
  GroupCommit<Item> commit(store, gate.work(), done, {.maxQueued = 1});
  self = &commit;
  ASSERT_TRUE(commit.submit({0, 0}).ok());
  gate.entered.get_future().wait();
  gate.opened.set_value();
  commit.drain();
  commit.stop();
  EXPECT_EQ(accepted, (std::vector<bool>{true, false}));
}

TEST(GroupCommit, AnEmptyBatchNeedsNoDisk) {
  MemoryStore store;
  store.failAt(0);
  Heard heard;
  GroupCommit<Item> commit(
      store, [](std::vector<Item>&, WriteBatch&) { return okStatus(); }, heard.done());
  ASSERT_TRUE(commit.submit({0, 0}).ok());
  commit.drain();
  EXPECT_EQ(heard.durable.size(), 1u);
  EXPECT_EQ(store.writeSteps(), 0u);
  EXPECT_EQ(commit.stats().batches, 0u);
}

TEST(GroupCommit, MoveOnlyItems) {
  MemoryStore store;
  std::promise<int> answer;
  {
    using Box = std::unique_ptr<int>;
    GroupCommit<Box> commit(
        store,
        [](std::vector<Box>& boxes, WriteBatch& out) {
          out.put("k", std::to_string(*boxes[0]));
          return okStatus();
        },
        [&](std::vector<Box>& boxes, const Status&) {
          std::vector<Box> mine = std::move(boxes);  // allowed to keep them
          answer.set_value(*mine[0]);
        });
    ASSERT_TRUE(commit.submit(std::make_unique<int>(7)).ok());
    commit.drain();
  }
  EXPECT_EQ(answer.get_future().get(), 7);
  EXPECT_EQ(*store.get("k").value(), "7");
}

}  // namespace
}  // namespace witan::store
