// Bad input through the program itself: event lines, event files, policies, streams that are closed or full. Each ends
// in words that name the cause and the agreed exit code, never in a signal, a hang or half an answer. Damaged stores:
// bad_store_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <fstream>

#include "base/json.h"
#include "node/events/event_line.h"
#include "program/error_report.h"
#include "tests/node/program.h"
#include "tests/node/scratch.h"

namespace witan::node::bad_input_test {
namespace {

namespace fs = std::filesystem;
using test::Child;
using test::Finished;
using test::runWitan;
using test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kInit = R"({"at":"2026-03-23T08:00:00Z","entity":"e","init":{}})";
std::string spend(int n) {
  return R"({"at":"2026-03-23T09:00:00Z","entity":"e","role":"A","action":{"type":"SpendA","n":)" + std::to_string(n) +
         "}}";
}

std::vector<std::string> budget(const std::string& events, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {"run", "--domain", "budget", "--events", events});
  return more;
}

std::vector<json::object> answersOf(const Finished& run) {
  std::vector<json::object> answers;
  std::string_view rest = run.out;
  EXPECT_TRUE(rest.empty() || rest.back() == '\n') << "half an answer";
  for (std::size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    const auto parsed = parseJson(rest.substr(0, end), {.bytes = 4 << 20});
    EXPECT_TRUE(parsed.ok()) << rest.substr(0, std::min<std::size_t>(end, 200));
    answers.push_back(parsed.ok() ? parsed->get_object() : json::object{});
  }
  return answers;
}

std::string text(const json::object& answer, std::string_view name) {
  const json::value& v = answer.at(name);
  return v.is_string() ? std::string(v.get_string()) : "";
}

void expectError(const Finished& run, const std::string& words, int exitCode = kExitFailed) {
  EXPECT_EQ(run.signal, 0) << run.err;
  EXPECT_EQ(run.exitCode, exitCode) << run.err;
  EXPECT_THAT(run.err, HasSubstr(words));
  EXPECT_THAT(run.err, ::testing::StartsWith("witan: "));
}

struct BadLine {
  std::string line;
  const char* cause;
};

std::vector<BadLine> badLines() {
  const std::string head = R"({"at":"2026-03-23T09:00:00Z","entity":"e","role":"A",)";
  const std::string action = R"("action":{"type":"SpendA","n":1}})";
  return {
      {"nonsense", "not JSON"},
      {"[1,2]", "expected an object"},
      {"null", "expected an object"},
      {"{", "ends too early"},
      {head + action + "}", "text after the value"},
      {std::string("{\"entity\":\"e\0\"}", 15), "not JSON"},
      {std::string("\0\0\0\0", 4), "not JSON"},
      {"\xef\xbb\xbf" + spend(1), "not JSON"},
      {"{\"entity\":\"\xff\"}", "UTF-8"},
      {"{\"entity\":\"\xc3\"}", "UTF-8"},
      {"{\"entity\":\"\\ud800\"}", "not JSON"},
      {R"({"entity":"e","entity":"f"})", "occurs twice"},
      {head + R"("action":{"type":"SpendA","n":1,"n":2}})", "occurs twice"},
      {head + R"("action":)" + std::string(100'000, '[') + "1" + std::string(100'000, ']') + "}", "deeper than 32"},
      {std::string(500'000, '{'), "not JSON"},
      {R"({"at":"2026-03-23T09:00:00Z"})", "\"entity\" is missing"},
      {R"({"entity":7})", "entity: expected text"},
      {R"({"entity":"e","role":"A",)" + action, "\"at\" is missing"},
      {R"({"at":"yesterday","entity":"e","role":"A",)" + action, "at: "},
      {R"({"at":"2026-02-30T09:00:00Z","entity":"e","role":"A",)" + action, "at: "},
      {R"({"at":"99999-01-01T00:00:00Z","entity":"e","role":"A",)" + action, "at: "},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"e",)" + action, "\"role\" is missing"},
      {head + R"("action":[]})", "expected an object"},
      {head + R"("action":{"n":1}})", "\"type\" is missing"},
      {head + R"("action":{"type":"Burn","n":1}})", "unknown action \"Burn\""},
      {head + R"("action":{"type":"SpendA"}})", "\"n\" is missing"},
      {head + R"("action":{"type":"SpendA","n":"1"}})", "expected an integer"},
      {head + R"("action":{"type":"SpendA","n":1.5}})", "expected an integer"},
      {head + R"("action":{"type":"SpendA","n":9223372036854775808}})", "2^63"},
      {head + R"("action":{"type":"SpendA","n":1e999}})", "out of the range"},
      {head + R"("action":{"type":"SpendA","n":1,"m":2}})", "unknown argument \"m\""},
      {head + R"("colour":"red",)" + action, "unknown key \"colour\""},
      {head + R"("init":{},)" + action, "exactly one of"},
      {head + R"("run":")" + std::string(64, '1') + "\"," + action, "\"run\" and \"plan\" go together"},
      {head + R"("run":"1","plan":")" + std::string(64, '1') + "\"," + action, "run: expected 64 hex digits"},
      {head + R"("plan":")" + std::string(64, '0') + R"(","run":")" + std::string(64, 'a') + "\"," + action,
       "plan: expected 64 hex digits, not all zero"},
      {head + R"("operationId":"a b",)" + action, "operationId"},
      {head + R"("operationId":"expire:1",)" + action, "the kernel's own"},
      {head + R"("operationId":")" + std::string(300, 'x') + "\"," + action, "operationId has 300"},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"e","role":")" + std::string(300, 'r') + "\"," + action, "at most 256"},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"ghost","role":"A",)" + action, "unknown entity \"ghost\""},
      {R"({"at":"2026-03-23T09:00:00Z","entity":")" + std::string(255, 'g') + "\u20ac\",\"role\":\"A\"," + action,
       "unknown entity"},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"","init":{}})", "entity"},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"a\u0007b","init":{}})", "control characters"},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"f","init":{"spentA":100001}})", "violates BUDGET_CAP"},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"f","init":{"gold":1}})", "unknown field \"gold\""},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"e","init":{"spentA":5}})", "exists already"},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"e","counselor":"c","decision":"maybe"})",
       "expected \"commit\" or \"reject\""},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"e","counselor":"mallory","decision":"commit"})",
       "not an authorised counselor"},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"e","counselor":"c","decision":"commit","digest":"12"})",
       "64 hex digits"},
      {R"({"at":"2026-03-23T09:00:00Z","entity":"e","counselor":"c","decision":"commit","base":"none"})",
       "expected \"candidate\""},
  };
}

