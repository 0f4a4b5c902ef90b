// What a person meets at the command line of a node: names instead of ids, answers instead of puzzles, exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seams.h"
#include "node/cluster/device_key.h"
#include "node/cluster/roster.h"
#include "node/enrolment/joining.h"
#include "tests/node/node_process.h"

namespace witan::node::words_test {
namespace {

using test::begin;
using test::enrol;
using test::Finished;
using test::freeAddress;
using test::Node;
using test::Scratch;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(DeviceNames, TakeThePlaceOfIdsAndOfNothingElse) {
  const std::string id(32, 'a'), other(32, 'b');
  DeviceNames names;
  names.add(id, "lab");
  EXPECT_EQ(names.in(id), "lab (aaaaaaaa)");
  EXPECT_EQ(names.in("from " + id + ", then " + other + "."), "from lab (aaaaaaaa), then " + other + ".");
  EXPECT_EQ(names.in(id + "@9c8f73c3 wrote"), "lab (aaaaaaaa@9c8f73c3) wrote");
  EXPECT_EQ(names.in(id + "@else"), "lab (aaaaaaaa)@else");
  for (const std::string& text : {std::string(), id + "a", "a" + id, id.substr(1), std::string("xyz")})
    EXPECT_EQ(names.in(text), text);
  EXPECT_EQ(DeviceNames().in(id), id);
}

TEST(Fingerprint, IsReadAsPeopleTypeItAndRefusedWithThePlace) {
  const PublicKey key{1, 2, 3};
  const std::string text = fingerprintOf(key);
  std::string typed;
  for (const char c : text) typed += c == ' ' ? ':' : static_cast<char>(std::toupper(c));
  EXPECT_EQ(*parseFingerprint(typed), text);
  EXPECT_EQ(*parseFingerprint(" " + text + " "), text);
  const auto why = [](const std::string& wrong) { return parseFingerprint(wrong).error().message; };
  EXPECT_THAT(why(text.substr(0, text.size() - 1)), HasSubstr("it has 63 digits; expected 64"));
  EXPECT_THAT(why("12 3x" + text), HasSubstr("character 5 is \"x\""));
  EXPECT_THAT(why(""), HasSubstr("it has 0 digits"));
}

TEST(Join, SaysThatNobodyAnswersBeforeItGivesUp) {
  JoinAttempt attempt;
  attempt.addresses = {freeAddress()};
  attempt.expect = [](const PublicKey&) { return okStatus(); };
  attempt.timeoutMs = 300;
  std::vector<std::string> said;
  attempt.slow = [&](const std::string& words) { said.push_back(words); };
  SystemRandom random;
  const auto answer = askToJoin(SigningKey::generate(random), attempt);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_THAT(said[0], HasSubstr("no answer from " + attempt.addresses[0] + " yet"));
}

TEST(Join, AMalformedFingerprintIsRefusedWithThePlace) {
  const Scratch scratch;
  const Node node(scratch, "node");
  const Finished done = node.run({"join", "--address", "127.0.0.1:1", "--fingerprint", "12 zz"});
  EXPECT_EQ(done.exitCode, 2);
  EXPECT_THAT(done.err, HasSubstr("character 4 is \"z\""));
}

TEST(Words, AnAddressThatNobodyCanDialIsNotAdvertised) {
  EXPECT_THAT(dialable({"0.0.0.0:7600", "[::]:7600", "10.0.0.1:0", "10.0.0.1:7600"}),
              ::testing::ElementsAre("10.0.0.1:7600"));
  const Scratch scratch;
  Node hidden(scratch, "hidden"), open(scratch, "open");
  const std::string everywhere = "0.0.0.0" + hidden.address().substr(hidden.address().rfind(':'));
  const Finished made = hidden.run({"init", "--name", "hidden", "--listen", everywhere});
  EXPECT_EQ(made.exitCode, 0);
  EXPECT_THAT(made.err, HasSubstr("others cannot dial " + everywhere));
  ASSERT_TRUE(hidden.up()) << hidden.log();
  EXPECT_THAT(hidden.invite(), HasSubstr("no address that others can dial"));
  const std::string behind = "0.0.0.0" + open.address().substr(open.address().rfind(':'));
  EXPECT_EQ(open.run({"init", "--listen", behind, "--advertise", "0.0.0.0:1"}).exitCode, 2);
  const Finished told = open.run({"init", "--name", "open", "--listen", behind, "--advertise", open.address()});
  EXPECT_EQ(told.exitCode, 0) << told.err;
  EXPECT_THAT(told.err, Not(HasSubstr("cannot dial")));
  ASSERT_TRUE(open.up()) << open.log();
  EXPECT_THAT(readToken(open.invite())->addresses, ::testing::ElementsAre(open.address()));
  EXPECT_THAT(open.run({"device", "roster", "--json"}).out, HasSubstr(open.address()));
}

TEST(Words, DevicesAreCalledByTheirNames) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  const std::string id(first.runJson({"status"}).at("device").as_string());
  const std::string called = "first (" + id.substr(0, 8) + ")";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"peers"}, {"partition", "list"}, {"partition", "move", "udt/0", "second"}}) {
    const Finished done = second.run(words);
    EXPECT_THAT(done.out + done.err, HasSubstr(called)) << words[0];
    EXPECT_THAT(done.out + done.err, Not(HasSubstr(id))) << words[0];
  }
  EXPECT_THAT(second.run({"peers", "--json"}).out, HasSubstr(id));
  const Finished unknown = first.run({"partition", "move", "udt/99", "second"});
  EXPECT_EQ(unknown.exitCode, 1);
  EXPECT_THAT(unknown.err, HasSubstr("there is no partition \"udt/99\""));
  EXPECT_THAT(unknown.err, HasSubstr("udt/0 to udt/7"));
  EXPECT_THAT(first.run({"partition", "seize", "udt"}).err, HasSubstr("no DOMAIN/NUMBER"));
  EXPECT_THAT(first.run({"device", "list"}).out, HasSubstr("witan device roster"));
}

