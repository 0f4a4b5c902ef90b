#include "mcp/seals.h"

#include <array>

#include "base/bytes.h"
#include "base/crypto.h"

namespace witan::mcp {

namespace {

constexpr JsonLimits kContentLimits{.bytes = 64 << 10, .depth = 8};

Error refused() {
  return {ErrorCode::unauthorised, "this state was not given for this call, is too old or was used", ""};
}

}  // namespace

Seals::Seals(Random& random, SealLimits limits) : limits_(limits) {
  std::array<std::uint8_t, 32> bits{};
  random.fill(bits);
  key_.assign(asView(std::span<const std::uint8_t>(bits)));
}

std::string Seals::proofOf(std::string_view body, std::string_view binding) const {
  return toHex(hmacSha256(key_, std::to_string(binding.size()) + ":" + std::string(binding) + std::string(body)));
}

std::string Seals::seal(json::object content, std::string_view binding, std::int64_t nowMs) {
  if (out_.size() >= limits_.out) out_.erase(out_.begin());
  out_[++last_] = nowMs + limits_.lifeMs;
  const std::string body = toBase64(canonicalJson(json::object{{"number", last_}, {"content", std::move(content)}}));
  return body + "." + proofOf(body, binding);
}

// Compared by hash: the time tells nothing of how much was right.
Result<json::object> Seals::open(std::string_view state, std::string_view binding, std::int64_t nowMs) {
  const std::size_t dot = state.rfind('.');
  if (dot == std::string_view::npos) return refused();
  const std::string_view body = state.substr(0, dot);
  if (sha256(proofOf(body, binding)) != sha256(state.substr(dot + 1))) return refused();
  WITAN_TRY(text, fromBase64(body));
  WITAN_TRY(value, parseJson(text, kContentLimits));
  const auto found = out_.find(value.at("number").to_number<std::uint64_t>());
  if (found == out_.end()) return refused();
  const std::int64_t expiry = found->second;
  out_.erase(found);
  if (nowMs > expiry) return refused();
  return value.at("content").as_object();
}

}  // namespace witan::mcp
