// The small parts: loop, addresses, identities, server-sent events.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <csignal>
#include <thread>

#include "net/address.h"
#include "net/event_parser.h"
#include "net/http_message.h"
#include "tests/net/device.h"

namespace witan::parts_test {
namespace {

using namespace witan::net;
using namespace witan::net::test;

TEST(LoopTest, TimersComeInTheOrderOfTheirTimesAndCancelledOnesDoNot) {
  Loop loop;
  std::string order;
  loop.after(20, [&] { order += "c"; });
  loop.after(1, [&] { order += "a"; });
  const auto never = loop.after(5, [&] { order += "x"; });
  loop.after(10, [&] { order += "b"; });
  loop.cancel(never);
  loop.cancel(never);
  loop.cancel(999);
  EXPECT_TRUE(loop.runUntil([&] { return order.size() == 3; }, kPatience));
  EXPECT_EQ(order, "abc");
}

TEST(LoopTest, ATimerMayCancelAnotherThatIsDueAtTheSameMoment) {
  Loop loop;
  int ran = 0;
  Loop::TimerId first = 0, second = 0;
  first = loop.after(0, [&] { ++ran, loop.cancel(second); });
  second = loop.after(0, [&] { ++ran, loop.cancel(first); });
  bool later = false;
  loop.after(2, [&] { later = true; });
  EXPECT_TRUE(loop.runUntil([&] { return later; }, kPatience));
  EXPECT_EQ(ran, 1);
}

TEST(LoopTest, AnotherThreadMayPostAndStop) {
  Loop loop;
  int posted = 0;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) loop.post([&] { ++posted; });
    loop.post([&] { loop.stop(); });
  });
  loop.run();
  other.join();
  EXPECT_EQ(posted, 100);
  loop.stop();
  loop.run();  // a stop before counts
  EXPECT_FALSE(loop.runUntil([] { return false; }, 1));
}

TEST(LoopTest, SignalsArriveAgainAndAgain) {
  Loop loop;
  int got = 0;
  loop.onSignals({SIGUSR1}, [&](int signal) { got += signal == SIGUSR1 ? 1 : 0; });
  for (int i = 1; i <= 3; ++i) {
    ::raise(SIGUSR1);
    EXPECT_TRUE(loop.runUntil([&] { return got == i; }, kPatience));
  }
}

TEST(AddressTest, WhatPeopleWriteAndBack) {
  for (const char* text :
       {"127.0.0.1:7600", "[::1]:0", "clinic.example:65535", "unix:/run/witan.sock", "[fe80::1%eth0]:1"}) {
    const auto address = parseAddress(text);
    ASSERT_TRUE(address.ok()) << text << address.error().message;
    EXPECT_EQ(toText(*address), text);
  }
}

