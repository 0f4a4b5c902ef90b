// Tools without a protocol of their own: a local command, an HTTP API, and what was recorded of another.
#include <cstdlib>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "net/child_process.h"
#include "net/http_client.h"
#include "node/tools/openapi_document.h"
#include "node/tools/tool_address.h"
#include "node/tools/tool_port.h"
#include "program/durable_file.h"
#include "program/line_reader.h"

namespace witan::node {

namespace {

using Kind = ToolAnswer::Kind;

constexpr std::size_t kMostOutput = 1 << 20, kMostErrorWords = 512;
constexpr std::size_t kMostRecordedLine = 1 << 20, kMostRecorded = 100'000, kMostDocument = 4 << 20;

// JSON if it is some, else a text.
ToolAnswer contentOf(std::string_view body) {
  if (auto value = parseJson(body, {.bytes = kMostOutput, .depth = 40}); value.ok()) return {Kind::done, *value, ""};
  if (!isUtf8(body)) return {Kind::unusable, nullptr, "the result is neither JSON nor text"};
  return {Kind::done, json::value(body), ""};
}

std::string endWords(std::string_view how, std::string_view errors) {
  const std::string_view last = isUtf8(errors) ? clip(errors, kMostErrorWords) : std::string_view();
  return concat("the command has ended: ", how, last.empty() ? "" : ": ", last);
}

// One process a call: the request on stdin, the result on stdout. Exit code 0: done; 75 (EX_TEMPFAIL): nothing was
// done, try again; others: it failed.
class CommandPort final : public ToolPort {
 public:
  explicit CommandPort(PortSetup setup) : setup_(std::move(setup)) {}

  void call(std::uint64_t key, ToolRequest request, Done done) override {
    Running& run = running_[key];
    run.done = std::move(done);
    net::ChildOptions options{.command = setup_.config.command,
                              .environment = environmentOf(setup_),
                              .network = setup_.config.network,
                              .memoryBytes = static_cast<std::uint64_t>(setup_.config.memoryMb) << 20};
    net::ChildEvents events{
        .out = [this, key](std::string_view bytes) { took(key, bytes); },
        .err =
            [this, key](std::string_view bytes) {
              std::string& words = running_[key].errors;
              words.append(bytes.substr(0, kMostErrorWords - std::min(words.size(), kMostErrorWords)));
            },
        .ended = [this, key](const std::string& how) { ended(key, how); },
    };
    auto child = net::ChildProcess::start(setup_.loop, std::move(options), std::move(events));
    if (!child.ok()) return finish(key, {Kind::notDone, nullptr, child.error().message});
    run.child = *std::move(child);
    json::object asked{{"operation", request.operation}, {"arguments", argumentsOf(setup_.config, request)}};
    if (!request.operationId.empty()) asked["operationId"] = request.operationId;
    (void)run.child->send(canonicalJson(asked) + "\n");
    run.child->closeInput();
  }

  void cancel(std::uint64_t key) override { running_.erase(key); }

 private:
  struct Running {
    Done done;
    std::string output, errors;
    std::unique_ptr<net::ChildProcess> child;
  };

  void took(std::uint64_t key, std::string_view bytes) {
    Running& run = running_[key];
    run.output += bytes;
    if (run.output.size() > kMostOutput) finish(key, {Kind::unusable, nullptr, "it writes more than 1 MiB"});
  }

  void ended(std::uint64_t key, const std::string& how) {
    const Running& run = running_[key];
    if (how == "exit code 0") return finish(key, contentOf(run.output));
    // A signal may have come when all was done.
    const Kind kind = how == "exit code 75" || how.find("127") != how.npos ? Kind::notDone
                      : how.starts_with("signal")                          ? Kind::uncertain
                                                                           : Kind::failed;
    finish(key, {kind, nullptr, endWords(how, run.errors)});
  }

  void finish(std::uint64_t key, ToolAnswer answer) {
    const auto node = running_.extract(key);
    node.mapped().done(std::move(answer));
  }

  const PortSetup setup_;
  std::map<std::uint64_t, Running> running_;
};

// POST url/OPERATION with the arguments as JSON, or as an OpenAPI document says; an action has its operation id as
// Idempotency-Key.
class HttpPort final : public ToolPort {
 public:
  explicit HttpPort(PortSetup setup) : setup_(std::move(setup)) {
    auto address = toolAddress(setup_.config.url);
    if (!address.ok()) {
      problem_ = address.error().message;
      return;
    }
    path_ = address->path == "/" ? "" : address->path;
    if (!setup_.config.file.empty())
      if (const Status read = readDocument(); !read.ok()) {
        problem_ = concat(setup_.config.file, ": ", read.error().message);
        return;
      }
    client_ = std::make_unique<net::HttpClient>(setup_.loop, address->endpoint, toolClientOptions(setup_.config));
  }

  void call(std::uint64_t key, ToolRequest request, Done done) override {
    if (!client_) return done({Kind::failed, nullptr, problem_});
    auto asked = requestOf(request);
    if (!asked.ok()) return done({Kind::failed, nullptr, asked.error().message});
    calls_.emplace(key, std::move(done));
    if (!request.operationId.empty()) asked->headers["idempotency-key"] = request.operationId;
    addSecret(*asked, setup_);
    client_->request(*std::move(asked), [this, key, operation = request.operation](Result<net::HttpResponse> answer) {
      const auto at = calls_.extract(key);
      if (!at.empty()) at.mapped()(checked(operation, answer, answerOf(answer)));
    });
  }

  void cancel(std::uint64_t key) override { calls_.erase(key); }

