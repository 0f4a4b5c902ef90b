// `witan policy check`: the example, mistakes with their places, and what of a payload would cross.
#include <gtest/gtest.h>

#include "tests/node/program.h"
#include "tests/node/scratch.h"
#include "tests/paths.h"

namespace witan::node::agents_policy_command_test {
namespace {

using test::Finished;
using test::runWitan;
using test::Scratch;

const std::string kExample = std::string(witan::tests::kSourceDir) + "/docs/examples/agents-policy.toml";

Finished checkPayload(const std::string& payload, const std::string& boundary, const std::string& operation,
                      const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"policy",     "check",  kExample,      "--payload", "-",
                                 "--boundary", boundary, "--operation", operation};
  words.insert(words.end(), more.begin(), more.end());
  return runWitan(words, payload);
}

TEST(PolicyCommand, ChecksTheExample) {
  const Finished checked = runWitan({"policy", "check", kExample});
  EXPECT_EQ(checked.exitCode, 0) << checked.err;
  EXPECT_EQ(checked.out.substr(0, checked.out.find("digest")),
            "ok clinic version 3: 4 boundaries, 4 operations, 3 grants\n");
  const Finished json = runWitan({"policy", "check", kExample, "--json"});
  EXPECT_EQ(json.out.substr(0, 26), "{\"boundaries\":4,\"digest\":\"") << json.out;
}

TEST(PolicyCommand, NamesThePlaceOfAMistake) {
  const Scratch scratch;
  scratch.write("p.toml", "name = \"p\"\nversion = 1\n[[boundry]]\n");
  const Finished words = runWitan({"policy", "check", scratch / "p.toml"});
  EXPECT_EQ(words.exitCode, 1);
  EXPECT_EQ(words.out, "");
  EXPECT_EQ(words.err,
            "witan: " + (scratch / "p.toml") + ":3:3: unknown key \"boundry\": did you mean \"boundary\"?\n");
  const Finished json = runWitan({"policy", "check", scratch / "p.toml", "--json"});
  EXPECT_EQ(json.err.substr(0, 34), "{\"error\":{\"code\":\"invalidInput\",\"m") << json.err;
  scratch.write("p.json", R"({"name":"p","version":0})");
  EXPECT_NE(runWitan({"policy", "check", scratch / "p.json"}).err.find("policy.version: versions are from 1"),
            std::string::npos);
  EXPECT_EQ(runWitan({"policy", "check", scratch / "gone.toml"}).exitCode, 1);
}

TEST(PolicyCommand, ShowsWhatWouldCross) {
  const Finished redacted = checkPayload(
      R"({"visit":{"on":"2026-03-23"},"patient":{"initials":"D. B.","name":"David"}})", "cloud-llm", "summarise");
  EXPECT_EQ(redacted.exitCode, 0) << redacted.err;
  EXPECT_EQ(redacted.out,
            "redact\n"
            "not allowed  patient.name\n"
            "masked       patient.initials\n"
            "would cross  {\"patient\":{\"initials\":\"[redacted]\"},\"visit\":{\"on\":\"2026-03-23\"}}\n");
  EXPECT_EQ(checkPayload(R"({"text":"hello"})", "journal", "append").out, "allow\nwould cross  {\"text\":\"hello\"}\n");
  EXPECT_EQ(checkPayload(R"({"order":{"id":"O1"}})", "laboratory", "order", {"--json"}).out,
            "{\"leftOut\":[],\"masked\":[],\"payload\":{\"order\":{\"id\":\"O1\"}},\"token\":null,"
            "\"verdict\":\"requireHuman\"}\n");
}

TEST(PolicyCommand, ShowsWhatIsBlocked) {
  const Finished blocked = checkPayload(R"({"text":"x","author":{"ssn":"123-45"}})", "journal", "append");
  EXPECT_EQ(blocked.exitCode, 3);
  EXPECT_EQ(blocked.out, "deny: overshared_payload_blocked\nnot allowed  author\n");
  EXPECT_EQ(checkPayload(R"({"author":1})", "journal", "append", {"--json"}).out,
            "{\"leftOut\":[\"author\"],\"masked\":[],\"payload\":null,\"token\":\"overshared_payload_blocked\","
            "\"verdict\":\"deny\"}\n");
}

TEST(PolicyCommand, RefusesWhatItCantJudge) {
  EXPECT_NE(checkPayload("{}", "pastebin", "post").err.find("out_of_scope"), std::string::npos);
  EXPECT_NE(checkPayload("{}", "journal", "post").err.find("no operation \"post\" at boundary \"journal\""),
            std::string::npos);
  EXPECT_NE(checkPayload("{\"text\":1,\"text\":2}", "journal", "append").err.find("standard input"), std::string::npos);
  const Finished half = runWitan({"policy", "check", kExample, "--boundary", "journal"});
  EXPECT_EQ(half.exitCode, 2);
  EXPECT_NE(half.err.find("belong together"), std::string::npos);
}

}  // namespace
}  // namespace witan::node::agents_policy_command_test