TEST(AddressTest, WhatIsWrongIsNamed) {
  const std::pair<std::string, const char*> bad[] = {{"", "has no port"},
                                                     {"host", "has no port"},
                                                     {"host:", "has no port"},
                                                     {":7600", "has no host"},
                                                     {"[]:1", "has no host"},
                                                     {"::1:7600", "IPv6 host without brackets"},
                                                     {"h:65536", "from 0 to"},
                                                     {"h:-1", "from 0 to"},
                                                     {"h: 1", "from 0 to"},
                                                     {"h:1x", "from 0 to"},
                                                     {"ho st:1", "\" \" in its host"},
                                                     {"a\nb:1", "in its host"},
                                                     {"unix:", "absolute path"},
                                                     {"unix:run", "absolute path"},
                                                     {"unix:/" + std::string(107, 'x'), "at most 107"},
                                                     {std::string(254, 'a') + ":1", "253"}};
  for (const auto& [text, why] : bad) {
    const auto address = parseAddress(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_NE(address.error().message.find(why), std::string::npos) << address.error().message;
  }
}

TEST(TlsIdentityTest, TheSameKeyGivesTheSameCertificate) {
  const TlsIdentity one = identityOf('a'), again = identityOf('a'), other = identityOf('b');
  EXPECT_EQ(one.certificatePem, again.certificatePem);
  EXPECT_NE(one.certificatePem, other.certificatePem);
  EXPECT_TRUE(one.privateKeyPem.starts_with("-----BEGIN PRIVATE KEY-----"));
}

TEST(TlsIdentityTest, NamesThatNoCertificateTakes) {
  EXPECT_FALSE(tlsIdentityOf(keyOf('a'), "").ok());
  EXPECT_FALSE(tlsIdentityOf(keyOf('a'), std::string(65, 'x')).ok());
  EXPECT_FALSE(tlsIdentityOf(keyOf('a'), "\xff").ok());
  EXPECT_TRUE(tlsIdentityOf(keyOf('a'), std::string(64, 'x')).ok());
  EXPECT_TRUE(tlsIdentityOf(keyOf('a'), "Gerät").ok());
}

std::vector<ServerEvent> eventsOf(std::string_view bytes, std::size_t piece = 1) {
  EventParser parser;
  std::vector<ServerEvent> events;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    EXPECT_TRUE(parser
                    .feed(bytes.substr(at, piece),
                          [&](const ServerEvent& event) {
                            events.push_back(event);
                            return true;
                          })
                    .ok());
  return events;
}

// The examples of the HTML Living Standard, section 9.2.6.
TEST(EventParserTest, TheStandardsExamples) {
  auto events = eventsOf("data: YHOO\ndata: +2\ndata: 10\n\n");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].data, "YHOO\n+2\n10");
  events = eventsOf(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].id, "1");
  EXPECT_EQ(events[1].data, "second event");
  EXPECT_EQ(events[1].id, "");
  EXPECT_EQ(events[2].data, " third event");
  events = eventsOf("data\n\ndata\ndata\n\ndata:");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].data, "");
  EXPECT_EQ(events[1].data, "\n");
  events = eventsOf("data:test\n\ndata: test\n\n");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].data, events[1].data);
}

TEST(EventParserTest, SaysWhereAReaderThatComesBackBegins) {
  EventParser parser;
  const auto none = [](const ServerEvent&) { return true; };
  EXPECT_EQ(parser.lastId(), "");
  ASSERT_TRUE(parser.feed("id: a\nretry: 500\ndata: \n\nid: b\nretry: soon\nretry: 99999999999\n\n", none).ok());
  EXPECT_EQ(parser.lastId(), "b");
  EXPECT_EQ(parser.retryMs(), 500);
}

TEST(EventParserTest, LinesEndInThreeWaysAndPiecesMayEndAnywhere) {
  const std::string bytes =
      "\xEF\xBB\xBF"
      "event: entry\r\ndata: a\rdata: b\n\r\n: comment\r\rid: 9\r\ndata: c\n\n";
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 100u}) {
    const auto events = eventsOf(bytes, piece);
    ASSERT_EQ(events.size(), 2u) << piece;
    EXPECT_EQ(events[0].name, "entry");
    EXPECT_EQ(events[0].data, "a\nb");
    EXPECT_EQ(events[1].name, "message");
    EXPECT_EQ(events[1].id, "9");
  }
}

TEST(EventParserTest, AnEventWithoutEndIsRefused) {
  EventParser parser(1000);
  const auto ignore = [](const ServerEvent&) { return true; };
  EXPECT_TRUE(parser.feed("data: " + std::string(900, 'x'), ignore).ok());
  EXPECT_FALSE(parser.feed(std::string(200, 'x'), ignore).ok());
  EventParser lines(1000);
  Status status = okStatus();
  for (int i = 0; i < 100 && status.ok(); ++i) status = lines.feed("data: 0123456789012345\n", ignore);
  EXPECT_FALSE(status.ok());
}

TEST(HttpMessageTest, PercentEncodingKeepsUnreservedCharactersOnly) {
  EXPECT_EQ(percentEncoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percentEncoded("a b/c?d=ü"), "a%20b%2Fc%3Fd%3D%C3%BC");
}

}  // namespace
}  // namespace witan::parts_test
