#include "node/tools/tool_broker.h"

#include <algorithm>
#include <charconv>
#include <fstream>

#include "agents/episode/turn_check.h"
#include "base/quote.h"
#include "base/seams.h"
#include "base/sha256.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

using Kind = ToolAnswer::Kind;

constexpr std::size_t kMostInTurn = 256;  // for their turn, of one tool

Result<std::unique_ptr<ToolPort>> portOf(PortSetup setup) {
  if (setup.config.kind == "mcp") return mcpPort(std::move(setup));
  if (setup.config.kind == "http") return httpPort(std::move(setup));
  if (setup.config.kind == "model") return modelPort(std::move(setup));
  if (setup.config.kind == "command") return commandPort(std::move(setup));
  if (setup.config.kind == "program") return programPort(std::move(setup));
  if (setup.config.kind == "facts") return factsPort(std::move(setup));
  if (setup.config.kind == "served") return std::unique_ptr<ToolPort>(std::make_unique<ServedPort>(setup.config));
  return replayPort(std::move(setup));
}

ToolAnswer bounded(const ToolConfig& config, const SecretStrike& strike, ToolAnswer answer) {
  answer.error = agents::episode::shortText(strike.of(answer.error));
  answer.content = strike.ofJson(answer.content);
  if (answer.kind != Kind::done) return answer;
  const Status good = checkResult(config, answer.content);
  if (good.ok()) return answer;
  answer.kind = Kind::unusable;
  answer.content = nullptr;
  answer.error = good.error().message;
  return answer;
}

}  // namespace

Status checkResult(const ToolConfig& config, const json::value& content) {
  return agents::episode::checkValue(content, "the result",
                                     {.bytes = static_cast<std::size_t>(config.maxBytes), .depth = 30});
}

ToolBroker::ToolBroker(net::Loop& loop, Log& log, std::vector<ToolConfig> tools, agents::SecureStore secrets)
    : loop_(loop), log_(log), tools_(std::move(tools)), secrets_(std::move(secrets)) {}

ToolBroker::~ToolBroker() {
  for (const auto& [key, call] : pending_) loop_.cancel(call.timer);
}

Result<std::unique_ptr<ToolBroker>> ToolBroker::open(net::Loop& loop, Log& log, std::vector<ToolConfig> tools,
                                                     agents::SecureStore secrets) {
  std::unique_ptr<ToolBroker> broker(new ToolBroker(loop, log, std::move(tools), std::move(secrets)));
  WITAN_DO(broker->openPorts());
  return broker;
}

Status ToolBroker::openPorts() {
  for (const ToolConfig& config : tools_) {
    const Secret* secret = config.secret.empty() ? nullptr : secrets_.find(config.secret);
    if (!config.secret.empty() && secret == nullptr)
      return notFound(concat(config.place, ": [tool.", config.name, "] there is no secret ", inQuotes(config.secret)),
                      "witan secret set " + config.secret);
    const auto strike = std::make_shared<const SecretStrike>(secret);
    // A program may write without end.
    const auto say = [this, name = config.name, strike, rate = mcp::RateLimit(50, 2),
                      passedOver = std::uint64_t{0}](std::string_view words) mutable {
      if (!rate.take(net::Loop::nowMs())) {
        if (++passedOver == 1) log_.warn("tools", "lines of it are not kept: it writes too many", {{"tool", name}});
        return;
      }
      if (const std::uint64_t count = std::exchange(passedOver, 0); count > 0)
        log_.warn("tools", concat(count, " lines of it were not kept"), {{"tool", name}});
      log_.info("tools", agents::episode::shortText(strike->of(words)), {{"tool", name}});
    };
    WITAN_TRY(port, portOf({loop_, config, secret, say}));
    byName_.emplace(config.name,
                    Tool{&config,
                         strike,
                         std::move(port),
                         mcp::RateLimit(config.perMinute, std::max<std::int64_t>(1, config.perMinute / 60)),
                         {},
                         {}});
  }
  return okStatus();
}

void ToolBroker::refuse(Done done, Kind kind, std::string why) {
  loop_.post([done = std::move(done), kind, why = std::move(why), here = std::weak_ptr<bool>(alive_)] {
    if (!here.expired()) done({kind, nullptr, why});
  });
}

