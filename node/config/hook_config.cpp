#include "node/config/hook_config.h"

#include <algorithm>
#include <array>

#include "base/identity.h"
#include "base/quote.h"
#include "node/config/config_slots.h"
#include "node/config/inbox_kind.h"

namespace witan::node {

namespace {

struct HookKey {
  std::string_view name;
  ConfigSlot<HookConfig> slot;
};

const std::array kHookKeys{HookKey{"url", &HookConfig::url}, HookKey{"secret", &HookConfig::secret},
                           HookKey{"command", &HookConfig::command}, HookKey{"mail", &HookConfig::mail},
                           HookKey{"kinds", &HookConfig::kinds}};

Status readHook(HookConfig& hook, const toml::table& keys, const std::string& file) {
  for (const auto& [key, value] : keys) {
    const auto found =
        std::ranges::find_if(kHookKeys, [&, &name = key](const HookKey& k) { return k.name == name.str(); });
    if (found == kHookKeys.end())
      return atLine(file, value.source(), concat("unknown key ", key.str(), " in [hook.", hook.name, "]"),
                    "it has: url, secret, command, mail, kinds");
    std::vector<std::string> places;
    WITAN_DO(setSlot(hook, found->slot, value, concat("[hook.", hook.name, "] ", key.str()), file, places));
  }
  return okStatus();
}

bool isMailAddress(std::string_view text) {
  return text.size() <= 254 && std::ranges::count(text, '@') == 1 && text.front() != '-' &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != ',' && c != '<' && c != '>'; });
}

}  // namespace

Status readHooks(std::vector<HookConfig>& into, const toml::node& tables, const std::string& file) {
  const toml::table* all = tables.as_table();
  if (all == nullptr) return atLine(file, tables.source(), "hook must be sections: [hook.NAME]");
  for (const auto& [name, node] : *all) {
    const toml::table* keys = node.as_table();
    if (keys == nullptr) return atLine(file, node.source(), concat("hook.", name.str(), " must be a section"));
    if (into.size() >= kMaxHooks) return atLine(file, node.source(), concat("more than ", kMaxHooks, " hooks"));
    HookConfig hook{.name = std::string(name.str()), .place = lineOf(file, node)};
    WITAN_DO(readHook(hook, *keys, file));
    into.push_back(std::move(hook));
  }
  return okStatus();
}

Status checkHook(const HookConfig& hook) {
  const auto wrong = [&](const std::string& what, std::string hint) -> Status {
    return invalid(concat(hook.place, ": [hook.", hook.name, "] ", what), std::move(hint));
  };
  if (!validateId("name of a hook", hook.name).ok()) return wrong("has a name that is none", "letters, digits, -");
  const int ways = int{!hook.url.empty()} + int{!hook.command.empty()} + int{!hook.mail.empty()};
  if (ways != 1) return wrong(concat("names ", ways, " ways to tell"), "one of url, command and mail");
  if (!hook.url.empty() && !hook.url.starts_with("http://") && !hook.url.starts_with("https://"))
    return wrong("url is " + inQuotes(hook.url), "http://HOST:PORT/PATH or https://...");
  if (!hook.secret.empty() && hook.url.empty()) return wrong("has a secret and no use for it", "it signs webhooks");
  if (!hook.mail.empty() && !isMailAddress(hook.mail))
    return wrong("mail is " + inQuotes(hook.mail), "one address: name@example.org");
  for (const std::string& kind : hook.kinds)
    if (!parseEnum<InboxKind>(kind))
      return wrong("names the kind " + inQuotes(kind), "proposal, approval, conflict, operation, incident");
  return okStatus();
}

}  // namespace witan::node
