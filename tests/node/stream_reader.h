// StreamReader: what a node tells one reader of a stream of events, from a thread of its own.
#pragma once

#include <mutex>
#include <thread>

#include "base/string_util.h"
#include "net/event_parser.h"
#include "net/http_client.h"
#include "tests/node/node_process.h"

namespace witan::node::test {

class StreamReader {
 public:
  // `id`: where it takes the stream up again; empty: nowhere.
  StreamReader(const Node& node, const std::string& target, const std::string& id = {},
               const std::string& role = "observer")
      : client_(loop_, {.address = memberOf(node, "control.json", "address")}) {
    net::HttpRequest request{.method = "GET", .target = target};
    request.headers["authorization"] = "Bearer " + memberOf(node, "control.tokens", role.c_str());
    if (!id.empty()) request.headers["last-event-id"] = id;
    client_.stream(
        std::move(request), [this](const net::HttpResponse&, std::string_view piece) { return take(piece); },
        [this](const Result<net::HttpResponse>& end) {
          const std::lock_guard lock(mutex_);
          status_ = end.ok() ? end->status : -1;
        });
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~StreamReader() {
    loop_.post([this] { client_.close(), loop_.stop(); });
    thread_.join();
  }
  StreamReader(const StreamReader&) = delete;

  std::vector<net::ServerEvent> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  // With which status the stream has ended; 0: it is open; -1: it broke.
  int ended() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  std::string id() const {
    const std::lock_guard lock(mutex_);
    return parser_.lastId();
  }

 private:
  static std::string memberOf(const Node& node, const std::string& file, const char* member) {
    const auto value = parseJson(contentOf(node.dir() + "/" + file));
    return value.ok() ? std::string(value->at(member).as_string()) : "";
  }
  bool take(std::string_view piece) {
    const std::lock_guard lock(mutex_);
    return parser_.feed(piece, [this](const net::ServerEvent& event) { return events_.push_back(event), true; }).ok();
  }

  net::Loop loop_;
  net::HttpClient client_;
  mutable std::mutex mutex_;
  net::EventParser parser_;
  std::vector<net::ServerEvent> events_;
  int status_ = 0;
  std::thread thread_;
};

}  // namespace witan::node::test
