// The rules of a graph's ledger: a lawful one passes, and each rule fires.
#include "sim/check/graph_rules.h"

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string>

#include "base/bytes.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/string_util.h"
#include "kernel/graph/checks.h"
#include "sim/sim_graph.h"

namespace witan::sim::graph_rules_test {
namespace {

// in -> work (again, at most once) -> who, a person -> out.
constexpr const char* kLawful[] = {
    R"({"type":"Deploy","version":1,"digest":"d","deliveries":9,"edges":[["work>work:T",1],["in>work:T",0]],
        "gates":[["in",[]],["who",["ada"]],["out",[]]]})",
    R"({"type":"Begin","run":"r","version":1,"node":"in","external":"x","message":"m0","key":"k","digest":"b"})",
    R"({"type":"Deliver","run":"r","node":"in","message":"m0","span":"s0","attempt":1})",
    R"({"type":"Verdict","run":"r","node":"in","span":"s0","verdict":"allow","token":"","digest":"b"})",
    R"({"type":"Finish","run":"r","node":"in","span":"s0","sends":[
        {"edge":"in>work:T","message":"m1","node":"work","key":"k","digest":"b"},
        {"edge":"in>work:T","message":"m2","node":"work","key":"k","digest":"b"}],"dead":[]})",
    R"({"type":"Deliver","run":"r","node":"work","message":"m1","span":"s1","attempt":1})",
    R"({"type":"Fail","run":"r","node":"work","span":"s1","attempt":1,"why":"error","retryAtMs":5,"dead":[]})",
    R"({"type":"Deliver","run":"r","node":"work","message":"m1","span":"s1","attempt":2})",
    R"({"type":"Finish","run":"r","node":"work","span":"s1","sends":[
        {"edge":"work>work:T","message":"m3","node":"work","key":"j","digest":"b","measures":[["work>work:T",4]]}],
        "dead":[]})",
    R"({"type":"Deliver","run":"r","node":"work","message":"m2","span":"s2","attempt":1})",
    R"({"type":"Fail","run":"r","node":"work","span":"s2","attempt":1,"why":"error",
        "dead":[{"message":"m2","node":"work","key":"k","reason":"attempts_exhausted"}]})",
    R"({"type":"Deliver","run":"r","node":"work","message":"m3","span":"s3","attempt":1})",
    R"({"type":"Finish","run":"r","node":"work","span":"s3","sends":[
        {"edge":"work>who:T","message":"m4","node":"who","key":"k","digest":"b"}],"dead":[]})",
    R"({"type":"Deliver","run":"r","node":"who","message":"m4","span":"s4","attempt":1})",
    R"({"type":"Ask","run":"r","node":"who","span":"s4","digest":"b","why":"counselor"})",
    R"({"type":"Answer","run":"r","node":"who","span":"s4","digest":"b","by":"ada","approve":true})",
    R"({"type":"Finish","run":"r","node":"who","span":"s4","sends":[
        {"edge":"who>out:T","message":"m5","node":"out","key":"k","digest":"b"}],"dead":[]})",
    R"({"type":"Deliver","run":"r","node":"out","message":"m5","span":"s5","attempt":1})",
    R"({"type":"Verdict","run":"r","node":"out","span":"s5","verdict":"allow","token":"","digest":"b"})",
    R"({"type":"Effect","run":"r","node":"out","span":"s5","tool":"t","found":false,"operation":"s5"})",
    R"({"type":"Finish","run":"r","node":"out","span":"s5","sends":[],"dead":[]})",
    R"({"type":"End","run":"r","status":"degraded","deliveries":6,"lost":1,"dead":[]})",
};

using Change = std::function<void(std::vector<json::object>&)>;

std::string verdictOn(
    const Change& change, const CrossingRule& crossing = [](auto, auto, auto&) { return ""; }) {
  std::vector<json::object> steps;
  for (const char* text : kLawful) steps.push_back(parseJson(text).value().as_object());
  change(steps);
  GraphRules rules(crossing);
  for (const json::object& step : steps)
    if (std::string wrong = rules.add(step); !wrong.empty()) return wrong;
  return rules.atRest();
}

Change without(std::size_t n) {
  return [=](auto& steps) { steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(n)); };
}
Change with(std::size_t n, const char* member, json::value value) {
  return [=](auto& steps) { steps[n][member] = value; };
}
Change twice(std::size_t n) {
  return [=](auto& steps) { steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(n), json::object(steps[n])); };
}
Change until(std::size_t n) {
  return [=](auto& steps) { steps.resize(n); };
}

