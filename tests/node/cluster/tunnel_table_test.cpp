// Tunnels without sockets: three tables that hear each other's frames, and one that hears what no honest device sends.
#include "node/relay/tunnel_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "node/relay/tunnel.capnp.h"
#include "tests/same_layout.h"

namespace witan::node::tunnel_table_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

template <class T>
std::vector<T> only(const TunnelEffects& effects) {
  std::vector<T> found;
  for (const TunnelEffect& effect : effects)
    if (const T* one = std::get_if<T>(&effect)) found.push_back(*one);
  return found;
}

template <class T>
T read(const TunnelSend& send) {
  T message;
  EXPECT_EQ(static_cast<std::uint8_t>(send.frames[4]), static_cast<std::uint8_t>(T::kFrame));
  EXPECT_TRUE(readClusterFrame(send.frames, message).ok());
  return message;
}

// Devices by letter; frames are passed on until nobody has one. What else happened is kept by device.
struct Tunnels {
  explicit Tunnels(bool carries = true, TunnelLimits limits = {}) {
    for (const char* name : {"a", "b", "c"}) tables.try_emplace(name, name, *name != 'b' || carries, limits);
  }
  void link(const std::string& one, const std::string& other) {
    tables.at(one).linked(other);
    tables.at(other).linked(one);
  }
  void unlink(const std::string& one, const std::string& other) {
    doing(one, [&](TunnelEffects& out) { tables.at(one).unlinked(other, "cut", out); });
    doing(other, [&](TunnelEffects& out) { tables.at(other).unlinked(one, "cut", out); });
  }
  template <class Do>
  void doing(const std::string& device, Do what) {
    TunnelEffects effects;
    what(effects);
    keep(device, std::move(effects));
    run();
  }
  void keep(const std::string& device, TunnelEffects effects) {
    for (TunnelEffect& effect : effects) {
      if (auto* send = std::get_if<TunnelSend>(&effect)) {
        underWay.push_back({device, std::move(*send)});
      } else {
        if (auto* offered = std::get_if<TunnelOffered>(&effect); offered && accepting) {
          TunnelEffects more;
          tables.at(device).accept(offered->id, more);
          keep(device, std::move(more));
        }
        happened[device].push_back(std::move(effect));
      }
    }
  }
  void run() {
    while (!underWay.empty()) {
      const auto [from, send] = std::move(underWay.front());
      underWay.pop_front();
      if (!tables.at(send.device).isLinked(from)) continue;
      TunnelEffects effects;
      const Status taken = tables.at(send.device).received(from, send.frames, now, effects);
      EXPECT_TRUE(taken.ok()) << taken.error().message;
      keep(send.device, std::move(effects));
    }
  }
  // From a through b to c; the ids at both ends, 0: none.
  std::pair<TunnelId, TunnelId> open(const std::string& from = "a", const std::string& to = "c") {
    TunnelId id = 0;
    doing(from, [&](TunnelEffects& out) { id = tables.at(from).ask("b", to, out); });
    const auto offered = only<TunnelOffered>(happened[to]);
    return {id, offered.empty() ? 0 : offered.back().id};
  }
  std::string arrivedAt(const std::string& device) {
    std::string all;
    for (const TunnelArrived& one : only<TunnelArrived>(happened[device])) all += one.bytes;
    return all;
  }
  TunnelTable& at(const std::string& device) { return tables.at(device); }

  std::map<std::string, TunnelTable> tables;
  std::map<std::string, TunnelEffects> happened;
  std::deque<std::pair<std::string, TunnelSend>> underWay;
  std::int64_t now = 0;
  bool accepting = true;
};

struct TunnelTest : ::testing::Test {
  TunnelTest() { t.link("a", "b"), t.link("b", "c"); }
  Tunnels t;
};

TEST(TunnelMessages, AreTheirSchema) {
  using witan::layout::expectSameLayout;
  expectSameLayout<wire::TunnelOpen, TunnelOpen>();
  expectSameLayout<wire::TunnelOffer, TunnelOffer>();
  expectSameLayout<wire::TunnelOpened, TunnelOpened>();
  expectSameLayout<wire::TunnelData, TunnelData>();
  expectSameLayout<wire::TunnelCredit, TunnelCredit>();
  expectSameLayout<wire::TunnelClose, TunnelClose>();
}

