// An agent with looks and actions, and a device on which it works, for tests of AgentHost.
#pragma once

#include <memory>
#include <string>

#include "tests/agents/host_rig.h"

namespace witan::agents::test {

// Asks a model about each request, and puts down what it says; sends a mail about it if the model says so.
class Clerk final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{.id = "clerk",
                                 .version = "1",
                                 .what = "answers requests",
                                 .category = "office",
                                 .subscriptions = {onEntries("request")},
                                 .capabilities = {{"journal.read"}, {"journal.put"}, {"model.ask"}, {"mail.send"}}};
    return kSpec;
  }
  Turn step(const json::value& sigma, const Input& input) const override {
    if (input.kind == InputKind::wake) {
      const json::value id = input.content.at("changes").at(0).at("id");
      return {json::object{{"id", id}}, {}, Looks{{"model.ask", {{"about", id}}, 10}}};
    }
    if (input.kind == InputKind::results) return {nullptr, {}, Finish{canonicalJson(input.content), {}, {}, {}, false}};
    const json::value& seen = input.content.at(0);
    if (!seen.at("ok").as_bool()) return {nullptr, {}, Finish{"the model is silent", {}, {}, {}, true}};
    const std::string id(sigma.at("id").as_string()), answer(seen.at("content").as_string());
    Actions actions{
        action("journal.put", {{"id", "done/" + id}, {"type", "done"}, {"payload", answer}}, {"done/" + id})};
    if (answer.starts_with("mail")) actions.push_back(action("mail.send", {{"to", id}, {"text", answer}}, {id}));
    return {nullptr, {}, std::move(actions)};
  }
};

inline const Clerk kClerk;

inline episode::ToolInfo external(const char* name, episode::ToolKind kind) {
  episode::ToolInfo info;
  info.name = name;
  info.kind = kind;
  return info;
}

inline std::unique_ptr<HostRig> clerkOn(const std::string& device, const std::string& answer) {
  auto rig = std::make_unique<HostRig>(device, std::vector<const Agent*>{&kClerk});
  rig->options.tools = {external("model.ask", episode::ToolKind::look),
                        external("mail.send", episode::ToolKind::action)};
  rig->looker = [answer](const ToolCall&) { return episode::Observation{true, json::value(answer), "", 0, 0}; };
  return rig;
}

}  // namespace witan::agents::test
