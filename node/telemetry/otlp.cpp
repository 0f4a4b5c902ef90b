#include "node/telemetry/otlp.h"

#include <algorithm>

namespace witan::node {

namespace {

constexpr int kStatusError = 2;

json::object attribute(const std::string& key, const std::variant<std::string, std::int64_t, bool>& value) {
  json::object out;
  if (const auto* text = std::get_if<std::string>(&value))
    out["stringValue"] = *text;
  else if (const auto* number = std::get_if<std::int64_t>(&value))
    out["intValue"] = std::to_string(*number);
  else
    out["boolValue"] = std::get<bool>(value);
  return {{"key", key}, {"value", std::move(out)}};
}

std::string nanos(Time time) { return std::to_string(time.micros * 1000); }

json::object spanJson(const Span& span) {
  json::array attributes, links;
  for (const SpanAttribute& a : span.attributes) attributes.push_back(attribute(a.key, a.value));
  for (const TraceContext& link : span.links) links.push_back({{"traceId", link.traceId}, {"spanId", link.spanId}});
  json::object out{{"traceId", span.traceId},
                   {"spanId", span.spanId},
                   {"name", span.name},
                   {"kind", static_cast<int>(span.kind)},
                   {"startTimeUnixNano", nanos(span.start)},
                   {"endTimeUnixNano", nanos(std::max(span.start, span.end))},
                   {"attributes", std::move(attributes)},
                   {"status", json::object{}}};
  if (!span.parentSpanId.empty()) out["parentSpanId"] = span.parentSpanId;
  if (!links.empty()) out["links"] = std::move(links);
  if (!span.error.empty()) out["status"] = {{"code", kStatusError}, {"message", span.error}};
  return out;
}

}  // namespace

json::object otlpRequest(const TraceOrigin& origin, const std::vector<Span>& spans) {
  json::array list;
  for (const Span& span : spans) list.push_back(spanJson(span));
  json::array resource{attribute("service.name", std::string("witan")),
                       attribute("service.version", std::string(WITAN_VERSION)),
                       attribute("service.instance.id", origin.device), attribute("host.name", origin.name)};
  json::object scope{{"scope", {{"name", "witan"}, {"version", WITAN_VERSION}}}, {"spans", std::move(list)}};
  json::object group{{"resource", {{"attributes", std::move(resource)}}},
                     {"scopeSpans", json::array{std::move(scope)}}};
  json::array groups;
  groups.push_back(std::move(group));
  json::object request;
  request["resourceSpans"] = std::move(groups);
  return request;
}

}  // namespace witan::node