  void list(Listed listed) override {
    if (!client_) return listed(invalid(problem_));
    ToolListing listing;
    if (document_) listing = {document_->title(), "", {}};
    if (document_)
      for (const auto& [name, operation] : document_->operations())
        listing.tools.push_back({name, operation.what, operation.problem, operation.method == "GET", false});
    listed(std::move(listing));
  }

 private:
  Status readDocument() {
    WITAN_TRY(text, readSmallFile(setup_.config.file, kMostDocument));
    if (!text) return notFound("there is no such file");
    WITAN_SET(document_, OpenApiDocument::read(*text));
    return okStatus();
  }

  Result<net::HttpRequest> requestOf(const ToolRequest& request) const {
    const json::object arguments = argumentsOf(setup_.config, request);
    if (document_) {
      WITAN_TRY(asked, document_->request(request.operation, arguments));
      asked.target.insert(0, path_);
      return std::move(asked);
    }
    net::HttpRequest asked{.method = "POST", .target = path_ + "/" + net::percentEncoded(request.operation)};
    asked.headers = {{"content-type", "application/json"}, {"accept", "application/json"}};
    asked.body = canonicalJson(arguments);
    return asked;
  }

  // What was done, and breaks what the document promises, is no result.
  ToolAnswer checked(const std::string& operation, const Result<net::HttpResponse>& answer, ToolAnswer given) const {
    if (!document_ || given.kind != Kind::done) return given;
    const Status good = document_->check(operation, answer->status, given.content);
    return good.ok() ? given : ToolAnswer{Kind::unusable, nullptr, good.error().message};
  }

  static ToolAnswer answerOf(const Result<net::HttpResponse>& answer) {
    if (!answer.ok())
      return {answer.error().hint == net::kNothingSent ? Kind::notDone : Kind::uncertain, nullptr,
              answer.error().message};
    if (answer->status / 100 == 2) return contentOf(answer->body);
    const std::string_view body = isUtf8(answer->body) ? clip(answer->body, kMostErrorWords) : std::string_view();
    const bool busy = answer->status == 429 || answer->status == 503;
    const bool refused = answer->status / 100 == 4 && answer->status != 408;
    return {busy      ? Kind::notDone
            : refused ? Kind::failed
                      : Kind::uncertain,
            nullptr, concat("HTTP ", answer->status, body.empty() ? "" : ": ", body)};
  }

  const PortSetup setup_;
  std::optional<OpenApiDocument> document_;
  std::string path_, problem_;
  std::map<std::uint64_t, Done> calls_;
  std::unique_ptr<net::HttpClient> client_;
};

// What `record` has written of another port, by the digest of each call.
class ReplayPort final : public ToolPort {
 public:
  ReplayPort(const std::string& name, std::map<std::string, json::object> recorded)
      : name_(name), recorded_(std::move(recorded)) {}

  void call(std::uint64_t, ToolRequest request, Done done) override {
    const auto at = recorded_.find(callDigest(name_ + "." + request.operation, request.arguments));
    if (at == recorded_.end()) return done({Kind::failed, nullptr, "no such call was recorded"});
    const json::value* error = at->second.if_contains("error");
    if (error != nullptr && error->is_string()) return done({Kind::failed, nullptr, std::string(error->get_string())});
    const json::value* content = at->second.if_contains("content");
    done({Kind::done, content != nullptr ? *content : json::value(), ""});
  }
  void cancel(std::uint64_t) override {}

 private:
  const std::string name_;
  const std::map<std::string, json::object> recorded_;
};

}  // namespace

std::vector<std::string> environmentOf(const PortSetup& setup) {
  std::vector<std::string> names{"PATH", "HOME", "LANG", "TMPDIR"};
  names.insert(names.end(), setup.config.environment.begin(), setup.config.environment.end());
  std::vector<std::string> out;
  for (const std::string& name : names)
    if (const char* value = std::getenv(name.c_str())) out.push_back(concat(name, "=", value));
  if (setup.secret != nullptr) out.push_back(concat(setup.config.secretAs.substr(4), "=", setup.secret->reveal()));
  return out;
}

json::object argumentsOf(const ToolConfig& config, const ToolRequest& request) {
  json::object arguments = request.arguments;
  if (!config.operationArgument.empty() && !request.operationId.empty())
    arguments[config.operationArgument] = request.operationId;
  return arguments;
}

std::string callDigest(const std::string& tool, const json::object& arguments) {
  return toHex(sha256(canonicalJson(json::array{tool, arguments})));
}

std::unique_ptr<ToolPort> commandPort(PortSetup setup) { return std::make_unique<CommandPort>(std::move(setup)); }
std::unique_ptr<ToolPort> httpPort(PortSetup setup) { return std::make_unique<HttpPort>(std::move(setup)); }

Result<std::unique_ptr<ToolPort>> replayPort(PortSetup setup) {
  std::map<std::string, json::object> recorded;
  const std::string& file = setup.config.file;
  WITAN_DO(forEachLine(file, kMostRecordedLine, [&](const InputLine& line) -> Status {
    const auto value = parseJson(line.text, {.bytes = kMostRecordedLine, .depth = 40});
    const json::object* row = value.ok() ? value->if_object() : nullptr;
    const json::value* digest = row != nullptr ? row->if_contains("digest") : nullptr;
    if (digest == nullptr || !digest->is_string() || recorded.size() >= kMostRecorded)
      return invalid(concat(file, ":", line.number, ": no recorded call"), "witan tool record writes such files");
    recorded.insert_or_assign(std::string(digest->get_string()), *row);
    return okStatus();
  }));
  return std::unique_ptr<ToolPort>(std::make_unique<ReplayPort>(setup.config.name, std::move(recorded)));
}

}  // namespace witan::node
