#include "node/etcd/etcd_json.h"

#include <zstd.h>
#include <array>
#include <charconv>

#include "base/bytes.h"
#include "base/json.h"
#include "base/quote.h"
#include "base/utf8.h"

namespace witan::node {

namespace {

constexpr std::size_t kMaxKeys = 100'000;  // in one answer

// --- writing

std::string text64(std::uint64_t value) { return concat("\"", value, "\""); }

void appendBytes(std::string& out, std::string_view name, std::string_view bytes) {
  out.append("\"").append(name).append("\":\"").append(toBase64(bytes)).append("\"");
}

void appendKeys(std::string& out, const EtcdKeys& keys) {
  appendBytes(out, "key", keys.key);
  if (keys.end.empty()) return;
  out += ',';
  appendBytes(out, "range_end", keys.end);
}

void appendOp(std::string& out, const EtcdOp& op) {
  switch (op.act) {
    case EtcdAct::put:
      out += "{\"request_put\":{";
      appendBytes(out, "key", op.keys.key);
      out += ',';
      appendBytes(out, "value", packedForEtcd(op.value));
      if (op.lease != 0) out += ",\"lease\":" + text64(op.lease);
      break;
    case EtcdAct::remove:
      out += "{\"request_delete_range\":{";
      appendKeys(out, op.keys);
      break;
    case EtcdAct::range:
      out += "{\"request_range\":{";
      appendKeys(out, op.keys);
      if (op.limit != 0) out += ",\"limit\":" + text64(op.limit);
      break;
  }
  out += "}}";
}

void appendOps(std::string& out, std::string_view name, const std::vector<EtcdOp>& ops) {
  out.append(",\"").append(name).append("\":[");
  for (const EtcdOp& op : ops) {
    if (&op != ops.data()) out += ',';
    appendOp(out, op);
  }
  out += ']';
}

std::string txnBody(const EtcdRequest& request) {
  std::size_t bytes = 512;
  for (const auto* ops : {&request.then, &request.otherwise})
    for (const EtcdOp& op : *ops) bytes += op.value.size() / 3 * 4 + 512;
  std::string out;
  out.reserve(bytes);
  out += "{\"compare\":[";
  for (const EtcdCompare& compare : request.compares) {
    if (&compare != request.compares.data()) out += ',';
    out += "{\"target\":\"CREATE\",\"result\":\"";
    out += compare.above ? "GREATER\"," : "EQUAL\",";
    appendBytes(out, "key", compare.key);
    out += ",\"create_revision\":" + text64(compare.created) + "}";
  }
  out += ']';
  appendOps(out, "success", request.then);
  appendOps(out, "failure", request.otherwise);
  return out + "}";
}

std::string watchBody(const EtcdRequest& request) {
  std::string out = "{\"create_request\":{";
  appendKeys(out, request.keys);
  // Fragments keep a line to about the size of etcd's largest request.
  return out + ",\"start_revision\":" + text64(request.from) + ",\"fragment\":true}}";
}

// --- reading

Error strange(std::string_view where, const std::string& what) {
  return invalid(concat("etcd's answer: ", where, ": ", what));
}

const json::value* memberOf(const json::object& in, std::string_view name) { return in.if_contains(name); }

// What is left out is 0.
Result<std::uint64_t> numberIn(const json::object& in, std::string_view name) {
  const json::value* at = memberOf(in, name);
  if (at == nullptr) return std::uint64_t{0};
  if (at->is_uint64()) return at->get_uint64();
  if (at->is_int64() && at->get_int64() >= 0) return static_cast<std::uint64_t>(at->get_int64());
  std::uint64_t value = 0;
  if (at->is_string()) {
    const json::string& text = at->get_string();
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure == std::errc{} && end == text.data() + text.size()) return value;
  }
  return strange(name, "is no number");
}

Result<std::string> bytesIn(const json::object& in, std::string_view name) {
  const json::value* at = memberOf(in, name);
  if (at == nullptr) return std::string();
  if (!at->is_string()) return strange(name, "is no text");
  auto bytes = fromBase64(std::string_view(at->get_string()));
  if (!bytes.ok()) return strange(name, bytes.error().message);
  return bytes;
}

Result<bool> flagIn(const json::object& in, std::string_view name) {
  const json::value* at = memberOf(in, name);
  if (at == nullptr) return false;
  if (!at->is_bool()) return strange(name, "is neither true nor false");
  return at->get_bool();
}

// Null where it is left out.
Result<const json::array*> listIn(const json::object& in, std::string_view name) {
  const json::value* at = memberOf(in, name);
  if (at == nullptr) return static_cast<const json::array*>(nullptr);
  if (!at->is_array() || at->get_array().size() > kMaxKeys) return strange(name, "is no list, or too long a one");
  return &at->get_array();
}

Result<const json::object*> objectIn(const json::object& in, std::string_view name) {
  const json::value* at = memberOf(in, name);
  if (at == nullptr) return static_cast<const json::object*>(nullptr);
  if (!at->is_object()) return strange(name, "is no object");
  return &at->get_object();
}

// `room`: for the values of this reply; each takes its part.
Result<EtcdKeyValue> keyValueOf(const json::object& in, std::size_t& room) {
  WITAN_TRY(key, bytesIn(in, "key"));
  WITAN_TRY(stored, bytesIn(in, "value"));
  auto value = unpackedFromEtcd(std::move(stored));
  if (!value.ok()) return strange("value", value.error().message);
  if (value->size() > room)
    return strange("value",
                   concat("with it the unpacked values of one answer are more than ", kMaxEtcdUnpackedBytes, " bytes"));
  room -= value->size();
  WITAN_TRY(created, numberIn(in, "create_revision"));
  WITAN_TRY(modified, numberIn(in, "mod_revision"));
  WITAN_TRY(lease, numberIn(in, "lease"));
  return EtcdKeyValue{std::move(key), *std::move(value), created, modified, lease};
}

Status readHeader(const json::object& in, EtcdReply& out) {
  WITAN_TRY(header, objectIn(in, "header"));
  if (header == nullptr) return strange("header", "there is none");
  WITAN_TRY(cluster, numberIn(*header, "cluster_id"));
  WITAN_TRY(revision, numberIn(*header, "revision"));
  out.cluster = cluster;
  out.answer.revision = revision;
  return okStatus();
}

Status readResult(const json::value& from, EtcdAct act, std::size_t& room, std::vector<EtcdKeyValue>& out) {
  if (!from.is_object()) return strange("responses", "holds what is no object");
  const char* name = act == EtcdAct::put      ? "response_put"
                     : act == EtcdAct::remove ? "response_delete_range"
                                              : "response_range";
  WITAN_TRY(result, objectIn(from.get_object(), name));
  if (result == nullptr) return strange("responses", concat("lacks a ", name));
  if (act != EtcdAct::range) return okStatus();
  WITAN_TRY(kvs, listIn(*result, "kvs"));
  if (kvs == nullptr) return okStatus();
  for (const json::value& kv : *kvs) {
    if (!kv.is_object()) return strange("kvs", "holds what is no object");
    WITAN_TRY(read, keyValueOf(kv.get_object(), room));
    out.push_back(std::move(read));
  }
  return okStatus();
}

Status readTxn(const json::object& in, const EtcdExpected& expected, EtcdReply& out) {
  WITAN_DO(readHeader(in, out));
  WITAN_TRY(succeeded, flagIn(in, "succeeded"));
  out.answer.succeeded = succeeded;
  const std::vector<EtcdAct>& acts = succeeded ? expected.then : expected.otherwise;
  WITAN_TRY(responses, listIn(in, "responses"));
  if ((responses == nullptr ? 0 : responses->size()) != acts.size())
    return strange("responses", "not as many as there were operations");
  out.answer.results.resize(acts.size());
  std::size_t room = kMaxEtcdUnpackedBytes;
  for (std::size_t i = 0; i < acts.size(); ++i)
    WITAN_DO(readResult((*responses)[i], acts[i], room, out.answer.results[i]));
  return okStatus();
}

// In `result` where the gateway streams.
Result<const json::object*> unwrapped(const json::object& in) {
  WITAN_TRY(result, objectIn(in, "result"));
  if (result == nullptr) return strange("result", "there is none");
  return result;
}

Status readKeepAlive(const json::object& in, EtcdReply& out) {
  WITAN_TRY(result, unwrapped(in));
  WITAN_DO(readHeader(*result, out));
  WITAN_TRY(ttl, numberIn(*result, "TTL"));
  if (ttl == 0) out.answer.error = EtcdError::noLease;
  return okStatus();
}

Status readGrant(const json::object& in, EtcdReply& out) {
  WITAN_DO(readHeader(in, out));
  WITAN_TRY(lease, numberIn(in, "ID"));
  if (lease == 0) return strange("ID", "a lease without one");
  out.answer.lease = lease;
  return okStatus();
}

Result<json::value> objectOf(std::string_view body) {
  // Base64 makes a third more of what etcd holds; nothing of etcd's is deeper than this.
  auto read = parseJson(body, {.bytes = kMaxEtcdReplyBytes, .depth = 12});
  if (!read.ok()) return strange("body", read.error().message);
  if (!read->is_object()) return strange("body", "is no object");
  return read;
}

// {"error": words, "message": words, "code": of gRPC}
std::string wordsOf(std::string_view body) {
  const auto read = parseJson(body, {.bytes = 64 * 1024, .depth = 12});
  if (read.ok() && read->is_object())
    for (const char* name : {"error", "message"})
      if (const json::value* at = memberOf(read->get_object(), name); at != nullptr && at->is_string())
        return inQuotes(std::string(clip(std::string_view(at->get_string()), 300)));
  return inQuotes(std::string(clip(body, 300)));
}

std::string refusalWords(int status, std::string_view body) {
  return concat("etcd answers ", status, ", ", wordsOf(body));
}

Result<EtcdReply> refusal(const EtcdExpected& expected, int status, std::string_view body) {
  EtcdReply reply;
  reply.answer.id = expected.id;
  const std::string words = wordsOf(body);
  const auto says = [&](std::string_view what) { return words.find(what) != std::string::npos; };
  if (status == 404 && says("lease not found")) {
    reply.answer.error = EtcdError::noLease;
    return reply;
  }
  if (says("request is too large") || says("message larger than max")) {
    reply.answer.error = EtcdError::tooLarge;
    return reply;
  }
  const ErrorCode code = status == 401 || status == 403                    ? ErrorCode::unauthorised
                         : status == 400 || status == 404 || status == 405 ? ErrorCode::invalidInput
                                                                           : ErrorCode::unavailable;
  return Error{code, refusalWords(status, body), ""};
}

Result<EtcdChange> changeOf(const json::value& from, std::size_t& room) {
  if (!from.is_object()) return strange("events", "holds what is no object");
  WITAN_TRY(kv, objectIn(from.get_object(), "kv"));
  if (kv == nullptr) return strange("events", "one without a key");
  WITAN_TRY(at, keyValueOf(*kv, room));
  const json::value* type = memberOf(from.get_object(), "type");
  const bool removed = type != nullptr && type->is_string() && type->get_string() == "DELETE";
  return EtcdChange{removed, std::move(at)};
}

constexpr std::string_view kBatch = "WLOG";
constexpr std::string_view kMagic = "WZST";
constexpr std::array<char, 4> kVersion{1, 0, 0, 0};
constexpr std::size_t kHeader = kMagic.size() + kVersion.size();
constexpr std::size_t kLeastBytes = 256;  // below that it is not worth a header
constexpr int kLevel = 1;

}  // namespace

