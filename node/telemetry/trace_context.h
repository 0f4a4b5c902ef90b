// W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/): which trace a request belongs to, as the header
// `traceparent: 00-{trace id}-{span id}-{flags}`. And the ids of requests that came without one: they follow from the
// operation id, so all devices that have to do with an operation say the same without telling each other.
//
// Values and pure functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace witan::node {

struct TraceContext {
  std::string traceId;  // 32 hex digits, not all zero
  std::string spanId;   // 16 hex digits, not all zero
  bool sampled = true;
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

// None: it has another form. A version after 00 may have more fields, which are skipped.
std::optional<TraceContext> parseTraceparent(std::string_view header);
std::string formatTraceparent(const TraceContext& context);

// The first bytes of SHA-256 over the operation id, and of the span's name with it.
std::string derivedTraceId(std::string_view operationId);
std::string derivedSpanId(std::string_view operationId, std::string_view name);

}  // namespace witan::node
