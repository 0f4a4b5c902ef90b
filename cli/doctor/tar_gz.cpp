#include "cli/doctor/tar_gz.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace witan::node {

namespace {

constexpr std::size_t kBlock = 512;
constexpr int kGzip = 15 + 16;  // the window's bits; 16: a gzip header

}  // namespace

void TarGz::add(std::string_view name, std::string_view content) {
  WITAN_CHECK(!name.empty() && name.size() <= 100, "a name of the ustar header");
  std::array<char, kBlock> header{};
  const auto put = [&](std::size_t at, std::string_view text) {
    std::memcpy(header.data() + at, text.data(), text.size());
  };
  const auto octal = [&](std::size_t at, std::size_t digits, std::uint64_t number) {
    char text[24];
    std::snprintf(text, sizeof text, "%0*llo", static_cast<int>(digits), static_cast<unsigned long long>(number));
    put(at, std::string_view(text, digits));
  };
  put(0, name);
  octal(100, 7, 0600);
  octal(108, 7, 0);
  octal(116, 7, 0);
  octal(124, 11, content.size());
  octal(136, 11, static_cast<std::uint64_t>(std::max<std::int64_t>(at_.micros, 0) / 1'000'000));
  header[156] = '0';
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  put(148, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  octal(148, 6, sum);
  header[154] = '\0';
  tar_.append(header.data(), header.size());
  tar_.append(content);
  tar_.append((kBlock - content.size() % kBlock) % kBlock, '\0');
}

Result<std::string> TarGz::finish() {
  tar_.append(2 * kBlock, '\0');
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return ioFailed("zlib has no memory");
  std::string out(deflateBound(&stream, tar_.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(tar_.data());
  stream.avail_in = static_cast<uInt>(tar_.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int done = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (done != Z_STREAM_END) return ioFailed("zlib did not compress it");
  return out;
}

}  // namespace witan::node
