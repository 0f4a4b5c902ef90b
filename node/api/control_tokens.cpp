#include "node/api/control_tokens.h"

#include <sys/stat.h>

#include <array>

#include "base/bytes.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/seams.h"
#include "base/sha256.h"
#include "program/durable_file.h"

namespace witan::node {

namespace {

constexpr std::array kRoles{ControlRole::observer, ControlRole::operator_, ControlRole::counselor, ControlRole::admin};
constexpr const char* kFile = "control.tokens";
constexpr std::size_t kMaxFile = 4096;
constexpr std::string_view kBearer = "Bearer ";
constexpr const char* kParticipant = "participant";

}  // namespace

const char* wordOf(ControlRole role) {
  switch (role) {
    case ControlRole::observer: return "observer";
    case ControlRole::operator_: return "operator";
    case ControlRole::counselor: return "counselor";
    case ControlRole::admin: return "admin";
  }
  return "observer";
}

bool includes(ControlRole held, ControlRole needed) {
  return held == ControlRole::admin || held == needed || needed == ControlRole::observer;
}

Result<ControlTokens> ControlTokens::read(const std::filesystem::path& dir) {
  const std::filesystem::path path = dir / kFile;
  WITAN_TRY(text, readSmallFile(path, kMaxFile));
  if (!text) return Error{ErrorCode::notFound, "there is no " + path.string(), "start the node: witan up"};
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0)
    return Error{ErrorCode::unauthorised, "others may read " + path.string(), "chmod 600 " + path.string()};
  ControlTokens tokens;
  auto parsed = parseJson(*text);
  for (const ControlRole role : kRoles) {
    const json::value* token =
        parsed.ok() && parsed->is_object() ? parsed->get_object().if_contains(wordOf(role)) : nullptr;
    if (token == nullptr || !token->is_string() || token->get_string().size() < 32)
      return corrupt(path.string() + " has no token for " + wordOf(role), "delete it: the next start makes new ones");
    tokens.tokens_[role] = std::string(token->get_string());
  }
  return tokens;
}

Result<ControlTokens> ControlTokens::open(const std::filesystem::path& dir) {
  std::error_code ec;
  if (std::filesystem::exists(dir / kFile, ec)) return read(dir);
  json::object made;
  SystemRandom random;
  for (const ControlRole role : kRoles) {
    std::array<std::uint8_t, 24> secret{};
    random.fill(secret);
    made[wordOf(role)] = std::string(wordOf(role)) + "-" + toHex(secret);
  }
  WITAN_DO(replaceFile(dir / kFile, canonicalJson(made) + "\n", 0600));
  return read(dir);
}

std::optional<ControlRole> ControlTokens::roleOf(std::string_view authorization) const {
  if (!authorization.starts_with(kBearer)) return std::nullopt;
  const Hash given = sha256(authorization.substr(kBearer.size()));
  std::optional<ControlRole> found;
  for (const auto& [role, token] : tokens_)
    if (sha256(token) == given) found = role;
  return found;
}

std::string ControlTokens::participantToken(std::string_view participant) const {
  const Hash proof =
      hmacSha256(of(ControlRole::operator_), kParticipant + std::string("\n") + std::string(participant));
  return kParticipant + ("-" + std::string(participant)) + "-" + toHex(proof);
}

std::optional<std::string> ControlTokens::participantOf(std::string_view authorization) const {
  const std::string begin = std::string(kBearer) + kParticipant + "-";
  const std::size_t end = authorization.rfind('-');
  if (!authorization.starts_with(begin) || end < begin.size()) return std::nullopt;
  const std::string participant(authorization.substr(begin.size(), end - begin.size()));
  const Hash given = sha256(authorization.substr(kBearer.size()));
  return given == sha256(participantToken(participant)) ? std::optional(participant) : std::nullopt;
}

}  // namespace witan::node
