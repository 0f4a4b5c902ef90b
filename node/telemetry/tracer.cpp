#include "node/telemetry/tracer.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/quote.h"
#include "net/address.h"
#include "node/telemetry/graph_spans.h"

namespace witan::node {

namespace {

constexpr std::size_t kMostWaiting = 4096;
constexpr std::size_t kMostAtOnce = 512;
constexpr std::int64_t kEveryMs = 1'000;

constexpr const char* kRoute = "witan.route";
constexpr const char* kDecide = "witan.decide";
constexpr const char* kFollow = "witan.follow";

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

bool isHex(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool isId(std::string_view text) { return isHex(text) && text.find_first_not_of('0') != std::string_view::npos; }

constexpr std::size_t kLength = 55;  // of version 00

}  // namespace

Result<std::unique_ptr<Tracer>> Tracer::open(net::Loop& loop, Log& log, const std::string& url, TraceOrigin origin) {
  const auto wrong = [&](const std::string& why) {
    return invalid("[trace] otlp is " + inQuotes(url) + " (" + why + ")", "expected http://HOST:PORT");
  };
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme)) return wrong("it does not begin with http://");
  const std::size_t slash = std::min(url.find('/', scheme.size()), url.size());
  net::HttpEndpoint endpoint{.address = url.substr(scheme.size(), slash - scheme.size())};
  if (auto address = net::parseAddress(endpoint.address); !address.ok()) return wrong(address.error().message);
  std::string path = url.substr(slash);
  if (path.empty() || path == "/") path = "/v1/traces";
  return std::unique_ptr<Tracer>(new Tracer(loop, log, std::move(endpoint), std::move(path), std::move(origin)));
}

