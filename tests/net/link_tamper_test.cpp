// Somebody on the way: what is repeated, put in another order, taken away in one direction, or said again on another
// connection.
#include <gtest/gtest.h>

#include "net/link_frames.h"
#include "tests/net/device.h"
#include "tests/net/proxy.h"
#include "tests/net/stranger.h"

namespace witan::link_tamper_test {
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

struct LinkTamperTest : ::testing::Test {
  void connect() {
    a.network->dial("b", proxy.address(), keyOf('b').publicKey());
    bothUp();
  }
  void bothUp() {
    a.until([&] { return a.up.size() == 1 && b.up.size() == 1; }, "a link");
  }
  void bothDown() {
    a.until([&] { return !a.downs.empty() && !b.downs.empty(); }, "both down");
  }
  // Frame after frame, until the link is down.
  void talkUntilItEnds() {
    a.until(
        [&] {
          const bool room = a.downs.empty() && a.network->queuedBytes(a.last) < 1 << 16;
          if (room && a.network->send(a.last, frameOf(1, sent + 1))) ++sent;
          return !a.downs.empty() && !b.downs.empty();
        },
        "both down");
  }
  void expectOnlyWhatWasSaid() {
    ASSERT_LT(b.frames.size(), sent);
    for (std::size_t i = 0; i < b.frames.size(); ++i) EXPECT_EQ(b.frames[i], frameOf(1, i + 1));
  }

  Loop loop;
  Device a{loop, 'a', quick()}, b{loop, 'b', quick()};
  Proxy proxy{*b.network->listen("127.0.0.1:0")};
  std::size_t sent = 0;
};

TEST_F(LinkTamperTest, WhatComesTwiceEndsTheLinkAndIsHandedOnOnce) {
  connect();
  proxy.repeat();
  talkUntilItEnds();
  EXPECT_NE(b.downs[0].reason.find("bytes were changed on the way"), std::string::npos) << b.downs[0].reason;
  expectOnlyWhatWasSaid();
  bothUp();
}

TEST_F(LinkTamperTest, WhatComesInAnotherOrderEndsTheLinkAndNoneOfItIsHandedOn) {
  connect();
  proxy.swap();
  talkUntilItEnds();
  EXPECT_NE(b.downs[0].reason.find("bytes were changed on the way"), std::string::npos) << b.downs[0].reason;
  expectOnlyWhatWasSaid();
  bothUp();
}

// Its own hello gets another answer than the one that its bytes were for.
TEST_F(LinkTamperTest, WhatWasSaidOnAnotherConnectionIsWorthNothing) {
  connect();
  ASSERT_TRUE(a.network->send(a.last, frameOf(1, 5)));
  b.until([&] { return b.frames.size() == 1; }, "a frame");
  StrangerSettings again;
  again.plain = true;
  again.say = proxy.said();
  ASSERT_GT(again.say.size(), 500u);
  a.network->undial("b");
  a.network->close(a.last, "enough");
  bothDown();
  const Stranger stranger(loop, proxy.address(), again);
  b.until([&] { return stranger.over() && b.loggedWith("bytes were changed on the way"); }, "its refusal");
  EXPECT_TRUE(b.up.empty());
  EXPECT_EQ(b.frames.size(), 1u);
}

// The end that says nothing hears nothing, and its end of the link is what the other end hears.
TEST_F(LinkTamperTest, AHoleInOneDirectionIsNoticedAlsoWhileTheOtherEndTalks) {
  connect();
  proxy.swallowThere();
  talkUntilItEnds();
  EXPECT_EQ(b.downs[0].reason, "no sign of life for 300 ms");
  EXPECT_EQ(b.quiets, 1u);
  proxy.heal();
  bothUp();
}

TEST_F(LinkTamperTest, NothingIsCompressedNorResumedNorSaidEarly) {
  StrangerSettings settings{identityOf('s')};
  settings.say = welcomeFrame();
  Stranger stranger(loop, proxy.address(), settings);
  b.until([&] { return b.up.size() == 1; }, "a link");
  b.network->close(b.last, "enough");
  b.until([&] { return stranger.over(); }, "its end");
  EXPECT_TRUE(stranger.shaken);
  EXPECT_FALSE(stranger.compressed);
  EXPECT_FALSE(stranger.resumable) << "a ticket came";
  EXPECT_EQ(stranger.earlyData, 0u);
}

}  // namespace
}  // namespace witan::link_tamper_test
