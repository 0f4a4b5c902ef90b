#include "node/etcd/etcd_value.h"

#include <zstd.h>

#include <array>

namespace witan::node {

namespace {

constexpr std::string_view kBatch = "WLOG";
constexpr std::string_view kMagic = "WZST";
constexpr std::array<char, 4> kVersion{1, 0, 0, 0};
constexpr std::size_t kHeader = kMagic.size() + kVersion.size();
constexpr std::size_t kLeastBytes = 256;  // below that it is not worth a header
constexpr int kLevel = 1;

}  // namespace

std::string packedForEtcd(std::string_view value) {
  if (!value.starts_with(kBatch) || value.size() < kLeastBytes || value.size() > kMaxEtcdValueBytes)
    return std::string(value);
  std::string packed(kMagic);
  packed.append(kVersion.data(), kVersion.size());
  packed.resize(kHeader + ZSTD_compressBound(value.size()));
  const std::size_t size =
      ZSTD_compress(packed.data() + kHeader, packed.size() - kHeader, value.data(), value.size(), kLevel);
  if (ZSTD_isError(size) != 0 || kHeader + size >= value.size()) return std::string(value);
  packed.resize(kHeader + size);
  return packed;
}

Result<std::string> unpackedFromEtcd(std::string value) {
  if (!value.starts_with(kMagic)) return value;
  if (value.size() < kHeader) return invalid("a packed batch without a version");
  if (std::string_view(value).substr(kMagic.size(), kVersion.size()) !=
      std::string_view(kVersion.data(), kVersion.size()))
    return invalid("a batch packed as this build does not know (version " +
                       std::to_string(static_cast<unsigned char>(value[kMagic.size()])) + ")",
                   "update this device");
  const std::string_view frame = std::string_view(value).substr(kHeader);
  const unsigned long long bytes = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == ZSTD_CONTENTSIZE_ERROR)
    return invalid("a packed batch that does not state its size");
  if (bytes > kMaxEtcdValueBytes)
    return invalid("a packed batch of " + std::to_string(bytes) + " bytes, more than " +
                   std::to_string(kMaxEtcdValueBytes));
  std::string unpacked(static_cast<std::size_t>(bytes), '\0');
  const std::size_t size = ZSTD_decompress(unpacked.data(), unpacked.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0) return invalid(std::string("a packed batch is damaged: ") + ZSTD_getErrorName(size));
  if (size != unpacked.size()) return invalid("a packed batch is shorter than it states");
  return unpacked;
}

}  // namespace witan::node
