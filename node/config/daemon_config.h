// What a daemon is told: DIR/witan.toml, each key overridable by the environment (WITAN_NODE_LISTEN for [node] listen),
// and that by the command line. Unknown keys, wrong types and impossible values are errors that name the line, or the
// variable or option.
//
// Values. docs/OPERATIONS.md has the table of keys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "node/config/budget_config.h"
#include "node/config/hook_config.h"
#include "node/config/tool_config.h"

namespace witan::node {

struct DaemonConfig {
  // [node]
  std::vector<std::string> listen{"127.0.0.1:7600"};  // addresses for other devices; empty: it only dials
  std::vector<std::string> advertise;                 // what it tells others to dial; empty: where it listens
  // [peers]
  std::vector<std::string> dial;  // addresses besides those of the roster
  // Without the admin's word for so long that there is no later roster, this device serves no other; 0: it does.
  std::int64_t rosterLeaseSeconds = 30 * 86'400;
  // [network]
  std::int64_t links = 8;  // that this device keeps, where there are more devices (replica/mesh.h); 0: with each
  // [relay]
  bool carry = true;  // links between devices that cannot reach each other
  // [control]
  std::string control;  // "127.0.0.1:7601" or "unix:/path"; empty: a socket in the directory
  std::string metrics;  // address that serves /metrics and health checks without a token; empty: none
  // [log]
  std::string logFormat = "text";  // text, json
  std::string logLevel = "info";   // debug, info, warn, error
  // [agents]
  std::vector<std::string> agents;  // built-in agents that work here; "all"
  std::string scope = "main";
  std::string secretKey;             // file with the key of the secrets that tools need; empty: a passphrase, or none
  std::int64_t retentionDays = 365;  // for which what runs leave is kept; 0: for ever
  // [files]
  bool publishedOnly = false;  // agents and rules in files count as the admin has published them
  // [ledger]
  std::string engine = "embedded";  // embedded, etcd
  std::vector<std::string> etcd;    // endpoints: http://host:port, https://host:port
  std::string etcdCa, etcdCert, etcdKey;
  std::int64_t leaseSeconds = 10;
  std::int64_t pendingTtlSeconds = 0;  // 0: an escalation waits for ever
  // [counselors]
  bool signedAnswers = false;  // each answer needs a person's signature; the same on all devices
  // [witness]
  std::vector<std::string> witnessUrls, witnessKeys;  // of each one, in the same order; none: no witness is asked
  std::int64_t witnessesRequired = 1;                 // that a head needs to be published
  // [market]
  std::string marketOrg;                    // this organisation's name; empty: it takes no part
  std::string marketListen;                 // address for partners; empty: it only dials
  std::vector<std::string> marketPartners;  // "ORG=HOST:PORT", who is dialled
  std::vector<std::string> marketEscrows;   // organisations that may hold the money of what is sold here
  // [registry]
  bool registryRequired = false;  // an agent in a graph needs a signed artefact; the same on all devices
  // [trace]
  std::string otlp;  // http://host:port of an OTLP/HTTP collector; empty: none

  // [tool.NAME], [hook.NAME] and [budget.NAME], in the order of their names
  std::vector<ToolConfig> tools;
  std::vector<HookConfig> hooks;
  std::vector<agents::StandingLimit> budgets;  // [budget.NAME]: what agents may take a day

  // Where values came from that are no defaults, by "[section] key": "witan.toml:7", "$WITAN_LOG_LEVEL", "--log-level".
  // Of a list in the file: one place an item.
  std::map<std::string, std::vector<std::string>, std::less<>> places;

  // An error of the value of `key`, as in places, with its place before it. `item`: of a list.
  Error located(std::string_view key, Error error, std::size_t item = 0) const;
};

using Environment = std::function<const char*(const char* name)>;

// localhost, [::1] or 127.x.y.z, as it is written: no other name is looked up for it.
bool isLoopbackHost(std::string_view host);

// `text`: of the file `name`. Errors name file and line.
Status readConfig(DaemonConfig& into, std::string_view text, const std::string& name);
Status readEnvironment(DaemonConfig& into, const Environment& environment);
// The names of the environment's variables. Errors: one begins with WITAN_ and no part of Witan reads it.
Status checkVariables(std::span<const std::string> names);
Status checkEnvironment();  // the same of this process
// Of a data directory and the environment of this process; a file that is not there is fine. Then checks the whole.
Result<DaemonConfig> loadConfig(const std::filesystem::path& dir);
Status checkConfig(const DaemonConfig& config);

// Of [agents] run, item `i`.
Error noSuchAgent(const DaemonConfig& config, std::size_t i);

// All keys with their values, as TOML with one comment a key.
std::string configText(const DaemonConfig& config);

}  // namespace witan::node
