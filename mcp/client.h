// Client: one session with an MCP server, of either era: messages in and out, without a transport, a clock or a thread.
//
//   start(now)              what to send first: it asks for the modern era and falls back to the handshake
//   received(message, now)  each message of the server
//   tick(now)               not before nextMs(): what took too long
//   call(...)               once ready(); its answer comes in a turn, under the caller's key
//
// A server may be anything: what it says is checked and bounded. An answer to no question, a malformed message and a
// request of its own cost it a strike; too many end the session. Arguments are held to the tool's input schema before
// they leave, a structured result to its output schema. A tool whose schema cannot be checked cannot be called.
//
// A server may ask back during a call, with a form to fill in (mcp/elicitation.h): what is said then, Asks tells.
//
// Belongs to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_validator.h"
#include "base/sha256.h"
#include "mcp/elicitation.h"
#include "mcp/message.h"

namespace witan::mcp {

// What a server hears that asks: that nobody answers; the defaults of its form; what answerForm() brings.
enum class Asks { refuse, defaults, person };

struct ClientOptions {
  Asks asks = Asks::refuse;
  std::int64_t probeMs = 3'000;       // for the answer to the first question; then the handshake
  std::int64_t handshakeMs = 20'000;  // for each answer until it is ready
  JsonLimits message{.bytes = 1 << 20, .depth = 40};
  std::size_t tools = 512, pages = 20;
  std::size_t strikes = 200;
};

// What the server offers, as it was first read.
struct ServerTool {
  std::string name, description;
  bool readOnly = false, idempotent = false;  // as the server claims
  Hash definition{};                          // of all that it says about the tool
  std::optional<JsonValidator> input, output;
  std::map<std::string, std::string> headers;  // names of HTTP headers, by the argument that each repeats
  std::string problem;                         // why it cannot be called; empty: it can
};

// unusable: the tool did it, and its result breaks its own schema. toolError: it says that it failed. refused: it was
// not done. notSent: nor asked for. unanswered: nobody can say.
struct CallAnswer {
  std::uint64_t key = 0;
  enum class Kind { result, unusable, toolError, refused, notSent, unanswered } kind = Kind::unanswered;
  json::value content;  // of a result
  std::string error;
};

struct AskedForm {
  std::uint64_t number = 0, key = 0;  // key: of the call; 0: the server does not say for which
  Form form;
};

struct ClientTurn {
  std::vector<std::string> out;  // messages to send
  std::vector<CallAnswer> answers;
  std::vector<AskedForm> forms;  // for a person
  bool ready = false;            // it became so
  std::string failed;            // the session is over, why; empty: it goes on
};

class Client {
 public:
  explicit Client(ClientOptions options = {}) : options_(options) {}

  ClientTurn start(std::int64_t nowMs);
  ClientTurn received(std::string_view message, std::int64_t nowMs);
  ClientTurn tick(std::int64_t nowMs);
  // A message of ours got no answer, and will get none. `sent`: the server may have it.
  ClientTurn undelivered(std::string_view message, std::string_view why, bool sent, std::int64_t nowMs);
  std::optional<std::int64_t> nextMs() const;

  // Requires: ready(). The answer may come at once, in the turn. `operation`: an operation id, told to the server
  // beside the arguments.
  ClientTurn call(std::uint64_t key, std::string_view tool, const json::object& arguments, std::string_view operation);
  // What a person said to a form of a turn. Requires: accept has `content` that conforms (checkForm). A form that is
  // not asked any more: nothing.
  ClientTurn answerForm(std::uint64_t number, FormAction action, json::object content);
  bool asks(std::uint64_t number) const { return forms_.contains(number); }
  // What HTTP carries beside a message of ours (2026-07-28, Streamable HTTP; SEP-2243); names in lower case.
  std::map<std::string, std::string> headers(std::string_view message) const;
  // The open question that a message of ours is; none: it is no question, or has its answer.
  std::optional<std::uint64_t> question(std::string_view message) const;
  bool waits(std::uint64_t question) const { return questions_.contains(question); }
  // Nobody waits for it any more. What to send.
  std::vector<std::string> cancel(std::uint64_t key);

  bool ready() const { return phase_ == Phase::ready; }
  // The version that is spoken; empty: none yet.
  const std::string& version() const { return version_; }
  std::string server() const { return server_; }  // its name and version, as it says
  const std::map<std::string, ServerTool, std::less<>>& tools() const { return tools_; }

 private:
  enum class Phase { probing, shaking, listing, ready, over };
  enum class Asked { discover, initialize, list, call };
  struct Question {
    Asked what;
    std::uint64_t key = 0;
    std::string tool;
    json::object params{};    // of a call whose server may ask back
    std::uint64_t asked = 0;  // how often it did
  };
  // A call that goes on when its forms are answered; or a server of the old era that waits for one.
  struct Asking {
    Question call{Asked::call};
    json::value request;  // the id of that server's question
    std::set<std::string> open;
    json::object answers;
  };

  std::string ask(Asked what, std::string_view method, json::object params, std::uint64_t key = 0,
                  std::string tool = {});
  json::object meta() const;
  json::object capabilities() const;
  void inputRequired(ClientTurn& turn, Question question, const json::object& result);
  void askForm(ClientTurn& turn, std::uint64_t asking, const std::string& name, Form form);
  void proceed(ClientTurn& turn, std::uint64_t asking);
  void shake(ClientTurn& turn, std::int64_t nowMs);
  void list(ClientTurn& turn, std::int64_t nowMs, std::string_view cursor);
  void fail(ClientTurn& turn, std::string why);
  void strike(ClientTurn& turn);
  void request(ClientTurn& turn, const json::object& message);
  void answer(ClientTurn& turn, const json::object& message, std::int64_t nowMs);
  void failedAnswer(ClientTurn& turn, const Question& question, const json::object& error, std::int64_t nowMs);
  void discovered(ClientTurn& turn, const json::object& result, std::int64_t nowMs);
  void initialized(ClientTurn& turn, const json::object& result, std::int64_t nowMs);
  void listed(ClientTurn& turn, const json::object& result, std::int64_t nowMs);
  ServerTool toolOf(const json::object& row) const;
  CallAnswer resultOf(const Question& question, const json::object& result) const;

  const ClientOptions options_;
  Phase phase_ = Phase::probing;
  std::string version_, server_;
  std::uint64_t nextId_ = 1;
  std::map<std::uint64_t, Question> questions_;
  std::map<std::uint64_t, Asking> askings_;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string>> forms_;  // of an asking, by its name there
  std::optional<std::int64_t> deadlineMs_;
  std::size_t strikes_ = 0, pages_ = 0;
  bool askedTwice_ = false;  // for the modern era
  std::map<std::string, ServerTool, std::less<>> tools_, reading_;
};

}  // namespace witan::mcp
