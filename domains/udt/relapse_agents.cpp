// The agents of the graph docs/examples/clinic.graph.toml: from an order to a plan after a relapse.
#include <array>

#include "agents/json_members.h"
#include "domains/udt/udt.h"

namespace witan::domains::udt::workers {

using namespace agents;

namespace {

constexpr std::array<std::string_view, 2> kNeeded{"a definitive test of the screening", "a talk within a week"};

AgentSpec specOf(const char* id, const char* what) {
  return {.id = id, .version = "1", .what = what, .category = "clinic", .locale = {"device"}, .inGraphs = true};
}

Turn failed(std::string why) { return {nullptr, {}, Finish{std::move(why), {}, {}, {}, true}}; }

Turn emitted(const char* type, json::object body) {
  Finish finish;
  finish.emits.push_back({type, std::move(body)});
  return {nullptr, {}, std::move(finish)};
}

// Errors: no graph woke it.
Result<json::object> messageOf(const Input& input) {
  const json::object* wake = input.content.if_object();
  const json::value* graph = wake != nullptr ? wake->if_contains("graph") : nullptr;
  const json::value* body = graph != nullptr && graph->is_object() ? graph->get_object().if_contains("body") : nullptr;
  if (body == nullptr || !body->is_object()) return invalid("no message of a graph woke it");
  return body->get_object();
}

// An order becomes the proposal that records its result, which the laboratory enters as lab/PATIENT/ORDER: {"outcome",
// "on"}. Without a result it fails: the graph tries again.
class UdtResults final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec = [] {
      AgentSpec spec = specOf("udt-results", "finds the laboratory's results of orders");
      spec.capabilities = {{"journal.read", 10, {}, {}}};
      return spec;
    }();
    return kSpec;
  }
  Turn step(const json::value& sigma, const Input& input) const override {
    const auto turn = input.kind == InputKind::wake ? look(input) : result(sigma, input.content);
    return turn.ok() ? *turn : failed(turn.error().message);
  }

 private:
  static Result<Turn> look(const Input& input) {
    WITAN_TRY(message, messageOf(input));
    WITAN_TRY(patient, textOf(message, "patient"));
    WITAN_TRY(order, textOf(message, "order"));
    json::object sigma{{"patient", patient}, {"order", order}};
    return Turn{std::move(sigma), {}, Looks{{"journal.read", {{"id", "lab/" + patient + "/" + order}}, 0}}};
  }
  static Result<Turn> result(const json::value& sigma, const json::value& seen) {
    if (!sigma.is_object()) return invalid("it was not woken");
    WITAN_TRY(patient, textOf(sigma.get_object(), "patient"));
    WITAN_TRY(order, textOf(sigma.get_object(), "order"));
    const json::object* answer =
        seen.is_array() && seen.get_array().size() == 1 ? seen.get_array()[0].if_object() : nullptr;
    const json::value* entry = answer != nullptr ? answer->if_contains("content") : nullptr;
    const json::value* payload =
        entry != nullptr && entry->is_object() ? entry->get_object().if_contains("payload") : nullptr;
    if (payload == nullptr || !payload->is_object()) return notFound("there is no result yet");
    json::object action{{"type", "RecordResult"}, {"order", order}};
    for (const char* member : {"outcome", "on"}) WITAN_SET(action[member], textOf(payload->get_object(), member));
    return emitted("Result",
                   {{"patient", patient}, {"order", order}, {"entity", patient}, {"action", std::move(action)}});
  }
};

// A relapse becomes a plan, an objection a better one.
class UdtPlanner final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec = specOf("udt-planner", "plans what follows a relapse");
    return kSpec;
  }
  Turn step(const json::value&, const Input& input) const override {
    const auto message = messageOf(input);
    if (!message.ok()) return failed(message.error().message);
    const std::string_view before = stringOf(*message, "plan"), missing = stringOf(*message, "why");
    std::string plan = before.empty()
                           ? concat("after the relapse of ", stringOf(*message, "order"), ": weekly screening")
                           : concat(before, "; ", missing);
    return emitted("Plan", {{"patient", stringOf(*message, "patient")}, {"plan", std::move(plan)}});
  }
};

// Sends a plan back while it lacks what the clinic asks of each.
class UdtReviewer final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec = specOf("udt-reviewer", "objects to plans that lack what the clinic asks for");
    return kSpec;
  }
  Turn step(const json::value&, const Input& input) const override {
    const auto message = messageOf(input);
    if (!message.ok()) return failed(message.error().message);
    json::object body{{"patient", stringOf(*message, "patient")}, {"plan", stringOf(*message, "plan")}};
    for (const std::string_view one : kNeeded)
      if (stringOf(*message, "plan").find(one) == std::string_view::npos) {
        body["why"] = one;
        return emitted("Objection", std::move(body));
      }
    return emitted("Plan", std::move(body));
  }
};

}  // namespace

std::vector<const Agent*> relapseAgents() {
  static const UdtResults results;
  static const UdtPlanner planner;
  static const UdtReviewer reviewer;
  return {&results, &planner, &reviewer};
}

}  // namespace witan::domains::udt::workers
