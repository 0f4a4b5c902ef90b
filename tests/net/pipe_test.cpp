// Links over bytes that somebody else carries: two networks whose pipes are joined here, byte by byte if need be.
#include "net/pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net/device.h"

namespace witan::net::test::pipe_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What carries: each end's bytes to the other, and a copy of all of it for the test.
struct Carrier {
  struct Side {
    std::unique_ptr<Pipe> pipe;
    std::size_t allowed = 1'000, delivered = 0;
    bool ended = false;
    std::string seen;
  };
  Side a, c;
  bool passing = true;

  PipeEvents events(Side& mine, Side& other) {
    PipeEvents events;
    events.came = [this, &mine, &other](std::string_view bytes) {
      EXPECT_LE(bytes.size(), mine.allowed);
      mine.seen += bytes;
      if (passing && other.pipe) other.pipe->deliver(std::string(bytes));
      mine.pipe->allow(mine.allowed);
    };
    events.delivered = [&mine](std::size_t bytes) { mine.delivered += bytes; };
    events.ended = [&mine, &other] {
      mine.ended = true;
      other.pipe.reset();
    };
    return events;
  }
  void join(Device& from, Device& to, std::optional<PublicKey> expected = std::nullopt) {
    CarriedLink dials{"relay", "to C", expected}, accepts{"relay", "", std::nullopt};
    a.pipe = *from.network->carry(dials, events(a, c));
    c.pipe = *to.network->carry(accepts, events(c, a));
    a.pipe->allow(a.allowed);
    c.pipe->allow(c.allowed);
  }
};

struct PipeTest : ::testing::Test {
  Loop loop;
  Device a{loop, 'a'}, c{loop, 'c'};
  Carrier carrier;
};

TEST_F(PipeTest, ALinkGoesFromEndToEndAndWhoCarriesItReadsNothing) {
  carrier.join(a, c, keyOf('c').publicKey());
  a.until([&] { return a.up.size() == 1 && c.up.size() == 1; }, "the link");
  const LinkInfo& info = a.up.begin()->second;
  EXPECT_EQ(info.key, keyOf('c').publicKey());
  EXPECT_EQ(c.up.begin()->second.key, keyOf('a').publicKey());
  EXPECT_EQ(info.via, "relay");
  EXPECT_EQ(info.address, "via relay");
  EXPECT_TRUE(info.dialled);
  EXPECT_FALSE(c.up.begin()->second.dialled);
  const std::string secret = "the baseline was positive";
  std::string frame;
  appendFrame(frame, 7, 1, secret + std::string(7, ' '));
  for (int i = 0; i < 20; ++i) {
    a.network->send(a.last, frame + frameOf(5, 5'000));
    c.network->send(c.last, frame);
  }
  a.until([&] { return a.frames.size() == 20 && c.frames.size() == 40; }, "the frames");
  EXPECT_EQ(a.frames.back(), frame);
  EXPECT_GT(carrier.a.seen.size(), 20 * 40'000u);
  for (const auto* side : {&carrier.a, &carrier.c}) EXPECT_THAT(side->seen, Not(HasSubstr("baseline")));
}

TEST_F(PipeTest, AnotherKeyThanWasExpectedIsRefusedAndSaid) {
  carrier.join(a, c, keyOf('x').publicKey());
  a.until([&] { return a.loggedWith("was expected") && c.loggedWith("refused by the other end"); }, "the reasons");
  EXPECT_TRUE(a.up.empty() && c.up.empty());
}

TEST_F(PipeTest, AReasonArrivesAndBothEndsAreTold) {
  carrier.join(a, c);
  a.until([&] { return a.up.size() == 1 && c.up.size() == 1; }, "the link");
  a.network->close(a.last, "revoked");
  a.until([&] { return a.downs.size() == 1 && c.downs.size() == 1; }, "the ends");
  EXPECT_THAT(c.downs.front().reason, HasSubstr("revoked"));
  EXPECT_TRUE(carrier.a.ended || carrier.c.ended);
}

TEST_F(PipeTest, WhoeverCarriesMayLeave) {
  carrier.join(a, c);
  a.until([&] { return a.up.size() == 1 && c.up.size() == 1; }, "the link");
  carrier.a.pipe.reset();
  a.until([&] { return a.downs.size() == 1; }, "the end at one side");
  EXPECT_THAT(a.downs.front().reason, HasSubstr("connection lost"));
  carrier.c.pipe.reset();
  a.until([&] { return c.downs.size() == 1; }, "the end at the other side");
}

TEST_F(PipeTest, WhatIsNotAllowedStaysWithTheSender) {
  carrier.join(a, c);
  a.until([&] { return a.up.size() == 1 && c.up.size() == 1; }, "the link");
  carrier.a.allowed = 0;
  carrier.a.pipe->allow(0);
  const std::size_t before = carrier.a.seen.size();
  a.network->send(a.last, frameOf(5, 200'000));
  a.until([&] { return a.network->queuedBytes(a.last) < 1'600'000; }, "the sockets between are full");
  for (int turn = 0; turn < 50; ++turn) loop.runUntil([] { return false; }, 1);
  EXPECT_EQ(carrier.a.seen.size(), before);
  EXPECT_GT(a.network->queuedBytes(a.last), 1'000'000u);
  carrier.a.allowed = kMaxPipeRead;
  carrier.a.pipe->allow(kMaxPipeRead);
  a.until([&] { return c.frames.size() == 1; }, "the frame, once it is allowed");
  EXPECT_EQ(c.frames.front(), frameOf(5, 200'000));
}

TEST_F(PipeTest, WhoAllowsNothingHearsOfTheEndAllTheSame) {
  carrier.join(a, c);
  a.until([&] { return a.up.size() == 1 && c.up.size() == 1; }, "the link");
  carrier.a.allowed = 0;
  carrier.a.pipe->allow(0);
  a.network->send(a.last, frameOf(5, 200'000));
  a.until([&] { return a.network->queuedBytes(a.last) < 1'600'000; }, "the sockets between are full");
  a.network->drop(a.last);
  a.until([&] { return carrier.a.ended; }, "the end");
}

TEST_F(PipeTest, BytesThatNeverBecomeALinkEnd) {
  PeerNetworkOptions options;
  options.handshakeTimeoutMs = 50;
  Device quick(loop, 'q', options);
  bool ended = false;
  PipeEvents events;
  events.came = [](std::string_view) {};
  events.delivered = [](std::size_t) {};
  events.ended = [&] { ended = true; };
  const auto pipe = *quick.network->carry({"relay", "", std::nullopt}, std::move(events));
  pipe->allow(1'000);
  a.until([&] { return ended; }, "the time limit");
  pipe->deliver("too late");
  EXPECT_TRUE(quick.loggedWith("no handshake within 50 ms")) << quick.words();
}

}  // namespace
}  // namespace witan::net::test::pipe_test
