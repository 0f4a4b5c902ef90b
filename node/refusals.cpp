#include "node/refusals.h"

#include "node/commands/cli.h"

namespace witan::node {

void Refusals::add(const Error& error) {
  if (++count_ <= most_) reportError(error, json_);
}

void Refusals::finish() const {
  if (count_ > most_) reportError(invalid("... and " + std::to_string(count_ - most_) + " more refused"), json_);
}

}  // namespace witan::node
