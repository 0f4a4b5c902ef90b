// A node as a service: what systemd hears, health, reload, refusals to start, and SIGTERM under load.
#include <gtest/gtest.h>
#include <sys/un.h>

#include <atomic>
#include <set>

#include "net/http_client.h"
#include "tests/node/node_process.h"
#include "tests/paths.h"

namespace witan::node::service_test {
namespace {

namespace fs = std::filesystem;
using namespace test;

// What a service manager would hear (sd_notify(3)).
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& path) : path_(path) {
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    WITAN_CHECK(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "a socket");
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
  }
  ~NotifySocket() { ::close(fd_); }
  bool hears(const std::string& word) {
    return until([&] {
      char piece[4096];
      for (ssize_t got = 0; (got = ::recv(fd_, piece, sizeof piece, 0)) > 0;)
        heard_ += std::string(piece, static_cast<std::size_t>(got)) + "\n";
      return heard_.find(word) != std::string::npos;
    });
  }
  void forget() { heard_.clear(); }
  void inherit() const {
    ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
    ::setenv("WATCHDOG_USEC", "200000", 1);
  }

 private:
  const std::string path_;
  std::string heard_;
  int fd_ = -1;
};

struct Service : ::testing::Test {
  void SetUp() override { ASSERT_EQ(node.init(2).exitCode, 0); }
  net::HttpResponse get(const std::string& address, const std::string& target) {
    auto response = net::httpCall({.address = address}, {.method = "GET", .target = target}, 30'000);
    return response.ok() ? *response : net::HttpResponse{.status = 0, .body = response.error().message};
  }
  Scratch scratch;
  Node node{scratch, "one"};
};

TEST_F(Service, TellsItsManagerWhenItIsReadyAliveReloadingAndStopping) {
  NotifySocket manager(scratch / "notify");
  ASSERT_TRUE(node.up({}, [&] { manager.inherit(); })) << node.log();
  EXPECT_TRUE(manager.hears("READY=1\nSTATUS=up: one"));
  EXPECT_TRUE(manager.hears("WATCHDOG=1"));
  manager.forget();
  node.signal(SIGHUP);
  EXPECT_TRUE(manager.hears("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_TRUE(manager.hears("READY=1"));
  EXPECT_EQ(node.stop(), 0);
  EXPECT_TRUE(manager.hears("STOPPING=1"));
}

// Issue 6, Speed. With all domains; the sanitizers' shadows are not the node's.
TEST_F(Service, AnIdleNodeTakesLessThanThirtyMegabytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "memory is not comparable under sanitizers";
#endif
  ASSERT_TRUE(node.up()) << node.log();
  const auto residentBytes = [&] {
    std::ifstream statm("/proc/" + std::to_string(node.pid()) + "/statm");
    std::size_t all = 0, resident = 0;
    statm >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  };
  EXPECT_TRUE(test::until([&] { return residentBytes() > 0 && residentBytes() < 20'000'000; })) << residentBytes();
  // What was given back comes again when it is used.
  EXPECT_EQ(node.run({"begin", "budget", "team"}).exitCode, 0);
  EXPECT_EQ(node.run({"ledger", "verify"}).exitCode, 0);
  EXPECT_LT(residentBytes(), 30'000'000u);
}

TEST_F(Service, HealthAndMetricsNeedNoTokenAndNothingElseIsServedThere) {
  const std::string address = freeAddress();
  ASSERT_TRUE(node.up({}, [&] { ::setenv("WITAN_METRICS_LISTEN", address.c_str(), 1); })) << node.log();
  EXPECT_EQ(get(address, "/livez").status, 200);
  const net::HttpResponse ready = get(address, "/readyz?verbose=1");
  EXPECT_EQ(ready.status, 200);
  for (const char* check : {"[+] store: ok", "[+] running: ok", "[+] member: ", "[+] ledgers: ", "[+] owners: "})
    EXPECT_NE(ready.body.find(check), std::string::npos) << ready.body;
  EXPECT_EQ(get(address, "/v1/status").status, 404);
  // Members 20: a page may have made its own name point here.
  const auto named =
      net::httpCall({.address = address}, {.target = "/metrics", .headers = {{"host", "evil.example"}}}, 30'000);
  EXPECT_EQ(named.ok() ? named->status : 0, 421);
  // No body is waited for where no token is.
  const auto sent = net::httpCall({.address = address}, {.method = "POST", .target = "/metrics", .body = "x"}, 30'000);
  EXPECT_EQ(sent.ok() ? sent->status : 0, 413);
  EXPECT_NE(get(address, "/metrics").body.find("witan_build_info{"), std::string::npos);
}

TEST_F(Service, MetricsAreAsPrometheusWantsThem) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) GTEST_SKIP() << "promtool is not installed";
  const std::string address = freeAddress();
  ASSERT_TRUE(node.up({}, [&] { ::setenv("WITAN_METRICS_LISTEN", address.c_str(), 1); })) << node.log();
  scratch.write("metrics", get(address, "/metrics").body);
  EXPECT_EQ(std::system(("promtool check metrics < " + (scratch / "metrics")).c_str()), 0);
}

TEST_F(Service, AReloadTakesTheLogLevelAndKeepsTheOldConfigurationIfTheNewOneIsWrong) {
  ASSERT_TRUE(node.up()) << node.log();
  const std::string config = contentOf(node.dir() + "/witan.toml");
  scratch.write("one/witan.toml", "[log]\nlevel = \"shout\"\n");
  node.signal(SIGHUP);
  EXPECT_TRUE(until([&] { return node.log().find("the configuration was not taken") != std::string::npos; }));
  EXPECT_NE(node.log().find("shout"), std::string::npos);
  EXPECT_EQ(node.run({"status"}).exitCode, 0);
  scratch.write("one/witan.toml", "[log]\nlevel = \"debug\"\n");
  node.signal(SIGHUP);
  EXPECT_TRUE(until([&] { return node.log().find("configuration read again") != std::string::npos; }));
  EXPECT_EQ(node.stop(), 0);
}

TEST_F(Service, AWrongConfigurationIsRefusedWithFileAndLine) {
  const auto refused = [&](const std::string& text, const std::string& place) {
    scratch.write("one/witan.toml", text);
    const Finished done = node.run({"up"});
    EXPECT_EQ(done.exitCode, 1);
    EXPECT_NE(done.err.find(place), std::string::npos) << done.err;
  };
  refused("[node]\n\nlisten = 7\n", "witan.toml:3: [node] listen must be a list");
  refused("[nodes]\nlisten = []\n", "witan.toml:1: unknown section [nodes]");
  refused("[log]\nlevel = \"info\"\nlevels = 1\n", "witan.toml:3: unknown key levels");
  refused("[log\n", "witan.toml:1: ");
  refused("[node]\nlisten = []\n[trace]\notlp = \"localhost:4318\"\n", "[trace] otlp is \"localhost:4318\"");
}

TEST_F(Service, AnAddressInUseAndADirectoryInUseAreRefused) {
  ASSERT_TRUE(node.up()) << node.log();
  const Finished second = node.run({"up", "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.exitCode, 1);
  EXPECT_NE(second.err.find("is already open by another process"), std::string::npos) << second.err;
  EXPECT_EQ(node.run({"status"}).exitCode, 0);  // the first one goes on, and is still found
  Node other(scratch, "two");
  ASSERT_EQ(other.init(2).exitCode, 0);
  const Finished taken = other.run({"up", "--listen", node.address()});
  EXPECT_EQ(taken.exitCode, 1);
  EXPECT_NE(taken.err.find("cannot listen on " + node.address()), std::string::npos) << taken.err;
}

// What was acknowledged before the end is in the ledger after it.
TEST_F(Service, SigtermUnderLoadLosesNothingAcknowledgedAndEndsSoon) {
  ASSERT_TRUE(node.up()) << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "B"}).exitCode, 0);
  const auto control = parseJson(contentOf(node.dir() + "/control.json"));
  const auto tokens = parseJson(contentOf(node.dir() + "/control.tokens"));
  const std::string address(control->at("address").as_string());
  const std::string token(tokens->at("operator").as_string());
  constexpr int kProposers = 4;
  std::vector<std::set<std::string>> acknowledged(kProposers);
  std::atomic<int> total{0};
  std::vector<std::thread> proposers;
  for (int p = 0; p < kProposers; ++p)
    proposers.emplace_back([&, p] {
      for (int i = 0; i < 100'000; ++i) {
        const std::string operation = "op-" + std::to_string(p) + "-" + std::to_string(i);
        net::HttpRequest request{.method = "POST", .target = "/v1/propose"};
        request.headers["authorization"] = "Bearer " + token;
        request.body =
            R"({"domain":"budget","entity":"B","role":"A","action":{"type":"SpendA","n":1},"operationId":")" +
            operation + "\"}";
        const auto answer = net::httpCall({.address = address}, request, 30'000);
        if (!answer.ok() || answer->status != 200) return;
        acknowledged[p].insert(operation);
        ++total;
      }
    });
  EXPECT_TRUE(until([&] { return total > 40; }));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(node.stop(SIGTERM), 0) << node.log();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
  for (std::thread& proposer : proposers) proposer.join();
  ASSERT_TRUE(node.up()) << node.log();
  const Finished tail = node.run({"ledger", "tail", "-n", "0", "--json"});
  for (const auto& operations : acknowledged)
    for (const std::string& operation : operations)
      EXPECT_NE(tail.out.find("\"" + operation + "\""), std::string::npos) << operation;
  EXPECT_EQ(node.run({"ledger", "verify", "--replay"}).exitCode, 0);
}

TEST(Unit, IsOneThatSystemdUnderstandsAndConfines) {
  if (std::system("command -v systemd-analyze >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "systemd-analyze is not installed";
  Scratch scratch;
  std::string unit = contentOf(std::string(witan::tests::kSourceDir) + "/packaging/witan.service");
  for (const char* word : {"Type=notify", "WatchdogSec=", "StateDirectory=witan", "DynamicUser=yes"})
    EXPECT_NE(unit.find(word), std::string::npos) << word;
  // The exposure of systemd-analyze security goes from 0 to 10.
  const std::string file = std::string(witan::tests::kSourceDir) + "/packaging/witan.service";
  EXPECT_EQ(std::system(("systemd-analyze security --offline=true --threshold=15 --no-pager " + file + " > " +
                         (scratch / "out") + " 2>&1")
                            .c_str()),
            0)
      << contentOf(scratch / "out");
  const std::string program = "/usr/bin/witan";
  unit.replace(unit.find(program), program.size(), witan::tests::kProgram);
  scratch.write("witan.service", unit);
  (void)std::system(
      ("systemd-analyze verify " + (scratch / "witan.service") + " > " + (scratch / "out") + " 2>&1").c_str());
  const std::string said = contentOf(scratch / "out");
  EXPECT_EQ(said.find("witan.service:"), std::string::npos) << said;  // a complaint about one of its lines
}

}  // namespace
}  // namespace witan::node::service_test
