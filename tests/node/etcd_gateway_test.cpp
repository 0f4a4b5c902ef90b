// The gateway against real members of an etcd, and against what is none: TLS with certificates on both sides,
// fail-over, sizes, and who must not be believed.
#include "node/etcd/etcd_gateway.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seams.h"
#include "net/http_server.h"
#include "tests/node/etcd_servers.h"

namespace witan::node::etcd_gateway_test {
namespace {

using test::EtcdServers;
using ::testing::HasSubstr;

class Carried {
 public:
  explicit Carried(std::vector<net::HttpEndpoint> endpoints)
      : log_(
            LogLevel::error, false, [] { return SystemClock().now(); }, [](std::string_view) {}),
        gateway_(loop_, log_, {std::move(endpoints), 1'000},
                 {[this] { ++connected_; }, [this] { ++disconnected_; },
                  [this](const EtcdAnswer& answer) { answers_.push_back(answer); }}) {
    gateway_.start();
  }

  bool until(const std::function<bool()>& so) { return loop_.runUntil(so, 30'000); }
  bool connects(int times = 1) {
    return until([this, times] { return connected_ >= times; });
  }
  // Nullopt: none came.
  std::optional<EtcdAnswer> ask(EtcdRequest request) {
    request.id = ++id_;
    gateway_.send({request});
    const auto find = [&] {
      return std::find_if(answers_.begin(), answers_.end(), [&](const EtcdAnswer& a) { return a.id == id_; });
    };
    if (!until([&] { return find() != answers_.end(); })) return std::nullopt;
    return *find();
  }

  net::Loop loop_;
  Log log_;
  int connected_ = 0, disconnected_ = 0;
  std::vector<EtcdAnswer> answers_;
  std::uint64_t id_ = 0;
  EtcdGateway gateway_;
};

std::vector<net::HttpEndpoint> plainOf(const EtcdServers& etcd) {
  DaemonConfig config;
  config.etcd = etcd.urls();
  return etcdEndpoints(config).value();
}

EtcdRequest putIfAbsent(const std::string& key, const std::string& value) {
  EtcdRequest request;
  request.compares = {{key, 0}};
  request.then = {{EtcdAct::put, {key, ""}, value, 0, 0}};
  request.otherwise = {{EtcdAct::range, {key, ""}, "", 0, 0}};
  return request;
}

class EtcdGatewayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::haveEtcd()) GTEST_SKIP() << "no etcd here (Debian: etcd-server)";
  }
};

TEST_F(EtcdGatewayTest, ABatchIsPutOnceAndALateOwnerIsRefused) {
  EtcdServers etcd(1);
  ASSERT_TRUE(etcd.ready());
  Carried carried(plainOf(etcd));
  ASSERT_TRUE(carried.connects());
  const std::string bytes("\0\xff\n\"", 4);
  const auto first = carried.ask(putIfAbsent("log/0", bytes));
  ASSERT_TRUE(first && first->succeeded);
  const auto again = carried.ask(putIfAbsent("log/0", "other"));
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->succeeded);
  ASSERT_EQ(again->results.at(0).size(), 1u);
  EXPECT_EQ(again->results[0][0].value, bytes);
  // The fence: the key that a token names is gone, so nothing is put under it, however late the request.
  EtcdRequest late = putIfAbsent("log/1", "late");
  late.compares.push_back({"owner", first->revision});
  const auto refused = carried.ask(late);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->succeeded);
}

TEST_F(EtcdGatewayTest, LeasesEndAndAWatchTellsOfIt) {
  EtcdServers etcd(1);
  ASSERT_TRUE(etcd.ready());
  Carried carried(plainOf(etcd));
  ASSERT_TRUE(carried.connects());
  EtcdRequest grant;
  grant.call = EtcdCall::grant;
  grant.ttlMs = 1'500;
  const auto granted = carried.ask(grant);
  ASSERT_TRUE(granted && granted->lease != 0);
  EtcdRequest leased = putIfAbsent("owner", "me");
  leased.then[0].lease = granted->lease;
  const auto put = carried.ask(leased);
  ASSERT_TRUE(put && put->succeeded);
  EtcdRequest watch;
  watch.call = EtcdCall::watch;
  watch.keys = {"owner", ""};
  watch.from = put->revision;
  watch.id = 1000;
  carried.gateway_.send({watch});
  std::vector<EtcdChange> changes;
  ASSERT_TRUE(carried.until([&] {
    changes.clear();
    for (const EtcdAnswer& a : carried.answers_)
      if (a.id == 1000) changes.insert(changes.end(), a.changes.begin(), a.changes.end());
    return changes.size() == 2;
  }));
  EXPECT_EQ(changes[0].at.value, "me");
  EXPECT_EQ(changes[0].at.lease, granted->lease);
  EXPECT_TRUE(changes[1].removed);  // it ran out
  EtcdRequest keepAlive;
  keepAlive.call = EtcdCall::keepAlive;
  keepAlive.lease = granted->lease;
  EXPECT_EQ(carried.ask(keepAlive)->error, EtcdError::noLease);
  EXPECT_EQ(carried.ask(leased)->error, EtcdError::noLease);  // the key is free, and nothing can be put under it
}

