// ToolBroker: the one place from which agents' calls of tools outside leave this node. What an Effect permits
// (capabilities, budget, policy, receipts, a person) comes here as a ToolCall; here it meets the limits of its tool:
// rate, number at once, time, and of what comes back the size, number of elements, depth and schema. Programs and
// connections are begun by the first call and end with the broker.
//
// A result is data: nothing in it changes a role, a list of tools or a budget, because none of them is asked of it.
// What a tool says, in results, errors and on stderr, goes on without the tool's secret.
//
// Belongs to its loop's thread; loop and log outlive it. Answers come from the loop, never from inside call().
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agents/host/agent_host.h"
#include "agents/policy/secure_store.h"
#include "mcp/call.h"
#include "node/telemetry/log.h"
#include "node/tools/secret_strike.h"
#include "node/tools/served_port.h"
#include "node/tools/tool_port.h"

namespace witan::node {

class ToolBroker {
 public:
  // `secrets`: of the tools that name one. Errors: a secret that is not there; a file that cannot be read.
  static Result<std::unique_ptr<ToolBroker>> open(net::Loop& loop, Log& log, std::vector<ToolConfig> tools,
                                                  agents::SecureStore secrets);
  ~ToolBroker();
  ToolBroker(const ToolBroker&) = delete;
  ToolBroker& operator=(const ToolBroker&) = delete;

  using Done = std::function<void(ToolAnswer)>;
  // `done` is called once, unless the broker goes before.
  void call(const agents::ToolCall& call, Done done);
  // What a tool's server says that it offers; empty if it cannot say. Errors: no such tool; unavailable.
  void list(const std::string& name, ToolPort::Listed listed);
  const std::vector<ToolConfig>& tools() const { return tools_; }
  // What tools ask people now, by TOOL/NUMBER.
  std::map<std::string, ToolForm> forms() const;
  // What asks under this id, and the call that it asks in; null: several may be it. `content`: none, it is declined.
  // Errors: notFound, also of a form that is another one than `digest` names; invalid, the content does not fill it in.
  struct AskedIn {
    ToolForm form;
    const agents::ToolCall* call = nullptr;
  };
  Result<AskedIn> asked(const std::string& id, const std::string& digest, const std::optional<json::object>& content);
  // Errors: as asked().
  Status answerForm(const std::string& id, const std::string& digest, const std::optional<json::object>& content);
  static std::string digestOf(const ToolForm& form);
  // Where the program of an agent comes to. Null: the agent is not served.
  ServedPort* served(std::string_view agentId);
  // Whether the agent's program is here, if it has to come.
  bool attended(std::string_view agentId);
  std::size_t underWay() const { return pending_.size(); }

 private:
  struct Tool {
    const ToolConfig* config = nullptr;
    std::shared_ptr<const SecretStrike> strike;  // of all that it says
    std::unique_ptr<ToolPort> port;
    mcp::RateLimit rate;
    std::set<std::uint64_t> active;
    std::deque<std::uint64_t> waiting;
  };
  struct Pending {
    Tool* tool = nullptr;
    agents::ToolCall call;
    Done done;
    std::int64_t sinceMs = 0;
    net::Loop::TimerId timer = 0;
  };

  ToolBroker(net::Loop& loop, Log& log, std::vector<ToolConfig> tools, agents::SecureStore secrets);
  Status openPorts();
  void start(std::uint64_t key);
  void finish(std::uint64_t key, ToolAnswer answer);
  void refuse(Done done, ToolAnswer::Kind kind, std::string why);
  void record(const Pending& call, const ToolAnswer& answer);

  net::Loop& loop_;
  Log& log_;
  const std::vector<ToolConfig> tools_;
  const agents::SecureStore secrets_;
  std::map<std::uint64_t, Pending> pending_;
  std::uint64_t nextKey_ = 1;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::map<std::string, Tool, std::less<>> byName_;  // goes before what its ports call
};

// Gives agents the tools of a configuration, and tells their policy the names of the secrets that are there.
void offerTools(agents::HostOptions& options, const std::vector<ToolConfig>& tools);

// The outcome of a call, to the host that made it.
void deliver(agents::AgentHost& host, const agents::ToolCall& call, const ToolAnswer& answer, Now now);

// The secrets of a data directory, if one of the tools names one; else none. `keyFile`: of a file of secrets that is
// for a key file; a passphrase is the first line of the file that $WITAN_PASSPHRASE_FILE names.
Result<agents::SecureStore> secretsOf(const std::filesystem::path& dir, const std::vector<ToolConfig>& tools,
                                      const std::string& keyFile);
// All of them. Errors: there are none.
Result<agents::SecureStore> secretsIn(const std::filesystem::path& dir, const std::string& keyFile);

}  // namespace witan::node
