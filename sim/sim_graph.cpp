#include "sim/sim_graph.h"

#include <algorithm>

#include "agents/policy/monitor.h"
#include "base/check.h"
#include "base/seams.h"

namespace witan::sim {

using namespace agents;

namespace {

constexpr std::string_view kTypes = R"("type":[
  {"name":"T","schema":{"type":"object","required":["topic","left","lot","mood"],"properties":{
    "topic":{"type":"string","maxLength":20},"left":{"type":"integer","minimum":0,"maximum":9},
    "lot":{"type":"integer","minimum":0,"maximum":9},
    "mood":{"type":"integer","minimum":0,"maximum":9},"private":{"type":"string","maxLength":20}}}},
  {"name":"Done","schema":{"type":"object","required":["topic","lot"],"properties":{
    "topic":{"type":"string","maxLength":20},"lot":{"type":"integer","minimum":0,"maximum":9},
    "mood":{"type":"integer","minimum":0,"maximum":9}}}}])";

class SimWeaver final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{.id = std::string(kSimWeaver),
                                 .version = "1",
                                 .what = "works in a graph",
                                 .category = "office",
                                 .capabilities = {{"sim.ask"}},
                                 .locale = {"here"},
                                 .budget = {.tokens = 100},
                                 .inGraphs = true};
    return kSpec;
  }

  Turn step(const json::value& sigma, const Input& input) const override {
    if (input.kind != InputKind::wake) return {nullptr, {}, done(sigma.as_object())};
    const json::object& body = input.content.at("graph").at("body").as_object();
    // What failed may succeed when it is sent again: as another span.
    const bool fails = body.at("mood") == 4 && input.content.at("graph").at("span").as_string().back() < '8';
    if (body.at("mood").as_int64() != 9) return {nullptr, {}, woven(body, fails)};
    return {body, {}, Looks{{"sim.ask", {{"about", body.at("topic")}}, 10}}};
  }

 private:
  static Finish done(const json::object& body) {
    Finish finish;
    json::object result = body;
    result.erase("left"), result.erase("private");
    finish.emits = {{"Done", std::move(result)}};
    return finish;
  }
  static Finish woven(json::object body, bool fails) {
    const std::int64_t left = body.at("left").as_int64(), mood = body.at("mood").as_int64();
    Finish finish;
    if (fails) {
      finish.failed = true;
    } else if (mood == 5) {
      finish.emits = {{"Done", json::object{{"topic", 7}}}};
    } else if (mood == 6) {
      finish.emits = {{"T", body}, {"T", body}};
    } else if (mood == 7) {
      finish.emits = {{"T", body}};
      finish.emits.front().type = "Again";
    } else if (mood == 8) {
      finish.emits = {{"T", body}};
    } else if (left > 0) {
      if (mood < 2) finish = done(body);  // and there is more
      body["left"] = left - 1;
      finish.emits.push_back({"T", std::move(body)});
    } else {
      finish = done(body);
    }
    return finish;
  }
};

}  // namespace

