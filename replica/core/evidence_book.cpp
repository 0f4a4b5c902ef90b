#include "replica/core/evidence_book.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/sha256.h"

namespace witan::node {

namespace {

constexpr std::string_view kRows = "y/";  // -> what the incident says, newline, file

std::string rowsOf(std::string_view device) { return concat(kRows, device, '/'); }
std::string rowOf(std::string_view device, const ProvenOffence& proven) {
  return rowsOf(device) + toHex(sha256(proven.kind + "\n" + proven.what));
}

}  // namespace

Status EvidenceBook::load(const store::Reader& ledgers) {
  return ledgers.scan(kRows, {}, [&](std::string_view key, std::string_view row) {
    const std::size_t end = row.find('\n');
    if (end == std::string_view::npos) return true;
    rows_.emplace(key);
    files_.emplace(row.substr(0, end), row.substr(end + 1));
    return true;
  });
}

bool EvidenceBook::has(std::string_view device, const ProvenOffence& proven) const {
  return rows_.contains(rowOf(device, proven));
}

bool EvidenceBook::add(const std::string& what, std::string_view device, const ProvenOffence& proven,
                       std::string_view file, store::WriteBatch& out) {
  const auto ofOne = std::count_if(rows_.lower_bound(rowsOf(device)), rows_.end(),
                                   [&](const std::string& row) { return row.starts_with(rowsOf(device)); });
  if (rows_.size() >= kMaxEvidence || static_cast<std::size_t>(ofOne) >= kMaxEvidenceOfOne) return false;
  const std::string row = rowOf(device, proven);
  if (files_.contains(what) || !rows_.insert(row).second) return false;
  files_.emplace(what, file);
  out.put(row, concat(what, '\n', file));
  return true;
}

}  // namespace witan::node
