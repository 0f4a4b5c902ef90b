// Who is turned away, when, and whether both ends learn why.
#include <gtest/gtest.h>

#include <algorithm>

#include "net/link_frames.h"
#include "tests/net/device.h"
#include "tests/net/stranger.h"

namespace witan::link_refusal_test {
namespace {

using namespace witan::net;
using namespace witan::net::test;

struct LinkRefusalTest : ::testing::Test {
  void SetUp() override { address = *b.network->listen("127.0.0.1:0"); }

  // A stranger calls b; waits until the stranger is through and b has said something about it.
  void strangerCalls(StrangerSettings settings, const std::string& bSays) {
    stranger = std::make_unique<Stranger>(loop, address, std::move(settings));
    b.until([&] { return stranger->over() && b.loggedWith(bSays); }, bSays.c_str());
    EXPECT_TRUE(b.up.empty());
  }
  // a dials a stranger; waits until a has said something about it.
  void strangerIsCalled(StrangerSettings settings, const std::string& aSays) {
    stranger = std::make_unique<Stranger>(loop, std::move(settings));
    a.network->dial("stranger", stranger->address(), std::nullopt);
    a.until([&] { return a.loggedWith(aSays); }, aSays.c_str());
    a.network->undial("stranger");
    EXPECT_TRUE(a.up.empty());
  }

