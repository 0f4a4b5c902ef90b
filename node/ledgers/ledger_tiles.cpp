#include "node/ledgers/ledger_tiles.h"

#include <charconv>

#include "base/bytes.h"

namespace witan::node {

namespace {

constexpr std::string_view kTile = "tile/", kEntries = "entries/";
constexpr std::uint64_t kIndexGroup = 1000;

std::optional<std::uint64_t> numberIn(std::string_view digits) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size() && !digits.empty();
  return whole ? std::optional(number) : std::nullopt;
}

std::string groupsOf(std::uint64_t number) {
  const auto digits = [](std::uint64_t group) {
    const std::string text = std::to_string(group);
    return std::string(3 - text.size(), '0') + text;
  };
  std::string text = digits(number % kIndexGroup);
  for (number /= kIndexGroup; number > 0; number /= kIndexGroup)
    text = concat("x", digits(number % kIndexGroup), "/", text);
  return text;
}

std::string_view hashBytes(const Hash& hash) { return asView(std::span<const std::uint8_t>(hash)); }

}  // namespace

std::string tilePath(const TileName& name) {
  const std::string part = name.width == kTileWidth ? "" : concat(".p/", name.width);
  return concat(kTile, name.level ? concat(*name.level, "/") : std::string(kEntries), groupsOf(name.index), part);
}

std::optional<TileName> tileNamed(std::string_view path) {
  const std::string_view whole = path;
  if (!path.starts_with(kTile)) return std::nullopt;
  path.remove_prefix(kTile.size());
  TileName name;
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  if (!path.starts_with(kEntries)) {
    const auto level = numberIn(path.substr(0, slash));
    if (!level || *level >= kTileLevels) return std::nullopt;
    name.level = static_cast<unsigned>(*level);
  }
  path.remove_prefix(slash + 1);
  if (const std::size_t part = path.find(".p/"); part != std::string_view::npos) {
    const auto width = numberIn(path.substr(part + 3));
    if (!width || *width == 0 || *width >= kTileWidth) return std::nullopt;
    name.width = *width;
    path = path.substr(0, part);
  }
  std::uint64_t index = 0;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    std::string_view group = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (group.starts_with('x')) group.remove_prefix(1);
    const auto number = group.size() == 3 ? numberIn(group) : std::nullopt;
    if (!number || index > kernel::maxTreeSize / kTileWidth / kIndexGroup) return std::nullopt;
    index = index * kIndexGroup + *number;
  }
  name.index = index;
  return tilePath(name) == whole ? std::optional(name) : std::nullopt;
}

bool hasTile(const TileName& name, std::uint64_t size) {
  const unsigned shift = 8 * name.level.value_or(0);
  const std::uint64_t hashes = shift >= 64 ? 0 : size >> shift;
  return name.index <= hashes / kTileWidth && name.index * kTileWidth + name.width <= hashes;
}

Result<std::string> hashTile(const TileName& name, const kernel::HashReader& tree) {
  std::string tile;
  for (std::uint64_t n = 0; n < name.width; ++n) {
    WITAN_TRY(hash, tree.subtree(8 * *name.level, name.index * kTileWidth + n));
    tile += hashBytes(hash);
  }
  return tile;
}

Status addToBundle(std::string& bundle, std::uint64_t seq, std::string_view entry) {
  if (entry.size() > kMaxTiledEntry)
    return invalid(
        concat("entry ", seq, " has ", entry.size(), " bytes, and tiles hold entries of at most ", kMaxTiledEntry),
        "take witan ledger export without --tiles");
  bundle += static_cast<char>(entry.size() >> 8);
  bundle += static_cast<char>(entry.size() & 0xff);
  bundle += entry;
  return okStatus();
}

Status TileWriter::append(std::string_view entry) {
  WITAN_DO(addToBundle(bundle_, ++entries_, entry));
  if (entries_ % kTileWidth == 0) {
    WITAN_DO(emit_(tilePath({std::nullopt, entries_ / kTileWidth - 1}), bundle_));
    bundle_.clear();
  }
  return add(0, kernel::leafHash(entry));
}

Status TileWriter::add(unsigned level, const Hash& hash) {
  Level& here = levels_[level];
  here.hashes += hashBytes(hash);
  here.frontier.append(hash);
  if (here.frontier.size() < kTileWidth) return okStatus();
  WITAN_DO(emit_(tilePath({level, here.tiles++}), here.hashes));
  const Hash root = here.frontier.root();
  here.hashes.clear();
  here.frontier = {};
  return level + 1 < kTileLevels ? add(level + 1, root) : okStatus();
}

Status TileWriter::finish() {
  if (!bundle_.empty())
    WITAN_DO(emit_(tilePath({std::nullopt, entries_ / kTileWidth, entries_ % kTileWidth}), bundle_));
  for (unsigned level = 0; level < kTileLevels; ++level) {
    const Level& here = levels_[level];
    if (here.frontier.size() > 0) WITAN_DO(emit_(tilePath({level, here.tiles, here.frontier.size()}), here.hashes));
  }
  return okStatus();
}

}  // namespace witan::node
