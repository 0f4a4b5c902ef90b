#include "node/config/daemon_config.h"

#include <toml++/toml.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <variant>

#include "base/identity.h"
#include "base/quote.h"
#include "base/string_util.h"
#include "base/toml_text.h"
#include "base/utf8.h"
#include "market/letters.h"
#include "node/cluster/roster.h"
#include "node/config/config_slots.h"
#include "program/durable_file.h"
#include "replica/mesh.h"

namespace witan::node {

namespace {

constexpr std::size_t kMaxConfigBytes = 1 << 20;
constexpr std::int64_t kMostPendingTtlSeconds = 100ll * 366 * 24 * 3600;

using Slot = ConfigSlot<DaemonConfig>;

struct Key {
  std::string_view section, name;
  Slot slot;
  std::string_view what;
};

const std::array kKeys{
    Key{"node", "listen", &DaemonConfig::listen, "addresses on which other devices are heard"},
    Key{"node", "advertise", &DaemonConfig::advertise, "addresses that others should dial; empty: those of listen"},
    Key{"peers", "dial", &DaemonConfig::dial, "addresses to dial besides those of the roster"},
    Key{"peers", "roster_lease_seconds", &DaemonConfig::rosterLeaseSeconds,
        "without word of the admin's device for so long, no other is served; 0: it is"},
    Key{"network", "links", &DaemonConfig::links, "that this device keeps where there are more devices; 0: with each"},
    Key{"relay", "carry", &DaemonConfig::carry,
        "true or false: passes links between devices that cannot reach each other"},
    Key{"control", "listen", &DaemonConfig::control, "127.0.0.1:PORT or unix:/path; empty: control.sock beside this"},
    Key{"metrics", "listen", &DaemonConfig::metrics,
        "serves /metrics, /livez, /readyz without a token; empty: nowhere"},
    Key{"log", "format", &DaemonConfig::logFormat, "text or json"},
    Key{"log", "level", &DaemonConfig::logLevel, "debug, info, warn or error"},
    Key{"agents", "run", &DaemonConfig::agents, "built-in agents that work on this device; \"all\" for all"},
    Key{"agents", "scope", &DaemonConfig::scope, "the scope of the journal that they watch"},
    Key{"agents", "secret_key", &DaemonConfig::secretKey, "file with the key of the secrets that tools need"},
    Key{"agents", "retention_days", &DaemonConfig::retentionDays, "what runs leave is kept so long; 0: for ever"},
    Key{"files", "published_only", &DaemonConfig::publishedOnly,
        "agents and rules in files count only as the cluster's admin has published them"},
    Key{"ledger", "engine", &DaemonConfig::engine, "embedded or etcd"},
    Key{"ledger", "etcd", &DaemonConfig::etcd, "endpoints, as http://127.0.0.1:2379"},
    Key{"ledger", "etcd_ca", &DaemonConfig::etcdCa, "PEM file of the authority that signed etcd's certificates"},
    Key{"ledger", "etcd_cert", &DaemonConfig::etcdCert, "PEM file of this client's certificate"},
    Key{"ledger", "etcd_key", &DaemonConfig::etcdKey, "PEM file of its key"},
    Key{"ledger", "lease_seconds", &DaemonConfig::leaseSeconds, "after which a silent owner is replaced (etcd)"},
    Key{"ledger", "pending_ttl_seconds", &DaemonConfig::pendingTtlSeconds,
        "after which an escalation nobody decided is rejected; 0: never"},
    Key{"counselors", "signed", &DaemonConfig::signedAnswers,
        "answers count with a person's signature only; the same on all devices"},
    Key{"witness", "url", &DaemonConfig::witnessUrls, "http://HOST:PORT of witnesses that cosign the ledgers' heads"},
    Key{"witness", "vkey", &DaemonConfig::witnessKeys, "their keys, as in witness.vkey, in the same order"},
    Key{"witness", "require", &DaemonConfig::witnessesRequired, "how many must have cosigned a head to publish it"},
    Key{"market", "org", &DaemonConfig::marketOrg, "this organisation's name in the market; empty: it takes no part"},
    Key{"market", "listen", &DaemonConfig::marketListen, "address on which partners are heard; empty: it only dials"},
    Key{"market", "partners", &DaemonConfig::marketPartners, "ORG=HOST:PORT of each partner that is dialled"},
    Key{"market", "escrows", &DaemonConfig::marketEscrows,
        "organisations that may hold the money of what is sold here"},
    Key{"registry", "required", &DaemonConfig::registryRequired,
        "agents in graphs need a signed artefact; the same on all devices"},
    Key{"trace", "otlp", &DaemonConfig::otlp, "http://HOST:PORT of an OTLP/HTTP collector; empty: no traces"},
};

const Key* findKey(std::string_view section, std::string_view name) {
  const auto at =
      std::ranges::find_if(kKeys, [&](const Key& key) { return key.section == section && key.name == name; });
  return at == kKeys.end() ? nullptr : &*at;
}

std::string keysOf(std::string_view section) {
  std::string known;
  for (const Key& key : kKeys)
    if (key.section == section) known += concat(known.empty() ? "" : ", ", key.name);
  return known;
}

std::string nameOf(const Key& key) { return concat("[", key.section, "] ", key.name); }

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) items.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return items;
}

