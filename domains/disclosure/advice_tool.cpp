#include "domains/disclosure/advice_tool.h"

#include "agents/json_members.h"
#include "base/json_codec.h"
#include "domains/disclosure/advice.h"
#include "domains/disclosure/embargo_seal.h"

namespace witan::domains::disclosure {

namespace {

bool isSet(const json::object& arguments, std::string_view member) {
  const json::value* value = arguments.if_contains(member);
  return value != nullptr && value->is_bool() && value->get_bool();
}

class AdviceTool final : public agents::LedgerTool {
 public:
  std::string_view name() const override { return "disclosure.next"; }
  std::string_view operation() const override { return "next"; }

  std::optional<agents::LedgerEntity> subject(const json::object& arguments) const override {
    const json::value* about = arguments.if_contains("case");
    if (about == nullptr || !about->is_object()) return std::nullopt;
    const auto portfolio = agents::textOf(about->get_object(), "portfolio");
    return portfolio.ok() ? std::optional(agents::LedgerEntity{"disclosure", *portfolio}) : std::nullopt;
  }

  Result<json::value> look(const agents::FindState& find, const json::object& arguments,
                           const agents::ContentSeals& seals, Now now) const override {
    WITAN_TRY(role, agents::textOf(arguments, "role"));
    const json::value* given = arguments.if_contains("case");
    if (given == nullptr) return invalid("it has no \"case\"");
    Case about;
    WITAN_TRY(whole, seals.opened(kCaseType, *given));
    WITAN_DO(readJson(whole, about, "case"));
    WITAN_TRY(seen, find({"disclosure", about.portfolio}));
    WITAN_TRY(advice, adviseOn(*seen.module, *seen.state, role, about,
                               {isSet(arguments, "due"), isSet(arguments, "opened")}, now.wall));
    json::array actions;
    for (const std::string& action : advice.actions) {
      WITAN_TRY(parsed, parseJson(action));
      actions.push_back(std::move(parsed));
    }
    return json::value(json::object{{"actions", std::move(actions)}, {"due", advice.due}, {"over", advice.over}});
  }
};

}  // namespace

const agents::LedgerTool& adviceTool() {
  static const AdviceTool tool;
  return tool;
}

}  // namespace witan::domains::disclosure