EtcdCallText etcdCallText(const EtcdRequest& request) {
  switch (request.call) {
    case EtcdCall::grant: return {"/v3/lease/grant", "{\"TTL\":" + text64((request.ttlMs + 999) / 1000) + "}"};
    case EtcdCall::keepAlive: return {"/v3/lease/keepalive", "{\"ID\":" + text64(request.lease) + "}"};
    case EtcdCall::watch: return {"/v3/watch", watchBody(request)};
    case EtcdCall::txn: break;
  }
  return {"/v3/kv/txn", txnBody(request)};
}

EtcdCallText etcdProbeText() {
  std::string body = "{";
  appendBytes(body, "key", "witan/");
  return {"/v3/kv/range", body + ",\"limit\":\"1\"}"};
}

EtcdCallText etcdRevokeText(std::uint64_t lease) { return {"/v3/lease/revoke", "{\"ID\":" + text64(lease) + "}"}; }

EtcdExpected::EtcdExpected(const EtcdRequest& request) : id(request.id), call(request.call) {
  for (const EtcdOp& op : request.then) then.push_back(op.act);
  for (const EtcdOp& op : request.otherwise) otherwise.push_back(op.act);
}

Result<EtcdReply> readEtcdProbe(int status, std::string_view body) {
  if (status != 200) return unavailable(refusalWords(status, body));
  WITAN_TRY(read, objectOf(body));
  EtcdReply reply;
  WITAN_DO(readHeader(read.get_object(), reply));
  return reply;
}