namespace {

// What a version of the graph is, apart from its types and the loop of its agent.
struct Shape {
  std::uint64_t capacity, concurrency, attempts, patienceMs;
  std::uint64_t most, steps, timeoutMs;  // outputs of a span of the agent; what a run may take
  bool compensates, keyed, sifted, asked, gathered, deduplicated, hears;
};

Shape shapeOf(std::uint64_t seed, std::int64_t version) {
  SeededRandom random(seed ^ static_cast<std::uint64_t>(version) * 0x9e3779b97f4a7c15u);
  const auto drawn = [&](std::uint64_t low, std::uint64_t high) { return low + random.below(high - low + 1); };
  Shape shape{};
  shape.most = drawn(1, 2);
  shape.capacity = drawn(shape.most, 6);
  shape.concurrency = drawn(1, 3);
  shape.attempts = drawn(1, 3);
  shape.patienceMs = drawn(2, 60) * 1'000;
  shape.compensates = random.below(2) == 0;
  shape.keyed = random.below(4) != 0;
  shape.sifted = random.below(3) == 0;
  shape.asked = random.below(4) != 0;
  shape.gathered = random.below(3) == 0;
  shape.deduplicated = random.below(6) == 0;
  shape.steps = random.below(4) == 0 ? drawn(3, 8) : 50;
  shape.timeoutMs = random.below(4) == 0 ? drawn(20, 300) * 1'000 : 1'200'000;
  return shape;
}

std::string nodesOf(const Shape& s) {
  const std::string concurrency = concat(R"("concurrency":)", s.concurrency);
  std::string nodes = concat(
      R"({"id":"in","kind":"ingress","out":["T"],"capacity":)", 4 * s.capacity, s.keyed ? R"(,"key":"topic")" : "",
      R"(,"monitor":{"boundary":"intake","operation":"admit"}},
        {"id":"echo","kind":"ingress","out":["Done"],"trigger":{"source":"journal","match":"Done"},
         "monitor":{"boundary":"intake","operation":"admit"}},
        {"id":"weaver","kind":"agent","agent":")",
      kSimWeaver, R"(","version":"1","in":["T"],"out":["T","Done","Again"],"timeoutMs":60000,"maxOut":)", s.most, ",",
      concurrency, R"(,"retry":{"maxAttempts":)", s.attempts,
      R"(}},{"id":"turn","kind":"function","function":"identity","in":["Again"],"out":["Again"]},
        {"id":"out","kind":"egress","in":["Done"],"monitor":{"boundary":"journal","operation":"put"},
         "sink":{"tool":"journal.put","undo":"journal.remove"},
         "capabilities":[{"resource":"journal.put"},{"resource":"journal.remove"}]})");
  if (s.sifted)
    nodes += R"(,{"id":"sift","kind":"function","function":"filter","args":{"field":"left","equals":2},
                  "in":["T"],"out":["T"]})";
  if (s.asked)
    nodes += concat(R"(,{"id":"doctor","kind":"counselor","who":["ada"],"in":["Done"],"out":["Done"],"timeoutMs":)",
                    s.patienceMs, ",", concurrency, "}");
  if (s.gathered)
    nodes += R"(,{"id":"gather","kind":"function","function":"collect","args":{"count":2,"field":"all"},
                  "in":["Done"],"out":["All"]},
                 {"id":"sum","kind":"egress","in":["All"],"monitor":{"boundary":"journal","operation":"sum"}})";
  if (s.hears)
    nodes += concat(R"(,{"id":"told","kind":"ingress","out":["Fact"],"trigger":{"source":"ledger","match":")",
                    kHeardDomain, " ", kHeardField, "=", kHeardValue,
                    R"("},"monitor":{"boundary":"intake","operation":"hear"}},
                      {"id":"noted","kind":"egress","in":["Fact"],"monitor":{"boundary":"journal","operation":"note"}})");
  return nodes;
}

std::string edgesOf(const Shape& s) {
  std::string edges =
      R"({"from":"weaver","to":"weaver","type":"T","guard":{"measure":"left"}},
         {"from":"turn","to":"weaver","type":"Again","as":"T","guard":{"bound":2}})";
  const auto edge = [&](const char* from, const char* to, const char* type, bool deduplicated = false) {
    edges += concat(R"(,{"from":")", from, R"(","to":")", to, R"(","type":")", type, R"(","capacity":)", s.capacity,
                    deduplicated ? R"(,"dedup":"lot"})" : "}");
  };
  edge("in", "weaver", "T");
  edge("echo", "out", "Done");  // only the graph itself puts such entries: it begins nothing
  edge("weaver", "turn", "Again");
  if (s.sifted) edge("in", "sift", "T"), edge("sift", "weaver", "T");
  if (s.asked) edge("weaver", "doctor", "Done");
  edge(s.asked ? "doctor" : "weaver", "out", "Done", s.deduplicated);
  if (s.gathered) edge("weaver", "gather", "Done"), edge("gather", "sum", "All");
  if (s.hears) edge("told", "noted", "Fact");
  return edges;
}

}  // namespace

json::object simGraph(std::uint64_t seed, std::int64_t version, bool hears) {
  Shape shape = shapeOf(seed, version);
  shape.hears = hears;
  const std::string text =
      concat(R"({"graph":{"id":")", kSimGraph, R"(","version":)", version,
             R"(,"format":1,"locales":["here"],"budget":{"steps":)", shape.steps,
             R"(,"tokens":1000,"seconds":600},"timeoutMs":)", shape.timeoutMs, R"(,"maxDeliveries":30,"onCancel":")",
             shape.compensates ? "compensate" : "keep", R"("},"monitor":{"boundaries":["intake","journal"]},)", kTypes,
             R"(,"node":[)", nodesOf(shape), R"(],"edge":[)", edgesOf(shape), "]}");
  auto document = parseJson(text);
  WITAN_CHECK(document.ok(), "the simulator's graph is one");
  json::object made = document->get_object();
  json::array& types = made.at("type").as_array();
  json::object twin = types.front().as_object();
  twin["name"] = "Again";
  types.push_back(std::move(twin));
  const json::value done = types.at(1).at("schema");
  types.push_back(
      {{"name", "All"},
       {"schema",
        json::object{{"type", "object"},
                     {"required", json::array{"all"}},
                     {"properties",
                      json::object{{"all", json::object{{"type", "array"}, {"maxItems", 2}, {"items", done}}}}}}}});
  const json::object name{{"type", "string"}, {"maxLength", 200}};
  types.push_back({{"name", "Fact"},
                   {"schema", json::object{{"type", "object"},
                                           {"required", json::array{"entity", "key"}},
                                           {"properties", json::object{{"entity", name}, {"key", name}}}}}});
  return made;
}