TEST_F(TunnelTest, BytesGoBothWaysInOrderAndBothEndsKnowWithWhom) {
  const auto [a, c] = t.open();
  ASSERT_NE(c, 0u);
  EXPECT_EQ(only<TunnelStands>(t.happened["a"]).at(0).other, "c");
  EXPECT_EQ(only<TunnelOffered>(t.happened["c"]).at(0).other, "a");
  EXPECT_EQ(t.at("b").carrying(), 1u);
  for (const char* bytes : {"one ", "two ", "three"})
    t.doing("a", [&, a = a](TunnelEffects& out) { t.at("a").send(a, bytes, out); });
  t.doing("c", [&, c = c](TunnelEffects& out) { t.at("c").send(c, "back", out); });
  EXPECT_EQ(t.arrivedAt("c"), "one two three");
  EXPECT_EQ(t.arrivedAt("a"), "back");
  EXPECT_EQ(t.at("b").counters().bytes, 17u);
  t.doing("c", [&, c = c](TunnelEffects& out) { t.at("c").close(c, TunnelWhy::closed, "done", out); });
  EXPECT_EQ(only<TunnelGone>(t.happened["a"]).at(0).reason, "done");
  EXPECT_EQ(only<TunnelCarried>(t.happened["b"]).back().bytes, 17u);
  for (const auto& [name, table] : t.tables) EXPECT_EQ(table.ends() + table.carrying(), 0u) << name;
}

TEST_F(TunnelTest, ASlowReceiverHoldsTheSenderUpAndTheRelayHasNoMoreThanAWindow) {
  const auto [a, c] = t.open();
  std::size_t sent = 0;
  const auto fill = [&, a = a] {
    while (const std::size_t room = t.at("a").room(a))
      t.doing("a", [&](TunnelEffects& out) { t.at("a").send(a, std::string(room, 'x'), out), sent += room; });
  };
  fill();
  EXPECT_LE(sent, kTunnelWindow);
  EXPECT_GT(sent, kTunnelWindow * 9 / 10);
  EXPECT_THAT(only<TunnelRoom>(t.happened["a"]), IsEmpty());
  const std::size_t first = sent;
  for (const TunnelArrived& one : only<TunnelArrived>(t.happened["c"]))
    t.doing("c", [&, c = c](TunnelEffects& out) { t.at("c").taken(c, one.bytes.size(), out); });
  EXPECT_FALSE(only<TunnelRoom>(t.happened["a"]).empty());
  fill();
  EXPECT_GT(sent, first + kTunnelWindow / 2);
  EXPECT_LE(sent, first + kTunnelWindow);
  EXPECT_EQ(t.arrivedAt("c").size(), sent);
}

