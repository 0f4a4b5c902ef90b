// ToolPort: the way to one configured tool. The broker calls it; a port knows one protocol and nothing of agents.
//
// Belongs to its loop's thread; loop and configuration outlive it. Destroying it ends programs and connections, and
// calls nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/secret.h"
#include "base/time.h"
#include "mcp/elicitation.h"
#include "net/loop.h"
#include "node/config/tool_config.h"

namespace witan::node {

struct ToolRequest {
  std::string operation;    // "read_text_file"
  std::string operationId;  // of an action, in hex; empty: a look
  json::object arguments;
};

// done: `content` is the result. unusable: it was done, and the result is not one. failed: it was not done, for good.
// notDone: nor asked for; may be tried again. uncertain: nobody can say.
struct ToolAnswer {
  enum class Kind { done, unusable, failed, notDone, uncertain } kind = Kind::uncertain;
  json::value content;
  std::string error;
  std::int64_t tokens = 0, seconds = 0;  // what it did cost
};

struct OfferedTool {
  std::string name, description, problem;     // problem: why it cannot be called
  bool readOnly = false, idempotent = false;  // as the server claims
};

struct ToolListing {
  std::string server, protocol;
  std::vector<OfferedTool> tools;
};

// What a tool asks a person, amid a call.
struct ToolForm {
  mcp::Form form;
  std::string operation;  // empty: the tool does not say in which call
  Time since, until;      // asked; given up, so that the tool hears in time that no person answers
};

class ToolPort {
 public:
  using Done = std::function<void(ToolAnswer)>;
  using Listed = std::function<void(Result<ToolListing>)>;

  virtual ~ToolPort() = default;
  // `done` is called at most once, at once or later; it must not call the port.
  virtual void call(std::uint64_t key, ToolRequest request, Done done) = 0;
  // Nobody waits for it any more: its `done` is not called.
  virtual void cancel(std::uint64_t key) = 0;
  // What the other side says that it offers. Likewise.
  virtual void list(Listed listed) { listed(ToolListing{}); }
  // By numbers that are not used again, also by another life of the node.
  virtual const std::map<std::uint64_t, ToolForm>& forms() const {
    static const std::map<std::uint64_t, ToolForm> none;
    return none;
  }
  // Requires: forms() has the number; accept has `content` that conforms.
  virtual void answerForm(std::uint64_t, mcp::FormAction, json::object) {}
};

// `say` gets what people should know: what a program writes to stderr, why a session ended.
struct PortSetup {
  net::Loop& loop;
  const ToolConfig& config;
  const Secret* secret = nullptr;  // outlives the port
  std::function<void(std::string_view)> say;
};

std::unique_ptr<ToolPort> mcpPort(PortSetup setup);
std::unique_ptr<ToolPort> commandPort(PortSetup setup);
// The program of an agent's file, kept running; asked one thing after the other.
std::unique_ptr<ToolPort> programPort(PortSetup setup);
std::unique_ptr<ToolPort> httpPort(PortSetup setup);
std::unique_ptr<ToolPort> modelPort(PortSetup setup);
// Errors: a file.
Result<std::unique_ptr<ToolPort>> factsPort(PortSetup setup);
Result<std::unique_ptr<ToolPort>> replayPort(PortSetup setup);

// NAME=VALUE of all variables that a program of this tool gets.
std::vector<std::string> environmentOf(const PortSetup& setup);

// The arguments, with the operation id where the tool wants it.
json::object argumentsOf(const ToolConfig& config, const ToolRequest& request);

// Whether a result is within the limits that seed 002 has for whatever comes back.
Status checkResult(const ToolConfig& config, const json::value& content);

// What tells two recorded calls apart.
std::string callDigest(const std::string& tool, const json::object& arguments);

}  // namespace witan::node
