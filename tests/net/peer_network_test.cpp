// Links between two devices over real sockets on loopback, both on one loop.
#include <gtest/gtest.h>

#include "tests/net/device.h"

namespace witan::peer_network_test {
namespace {

using namespace witan::net;
using namespace witan::net::test;

struct PeerNetworkTest : ::testing::Test {
  void connect(std::optional<PublicKey> expected = std::nullopt) {
    address = *b.network->listen("127.0.0.1:0");
    a.network->dial("b", address, expected);
    a.until([&] { return a.up.size() == 1 && b.up.size() == 1; }, "a link");
  }

  Loop loop;
  Device a{loop, 'a'}, b{loop, 'b'};
  std::string address;
};

TEST_F(PeerNetworkTest, BothEndsKnowWhoTheOtherIs) {
  connect(keyOf('b').publicKey());
  const LinkInfo& dialled = a.up.begin()->second;
  const LinkInfo& accepted = b.up.begin()->second;
  EXPECT_EQ(dialled.key, keyOf('b').publicKey());
  EXPECT_EQ(accepted.key, keyOf('a').publicKey());
  EXPECT_TRUE(dialled.dialled);
  EXPECT_FALSE(accepted.dialled);
  EXPECT_EQ(dialled.name, "b");
  EXPECT_EQ(accepted.name, "");
  EXPECT_EQ(dialled.address, address);
  EXPECT_TRUE(accepted.address.starts_with("127.0.0.1:")) << accepted.address;
  EXPECT_EQ(dialled.purpose, "witan/1");
  EXPECT_EQ(accepted.purpose, "witan/1");
}

TEST_F(PeerNetworkTest, FramesOfAllSizesGoBothWays) {
  connect();
  std::vector<std::string> sent;
  for (const std::size_t words : {1u, 2u, 7u, 100u, 2046u, 2047u, 2048u, 2049u, 8191u, 8192u, 100'000u, 262'144u}) {
    sent.push_back(frameOf(1, words));
    ASSERT_TRUE(a.network->send(a.last, sent.back()));
    ASSERT_TRUE(b.network->send(b.last, sent.back()));
  }
  a.until([&] { return a.frames.size() >= sent.size() && b.frames.size() >= sent.size(); }, "all frames");
  EXPECT_EQ(a.frames, sent);
  EXPECT_EQ(b.frames, sent);
  a.until([&] { return a.network->queuedBytes(a.last) == 0; }, "an empty queue");  // a pong may be under way
}

}  // namespace
}  // namespace witan::peer_network_test
