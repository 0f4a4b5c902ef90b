#include "store/store.h"

namespace witan::store {

Status checkLimits(const WriteBatch& batch) {
  const auto tooLarge = [](const std::string& what, std::size_t found, const char* unit, std::size_t most,
                           const char* hint = "") {
    return invalid(concat(what, " ", found, " ", unit, " (at most ", most, " are allowed)"), hint);
  };
  if (batch.size() > kMaxBatchOps)
    return tooLarge("the write batch has", batch.size(), "operations", kMaxBatchOps, "split it");
  if (batch.bytes() > kMaxBatchBytes)
    return tooLarge("the write batch has", batch.bytes(), "bytes", kMaxBatchBytes, "split it");
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const WriteBatch::Op op = batch.op(i);
    const auto where = [i] { return concat("operation ", i, " of the write batch has a "); };
    if (op.key.size() > kMaxKeyBytes) return tooLarge(where() + "key of", op.key.size(), "bytes", kMaxKeyBytes);
    if (op.value.size() > kMaxValueBytes)
      return tooLarge(where() + "value of", op.value.size(), "bytes", kMaxValueBytes);
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
    if (failed.ok() && goOn && !goOn()) failed = unavailable("the copy was given up");
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