void ToolBroker::call(const agents::ToolCall& call, Done done) {
  const std::size_t dot = std::min(call.tool.find('.'), call.tool.size());
  const auto found = byName_.find(call.tool.substr(0, dot));
  const std::string operation = call.tool.substr(std::min(dot + 1, call.tool.size()));
  const auto declared = [&](const std::vector<std::string>& names) {
    return std::ranges::find(names, operation) != names.end();
  };
  if (found == byName_.end() || !declared(call.operation ? found->second.config->actions : found->second.config->looks))
    return refuse(std::move(done), Kind::failed, "no such tool on this device");
  Tool& tool = found->second;
  if (tool.waiting.size() >= kMostInTurn || !tool.rate.take(net::Loop::nowMs()))
    return refuse(std::move(done), Kind::notDone, "too many calls of " + found->first);
  const std::uint64_t key = nextKey_++;
  pending_.emplace(key, Pending{&tool, call, std::move(done), net::Loop::nowMs(), 0});
  tool.waiting.push_back(key);
  start(key);
}

// The next of its tool, if there is room.
void ToolBroker::start(std::uint64_t key) {
  Tool& tool = *pending_.at(key).tool;
  if (tool.active.size() >= static_cast<std::size_t>(tool.config->atOnce)) return;
  tool.waiting.erase(std::ranges::find(tool.waiting, key));
  tool.active.insert(key);
  Pending& call = pending_.at(key);
  call.timer = loop_.after(tool.config->timeoutMs, [this, key] {
    const Pending& late = pending_.at(key);
    late.tool->port->cancel(key);
    finish(key, {Kind::uncertain, nullptr, concat("no answer within ", late.tool->config->timeoutMs, " ms")});
  });
  ToolRequest request{call.call.tool.substr(tool.config->name.size() + 1),
                      call.call.operation ? call.call.operation->hex() : std::string(), call.call.arguments};
  tool.port->call(key, std::move(request), [this, key](ToolAnswer answer) { finish(key, std::move(answer)); });
}

void ToolBroker::finish(std::uint64_t key, ToolAnswer answer) {
  const auto node = pending_.extract(key);
  if (node.empty()) return;
  Pending& call = node.mapped();
  loop_.cancel(call.timer);
  call.tool->active.erase(key);
  answer = bounded(*call.tool->config, *call.tool->strike, std::move(answer));
  answer.seconds = (net::Loop::nowMs() - call.sinceMs + 999) / 1'000;
  record(call, answer);
  loop_.post([done = std::move(call.done), answer = std::move(answer), here = std::weak_ptr<bool>(alive_)] {
    if (!here.expired()) done(answer);
  });
  if (!call.tool->waiting.empty())
    loop_.post([this, next = call.tool->waiting.front(), here = std::weak_ptr<bool>(alive_)] {
      if (!here.expired() && pending_.contains(next)) start(next);
    });
}

void ToolBroker::record(const Pending& call, const ToolAnswer& answer) {
  const std::string& file = call.tool->config->record;
  if (file.empty() || answer.kind == Kind::notDone || answer.kind == Kind::uncertain) return;
  json::object line{{"arguments", call.call.arguments},
                    {"digest", callDigest(call.call.tool, call.call.arguments)},
                    {"tool", call.call.tool}};
  if (answer.kind == Kind::done)
    line["content"] = answer.content;
  else
    line["error"] = answer.error;
  std::ofstream out(file, std::ios::app);
  out << canonicalJson(line) << "\n";
  if (!out.flush()) log_.warn("tools", "a call cannot be recorded", {{"file", file}});
}

void ToolBroker::list(const std::string& name, ToolPort::Listed listed) {
  const auto found = byName_.find(name);
  if (found != byName_.end()) return found->second.port->list(std::move(listed));
  loop_.post([listed = std::move(listed), name] { listed(notFound("there is no tool " + inQuotes(name))); });
}

std::map<std::string, ToolForm> ToolBroker::forms() const {
  std::map<std::string, ToolForm> all;
  for (const auto& [name, tool] : byName_)
    for (const auto& [number, form] : tool.port->forms()) all.emplace(concat(name, "/", number), form);
  return all;
}

std::string ToolBroker::digestOf(const ToolForm& form) {
  return toHex(sha256(canonicalJson(json::array{form.operation, form.form.words, form.form.schema})));
}

Result<ToolBroker::AskedIn> ToolBroker::asked(const std::string& id, const std::string& digest,
                                              const std::optional<json::object>& content) {
  for (auto& [asked, form] : forms()) {
    if (asked != id || digestOf(form) != digest) continue;
    if (content) WITAN_DO(mcp::checkForm(form.form, *content));
    const Tool& tool = byName_.find(id.substr(0, id.find('/')))->second;
    AskedIn found{form, nullptr};
    std::size_t fitting = 0;
    for (const std::uint64_t key : tool.active) {
      const agents::ToolCall& call = pending_.at(key).call;
      if (!form.operation.empty() && call.tool != concat(tool.config->name, ".", form.operation)) continue;
      found.call = ++fitting == 1 ? &call : nullptr;
    }
    return found;
  }
  return notFound("the tool does not ask that any more: " + inQuotes(id), "witan inbox");
}