TEST(BadLines, EachIsRefusedWithItsNumberAndCauseAndTheRestGoesOn) {
  const std::vector<BadLine> bad = badLines();
  std::string events = std::string(kInit) + "\n";
  for (const BadLine& one : bad) events += one.line + "\n";
  events += spend(7);
  const Finished run = runWitan(budget("-"), events);
  EXPECT_EQ(run.exitCode, kExitSomeRefused) << run.err;
  const auto answers = answersOf(run);
  ASSERT_EQ(answers.size(), bad.size() + 2);
  EXPECT_EQ(text(answers.front(), "outcome"), "initialised");
  for (std::size_t i = 0; i < bad.size(); ++i) {
    SCOPED_TRACE(bad[i].line.substr(0, 200));
    EXPECT_EQ(text(answers[i + 1], "outcome"), "refused");
    EXPECT_EQ(answers[i + 1].at("line").as_int64(), static_cast<std::int64_t>(i) + 2);
    EXPECT_TRUE(answers[i + 1].at("ledgerSeq").is_null());
    EXPECT_THAT(text(answers[i + 1], "message"), HasSubstr(bad[i].cause));
  }
  EXPECT_EQ(text(answers.back(), "outcome"), "approved");
  EXPECT_EQ(answers.back().at("ledgerSeq").as_int64(), 1) << "a refused line left an entry";
}

