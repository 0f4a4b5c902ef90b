// Where secrets come in: files, standard input, the terminal without echo. Never the command line, which every process
// of the machine can read.
#pragma once

#include <string>

#include "agents/policy/secure_store.h"
#include "base/result.h"
#include "base/secret.h"

namespace witan::node {

// Errors: cannot be read, no regular file (program/durable_file.h), not a key; none quotes the content.
Result<agents::StoreKey> readKeyFile(const std::string& path);

// The first line of the file that $WITAN_PASSPHRASE_FILE names, else from the terminal, twice if `fresh`. Errors:
// neither is there; the two differ; empty.
Result<Secret> readPassphrase(bool fresh);

// All of standard input without the line end at its end; if that is a terminal, one line typed there.
Result<Secret> readSecretValue(const std::string& name);

}  // namespace witan::node
