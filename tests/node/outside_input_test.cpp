// Files and texts from outside, through the program: what has no end, what would fill memory or a screen, and what
// would drive a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "coordination/setup.h"
#include "program/error_report.h"
#include "program/output.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::outside_input_test {
namespace {

using test::Finished;
using test::runWitan;
using test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t linesOf(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// With this much memory of its own.
Finished runWithin(std::size_t megabytes, const std::vector<std::string>& words, std::string_view input = {}) {
  return runWitan(words, input, [megabytes] {
    const rlimit limit{megabytes << 20, megabytes << 20};
    setrlimit(RLIMIT_DATA, &limit);
  });
}

std::string zeros(std::size_t count) {
  std::string text = "[0";
  text.reserve(2 * count + 2);
  for (std::size_t i = 1; i < count; ++i) text += ",0";
  return text + "]";
}

// ---- files that are none

struct FileCommand {
  const char* name;
  std::vector<std::string> before, after;
};

const std::vector<FileCommand> kFileCommands{
    {"policy of a domain", {"domain", "show", "budget", "--policy"}, {}},
    {"policy of a run", {"run", "--domain", "budget", "--events", "-", "--policy"}, {}},
    {"policy of agents", {"policy", "check"}, {}},
    {"ontology", {"ontology", "check"}, {}},
    {"scenario", {"sim", "run"}, {"--seeds", "1..1"}},
    {"plan", {"sim", "replay", "--plan"}, {}},
    {"vector", {"coordinate", "run"}, {}},
    {"log", {"coordinate", "audit"}, {}},
    {"records", {"domain", "import", "disclosure", "--from", "osv"}, {}},
};

Finished runOn(const FileCommand& command, const std::string& file) {
  std::vector<std::string> words = command.before;
  words.push_back(file);
  words.insert(words.end(), command.after.begin(), command.after.end());
  return runWitan(words);
}

// Nobody writes into the pipe: who opens it waits for ever.
TEST(OutsideFiles, APipeIsRefusedAndNotWaitedFor) {
  const Scratch scratch;
  const std::string pipe = scratch / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const FileCommand& command : kFileCommands) {
    const Finished run = runOn(command, pipe);
    EXPECT_FALSE(run.hung) << command.name;
    EXPECT_NE(run.exitCode, 0) << command.name;
    EXPECT_THAT(run.err, HasSubstr("pipe is a pipe and no regular file")) << command.name;
  }
}

TEST(OutsideFiles, ADeviceIsRefused) {
  for (const FileCommand& command : kFileCommands)
    EXPECT_THAT(runOn(command, "/dev/zero").err, HasSubstr("/dev/zero is a device and no regular file"))
        << command.name;
}

TEST(OutsideFiles, ASocketIsRefusedAndCalledOne) {
  const Scratch scratch;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = scratch / "socket";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  for (const FileCommand& command : kFileCommands)
    EXPECT_THAT(runOn(command, path).err, HasSubstr("socket is a socket and no regular file")) << command.name;
  ::close(fd);
}

// What a shell makes of <(...), and a key that comes through a pipe.
TEST(OutsideFiles, APipeThatWasHandedOverIsRead) {
  const auto vectors = kernel::joint::shippedVectors();
  for (const std::string handed : {"/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}) {
    const Finished run = runWitan({"coordinate", "run", handed, "--json"}, vectors.front().text);
    EXPECT_EQ(run.exitCode, 0) << run.err;
    const Scratch scratch;
    const Finished made =
        runWitan({"device", "init", "--cluster", "c", "--key-file", handed, "--dir", scratch / "device"},
                 std::string(64, 'a') + "\n");
    EXPECT_EQ(made.exitCode, 0) << made.err;
  }
}

TEST(OutsideFiles, AFolderIsRefusedAndAMissingFileNamed) {
  const Scratch scratch;
  const Finished folder = runWitan({"coordinate", "run", scratch / "."});
  EXPECT_EQ(folder.exitCode, kExitFailed);
  EXPECT_THAT(folder.err, HasSubstr("is a folder and no regular file"));
  EXPECT_THAT(runWitan({"domain", "show", "budget", "--policy", scratch / "none.toml"}).err,
              HasSubstr("cannot open the policy file"));
}

// Lines are read as they come, so a device may be one; one that never ends a line is none.
TEST(OutsideFiles, ALineWithoutEndEnds) {
  const Finished run = runWitan({"state", "merge", "/dev/zero"});
  EXPECT_EQ(run.exitCode, kExitFailed);
  EXPECT_THAT(run.err, HasSubstr("/dev/zero: line 1 does not end"));
}

// ---- memory

TEST(OutsideMemory, AnAuditTakesWhatItsLogTakes) {
  const auto vectors = kernel::joint::shippedVectors();
  const std::string log = runWitan({"coordinate", "run", "-", "--json"}, vectors.front().text).out;
  const Finished run = runWithin(256, {"coordinate", "audit", "-"}, log);
  EXPECT_EQ(run.exitCode, 0) << run.err;
}

TEST(OutsideMemory, DenseJsonIsRefusedBeforeItIsMade) {
  const std::string dense = zeros(5'000'000);
  const std::string log =
      R"({"authority_artifacts":[],"condition":"A","epochs":[)" + dense +
      R"(],"experiment_result":"PASS","final_state":{},"initial_state":{},"kernel_classification":null,"terminal_classification":null})";
  const Finished audit = runWithin(256, {"coordinate", "audit", "-"}, log);
  EXPECT_EQ(audit.exitCode, kExitFailed);
  EXPECT_THAT(audit.err, HasSubstr("$.epochs[0]: more than 4000000 values"));
  const Finished run = runWithin(256, {"coordinate", "run", "-"}, dense);
  EXPECT_EQ(run.exitCode, kExitFailed);
  EXPECT_THAT(run.err, HasSubstr("$: more than 4000000 values"));
}

TEST(OutsideMemory, AListOfRecordsIsReadRecordByRecord) {
  const Scratch scratch;
  scratch.write("dense.json", zeros(2'000'000));
  const Finished run = runWithin(256, {"domain", "import", "disclosure", "--from", "osv", scratch / "dense.json"});
  EXPECT_EQ(run.exitCode, kExitSomeRefused) << run.err.substr(0, 1000);
  EXPECT_THAT(run.err, HasSubstr("dense.json[0]: "));
  EXPECT_THAT(run.err, HasSubstr("witan: ... and 1999900 more refused\n"));
  EXPECT_THAT(run.err, HasSubstr(" 2000000 refused\n"));
  EXPECT_EQ(linesOf(run.err), 102u);
}

// ---- floods

TEST(OutsideFloods, RefusalsAreShownUpToACapAndThenCounted) {
  const Scratch scratch;
  std::string bad;
  for (int i = 0; i < 1'000; ++i) bad += "not json\n";
  const Finished import = runWitan({"journal", "import", "-", "--dir", scratch / "laptop"}, bad);
  EXPECT_EQ(import.exitCode, kExitSomeRefused);
  EXPECT_THAT(import.out, HasSubstr("1000 refused"));
  EXPECT_THAT(import.err, HasSubstr("line 100: refused"));
  EXPECT_THAT(import.err, Not(HasSubstr("line 101: refused")));
  EXPECT_THAT(import.err, HasSubstr("... and 900 more refused"));
  const Finished merge = runWitan({"state", "merge", "-"}, bad);
  EXPECT_THAT(merge.err, HasSubstr("... and 900 more refused"));
  EXPECT_LE(linesOf(merge.err), 103u);
}

// ---- terminals

TEST(OutsideTerminal, WhatATerminalObeysIsWrittenOut) {
  EXPECT_EQ(forTerminal("plain, caf\u00e9, \u20ac, \U0001f600\n\tyes"), "plain, caf\u00e9, \u20ac, \U0001f600\n\tyes");
  EXPECT_EQ(forTerminal("\x1b[31mred\x07\r\x7f"), "\\u001b[31mred\\u0007\\u000d\\u007f");
  EXPECT_EQ(forTerminal(std::string_view("a\0b", 3)), "a\\u0000b");
  EXPECT_EQ(forTerminal("\xc2\x9b"
                        "31m"),
            "\\u009b31m")
      << "the same in eight bits";
  EXPECT_EQ(forTerminal("\x9b"
                        "31m\xff"),
            "\\u009b31m\\u00ff")
      << "no UTF-8";
  EXPECT_EQ(forTerminal("\u202egnp.exe\u2066"), "\\u202egnp.exe\\u2066");
  EXPECT_EQ(forTerminal("\u2029\u202f\u2065\u206a"), "\u2029\u202f\u2065\u206a") << "their neighbours stay";
  EXPECT_EQ(forTerminal("\xe2\x80"), "\\u00e2\\u0080") << "cut off";
}

// Members 20: a terminal obeys JSON as well, and JSON can say it otherwise.
TEST(OutsideTerminal, JsonOfRecordsReachesNoTerminalRaw) {
  const Scratch scratch;
  const std::string dir = scratch / "a", evil = "\u009b31m\u202egnp";
  ASSERT_EQ(runWitan({"device", "init", "--device", "a", "--dir", dir}).exitCode, 0);
  ASSERT_EQ(runWitan({"journal", "put", "n", "--type", "note", "--text", evil, "--dir", dir}).exitCode, 0);
  const Finished shown = runWitan({"journal", "get", "n", "--json", "--dir", dir});
  EXPECT_THAT(shown.out, HasSubstr("\\u009b31m\\u202egnp"));
  EXPECT_THAT(shown.out, Not(HasSubstr("\u202e")));
  EXPECT_THAT(json::serialize(*parseJson(shown.out)), HasSubstr(evil)) << "and it means the same";
}

TEST(OutsideTerminal, NamesFromRecordsAndFilesReachNoTerminalRaw) {
  const Scratch scratch;
  scratch.write("evil.json", R"({"id":"\u001b]0;owned\u0007\u009b31m"})");
  const Finished import = runWitan({"domain", "import", "disclosure", "--from", "osv", scratch / "evil.json"});
  const Finished named = runWitan({"domain", "show", "budget", "--policy", scratch / "\x1b[31m.toml"});
  const Finished vector = runWitan({"coordinate", "run", scratch / "\x1b[31m.json"});
  const Finished usage = runWitan({"domain", "show", "budget", "--\x1b[31m"});
  for (const Finished* run : {&import, &named, &vector, &usage}) {
    EXPECT_NE(run->err, "");
    EXPECT_THAT(run->err, Not(HasSubstr("\x1b")));
    EXPECT_THAT(run->err, Not(HasSubstr("\x07")));
    EXPECT_THAT(run->err, Not(HasSubstr("\xc2\x9b")));
  }
}

}  // namespace
}  // namespace witan::node::outside_input_test