TEST(BadLines, OverlongOnesAreRefusedInBoundedMemory) {
  // An address space of a few hundred MB: a reader that keeps a line of a GiB would not fit.
  const std::string longest = spend(1) + std::string(kLineMax - spend(1).size(), ' ');
  const std::string events = std::string(kInit) + "\n" + longest + "\n" + longest + " \n" + std::string(64 << 20, 'x') +
                             "\n" + spend(2) + "\n" + std::string(3 << 20, '{');
  const auto answers = answersOf(runWitan(budget("-"), events));
  ASSERT_EQ(answers.size(), 6u);
  const char* outcomes[] = {"initialised", "approved", "refused", "refused", "approved", "refused"};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(text(answers[i], "outcome"), outcomes[i]) << i;
    EXPECT_EQ(answers[i].at("line").as_int64(), static_cast<std::int64_t>(i) + 1);
    if (i == 2 || i == 3 || i == 5) {
      EXPECT_THAT(text(answers[i], "message"), HasSubstr("longer than 1048576 bytes"));
    }
  }
}

// Long names are cut for messages and for KERNEL_INTEGRITY's words, never inside a character.
TEST(BadLines, LongNamesAreCutBetweenCharacters) {
  const std::string role = std::string(63, 'r') + "\u20ac";
  const std::string events = std::string(kInit) + "\n" + R"({"at":"2026-03-23T09:00:00Z","entity":"e","role":")" +
                             role + R"(","action":{"type":"SpendA","n":1}})" + "\n" +
                             R"({"at":"2026-03-23T09:00:00Z","entity":"e","role":"A","action":{"type":")" + role +
                             "\"}}\n";
  const Scratch scratch;
  const Finished run = runWitan(budget("-", {"--store", scratch / "store"}), events);
  const auto answers = answersOf(run);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(text(answers[1], "invariant"), "KERNEL_INTEGRITY");
  EXPECT_THAT(text(answers[2], "message"), HasSubstr("unknown action"));
  EXPECT_EQ(runWitan({"ledger", "verify", "--replay", "--store", scratch / "store"}).exitCode, kExitOk);
}

TEST(BadLines, EndingsDoNotMatter) {
  for (const std::string ending : {"\n", "\r\n", "\n\n \t\r\n"}) {
    const auto answers = answersOf(runWitan(budget("-"), kInit + ending + spend(1) + ending + spend(2)));
    ASSERT_EQ(answers.size(), 3u);
    EXPECT_EQ(text(answers[2], "outcome"), "approved");
  }
  for (const std::string nothing : {"", "\n", "\r\n\r\n"}) {
    const Finished run = runWitan(budget("-"), nothing);
    EXPECT_EQ(run.exitCode, kExitOk);
    EXPECT_EQ(run.out, "");
  }
}

TEST(BadEvents, FilesThatCannotBeRead) {
  const Scratch scratch;
  expectError(runWitan(budget(scratch / "none.jsonl")), "cannot open " + scratch / "none.jsonl" + " (No such file");
  expectError(runWitan(budget(scratch / ".")), "is a folder");
  EXPECT_FALSE(fs::exists(scratch / "store"));
  expectError(runWitan(budget(scratch / "none.jsonl", {"--store", scratch / "store"})), "cannot open");
  EXPECT_FALSE(fs::exists(scratch / "store")) << "nothing is made for a run that cannot start";
  scratch.write("secret.jsonl", kInit);
  fs::permissions(scratch / "secret.jsonl", fs::perms::none);
  if (geteuid() != 0) expectError(runWitan(budget(scratch / "secret.jsonl")), "Permission denied");
}

