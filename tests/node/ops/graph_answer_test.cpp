// What people do to the runs of graphs, on a node as a process: an answer is bound to what was shown, by the person
// alone; what is refused says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "cli/client/control_client.h"
#include "tests/node/node_process.h"

namespace witan::node::test::graph_answer_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string& examples() {
  static const std::string folder = std::string(witan::tests::kSourceDir) + "/docs/examples/";
  return folder;
}

// The graph "many", whose ingress takes `first` and whose egress gives out One; `middle` is between them.
std::string graphText(const std::string& middle, const std::string& first) {
  return R"([graph]
id = "many"
version = 1
format = 1
locales = ["device"]
timeoutMs = 86400000
[monitor]
boundaries = ["intake"]
[[type]]
name = "One"
schema = { type = "object", required = ["k"], properties = { k = { type = "string", maxLength = 100 } } }
[[node]]
id = "in"
kind = "ingress"
out = [")" +
         first + R"("]
monitor = { boundary = "intake", operation = "admit" }
[[node]]
id = "out"
kind = "egress"
in = ["One"]
monitor = { boundary = "intake", operation = "admit" }
)" + middle;
}

class GraphAnswer : public ::testing::Test {
 protected:
  GraphAnswer() {
    scratch.write("passphrase", "correct horse\n");
    EXPECT_EQ(node.init(2).exitCode, 0);
    std::string policy = contentOf(examples() + "graphs-policy.toml");
    policy.replace(policy.find("\"patient\", \"urgency\""), 0,
                   "\"all[].k\", \"k\", \"entity\", \"action.type\", \"action.n\", \"outcome\", ");
    policy.replace(policy.find("\"action.on\""), 0, "\"action.n\", ");
    policy +=
        "[[grant]]\nagent = \"many\"\ncategory = \"graph\"\nlocales = [\"device\"]\ntools = [\"graph\"]\n"
        "boundaries = [\"intake\", \"meta-agent\"]\n";
    scratch.write("desk/policy.toml", policy);
    EXPECT_TRUE(node.up()) << node.log();
  }
  // Begins runs, whose urgent ones ask the doctor. A line of the input each.
  Finished begin(const std::string& lines) {
    scratch.write("input.jsonl", lines);
    return node.run(
        {"graph", "run", examples() + "intake.graph.toml", "--input", scratch / "input.jsonl", "--wait", "0"});
  }
  static std::string urgent(const std::string& id, const std::string& patient, const std::string& text = "pain") {
    return R"({"ingress":"referrals","id":")" + id + R"(","body":{"patient":")" + patient +
           R"(","urgency":"urgent","text":")" + text + "\"}}\n";
  }
  json::value shown(const std::string& run) { return node.runJson({"graph", "show", run}); }
  // The question of a run, when it is there.
  json::value asked(const std::string& run, std::size_t many = 1) {
    json::array all;
    EXPECT_TRUE(until([&] {
      const json::value now = shown(run);
      if (const json::value* at = now.as_object().if_contains("run")) all = at->at("questions").as_array();
      return all.size() == many;
    })) << run
        << " does not ask: " << node.log();
    return many == 1 ? all.at(0) : json::value(all);
  }
  std::string digestOf(const std::string& run) { return std::string(asked(run).at("digest").as_string()); }
  std::string endOf(const std::string& run) {
    std::string status;
    (void)until([&] { return (status = shown(run).at("run").at("status").as_string()) != "running"; });
    return status;
  }
  Finished answer(const std::string& run, std::vector<std::string> more, const std::string& span = "doctor") {
    std::vector<std::string> words{"graph", "answer", run, span, "approve", "--by", "dr.supervising"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--dir", node.dir()});
    return runWitan(words, "", [&] { setenv("WITAN_PASSPHRASE_FILE", (scratch / "passphrase").c_str(), 1); });
  }

  const Scratch scratch;
  Node node{scratch, "desk"};
};

