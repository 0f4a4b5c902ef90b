#include "node/api/program_tokens.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/identity.h"
#include "base/json_codec.h"
#include "base/quote.h"
#include "base/sha256.h"
#include "node/cluster/roster.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

constexpr std::size_t kFileBytes = 1 << 20;
constexpr std::string_view kBegin = "Bearer program-";
constexpr std::array<std::string_view, 3> kPaths{"/v1/propose", "/v1/preview", "/v1/slice"};
constexpr std::int64_t kDayMicros = 86'400LL * 1'000'000;

std::string drawnHex(Random& random, std::size_t bytes) {
  std::vector<std::uint8_t> drawn(bytes);
  random.fill(drawn);
  return toHex(drawn);
}

bool fits(std::string_view pattern, std::string_view entity) {
  return pattern.ends_with('*') ? entity.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == entity;
}

Status checkPattern(const std::string& pattern) {
  const std::string_view fixed = std::string_view(pattern).substr(0, pattern.size() - (pattern.ends_with('*') ? 1 : 0));
  if (fixed.find('*') == std::string_view::npos && (fixed.empty() ? pattern == "*" : validateId("entity", fixed).ok()))
    return okStatus();
  return invalid(inQuotes(pattern) + " names no entities", "give an id, or the beginning of ids and a *: team-*");
}

std::string_view wordIn(const json::object& asked, std::string_view name) {
  const json::value* value = asked.if_contains(name);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

Status notFor(std::string what) { return Error{ErrorCode::unauthorised, std::move(what), "see: witan token list"}; }

}  // namespace

Status checkBounds(const ProgramToken& token) {
  WITAN_DO(checkDeviceName(token.name));
  if (token.name.empty()) return invalid("a token has a name");
  if (token.roles.empty() || token.roles.size() > kMaxBoundNames || token.entities.size() > kMaxBoundNames ||
      token.entities.empty())
    return invalid(concat("a token has 1 to ", kMaxBoundNames, " roles, and as many entities"),
                   "--role budget.A --entity 'team-*'");
  for (const std::string& role : token.roles)
    if (role.find('.') == std::string::npos || !checkDeviceRoles({&role, 1}).ok())
      return invalid(inQuotes(role) + " is no role of a domain", "as budget.A");
  for (const std::string& pattern : token.entities) WITAN_DO(checkPattern(pattern));
  if (const std::int64_t rate = token.rate.value_or(kTokenRate); rate < 1 || rate > kMaxTokenRate)
    return invalid(concat("the rate of a token is 1 to ", kMaxTokenRate, " proposals a second"));
  return okStatus();
}

Status mayUse(const ProgramToken& token, std::string_view path) {
  if (std::ranges::find(kPaths, path) != kPaths.end()) return okStatus();
  return notFor(concat("the token ", token.name, " is of a program, which may not use ", path));
}

Status mayAsk(const ProgramToken& token, const json::object& asked) {
  const std::string role = concat(wordIn(asked, "domain"), ".", wordIn(asked, "role"));
  const std::string_view entity = wordIn(asked, "entity");
  if (std::ranges::find(token.roles, role) == token.roles.end())
    return notFor(wordIn(asked, "role").empty() ? concat("the token ", token.name, " is for single roles: name one")
                                                : concat("the token ", token.name, " is not for the role ", role));
  if (std::ranges::none_of(token.entities, [&](const std::string& pattern) { return fits(pattern, entity); }))
    return notFor(concat("the token ", token.name, " is not for the entity ", inQuotes(entity)));
  return okStatus();
}

Result<ProgramTokens> ProgramTokens::open(const std::filesystem::path& dir) {
  ProgramTokens tokens(dir / "program.tokens");
  WITAN_TRY(text, readSmallFile(tokens.file_, kFileBytes));
  if (!text) return tokens;
  auto value = parseJson(*text);
  const Status read = value.ok() ? readJson(*value, tokens.state_, "tokens") : Status(value.error());
  if (read.ok()) return tokens;
  return corrupt(tokens.file_.string() + " is damaged (" + read.error().message + ")",
                 "delete it: programs need new tokens then");
}

Status ProgramTokens::save(State next) {
  WITAN_DO(replaceFile(file_, toJson(next) + "\n", 0600));
  state_ = std::move(next);
  return okStatus();
}

Result<std::string> ProgramTokens::add(ProgramToken bounds, std::int64_t days, Time now, Random& random) {
  WITAN_DO(checkBounds(bounds));
  if (days < 1 || days > kMaxTokenDays) return invalid(concat("a token is good for 1 to ", kMaxTokenDays, " days"));
  State next = state_;
  std::erase_if(next.tokens, [&](const ProgramToken& one) { return one.expires < now; });
  if (std::ranges::find(next.tokens, bounds.name, &ProgramToken::name) != next.tokens.end())
    return conflict("there is a token " + inQuotes(bounds.name), "give another name, or: witan token revoke NAME");
  if (next.tokens.size() >= kMaxProgramTokens) return conflict("there are too many tokens", "revoke some");
  const std::string secret = drawnHex(random, 24);
  bounds.id = drawnHex(random, 6);
  bounds.secretHash = toHex(sha256(secret));
  bounds.made = now, bounds.expires = Time{now.micros + days * kDayMicros};
  const std::string text = concat(kBegin.substr(kBegin.find(' ') + 1), bounds.id, "-", secret);
  next.tokens.push_back(std::move(bounds));
  WITAN_DO(save(std::move(next)));
  return text;
}

Result<ProgramToken> ProgramTokens::revoke(std::string_view idOrName) {
  State next = state_;
  const auto at = std::ranges::find_if(
      next.tokens, [&](const ProgramToken& one) { return one.id == idOrName || one.name == idOrName; });
  if (at == next.tokens.end()) return notFound("there is no token " + inQuotes(idOrName), "see: witan token list");
  ProgramToken revoked = *at;
  next.tokens.erase(at);
  WITAN_DO(save(std::move(next)));
  rates_.erase(revoked.id);
  return revoked;
}

const ProgramToken* ProgramTokens::find(std::string_view authorization, Time now) const {
  if (!authorization.starts_with(kBegin)) return nullptr;
  const std::string_view words = authorization.substr(kBegin.size());
  const std::size_t dash = std::min(words.find('-'), words.size());
  const std::string given = toHex(sha256(words.substr(std::min(dash + 1, words.size()))));
  for (const ProgramToken& one : state_.tokens)
    if (one.id == words.substr(0, dash) && one.secretHash == given) return one.expires < now ? nullptr : &one;
  return nullptr;
}

Status ProgramTokens::count(const ProgramToken& token, std::int64_t nowMs) {
  const std::int64_t rate = token.rate.value_or(kTokenRate);
  if (rates_.try_emplace(token.id, rate * kTokenBurstSeconds, rate).first->second.take(nowMs)) return okStatus();
  return unavailable(concat("the token ", token.name, " may make ", rate, " proposals a second, and has made more"),
                     "ask again in a second, with the same operationId; more: witan token add --rate");
}

}  // namespace witan::node
