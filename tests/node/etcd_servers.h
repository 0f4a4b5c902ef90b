// Members of an etcd as processes on loopback, with data of their own. Debian: etcd-server.
#pragma once

#include <cstdlib>
#include <deque>
#include <optional>

#include "net/http_client.h"
#include "tests/node/process.h"
#include "tests/node/scratch.h"

namespace witan::node::test {

inline bool haveEtcd() { return std::system("command -v etcd > /dev/null 2>&1") == 0; }

class EtcdServers {
 public:
  // Short elections: an answer within a second of a leader's end. `more`: options of every member.
  explicit EtcdServers(std::size_t members, std::vector<std::string> more = {}, std::string scheme = "http://")
      : more_(std::move(more)), scheme_(std::move(scheme)) {
    for (std::size_t i = 0; i < members; ++i) {
      members_.emplace_back();
      members_[i].client = freeAddress();
      members_[i].peer = "http://" + freeAddress();
      cluster_ += (i > 0 ? "," : "") + nameOf(i) + "=" + members_[i].peer;
    }
    for (std::size_t i = 0; i < members; ++i) start(i);
  }

  void start(std::size_t i) {
    Member& member = members_[i];
    const std::string url = scheme_ + member.client;
    std::vector<std::string> words{"etcd",
                                   "--name",
                                   nameOf(i),
                                   "--data-dir",
                                   scratch_ / nameOf(i),
                                   "--listen-client-urls",
                                   url,
                                   "--advertise-client-urls",
                                   url,
                                   "--listen-peer-urls",
                                   member.peer,
                                   "--initial-advertise-peer-urls",
                                   member.peer,
                                   "--initial-cluster",
                                   cluster_,
                                   "--heartbeat-interval",
                                   "50",
                                   "--election-timeout",
                                   "500",
                                   "--logger",
                                   "zap",
                                   "--log-level",
                                   "warn"};
    words.insert(words.end(), more_.begin(), more_.end());
    member.process.emplace(words, scratch_ / (nameOf(i) + ".log"));
  }
  void kill(std::size_t i) { members_[i].process.reset(); }
  std::size_t size() const { return members_.size(); }
  bool running(std::size_t i) const { return members_[i].process.has_value(); }
  std::string url(std::size_t i) const { return scheme_ + members_[i].client; }
  std::vector<std::string> urls() const {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < members_.size(); ++i) all.push_back(url(i));
    return all;
  }

  // Whether a majority answers at a member, now. Plain HTTP only.
  bool answers(std::size_t i) const {
    const auto health = net::httpCall({.address = members_[i].client}, {.target = "/health"}, 1'000);
    return health.ok() && health->body.find("\"true\"") != std::string::npos;
  }
  bool ready() const {
    return until([&] {
      for (std::size_t i = 0; i < members_.size(); ++i)
        if (running(i) && !answers(i)) return false;
      return true;
    });
  }
  // The member that leads; none while there is none.
  std::optional<std::size_t> leader() const {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!running(i)) continue;
      const auto metrics = net::httpCall({.address = members_[i].client}, {.target = "/metrics"}, 1'000);
      if (metrics.ok() && metrics->body.find("\netcd_server_is_leader 1\n") != std::string::npos) return i;
    }
    return std::nullopt;
  }
  // POSTs to a member's gateway.
  std::string post(std::size_t i, const std::string& path, const std::string& body) const {
    const auto answer =
        net::httpCall({.address = members_[i].client}, {.method = "POST", .target = path, .body = body}, 5'000);
    return answer.ok() ? answer->body : answer.error().message;
  }

 private:
  struct Member {
    std::string client, peer;
    std::optional<Process> process;
  };
  static std::string nameOf(std::size_t i) { return "m" + std::to_string(i); }

  Scratch scratch_;
  const std::vector<std::string> more_;
  const std::string scheme_;
  std::string cluster_;
  std::deque<Member> members_;
};

}  // namespace witan::node::test