// The folder of the bodies goes back; the ledger does not.
TEST_F(GraphAnswer, ALostBodyHoldsUpItsOwnRunAlone) {
  begin(urgent("r-0", "p0"));
  const std::string kept = digestOf("r-0");
  node.stop();
  const std::filesystem::path bodies = std::filesystem::path(node.dir()) / "agents", before = scratch / "agents.before";
  std::filesystem::copy(bodies, before, std::filesystem::copy_options::recursive);
  ASSERT_TRUE(node.up()) << node.log();
  begin(urgent("r-1", "p1"));
  const std::string lost = digestOf("r-1");
  node.stop();
  std::filesystem::remove_all(bodies);
  std::filesystem::copy(before, bodies, std::filesystem::copy_options::recursive);
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_THAT(node.check("graphs"), HasSubstr(lost));
  EXPECT_TRUE(node.ready()) << "all else goes on";
  EXPECT_THAT(node.run({"doctor"}).out, HasSubstr(lost));
  EXPECT_THAT(node.run({"graph", "list"}).out, HasSubstr(lost));
  EXPECT_THAT(node.run({"graph", "show", "r-1"}).out, HasSubstr(lost + " is lost"));
  EXPECT_THAT(answer("r-1", {"--digest", lost}).err, HasSubstr("is not on the device of the owner"));
  EXPECT_EQ(answer("r-0", {"--digest", kept}).exitCode, 0);
  EXPECT_EQ(endOf("r-0"), "completed");
  EXPECT_EQ(node.run({"graph", "cancel", "r-1", "--why", "lost"}).exitCode, 0);
  EXPECT_EQ(endOf("r-1"), "cancelled");
  EXPECT_EQ(node.check("graphs"), "those of this device go on");
}

