#include "node/api/tile_shelf.h"

#include "base/quote.h"
#include "node/api/typed_route.h"
#include "node/ledgers/ledger_heads.h"
#include "node/ledgers/ledger_tiles.h"
#include "node/witness/witness_rounds.h"
#include "replica/core/partition_host.h"

namespace witan::node {

namespace {

constexpr std::int64_t kFreshMs = 1'000, kCostFactor = 50, kKeptMs = 60'000;

Error noFile(std::string_view path) { return {ErrorCode::notFound, "there is no " + inQuotes(path), ""}; }

}  // namespace

net::HttpResponse TileShelf::answer(std::string_view path) {
  const std::string_view rest = path.substr(kTilesPath.size());
  const std::size_t first = std::min(rest.find('/'), rest.size());
  const std::size_t second = std::min(rest.find('/', std::min(first + 1, rest.size())), rest.size());
  const auto made = [&]() -> Result<std::string> {
    if (second == rest.size()) return noFile(path);
    const std::string partition(rest.substr(0, second));
    WITAN_TRY(book, bookOf(partition));
    return content(partition, *book, rest.substr(second + 1));
  }();
  if (!made.ok()) return errorResponse(made.error(), statusOf(made.error().code));
  return {200, path.ends_with("/checkpoint") ? "text/plain; charset=utf-8" : "application/octet-stream", {}, *made};
}

Result<TileShelf::Book*> TileShelf::bookOf(const std::string& partition) {
  const std::int64_t now = daemon_.now().ms;
  const auto at = books_.find(partition);
  if (at == books_.end() || now >= at->second.freshMs) {
    Book book;
    if (at != books_.end()) book = std::move(at->second), books_.erase(at);
    WITAN_DO(renew(partition, book));
    books_[partition] = std::move(book);
  }
  Book& book = books_[partition];
  book.askedMs = now;
  forgetOld();
  return &book;
}

// The published head where there are witnesses, else the newest cosigned one, or that of the owner.
Status TileShelf::renew(const std::string& partition, Book& book) {
  WITAN_TRY(head, headOf(daemon_.replica(), partition, false));
  const WitnessRounds* witnesses = daemon_.witnesses();
  const auto* published = witnesses == nullptr ? nullptr : witnesses->published(partition);
  const std::string& note = published == nullptr ? head.note : published->note;
  const std::uint64_t size = published == nullptr ? head.size : published->size;
  const PartitionHost& host = *daemon_.replica().host(partition);
  if (host.entries() < size) return notFound(concat("the head of ", partition, " covers more than is here"));
  const std::int64_t began = daemon_.now().ms;
  if (note != book.note) {
    WITAN_TRY(tree, host.ledger().treeOf(size));
    book.tree = std::make_unique<kernel::MemoryTree>(std::move(tree));
    book.note = note, book.size = size;
  }
  const std::int64_t now = daemon_.now().ms;
  book.freshMs = now + std::max(kFreshMs, kCostFactor * (now - began));
  return okStatus();
}

Result<std::string> TileShelf::content(const std::string& partition, Book& book, std::string_view file) {
  if (file == "checkpoint") return book.note;
  const auto name = tileNamed(file);
  if (!name || !hasTile(*name, book.size)) return noFile(file);
  if (name->level) return hashTile(*name, *book.tree);
  WITAN_DO(needsCopy(daemon_, partition));  // it may have gone since the head was read
  PartitionHost& host = *daemon_.replica().host(partition);
  std::string bundle;
  for (std::uint64_t seq = name->index * kTileWidth + 1; seq <= name->index * kTileWidth + name->width; ++seq) {
    Status added = okStatus();
    WITAN_TRY(there, visitEntry(host.rows(), seq,
                                [&](const StoredEntry& entry) { added = addToBundle(bundle, seq, entry.bytes); }));
    if (!there) return noFile(file);
    WITAN_DO(added);
  }
  return bundle;
}

void TileShelf::forgetOld() {
  if (std::exchange(timed_, true)) return;
  daemon_.later(kKeptMs, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired()) return;
    timed_ = false;
    std::erase_if(books_, [&](const auto& one) { return daemon_.now().ms - one.second.askedMs >= kKeptMs; });
    if (!books_.empty()) forgetOld();
  });
}

}  // namespace witan::node