TEST_F(EtcdGatewayTest, WhatIsTooLargeIsToldApart) {
  EtcdServers etcd(1, {"--max-request-bytes", "20000"});
  ASSERT_TRUE(etcd.ready());
  Carried carried(plainOf(etcd));
  ASSERT_TRUE(carried.connects());
  const auto answer = carried.ask(putIfAbsent("log/0", std::string(30'000, 'x')));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error, EtcdError::tooLarge);
  EXPECT_EQ(carried.gateway_.state().tooLarge, 1u);
  EXPECT_THAT(carried.gateway_.state().problem, HasSubstr("larger than etcd takes"));
  EXPECT_TRUE(carried.ask(putIfAbsent("log/0", "small"))->succeeded);
  EXPECT_EQ(carried.disconnected_, 0);
}

TEST_F(EtcdGatewayTest, TheNextMemberIsAskedWhenOneGoes) {
  EtcdServers etcd(3);
  ASSERT_TRUE(etcd.ready());
  Carried carried(plainOf(etcd));
  ASSERT_TRUE(carried.connects());
  EXPECT_EQ(carried.gateway_.state().endpoint, etcd.url(0));
  EtcdRequest watch;
  watch.call = EtcdCall::watch;
  watch.keys = {"a", "z"};
  watch.from = 1;
  watch.id = 1000;
  carried.gateway_.send({watch});
  etcd.kill(0);
  ASSERT_TRUE(carried.connects(2));
  EXPECT_EQ(carried.disconnected_, 1);
  EXPECT_NE(carried.gateway_.state().endpoint, etcd.url(0));
  EXPECT_TRUE(carried.ask(putIfAbsent("k", "v"))->succeeded);
}

TEST_F(EtcdGatewayTest, AnEtcdThatLostItsDataIsNotBelieved) {
  EtcdServers first(1), second(1);
  ASSERT_TRUE(first.ready() && second.ready());
  auto endpoints = plainOf(first);
  endpoints.push_back(plainOf(second)[0]);
  Carried carried(endpoints);
  ASSERT_TRUE(carried.connects());
  EXPECT_TRUE(carried.ask(putIfAbsent("k", "v"))->succeeded);
  EtcdRequest watch;
  watch.call = EtcdCall::watch;
  watch.keys = {"a", "z"};
  watch.from = 1;
  carried.gateway_.send({watch});
  first.kill(0);
  ASSERT_TRUE(carried.until(
      [&] { return carried.gateway_.state().problem.find("another etcd cluster") != std::string::npos; }));
  EXPECT_EQ(carried.connected_, 1);
}

TEST_F(EtcdGatewayTest, TlsWithCertificatesOnBothSides) {
  const test::Scratch scratch;
  const auto run = [&](const std::string& command) {
    return std::system(("cd " + (scratch / "") + " && { " + command + "; } > /dev/null 2>&1").c_str()) == 0;
  };
  const auto issue = [&](const std::string& name) {
    return run("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout " + name + ".key -out " + name +
               ".csr -subj /CN=" + name + " && printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth," +
               "clientAuth\\n' > ext && openssl x509 -req -in " + name +
               ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out " + name + ".pem");
  };
  if (!run("command -v openssl")) GTEST_SKIP() << "no openssl here";
  ASSERT_TRUE(
      run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.pem "
          "-days 2 -subj /CN=authority"));
  ASSERT_TRUE(issue("server") && issue("client"));
  EtcdServers etcd(1,
                   {"--cert-file", scratch / "server.pem", "--key-file", scratch / "server.key", "--client-cert-auth",
                    "--trusted-ca-file", scratch / "ca.pem"},
                   "https://");
  DaemonConfig config;
  config.etcd = etcd.urls();
  config.etcdCa = scratch / "ca.pem";
  config.etcdCert = scratch / "client.pem";
  config.etcdKey = scratch / "client.key";
  {
    Carried carried(etcdEndpoints(config).value());
    ASSERT_TRUE(carried.connects()) << carried.gateway_.state().problem;
    EXPECT_TRUE(carried.ask(putIfAbsent("k", "v"))->succeeded);
  }
  for (const bool trusted : {true, false}) {
    DaemonConfig without = config;
    without.etcdCert = without.etcdKey = "";
    if (!trusted) without.etcdCa = "";  // the system's: none of them has signed this
    Carried carried(etcdEndpoints(without).value());
    ASSERT_TRUE(carried.until([&] { return carried.gateway_.state().failures > 0; }));
    EXPECT_EQ(carried.connected_, 0);
    EXPECT_FALSE(carried.gateway_.state().problem.empty());
  }
}

// Needs no etcd: a server of some other kind.
TEST(EtcdGatewayStranger, IsNotTakenForEtcd) {
  net::Loop loop;
  net::HttpServer server(loop, {}, [](const net::HttpRequest&, const std::shared_ptr<net::HttpReply>& reply) {
    reply->answer({.status = 200, .contentType = "text/html", .body = "<html>"});
  });
  const auto bound = server.listen("127.0.0.1:0");
  ASSERT_TRUE(bound.ok());
  Log log(
      LogLevel::error, false, [] { return SystemClock().now(); }, [](std::string_view) {});
  int connected = 0;
  EtcdGateway gateway(loop, log, {{{.address = *bound}}, 500}, {[&] { ++connected; }, [] {}, [](const EtcdAnswer&) {}});
  gateway.start();
  ASSERT_TRUE(loop.runUntil([&] { return gateway.state().failures >= 3; }, 30'000));
  EXPECT_EQ(connected, 0);
  EXPECT_THAT(gateway.state().problem, HasSubstr("etcd's answer: body"));
  EXPECT_FALSE(gateway.state().connected);
}

}  // namespace
}  // namespace witan::node::etcd_gateway_test