// Whatever the sizes: nobody waits for credit that nobody owes him.
TEST_F(TunnelTest, CreditNeverRunsDry) {
  const auto [a, c] = t.open();
  std::size_t told = 0;
  for (std::size_t size = 1; size < 3'000; ++size) {
    ASSERT_GE(t.at("a").room(a), size);
    t.doing("a", [&, a = a](TunnelEffects& out) { t.at("a").send(a, std::string(size, 'x'), out); });
    const auto arrived = only<TunnelArrived>(t.happened["c"]);
    t.happened["c"].clear();
    t.doing("c", [&, c = c](TunnelEffects& out) { t.at("c").taken(c, arrived.at(0).bytes.size(), out); });
    told += arrived.size();
  }
  EXPECT_EQ(told, 2'999u);
}

TEST_F(TunnelTest, RefusedWithTheReason) {
  const auto reasonFor = [&](const std::string& device) {
    const std::size_t before = only<TunnelGone>(t.happened["a"]).size();
    t.doing("a", [&](TunnelEffects& out) { EXPECT_NE(t.at("a").ask("b", device, out), 0u); });
    const auto gone = only<TunnelGone>(t.happened["a"]);
    return gone.size() > before ? gone.back().why : TunnelWhy::closed;
  };
  EXPECT_EQ(reasonFor("d"), TunnelWhy::noLink);
  EXPECT_EQ(reasonFor("a"), TunnelWhy::noLink);
  EXPECT_EQ(reasonFor("b"), TunnelWhy::noLink) << "b is no target of its own";
  EXPECT_EQ(t.at("b").counters().absent, 3u);
  EXPECT_EQ(t.at("b").counters().refused, 0u) << "nothing is wrong with a device that is off";
  t.accepting = false;
  TunnelId id = 0;
  t.doing("a", [&](TunnelEffects& out) { id = t.at("a").ask("b", "c", out); });
  t.doing("c", [&](TunnelEffects& out) {
    t.at("c").close(only<TunnelOffered>(t.happened["c"]).at(0).id, TunnelWhy::notWanted, "an operator has cut it", out);
  });
  const TunnelGone gone = only<TunnelGone>(t.happened["a"]).back();
  EXPECT_EQ(gone.id, id);
  EXPECT_EQ(gone.why, TunnelWhy::notWanted);
  EXPECT_EQ(gone.reason, "an operator has cut it");
  TunnelEffects none;
  EXPECT_EQ(t.at("a").ask("c", "b", none), 0u) << "not linked";
}

TEST(Tunnels, ADeviceThatDoesNotCarrySaysSo) {
  Tunnels t(false);
  t.link("a", "b"), t.link("b", "c");
  EXPECT_EQ(t.open().second, 0u);
  EXPECT_EQ(only<TunnelGone>(t.happened["a"]).at(0).why, TunnelWhy::doesNotCarry);
}

TEST_F(TunnelTest, ALinkThatEndsEndsItsTunnelsAtAllThree) {
  for (const auto& [one, other] : {std::pair("a", "b"), std::pair("b", "c")}) {
    const auto [a, c] = t.open();
    ASSERT_EQ(t.at("b").carrying(), 1u);
    t.unlink(one, other);
    EXPECT_EQ(only<TunnelGone>(t.happened["a"]).back().id, a);
    EXPECT_EQ(only<TunnelGone>(t.happened["c"]).back().id, c);
    for (const char* end : {"a", "c"}) {
      EXPECT_EQ(only<TunnelGone>(t.happened[end]).back().why, TunnelWhy::linkEnded);
      EXPECT_THAT(only<TunnelGone>(t.happened[end]).back().reason, HasSubstr("has ended: cut")) << end;
    }
    for (const auto& [name, table] : t.tables) EXPECT_EQ(table.ends() + table.carrying(), 0u) << name;
    t.link(one, other);
  }
}

TEST_F(TunnelTest, BothMayAskAtTheSameTime) {
  TunnelEffects a, c;
  EXPECT_NE(t.at("a").ask("b", "c", a), 0u);
  EXPECT_NE(t.at("c").ask("b", "a", c), 0u);
  t.keep("a", std::move(a)), t.keep("c", std::move(c));
  t.run();
  EXPECT_EQ(t.at("b").carrying(), 2u);
  EXPECT_EQ(only<TunnelStands>(t.happened["a"]).size() + only<TunnelStands>(t.happened["c"]).size(), 2u);
}

TEST_F(TunnelTest, DataUnderWayWhenATunnelClosesIsPassedOver) {
  const auto [a, c] = t.open();
  TunnelEffects late;
  t.at("a").send(a, "late", late);
  t.doing("c", [&, c = c](TunnelEffects& out) { t.at("c").close(c, TunnelWhy::closed, "", out); });
  t.keep("a", std::move(late));
  t.run();  // expects every frame to be taken
  EXPECT_EQ(t.arrivedAt("c"), "");
}

// --- limits

TEST(TunnelLimitsTest, OfAPairOfADeviceAndInTotal) {
  const auto opened = [](TunnelLimits limits, bool withD) {
    Tunnels t(true, limits);
    t.tables.try_emplace("d", "d", true, limits);
    t.link("a", "b"), t.link("b", "c"), t.link("b", "d");
    for (int i = 0; i < 10; ++i) {
      t.open("a", "c");
      if (withD) t.open("d", "c");
    }
    if (limits.ends > 20) {
      EXPECT_EQ(t.at("b").counters().refused, (withD ? 20 : 10) - t.at("b").carrying());
    }
    for (const TunnelGone& gone : only<TunnelGone>(t.happened["a"])) EXPECT_EQ(gone.why, TunnelWhy::tooMany);
    return t.at("b").carrying();
  };
  EXPECT_EQ(opened({.perPair = 3}, false), 3u);
  EXPECT_EQ(opened({.perDevice = 5, .perPair = 3}, true), 5u);
  EXPECT_EQ(opened({.carried = 4, .perPair = 3}, true), 4u);
  EXPECT_EQ(opened({.perPair = 9, .ends = 2}, false), 2u) << "the asker's own limit";
}

TEST(TunnelLimitsTest, OfOpensInAWhileAndWhoGoesOnLosesItsLink) {
  TunnelTable b("b", true);
  b.linked("a"), b.linked("c");
  const TunnelLimits limits;
  std::size_t refused = 0, offered = 0, kept = 0;
  Status taken = okStatus();
  std::uint64_t opened = 0;
  while (taken.ok() && opened < 10'000) {
    TunnelEffects effects;
    TunnelOpen open;
    open.tunnel = 1 + 2 * ++opened;
    open.device = "c";
    taken = b.received("a", clusterFrame(open), 0, effects);
    for (const TunnelSend& send : only<TunnelSend>(effects)) {
      if (send.device == "c") {
        ++offered;
      } else {
        ++refused;
        kept += send.frames.size();
      }
    }
  }
  EXPECT_EQ(opened, limits.floods + 1);
  EXPECT_THAT(taken.error().message, HasSubstr("more than 512 tunnels were opened in 10000 ms"));
  EXPECT_EQ(offered, limits.perPair);
  EXPECT_EQ(refused, limits.floods - limits.perPair);
  EXPECT_LT(kept, 100'000u);
  // After a while it may again.
  TunnelTable again("b", true);
  again.linked("a");
  for (std::uint64_t i = 1; i < 3 * limits.floods; ++i) {
    TunnelEffects effects;
    TunnelOpen open;
    open.tunnel = 1 + 2 * i;
    open.device = "x";
    ASSERT_TRUE(again.received("a", clusterFrame(open), static_cast<std::int64_t>(i) * 100, effects).ok());
  }
}

// Else one who comes again and again with new links makes the target take the relay for a flood.
TEST(TunnelLimitsTest, OfOffersToATargetWhoeverAsks) {
  Tunnels t;
  t.link("b", "c");
  for (int links = 0; links < 10; ++links) {
    t.link("a", "b");
    for (int n = 0; n < 64; ++n) {
      const TunnelId id = t.open().first;
      t.doing("a", [&](TunnelEffects& out) { t.at("a").close(id, TunnelWhy::closed, "again", out); });
    }
    t.unlink("a", "b");
  }
  const TunnelLimits limits;
  EXPECT_THAT(only<TunnelOffered>(t.happened["c"]), SizeIs(limits.offersPerAsker));
  EXPECT_TRUE(t.at("b").isLinked("c"));
}

TEST(TunnelLimitsTest, OfOffersToATargetEachAskerHasAShare) {
  Tunnels t;
  t.link("b", "c");
  const auto ask = [&](const std::string& asker, int times) {
    t.tables.try_emplace(asker, asker, true);
    t.link(asker, "b");
    for (int n = 0; n < times; ++n) {
      const TunnelId id = t.open(asker).first;
      t.doing(asker, [&](TunnelEffects& out) { t.at(asker).close(id, TunnelWhy::closed, "again", out); });
    }
  };
  const TunnelLimits limits;
  ask("a", 60);
  ask("d", 1);
  EXPECT_THAT(only<TunnelOffered>(t.happened["c"]), SizeIs(limits.offersPerAsker + 1)) << "the other is not shut out";
  for (const char* more : {"e", "f", "g", "h", "i"}) ask(more, 60);
  EXPECT_THAT(only<TunnelOffered>(t.happened["c"]), SizeIs(limits.opens)) << "and no more than the target takes";
  t.now += limits.openWindowMs;
  ask("a", 1);
  EXPECT_THAT(only<TunnelOffered>(t.happened["c"]), SizeIs(limits.opens + 1));
}

TEST(TunnelLimitsTest, OfOffersAtTheTarget) {
  TunnelTable c("c", true);
  c.linked("b");
  TunnelEffects effects;
  const TunnelLimits limits;
  for (std::uint64_t i = 1; i <= limits.opens + 5; ++i) {
    TunnelOffer offer;
    offer.tunnel = 1 + 2 * i;
    offer.device = "a";
    ASSERT_TRUE(c.received("b", clusterFrame(offer), 0, effects).ok());
  }
  EXPECT_THAT(only<TunnelOffered>(effects), SizeIs(limits.opens));
  const auto sends = only<TunnelSend>(effects);
  ASSERT_THAT(sends, SizeIs(5));
  EXPECT_EQ(read<TunnelClose>(sends[0]).why, TunnelWhy::tooMany);
}

// --- what no honest device sends

struct HostileTest : TunnelTest {
  HostileTest() { std::tie(a, c) = t.open(); }
  // To the relay, on the link with a, whose tunnel there has the number 3.
  template <class T>
  std::string problem(const T& message, const std::string& to = "b", const std::string& from = "a") {
    TunnelEffects effects;
    const Status taken = t.at(to).received(from, clusterFrame(message), t.now, effects);
    for (const TunnelSend& send : only<TunnelSend>(effects)) passed += send.frames.size();
    return taken.ok() ? "" : taken.error().message;
  }
  static TunnelData data(std::uint64_t tunnel, std::size_t bytes) {
    TunnelData message;
    message.tunnel = tunnel;
    message.bytes.resize(bytes, 'x');
    return message;
  }
  TunnelId a = 0, c = 0;
  std::size_t passed = 0;
};

TEST_F(HostileTest, WhoIgnoresCreditIsStoppedAtTheWindow) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1'000}, kTunnelChunk}) {
    Tunnels fresh;
    std::swap(fresh.tables, t.tables);
    t.link("a", "b"), t.link("b", "c");
    t.open();
    passed = 0;
    std::string why;
    for (int i = 0; why.empty() && i < 10'000; ++i) why = problem(data(3, size));
    EXPECT_THAT(why, HasSubstr("beyond its credit")) << size;
    EXPECT_LE(passed, kTunnelWindow) << "with all headers";
  }
}

TEST_F(HostileTest, GiantAndEmptyPieces) {
  for (const std::size_t size : {std::size_t{0}, kTunnelChunk + 1, std::size_t{4} << 20})
    EXPECT_THAT(problem(data(3, size)), HasSubstr("must be 1 to 32768"));
  TunnelClose close;
  close.tunnel = 3;
  close.reason = std::string(10'000, 'x');
  EXPECT_THAT(problem(close), HasSubstr("too long"));
  EXPECT_EQ(passed, 0u);
}

TEST_F(HostileTest, TunnelsThatWereNeverOpened) {
  for (const std::uint64_t number : {0u, 1u, 5u, 6u, 4'000'000'000u})
    EXPECT_THAT(problem(data(number, 10)), HasSubstr("never opened")) << number;
  TunnelOpened opened;
  opened.tunnel = 5;
  EXPECT_THAT(problem(opened), HasSubstr("never opened"));
  TunnelCredit credit;
  credit.tunnel = 5, credit.bytes = kTunnelWindow;
  EXPECT_THAT(problem(credit), HasSubstr("never opened"));
}

TEST_F(HostileTest, NumbersThatAreNotTheirs) {
  for (const std::uint64_t number : {0u, 1u, 2u, 3u, 4u}) {
    TunnelOpen open;
    open.tunnel = number, open.device = "c";
    EXPECT_THAT(problem(open), HasSubstr("no new number")) << number;
    TunnelOffer offer;
    offer.tunnel = number, offer.device = "c";
    EXPECT_THAT(problem(offer), HasSubstr("no new number")) << number;
  }
}

TEST_F(HostileTest, CreditThatNobodyUsedOrInCrumbs) {
  TunnelCredit credit;
  credit.tunnel = 3, credit.bytes = kTunnelLeastCredit;
  EXPECT_THAT(problem(credit), HasSubstr("more credit than was used"));
  credit.bytes = 1;
  EXPECT_THAT(problem(credit), HasSubstr("crumbs"));
  credit.bytes = kTunnelLeastCredit;
  EXPECT_THAT(problem(credit, "c", "b"), HasSubstr("more credit than was used")) << "at an end";
}

TEST_F(HostileTest, OpenedByTheWrongEndOrTwiceOrNotYet) {
  TunnelOpened opened;
  opened.tunnel = 3;
  EXPECT_THAT(problem(opened), HasSubstr("wrong end"));
  EXPECT_THAT(problem(opened, "a", "b"), HasSubstr("twice"));
  t.accepting = false;
  t.open();
  EXPECT_THAT(problem(data(5, 10)), HasSubstr("before the tunnel was opened"));
}

TEST_F(HostileTest, TunnelsInsideOfTunnels) {
  EXPECT_THAT(problem(data(3, 10), "b", "d"), HasSubstr("direct links only"));
}

TEST_F(HostileTest, AReasonCannotForgeALogLine) {
  TunnelClose close;
  close.tunnel = 3, close.reason = "fine\nerror: all is lost";
  TunnelEffects effects;
  ASSERT_TRUE(t.at("b").received("a", clusterFrame(close), 0, effects).ok());
  EXPECT_EQ(only<TunnelCarried>(effects).at(0).reason.find('\n'), std::string::npos);
}

TEST_F(HostileTest, WhatIsNoMessage) {
  for (std::uint8_t type = 71; type <= 76; ++type) {
    std::string frame;
    appendFrame(frame, type, 1, std::string(16, '\xff'));
    TunnelEffects effects;
    EXPECT_FALSE(t.at("b").received("a", frame, 0, effects).ok()) << int{type};
    EXPECT_THAT(effects, IsEmpty());
  }
}

}  // namespace
}  // namespace witan::node::tunnel_table_test