TEST(GraphRules, ALawfulLedgerPasses) {
  EXPECT_EQ(verdictOn([](auto&) {}), "");
  EXPECT_EQ(verdictOn(until(15)), "");  // it waits for a person
}

TEST(GraphRules, G01RunsEndAndGuardsHold) {
  const auto fires = [](const Change& change) { EXPECT_NE(verdictOn(change).find("G-01"), std::string::npos); };
  fires(without(21));
  fires(until(12));
  fires([](auto& steps) {  // twice, where the bound is once
    json::object again = steps[8].at("sends").as_array()[0].as_object();
    again["message"] = "m9";
    steps[8]["sends"].as_array().push_back(again);
  });
  fires([](auto& steps) { steps[0]["deliveries"] = 3; });
  fires([](auto& steps) {  // the measure of the loop stays
    steps[0]["edges"].as_array()[0].as_array()[1] = 9;
    json::object again = steps[8].at("sends").as_array()[0].as_object();
    again["message"] = "m9";
    steps[12]["sends"].as_array().push_back(again);
  });
  fires([](auto& steps) { steps.insert(steps.end() - 3, steps.back()); });
  fires(with(1, "hops", 8));
}

TEST(GraphRules, G02LanesKeepTheirOrder) {
  const auto fires = [](const Change& change) { EXPECT_NE(verdictOn(change).find("G-02"), std::string::npos); };
  fires([](auto& steps) { std::swap(steps[5]["message"], steps[9]["message"]); });
  fires(twice(5));
  fires([](auto& steps) {  // a span begins while one of its lane is open
    steps.insert(steps.begin() + 8, json::object(steps[9]));
  });
  fires(twice(12));
  fires(with(7, "attempt", 3));
  fires([](auto& steps) {
    steps.push_back(json::object{{"type", "Forget"}, {"run", "r"}});
  });                      // as soon as it has ended
  fires([](auto& steps) {  // the same message begins another run
    json::object again = steps[1];
    again["run"] = "another", again["message"] = "m9";
    steps.insert(steps.begin() + 2, again);
  });
  fires([](auto& steps) {  // it goes on in the lane in which a span died
    steps[8]["sends"].as_array()[0].as_object()["key"] = "k";
  });
  const Change dropped = [](auto& steps) {
    steps.resize(9);
    steps[8]["sends"].as_array()[0].as_object()["duplicate"] = true;
  };
  EXPECT_NE(verdictOn(dropped).find("dropped as a duplicate"), std::string::npos) << "no other is in its lane";
  fires([](auto& steps) {  // it dies of that, and none died in its lane
    steps[20]["dead"] = json::array{{{"message", "m9"}, {"node", "who"}, {"key", "k"}, {"reason", "after_failure"}}};
  });
}

TEST(GraphRules, ARunEndsAsWhatWasLostSays) {
  const auto fires = [](const Change& change) { EXPECT_NE(verdictOn(change).find("ends as"), std::string::npos); };
  fires(with(21, "status", "completed"));
  fires([](auto& steps) {  // nothing was lost
    steps.erase(steps.begin() + 9, steps.begin() + 11);
    steps[4]["sends"].as_array().pop_back();
    steps.back()["deliveries"] = 5;
  });
}

TEST(GraphRules, EffectsAreUndoneTheLastOneFirst) {
  // Beside "m4" another message to the person, and so a second effect.
  const auto undone = [](std::initializer_list<const char*> spans) {
    return verdictOn([&](auto& steps) {
      json::object sent = steps[12].at("sends").as_array()[0].as_object();
      sent["message"] = "n4", sent["key"] = "l";
      steps[12]["sends"].as_array().push_back(sent);
      std::vector<json::object> more;
      for (std::size_t n = 13; n <= 20; ++n) {
        json::object step = steps[n];
        for (const char* member : {"message", "span", "operation"})
          if (step.contains(member)) step[member] = "n" + std::string(step[member].as_string()).substr(1);
        if (n == 16) step["sends"].as_array()[0].as_object()["message"] = "n5";
        more.push_back(std::move(step));
      }
      for (const char* span : spans)
        more.push_back(parseJson(concat(R"({"type":"Compensate","run":"r","node":"out","span":")", span,
                                        R"(","operation":"u","tool":"t"})"))
                           ->as_object());
      steps.insert(steps.begin() + 21, more.begin(), more.end());
      steps.back()["deliveries"] = 8;
    });
  };
  EXPECT_EQ(undone({"n5", "s5"}), "");
  EXPECT_EQ(undone({"n5"}), "");
  EXPECT_NE(undone({"s5", "n5"}).find("before a later one"), std::string::npos);
  EXPECT_NE(undone({"n5", "n5"}).find("not there"), std::string::npos);
}

