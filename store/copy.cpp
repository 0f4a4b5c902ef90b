#include "store/copy.h"

namespace witan::store {

namespace {

constexpr std::size_t kPieceBytes = 4 << 20;

}  // namespace

Result<std::uint64_t> copyAll(const Reader& from, Store& to, const std::function<bool()>& goOn) {
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