// What a program may propose of a graph is no way round the lint.
TEST_F(GraphAnswer, ADeploymentThatIsProposedIsRefused) {
  begin(urgent("r-1", "p1"));
  const json::object action{{"type", "Deploy"},       {"version", 2},         {"digest", std::string(64, 'a')},
                            {"edges", json::array{}}, {"deliveries", 10'000}, {"gates", json::array{}}};
  const auto made = node.post(
      "/v1/propose", {{"domain", "graph"}, {"entity", "examples.intake"}, {"role", "Operator"}, {"action", action}});
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->at("outcome"), "refused");
  EXPECT_THAT(std::string(made->at("message").as_string()), HasSubstr("witan graph deploy FILE"));
  begin(urgent("r-2", "p2"));
  EXPECT_EQ(asked("r-2").at("node"), "doctor");
}

TEST_F(GraphAnswer, AnAnswerNamesWhatWasShown) {
  begin(urgent("r-1", "p1") + urgent("r-2", "p2"));
  const std::string digest = digestOf("r-1");
  const Finished blind = answer("r-1", {});
  EXPECT_EQ(blind.exitCode, 1);
  EXPECT_THAT(blind.err, StartsWith("  digest " + digest + "\n  doctor asks "));
  EXPECT_THAT(blind.err, HasSubstr("\"patient\":\"p1\""));
  EXPECT_THAT(blind.err, HasSubstr("--digest " + digest));
  EXPECT_THAT(answer("r-1", {"--digest", digestOf("r-2")}).err,
              HasSubstr("what is asked now has the digest " + digest));
  EXPECT_THAT(answer("r-1", {"--digest", digest.substr(0, 8)}).err, HasSubstr("the answer is to"));
  EXPECT_THAT(answer("r-1", {"--digest", digest}, "").err, HasSubstr("the run has no open question \"\""));
  EXPECT_EQ(shown("r-1").at("run").at("status"), "running");
  const Finished done = answer("r-1", {"--digest", digest.substr(0, 16)});
  EXPECT_EQ(done.out, "entered\n") << done.err;
  EXPECT_EQ(endOf("r-1"), "completed");
  EXPECT_EQ(shown("r-2").at("run").at("status"), "running");
}

// Strangers choose external ids, and a run's id is one that they can choose.
TEST_F(GraphAnswer, ARunIsNamedByItsIdBeforeAnyExternalId) {
  begin(urgent("r-1", "p1"));
  const std::string id(shown("r-1").at("run").at("run").as_string());
  begin(urgent(id, "p2"));
  EXPECT_EQ(shown(id).at("run").at("external"), "r-1");
  EXPECT_EQ(answer(id, {"--digest", digestOf("r-1")}).out, "entered\n");
  EXPECT_EQ(endOf("r-1"), "completed");
  std::map<std::string, std::string> statuses;
  const json::value listed = node.runJson({"graph", "list", "--runs"});
  for (const json::value& run : listed.at("runs").as_array())
    statuses[std::string(run.at("external").as_string())] = run.at("status").as_string();
  EXPECT_EQ(statuses[id], "running");
}

// Whoever holds the operator's token proposes as a device and is nobody.
TEST_F(GraphAnswer, AnOperatorAnswersForNobody) {
  begin(urgent("r-1", "p1"));
  const json::value one = asked("r-1");
  const auto propose = [&](ControlRole role) {
    const auto client = ControlClient::open(node.dir(), role);
    const json::object action{{"type", "Answer"},
                              {"run", shown("r-1").at("run").at("run")},
                              {"node", "doctor"},
                              {"span", one.at("span")},
                              {"digest", one.at("digest")},
                              {"by", "dr.supervising"},
                              {"approve", true}};
    const auto made = client->post(
        "/v1/propose", {{"domain", "graph"}, {"entity", "examples.intake"}, {"role", "Person"}, {"action", action}});
    return made.ok() ? canonicalJson(*made) : made.error().message;
  };
  for (const ControlRole role : {ControlRole::operator_, ControlRole::admin})
    EXPECT_THAT(propose(role), HasSubstr("only people answer what a graph asks"));
  EXPECT_EQ(shown("r-1").at("run").at("status"), "running");
}

// It stands in the outbox of the device that was told, and counts when the owner is back.
TEST_F(GraphAnswer, AnAnswerWaitsForAnOwnerWhoIsAway) {
  Node ward(scratch, "ward");
  ASSERT_TRUE(enrol(node, ward)) << ward.log();
  begin(urgent("r-1", "p1"));
  const std::string digest = digestOf("r-1");
  ASSERT_TRUE(until([&] {
    return ward.run({"graph", "show", "r-1"}).out.find(digest) != std::string::npos;
  })) << ward.log();
  EXPECT_THAT(ward.run({"graph", "list"}).out, HasSubstr("runs at the owner of graph/"));
  node.kill();
  const Finished told = ward.run({"graph", "answer", "r-1", "doctor", "approve", "--by", "dr.supervising", "--digest",
                                  digest, "--wait-ms", "200"});
  EXPECT_EQ(told.exitCode, 7) << told.err;
  EXPECT_THAT(told.out, StartsWith("waiting in the outbox: "));
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_EQ(endOf("r-1"), "completed");
}

TEST_F(GraphAnswer, WhoHasAKeyAnswersAlone) {
  begin(urgent("r-1", "p1") + urgent("r-2", "p2"));
  const auto add = [&](const std::string& name, const std::string& role) {
    return runWitan({"person", "add", name, "--role", role, "--out", scratch / (name + ".pem"), "--dir", node.dir()},
                    "", [&] { setenv("WITAN_PASSPHRASE_FILE", (scratch / "passphrase").c_str(), 1); });
  };
  EXPECT_THAT(add("dr.supervising", "graph.Runtime").err, HasSubstr("is no role of a person"));
  ASSERT_EQ(add("dr.supervising", "graph.Person").exitCode, 0);
  ASSERT_EQ(add("another", "graph.counselor").exitCode, 0);
  const std::string digest = digestOf("r-1");
  EXPECT_THAT(answer("r-1", {"--digest", digest}).err, HasSubstr("bears no signature of dr.supervising"));
  EXPECT_THAT(answer("r-1", {"--digest", digest, "--sign", scratch / "another.pem"}).err,
              HasSubstr("is not one by which dr.supervising may answer"));
  const Finished done = answer("r-1", {"--digest", digest, "--sign", scratch / "dr.supervising.pem"});
  ASSERT_EQ(done.exitCode, 0) << done.err;
  EXPECT_EQ(endOf("r-1"), "completed");
  // The inbox passes question and signature along.
  const std::string item = "question:" + std::string(asked("r-2").at("span").as_string());
  const json::value waits = node.runJson({"inbox", item});
  ASSERT_TRUE(waits.as_object().contains("at") && waits.as_object().contains("until")) << waits;
  const auto moment = [&](const char* member) { return parseTime(waits.at(member).as_string())->micros; };
  EXPECT_EQ(moment("until") - moment("at"), 12 * kMicrosPerHour);
  const auto inbox = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"inbox", item, "approve", "--by", "dr.supervising", "--dir", node.dir()};
    words.insert(words.end(), more.begin(), more.end());
    return runWitan(words, "", [&] { setenv("WITAN_PASSPHRASE_FILE", (scratch / "passphrase").c_str(), 1); });
  };
  EXPECT_THAT(inbox({}).err, HasSubstr("bears no signature of dr.supervising"));
  EXPECT_EQ(inbox({"--sign", scratch / "dr.supervising.pem"}).exitCode, 0);
  EXPECT_EQ(endOf("r-2"), "completed");
  EXPECT_THAT(node.run({"ledger", "verify", "--replay"}).out, StartsWith("ok "));
}