TEST(Words, BeginningAgainIsDoneAlready) {
  const Scratch scratch;
  Node first(scratch, "first"), second(scratch, "second");
  ASSERT_TRUE(begin(first)) << first.log();
  ASSERT_TRUE(enrol(first, second)) << second.log();
  const auto beginDavid = [](const Node& node, const std::string& day) {
    return node.run({"begin", "udt", "David", "--init", R"({"baselinePositiveOn":")" + day + "\"}"});
  };
  EXPECT_EQ(beginDavid(first, "2026-01-17").out, "initialised\n");
  for (const Node* node : {&first, &second}) {
    const Finished again = beginDavid(*node, "2026-01-17");
    EXPECT_EQ(again.exitCode, 0);
    EXPECT_EQ(again.out, "initialised (decided before)\n");
  }
  EXPECT_EQ(beginDavid(first, "2026-01-18").exitCode, 1);
  EXPECT_THAT(beginDavid(first, "2026-01-18").out, HasSubstr("with another beginning: baselinePositiveOn, "));
  // Whose slice it may not be in is not told.
  EXPECT_THAT(beginDavid(second, "2026-01-18").out, Not(HasSubstr("baselinePositiveOn")));
}

TEST(Words, ExitCodesTellHowAProposalFared) {
  const Scratch scratch;
  Node node(scratch, "node"), other(scratch, "other");
  ASSERT_TRUE(begin(node)) << node.log();
  const std::string today = formatTime(SystemClock().now()).substr(0, 10);
  ASSERT_EQ(node.run({"begin", "budget", "team", "--exit-code"}).exitCode, 0);
  // What is given wrong is named, and nothing is begun or proposed.
  for (const auto& [option, value, why] : {std::tuple{"--operation-id", "", "--operation-id: it is empty"},
                                           std::tuple{"--wait-ms", "-1", "--wait-ms: \"-1\" is no whole number"}})
    for (const Finished& refused :
         {node.run({"begin", "budget", "wrong", option, value}),
          node.run({"propose", "budget", "team", "Spender", R"({"type":"Spend"})", option, value})}) {
      EXPECT_EQ(refused.exitCode, 2) << refused.out;
      EXPECT_THAT(refused.err, HasSubstr(why));
    }
  const auto refused = node.post("/v1/entities", {{"domain", "budget"}, {"entity", "wrong"}, {"operationId", ""}});
  EXPECT_THAT(refused.error().message, HasSubstr("body.operationId: "));
  ASSERT_EQ(node.run({"begin", "udt", "David"}).exitCode, 0);
  const auto code = [&](const Node& from, std::vector<std::string> words, bool wanted = true) {
    words.insert(words.begin(), "propose");
    if (wanted) words.emplace_back("--exit-code");
    return from.run(words).exitCode;
  };
  const auto spend = [](int n) {
    return std::vector<std::string>{"budget", "team", "A", R"({"type":"SpendA","n":)" + std::to_string(n) + "}"};
  };
  EXPECT_EQ(code(node, spend(1)), 0);
  EXPECT_EQ(code(node, spend(200'000)), 5);
  EXPECT_EQ(code(node, spend(200'000), false), 0);
  EXPECT_EQ(code(node, {"budget", "nobody", "A", R"({"type":"SpendA","n":1})"}), 1);
  const auto udt = [&](const char* role, const std::string& action, bool wanted = true) {
    return code(node, {"udt", "David", role, action}, wanted);
  };
  ASSERT_EQ(udt("LabOrder", R"({"type":"DocumentRationale","order":"O1","text":"treatment plan: random monitoring"})"),
            0);
  ASSERT_EQ(
      udt("LabOrder", R"({"type":"OrderTest","order":"O1","kind":"PRESUMPTIVE","code":"80307","method":"IMMUNOASSAY",)"
                      R"("dos":")" +
                          today + "\"}"),
      0);
  const std::string positive = R"({"type":"RecordResult","order":"O1","outcome":"POSITIVE","on":")" + today + "\"}";
  EXPECT_EQ(udt("Clinical", positive), 6);
  ASSERT_TRUE(enrol(node, other)) << other.log();
  ASSERT_EQ(node.run({"peers", "cut", "other"}).exitCode, 0);
  std::vector<std::string> cut = spend(1);
  cut.insert(cut.end(), {"--wait-ms", "50"});
  EXPECT_EQ(code(other, cut), 7);
  EXPECT_EQ(code(other, cut, false), 0);
  EXPECT_EQ(other.run({"status", "--wait", "connected", "--timeout", "0"}).exitCode, 4);
}

TEST(Words, AFeedNamesALineThatIsTooLongAndTakesTheOthers) {
  const Scratch scratch;
  Node node(scratch, "node");
  ASSERT_TRUE(begin(node)) << node.log();
  const auto entry = [](const std::string& id, std::size_t bytes) {
    return R"({"id":")" + id + R"(","type":"note","payload":")" + std::string(bytes, 'x') + "\"}\n";
  };
  scratch.write("day.jsonl", entry("a", 5) + entry("b", 1'100'000) + entry("c", 5));
  const Finished fed = node.run({"feed", scratch / "day.jsonl"});
  EXPECT_EQ(fed.exitCode, 3);
  EXPECT_THAT(fed.out, HasSubstr("2 entered, 1 refused"));
  EXPECT_THAT(fed.err, HasSubstr("line 2: longer than 1 MiB"));
  EXPECT_THAT(node.run({"feed", scratch / "day.jsonl"}).out, HasSubstr("0 entered, 2 as they were, 1 refused"));
}

// A node that is there and does not answer must not be started a second time.
TEST(Words, ANodeThatDoesNotAnswerIsToldFromOneThatIsDown) {
  const Scratch scratch;
  Node node(scratch, "node");
  ASSERT_TRUE(begin(node)) << node.log();
  node.signal(SIGSTOP);
  const Finished hangs = node.run({"status"});
  node.signal(SIGCONT);
  EXPECT_EQ(hangs.exitCode, 4);
  EXPECT_THAT(hangs.err, HasSubstr("the process " + std::to_string(node.pid()) + " runs it"));
  node.kill();
  EXPECT_THAT(node.run({"status"}).err, HasSubstr("start it: witan up"));
}

}  // namespace
}  // namespace witan::node::words_test
