// Who may use the control API: bearer tokens, one a role, in DIR/control.tokens (0600). Whoever can read the file is
// the operator; an operator hands single tokens to others.
//
//   observer   reads
//   operator   observer, and proposes, feeds, cuts, moves, seizes, backs up
//   counselor  observer, and decides what waits for a counselor
//   admin      everything, also who belongs to the cluster
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan::node {

enum class ControlRole { observer, operator_, counselor, admin };

const char* wordOf(ControlRole role);
bool includes(ControlRole held, ControlRole needed);

class ControlTokens {
 public:
  // Reads the file, or makes it with fresh tokens. Errors: corrupt; unauthorised if others may read it.
  static Result<ControlTokens> open(const std::filesystem::path& dir);
  // Of an existing file, for clients. Errors: notFound.
  static Result<ControlTokens> read(const std::filesystem::path& dir);

  const std::string& of(ControlRole role) const { return tokens_.at(role); }
  // Whose it is, from an Authorization header. Takes the same time for every token of the right length.
  std::optional<ControlRole> roleOf(std::string_view authorization) const;

  // A token for one role of one domain (DOMAIN.ROLE), which /mcp alone accepts. Derived from the operator's token: it
  // is valid until that one changes.
  std::string participantToken(std::string_view participant) const;
  // Whose it is. None: it is not of these tokens.
  std::optional<std::string> participantOf(std::string_view authorization) const;

 private:
  std::map<ControlRole, std::string> tokens_;
};

}  // namespace witan::node