TEST(BadOptions, AreUsageErrorsOrNameTheCause) {
  const Scratch scratch;
  expectError(runWitan({"run"}), "--domain", kExitUsage);
  expectError(runWitan({"run", "--domain", "budget"}), "--events", kExitUsage);
  expectError(runWitan({"frobnicate"}), "witan --help", kExitUsage);
  expectError(runWitan({"run", "--domain", "none", "--events", "-", "--store", scratch / "s"}), "no domain \"none\"");
  EXPECT_FALSE(fs::exists(scratch / "s"));
  for (const char* ttl : {"", "7", "P", "-P1D", "PT0S", "P1Y", "P99999999999999999999D"})
    if (*ttl != '\0') expectError(runWitan(budget("-", {"--pending-ttl", ttl})), "--pending-ttl", kExitUsage);
  expectError(runWitan(budget("-", {"--counselor", "\xff"})), "counselor");
  expectError(runWitan(budget("-", {"--counselor", std::string(300, 'c')})), "counselor");
  const Finished json = runWitan({"run", "--domain", "none", "--events", "-", "--json"});
  ASSERT_TRUE(parseJson(json.err.substr(0, json.err.find('\n'))).ok()) << json.err;
  EXPECT_THAT(json.err, HasSubstr("\"code\":"));
}

TEST(BadPolicies, NameTheFileAndTheCause) {
  const Scratch scratch;
  const struct {
    const char* name;
    std::string content;
    const char* words;
  } cases[] = {
      {"a.toml", "cap = ", "a.toml:1"},
      {"b.toml", "x = 1\ny = [1,\nz", "b.toml:3"},
      {"c.toml", "cap = 1\ncap = 2\n", "c.toml:2"},
      {"d.toml", "cap = \"much\"", "policy.cap: expected an integer"},
      {"e.toml", "cap = nan", "e.toml:1: expected a finite number"},
      {"f.toml", "colour = 1", "unknown argument \"colour\""},
      {"g.toml", std::string("\0\1\2", 3), "g.toml:1"},
      {"h.toml", "cap = \"\xff\"", "h.toml"},
      {"i.toml", "a = " + std::string(5000, '['), "i.toml"},
      {"j.json", "{", "j.json"},
      {"k.json", "[]", "expected a JSON object"},
      {"l.json", R"({"cap":1,"cap":2})", "occurs twice"},
      {"m.json", std::string(2 << 20, ' '), "m.json is longer than 1048576 bytes"},
      {"n.json", R"({"cap":9223372036854775808})", "2^63"},
  };
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    scratch.write(one.name, one.content);
    expectError(runWitan(budget("-", {"--policy", scratch / one.name, "--store", scratch / "store"})), one.words);
    EXPECT_FALSE(fs::exists(scratch / "store"));
  }
  expectError(runWitan(budget("-", {"--policy", scratch / "none.toml"})), "cannot open the policy file");
  expectError(runWitan(budget("-", {"--policy", scratch / "."})), "is a folder and no regular file");
  scratch.write("udt.toml", "limits.DEFINITIVE.D0_30 = [5, 0]\n");
  expectError(runWitan({"run", "--domain", "udt", "--events", "-", "--policy", scratch / "udt.toml"}), "policy.limits");
  scratch.write("good.toml", "cap = 10  # little\n");
  const auto answers =
      answersOf(runWitan(budget("-", {"--policy", scratch / "good.toml"}), kInit + std::string("\n") + spend(11)));
  EXPECT_EQ(text(answers.at(1), "outcome"), "rejected");
}

// Three lines are decided, the third answer cannot be told: it is in the ledger all the same, and asked again it is the
// recorded one.
void expectContinues(const std::string& store, const std::string& events) {
  EXPECT_EQ(runWitan({"ledger", "verify", "--replay", "--store", store}).exitCode, kExitOk);
  for (const auto& answer : answersOf(runWitan(budget("-", {"--store", store}), events)))
    EXPECT_THAT(text(answer, "outcome"), ::testing::AnyOf("duplicate", "approved"));
}

