#include "node/api/console_sessions.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace witan::node {

namespace {

constexpr std::string_view kSessionBearer = "Bearer ";

Hash hashOfBearer(std::string_view authorization) {
  return sha256(authorization.starts_with(kSessionBearer) ? authorization.substr(kSessionBearer.size())
                                                          : std::string_view());
}

}  // namespace

ConsoleSessions::Made ConsoleSessions::add(std::deque<Kept>& list, std::size_t most, Held held, Random& random) {
  std::array<std::uint8_t, 24> secret{};
  random.fill(secret);
  Made made{toHex(secret), held.role, held.expires};
  if (list.size() >= most) list.pop_front();
  list.push_back({sha256(made.secret), held});
  return made;
}

ConsoleSessions::Made ConsoleSessions::makeCode(ControlRole role, Time now, Random& random) {
  return add(codes_, kMaxConsoleCodes, {role, Time{now.micros + kConsoleCodeMicros}}, random);
}

Result<ConsoleSessions::Made> ConsoleSessions::open(std::string_view code, Time now, Random& random) {
  const Hash given = sha256(code);
  const auto found = std::find_if(codes_.begin(), codes_.end(), [&](const Kept& one) { return one.hash == given; });
  const bool good = found != codes_.end() && now.micros < found->held.expires.micros;
  const ControlRole role = good ? found->held.role : ControlRole::observer;
  if (found != codes_.end()) codes_.erase(found);
  if (!good)
    return Error{ErrorCode::unauthorised, "this link was used already, or is older than two minutes",
                 "make another: witan console"};
  return add(sessions_, kMaxConsoleSessions, {role, Time{now.micros + kConsoleSessionMicros}}, random);
}

std::optional<ConsoleSessions::Held> ConsoleSessions::find(std::string_view authorization, Time now) const {
  const Hash given = hashOfBearer(authorization);
  std::optional<Held> found;
  for (const Kept& one : sessions_)
    if (one.hash == given && now.micros < one.held.expires.micros) found = one.held;
  return found;
}

bool ConsoleSessions::end(std::string_view authorization) {
  const Hash given = hashOfBearer(authorization);
  return std::erase_if(sessions_, [&](const Kept& one) { return one.hash == given; }) > 0;
}

}  // namespace witan::node
