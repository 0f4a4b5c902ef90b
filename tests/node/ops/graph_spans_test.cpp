// Runs of graphs as spans: ids that follow from the run's own, parents that are those who sent the message.
#include "node/telemetry/graph_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace witan::node::graph_spans_test {
namespace {

std::string id(char c) { return std::string(64, c); }

TEST(GraphSpans, ARunIsATraceAndEachSpanTheChildOfItsSender) {
  GraphSpans spans;
  std::vector<Span> made;
  std::int64_t second = 0;
  const auto enter = [&](json::object action) {
    const std::string text = canonicalJson(action);
    kernel::EntryView entry;
    entry.entity = "clinic", entry.action = text, entry.time = Time{++second * 1'000'000};
    for (Span& span : spans.ended(entry)) made.push_back(std::move(span));
  };
  const std::string run = std::string(32, 'a') + std::string(32, 'b');
  const auto deliver = [&](const char* node, char message, char span, int attempt = 1) {
    enter({{"type", "Deliver"},
           {"run", run},
           {"node", node},
           {"message", id(message)},
           {"span", id(span)},
           {"attempt", attempt}});
  };
  enter(
      {{"type", "Deliver"}, {"run", id('f')}, {"node", "in"}, {"message", id('9')}, {"span", id('8')}, {"attempt", 1}});
  enter({{"type", "Begin"},
         {"run", run},
         {"version", 1},
         {"node", "in"},
         {"external", "x"},
         {"message", id('1')},
         {"key", "David"},
         {"digest", id('d')}});
  deliver("in", '1', '2');
  const json::object sent{
      {"edge", "in>work:T"}, {"message", id('3')}, {"node", "work"}, {"key", "David"}, {"digest", id('d')}};
  enter({{"type", "Finish"}, {"run", run}, {"node", "in"}, {"span", id('2')}, {"sends", json::array{sent}}});
  deliver("work", '3', '4');
  enter({{"type", "Fail"},
         {"run", run},
         {"node", "work"},
         {"span", id('4')},
         {"attempt", 1},
         {"why", "timeout"},
         {"retryAtMs", 7}});
  deliver("work", '3', '4', 2);
  enter({{"type", "Fail"}, {"run", run}, {"node", "work"}, {"span", id('4')}, {"attempt", 2}, {"why", "timeout"}});
  enter({{"type", "End"}, {"run", run}, {"status", "degraded"}, {"deliveries", 2}, {"lost", 1}});
  ASSERT_EQ(made.size(), 3u);
  for (const Span& span : made) EXPECT_EQ(span.traceId, std::string(32, 'a'));
  EXPECT_EQ(made[0].spanId, std::string(16, '2'));
  EXPECT_EQ(made[0].parentSpanId, std::string(16, 'b'));
  EXPECT_EQ(made[0].error, "");
  EXPECT_EQ(made[1].spanId, std::string(16, '4'));
  EXPECT_EQ(made[1].parentSpanId, std::string(16, '2'));
  EXPECT_EQ(made[1].error, "timeout");
  EXPECT_EQ(std::get<std::int64_t>(made[1].attributes.at(2).value), 2);
  EXPECT_EQ(made[1].end.micros - made[1].start.micros, 3'000'000);
  EXPECT_EQ(made[2].name, "witan.graph.run");
  EXPECT_EQ(made[2].spanId, std::string(16, 'b'));
  EXPECT_EQ(made[2].parentSpanId, "");
  EXPECT_EQ(made[2].error, "degraded");
  EXPECT_EQ(canonicalJson(otlpRequest({"d", "n"}, made)).find("David"), std::string::npos) << "no key leaves";
}

}  // namespace
}  // namespace witan::node::graph_spans_test
