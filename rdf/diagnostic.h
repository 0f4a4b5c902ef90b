// What is wrong or odd in an ontology, and where: `file:line:col: error: ...`.
//
// A plain list that every step of reading appends to. Columns count characters from 1; line 0 means the whole file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/reflect.h"
#include "base/result.h"

namespace witan::ontology {

struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

// An error means that nothing is derived from the file; a warning that somebody should look.
WITAN_ENUM(Severity, error, warning)

struct Diagnostic {
  Severity severity = Severity::error;
  Place at;
  std::string message;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

class Diagnostics {
 public:
  void error(Place at, std::string message) { add({Severity::error, at, std::move(message)}); }
  void warning(Place at, std::string message) { add({Severity::warning, at, std::move(message)}); }
  bool hasErrors() const { return errors_ > 0; }
  std::size_t errors() const { return errors_; }
  std::size_t warnings() const { return list_.size() - errors_; }
  // By place, errors before warnings, then by words: the same file gives the same list in the same order.
  std::vector<Diagnostic> sorted() const;
  // The first error, for a caller who needs one. Requires: hasErrors().
  Error asError(const std::string& file) const;

 private:
  void add(Diagnostic d);
  std::vector<Diagnostic> list_;
  std::size_t errors_ = 0;
};

// "x.ttl:3:5: warning: ..."
std::string toText(const std::string& file, const Diagnostic&);

}  // namespace witan::ontology