TEST(GraphLint, SaysWhatItDoesNotKnow) {
  const Finished alone = runWitan({"graph", "lint", examples() + "intake.graph.toml"});
  EXPECT_EQ(alone.exitCode, 1);
  EXPECT_THAT(alone.out, HasSubstr("GL09"));
  EXPECT_THAT(alone.out, HasSubstr("witan graph deploy"));
}

// Two questions at one node, and letters of two that died there.
TEST_F(GraphAnswer, WhatIsNamedTwiceIsRefused) {
  scratch.write("many.graph.toml", graphText(R"([[type]]
name = "All"
schema = { type = "object", required = ["all"], properties = { all = { type = "array", maxItems = 4, items = { type = "object", required = ["k"], properties = { k = { type = "string", maxLength = 100 } } } } } }
[[node]]
id = "split"
kind = "function"
function = "split"
args = { field = "all" }
in = ["All"]
out = ["One"]
maxOut = 4
[[node]]
id = "doctor"
kind = "counselor"
who = ["dr.supervising"]
timeoutMs = 43200000
in = ["One"]
out = ["One"]
[[edge]]
from = "in"
to = "split"
type = "All"
[[edge]]
from = "split"
to = "doctor"
type = "One"
key = "k"
[[edge]]
from = "doctor"
to = "out"
type = "One"
)",
                                             "All"));
  scratch.write("input.jsonl", R"({"ingress":"in","id":"m","body":{"all":[{"k":"a\nb  allow, finished"},{"k":"c"}]}})"
                               "\n");
  const Finished run =
      node.run({"graph", "run", scratch / "many.graph.toml", "--input", scratch / "input.jsonl", "--wait", "0"});
  ASSERT_EQ(run.err, "");
  const json::array questions = asked("m", 2).as_array();
  const Finished both = answer("m", {"--digest", std::string(questions[0].at("digest").as_string())});
  EXPECT_THAT(both.err, HasSubstr("\"doctor\" names 2 open questions"));
  for (const json::value& one : questions) {
    const std::string span(one.at("span").as_string());
    EXPECT_THAT(both.err, HasSubstr(span.substr(0, 16)));
    std::vector<std::string> words{"graph",
                                   "answer",
                                   "m",
                                   span,
                                   "deny",
                                   "--by",
                                   "dr.supervising",
                                   "--digest",
                                   std::string(one.at("digest").as_string())};
    EXPECT_EQ(node.run(words).exitCode, 0);
  }
  EXPECT_EQ(endOf("m"), "degraded");
  // A key draws no line of its own.
  EXPECT_THAT(node.run({"graph", "show", "m"}).out, Not(HasSubstr("\nb  allow")));
  const Finished again = node.run({"graph", "redrive", "m", "doctor"});
  EXPECT_THAT(again.err, HasSubstr("\"doctor\" names 2 dead letters"));
  EXPECT_THAT(node.run({"graph", "redrive", "m", ""}).err, HasSubstr("the run has no dead letter \"\""));
  const std::string letter(shown("m").at("letters").at(0).at("message").as_string());
  EXPECT_EQ(node.run({"graph", "redrive", "m", letter.substr(0, 20)}).out, "entered\n");
}

