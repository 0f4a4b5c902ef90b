// TileShelf: the ledgers of this node as tiles, below /tiles/DOMAIN/NUMBER/ (node/ledgers/ledger_tiles.h), for holders
// of a token that reads. A reader asks for the checkpoint first: the tiles are those of its tree.
//
// The tree of a ledger is kept for a while after it was asked for, and made anew for a newer head no more often than
// that costs a part of the time. Main thread only; the daemon outlives it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kernel/record/merkle.h"
#include "net/http_message.h"
#include "node/daemon/daemon.h"

namespace witan::node {

inline constexpr std::string_view kTilesPath = "/tiles/";

class TileShelf {
 public:
  explicit TileShelf(Daemon& daemon) : daemon_(daemon) {}

  // `path`: begins with kTilesPath.
  net::HttpResponse answer(std::string_view path);

 private:
  struct Book {
    std::string note;
    std::uint64_t size = 0;
    std::unique_ptr<kernel::MemoryTree> tree;
    std::int64_t freshMs = 0, askedMs = 0;  // until when it is fresh; when it was last asked for
  };

  Result<Book*> bookOf(const std::string& partition);
  Status renew(const std::string& partition, Book& book);
  Result<std::string> content(const std::string& partition, Book& book, std::string_view file);
  void forgetOld();

  Daemon& daemon_;
  std::map<std::string, Book, std::less<>> books_;  // by partition
  bool timed_ = false;
  const std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace witan::node