std::string variableOf(const Key& key) {
  std::string name = concat("WITAN_", key.section, "_", key.name);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  return name;
}

Status oneOf(const DaemonConfig& config, std::string_view key, const std::string& value,
             std::initializer_list<const char*> words) {
  std::string known;
  for (const char* word : words) {
    if (value == word) return okStatus();
    known += concat(known.empty() ? "" : ", ", word);
  }
  return config.located(key, invalid(concat(key, " is ", inQuotes(value)), "it must be one of " + known));
}

Status checkAddresses(const DaemonConfig& config, const std::string& key, const std::vector<std::string>& addresses) {
  for (std::size_t i = 0; i < addresses.size(); ++i)
    if (const Status good = checkAddress(addresses[i]); !good.ok())
      return config.located(key, invalid(key + ": " + good.error().message, good.error().hint), i);
  return okStatus();
}

Status inRange(const DaemonConfig& config, const std::string& key, std::int64_t value, std::int64_t least,
               std::int64_t most, const std::string& hint) {
  if (value >= least && value <= most) return okStatus();
  return config.located(key, invalid(concat(key, " is ", value), hint));
}

}  // namespace

Error DaemonConfig::located(std::string_view key, Error error, std::size_t item) const {
  const auto at = places.find(key);
  if (at == places.end() || at->second.empty()) return error;
  error.message = at->second[std::min(item, at->second.size() - 1)] + ": " + error.message;
  return error;
}

Status readConfig(DaemonConfig& into, std::string_view text, const std::string& name) {
  WITAN_DO(checkTomlKeys(text, name));
  try {
    const toml::table table = toml::parse(text, name);
    for (const auto& [section, node] : table) {
      if (section.str() == "tool") {
        WITAN_DO(readTools(into.tools, node, name));
        continue;
      }
      if (section.str() == "hook") {
        WITAN_DO(readHooks(into.hooks, node, name));
        continue;
      }
      if (section.str() == "budget") {
        WITAN_DO(readBudgets(into.budgets, node, name));
        continue;
      }
      const std::string known = keysOf(section.str());
      if (known.empty())
        return atLine(name, node.source(), concat("unknown section [", section.str(), "]"),
                      "witan up --print-config shows all keys");
      const toml::table* keys = node.as_table();
      if (keys == nullptr) return atLine(name, node.source(), concat(section.str(), " must be a section"));
      for (const auto& [key, value] : *keys) {
        const Key* found = findKey(section.str(), key.str());
        if (found == nullptr)
          return atLine(name, value.source(), concat("unknown key ", key.str(), " in [", section.str(), "]"),
                        "it has: " + known);
        WITAN_DO(setSlot(into, found->slot, value, nameOf(*found), name, into.places[nameOf(*found)]));
      }
    }
  } catch (const toml::parse_error& e) {
    return atLine(name, e.source(), std::string(e.description()));
  }
  return okStatus();
}

