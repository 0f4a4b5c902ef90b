// `witan id` on the command lines that people type: the vectors of base/identity.h, and how refusals look.
#include "cli/commands/commands.h"

#include <gtest/gtest.h>

#include <iostream>

#include "base/identity.h"

namespace witan::node::id_command_test {
namespace {

constexpr const char* kLck = "40b1047f3d9adab54c0d6bf8a578c827f8c98a8c9284ea3e41e35588370517b6";
constexpr const char* kRun = "a7ef5d9c058a0012ee9b242bfe59e1741fb14709bd6f37fa6cb7119f530d9831";
constexpr const char* kArgs = "ecf9e98ec0641e23113ff3ce8bdc78d0ddd249886517fd4a7f68cc83d4e65667";
constexpr const char* kAction = "a40ade36bf1ec60e00863df1dc7d94cb128ccda82fef5f3832248db1b4602ce8";
constexpr const char* kOperation = "789f65a6a0f59b783b8d801cd2db5cf6e4e1d7c5df35dbcaf9966353c5f8f232";

struct Answer {
  int exitCode = -1;
  std::string out;
  std::string err;
};

// `witan id <words>`. Wrong usage that the parser finds is exit code 2 too, as the program's main makes it.
Answer run(std::vector<std::string> words) {
  Command app("witan", "");
  Answer answer;
  addIdCommand(app);
  words.insert(words.begin(), {"witan", "id"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const auto failure = app.parse(static_cast<int>(words.size()), argv.data());
  answer.exitCode = failure ? 2 : app.exitCode();
  if (failure) std::cerr << failure->message << '\n';
  answer.out = testing::internal::GetCapturedStdout();
  answer.err = testing::internal::GetCapturedStderr();
  return answer;
}

void expectId(std::vector<std::string> words, const std::string& id) {
  const Answer plain = run(words);
  EXPECT_EQ(plain.exitCode, 0) << plain.err;
  EXPECT_EQ(plain.out, id + "\n");
  EXPECT_EQ(plain.err, "");
  words.push_back("--json");
  EXPECT_EQ(run(words).out, "{\"id\":\"" + id + "\"}\n");
}

TEST(IdCommand, PrintsEveryVector) {
  const std::string one = "4931e8bf354039fc629b65076fa0ab08455db94de52fd53d9c56c5b14f53ce11";
  const std::string two = "47070d88cdcef1fe59a5850032c09518a3206a89e69fb015c09feff408bf5b14";
  expectId({"cuk", "local", "hostA", "1", "journalEntity", "task-1"}, one);
  expectId({"cuk", "local", "hostA", "2", "journalEntity", "task-2"}, two);
  expectId({"lck", one, two}, kLck);
  expectId({"lck", two, one, two}, kLck);
  expectId({"runkey", "subscription", "agent-1", "sub-1", kLck}, kRun);
  expectId({"runkey", "timer", "agent-1", "timer-1", "1767225600000"},
           "5d6c7a4af554d25cad98763e3c37a55a0e0eaaf943dbe3c0dff826f16e272006");
  expectId({"runkey", "user", "agent-1", "session-1", "turn-1"},
           "2214b1244a83b1803b34663f3de6b9b862c87392887cf51fc89e367b27e5145c");
  expectId({"argshash", R"({"b":"x","a":1})"}, kArgs);
  expectId({"action", "journal.setStatus", kArgs, "category:work", "task-1"}, kAction);
  expectId({"opid", kRun, kAction}, kOperation);
  expectId({"opid", kRun, kAction, "0"}, kOperation);
  expectId({"opid", kRun, kAction, "1"}, "425ea913c7663edeb066e348fe0b160f7515a86e366ca567bdc0515d1af504c4");
  expectId({"compensate", kOperation}, "18a449a49c9b7d90a541f9c3587122d668cb656e049f275aa1b84d16736d17e0");
  expectId({"summary", "agent-1", "thread-1", "m1", "m9", "summarizer-1"},
           "d7313f4c73bd3c110d09ee4e036bb108738886faf1476efe51be722dac086cdb");
}

TEST(IdCommand, Tokens) {
  expectId({"token", "entityId", "-", "task-1"}, "entityId|-|task-1");
  expectId({"token", "subtypeToken", "journal", "task"}, "subtypeToken|journal|task");
  EXPECT_EQ(run({"token", "subtypeToken", "-", "task"}).exitCode, 2);
  EXPECT_EQ(run({"token", "entityId", "journal", "task"}).exitCode, 2);
}

TEST(IdCommand, ListsMayBeEmptyOrInAnyOrder) {
  const std::string none = run({"action", "tool", kArgs}).out;
  EXPECT_EQ(run({"action", "tool", kArgs, "", ""}).out, none);
  EXPECT_EQ(run({"action", "tool", kArgs, "a,b", ""}).out, run({"action", "tool", kArgs, "b,a"}).out);
  EXPECT_NE(run({"action", "tool", kArgs, "", "a"}).out, run({"action", "tool", kArgs, "a", ""}).out);
  EXPECT_EQ(run({"action", "tool", kArgs, "a,,b"}).exitCode, 2);
}

TEST(IdCommand, ArgumentsOfAnyJsonKind) {
  for (const char* args : {"[1,2]", "[]", "{}", "null", "\"x\"", "1", "[\"a\",\"b\"]", "[[1],[2]]"}) {
    expectId({"argshash", args}, argsHash(*parseJson(args)).hex());
  }
}

TEST(IdCommand, PlanDigestKeepsTheOrder) {
  EXPECT_NE(run({"plandigest", kOperation, kRun}).out, run({"plandigest", kRun, kOperation}).out);
}

TEST(IdCommand, BadComponentIsNamedWithCauseAndHint) {
  const Answer plain = run({"runkey", "user", "a|b", "session-1", "turn-1"});
  EXPECT_EQ(plain.exitCode, 2);
  EXPECT_EQ(plain.out, "");
  EXPECT_EQ(plain.err,
            "witan: cannot derive the run key of a user wake (agentId \"a|b\" has the character \"|\" at byte 1): "
            "use 1 to 256 characters of A-Z a-z 0-9 . _ : @ / + -\n");
  const Answer asJson = run({"runkey", "user", "a|b", "session-1", "turn-1", "--json"});
  EXPECT_EQ(asJson.exitCode, 2);
  const auto error = parseJson(asJson.err);
  ASSERT_TRUE(error.ok());
  EXPECT_EQ(error->at("error").at("code").as_string(), "invalidInput");
  EXPECT_NE(error->at("error").at("message").as_string().find("agentId"), std::string::npos);
}

TEST(IdCommand, BadUsageIsExitCode2) {
  const std::vector<std::vector<std::string>> wrong = {{"cuk", "remote", "hostA", "1", "t", "i"},
                                                       {"cuk", "local", "hostA", "01", "t", "i"},
                                                       {"cuk", "local", "hostA", "x", "t", "i"},
                                                       {"cuk", "local", "hostA", "18446744073709551616", "t", "i"},
                                                       {"cuk", "local", "hostA", "", "t", "i"},
                                                       {"cuk", "local", "hostA", "1", "t"},
                                                       {"cuk", "local", "hostA", "1", "t", "i", "surplus"},
                                                       {"lck"},
                                                       {"lck", "abc"},
                                                       {"runkey", "timer", "a", "t", "9223372036854775808"},
                                                       {"runkey"},
                                                       {"argshash", "{"},
                                                       {"argshash", R"({"a":1,"a":1})"},
                                                       {"action", "tool", "xyz"},
                                                       {"opid", kRun, kAction, "-1"},
                                                       {"nothing"},
                                                       {}};
  for (const auto& words : wrong) {
    const Answer answer = run(words);
    EXPECT_EQ(answer.exitCode, 2) << testing::PrintToString(words);
    EXPECT_NE(answer.err, "") << testing::PrintToString(words);
    EXPECT_EQ(answer.out, "");
  }
}

TEST(IdCommand, EveryHelpHasAnExample) {
  for (const char* leaf :
       {"cuk", "lck", "runkey", "argshash", "action", "opid", "compensate", "summary", "plandigest", "token"}) {
    const Answer help = run({leaf, "--help"});
    EXPECT_EQ(help.exitCode, 0);
    EXPECT_NE(help.out.find(std::string("witan id ") + leaf), std::string::npos) << help.out;
  }
  for (const char* wake : {"subscription", "timer", "user"}) {
    EXPECT_NE(run({"runkey", wake, "--help"}).out.find(std::string("witan id runkey ") + wake), std::string::npos);
  }
}

}  // namespace
}  // namespace witan::node::id_command_test
