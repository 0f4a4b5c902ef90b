// The tree of a run's spans, as people see it.
#include "cli/format/graph_run.h"

#include <gtest/gtest.h>

#include "domains/graph/actions.h"

namespace witan::node::graph_run_test {
namespace {

TEST(GraphRun, EachSpanStandsBelowItsCause) {
  const json::value steps =
      parseJson(R"([
    {"seq":1,"action":{"type":"Begin","run":"r","message":"m1","key":"k"}},
    {"seq":2,"action":{"type":"Deliver","message":"m1","node":"in","span":"aaaaaaaaaa","attempt":1}},
    {"seq":3,"action":{"type":"Verdict","span":"aaaaaaaaaa","verdict":"allow"}},
    {"seq":4,"action":{"type":"Finish","span":"aaaaaaaaaa","model":"writer@1/aa","tokens":7,"sends":[{"message":"m2","key":"k"},{"message":"m3","key":"l"}]}},
    {"seq":5,"time":"2026-03-20T09:00:00Z","action":{"type":"Deliver","message":"m2","node":"work","span":"bbbbbbbbbb","attempt":1}},
    {"seq":6,"action":{"type":"Fail","span":"bbbbbbbbbb","why":"timeout"}},
    {"seq":7,"time":"2026-03-20T09:00:02Z","action":{"type":"Deliver","message":"m2","node":"work","span":"bbbbbbbbbb","attempt":2}},
    {"seq":8,"action":{"type":"Redrive","message":"m3"}},
    {"seq":9,"action":{"type":"Deliver","message":")" +
                domains::graph::redrivenId("m3") + R"(","node":"out","span":"cccccccccc","attempt":1}},
    {"seq":10,"action":{"type":"Effect","span":"cccccccccc","tool":"mail","operation":"cccccccccc","found":true}},
    7, {}, {"action":3}])")
          .value();
  EXPECT_EQ(spanTree(steps.as_array()),
            "in  k  allow, finished, by writer@1, 7 tokens  0 ms  [span aaaaaaaa, entries 2 to 4]\n"
            "  work  k  2 attempts, failed: timeout  2000 ms  [span bbbbbbbb, entries 5 to 7]\n"
            "out  l  mail cccccccc (found)  0 ms  [span cccccccc, entries 9 to 10]\n");
}

// What somebody chose as a key, or a tool said, draws no line of its own; why a span died stands beside it.
TEST(GraphRun, TextsOfOthersStayInTheirLine) {
  const json::value steps = parseJson(R"([
    {"seq":1,"action":{"type":"Begin","run":"r","message":"m1","key":"k\n    out  k  allow, finished"}},
    {"seq":2,"action":{"type":"Deliver","message":"m1","node":"in","span":"aaaaaaaaaa","attempt":1}},
    {"seq":3,"action":{"type":"Fail","span":"aaaaaaaaaa","why":"terminal_failure","cause":"refused: no\nentity"}}])")
                                .value();
  EXPECT_EQ(
      spanTree(steps.as_array()),
      "in  k\\n    out  k  allow, finished  failed: terminal_failure (refused: no\\nentity)  0 ms  [span aaaaaaaa, "
      "entries 2 to 3]\n");
}

}  // namespace
}  // namespace witan::node::graph_run_test
