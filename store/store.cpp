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

Result<std::uint64_t> copyAll(const Reader& from, Store& to, const std::function<bool()>& goOn) {
  constexpr std::size_t kPieceBytes = 4 << 20;
  WriteBatch piece;
  std::uint64_t rows = 0;
  Status failed = okStatus();
  const auto put = [&] {
    failed = to.write(piece);
    piece.clear();
    if (failed.ok() && goOn && !goOn()) failed = Error{ErrorCode::unavailable, "the copy was given up", ""};
    return failed.ok();
  };
  WITAN_DO(from.scan("", "", [&](std::string_view key, std::string_view value) {
    piece.put(key, value);
    ++rows;
    return piece.bytes() < kPieceBytes || put();
  }));
  if (failed.ok()) (void)put();
  WITAN_DO(failed);
  WITAN_DO(to.sync());
  return rows;
}

}  // namespace witan::store
