#include <algorithm>

#include "tests/graph/random_graph.h"

namespace witan::graph::tests {

namespace {

struct Port {
  std::string node;
  std::string type;
};

json::object monitorOf(const char* boundary, const char* operation) {
  return {{"boundary", boundary}, {"operation", operation}};
}

// Nodes and edges of one document; T is {k, n, f}, L a list of T.
class CaseDraw {
 public:
  explicit CaseDraw(Draw& draw) : draw_(draw) {}

  json::object draw() {
    json::object scripted{{"graph", document()}, {"monitor", monitor()}, {"script", script()}};
    scripted["events"] = events(scripted["graph"]);
    return scripted;
  }

 private:
  json::object document() {
    json::object graph = parseJson(R"({"monitor":{"boundaries":["intake","journal"]},"type":[
      {"name":"T","schema":{"type":"object","required":["k","n"],"properties":{"k":{"type":"string","maxLength":3},
        "n":{"type":"integer","minimum":0,"maximum":9},"f":{"type":"boolean"}}}},
      {"name":"L","schema":{"type":"object","required":["items"],"properties":{"items":{"type":"array","maxItems":4,
        "items":{"type":"object","required":["k","n"],"properties":{"k":{"type":"string","maxLength":3},
        "n":{"type":"integer","minimum":0,"maximum":9},"f":{"type":"boolean"}}}}}}}],"edge":[],"node":[]})")
                             .value()
                             .as_object();
    graph["graph"] = json::object{{"id", "g"},
                                  {"version", 1},
                                  {"format", 1},
                                  {"timeoutMs", draw_.number(1, 40) * 25},
                                  {"horizonMs", draw_.number(1, 20) * 50},
                                  {"maxDeliveries", draw_.chance(50) ? 40 : 12},
                                  {"onCancel", draw_.chance(50) ? "keep" : "compensate"}};
    for (int i = draw_.number(1, 2); i > 0; --i) addIngress("in" + std::to_string(i));
    for (int i = draw_.number(2, 5); i > 0; --i) addMiddle("m" + std::to_string(i));
    addEgress("out1", "T");
    if (draw_.chance(50)) addEgress("out2", draw_.word({"T", "T", "L"}));
    graph["node"] = nodes_;
    graph["edge"] = edges();
    return graph;
  }

  void add(json::object node, std::vector<std::string> in, std::vector<std::string> out) {
    const std::string id(node["id"].as_string());
    for (const char* side : {"in", "out"}) {
      json::array list;
      for (const std::string& type : side[0] == 'i' ? in : out) list.emplace_back(type);
      if (!list.empty()) node[side] = list;
    }
    if (draw_.chance(30)) node["concurrency"] = 2;
    if (draw_.chance(30)) node["maxOut"] = 2;
    if (draw_.chance(40)) node["timeoutMs"] = draw_.number(1, 8) * 5;
    if (draw_.chance(50))
      node["retry"] = json::object{
          {"maxAttempts", draw_.number(1, 3)}, {"firstBackoffMs", draw_.number(1, 4) * 5}, {"maxBackoffMs", 15}};
    for (const std::string& type : in) takers_.push_back({id, type});
    for (const std::string& type : out) sources_.push_back({id, type});
    nodes_.push_back(std::move(node));
  }

  void addIngress(const std::string& id) {
    json::object node{{"id", id}, {"kind", "ingress"}, {"monitor", monitorOf("intake", "admit")}};
    if (draw_.chance(70)) node["key"] = draw_.word({"k", "n"});
    if (draw_.chance(30)) node["capacity"] = draw_.number(1, 2);
    add(std::move(node), {}, {"T"});
  }

  void addMiddle(const std::string& id) {
    json::object node{{"id", id}, {"kind", "function"}};
    const auto function = [&](const char* name, json::object args, const char* in, const char* out) {
      node["function"] = name;
      if (!args.empty()) node["args"] = std::move(args);
      add(std::move(node), {in}, {out});
    };
    switch (draw_.number(0, 9)) {
      case 0: return function("identity", {}, "T", "T");
      case 1: return function("filter", {{"field", "n"}, {"equals", draw_.number(0, 3)}}, "T", "T");
      case 2: return function("decrement", {{"field", "n"}}, "T", "T");
      case 3: return function("collect", {{"field", "items"}, {"count", draw_.number(2, 3)}}, "T", "L");
      case 4: return function("split", {{"field", "items"}}, "L", "T");
      case 5:
        node["kind"] = "counselor";
        node["who"] = json::array{"p"};
        return add(std::move(node), {"T"}, {"T"});
      default: {
        node["kind"] = "agent";
        node["agent"] = "a";
        node["version"] = "1";
        scripted_.push_back(id);
        std::vector<std::string> out{"T"};
        if (draw_.chance(30)) out.push_back("L");
        return add(std::move(node), {"T"}, out);
      }
    }
  }

