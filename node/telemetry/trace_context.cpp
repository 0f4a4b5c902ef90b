#include "node/telemetry/trace_context.h"

#include <algorithm>

#include "base/bytes.h"

namespace witan::node {

namespace {

bool isHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool isId(std::string_view text) { return isHex(text) && text.find_first_not_of('0') != std::string_view::npos; }

constexpr std::size_t kLength = 55;  // of version 00

}  // namespace

std::optional<TraceContext> parseTraceparent(std::string_view header) {
  if (header.size() < kLength || header[2] != '-' || header[35] != '-' || header[52] != '-') return std::nullopt;
  const std::string_view version = header.substr(0, 2), flags = header.substr(53, 2);
  if (!isHex(version) || version == "ff" || !isHex(flags)) return std::nullopt;
  if (header.size() > kLength && (version == "00" || header[kLength] != '-')) return std::nullopt;
  TraceContext context{std::string(header.substr(3, 32)), std::string(header.substr(36, 16)), true};
  if (!isId(context.traceId) || !isId(context.spanId)) return std::nullopt;
  const char last = flags[1];
  context.sampled = ((last <= '9' ? last - '0' : last - 'a' + 10) & 1) != 0;
  return context;
}

std::string formatTraceparent(const TraceContext& context) {
  return "00-" + context.traceId + "-" + context.spanId + (context.sampled ? "-01" : "-00");
}

std::string derivedTraceId(std::string_view operationId) {
  return toHex(sha256("witan trace\n" + std::string(operationId))).substr(0, 32);
}

std::string derivedSpanId(std::string_view operationId, std::string_view name) {
  return toHex(sha256("witan span\n" + std::string(name) + "\n" + std::string(operationId))).substr(0, 16);
}

}  // namespace witan::node