json::object brokenSimGraph(std::uint64_t seed, std::int64_t version, std::uint64_t n, bool hears) {
  json::object made = simGraph(seed, version, hears);
  json::array& nodes = made.at("node").as_array();
  json::array& edges = made.at("edge").as_array();
  const auto node = [&](const char* id) -> json::object& {
    return std::ranges::find_if(nodes, [&](const json::value& one) { return one.at("id") == id; })->as_object();
  };
  const json::value person =
      parseJson(R"({"id":"anybody","kind":"counselor","who":[],"in":["Done"],"out":["Done"],"timeoutMs":1})").value();
  const json::value meta =
      parseJson(
          R"({"id":"meta","kind":"domain","domain":"graph","role":"Operator","in":["T"],"out":["T"],
          "capabilities":[{"resource":"propose"}]})")
          .value();
  switch (n % 12) {
    case 0: edges.push_back({{"from", "turn"}, {"to", "turn"}, {"type", "Again"}}); break;  // GL07
    case 1: node("in").erase("monitor"); break;                                             // GL09
    case 2: node("out").at("monitor").as_object()["operation"] = "take"; break;             // GL09
    case 3: made.at("monitor").at("boundaries") = json::array{"intake"}; break;             // GL10
    case 4: node("out").erase("capabilities"); break;                                       // GL11
    case 5: nodes.push_back(meta); break;                                                   // GL14, GL15, GL20
    case 6: node("weaver")["maxOut"] = 1'000; break;                                        // GL16
    case 7: node("weaver")["budget"] = json::object{{"steps", 51}}; break;                  // GL17
    case 8: nodes.push_back(person); break;                                                 // GL21
    case 9: made.at("graph").as_object()["horizonMs"] = 1; break;                           // GL22
    case 10: node("weaver")["version"] = "2"; break;                                        // GL23
    default: node("out").at("sink").as_object()["tool"] = "journal.burn"; break;            // GL23
  }
  return made;
}

graph::Environment simGraphEnvironment() {
  graph::Environment environment;
  environment.agents[std::string(kSimWeaver)] = {"1", {}, "", true};
  for (const char* tool : {"journal.put", "journal.remove"}) environment.tools[tool] = {"journal", {"here"}};
  environment.boundaries = {{"intake", {"admit", "hear"}}, {"journal", {"put", "sum", "note"}}};
  return environment;
}

json::object simGraphMessage(std::uint64_t n) {
  SeededRandom random(n);
  json::object body{{"topic", concat("topic-", random.below(3))}};
  body["left"] = static_cast<std::int64_t>(random.below(4));
  body["mood"] = static_cast<std::int64_t>(random.below(10));
  body["lot"] = static_cast<std::int64_t>(random.below(3));
  if (random.below(8) == 0) body["private"] = "nobody's business";
  // Now and then just what its type lets it be, and just more.
  switch (random.below(64)) {
    case 0: body["mood"] = 10; break;
    case 1: body["mood"] = -1; break;
    case 2: body["left"] = 10; break;
    case 3: body["topic"] = "twenty-one characters"; break;
    case 4: body["private"] = 1; break;
    case 5: body.erase("left"); break;
    case 6: body["more"] = 1; break;
    case 7: body["topic"] = "of twenty characters"; break;
    case 8: body["left"] = 9; break;
    default: break;
  }
  return body;
}

const Agent& simWeaver() {
  static const SimWeaver weaver;
  return weaver;
}

std::shared_ptr<DeviceGate> simGraphGate() {
  OperationRule admit{"admit", {"topic", "left", "lot", "mood"}, {}};
  OperationRule put{"put", {"topic", "lot"}, {}};
  put.excess = Excess::redact;
  OperationRule sum{"sum", {"all"}, {}}, hear{"hear", {"entity", "key"}, {}}, note{"note", {"entity", "key"}, {}};
  Policy policy{.name = "graphs", .version = 1};
  policy.boundary = {{"intake", {"here"}, {admit, hear}}, {"journal", {"here"}, {put, sum, note}}};
  Grant grant{.agent = std::string(kSimGraph), .category = "graph"};
  grant.locales = {"here"};
  grant.tools = {"graph"};
  grant.boundaries = {"intake", "journal"};
  policy.grant = {grant};
  auto monitor = Monitor::compile(std::move(policy));
  WITAN_CHECK(monitor.ok(), "the policy over graphs is one");
  return std::make_shared<DeviceGate>(*std::move(monitor));
}

}  // namespace witan::sim
