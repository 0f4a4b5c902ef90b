// What another user of the machine, or a name that another device chose, may not bring about.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "program/durable_file.h"
#include "program/error_report.h"
#include "tests/node/node_process.h"
#include "tests/paths.h"

namespace witan::node::doors_test {
namespace {

namespace fs = std::filesystem;
using test::contentOf;
using test::Finished;
using test::Node;
using test::runWitan;
using test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;

fs::perms permissionsOf(const fs::path& path) { return fs::status(path).permissions(); }

// Devices and entities are named by others; bash acts on what a completion inserts unless it is quoted.
TEST(Doors, ACompletedWordIsQuotedForTheShell) {
  const Scratch scratch;
  scratch.write("witan", "#!/bin/sh\nprintf 'phone;touch pwned\\tits name\\n'\n");
  const std::string fake = scratch / "witan", done = scratch / "pwned";
  fs::permissions(fake, fs::perms::owner_all);
  const std::string script = "cd " + fs::path(fake).parent_path().string() + " && source <(" +
                             std::string(witan::tests::kProgram) + " completion bash) && COMP_WORDS=(" + fake +
                             " peers cut ph) && COMP_CWORD=3 && _witan && eval \"echo ${COMPREPLY[0]} >offered\"";
  ASSERT_EQ(std::system(("bash -c '" + script + "'").c_str()), 0);
  EXPECT_FALSE(fs::exists(done));
  EXPECT_EQ(contentOf(scratch / "offered"), "phone;touch pwned\n");
}

TEST(Doors, AFileIsReplacedWithoutFollowingALinkBesideIt) {
  const Scratch scratch;
  scratch.write("victim", "kept");
  fs::create_symlink(scratch / "victim", scratch / "key.new");
  ASSERT_TRUE(replaceFile(scratch / "key", "secret", 0600).ok());
  EXPECT_EQ(contentOf(scratch / "victim"), "kept");
  EXPECT_EQ(contentOf(scratch / "key"), "secret");
  EXPECT_EQ(permissionsOf(scratch / "key"), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(Doors, LedgersAndJournalsAreTheirOwnersAlone) {
  const Scratch scratch;
  scratch.write("events.jsonl", R"({"at":"2026-03-23T08:00:00Z","entity":"e","init":{}})"
                                "\n");
  ASSERT_EQ(
      runWitan({"run", "--domain", "budget", "--events", scratch / "events.jsonl", "--store", scratch / "st"}).exitCode,
      0);
  ASSERT_EQ(runWitan({"device", "init", "--device", "a", "--dir", scratch / "a"}).exitCode, 0);
  for (const char* folder : {"st", "a"}) EXPECT_EQ(permissionsOf(scratch / folder), fs::perms::owner_all) << folder;
}

TEST(Doors, AFolderThatOthersEnterIsNotClosedToThem) {
  const Scratch scratch;
  const auto shared = [&](const char* name) {
    fs::create_directories(scratch / name);
    fs::permissions(scratch / name, fs::perms::all);
    return Finished(runWitan({"init", "--name", "a", "--dir", scratch / name, "--listen", "127.0.0.1:0"}));
  };
  fs::create_directories(scratch / "used");
  scratch.write("used/other", "somebody's");
  const Finished refused = shared("used");
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("has files in it"));
  EXPECT_EQ(permissionsOf(scratch / "used"), fs::perms::all);
  EXPECT_FALSE(fs::exists(scratch / "used/device.key"));
  EXPECT_EQ(shared("empty").exitCode, 0);
  EXPECT_EQ(permissionsOf(scratch / "empty"), fs::perms::owner_all);
}

TEST(Doors, ANodesDirectoryIsNoLedgerOfRun) {
  const Scratch scratch;
  Node node(scratch, "a");
  ASSERT_EQ(node.init(1).exitCode, 0);
  scratch.write("events.jsonl", R"({"at":"2026-03-23T08:00:00Z","entity":"e","init":{}})"
                                "\n");
  const Finished refused =
      runWitan({"run", "--domain", "budget", "--events", scratch / "events.jsonl", "--store", node.dir()});
  EXPECT_EQ(refused.exitCode, 1);
  EXPECT_THAT(refused.err, HasSubstr("is the data directory of a node"));
  EXPECT_FALSE(fs::exists(node.dir() + "/ledger.key"));
}

TEST(Doors, ABackupNeitherFollowsNorRemovesALink) {
  const Scratch scratch;
  Node node(scratch, "a");
  ASSERT_EQ(node.init(1).exitCode, 0);
  fs::create_symlink("/nowhere", scratch / "link");
  EXPECT_EQ(node.run({"backup", "--to", scratch / "link"}).exitCode, 1);
  EXPECT_TRUE(fs::is_symlink(scratch / "link"));
}

int connectTo(const std::string& socketFile) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  EXPECT_LT(socketFile.size(), sizeof to.sun_path);
  std::strncpy(to.sun_path, socketFile.c_str(), sizeof to.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  return fd;
}

// What the control socket answers to these bytes until it ends the connection.
std::string answerTo(const std::string& socketFile, const std::string& bytes) {
  const int fd = connectTo(socketFile);
  EXPECT_EQ(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  std::string heard;
  char buffer[4096];
  for (ssize_t n; (n = ::read(fd, buffer, sizeof buffer)) > 0;) heard.append(buffer, static_cast<std::size_t>(n));
  ::close(fd);
  return heard;
}

// 4 MiB that never come would hold a connection for half a minute.
TEST(Doors, NoBodyIsReadBeforeTheToken) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  for (const std::string path : {"/v1/propose", "/mcp", "/v1/nothing"})
    for (const std::string token : {"", "Authorization: Bearer wrong\r\n"})
      EXPECT_TRUE(answerTo(node.dir() + "/control.sock", "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + token +
                                                             "Content-Length: 4000000\r\n\r\n{")
                      .starts_with("HTTP/1.1 401 "))
          << path;
}

// An observer's POST is of no use, however it goes on.
TEST(Doors, NoBodyIsReadThatTheTokensRoleMayNotSend) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const json::value tokens = *parseJson(contentOf(node.dir() + "/control.tokens"));
  const std::string observer(tokens.at("observer").as_string());
  EXPECT_TRUE(
      answerTo(node.dir() + "/control.sock", "POST /v1/propose HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                                                 observer + "\r\nContent-Length: 4000000\r\n\r\n{")
          .starts_with("HTTP/1.1 403 "));
}

// Members 14: streams stay open, so they have places of their own, and some are the admin's.
TEST(Doors, AnObserversStreamsLeavePlacesForTheAdmin) {
  Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const json::value tokens = *parseJson(contentOf(node.dir() + "/control.tokens"));
  std::vector<int> open;
  const auto stream = [&](const char* role) {
    const std::string asks = "GET /v1/ledger/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                             std::string(tokens.at(role).as_string()) + "\r\n\r\n";
    const int fd = open.emplace_back(connectTo(node.dir() + "/control.sock"));
    EXPECT_EQ(::send(fd, asks.data(), asks.size(), MSG_NOSIGNAL), static_cast<ssize_t>(asks.size()));
    char head[12] = {};
    EXPECT_EQ(::recv(fd, head, sizeof head, MSG_WAITALL), static_cast<ssize_t>(sizeof head));
    return std::string(head, sizeof head);
  };
  int served = 0;
  for (int n = 0; n < 70; ++n) served += stream("observer") == "HTTP/1.1 200";
  EXPECT_EQ(served, 48);
  EXPECT_EQ(stream("observer"), "HTTP/1.1 503");
  EXPECT_EQ(stream("admin"), "HTTP/1.1 200");
  EXPECT_EQ(node.run({"status"}).exitCode, 0);
  ::close(open.front());  // a reader that leaves makes room
  EXPECT_TRUE(test::until([&] { return stream("observer") == "HTTP/1.1 200"; }));
  for (std::size_t n = 1; n < open.size(); ++n) ::close(open[n]);
}

TEST(Doors, EachLoopbackAddressThatIsTakenAnswers) {
  const Scratch scratch;
  Node node(scratch, "a", "[control]\nlisten = \"127.0.0.2:0\"\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_EQ(node.run({"status"}).exitCode, 0);
}

// What was decided is found again by its id, which the program drew.
TEST(Doors, AnAnswerThatCannotBeWrittenNamesTheOperation) {
  const Scratch scratch;
  Node node(scratch, "a", "\n");
  ASSERT_EQ(node.init(1).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const Finished done = runWitan({"begin", "budget", "b", "--dir", node.dir()}, {},
                                 [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); });
  EXPECT_EQ(done.exitCode, kExitFailed);
  const std::size_t at = done.err.find("cli:");
  ASSERT_NE(at, std::string::npos) << done.err;
  const json::value again =
      node.runJson({"begin", "budget", "b", "--operation-id", done.err.substr(at, sizeof "cli:" - 1 + 32)});
  EXPECT_EQ(again.at("duplicate"), true);
}

// A ledger that lost its key grows without checkpoints: what none of them covers is not proven.
TEST(Doors, NoProofGoesBeyondItsCheckpoint) {
  const Scratch scratch;
  const auto run = [&](const char* day) {
    scratch.write("events.jsonl", std::string(R"({"at":"2026-03-)") + day + R"(T08:00:00Z","entity":"e)" + day +
                                      R"(","init":{}})"
                                      "\n"
                                      R"({"at":"2026-03-)" +
                                      day + R"(T09:00:00Z","entity":"e)" + day +
                                      R"(","role":"A","action":{"type":"SpendA","n":1}})"
                                      "\n");
    return runWitan({"run", "--domain", "budget", "--events", scratch / "events.jsonl", "--store", scratch / "st"})
        .exitCode;
  };
  ASSERT_EQ(run("23"), 0);
  EXPECT_EQ(runWitan({"ledger", "proof", "1", "--store", scratch / "st"}).exitCode, 0);
  fs::remove(scratch / "st/ledger.key");
  ASSERT_EQ(run("24"), 0);
  EXPECT_EQ(runWitan({"ledger", "proof", "1", "--store", scratch / "st"}).exitCode, 0);
  const Finished beyond = runWitan({"ledger", "proof", "2", "--store", scratch / "st"});
  EXPECT_EQ(beyond.exitCode, 1) << beyond.out;
  EXPECT_THAT(beyond.err, HasSubstr("restore ledger.key"));
}

