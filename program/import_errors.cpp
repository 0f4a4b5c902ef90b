#include "program/import_errors.h"

#include "program/error_report.h"

namespace witan::node {

void ImportErrors::add(const Error& error) {
  if (++count_ <= most_) reportError(error, json_);
}

void ImportErrors::finish() const {
  if (count_ > most_) reportError(invalid("... and " + std::to_string(count_ - most_) + " more refused"), json_);
}

}  // namespace witan::node
