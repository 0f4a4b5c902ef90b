#include "store/store.h"

namespace witan::store {

Status checkLimits(const WriteBatch& batch) {
  if (batch.size() > kMaxBatchOps) {
    return invalid("the write batch has " + std::to_string(batch.size()) + " operations (at most " +
                       std::to_string(kMaxBatchOps) + " are allowed)",
                   "split it");
  }
  if (batch.bytes() > kMaxBatchBytes) {
    return invalid("the write batch has " + std::to_string(batch.bytes()) + " bytes (at most " +
                       std::to_string(kMaxBatchBytes) + " are allowed)",
                   "split it");
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    WriteBatch::Op op = batch.op(i);
    if (op.key.size() > kMaxKeyBytes) {
      return invalid("operation " + std::to_string(i) + " of the write batch has a key of " +
                     std::to_string(op.key.size()) + " bytes (at most " + std::to_string(kMaxKeyBytes) +
                     " are allowed)");
    }
    if (op.value.size() > kMaxValueBytes) {
      return invalid("operation " + std::to_string(i) + " of the write batch has a value of " +
                     std::to_string(op.value.size()) + " bytes (at most " + std::to_string(kMaxValueBytes) +
                     " are allowed)");
    }
  }
  return okStatus();
}

std::optional<std::string> prefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return std::nullopt;
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace witan::store