TEST(Doors, WhatIsNotThereIsSaid) {
  const Scratch scratch;
  Node node(scratch, "a");
  ASSERT_EQ(node.init(1).exitCode, 0);
  EXPECT_EQ(node.run({"ledger", "tail", "--domain", "nope"}).exitCode, 1);
  EXPECT_EQ(node.run({"ledger", "tail", "--domain", "budget"}).exitCode, 0);
  const Finished timed = node.run(
      {"queue", "approve", "x", "--counselor", "c", "--digest", std::string(64, 'a'), "--at", "2026-03-26T10:00:00Z"});
  EXPECT_EQ(timed.exitCode, kExitUsage);
  EXPECT_THAT(timed.err, HasSubstr("--at without --store"));
  const Finished mistyped = runWitan({"status", "--dir", node.dir()}, {}, [] { ::setenv("WITAN_DRI", "x", 1); });
  EXPECT_EQ(mistyped.exitCode, 1);
  EXPECT_THAT(mistyped.err, HasSubstr("WITAN_DIR"));
  const Finished asJson = runWitan({"status", "--json"}, {}, [] { ::setenv("WITAN_DRI", "x", 1); });
  EXPECT_THAT(asJson.err, HasSubstr(R"({"error":{"code":"invalidInput")"));
}

// An answer that nobody gave is recorded under this name.
TEST(Doors, NoPersonAnswersInTheNameOfAQuestionThatExpired) {
  const Scratch scratch;
  Node node(scratch, "a");
  ASSERT_EQ(node.init(1).exitCode, 0);
  const std::string digest(64, 'a');
  const Finished denied = node.run({"approval", "deny", "0123", "--digest", digest, "--by", "system", "--json"});
  EXPECT_EQ(denied.exitCode, 1);
  EXPECT_THAT(denied.err, HasSubstr(R"("code":"invalidInput")"));
  const Finished unknown = node.run({"approval", "deny", "0123", "--digest", digest, "--by", "ann", "--json"});
  EXPECT_THAT(unknown.err, HasSubstr(R"("code":"notFound")"));
}

}  // namespace
}  // namespace witan::node::doors_test
