// Server: one client's conversation by the Model Context Protocol, without input or output: a message in, messages and
// at most one call out. It speaks both eras: 2026-07-28, whose requests carry their version, and 2025-06-18 and
// 2025-11-25 after initialize.
//
//   Turn turn = server.receive(line, nowMs);
//   send(turn.out);
//   if (turn.call) send(server.finish(*turn.call, carryOut(*turn.call)).out);
//
// An outcome with questions becomes input_required in the modern era. In the legacy one the server asks the client
// itself and hands out the call again with the answers. Not thread-safe. Offer and limit outlive it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "mcp/call.h"

namespace witan::mcp {

struct ServerLimits {
  JsonLimits line{.bytes = 1 << 20, .depth = 32};
  std::size_t answerBytes = 1 << 20;
  std::size_t page = 100;         // rows in one answer to a list
  std::size_t asked = 16;         // calls that wait for answers of the client
  std::size_t listens = 8;        // subscriptions/listen at once
  std::size_t subscribed = 1024;  // resources
};

struct Turn {
  std::vector<std::string> out{};  // messages to send
  std::optional<Call> call{};      // to carry out; finish() makes its messages
  int code = kNoError;             // of an error that answers the message
  bool open = false;               // there is no answer yet: our questions, or notifications without end
  bool subscribes = false;         // there may be more to watch
};

enum class Kind { tools, resources, prompts };

class Server {
 public:
  Server(const Offer& offer, RateLimit& calls, ServerLimits limits = {})
      : offer_(offer), calls_(calls), limits_(limits) {}

  // Every request gets exactly one answer, a notification none.
  Turn receive(std::string_view message, std::int64_t nowMs);
  Turn receive(const json::object& message, std::int64_t nowMs);
  Turn finish(const Call& call, const Outcome& outcome);

  // Nothing waits for the answer to this request any more.
  void forget(const json::value& id);

  // Messages for those who subscribed.
  std::vector<std::string> updated(std::string_view uri) const;
  std::vector<std::string> listChanged(Kind kind) const;
  std::set<std::string> subscribed() const;

 private:
  struct Request;
  struct Asked {
    Call call;
    json::object answers;
    std::set<std::string> waiting;  // ids of our requests
    std::string state;
  };
  struct Listen {
    json::value id;
    json::object filter;  // what is sent
  };

  Turn dispatch(Request request, std::int64_t nowMs);
  Turn legacyOnly(const Request& request);
  Turn modernOnly(const Request& request);
  Turn initialize(const Request& request);
  Turn list(const Request& request, const char* member, const json::array& rows) const;
  Turn call(const Request& request, std::int64_t nowMs);
  Turn subscribe(const Request& request);
  Turn listen(const Request& request);
  Turn ask(const Call& call, const Outcome& outcome);
  Turn answered(const json::object& message);
  bool offers(std::string_view capability) const { return offer_.capabilities.contains(capability); }
  bool offers(std::string_view capability, std::string_view detail) const;

  const Offer& offer_;
  RateLimit& calls_;
  const ServerLimits limits_;
  bool initialized_ = false, logs_ = false;
  json::object capabilities_;   // of a legacy client
  std::set<std::string> uris_;  // that a legacy client subscribed to
  std::vector<Listen> listens_;
  std::vector<Asked> asked_;
  std::map<std::string, std::string> questions_;  // keys of what was asked, by the id of our request
  std::uint64_t lastQuestion_ = 0;
};

}  // namespace witan::mcp