Tracer::Tracer(net::Loop& loop, Log& log, net::HttpEndpoint endpoint, std::string path, TraceOrigin origin)
    : loop_(loop),
      log_(log),
      path_(std::move(path)),
      origin_(std::move(origin)),
      client_(loop, std::move(endpoint), {.maxBodyBytes = 1 << 20, .timeoutMs = 10'000}),
      graphs_(std::make_unique<GraphSpans>()) {}

Tracer::~Tracer() {
  if (timer_ != 0) loop_.cancel(timer_);
}

std::shared_ptr<const Tracer::Asked> Tracer::asked(TracedCall call, Time now) {
  Asked asked;
  asked.at = now;
  const auto given = parseTraceparent(call.traceparent);
  if (given && !given->sampled) return nullptr;
  asked.foreign = given.has_value();
  asked.parent = given ? given->spanId : "";
  asked.server = derivedSpanId(call.operationId, call.route);
  asked.route = {given ? given->traceId : derivedTraceId(call.operationId), derivedSpanId(call.operationId, kRoute)};
  if (given && foreign_.insert_or_assign(call.operationId, asked.route).second) {
    foreignOrder_.push_back(call.operationId);
    if (foreignOrder_.size() > kMostWaiting) foreign_.erase(foreignOrder_.front()), foreignOrder_.pop_front();
  }
  asked.call = std::move(call);
  return std::make_shared<const Asked>(std::move(asked));
}

void Tracer::answered(const std::shared_ptr<const Asked>& asked, const Result<Answer>& answer, Time now) {
  if (!asked) return;
  const TracedCall& call = asked->call;
  Span server{
      asked->route.traceId, asked->server, asked->parent, "POST " + call.route, SpanKind::server, asked->at, now};
  server.attributes = {{"http.request.method", std::string("POST")},
                       {"http.route", call.route},
                       {"witan.operation.id", call.operationId},
                       {"witan.domain", call.domain}};
  if (!call.role.empty()) server.attributes.push_back({"witan.role", call.role});
  if (asked->foreign)
    server.links = {{derivedTraceId(call.operationId), derivedSpanId(call.operationId, kRoute), true}};
  Span route{asked->route.traceId, asked->route.spanId, asked->server, kRoute, SpanKind::client, asked->at, now};
  route.attributes = {{"witan.partition", call.partition},
                      {"witan.owner", call.owner},
                      {"witan.owner.here", call.owner == origin_.device}};
  if (answer.ok()) {
    const bool again = answer->outcome == kernel::Outcome::duplicate;
    server.attributes.push_back({"witan.outcome", std::string(enumName(again ? answer->recorded : answer->outcome))});
    server.attributes.push_back({"witan.duplicate", again});
    if (answer->seq > 0) server.attributes.push_back({"witan.ledger.seq", static_cast<std::int64_t>(answer->seq)});
    if (!answer->invariant.empty()) server.attributes.push_back({"witan.invariant", answer->invariant});
  } else {
    server.error = route.error = answer.error().message;
  }
  add(std::move(route));
  add(std::move(server));
}

void Tracer::entry(const std::string& partition, const kernel::EntryView& entry, bool owned, Time now) {
  const std::string operation(entry.operationId);
  if (operation.empty()) return;
  const auto given = foreign_.find(operation);
  Span span;
  span.traceId = given == foreign_.end() ? derivedTraceId(operation) : given->second.traceId;
  span.spanId = derivedSpanId(operation, owned ? std::string(kDecide) : kFollow + (" " + origin_.device));
  // A decision that an escalation led to is an entry of its own under its own operation.
  span.parentSpanId = derivedSpanId(operation, owned ? kRoute : kDecide);
  span.name = owned ? kDecide : kFollow;
  span.start = entry.time;
  span.end = now;
  span.attributes = {{"witan.operation.id", operation},
                     {"witan.partition", partition},
                     {"witan.ledger.seq", static_cast<std::int64_t>(entry.seq)},
                     {"witan.outcome", std::string(enumName(kernel::outcomeOf(entry.tag)))}};
  add(std::move(span));
  if (owned && entry.tag == kernel::Tag::approved && partition.starts_with("graph/"))
    for (Span& one : graphs_->ended(entry)) add(std::move(one));
}

void Tracer::add(Span span) {
  if (waiting_.size() >= kMostWaiting) {
    ++dropped_;
    return;
  }
  waiting_.push_back(std::move(span));
  if (timer_ == 0)
    timer_ = loop_.after(kEveryMs, [this] {
      timer_ = 0;
      send();
    });
}

void Tracer::flush() { send(); }

void Tracer::send() {
  if (sending_ || waiting_.empty()) return;
  std::vector<Span> spans;
  while (!waiting_.empty() && spans.size() < kMostAtOnce) {
    spans.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  net::HttpRequest request{.method = "POST", .target = path_};
  request.headers["content-type"] = "application/json";
  request.body = canonicalJson(otlpRequest(origin_, spans));
  sending_ = true;
  client_.request(std::move(request),
                  [this, sent = spans.size()](const Result<net::HttpResponse>& response) { done(sent, response); });
}

// Said once when it begins to fail, once when it is well again.
void Tracer::done(std::size_t spans, const Result<net::HttpResponse>& response) {
  sending_ = false;
  const bool taken = response.ok() && response->status / 100 == 2;
  (taken ? exported_ : dropped_) += spans;
  if (!taken && !quiet_)
    log_.warn("trace", "the collector takes no spans; they are dropped and counted",
              {{"why", response.ok() ? concat("status ", response->status) : response.error().message}});
  if (taken && quiet_) log_.info("trace", "the collector takes spans again");
  quiet_ = !taken;
  if (!waiting_.empty() && timer_ == 0)
    timer_ = loop_.after(taken ? 1 : kEveryMs, [this] {
      timer_ = 0;
      send();
    });
}

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
  return toHex(sha256(concat("witan trace\n", operationId))).substr(0, 32);
}

std::string derivedSpanId(std::string_view operationId, std::string_view name) {
  return toHex(sha256(concat("witan span\n", name, "\n", operationId))).substr(0, 16);
}

}  // namespace witan::node
