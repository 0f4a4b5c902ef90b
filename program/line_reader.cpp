#include "program/line_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "program/durable_file.h"

namespace witan::node {

namespace {
constexpr std::size_t kChunk = 64 * 1024;
}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  if (path == "-") return InputFile(STDIN_FILENO, path);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return ioFailed("cannot open " + path + " (" + std::strerror(errno) + ")", "give a file, or -");
  InputFile file(fd, path);
  struct stat kind {};
  if (::fstat(fd, &kind) == 0 && S_ISDIR(kind.st_mode)) return invalid(path + " is a folder", "give a file, or -");
  return file;
}

Result<InputFile> InputFile::openFile(const std::string& path) {
  WITAN_TRY(opened, openToRead(path));
  if (!opened) return notFound("no file " + path);
  return InputFile(*opened, path);
}

InputFile::InputFile(InputFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}

InputFile::~InputFile() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

// read() and not fread(), which waits for a whole chunk of a pipe.
Result<std::size_t> InputFile::read(std::span<char> into) {
  for (;;) {
    const ssize_t got = ::read(fd_, into.data(), into.size());
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return ioFailed("cannot read " + inputName(path_) + " (" + std::strerror(errno) + ")");
  }
}

std::optional<InputLine> LineCutter::next(std::string_view& bytes) {
  if (std::exchange(ended_, false)) {
    ++number_;
    held_.clear();
    overlong_ = false;
    passedOver_ = 0;
  }
  const std::size_t end = std::min(bytes.find('\n'), bytes.size());
  if (overlong_ || held_.size() + end > most_) {
    overlong_ = true;
    held_.clear();
    passedOver_ += end;
  } else {
    held_ += bytes.substr(0, end);
  }
  ended_ = end < bytes.size();
  bytes.remove_prefix(std::min(end + 1, bytes.size()));
  return ended_ ? std::optional(InputLine{number_, held_, overlong_}) : std::nullopt;
}

std::optional<InputLine> LineCutter::last() {
  if (ended_ || (held_.empty() && !overlong_)) return std::nullopt;
  return InputLine{number_, held_, overlong_};
}

std::string inputName(const std::string& path) { return path == "-" ? "standard input" : path; }

Status forEachLine(const std::string& path, std::size_t most, const std::function<Status(const InputLine&)>& visit) {
  WITAN_TRY(input, InputFile::open(path));
  const auto buffer = std::make_unique<char[]>(kChunk);
  LineCutter lines(most);
  for (;;) {
    WITAN_TRY(got, input.read({buffer.get(), kChunk}));
    if (got == 0) break;
    std::string_view rest(buffer.get(), got);
    while (const auto line = lines.next(rest)) WITAN_DO(visit(*line));
    if (lines.passedOver() > kEndlessLine)
      return invalid(concat(inputName(path), ": line ", lines.number(), " does not end"));
  }
  const auto last = lines.last();
  return last ? visit(*last) : okStatus();
}

Result<std::string> readInput(const std::string& path, std::size_t most) {
  if (path != "-") {
    WITAN_TRY(text, readSmallFile(path, most));
    if (!text) return ioFailed("cannot open " + path + " (" + std::strerror(ENOENT) + ")", "give a file, or -");
    return *std::move(text);
  }
  WITAN_TRY(input, InputFile::open(path));
  const auto buffer = std::make_unique<char[]>(kChunk);
  std::string text;
  while (text.size() <= most) {
    WITAN_TRY(got, input.read({buffer.get(), kChunk}));
    if (got == 0) break;
    text.append(buffer.get(), got);
  }
  if (text.size() > most) return invalid(concat(inputName(path), " is longer than ", most, " bytes"));
  return text;
}

}  // namespace witan::node