  void addEgress(const std::string& id, const std::string& type) {
    json::object node{{"id", id}, {"kind", "egress"}, {"monitor", monitorOf("journal", "put")}};
    if (draw_.chance(60)) {
      node["sink"] = json::object{{"tool", "put"}};
      if (draw_.chance(60)) node["sink"].as_object()["undo"] = "remove";
      scripted_.push_back(id);
    }
    add(std::move(node), {type}, {});
  }

  std::size_t placeOf(const std::string& id) const {
    return std::size_t(std::find_if(nodes_.begin(), nodes_.end(),
                                    [&](const json::value& node) { return node.at("id").as_string() == id; }) -
                       nodes_.begin());
  }

  json::array edges() {
    json::array all;
    std::vector<std::string> names;
    for (const Port& source : sources_)
      for (int i = draw_.number(1, 2); i > 0; --i) {
        std::vector<Port> fit;
        for (const Port& taker : takers_)
          if (taker.type == source.type) fit.push_back(taker);
        if (fit.empty()) continue;
        const Port& target = draw_.oneOf(fit);
        const std::string name = source.node + ">" + target.node + ":" + source.type;
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        names.push_back(name);
        all.push_back(edge(source, target));
      }
    return all;
  }

  json::object edge(const Port& source, const Port& target) {
    json::object one{{"from", source.node}, {"to", target.node}, {"type", source.type}};
    const bool isT = source.type == "T";
    if (isT && draw_.chance(50)) one["key"] = draw_.word({"k", "n"});
    if (isT && draw_.chance(15)) one["dedup"] = draw_.word({"k", "n"});
    const bool back = placeOf(target.node) <= placeOf(source.node);
    if ((back && draw_.chance(85)) || draw_.chance(5))
      one["guard"] =
          isT && draw_.chance(40) ? json::object{{"measure", "n"}} : json::object{{"bound", draw_.number(1, 4)}};
    else if (draw_.chance(50))
      one["capacity"] = draw_.number(2, 4);
    return one;
  }

  json::array monitor() {
    json::array rules;
    for (const auto& [boundary, operation] : {std::pair("intake", "admit"), std::pair("journal", "put")}) {
      for (int i = draw_.number(0, 2); i > 0; --i) {
        json::object rule = monitorOf(boundary, operation);
        rule["verdict"] = draw_.word({"allow", "deny", "redact", "require-human"});
        if (rule["verdict"] == "redact") rule["remove"] = json::array{json::string(draw_.word({"f", "n", "items"}))};
        if (draw_.chance(80)) rule["when"] = when();
        if (draw_.chance(30)) rule["token"] = "t";
        rules.push_back(std::move(rule));
      }
      json::object rule = monitorOf(boundary, operation);
      rule["verdict"] = draw_.chance(85) ? "allow" : "require-human";
      rules.push_back(std::move(rule));
    }
    return rules;
  }

  json::object when() {
    if (draw_.chance(50)) return {{"k", draw_.word({"a", "b"})}};
    if (draw_.chance(50)) return {{"n", draw_.number(2, 4)}};
    return {{"f", draw_.chance(50)}};
  }

  json::object bodyForm() {
    json::object body{{"k", json::object{{"$", "k"}}}, {"n", json::object{{"$", "n"}}}};
    if (draw_.chance(30)) body["k"] = draw_.word({"a", "b", "long"});
    if (draw_.chance(60)) body["n"] = json::object{{"$add", json::array{"n", draw_.chance(80) ? -1 : 1}}};
    if (draw_.chance(20)) body["f"] = draw_.chance(50);
    return body;
  }

