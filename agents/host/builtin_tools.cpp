#include "agents/host/builtin_tools.h"

#include "agents/json_members.h"

namespace witan::agents {

using episode::ToolInfo;
using episode::ToolKind;

std::vector<ToolInfo> builtinTools() {
  const auto tool = [](const char* name, ToolKind kind, const char* target) {
    ToolInfo info{.name = name, .kind = kind, .targetArgument = target};
    return info;
  };
  return {tool("journal.read", ToolKind::look, "id"),  tool("journal.list", ToolKind::look, ""),
          tool("journal.put", ToolKind::action, "id"), tool("journal.remove", ToolKind::action, "id"),
          tool("propose", ToolKind::action, "entity"), tool("begin", ToolKind::action, "entity")};
}

saga::EffectKind effectKindOf(std::string_view tool) {
  if (tool.starts_with("journal.")) return saga::EffectKind::journal;
  if (tool == "propose" || tool == "begin") return saga::EffectKind::proposal;
  return saga::EffectKind::tool;
}

Result<ProposalCall> proposalOf(const saga::SagaRow& row) {
  WITAN_TRY(parsed, parseJson(row.intent.arguments));
  const json::object* arguments = parsed.if_object();
  if (arguments == nullptr) return invalid("the arguments are no object");
  ProposalCall call;
  call.operation = row.id();
  call.run = RunKey{row.intent.run};
  call.agentId = row.intent.agentId;
  call.begin = row.intent.tool == "begin";
  WITAN_TRY(domain, textOf(*arguments, "domain"));
  WITAN_TRY(entity, textOf(*arguments, "entity"));
  call.domain = std::move(domain);
  call.entity = std::move(entity);
  if (!call.begin) {
    WITAN_SET(call.role, textOf(*arguments, "role"));
  }
  const char* member = call.begin ? "fields" : "action";
  const json::value* body = arguments->if_contains(member);
  if (body == nullptr || !body->is_object()) return invalid(concat("\"", member, "\" is no object"));
  call.body = *body;
  return call;
}

}  // namespace witan::agents