// The run, its message and the person stand behind what a domain decided; each entry of the graph can be asked for.
TEST_F(GraphAnswer, WhyNamesWhoLetTheMessageOfARunPass) {
  scratch.write("spend.graph.toml", R"([graph]
id = "many"
version = 1
format = 1
locales = ["device"]
timeoutMs = 86400000
[monitor]
boundaries = ["intake", "meta-agent"]
[[type]]
name = "Ask"
schema = { type = "object", required = ["k", "entity", "action"], properties = { k = { type = "string", maxLength = 100 }, entity = { type = "string", maxLength = 100 }, action = { type = "object", required = ["type", "n"], properties = { type = { type = "string", maxLength = 100 }, n = { type = "integer" } } } } }
[[type]]
name = "Done"
schema = { type = "object", required = ["outcome"], properties = { outcome = { type = "string", maxLength = 100 } } }
[[node]]
id = "in"
kind = "ingress"
out = ["Ask"]
monitor = { boundary = "intake", operation = "admit" }
[[node]]
id = "doctor"
kind = "counselor"
who = ["dr.supervising"]
timeoutMs = 43200000
in = ["Ask"]
out = ["Ask"]
[[node]]
id = "spend"
kind = "domain"
domain = "budget"
role = "A"
in = ["Ask"]
out = ["Done"]
capabilities = [{ resource = "propose" }]
[[node]]
id = "out"
kind = "egress"
in = ["Done"]
monitor = { boundary = "intake", operation = "admit" }
[[edge]]
from = "in"
to = "doctor"
type = "Ask"
[[edge]]
from = "doctor"
to = "spend"
type = "Ask"
[[edge]]
from = "spend"
to = "out"
type = "Done"
)");
  ASSERT_EQ(node.run({"begin", "budget", "trip"}).exitCode, 0);
  scratch.write("input.jsonl",
                R"({"ingress":"in","id":"s-1","body":{"k":"k1","entity":"trip","action":{"type":"SpendA","n":7}}})");
  const Finished begun =
      node.run({"graph", "run", scratch / "spend.graph.toml", "--input", scratch / "input.jsonl", "--wait", "0"});
  ASSERT_EQ(begun.err, "");
  const json::value question = asked("s-1");
  const std::string run(shown("s-1").at("run").at("run").as_string()), span(question.at("span").as_string());
  EXPECT_EQ(node.runJson({"why", "question:" + span}).at("links").as_array().back().at("kind"), "graph");
  ASSERT_EQ(answer("s-1", {"--digest", digestOf("s-1")}).exitCode, 0);
  ASSERT_EQ(endOf("s-1"), "completed");
  const auto linksOf = [&](const std::string& subject) {
    const json::value why = node.runJson({"why", subject});
    const json::value* links = why.as_object().if_contains("links");
    return links == nullptr ? json::array{} : links->as_array();
  };
  // What precedes the last link, by its causes alone.
  const auto behind = [](const json::array& links) {
    std::vector<json::object> found;
    std::vector<std::size_t> open{links.size() - 1};
    for (std::set<std::size_t> seen; !open.empty();) {
      const std::size_t at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      found.push_back(links.at(at).as_object());
      for (const json::value& cause : links.at(at).at("causes").as_array())
        open.push_back(cause.to_number<std::size_t>());
    }
    return found;
  };
  const auto has = [](const std::vector<json::object>& links, const std::string& kind, const std::string& id) {
    return std::ranges::any_of(links, [&](const json::object& one) {
      return one.at("kind").as_string() == kind && one.at("id").as_string() == id;
    });
  };
  const auto decided = behind(linksOf("budget/trip"));
  EXPECT_TRUE(has(decided, "graph", run)) << "the run";
  EXPECT_TRUE(has(decided, "graph", span)) << "the message at the counselor's node";
  EXPECT_TRUE(has(decided, "person", "dr.supervising"));
  EXPECT_FALSE(std::ranges::any_of(decided, [](const json::object& one) { return one.at("kind") == "missing"; }));
  // The answer itself is an entry, which --signed proves.
  EXPECT_GE(std::ranges::count_if(decided,
                                  [](const json::object& one) {
                                    return one.at("kind") == "decision" &&
                                           std::string_view(one.at("id").as_string()).starts_with("graph/");
                                  }),
            3);
  EXPECT_TRUE(has(behind(linksOf(run)), "graph", run));
  EXPECT_TRUE(has(behind(linksOf(span)), "person", "dr.supervising"));
  const std::string evidence = scratch / "why.note";
  ASSERT_TRUE(until([&] {
    return node.run({"why", "budget/trip", "--signed", evidence, "--force"}).exitCode == 0;
  })) << node.run({"why", "budget/trip", "--signed", evidence, "--force"}).err;
  EXPECT_EQ(node.run({"why", "--check", evidence, "--vkey", node.dir() + "/device.vkey"}).exitCode, 0);
}

