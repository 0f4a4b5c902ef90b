#include "rdf/diagnostic.h"

#include <algorithm>
#include <tuple>

namespace witan::ontology {

namespace {
// Beyond this many nobody reads on; hostile input could ask for millions.
constexpr std::size_t kMost = 1'000;
}  // namespace

void Diagnostics::add(Diagnostic d) {
  const bool isError = d.severity == Severity::error;
  if (list_.size() >= kMost && !(isError && errors_ == 0)) return;
  errors_ += isError ? 1 : 0;
  list_.push_back(std::move(d));
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> all = list_;
  std::ranges::sort(all, [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.at, a.severity, a.message) < std::tie(b.at, b.severity, b.message);
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Error Diagnostics::asError(const std::string& file) const {
  const std::vector<Diagnostic> all = sorted();
  const auto first = std::ranges::find_if(all, [](const Diagnostic& d) { return d.severity == Severity::error; });
  WITAN_CHECK(first != all.end(), "there is an error to tell");
  std::string hint = "all findings: witan ontology check " + file;
  if (errors_ > 1) hint = concat(errors_ - 1, " more; ", hint);
  std::string message = toText(file, *first);
  return invalid(std::move(message), std::move(hint));
}

std::string toText(const std::string& file, const Diagnostic& d) {
  std::string out = file + ":";
  if (d.at.line > 0) out += concat(d.at.line, ":", d.at.column, ":");
  return concat(out, " ", enumName(d.severity), ": ", d.message);
}

}  // namespace witan::ontology
