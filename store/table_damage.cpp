#include "store/table_damage.h"

#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

namespace witan::store {
namespace {

namespace fs = std::filesystem;

// The footer: one byte, the places of two blocks (here the first counts), padding, the format, the magic number.
constexpr std::size_t kFooterBytes = 53;
constexpr std::string_view kMagic("\xf7\xcf\xf4\x85\xb7\x41\xe2\x88", 8);
constexpr std::string_view kProperties = "rocksdb.properties";
constexpr std::uint64_t kMaxBlock = 1 << 20;  // of blocks that say something of their table

std::vector<fs::path> tablesOf(const fs::path& dir) {
  std::vector<fs::path> tables;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".sst") tables.push_back(it->path());
  std::ranges::sort(tables);
  return tables;
}

struct Place {
  std::uint64_t offset = 0, size = 0;
};

std::optional<std::uint64_t> takeVarint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<Place> takePlace(std::string_view& bytes) {
  const auto offset = takeVarint(bytes), size = takeVarint(bytes);
  return offset && size ? std::optional(Place{*offset, *size}) : std::nullopt;
}

std::optional<std::string> bytesAt(std::ifstream& in, const Place& place) {
  if (place.size > kMaxBlock) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(place.size), '\0');
  in.clear();
  in.seekg(static_cast<std::streamoff>(place.offset));
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return in ? std::optional(std::move(bytes)) : std::nullopt;
}

// Among the rows of the block that lists the others: three lengths, the key, the place.
std::optional<Place> placeOfProperties(std::string_view block) {
  while (!block.empty()) {
    const auto shared = takeVarint(block), key = takeVarint(block), value = takeVarint(block);
    if (!shared || !key || !value || *shared != 0 || *key > block.size() || *value > block.size() - *key)
      return std::nullopt;
    std::string_view place = block.substr(static_cast<std::size_t>(*key), static_cast<std::size_t>(*value));
    if (block.substr(0, static_cast<std::size_t>(*key)) == kProperties) return takePlace(place);
    block.remove_prefix(static_cast<std::size_t>(*key + *value));
  }
  return std::nullopt;
}

// The properties' block ends with the number of its restarts. Its highest bit says that a hash index comes before it,
// which only blocks of data have.
bool claimsAHashIndex(const fs::path& table) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(table, error);
  if (error || size < kFooterBytes) return false;
  std::ifstream in(table, std::ios::binary);
  const auto footer = bytesAt(in, {size - kFooterBytes, kFooterBytes});
  if (!footer || !footer->ends_with(kMagic)) return false;
  std::string_view rest = std::string_view(*footer).substr(1);
  const auto list = takePlace(rest);
  const auto rows = list ? bytesAt(in, *list) : std::nullopt;
  const auto properties = rows ? placeOfProperties(*rows) : std::nullopt;
  const auto block = properties ? bytesAt(in, *properties) : std::nullopt;
  return block && !block->empty() && static_cast<unsigned char>(block->back()) >= 0x80;
}

std::string sentence(const fs::path& table, const std::string& cause) {
  return "the store " + table.parent_path().string() + " is damaged (" + table.string() + ": " + cause + ")";
}

}  // namespace

Status checkTableEnds(const fs::path& dir) {
  for (const fs::path& table : tablesOf(dir))
    if (claimsAHashIndex(table))
      return corrupt(sentence(table, "its properties are damaged"), "restore the folder from a copy");
  return okStatus();
}

std::vector<std::string> findTableDamage(const fs::path& dir) {
  std::vector<std::string> found;
  for (const fs::path& table : tablesOf(dir)) {
    if (claimsAHashIndex(table)) {
      found.push_back(sentence(table, "its properties are damaged"));
      continue;
    }
    rocksdb::SstFileReader reader{rocksdb::Options{}};
    rocksdb::Status status = reader.Open(table.string());
    if (status.ok()) status = reader.VerifyChecksum();
    if (!status.ok()) found.push_back(sentence(table, status.ToString()));
  }
  return found;
}

}  // namespace witan::store
