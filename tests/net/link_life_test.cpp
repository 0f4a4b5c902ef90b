// Links under load, on bad networks, and at their end.
#include <gtest/gtest.h>

#include "net/link_frames.h"
#include "tests/net/device.h"
#include "tests/net/proxy.h"
#include "tests/net/stranger.h"

namespace witan::link_life_test {
namespace {

using namespace witan::net;
using namespace witan::net::test;

PeerNetworkOptions quick() {
  PeerNetworkOptions options;
  options.heartbeatMs = 10;
  options.deadAfterMs = 300;
  options.backoffMostMs = 20;
  return options;
}

struct LinkLifeTest : ::testing::Test {
  void make(PeerNetworkOptions ofA = {}, PeerNetworkOptions ofB = {}) {
    a = std::make_unique<Device>(loop, 'a', ofA);
    b = std::make_unique<Device>(loop, 'b', ofB);
    address = *b->network->listen("127.0.0.1:0");
  }
  void connect() {
    a->network->dial("b", address, keyOf('b').publicKey());
    bothUp();
  }
  void connectThroughProxy() {
    proxy = std::make_unique<Proxy>(address);
    a->network->dial("b", proxy->address(), keyOf('b').publicKey());
    bothUp();
  }
  void bothUp() {
    a->until([&] { return a->up.size() == 1 && b->up.size() == 1; }, "a link");
  }
  void bothDown() {
    a->until([&] { return !a->downs.empty() && !b->downs.empty(); }, "both down");
  }