Status readEnvironment(DaemonConfig& into, const Environment& environment) {
  for (const Key& key : kKeys) {
    const std::string variable = variableOf(key);
    const char* value = environment(variable.c_str());
    if (value == nullptr) continue;
    const std::string_view text = value;
    into.places[nameOf(key)] = {"$" + variable};
    if (auto words = std::get_if<std::string DaemonConfig::*>(&key.slot)) {
      into.** words = text;
    } else if (auto number = std::get_if<std::int64_t DaemonConfig::*>(&key.slot)) {
      const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), into.**number);
      if (failure != std::errc{} || end != text.data() + text.size())
        return invalid("$" + variable + " is " + inQuotes(text), "it must be a whole number");
    } else if (auto yes = std::get_if<bool DaemonConfig::*>(&key.slot)) {
      if (text != "true" && text != "false")
        return invalid("$" + variable + " is " + inQuotes(text), "it must be true or false");
      into.** yes = text == "true";
    } else {
      into.*std::get<std::vector<std::string> DaemonConfig::*>(key.slot) = split(text);
    }
  }
  return okStatus();
}

bool isLoopbackHost(std::string_view host) {
  if (host == "localhost" || host == "[::1]") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

namespace {

Status checkMarket(const DaemonConfig& config) {
  if (config.marketOrg.empty()) {
    const char* key = !config.marketListen.empty()     ? "[market] listen"
                      : !config.marketPartners.empty() ? "[market] partners"
                      : !config.marketEscrows.empty()  ? "[market] escrows"
                                                       : nullptr;
    if (key != nullptr)
      return config.located(key, invalid(concat(key, " is set, and [market] org is not"), "org = \"NAME\""));
    return okStatus();
  }
  if (const std::string flaw = market::nameFlaw("an organisation's name", config.marketOrg); !flaw.empty())
    return config.located("[market] org", invalid("[market] org: " + flaw));
  if (!config.marketListen.empty()) WITAN_DO(checkAddresses(config, "[market] listen", {config.marketListen}));
  for (std::size_t i = 0; i < config.marketPartners.size(); ++i) {
    const std::string& partner = config.marketPartners[i];
    const std::size_t at = partner.rfind('=');
    if (at == partner.npos || at == 0 || !checkAddress(partner.substr(at + 1)).ok())
      return config.located("[market] partners", invalid("[market] partners: " + inQuotes(partner), "ORG=HOST:PORT"),
                            i);
  }
  return okStatus();
}

}  // namespace

Status checkConfig(const DaemonConfig& config) {
  for (const ToolConfig& tool : config.tools) WITAN_DO(checkTool(tool));
  for (const HookConfig& hook : config.hooks) WITAN_DO(checkHook(hook));
  WITAN_DO(checkAddresses(config, "[node] listen", config.listen));
  WITAN_DO(checkAddresses(config, "[node] advertise", config.advertise));
  WITAN_DO(checkAddresses(config, "[peers] dial", config.dial));
  if (!config.control.empty() && !config.control.starts_with("unix:")) {
    WITAN_DO(checkAddresses(config, "[control] listen", {config.control}));
    if (!isLoopbackHost(std::string_view(config.control).substr(0, config.control.rfind(':'))))
      return config.located("[control] listen", invalid("[control] listen is " + inQuotes(config.control) +
                                                            ": tokens would cross the network in the clear",
                                                        "127.0.0.1:PORT, [::1]:PORT or unix:/path; from elsewhere: "
                                                        "through ssh"));
  }
  WITAN_DO(checkMarket(config));
  if (!config.metrics.empty()) WITAN_DO(checkAddresses(config, "[metrics] listen", {config.metrics}));
  WITAN_DO(oneOf(config, "[log] format", config.logFormat, {"text", "json"}));
  WITAN_DO(oneOf(config, "[log] level", config.logLevel, {"debug", "info", "warn", "error"}));
  WITAN_DO(oneOf(config, "[ledger] engine", config.engine, {"embedded", "etcd"}));
  if (const Status good = validateId("[agents] scope", config.scope); !good.ok())
    return config.located("[agents] scope", good.error());
  if (config.engine == "etcd" && config.etcd.empty())
    return config.located("[ledger] engine", invalid("[ledger] engine is etcd, and [ledger] etcd names no endpoint",
                                                     "etcd = [\"http://127.0.0.1:2379\"]"));
  WITAN_DO(inRange(config, "[peers] roster_lease_seconds", config.rosterLeaseSeconds, 0, 3'650 * 86'400,
                   "0, off, to ten years"));
  if (config.links != 0)
    WITAN_DO(inRange(config, "[network] links", config.links, kLeastLinks, kMostLinks,
                     concat("0, with each device, or ", kLeastLinks, " to ", kMostLinks)));
  WITAN_DO(inRange(config, "[agents] retention_days", config.retentionDays, 0, 36'500, "0, for ever, to 36500"));
  WITAN_DO(inRange(config, "[ledger] lease_seconds", config.leaseSeconds, 1, 3600, "1 to 3600"));
  return inRange(config, "[ledger] pending_ttl_seconds", config.pendingTtlSeconds, 0, kMostPendingTtlSeconds,
                 concat("0, for ever, to ", kMostPendingTtlSeconds));
}

namespace {

// Variables besides those of the keys: of the client, of tests, and of the scripts that build and measure.
constexpr std::array<std::string_view, 18> kOtherVariables{
    "WITAN_DIR",   "WITAN_URL",       "WITAN_TOKEN",     "WITAN_PASSPHRASE_FILE", "WITAN_LONG",      "WITAN_SEED",
    "WITAN_KILLS", "WITAN_KILL_SEED", "WITAN_KILL_STEP", "WITAN_KILL_MOMENT",     "WITAN_SCENARIOS", "WITAN_ONTOLOGIES",
    "WITAN_BUILD", "WITAN_NO_BUILD",  "WITAN_PG_PORT",   "WITAN_PG_CLIENTS",      "WITAN_CCACHE",    "WITAN_MOLD"};
constexpr std::size_t kLongestVariable = 64;

std::vector<std::string> namesInEnvironment() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

}  // namespace

Status checkVariables(std::span<const std::string> names) {
  std::vector<std::string> known(kOtherVariables.begin(), kOtherVariables.end());
  for (const Key& key : kKeys) known.push_back(variableOf(key));
  for (const std::string& name : names) {
    if (!name.starts_with("WITAN_") || std::ranges::find(known, name) != known.end()) continue;
    const auto near = nearest(std::string_view(name).substr(0, kLongestVariable), known, 1);
    return invalid(concat("unknown environment variable $", clip(name, kLongestVariable)),
                   concat("did you mean $", near.front(),
                          "? witan up --print-config lists the keys: $WITAN_NODE_LISTEN sets listen of [node]"));
  }
  return okStatus();
}

Status checkEnvironment() { return checkVariables(namesInEnvironment()); }

Result<DaemonConfig> loadConfig(const std::filesystem::path& dir) {
  WITAN_DO(checkEnvironment());
  DaemonConfig config;
  const std::filesystem::path file = dir / "witan.toml";
  WITAN_TRY(text, readSmallFile(file, kMaxConfigBytes));
  if (text) WITAN_DO(readConfig(config, *text, file.string()));
  WITAN_DO(readEnvironment(config, [](const char* name) { return std::getenv(name); }));
  for (ToolConfig& tool : config.tools)
    if (tool.secretAs == "oauth") tool.file = (dir / "tokens" / (tool.name + ".json")).string();
  WITAN_DO(checkConfig(config));
  return config;
}

Error noSuchAgent(const DaemonConfig& config, std::size_t i) {
  return config.located(
      "[agents] run",
      invalid("[agents] run: there is no agent " + config.agents[i], "docs/agents.md lists the built-in agents"), i);
}

std::string configText(const DaemonConfig& config) {
  std::string out;
  std::string_view section;
  for (const Key& key : kKeys) {
    if (key.section != section) out += concat(out.empty() ? "[" : "\n[", section = key.section, "]\n");
    out += concat("# ", key.what, "\n", key.name, " = ");
    if (auto text = std::get_if<std::string DaemonConfig::*>(&key.slot)) {
      out += jsonQuoted(config.**text);
    } else if (auto number = std::get_if<std::int64_t DaemonConfig::*>(&key.slot)) {
      out += std::to_string(config.**number);
    } else if (auto yes = std::get_if<bool DaemonConfig::*>(&key.slot)) {
      out += config.**yes ? "true" : "false";
    } else {
      out += "[";
      for (const std::string& item : config.*std::get<std::vector<std::string> DaemonConfig::*>(key.slot))
        out += (out.back() == '[' ? "" : ", ") + jsonQuoted(item);
      out += "]";
    }
    out += "\n";
  }
  return out;
}

}  // namespace witan::node
