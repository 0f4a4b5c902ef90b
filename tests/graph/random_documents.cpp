#include "tests/graph/random_graph.h"

namespace witan::graph::tests {

namespace {

json::value scalar(Draw& draw) {
  switch (draw.number(0, 7)) {
    case 0: return draw.number(-1, 3);
    case 1: return draw.chance(50);
    case 2: return json::string(draw.word({"", "T", "patient", "a.b", "device", "no such"}));
    case 3: return nullptr;
    case 4: return json::array();
    case 5: return json::object();
    case 6: return std::int64_t(1) << draw.number(30, 62);
    default: return 1.5;
  }
}

// Anything anywhere: deleted, or replaced.
void changeAnywhere(Draw& draw, json::value& at) {
  if (at.is_object() && !at.get_object().empty()) {
    json::object& object = at.get_object();
    auto member = object.begin() + draw.number(0, int(object.size()) - 1);
    if (draw.chance(70)) return changeAnywhere(draw, member->value());
    if (draw.chance(40))
      object.erase(member);
    else if (draw.chance(30))
      object["colour"] = "red";
    else
      member->value() = scalar(draw);
  } else if (at.is_array() && !at.get_array().empty()) {
    json::array& list = at.get_array();
    const auto item = list.begin() + draw.number(0, int(list.size()) - 1);
    if (draw.chance(80)) return changeAnywhere(draw, *item);
    if (draw.chance(50))
      list.erase(item);
    else
      list.push_back(json::value(*item));
  } else {
    at = scalar(draw);
  }
}

std::string nameIn(Draw& draw, json::array& list, const char* member) {
  return std::string(draw.oneOf(list).at(member).as_string());
}

void changeEdge(Draw& draw, json::array& types, json::array& nodes, json::object& edge) {
  switch (draw.number(0, 7)) {
    case 0: edge["from"] = nameIn(draw, nodes, "id"); break;
    case 1: edge["to"] = nameIn(draw, nodes, "id"); break;
    case 2: edge["type"] = nameIn(draw, types, "name"); break;
    case 3: edge["as"] = nameIn(draw, types, "name"); break;
    case 4: edge.erase("guard"); break;
    case 5: edge["capacity"] = draw.number(1, 8); break;
    case 6: edge[draw.chance(50) ? "key" : "dedup"] = draw.word({"patient", "left", "ok", "nosuch", "rounds"}); break;
    default: {
      json::object guard;
      if (draw.chance(60)) guard["bound"] = draw.number(0, 9);
      if (draw.chance(40)) guard["measure"] = draw.word({"left", "rounds", "patient", "nosuch"});
      edge["guard"] = guard;
    }
  }
}

void changeNode(Draw& draw, json::array& types, json::object& node) {
  const auto limits = [&] { return draw.number(1, 9) * 100'000'000LL; };
  switch (draw.number(0, 11)) {
    case 0: node["maxOut"] = draw.number(1, 100); break;
    case 1: node["locales"] = json::array{json::string(draw.word({"device", "eu", "us"}))}; break;
    case 2: node["budget"] = json::object{{draw.word({"steps", "tokens", "seconds"}), draw.number(1, 20'000)}}; break;
    case 3: node["timeoutMs"] = limits(); break;
    case 4: node["retry"] = json::object{{"maxAttempts", draw.number(1, 101)}, {"maxBackoffMs", limits()}}; break;
    case 5:
      node["capabilities"] = json::array{json::object{
          {"resource", draw.word({"*", "journal.*", "llm.chat", "journal.put"})}, {"uses", draw.number(0, 2)}}};
      break;
    case 6:
      node["monitor"] = json::object{{"boundary", draw.word({"intake", "journal", "mail", "nosuch"})},
                                     {"operation", draw.word({"admit", "put", "send"})}};
      break;
    case 7: node["out"] = json::array{json::string(nameIn(draw, types, "name"))}; break;
    case 8: node["in"] = json::array{json::string(nameIn(draw, types, "name"))}; break;
    case 9: node["kind"] = draw.word({"agent", "function", "ingress", "egress", "counselor"}); break;
    case 10: node[draw.word({"sink", "trigger"})] = json::object(); break;
    default: node["version"] = draw.word({"1", "2"});
  }
}

void changeType(Draw& draw, json::object& type) {
  json::value* properties =
      type["schema"].is_object() ? type["schema"].get_object().if_contains("properties") : nullptr;
  if (properties == nullptr || !properties->is_object() || properties->get_object().empty()) return;
  json::object& all = properties->get_object();
  json::value& one = (all.begin() + draw.number(0, int(all.size()) - 1))->value();
  if (draw.chance(50))
    one = json::object{{"type", "integer"}, {"minimum", draw.number(-1, 1)}, {"maximum", draw.number(2, 9)}};
  else
    one = json::object{{"type", "string"}, {"maxLength", draw.number(0, 20)}};
  if (draw.chance(30)) type["schema"].as_object().erase("required");
}

void changeOnce(Draw& draw, json::value& document) {
  json::object& top = document.get_object();
  const auto listOf = [&](const char* name) -> json::array* {
    json::value* list = top.if_contains(name);
    return list != nullptr && list->is_array() && !list->get_array().empty() ? &list->get_array() : nullptr;
  };
  json::array* const types = listOf("type");
  json::array* const nodes = listOf("node");
  json::array* const edges = listOf("edge");
  const int kind = draw.number(0, 9);
  if (kind == 0 || types == nullptr || nodes == nullptr || edges == nullptr) return changeAnywhere(draw, document);
  if (kind <= 4) return changeEdge(draw, *types, *nodes, draw.oneOf(*edges).as_object());
  if (kind <= 6) return changeNode(draw, *types, draw.oneOf(*nodes).as_object());
  if (kind == 7) return changeType(draw, draw.oneOf(*types).as_object());
  if (kind == 8) {
    json::array& list = draw.chance(50) ? *nodes : *edges;
    list.erase(list.begin() + draw.number(0, int(list.size()) - 1));
    return;
  }
  json::object copy = draw.oneOf(*edges).as_object();
  changeEdge(draw, *types, *nodes, copy);
  edges->push_back(std::move(copy));
}

}  // namespace

json::value changedDocument(Draw& draw, json::value document) {
  for (int i = draw.number(1, 3); i > 0; --i) try {
      changeOnce(draw, document);
    } catch (const std::exception&) {  // an earlier change took what this one is about
    }
  return document;
}

json::value changedEnvironment(Draw& draw, json::value environment) {
  json::value& section = environment.as_object()[draw.word({"agents", "tools", "domains", "boundaries"})];
  json::object& all = section.as_object();
  if (!all.empty()) all.erase(all.begin() + draw.number(0, int(all.size()) - 1));
  return environment;
}

}  // namespace witan::graph::tests