Status ToolBroker::answerForm(const std::string& id, const std::string& digest,
                              const std::optional<json::object>& content) {
  WITAN_DO(asked(id, digest, content));
  const std::size_t slash = id.find('/');
  std::uint64_t number = 0;
  (void)std::from_chars(id.data() + slash + 1, id.data() + id.size(), number);
  byName_.find(id.substr(0, slash))
      ->second.port->answerForm(number, content ? mcp::FormAction::accept : mcp::FormAction::decline,
                                content.value_or(json::object()));
  return okStatus();
}

ServedPort* ToolBroker::served(std::string_view agentId) {
  const auto found = byName_.find(agentId);
  if (found == byName_.end() || found->second.config->kind != "served") return nullptr;
  return static_cast<ServedPort*>(found->second.port.get());
}

bool ToolBroker::attended(std::string_view agentId) {
  const ServedPort* port = served(agentId);
  return port == nullptr || port->attended();
}

// --- agents

void offerTools(agents::HostOptions& options, const std::vector<ToolConfig>& tools) {
  for (const ToolConfig& tool : tools) {
    for (agents::episode::ToolInfo& info : toolInfos(tool)) options.tools.push_back(std::move(info));
    if (tool.idempotent) continue;
    for (const std::string& action : tool.actions) options.onceTools.insert(concat(tool.name, ".", action));
  }
}

namespace {

void deliverOutcome(agents::AgentHost& host, const agents::ToolCall& call, const ToolAnswer& answer, Now now) {
  using replication::OperationOutcome;
  const OperationId& operation = *call.operation;
  const auto said = [&](OperationOutcome outcome, json::value result) {
    host.answered(operation, {outcome, canonicalJson(result)}, now);
  };
  switch (answer.kind) {
    case Kind::done: return said(OperationOutcome::applied, answer.content);
    case Kind::unusable: return said(OperationOutcome::applied, json::object{{"unusable", answer.error}});
    case Kind::failed: return said(OperationOutcome::failed, json::object{{"error", answer.error}});
    case Kind::notDone: return host.failed(operation, unavailable(answer.error), now);
    case Kind::uncertain: break;
  }
  host.doubted(operation, unavailable(concat(call.tool, " may have acted (", answer.error, ")")), now);
}

}  // namespace

void deliver(agents::AgentHost& host, const agents::ToolCall& call, const ToolAnswer& answer, Now now) {
  if (call.operation) return deliverOutcome(host, call, answer, now);
  const bool ok = answer.kind == Kind::done;
  (void)host.observed(call.run, call.span,
                      {ok, ok ? answer.content : json::value(), answer.error, answer.tokens, answer.seconds});
}

// --- secrets

namespace {

Result<agents::StoreKey> storeKey(const std::string& file, const std::string& keyFile) {
  WITAN_TRY(kind, agents::storeKeyKind(file));
  const bool byKey = kind == agents::StoreKeyKind::keyFile;
  const char* named = std::getenv("WITAN_PASSPHRASE_FILE");
  const std::string path = byKey ? keyFile : named != nullptr ? named : "";
  if (path.empty())
    return invalid(
        "a tool needs a secret, and the node has no key to the secrets",
        byKey ? "[agents] secret_key names the key file" : "$WITAN_PASSPHRASE_FILE names a file with the passphrase");
  WITAN_TRY(content, readSmallFile(path, agents::kMaxPassphraseBytes));
  if (!content) return notFound("there is no file " + path);
  if (byKey) return agents::keyFromFile(*content);
  content->resize(std::min(content->find_first_of("\r\n"), content->size()));
  return agents::keyFromPassphrase(Secret::take(*content));
}

}  // namespace

Result<agents::SecureStore> secretsOf(const std::filesystem::path& dir, const std::vector<ToolConfig>& tools,
                                      const std::string& keyFile) {
  const bool needed = std::ranges::any_of(tools, [](const ToolConfig& tool) { return !tool.secret.empty(); });
  if (!needed) return agents::SecureStore();
  return secretsIn(dir, keyFile);
}

Result<agents::SecureStore> secretsIn(const std::filesystem::path& dir, const std::string& keyFile) {
  WITAN_TRY(file, readSmallFile(dir / "secrets.witan", agents::kMaxSecureStoreBytes));
  if (!file)
    return notFound("a tool or hook needs a secret, and there are none in " + dir.string(), "witan secret set");
  WITAN_TRY(key, storeKey(*file, keyFile));
  return agents::SecureStore::open(*file, key);
}

}  // namespace witan::node