TEST(BadStreams, AReaderThatGoesAway) {
  const Scratch scratch;
  const std::string events = std::string(kInit) + "\n" + spend(1) + "\n" + spend(2) + "\n";
  Child child(budget("-", {"--store", scratch / "store"}));
  child.closeOutput();
  expectError(child.finish(events), "cannot write the answers (Broken pipe)");
  expectContinues(scratch / "store", events);
}

TEST(BadStreams, AFullOutput) {
  const Scratch scratch;
  const std::string events = std::string(kInit) + "\n" + spend(1) + "\n";
  const auto full = [] { dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO); };
  expectError(runWitan(budget("-", {"--store", scratch / "store"}), events, full),
              "cannot write the answers (No space left");
  expectContinues(scratch / "store", events);
  EXPECT_EQ(runWitan({"--version"}, {}, full).exitCode, kExitFailed);
  expectError(runWitan({"ledger", "export", "--store", scratch / "store"}, {}, full), "could not be written");
}

// A file opened later must not take the number of a closed stream: the store's files would be written over by words.
TEST(BadStreams, ClosedOnes) {
  const Scratch scratch;
  const std::string events = std::string(kInit) + "\n" + spend(1) + "\n";
  scratch.write("events.jsonl", events);
  const auto words = budget(scratch / "events.jsonl", {"--store", scratch / "store"});
  expectError(runWitan(words, {}, [] { close(STDOUT_FILENO); }), "cannot write the answers (Bad file descriptor)");
  EXPECT_EQ(runWitan(words, {}, [] { close(STDERR_FILENO); }).exitCode, kExitOk);
  EXPECT_EQ(runWitan(words, {}, [] { close(STDIN_FILENO); }).exitCode, kExitOk);
  EXPECT_EQ(runWitan(words, {},
                     [] {
                       for (const int fd : {0, 1, 2}) close(fd);
                     })
                .exitCode,
            kExitFailed);
  expectError(runWitan(budget("-"), {}, [] { close(STDIN_FILENO); }),
              "cannot read standard input (Bad file descriptor)");
  expectContinues(scratch / "store", events);
}

// The file size limit stands in for a full disk: the log cannot grow. What was answered before is there afterwards.
TEST(BadStreams, AFullDisk) {
  const Scratch scratch;
  std::string events = std::string(kInit) + "\n";
  for (int i = 0; i < 3'000; ++i) events += spend(i % 7) + std::string(200, ' ') + "\n";
  for (const rlim_t limit : {rlim_t{0}, rlim_t{4} << 10, rlim_t{700} << 10, rlim_t{1} << 20}) {
    SCOPED_TRACE(limit);
    const std::string store = scratch / std::to_string(limit);
    const auto small = [limit] {
      const rlimit size{limit, limit};
      setrlimit(RLIMIT_FSIZE, &size);
    };
    const Finished run = runWitan(budget("-", {"--store", store}), events, small);
    EXPECT_EQ(run.signal, 0);
    if (run.exitCode == kExitOk) continue;  // it fitted
    EXPECT_EQ(run.exitCode, kExitFailed) << run.err;
    EXPECT_THAT(run.err, HasSubstr("witan: "));
    const auto told = answersOf(run);
    const auto again = answersOf(runWitan(budget("-", {"--store", store}), events));
    ASSERT_EQ(again.size(), 3'001u) << run.err;
    for (std::size_t i = 0; i < told.size(); ++i) {
      EXPECT_EQ(text(again[i], "outcome"), "duplicate") << i;
      EXPECT_EQ(again[i].at("ledgerSeq"), told[i].at("ledgerSeq"));
    }
    EXPECT_EQ(runWitan({"ledger", "verify", "--replay", "--store", store}).exitCode, kExitOk);
  }
}

}  // namespace
}  // namespace witan::node::bad_input_test