Result<EtcdReply> readEtcdReply(const EtcdExpected& expected, int status, std::string_view body) {
  if (status != 200) return refusal(expected, status, body);
  WITAN_TRY(read, objectOf(body));
  const json::object& in = read.get_object();
  EtcdReply reply;
  reply.answer.id = expected.id;
  switch (expected.call) {
    case EtcdCall::grant: WITAN_DO(readGrant(in, reply)); break;
    case EtcdCall::keepAlive: WITAN_DO(readKeepAlive(in, reply)); break;
    case EtcdCall::txn: WITAN_DO(readTxn(in, expected, reply)); break;
    case EtcdCall::watch: return readEtcdWatch(expected.id, body);
  }
  return reply;
}

Result<EtcdReply> readEtcdWatch(std::uint64_t id, std::string_view line) {
  WITAN_TRY(read, objectOf(line));
  if (memberOf(read.get_object(), "error") != nullptr)
    return unavailable("etcd ended the watch: " + inQuotes(std::string(clip(line, 300))));
  WITAN_TRY(in, unwrapped(read.get_object()));
  EtcdReply reply;
  reply.answer.id = id;
  WITAN_DO(readHeader(*in, reply));
  WITAN_TRY(canceled, flagIn(*in, "canceled"));
  WITAN_TRY(compacted, numberIn(*in, "compact_revision"));
  if (canceled && compacted == 0) return unavailable("etcd ended the watch: " + inQuotes(std::string(clip(line, 300))));
  if (canceled) reply.answer.error = EtcdError::compacted;
  WITAN_TRY(events, listIn(*in, "events"));
  if (events == nullptr) return reply;
  std::size_t room = kMaxEtcdUnpackedBytes;
  for (const json::value& event : *events) {
    WITAN_TRY(change, changeOf(event, room));
    reply.answer.changes.push_back(std::move(change));
  }
  return reply;
}