  Loop loop;
  std::unique_ptr<Device> a, b;
  std::unique_ptr<Proxy> proxy;
  std::string address;
};

// ---- what is sent

TEST_F(LinkLifeTest, AFrameBeyondTheLimitEndsTheLinkAndTheSenderLearnsWhy) {
  PeerNetworkOptions small;
  small.maxFrameBytes = 1024;
  make({}, small);
  connect();
  ASSERT_TRUE(a->network->send(a->last, frameOf(1, 128)));
  ASSERT_TRUE(a->network->send(a->last, frameOf(1, 129)));
  bothDown();
  EXPECT_EQ(b->frames, std::vector{frameOf(1, 128)});
  EXPECT_EQ(b->downs[0].reason, "bad frame: a frame of 1032 bytes, at most 1024 are allowed");
  EXPECT_EQ(a->downs[0].reason, "closed by the other end: " + b->downs[0].reason);
}

TEST_F(LinkLifeTest, BeforeItIsTrustedAPeersFramesAreSmaller) {
  make();
  b->trusting = false;
  connect();
  a->network->send(a->last, frameOf(1, 8192));
  b->until([&] { return b->frames.size() == 1; }, "64 KiB");
  b->network->trust(b->last);
  a->network->send(a->last, frameOf(1, 8193));
  b->until([&] { return b->frames.size() == 2; }, "more, once trusted");
  b->trusting = false;
  a->network->drop(a->last);
  bothDown();
  bothUp();
  a->network->send(a->last, frameOf(1, 8193));
  b->until([&] { return b->downs.size() == 2; }, "more, not trusted");
  EXPECT_EQ(b->downs[1].reason, "bad frame: a frame of 65544 bytes, at most 65536 are allowed");
}

TEST_F(LinkLifeTest, NoiseInsteadOfAFrameEndsTheLink) {
  make();
  connect();
  a->network->send(a->last, std::string(64, '\x07'));
  bothDown();
  EXPECT_TRUE(b->downs[0].reason.starts_with("bad frame: ")) << b->downs[0].reason;
  EXPECT_TRUE(b->frames.empty());
}

TEST_F(LinkLifeTest, AHalfFrameNeverArrives) {
  make();
  connect();
  a->network->send(a->last, frameOf(1, 4) + frameOf(1, 100).substr(0, 500));
  a->network->close(a->last, "enough");
  bothDown();
  EXPECT_EQ(b->frames, std::vector{frameOf(1, 4)});
}

// ---- what comes together

// A welcome, and then twenty frames in small TLS records of which all came at once.
StrangerSettings twentyRecords() {
  StrangerSettings settings{identityOf('s')};
  settings.say = welcomeFrame();
  for (std::size_t words = 1; words <= 20; ++words) settings.records.push_back(frameOf(1, words));
  return settings;
}

TEST_F(LinkLifeTest, SmallRecordsThatAreThereAreHandedOnTogether) {
  make();
  std::size_t inOneTurn = 0;
  b->onFrame = [&](LinkId, std::string_view) {
    if (b->frames.size() == 1) loop.post([&] { inOneTurn = b->frames.size(); });
  };
  const Stranger stranger(loop, address, twentyRecords());
  b->until([&] { return inOneTurn > 0 && b->frames.size() == 20; }, "all");
  EXPECT_EQ(b->frames, stranger.records());
  EXPECT_GE(inOneTurn, 19u) << "one may have come with the welcome, or straddle the buffer's end";
}

TEST_F(LinkLifeTest, WhatCameIsNotHeldUpByARecordThatIsNotWhole) {
  make();
  StrangerSettings settings = twentyRecords();
  settings.heldBack = 30;
  Stranger stranger(loop, address, settings);
  b->until([&] { return b->frames.size() == 19 && stranger.said(); }, "all but the last");
  stranger.sendRest();
  b->until([&] { return b->frames.size() == 20; }, "the last");
  EXPECT_EQ(b->frames, stranger.records());
}

TEST_F(LinkLifeTest, WhatCameBeforeAWrongBitIsHandedOnAndThenTheLinkEnds) {
  make();
  StrangerSettings settings = twentyRecords();
  settings.spoilt = true;
  const Stranger stranger(loop, address, settings);
  b->until([&] { return !b->downs.empty(); }, "its end");
  EXPECT_EQ(b->frames.size(), 19u);
  EXPECT_NE(b->downs[0].reason.find("bytes were changed on the way"), std::string::npos) << b->downs[0].reason;
}

TEST_F(LinkLifeTest, ATypeThatThePurposeDoesNotKnow) {
  Device c{loop, 'c'};
  a = std::make_unique<Device>(loop, 'a');
  PeerEvents events;
  std::string reason;
  std::size_t frames = 0;
  events.knowsFrame = [](std::string_view purpose, std::uint8_t type) { return purpose == "witan/1" && type < 12; };
  events.frame = [&](LinkId, std::string_view) { ++frames; };
  events.down = [&](LinkId, std::string_view why) { reason = why; };
  PeerNetwork picky(loop, identityOf('p'), {}, events);
  a->network->dial("p", *picky.listen("127.0.0.1:0"), std::nullopt);
  a->until([&] { return a->up.size() == 1; }, "a link");
  a->network->send(a->last, frameOf(11, 1) + frameOf(12, 1));
  a->until([&] { return !a->downs.empty() && !reason.empty(); }, "its end");
  EXPECT_EQ(frames, 1u);
  EXPECT_EQ(reason, "bad frame: type 12 is not for witan/1");
}

// ---- signs of life

TEST_F(LinkLifeTest, AnIdleLinkStaysUpAndKnowsItsRoundTrip) {
  make(quick(), quick());
  connect();
  const LinkId ofA = a->last, ofB = b->last;
  // 40 pings' bytes take more than twice deadAfterMs to come.
  a->until([&] { return a->network->stats(ofA)->bytesIn >= 80 * 16; }, "many heartbeats");
  EXPECT_TRUE(a->downs.empty() && b->downs.empty()) << a->words() << b->words();
  EXPECT_GE(a->network->stats(ofA)->roundTripMs, 0);
  EXPECT_GE(b->network->stats(ofB)->roundTripMs, 0);
  EXPECT_TRUE(a->frames.empty() && b->frames.empty()) << "heartbeats are not passed up";
}

TEST_F(LinkLifeTest, WhenTheNetworkSwallowsEverythingBothEndsNotice) {
  make(quick(), quick());
  connectThroughProxy();
  proxy->swallow();
  bothDown();
  EXPECT_EQ(a->downs[0].reason, "no sign of life for 300 ms");
  EXPECT_EQ(b->downs[0].reason, "no sign of life for 300 ms");
}

// As behind a tunnel that drops large packets: it comes up, carries a little, and then nothing.
TEST_F(LinkLifeTest, ALinkThatWentQuietIsAFailureHoweverLongItWasUp) {
  PeerNetworkOptions options = quick();
  options.heartbeatMs = 75;
  make(options, options);
  proxy = std::make_unique<Proxy>(address);
  proxy->swallowAfter(9'000);
  a->onUp = [&](const LinkInfo& info) { a->network->send(info.id, frameOf(1, 3'000)); };
  a->network->dial("b", proxy->address(), keyOf('b').publicKey());
  a->until([&] { return a->network->dials()[0].failures >= 3; }, "three failures in a row");
  EXPECT_GE(a->quiets, 2u) << a->words();
  EXPECT_TRUE(b->frames.empty());
}

TEST_F(LinkLifeTest, AProbeGoesOverTheLinkAndIsNotPassedUp) {
  make(quick(), quick());
  connectThroughProxy();
  const LinkId link = a->last;
  a->network->probe(link);
  const std::uint64_t before = a->network->stats(link)->pongs;
  a->until([&] { return a->network->stats(link)->pongs >= before + 2; }, "pongs after a probe");
  EXPECT_GE(proxy->carriedBytes(), 16'384u);
  EXPECT_TRUE(b->frames.empty()) << "it is not passed up";
}

TEST_F(LinkLifeTest, ALinkThatIsClosedOrCutDidNotGoQuiet) {
  make(quick(), quick());
  connectThroughProxy();
  a->network->close(a->last, "enough");
  bothDown();
  bothUp();
  proxy->cut();
  a->until([&] { return a->downs.size() == 2 && b->downs.size() == 2; }, "both down again");
  EXPECT_EQ(a->quiets + b->quiets, 0u);
}

// A pong queues behind what the other end sends anyway.
TEST_F(LinkLifeTest, ALinkFullOfTheOtherEndsDataIsNotQuiet) {
  PeerNetworkOptions options = quick();
  options.heartbeatMs = 75;
  make({}, options);
  proxy = std::make_unique<Proxy>(address);
  proxy->throttle(1'000'000);  // what it says takes a second, and half of deadAfterMs is 150 ms
  StrangerSettings settings{identityOf('s')};
  settings.say = welcomeFrame();
  for (int i = 0; i < 100; ++i) settings.say += frameOf(1, 1'250);
  const Stranger stranger(loop, proxy->address(), settings);
  b->until([&] { return b->frames.size() >= 60; }, "most of it, and no pong");
  EXPECT_EQ(b->network->stats(b->last)->pongs, 0u);
  proxy->cut();
  b->until([&] { return !b->downs.empty(); }, "its end");
  EXPECT_EQ(b->quiets, 0u) << b->words();
}

TEST_F(LinkLifeTest, ACutIsNoticedAndTheLinkComesBackWhenItHeals) {
  make(quick(), quick());
  connectThroughProxy();
  proxy->cut();
  bothDown();
  EXPECT_TRUE(a->downs[0].reason.starts_with("connection lost: ")) << a->downs[0].reason;
  a->until([&] { return a->network->dials()[0].failures >= 3; }, "failures");
  EXPECT_FALSE(a->network->dials()[0].lastError.empty());
  proxy->heal();
  bothUp();
  EXPECT_EQ(a->network->dials()[0].link, a->last);
  EXPECT_TRUE(a->network->send(a->last, frameOf(1, 1)));
  b->until([&] { return b->frames.size() == 1; }, "a frame over the new link");
}

TEST_F(LinkLifeTest, OneWrongBitEndsTheLink) {
  make(quick(), quick());
  connectThroughProxy();
  proxy->corrupt();
  bothDown();
  EXPECT_TRUE(a->downs[0].reason.find("bytes were changed on the way") != std::string::npos ||
              b->downs[0].reason.find("bytes were changed on the way") != std::string::npos)
      << a->downs[0].reason << ", " << b->downs[0].reason;
}

TEST_F(LinkLifeTest, ASlowAndLateNetworkStillDeliversEverythingInOrder) {
  make();
  connectThroughProxy();
  proxy->delay(20);
  proxy->throttle(4'000'000);
  std::vector<std::string> sent;
  for (std::size_t words = 1; words < 3000; words += 53) {
    sent.push_back(frameOf(1, words));
    ASSERT_TRUE(a->network->send(a->last, sent.back()));
  }
  b->until([&] { return b->frames.size() == sent.size(); }, "all");
  EXPECT_EQ(b->frames, sent);
}

TEST_F(LinkLifeTest, ConnectionsThatOvertakeEachOtherGetTheirOwnFrames) {
  make();
  proxy = std::make_unique<Proxy>(address);
  proxy->hold();
  a->onUp = [&](const LinkInfo& info) {
    a->network->send(info.id, frameOf(1, 10 * static_cast<std::size_t>(info.name[0] - '0')));
  };
  for (const char* name : {"1", "2", "3"}) a->network->dial(name, proxy->address(), std::nullopt);
  a->until([&] { return proxy->accepted() == 3; }, "three calls");
  proxy->release();
  b->until([&] { return b->frames.size() == 3; }, "three frames");
  std::multiset<std::size_t> sizes;
  for (const std::string& frame : b->frames) sizes.insert(frame.size());
  EXPECT_EQ(sizes, (std::multiset<std::size_t>{88, 168, 248}));
}

// ---- back-pressure

TEST_F(LinkLifeTest, APeerThatDoesNotReadIsDroppedAndMemoryStaysBounded) {
  PeerNetworkOptions options;
  options.maxQueuedBytes = 1 << 20;
  make({}, options);
  StrangerSettings settings{identityOf('s')};
  settings.say = welcomeFrame();
  settings.reads = false;
  const Stranger stranger(loop, address, settings);
  b->until([&] { return b->up.size() == 1; }, "a link");
  const std::string frame = frameOf(1, 4096);
  std::size_t sent = 0, most = 0;
  const auto push = [&] {
    while (b->network->send(b->last, frame)) {
      sent += frame.size();
      most = std::max(most, b->network->queuedBytes(b->last));
      if (b->network->queuedBytes(b->last) + frame.size() > options.maxQueuedBytes / 2 && sent < 32u << 20) break;
    }
    return !b->downs.empty();
  };
  while (!push()) loop.runUntil([&] { return false; }, 1);
  EXPECT_EQ(b->downs[0].reason, "slow: more than 1048576 bytes would wait to be sent");
  EXPECT_LE(most, options.maxQueuedBytes);
  EXPECT_EQ(b->network->queuedBytes(b->last), 0u);
}

TEST_F(LinkLifeTest, APeerThatStopsReadingIsDroppedEvenIfItTalks) {
  make({}, quick());
  StrangerSettings settings{identityOf('s')};
  settings.say = welcomeFrame();
  for (int i = 0; i < 100; ++i) settings.say += frameOf(1, 1);
  settings.reads = false;
  const Stranger stranger(loop, address, settings);
  b->until([&] { return b->up.size() == 1; }, "a link");
  const std::string frame = frameOf(1, 100'000);
  while (b->network->queuedBytes(b->last) < 8u << 20 && b->network->send(b->last, frame))
    loop.runUntil([] { return false; }, 0);
  b->until([&] { return !b->downs.empty(); }, "its end");
  EXPECT_TRUE(b->downs[0].reason.starts_with("slow: nothing could be written") ||
              b->downs[0].reason.starts_with("no sign of life"))
      << b->downs[0].reason;
}

TEST_F(LinkLifeTest, RoomIsToldOnceTheQueueFellBelowAQuarter) {
  PeerNetworkOptions options;
  options.maxQueuedBytes = 4 << 20;
  make(options);
  b->keepFrames = false;
  connect();
  const std::string frame = frameOf(1, 16'384);
  while (a->network->queuedBytes(a->last) + frame.size() <= options.maxQueuedBytes)
    ASSERT_TRUE(a->network->send(a->last, frame));
  EXPECT_EQ(a->rooms, 0u);
  a->until([&] { return a->rooms > 0; }, "room");
  EXPECT_LT(a->network->queuedBytes(a->last), options.maxQueuedBytes / 4);
  a->until([&] { return a->network->queuedBytes(a->last) == 0; }, "an empty queue");
  EXPECT_EQ(a->rooms, 1u);
}

// ---- the end, and again

TEST_F(LinkLifeTest, CloseSendsWhatIsQueuedAndTheReason) {
  make();
  b->keepFrames = false;
  connect();
  const LinkId link = a->last;
  const std::string frame = frameOf(1, 100'000);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(a->network->send(link, frame));
  a->network->close(link, "going home");
  EXPECT_FALSE(a->network->send(link, frame)) << "nothing more after close()";
  bothDown();
  EXPECT_EQ(b->frameCount, 10u);
  EXPECT_EQ(a->downs[0].reason, "going home");
  EXPECT_EQ(b->downs[0].reason, "closed by the other end: going home");
}

TEST_F(LinkLifeTest, CloseEndsInBoundedTimeEvenIfThePeerDoesNotRead) {
  PeerNetworkOptions options;
  options.closeTimeoutMs = 50;
  make({}, options);
  StrangerSettings settings{identityOf('s')};
  settings.say = welcomeFrame();
  settings.reads = false;
  const Stranger stranger(loop, address, settings);
  b->until([&] { return b->up.size() == 1; }, "a link");
  b->network->send(b->last, std::string(12 << 20, 'x'));
  b->network->close("shutting down");
  const std::int64_t before = Loop::nowMs();
  b->until([&] { return !b->downs.empty(); }, "its end");
  EXPECT_EQ(b->downs[0].reason, "shutting down");
  EXPECT_LT(Loop::nowMs() - before, 5'000);
}

TEST_F(LinkLifeTest, CloseOfTheNetworkClosesEveryLinkAndListensNoMore) {
  make();
  connect();
  b->network->close();
  bothDown();
  EXPECT_EQ(a->downs[0].reason, "closed by the other end: shutting down");
  a->until([&] { return a->network->dials()[0].failures >= 2; }, "a dial that fails");
  EXPECT_NE(a->network->dials()[0].lastError.find("nobody answers at " + address), std::string::npos)
      << a->network->dials()[0].lastError;
  EXPECT_TRUE(a->up.empty());
}

TEST_F(LinkLifeTest, ADialSucceedsOnceTheListenerIsThereAgain) {
  make();
  connect();
  b.reset();
  a->until([&] { return a->network->dials()[0].failures >= 2; }, "failures");
  b = std::make_unique<Device>(loop, 'b');
  ASSERT_TRUE(b->network->listen(address).ok());
  bothUp();
  EXPECT_EQ(a->downs.size(), 1u);
}

TEST_F(LinkLifeTest, UndialLeavesTheLinkAndDialsNoMore) {
  make();
  connect();
  a->network->undial("b");
  EXPECT_TRUE(a->network->dials().empty());
  a->network->send(a->last, frameOf(1, 1));
  b->until([&] { return b->frames.size() == 1; }, "a frame");
  b->network->drop(b->last);
  bothDown();
  EXPECT_EQ(b->downs[0].reason, "dropped");
  a->network->dial("b", address, std::nullopt);
  bothUp();
  EXPECT_EQ(a->network->dials()[0].name, "b");
}

TEST_F(LinkLifeTest, ANameDialledAnewGoesToTheNewAddress) {
  make();
  a->network->dial("b", "127.0.0.1:1", std::nullopt);
  a->until([&] { return a->network->dials()[0].failures > 0; }, "a failure");
  a->network->dial("b", "[::1", std::nullopt);
  EXPECT_NE(a->network->dials()[0].lastError.find("has a"), std::string::npos) << a->network->dials()[0].lastError;
  a->network->dial("b", address, std::nullopt);
  bothUp();
}

TEST_F(LinkLifeTest, BothMayDialAndBothLinksAreReported) {
  make();
  const std::string there = *a->network->listen("127.0.0.1:0");
  a->network->dial("b", address, std::nullopt);
  b->network->dial("a", there, std::nullopt);
  a->until([&] { return a->up.size() == 2 && b->up.size() == 2; }, "two links");
  EXPECT_EQ(a->network->links().size(), 2u);
}

TEST_F(LinkLifeTest, ANewIdentityIsShownInTheNextHandshake) {
  make();
  connect();
  a->network->setIdentity(identityOf('z'));
  a->network->drop(a->last);
  bothDown();
  bothUp();
  EXPECT_EQ(b->up.begin()->second.key, keyOf('z').publicKey());
}

TEST_F(LinkLifeTest, DestroyedInTheMiddleOfEverything) {
  for (int turns = 0; turns < 60; ++turns) {
    Loop own;
    Device one{own, 'a'}, two{own, 'b'};
    const std::string there = *two.network->listen("127.0.0.1:0");
    one.network->dial("b", there, std::nullopt);
    one.onUp = [&](const LinkInfo& info) { one.network->send(info.id, frameOf(1, 50'000)); };
    int left = turns;
    own.runUntil([&] { return left-- <= 0; }, kPatience);
    two.network.reset();
    own.runUntil([&] { return one.up.empty(); }, kPatience);
    one.network.reset();
    own.runUntil([] { return false; }, 0);
  }
}

TEST_F(LinkLifeTest, ListenErrorsNameTheAddress) {
  make();
  const auto taken = a->network->listen(address);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().code, ErrorCode::conflict);
  EXPECT_NE(taken.error().message.find(address), std::string::npos);
  EXPECT_EQ(a->network->listen("nonsense").error().code, ErrorCode::invalidInput);
  EXPECT_EQ(a->network->listen("unix:/tmp/x").error().code, ErrorCode::invalidInput);
  EXPECT_EQ(a->network->listen("203.0.113.7:0").error().code, ErrorCode::ioFailed);
}

}  // namespace
}  // namespace witan::link_life_test
