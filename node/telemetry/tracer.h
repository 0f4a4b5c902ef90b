// Tracer: the way of a proposal as spans, sent to an OTLP/HTTP collector ([trace] otlp).
//
//   POST /v1/propose       where it was asked; child of the caller's span if a traceparent came
//     witan.route          until the answer is there; to whom it went
//       witan.decide       on the owner: from the decision to the moment when its ledger entry is durable
//         witan.follow     on every other device: from the decision to the moment when its copy is durable
//
// And the runs of graphs, by the owner of their ledger (node/telemetry/graph_spans.h).
//
// Trace and span ids follow from the operation id, so the devices' spans make one tree. With a caller's context the
// asking device's spans are in the caller's trace, and link to the derived one, where those of the others are.
// Spans carry names and numbers: no entity, no contents.
//
// Spans wait in a bounded queue; what a slow or absent collector does not take is dropped and counted, and never holds
// anything up. On the loop's thread; loop and log outlive it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "kernel/record/entry.h"
#include "net/http_client.h"
#include "node/telemetry/log.h"
#include "replica/core/messages.h"

namespace witan::node {

// ---- spans: values and pure functions, any thread

// W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/): which trace a request belongs to, as the header
// `traceparent: 00-{trace id}-{span id}-{flags}`. And the ids of requests that came without one: they follow from the
// operation id, so all devices that have to do with an operation say the same without telling each other.
struct TraceContext {
  std::string traceId;  // 32 hex digits, not all zero
  std::string spanId;   // 16 hex digits, not all zero
  bool sampled = true;
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

enum class SpanKind { internal = 1, server = 2, client = 3 };

struct SpanAttribute {
  std::string key;
  std::variant<std::string, std::int64_t, bool> value;
};

struct Span {
  std::string traceId, spanId, parentSpanId;  // hex; parent empty: a root
  std::string name;
  SpanKind kind = SpanKind::internal;
  Time start, end;
  std::vector<SpanAttribute> attributes;
  std::vector<TraceContext> links;
  std::string error;  // empty: status unset
};

// Of the resource: the process that made them.
struct TraceOrigin {
  std::string device, name;
};

// An ExportTraceServiceRequest in the JSON of OTLP/HTTP 1.x (opentelemetry-proto trace/v1; JSON mapping of the
// specification): ids in hex, times as decimal strings of nanoseconds, 64-bit integers as strings, enums as numbers,
// names in lowerCamelCase.
json::object otlpRequest(const TraceOrigin& origin, const std::vector<Span>& spans);

// None: it has another form. A version after 00 may have more fields, which are skipped.
std::optional<TraceContext> parseTraceparent(std::string_view header);
std::string formatTraceparent(const TraceContext& context);

// The first bytes of SHA-256 over the operation id, and of the span's name with it.
std::string derivedTraceId(std::string_view operationId);
std::string derivedSpanId(std::string_view operationId, std::string_view name);

// ---- the tracer

struct TracedCall {
  std::string route, operationId, domain, role, partition;
  std::string owner;        // device; empty: nobody known
  std::string traceparent;  // as the caller sent it; empty: none
};

class GraphSpans;

class Tracer {
 public:
  // `url`: http://HOST:PORT, with a path or without (then /v1/traces). Errors: another form.
  static Result<std::unique_ptr<Tracer>> open(net::Loop& loop, Log& log, const std::string& url, TraceOrigin origin);
  ~Tracer();

  // What is known when a request is asked; null: the caller does not want it traced.
  struct Asked {
    TracedCall call;
    Time at;
    TraceContext route;    // the span of that name
    std::string parent;    // of the server span
    std::string server;    // its id
    bool foreign = false;  // the trace is the caller's
  };
  std::shared_ptr<const Asked> asked(TracedCall call, Time now);
  void answered(const std::shared_ptr<const Asked>& asked, const Result<Answer>& answer, Time now);
  // An entry became durable here.
  void entry(const std::string& partition, const kernel::EntryView& entry, bool owned, Time now);

  void flush();  // sends what waits, without waiting for the answer
  std::uint64_t exported() const { return exported_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  Tracer(net::Loop& loop, Log& log, net::HttpEndpoint endpoint, std::string path, TraceOrigin origin);
  void add(Span span);
  void send();
  void done(std::size_t spans, const Result<net::HttpResponse>& response);

  net::Loop& loop_;
  Log& log_;
  const std::string path_;
  const TraceOrigin origin_;
  net::HttpClient client_;
  std::deque<Span> waiting_;
  // Callers' contexts by operation id, until its entry is here; the oldest go first.
  std::map<std::string, TraceContext, std::less<>> foreign_;
  std::deque<std::string> foreignOrder_;
  const std::unique_ptr<GraphSpans> graphs_;
  net::Loop::TimerId timer_ = 0;
  bool sending_ = false, quiet_ = false;
  std::uint64_t exported_ = 0, dropped_ = 0;
};

}  // namespace witan::node
