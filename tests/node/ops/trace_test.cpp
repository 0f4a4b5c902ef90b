// Traces: W3C trace context (https://www.w3.org/TR/trace-context/, section 3.2.2), the JSON of OTLP/HTTP as the
// official JavaScript exporter writes it, and a collector that is slow or absent.
#include <gtest/gtest.h>

#include "net/http_server.h"
#include "node/telemetry/tracer.h"
#include "tests/node/node_process.h"

namespace witan::node::trace_test {
namespace {

using namespace test;

constexpr const char* kTraceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

TEST(TraceContextOfW3c, IsReadAndWrittenAsTheSpecificationSays) {
  const auto context = parseTraceparent(kTraceparent);
  ASSERT_TRUE(context);
  EXPECT_EQ(*context, (TraceContext{"0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", true}));
  EXPECT_EQ(formatTraceparent(*context), kTraceparent);
  EXPECT_FALSE(parseTraceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")->sampled);
  EXPECT_TRUE(parseTraceparent("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-will-be"));
  for (const char* bad : {"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
                          "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                          "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                          "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
                          "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
    EXPECT_FALSE(parseTraceparent(bad)) << bad;
}

TEST(TraceIds, FollowFromTheOperationAlone) {
  EXPECT_EQ(derivedTraceId("op-1"), derivedTraceId("op-1"));
  EXPECT_NE(derivedTraceId("op-1"), derivedTraceId("op-2"));
  EXPECT_NE(derivedSpanId("op-1", "a"), derivedSpanId("op-1", "b"));
  EXPECT_TRUE(parseTraceparent("00-" + derivedTraceId("op-1") + "-" + derivedSpanId("op-1", "a") + "-01"));
}

// Ids in hex, times as decimal strings, intValue as a string, enums as numbers, names in lowerCamelCase.
TEST(OtlpJson, HasTheShapeOfTheSpecification) {
  Span span{"0af7651916cd43dd8448eb211c80319c",
            "b7ad6b7169203331",
            "00f067aa0ba902b7",
            "POST /v1/propose",
            SpanKind::server,
            Time{1'700'000'000'000'001},
            Time{1'700'000'000'000'502}};
  span.attributes = {{"a", std::string("text")}, {"b", std::int64_t{7}}, {"c", true}};
  span.links = {{"11111111111111111111111111111111", "2222222222222222", true}};
  span.error = "why";
  const std::string golden =
      std::string(R"({"resourceSpans":[{"resource":{"attributes":[)") +
      R"({"key":"service.name","value":{"stringValue":"witan"}},)" +
      R"({"key":"service.version","value":{"stringValue":")" + WITAN_VERSION + R"("}},)" +
      R"({"key":"service.instance.id","value":{"stringValue":"device"}},)" +
      R"({"key":"host.name","value":{"stringValue":"name"}}]},)" +
      R"("scopeSpans":[{"scope":{"name":"witan","version":")" + WITAN_VERSION + R"("},"spans":[{)" +
      R"("attributes":[{"key":"a","value":{"stringValue":"text"}},)" +
      R"({"key":"b","value":{"intValue":"7"}},{"key":"c","value":{"boolValue":true}}],)" +
      R"("endTimeUnixNano":"1700000000000502000","kind":2,)" +
      R"("links":[{"spanId":"2222222222222222","traceId":"11111111111111111111111111111111"}],)" +
      R"("name":"POST /v1/propose","parentSpanId":"00f067aa0ba902b7",)" +
      R"("spanId":"b7ad6b7169203331","startTimeUnixNano":"1700000000000001000",)" +
      R"("status":{"code":2,"message":"why"},)" + R"("traceId":"0af7651916cd43dd8448eb211c80319c"}]}]}]})";
  EXPECT_EQ(canonicalJson(otlpRequest({"device", "name"}, {span})), golden);
}

// A collector in this process.
struct Collector {
  Collector()
      : server(loop, {}, [this](const net::HttpRequest& request, std::shared_ptr<net::HttpReply> reply) {
          paths.insert(request.path);
          types.insert(request.headers.at("content-type"));
          const auto body = parseJson(request.body, {.bytes = 4 << 20, .depth = 32});
          for (const json::value& group : body->at("resourceSpans").as_array())
            for (const json::value& scope : group.at("scopeSpans").as_array())
              for (const json::value& span : scope.at("spans").as_array()) spans.push_back(span);
          reply->answer({status, "application/json", {}, "{}"});
        }) {
    address = *server.listen("127.0.0.1:0");
  }
  const json::value* find(std::string_view name) const {
    for (const json::value& span : spans)
      if (span.at("name").as_string() == name) return &span;
    return nullptr;
  }
  net::Loop loop;
  int status = 200;
  std::set<std::string> paths, types;
  std::vector<json::value> spans;
  net::HttpServer server;
  std::string address;
};

Log& silent() {
  static Log log(
      LogLevel::error, false, [] { return Time{}; }, [](std::string_view) {});
  return log;
}

void askOne(Tracer& tracer, const std::string& operation, const std::string& traceparent = {}) {
  const auto asked =
      tracer.asked({"/v1/propose", operation, "udt", "LabOrder", "udt/1", "me", traceparent}, Time{1000});
  Answer answer;
  answer.operationId = operation;
  answer.outcome = kernel::Outcome::approved;
  answer.seq = 3;
  tracer.answered(asked, Result<Answer>(answer), Time{2000});
}

TEST(Tracer, SendsSpansThatHangTogetherAlsoInACallersTrace) {
  Collector collector;
  auto tracer = Tracer::open(collector.loop, silent(), "http://" + collector.address, {"me", "lab"});
  ASSERT_TRUE(tracer.ok());
  askOne(**tracer, "op-1");
  kernel::EntryView entry;
  entry.operationId = "op-1";
  entry.seq = 3;
  entry.time = Time{1500};
  (*tracer)->entry("udt/1", entry, true, Time{1700});
  ASSERT_TRUE(collector.loop.runUntil([&] { return collector.spans.size() == 3; }, 30'000));
  EXPECT_EQ(collector.paths, std::set<std::string>{"/v1/traces"});
  EXPECT_EQ(collector.types, std::set<std::string>{"application/json"});
  const json::value server = *collector.find("POST /v1/propose"), route = *collector.find("witan.route");
  const json::value decide = *collector.find("witan.decide");
  EXPECT_EQ(route.at("parentSpanId"), server.at("spanId"));
  EXPECT_EQ(decide.at("parentSpanId"), route.at("spanId"));
  for (const json::value& span : collector.spans) EXPECT_EQ(span.at("traceId").as_string(), derivedTraceId("op-1"));
  collector.spans.clear();
  askOne(**tracer, "op-2", kTraceparent);
  askOne(**tracer, "op-3", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");  // not sampled
  ASSERT_TRUE(collector.loop.runUntil([&] { return collector.spans.size() >= 2; }, 30'000));
  EXPECT_EQ(collector.spans.size(), 2u);
  const json::value foreign = *collector.find("POST /v1/propose");
  EXPECT_EQ(foreign.at("traceId").as_string(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(foreign.at("parentSpanId").as_string(), "b7ad6b7169203331");
  EXPECT_EQ(foreign.at("links").as_array().at(0).at("traceId").as_string(), derivedTraceId("op-2"));
  entry.operationId = "op-2";
  (*tracer)->entry("udt/1", entry, true, Time{1700});
  ASSERT_TRUE(collector.loop.runUntil([&] { return collector.spans.size() >= 3; }, 30'000));
  EXPECT_EQ(collector.find("witan.decide")->at("traceId").as_string(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ((*tracer)->dropped(), 0u);
}

TEST(Tracer, DropsAndCountsWhatACollectorDoesNotTake) {
  Collector collector;
  collector.status = 503;
  auto tracer = Tracer::open(collector.loop, silent(), "http://" + collector.address + "/in", {"me", "lab"});
  ASSERT_TRUE(tracer.ok());
  for (int i = 0; i < 3000; ++i) askOne(**tracer, "op-" + std::to_string(i));
  EXPECT_EQ((*tracer)->dropped(), 6000u - 4096u);
  ASSERT_TRUE(collector.loop.runUntil([&] { return (*tracer)->dropped() >= 6000u - 4096u + 512u; }, 30'000));
  EXPECT_EQ((*tracer)->exported(), 0u);
  EXPECT_EQ(collector.paths, std::set<std::string>{"/in"});
  for (const char* bad : {"", "localhost:4318", "https://localhost:4318", "http://localhost", "http://:1"})
    EXPECT_FALSE(Tracer::open(collector.loop, silent(), bad, {"me", "lab"}).ok()) << bad;
}

// The whole way, with a real node.
TEST(TracesOfANode, ReachTheCollectorFromProposalToLedgerEntry) {
  Collector collector;
  Scratch scratch;
  Node node(scratch, "one");
  ASSERT_EQ(node.init(2).exitCode, 0);
  ASSERT_TRUE(node.up({}, [&] { ::setenv("WITAN_TRACE_OTLP", ("http://" + collector.address).c_str(), 1); }))
      << node.log();
  ASSERT_EQ(node.run({"begin", "budget", "B"}).exitCode, 0);
  ASSERT_EQ(node.run({"propose", "budget", "B", "A", R"({"type":"SpendA","n":1})", "--operation-id", "op-1"}).exitCode,
            0);
  const auto names = [&] {
    std::set<std::string> found;
    for (const json::value& span : collector.spans)
      if (span.at("traceId").as_string() == derivedTraceId("op-1")) found.emplace(span.at("name").as_string());
    return found;
  };
  (void)collector.loop.runUntil([&] { return names().size() == 3; }, 30'000);
  EXPECT_EQ(names(), (std::set<std::string>{"POST /v1/propose", "witan.decide", "witan.route"})) << node.log();
  EXPECT_EQ(node.stop(), 0);
}

}  // namespace
}  // namespace witan::node::trace_test
