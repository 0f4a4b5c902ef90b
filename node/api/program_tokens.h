// Tokens of programs that act in roles of domains: each is good for some roles (DOMAIN.ROLE) and entities, for a time,
// and until it is revoked. It proposes, asks what would become of a proposal, and reads slices; nothing else.
//
// DIR/program.tokens (0600) has hashes of the secrets, so the file alone is of no use. One per data directory and
// process; main thread only; time and chance are arguments.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/message.h"
#include "base/reflect.h"
#include "base/result.h"
#include "base/seams.h"
#include "base/time.h"
#include "mcp/call.h"

namespace witan::node {

inline constexpr std::size_t kMaxProgramTokens = 256;
inline constexpr std::size_t kMaxBoundNames = 64;  // roles, and patterns, of one token
inline constexpr std::int64_t kMaxTokenDays = 366;
// Proposals a second, each of which is recorded for good; ten seconds' worth of them at once.
inline constexpr std::int64_t kTokenRate = 10, kMaxTokenRate = 1'000, kTokenBurstSeconds = 10;

struct ProgramToken {
  std::string id, name;
  std::string secretHash;             // SHA-256, hex
  std::vector<std::string> roles;     // DOMAIN.ROLE
  std::vector<std::string> entities;  // ids, or beginnings of ids with a * at the end
  Time made, expires;
  Omittable<std::int64_t> rate;  // absent: kTokenRate
  WITAN_MEMBERS(ProgramToken, id, name, secretHash, roles, entities, made, expires, rate)
};

// Errors name the part that is wrong.
Status checkBounds(const ProgramToken& token);
// Whether the holder may use such a route at all; and for what `asked` names: domain, role and entity. Errors:
// unauthorised.
Status mayUse(const ProgramToken& token, std::string_view path);
Status mayAsk(const ProgramToken& token, const json::object& asked);

class ProgramTokens {
 public:
  // Errors: corrupt.
  static Result<ProgramTokens> open(const std::filesystem::path& dir);

  // Returns the token's text, which is nowhere else. Errors: checkBounds; conflict, the name is taken; too many.
  Result<std::string> add(ProgramToken bounds, std::int64_t days, Time now, Random& random);
  // By id or name; returns which it was. Errors: notFound.
  Result<ProgramToken> revoke(std::string_view idOrName);
  // With those that have expired, by the time at which they were made.
  const std::vector<ProgramToken>& all() const { return state_.tokens; }
  // Of an Authorization header. Null: none, or it has expired.
  const ProgramToken* find(std::string_view authorization, Time now) const;
  // One more proposal of a token. Errors: unavailable, it has made more than its rate.
  Status count(const ProgramToken& token, std::int64_t nowMs);

 private:
  struct State {
    std::vector<ProgramToken> tokens;
    WITAN_MEMBERS(State, tokens)
  };
  explicit ProgramTokens(std::filesystem::path file) : file_(std::move(file)) {}
  Status save(State next);

  std::filesystem::path file_;
  State state_;
  std::map<std::string, mcp::RateLimit> rates_;  // by id, of this start of the process
};

}  // namespace witan::node
