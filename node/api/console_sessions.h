// ConsoleSessions: who is signed in at the web console. A caller of the control API with a token of DIR/control.tokens
// gets a one-time code; a browser exchanges it for a session, which counts like a token of one role until it ends.
//
// Codes last two minutes and count once, sessions twelve hours. Nothing is written: a restart ends all of them. Only
// hashes are kept. Bounded: more codes or sessions than the limits take the place of the oldest.
//
// For the control API. Main thread only; time and chance are arguments.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/seams.h"
#include "base/sha256.h"
#include "base/time.h"
#include "node/api/control_tokens.h"

namespace witan::node {

inline constexpr std::int64_t kConsoleCodeMicros = 120'000'000;
inline constexpr std::int64_t kConsoleSessionMicros = 12LL * 3600 * 1'000'000;
inline constexpr std::size_t kMaxConsoleCodes = 16;
inline constexpr std::size_t kMaxConsoleSessions = 64;

class ConsoleSessions {
 public:
  struct Made {
    std::string secret;  // a code or a token
    ControlRole role;
    Time expires;
  };
  struct Held {
    ControlRole role;
    Time expires;
  };

  Made makeCode(ControlRole role, Time now, Random& random);
  // Errors: unauthorised: no such code, or it was used or is too old. One answer for all of them.
  Result<Made> open(std::string_view code, Time now, Random& random);
  // Of an Authorization header. Takes the same time for every token of a session.
  std::optional<Held> find(std::string_view authorization, Time now) const;
  // Whether there was one.
  bool end(std::string_view authorization);
  std::size_t open() const { return sessions_.size(); }

 private:
  struct Kept {
    Hash hash;
    Held held;
  };
  Made add(std::deque<Kept>& list, std::size_t most, Held held, Random& random);

  std::deque<Kept> codes_, sessions_;  // oldest first
};

}  // namespace witan::node
