// A desk and one other device on one loop: what the roster or an operator says while a link is coming up counts.
#include "node/daemon/peer_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/bytes.h"
#include "node/cluster/device_key.h"
#include "tests/net/device.h"
#include "tests/node/scratch.h"

namespace witan::node {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Time kNow{1'700'000'000'000'000};

RosterDevice deviceOf(char letter) {
  const PublicKey key = net::test::keyOf(letter).publicKey();
  return {
      deviceIdOf(key), std::string(1, letter), {toHex(key)}, DeviceState::active, {"ledger", "*"}, {}, {}, kNow, ""};
}

struct PeerDeskTest : ::testing::Test {
  static RosterBook bookIn(const std::string& dir, const SigningKey& admin) {
    std::filesystem::create_directories(dir);
    Roster roster{clusterIdOf(admin.publicKey()), 1, {deviceOf('a'), deviceOf('b')}};
    if (roster.devices[1].device < roster.devices[0].device) std::swap(roster.devices[0], roster.devices[1]);
    return *RosterBook::create(dir, admin.publicKey(), *signRoster(roster, admin));
  }
  // The other end, which is dialled, admits last: `meanwhile` happens when the desk has admitted it and is not linked
  // to it yet. What it hears of the link's end.
  std::string linkDuring(const std::function<void()>& meanwhile) {
    std::uint64_t refused = 0;
    other.admit = [&, done = false](const net::LinkInfo&) mutable {
      if (!std::exchange(done, true)) meanwhile();
      return okStatus();
    };
    other.onUp = [&](const net::LinkInfo&) { refused = desk.refusedLinks(); };
    desk.dialAll();
    other.until([&] { return !other.downs.empty() || !connected.empty(); }, "the end of the link, or that it stands");
    EXPECT_EQ(refused, 0u) << "the desk had let it in";
    EXPECT_THAT(connected, IsEmpty());
    return other.downs.empty() ? "" : other.downs.front().reason;
  }

  const testing::Scratch scratch;
  const SigningKey admin = net::test::keyOf('x');
  RosterBook book = bookIn(scratch / "desk", admin);
  EnrolmentDesk enrolment = *EnrolmentDesk::open(scratch / "desk", book, std::string(32, 's'), 1, admin);
  Log log{LogLevel::error, false, [] { return kNow; }, [](std::string_view) {}};
  net::Loop loop;
  net::test::Device other{loop, 'b'};
  std::vector<std::string> connected;
  PeerDesk desk{loop,
                net::test::identityOf('a'),
                book,
                enrolment,
                log,
                {deviceOf('a').device, {*other.network->listen("127.0.0.1:0")}},
                {.connected = [this](const std::string& device) { connected.push_back(device); },
                 .disconnected = [](const std::string&) {},
                 .received = [](const std::string&, std::string_view) {},
                 .room = [](const std::string&) {},
                 .rosterChanged = [] {},
                 .wall = [] { return kNow; },
                 .steadyMs = [] { return net::Loop::nowMs(); }}};
};

TEST_F(PeerDeskTest, ADeviceThatIsRevokedWhileItsLinkComesUpDoesNotGetIn) {
  const std::string end = linkDuring([&] {
    ASSERT_TRUE(enrolment.revoke("b", "stolen").ok());
    desk.rosterPublished();
  });
  EXPECT_THAT(end, HasSubstr("no member any more"));
}

TEST_F(PeerDeskTest, ALinkThatIsCutWhileItComesUpDoesNotStand) {
  EXPECT_THAT(linkDuring([&] { desk.cut(deviceOf('b').device); }), HasSubstr("an operator has cut this link"));
}

TEST_F(PeerDeskTest, OtherwiseItStands) {
  desk.dialAll();
  other.until([&] { return !connected.empty(); }, "a link");
  EXPECT_EQ(connected.front(), deviceOf('b').device);
  EXPECT_TRUE(other.downs.empty());
}

}  // namespace
}  // namespace witan::node