  json::array script() {
    json::array rules;
    for (const std::string& node : scripted_)
      for (int i = draw_.number(0, 3); i > 0; --i) {
        json::object rule{{"node", node}};
        if (draw_.chance(40)) rule["when"] = when();
        if (draw_.chance(40)) rule["times"] = draw_.number(0, 2);
        if (draw_.chance(70)) rule["durationMs"] = draw_.number(0, 10) * 5;
        if (draw_.chance(20)) rule["fail"] = draw_.chance(70) ? "retry" : "terminal";
        if (rule.contains("fail") && draw_.chance(30)) rule["why"] = "unavailable";
        if (node[0] == 'm') rule["emit"] = outputs();
        rules.push_back(std::move(rule));
      }
    return rules;
  }

  json::array outputs() {
    json::array all;
    for (int i = draw_.number(0, 2); i > 0; --i) {
      json::object output{{"type", "T"}, {"body", bodyForm()}};
      if (draw_.chance(25)) {
        json::array items;
        for (int n = draw_.number(0, 3); n > 0; --n) items.push_back(bodyForm());
        output = {{"type", "L"}, {"body", {{"items", items}}}};
      }
      all.push_back(std::move(output));
    }
    return all;
  }

  json::array events(const json::value& document) {
    std::vector<int> times;
    for (int i = draw_.number(3, 14); i > 0; --i) times.push_back(draw_.number(0, draw_.chance(80) ? 40 : 300) * 5);
    std::sort(times.begin(), times.end());
    json::array all;
    for (const int at : times) {
      json::object event = drawEvent(document);
      event["atMs"] = at;
      all.push_back(std::move(event));
    }
    return all;
  }

  json::object drawEvent(const json::value& document) {
    const int kind = draw_.number(0, 19);
    if (kind <= 10) return arrival();
    if (kind <= 14) {
      std::vector<std::string> asking;
      for (const json::value& one : nodes_)
        if (one.at("kind") != "agent" && one.at("kind") != "function") asking.emplace_back(one.at("id").as_string());
      const std::string node = draw_.oneOf(asking);
      json::object answer{{"node", node},
                          {"key", draw_.word({"a", "b", "a", "b", "1", "2"})},
                          {"by", draw_.word({"p", "p", "p", "q"})},
                          {"approve", draw_.chance(80)}};
      if (draw_.chance(10)) answer["digest"] = std::string(64, '0');
      return {{"answer", answer}};
    }
    if (kind == 15) return {{"cancel", draw_.word({"e1", "e2", "e3"})}};
    if (kind == 16) return {{"crash", {{"downMs", draw_.number(0, 10) * 5}}}};
    if (kind == 17)
      return {{"crashAfterEffect", {{"node", draw_.word({"out1", "out2"})}, {"downMs", draw_.number(0, 10) * 5}}}};
    if (kind == 18 && draw_.chance(25)) return {{"redeliver", draw_.number(1, 2)}};
    if (kind == 18) return arrival();
    return {{"deploy", nextVersion(document)}};
  }

  json::object arrival() {
    json::object body{{"k", draw_.word({"a", "b"})}, {"n", draw_.number(0, 4)}};
    if (draw_.chance(20)) body["f"] = draw_.chance(50);
    if (draw_.chance(5)) body["n"] = 10;
    if (draw_.chance(5)) body.erase("k");
    return {{"ingress", draw_.word({"in1", "in1", "in1", "in2"})},
            {"id", draw_.word({"e1", "e2", "e3", "e4", "e5"})},
            {"body", body}};
  }

  json::object nextVersion(const json::value& document) {
    json::object next = document.as_object();
    next["graph"].as_object()["version"] = ++version_;
    json::array& nodes = next["node"].as_array();
    std::rotate(nodes.begin(), nodes.begin() + draw_.number(0, int(nodes.size()) - 1), nodes.end());
    for (json::value& node : nodes)
      if (draw_.chance(30)) node.as_object()["concurrency"] = draw_.number(1, 2);
    for (json::value& edge : next["edge"].as_array())
      if (edge.as_object().contains("capacity")) edge.as_object()["capacity"] = draw_.number(2, 5);
    return next;
  }

  Draw& draw_;
  json::array nodes_;
  std::vector<Port> takers_, sources_;
  std::vector<std::string> scripted_;
  int version_ = 1;
};

}  // namespace

json::object drawCase(Draw& draw) { return CaseDraw(draw).draw(); }

}  // namespace witan::graph::tests
