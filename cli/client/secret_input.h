// Secrets that a person gives: from files, standard input, or the terminal without echo; never from the command line,
// which every process of the machine can read. What is read passes through wiped memory only.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/secret.h"

namespace witan::node {

// A file that is open for as long as this lives.
class SecretInput {
 public:
  explicit SecretInput(int fd) : fd_(fd) {}
  SecretInput(const SecretInput&) = delete;
  ~SecretInput();
  int fd() const { return fd_; }

  // Up to its end, or to the end of the line. Errors: cannot be read; too many bytes.
  Result<Secret> read(const std::string& what, bool oneLine) const;

 private:
  int fd_;
};

// `what`: how messages call it.
Result<int> openSecretFile(const std::string& path, const std::string& what);

// The passphrase of `what`: the first line of the file that $WITAN_PASSPHRASE_FILE names, else from the terminal, twice
// if `fresh`. `else_`: what the hint offers besides. Errors: neither is there; the two differ; empty.
Result<Secret> readPassphrase(const std::string& what, bool fresh, std::string_view else_ = {});

// All of standard input without the line end at its end; if that is a terminal, one line typed there after `prompt`.
Result<Secret> readSecretFromInput(const std::string& prompt);

}  // namespace witan::node