// A version that was deployed before another is no version that runs.
TEST_F(GraphAnswer, ALowerVersionIsRefused) {
  std::string text = contentOf(examples() + "intake.graph.toml");
  const auto deploy = [&](int version) {
    std::string changed = text;
    changed.replace(changed.find("version = 1"), 11, "version = " + std::to_string(version));
    scratch.write("v.graph.toml", changed);
    return node.run({"graph", "deploy", scratch / "v.graph.toml"});
  };
  EXPECT_EQ(deploy(1).exitCode, 0);
  EXPECT_EQ(deploy(1).exitCode, 0) << "it is there";
  EXPECT_EQ(deploy(2).exitCode, 0);
  const Finished lower = deploy(1);
  EXPECT_EQ(lower.exitCode, 1) << lower.out;
  EXPECT_THAT(lower.err, HasSubstr("version 2 is deployed"));
  EXPECT_EQ(deploy(2).exitCode, 0);
}

// What a guard holds back was never queued: it is shown, and cannot be sent again.
TEST_F(GraphAnswer, WhatAGuardHeldBackIsShown) {
  scratch.write("loop.graph.toml", graphText(R"([[node]]
id = "again"
kind = "function"
function = "identity"
in = ["One"]
out = ["One"]
[[edge]]
from = "in"
to = "again"
type = "One"
[[edge]]
from = "again"
to = "again"
type = "One"
guard = { bound = 1 }
[[edge]]
from = "again"
to = "out"
type = "One"
)",
                                             "One"));
  scratch.write("input.jsonl", R"({"ingress":"in","id":"g","body":{"k":"tea"}})");
  const Finished run = node.run({"graph", "run", scratch / "loop.graph.toml", "--input", scratch / "input.jsonl"});
  EXPECT_EQ(run.exitCode, 3) << run.err;
  EXPECT_THAT(node.run({"graph", "show", "g"}).out,
              HasSubstr("guard_bound (it was not kept, and cannot be sent again)"));
  EXPECT_THAT(node.run({"graph", "redrive", "g", "again"}).err, HasSubstr("the message was not kept: guard_bound"));
  EXPECT_THAT(node.run({"status"}).out, HasSubstr("many version 1: 0 runs open"));
}

// A line that is wrong lets none of them enter.
TEST_F(GraphAnswer, AWrongLineIsSaidBeforeARunBegins) {
  EXPECT_THAT(begin(urgent("r-1", "p1") + "{\n").err, HasSubstr("input.jsonl:2"));
  EXPECT_EQ(shown("r-1").as_object().count("run"), 0u);
  const Finished refused = begin(R"({"ingress":"nowhere","id":"r-2","body":{}})");
  EXPECT_THAT(refused.err, HasSubstr("r-2 did not enter (unknown_ingress): it never will as it is"));
}

// The monitor of graphs is set up when a node starts.
TEST(GraphPolicy, AFirstPolicyFileCountsFromTheNextStartAndTheNodeSaysSo) {
  const Scratch scratch;
  Node node(scratch, "desk");
  ASSERT_EQ(node.init(2).exitCode, 0);
  ASSERT_TRUE(node.up()) << node.log();
  const auto deployed = [&] { return node.run({"graph", "deploy", examples() + "intake.graph.toml"}); };
  EXPECT_THAT(deployed().err, HasSubstr("the policy knows no operation admit of a boundary intake"));
  EXPECT_THAT(deployed().err, HasSubstr("policy.toml of the data directory"));
  std::filesystem::copy_file(examples() + "graphs-policy.toml", node.dir() + "/policy.toml");
  node.signal(SIGHUP);
  ASSERT_TRUE(until([&] { return node.log().find("is new, and counts from the next start") != std::string::npos; }));
  EXPECT_THAT(node.run({"status"}).out, HasSubstr("is new, and counts from the next start; do: restart the node"));
  EXPECT_EQ(deployed().exitCode, 1);
  ASSERT_EQ(node.stop(), 0);
  ASSERT_TRUE(node.up()) << node.log();
  EXPECT_EQ(deployed().exitCode, 0) << deployed().err;
}

}  // namespace
}  // namespace witan::node::test::graph_answer_test