Result<std::string_view> EtcdLines::next() {
  if (begin_ > 0 && (begin_ == input_.size() || begin_ > 1024 * 1024)) {
    input_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
  }
  while (true) {
    const std::size_t end = input_.find('\n', searched_);
    if ((end == std::string::npos ? input_.size() : end) - begin_ > most_)
      return strange("watch", concat("a line of more than ", most_, " bytes"));
    if (end == std::string::npos) {
      searched_ = input_.size();
      return std::string_view();
    }
    const std::string_view line(input_.data() + begin_, end - begin_);
    begin_ = searched_ = end + 1;
    if (!line.empty()) return line;
  }
}

std::string packedForEtcd(std::string_view value) {
  if (!value.starts_with(kBatch) || value.size() < kLeastBytes || value.size() > kMaxEtcdValueBytes)
    return std::string(value);
  std::string packed(kMagic);
  packed.append(kVersion.data(), kVersion.size());
  packed.resize(kHeader + ZSTD_compressBound(value.size()));
  const std::size_t size =
      ZSTD_compress(packed.data() + kHeader, packed.size() - kHeader, value.data(), value.size(), kLevel);
  if (ZSTD_isError(size) != 0 || kHeader + size >= value.size()) return std::string(value);
  packed.resize(kHeader + size);
  return packed;
}

Result<std::string> unpackedFromEtcd(std::string value) {
  if (!value.starts_with(kMagic)) return value;
  if (value.size() < kHeader) return invalid("a packed batch without a version");
  if (std::string_view(value).substr(kMagic.size(), kVersion.size()) !=
      std::string_view(kVersion.data(), kVersion.size()))
    return invalid(concat("a batch packed as this build does not know (version ",
                          static_cast<unsigned char>(value[kMagic.size()]), ")"),
                   "update this device");
  const std::string_view frame = std::string_view(value).substr(kHeader);
  const unsigned long long bytes = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == ZSTD_CONTENTSIZE_ERROR)
    return invalid("a packed batch that does not state its size");
  if (bytes > kMaxEtcdValueBytes)
    return invalid(concat("a packed batch of ", bytes, " bytes, more than ", kMaxEtcdValueBytes));
  std::string unpacked(static_cast<std::size_t>(bytes), '\0');
  const std::size_t size = ZSTD_decompress(unpacked.data(), unpacked.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0) return invalid(concat("a packed batch is damaged: ", ZSTD_getErrorName(size)));
  if (size != unpacked.size()) return invalid("a packed batch is shorter than it states");
  return unpacked;
}

}  // namespace witan::node