  Loop loop;
  Device a{loop, 'a'}, b{loop, 'b'};
  std::string address;
  std::unique_ptr<Stranger> stranger;
};

// Devices that are off, which are dialled again and again, use up no line of the log that a stranger is for.
TEST_F(LinkRefusalTest, IsSaidHoweverManyDialsFail) {
  for (int n = 0; n < 50; ++n) b.network->dial("off " + std::to_string(n), "127.0.0.1:1", std::nullopt);
  const auto failed = [&] {
    return std::count_if(b.logged.begin(), b.logged.end(),
                         [](const std::string& line) { return line.starts_with("no link to off"); });
  };
  b.until([&] { return failed() >= 50; }, "fifty dials that fail");
  strangerCalls({}, "showed no certificate with an Ed25519 key");
}

TEST_F(LinkRefusalTest, NoCertificate) {
  strangerCalls({}, "showed no certificate with an Ed25519 key");
  EXPECT_NE(stranger->error.find("certificate required"), std::string::npos) << stranger->error;
}

TEST_F(LinkRefusalTest, CertificateOfAnotherKindOfKey) {
  strangerCalls({ecIdentity()}, "showed no certificate with an Ed25519 key");
  EXPECT_NE(stranger->error.find("certificate required"), std::string::npos) << stranger->error;
}

TEST_F(LinkRefusalTest, Tls12) {
  strangerCalls({identityOf('c'), TLS1_2_VERSION}, "speaks no TLS 1.3");
  EXPECT_FALSE(stranger->shaken);
  EXPECT_NE(stranger->error.find("alert protocol version"), std::string::npos) << stranger->error;
}

TEST_F(LinkRefusalTest, PurposeThatNobodyServes) {
  strangerCalls({identityOf('c'), TLS1_3_VERSION, "h2"}, "offered no purpose (ALPN) that is served here");
  EXPECT_FALSE(stranger->shaken);
  EXPECT_NE(stranger->error.find("no application protocol"), std::string::npos) << stranger->error;
}

TEST_F(LinkRefusalTest, NoPurposeAtAll) {
  strangerCalls({identityOf('c'), TLS1_3_VERSION, ""}, "no purpose (ALPN) was agreed on");
  EXPECT_EQ(stranger->received, goodbyeFrame("no purpose (ALPN) was agreed on"));
}

TEST_F(LinkRefusalTest, HttpAndOtherNoise) {
  StrangerSettings settings;
  settings.plain = true;
  settings.say = "GET / HTTP/1.1\r\nHost: b\r\n\r\n";
  strangerCalls(settings, "sent HTTP, not TLS");
  settings.say = std::string(300, '\x5a');
  strangerCalls(settings, "speaks no TLS");
}

TEST_F(LinkRefusalTest, ServerOfTls12) { strangerIsCalled({ecIdentity(), TLS1_2_VERSION}, "no TLS"); }

TEST_F(LinkRefusalTest, ServerWithAnotherKindOfKey) {
  strangerIsCalled({ecIdentity()}, "found nothing in common");
  EXPECT_NE(stranger->error.find("signature"), std::string::npos) << stranger->error;
}

TEST_F(LinkRefusalTest, ServerThatAgreesOnNoPurpose) {
  strangerIsCalled({identityOf('c')}, "no purpose (ALPN) was agreed on");
}

TEST_F(LinkRefusalTest, AnotherKeyThanExpectedAndBothEndsSaySo) {
  a.network->dial("b", address, keyOf('c').publicKey());
  a.until(
      [&] { return a.loggedWith("was expected, found") && b.loggedWith("refused by the other end: at " + address); },
      "both refusals");
  EXPECT_TRUE(a.up.empty() && b.up.empty());
  EXPECT_NE(a.network->dials()[0].lastError.find("was expected, found"), std::string::npos);
}

TEST_F(LinkRefusalTest, AdmissionRefusedByTheOneWhoWasCalled) {
  b.admit = [](const LinkInfo& info) -> Status {
    EXPECT_EQ(info.key, keyOf('a').publicKey());
    return Error{ErrorCode::unauthorised, "device a was revoked on 2026-11-20", ""};
  };
  a.network->dial("b", address, std::nullopt);
  a.until(
      [&] {
        return a.loggedWith("refused by the other end: device a was revoked on 2026-11-20") &&
               b.loggedWith("refused: device a was revoked on 2026-11-20");
      },
      "both refusals");
  EXPECT_TRUE(a.up.empty() && b.up.empty() && a.downs.empty() && b.downs.empty());
}

TEST_F(LinkRefusalTest, AdmissionRefusedByTheOneWhoCalls) {
  a.admit = [](const LinkInfo&) -> Status { return Error{ErrorCode::unauthorised, "never heard of you", ""}; };
  a.network->dial("b", address, std::nullopt);
  a.until([&] { return a.loggedWith("refused: never heard") && b.loggedWith("refused by the other end: never heard"); },
          "both refusals");
  EXPECT_TRUE(a.up.empty() && b.up.empty());
}

TEST_F(LinkRefusalTest, APurposeOfItsOwnIsCarried) {
  a.network->dial("b", address, std::nullopt, "witan-join/1");
  a.until([&] { return a.up.size() == 1 && b.up.size() == 1; }, "a link");
  EXPECT_EQ(b.up.begin()->second.purpose, "witan-join/1");
}

TEST_F(LinkRefusalTest, APurposeThatIsSwitchedOff) {
  PeerNetworkOptions options;
  options.purposes = {"witan/1"};
  Device c{loop, 'c', options};
  const std::string there = *c.network->listen("127.0.0.1:0");
  a.network->dial("c", there, std::nullopt, "witan-join/1");
  a.until([&] { return a.loggedWith("does not serve this purpose") && c.loggedWith("offered no purpose"); },
          "refusals");
}

TEST_F(LinkRefusalTest, TooManyLinks) {
  PeerNetworkOptions options;
  options.maxLinks = 2;
  Device c{loop, 'c', options};
  const std::string there = *c.network->listen("127.0.0.1:0");
  for (const char* name : {"1", "2", "3"}) a.network->dial(name, there, std::nullopt);
  a.until([&] { return c.up.size() == 2 && a.loggedWith("too many links (2)"); }, "the third is refused");
}

TEST_F(LinkRefusalTest, SilenceInsteadOfAHandshake) {
  PeerNetworkOptions options;
  options.handshakeTimeoutMs = 30;
  Device c{loop, 'c', options};
  const std::string there = *c.network->listen("127.0.0.1:0");
  StrangerSettings settings;
  settings.plain = true;
  stranger = std::make_unique<Stranger>(loop, there, settings);
  c.until([&] { return c.loggedWith("no handshake within 30 ms") && stranger->over(); }, "its end");
}

TEST_F(LinkRefusalTest, ACallerThatNeverWelcomes) {
  PeerNetworkOptions options;
  options.handshakeTimeoutMs = 100;
  Device c{loop, 'c', options};
  const std::string there = *c.network->listen("127.0.0.1:0");
  for (int tries = 0; tries < 50; ++tries) {  // on a busy machine the handshake alone may take as long
    stranger = std::make_unique<Stranger>(loop, there, StrangerSettings{identityOf('s')});
    c.until([&] { return stranger->over(); }, "its end");
    if (!stranger->received.empty()) break;
  }
  c.until([&] { return c.loggedWith("no handshake within 100 ms"); }, "its reason");
  EXPECT_TRUE(stranger->shaken);
  EXPECT_EQ(stranger->received, welcomeFrame());
}

TEST_F(LinkRefusalTest, AFrameBeforeTheWelcome) {
  StrangerSettings settings{identityOf('s')};
  settings.say = frameOf(1, 1);
  strangerCalls(settings, "bad frame: one before the welcome");
  EXPECT_EQ(stranger->received, welcomeFrame() + goodbyeFrame("bad frame: one before the welcome"));
}

// A connection that says nothing costs its own address's oldest slot, so a good caller comes through at once.
TEST_F(LinkRefusalTest, AThousandHalfOpenConnectionsDoNotStopAGoodOne) {
  PeerNetworkOptions patient;
  patient.handshakeTimeoutMs = 600'000;
  Device c{loop, 'c', patient};
  address = *c.network->listen("127.0.0.1:0");
  std::vector<int> sockets;
  const sockaddr_in to = [&] {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    made.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return made;
  }();
  for (int i = 0; i < 1000; ++i) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(sockets.back(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0) << i;
    if (i % 50 == 0) loop.runUntil([] { return false; }, 0);  // what is ready: the backlog must not overflow
  }
  a.network->dial("c", address, keyOf('c').publicKey());
  a.until([&] { return a.up.size() == 1 && c.up.size() == 1; }, "a link");
  EXPECT_TRUE(c.loggedWith("too many handshakes from 127.0.0.1 at a time"));
  EXPECT_LE(c.logged.size(), 100u) << "the log is limited";
  for (const int socket : sockets) ::close(socket);
}

}  // namespace
}  // namespace witan::link_refusal_test