TEST(GraphRules, ARunIsStoppedForItsTimeOnlyWhenThatIsOver) {
  const auto stoppedAfter = [](std::int64_t ms, std::int64_t sentAgainMs) {
    GraphRules rules([](auto, auto, auto&) { return ""; });
    const auto add = [&](const char* text, std::int64_t atMs) { return rules.add(parseJson(text)->as_object(), atMs); };
    EXPECT_EQ(add(kLawful[0], 0), "");
    rules.timeout(1, 100);
    EXPECT_EQ(add(kLawful[1], 1'000), "");
    EXPECT_EQ(add(kLawful[2], 1'000), "");
    EXPECT_EQ(add(R"({"type":"Fail","run":"r","node":"in","span":"s0","attempt":1,"why":"error",
                      "dead":[{"message":"m0","node":"in","key":"k","reason":"attempts_exhausted"}]})",
                  1'010),
              "");
    if (sentAgainMs > 0) {
      EXPECT_EQ(add(R"({"type":"End","run":"r","status":"degraded","deliveries":1,"lost":1,"dead":[]})", 1'010), "");
      EXPECT_EQ(add(R"({"type":"Redrive","run":"r","message":"m0"})", 1'000 + sentAgainMs), "");
    }
    const std::string again = toHex(sha256("v1|message|m0#1"));
    const std::string dead = concat(R"({"message":")", again, R"(","node":"in","key":"k","reason":"timed_out"})");
    return add(concat(R"({"type":"End","run":"r","status":"timed_out","deliveries":1,"dead":[)",
                      sentAgainMs > 0 ? dead : "", "]}")
                   .c_str(),
               1'000 + ms);
  };
  EXPECT_EQ(stoppedAfter(100, 0), "");
  EXPECT_NE(stoppedAfter(99, 0).find("is stopped 99 ms after"), std::string::npos);
  EXPECT_EQ(stoppedAfter(150, 50), "");
  EXPECT_NE(stoppedAfter(149, 50).find("is stopped 99 ms after"), std::string::npos) << "it went on";
}

TEST(GraphRules, G03NothingCrossesUnjudged) {
  const auto fires = [](const Change& change) { EXPECT_NE(verdictOn(change).find("G-03"), std::string::npos); };
  fires(without(3));
  fires(with(18, "digest", ""));
  fires(with(18, "verdict", "deny"));
  fires(without(15));
  fires(with(15, "by", "eve"));
  fires(with(15, "digest", "another"));
  fires([](auto& steps) {  // an answer that stands is not heeded
    steps[16] = {{"type", "Fail"}, {"run", "r"}, {"node", "who"}, {"span", "s4"}, {"attempt", 1}};
    steps[16]["why"] = "human_timeout";
  });
  EXPECT_EQ(verdictOn([](auto&) {}, [](auto, auto, auto&) { return "what the policy means"; }),
            "what the policy means");
}

TEST(GraphRules, T2AnEffectStandsOnceUnderItsSpan) {
  const auto fires = [](const Change& change) { EXPECT_NE(verdictOn(change).find("T2"), std::string::npos); };
  fires(twice(19));
  fires(with(19, "operation", "another"));
}

TEST(GraphRules, Law4WhatFailedAttemptsSpendCountsAgainstTheBudget) {
  const auto verdict = [](std::int64_t budget) {
    GraphRules rules([](auto, auto, auto&) { return ""; });
    std::string wrong;
    for (const char* text : kLawful) {
      json::object step = parseJson(text).value().as_object();
      const bool works = step["node"] == "work";
      if (works && step["type"] == "Fail") step["steps"] = 2;
      if (works && step["type"] == "Finish") step["steps"] = 1;
      if (wrong.empty()) wrong = rules.add(step);
      if (step["type"] == "Deploy") rules.budget(1, {{"steps", budget}});
    }
    return wrong;
  };
  EXPECT_EQ(verdict(6), "");
  EXPECT_NE(verdict(5).find("law 4"), std::string::npos);
}

TEST(GraphRules, ASpanIsOpenFromItsDeliveryToItsEnd) {
  GraphRules rules([](auto, auto, auto&) { return ""; });
  std::map<std::string, std::string> seen;  // by span: after each step whether it was open
  for (const char* text : kLawful) {
    ASSERT_EQ(rules.add(parseJson(text).value().as_object()), "");
    for (const char* span : {"s1", "s2", "no span"}) seen[span] += rules.isOpen(span) ? 'o' : '.';
  }
  EXPECT_EQ(seen["s1"].find('o'), 5u);
  EXPECT_EQ(seen["s1"].rfind('o'), 7u);
  EXPECT_EQ(seen["s2"], ".........o............");
  EXPECT_EQ(seen["no span"].find('o'), std::string::npos);
}

// What runs in the simulator is what a node would deploy.
TEST(SimGraph, EachVersionPassesTheChecks) {
  const graph::Environment environment = simGraphEnvironment();
  std::set<std::string> shapes;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (std::int64_t version = 1; version < 4; ++version) {
      const graph::Checked checked = graph::checkGraph(simGraph(seed, version, seed % 2 == 1), environment);
      for (const graph::Finding& one : checked.errors)
        ADD_FAILURE() << seed << " " << version << ": " << one.id << " " << one.place << " " << one.message;
      ASSERT_NE(checked.document, nullptr);
      std::string nodes;
      for (const graph::Node& node : checked.document->nodes) nodes += node.id + " ";
      shapes.insert(nodes);
    }
  EXPECT_EQ(shapes.size(), 16u);
  std::set<std::string> broken;
  for (std::uint64_t n = 0; n < 12; ++n) {
    const auto errors = graph::checkGraph(brokenSimGraph(1, 1, n), environment).errors;
    EXPECT_FALSE(errors.empty()) << n;
    for (const graph::Finding& one : errors) broken.insert(one.id);
  }
  EXPECT_EQ(broken.size(), 13u);
}

// What senders are told: only what has the form of the ingress's type is taken, and it is not refused for its form.
TEST(GraphAnswers, FitTheFormOfTheMessage) {
  const char* fits = R"({"topic":"of twenty characters","left":0,"lot":1,"mood":9,"private":"p"})";
  EXPECT_EQ(checkGraphAnswer({.isMessage = true, .body = fits, .taken = true}), "");
  EXPECT_EQ(checkGraphAnswer({.isMessage = true, .body = fits, .why = "backpressure"}), "");
  EXPECT_NE(checkGraphAnswer({.isMessage = true, .body = fits, .why = "schema"}), "");
  for (const char* bad :
       {R"({"topic":"twenty-one characters","left":0,"lot":1,"mood":9})", R"({"topic":"t","left":10,"lot":1,"mood":9})",
        R"({"topic":"t","left":0,"lot":1,"mood":-1})", R"({"topic":"t","lot":1,"mood":0})",
        R"({"topic":"t","left":0,"mood":0})", R"({"topic":"t","left":0,"lot":10,"mood":0})",
        R"({"topic":"t","left":0,"lot":1,"mood":0,"more":1})", R"({"topic":1,"left":0,"lot":1,"mood":0})",
        R"({"topic":"t","left":0,"lot":1,"mood":0,"private":1})", "[]"}) {
    EXPECT_NE(checkGraphAnswer({.isMessage = true, .body = bad, .taken = true}), "") << bad;
    EXPECT_EQ(checkGraphAnswer({.isMessage = true, .body = bad, .why = "schema"}), "") << bad;
  }
  // What the simulator sends is both.
  std::size_t refused = 0;
  for (std::uint64_t n = 0; n < 200; ++n)
    refused +=
        checkGraphAnswer({.isMessage = true, .body = canonicalJson(simGraphMessage(n)), .taken = true}).empty() ? 0 : 1;
  EXPECT_GT(refused, 5u);
  EXPECT_LT(refused, 60u);
}

TEST(GraphAnswers, OfGraphsInOrderDeployThem) {
  EXPECT_EQ(checkGraphAnswer({.why = "the owner is another device"}), "");
  EXPECT_NE(checkGraphAnswer({.why = "the owner of the graph may not deploy it: GL03"}), "");
}

}  // namespace
}  // namespace witan::sim::graph_rules_test
