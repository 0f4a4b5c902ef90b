// Spans, and their form on the wire: the JSON of OTLP/HTTP 1.x (opentelemetry-proto trace/v1; JSON mapping of the
// specification): ids in hex, times as decimal strings of nanoseconds, 64-bit integers as strings, enums as numbers,
// names in lowerCamelCase.
//
// Values and a pure function, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "node/telemetry/trace_context.h"

namespace witan::node {

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

// An ExportTraceServiceRequest.
json::object otlpRequest(const TraceOrigin& origin, const std::vector<Span>& spans);

}  // namespace witan::node
