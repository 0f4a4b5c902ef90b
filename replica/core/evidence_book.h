// EvidenceBook: the files of evidence that a device holds (replica/core/entry_evidence.h), by what its incident says.
// Rows "y/" + liar's device + "/" + digest of the offence, in the ledgers' store. One replica's; the store outlives it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "replica/core/entry_evidence.h"
#include "store/store.h"

namespace witan::node {

inline constexpr std::size_t kMaxEvidence = 256;        // files
inline constexpr std::size_t kMaxEvidenceOfOne = 16;    // against one device
inline constexpr std::size_t kMaxToldEvidence = 48'000;  // bytes of a file that goes to other devices

class EvidenceBook {
 public:
  using Files = std::map<std::string, std::string, std::less<>>;

  Status load(const store::Reader& ledgers);
  // `what`: of the incident. Whether it is news, and there was room.
  bool add(const std::string& what, std::string_view device, const ProvenOffence& proven, std::string_view file,
           store::WriteBatch& out);
  bool has(std::string_view device, const ProvenOffence& proven) const;
  const Files& files() const { return files_; }

 private:
  Files files_;
  std::set<std::string, std::less<>> rows_;
};

}  // namespace witan::node
