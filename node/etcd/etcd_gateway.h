// EtcdGateway: carries what a replica asks of etcd (Effects::etcd) to one member at a time, through its JSON gateway,
// and brings the answers back. It knows nothing of partitions; what an unanswered request means is the engine's affair
// (replica/ownership/etcd_engine.h).
//
//   start()         asks the first endpoint whether a majority answers there; if so: connected()
//   send(requests)  many at a time, each on a connection of its own; the watch has one for itself, leases have one
//   a failure       of the member, or of a majority as it sees it: disconnected(), and the next endpoint is tried,
//   after
//                   a pause once all have failed
//   release()       gives back what was leased, for an end in good order
//
// A request without an answer within `answerMs` is forgotten here; the engine asks again. A member that has answered
// nothing at all since then counts as failed. Nothing here waits: an etcd that is slow or absent costs nothing but
// time.
//
// Belongs to the loop's thread; loop, log and what the events refer to outlive it. Events come from the loop, never
// from inside a call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "node/config/daemon_config.h"
#include "node/etcd/etcd_json.h"
#include "node/telemetry/log.h"

namespace witan::node {

struct EtcdGatewayOptions {
  std::vector<net::HttpEndpoint> endpoints;  // at least one
  std::int64_t answerMs = 2'000;
};

// Of [ledger] etcd, etcd_ca, etcd_cert, etcd_key. Errors name the endpoint.
Result<std::vector<net::HttpEndpoint>> etcdEndpoints(const DaemonConfig& config);

struct EtcdGatewayState {
  bool connected = false;
  std::string endpoint;       // in use, or tried last
  std::string problem;        // the latest, while it lasts; empty: none
  std::uint64_t cluster = 0;  // etcd's id of itself; 0: not heard
  std::uint64_t connections = 0, failures = 0;
  std::uint64_t requests = 0, answers = 0, unanswered = 0, refused = 0, tooLarge = 0, events = 0;
  std::uint64_t bytesOut = 0, bytesIn = 0;
};

class EtcdGateway {
 public:
  struct Events {
    std::function<void()> connected, disconnected;
    std::function<void(const EtcdAnswer&)> received;
  };

  EtcdGateway(net::Loop& loop, Log& log, EtcdGatewayOptions options, Events events);
  ~EtcdGateway();
  EtcdGateway(const EtcdGateway&) = delete;

  void start();
  void send(std::vector<EtcdRequest> requests);
  // Nothing is sent or heard after it but that.
  void release();
  const EtcdGatewayState& state() const { return state_; }

 private:
  struct Session;
  void open();
  void onProbe(const Result<net::HttpResponse>& answer);
  void call(const EtcdRequest& request);
  void onAnswer(const EtcdExpected& expected, std::int64_t sentMs, const Result<net::HttpResponse>& answer);
  void onReply(const EtcdReply& reply);
  void onRefusal(const EtcdExpected& expected, const Error& why);
  void watch(const EtcdRequest& request);
  bool onWatch(std::uint64_t id, std::string_view bytes);
  bool isAnother(const EtcdReply& reply);
  void fail(const Error& why);
  void trouble(const Error& why);

  net::Loop& loop_;
  Log& log_;
  const EtcdGatewayOptions options_;
  const Events events_;
  EtcdGatewayState state_;
  std::shared_ptr<Session> session_;
  std::size_t endpoint_ = 0;    // which is in use
  std::uint64_t inRow_ = 0;     // failures since the last answer
  std::uint64_t revision_ = 0;  // latest heard of
  std::uint64_t lease_ = 0;     // granted last
  net::Loop::TimerId again_ = 0;
  bool released_ = false;
};

}  // namespace witan::node
