// Ledgers as tiles (C2SP tlog-tiles): files that any server of files can serve, from which clients of transparency
// logs prove entries.
//
//   checkpoint             a signed head
//   tile/LEVEL/N           256 hashes of subtrees of 256^LEVEL leaves; of the last one "N.p/W", W hashes
//   tile/entries/N         256 entries, each after its length in two bytes
//
// N is written in groups of three digits, all but the last with an x: x001/x234/067.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/record/merkle.h"

namespace witan::node {

inline constexpr std::uint64_t kTileWidth = 256;
inline constexpr unsigned kTileLevels = 8;
inline constexpr std::size_t kMaxTiledEntry = 65'535;

// Of a tile or, without a level, of a bundle of entries.
struct TileName {
  std::optional<unsigned> level;
  std::uint64_t index = 0;
  std::uint64_t width = kTileWidth;
};
std::string tilePath(const TileName& name);
// None: it is no path of a tile.
std::optional<TileName> tileNamed(std::string_view path);
// Whether a tree of so many leaves has it. Any part of a tile that has more hashes is one, too.
bool hasTile(const TileName& name, std::uint64_t size);
// Requires: hasTile(). O(width log size). Errors: of the tree.
Result<std::string> hashTile(const TileName& name, const kernel::HashReader& tree);
// Adds an entry to a bundle. Errors: it is longer than a bundle can say.
Status addToBundle(std::string& bundle, std::uint64_t seq, std::string_view entry);

// TileWriter: all tiles of a growing ledger, each once, in O(log entries) memory; those of its end by finish().
class TileWriter {
 public:
  using Emit = std::function<Status(const std::string& path, std::string_view content)>;
  explicit TileWriter(Emit emit) : emit_(std::move(emit)) {}
  Status append(std::string_view entry);
  Status finish();

 private:
  struct Level {
    std::string hashes;
    std::uint64_t tiles = 0;  // that are whole
    kernel::MerkleFrontier frontier;
  };
  Status add(unsigned level, const Hash& hash);

  const Emit emit_;
  std::array<Level, kTileLevels> levels_;
  std::string bundle_;
  std::uint64_t entries_ = 0;
};

}  // namespace witan::node
