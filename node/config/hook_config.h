// [hook.NAME] of witan.toml: who is told when something new waits for a person (node/inbox/inbox_hooks.h).
// docs/OPERATIONS.md has the table of keys.
//
// Values.
#pragma once

#include <toml++/toml.h>
#include <string>
#include <vector>

#include "base/result.h"

namespace witan::node {

struct HookConfig {
  std::string name, place;           // [hook.NAME]; "witan.toml:7"
  std::string url, secret;           // a webhook; the name of the secret that signs what it is told, empty: none
  std::vector<std::string> command;  // a program that is told on its stdin
  std::string mail;                  // an address, by `sendmail -t`
  std::vector<std::string> kinds;    // of items; empty: all
};

inline constexpr std::size_t kMaxHooks = 16;

// The table `hook` of a file, a table a hook. Errors name file and line.
Status readHooks(std::vector<HookConfig>& into, const toml::node& tables, const std::string& file);
// Errors: not exactly one of url, command and mail; no kind of item; an address that is none.
Status checkHook(const HookConfig& hook);

}  // namespace witan::node
