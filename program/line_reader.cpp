#include "program/line_reader.h"

#include <fcntl.h>
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

// read() and not fread(): of a pipe it gives what is there and does not wait for a whole chunk.
class Input {
 public:
  static Result<Input> open(const std::string& path) {
    if (path == "-") return Input(STDIN_FILENO, path);
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return ioFailed("cannot open " + path + " (" + std::strerror(errno) + ")", "give a file, or -");
    return Input(fd, path);
  }
  Input(Input&& other) noexcept : fd_(std::exchange(other.fd_, -1)), path_(std::move(other.path_)) {}
  Input& operator=(Input&&) = delete;
  ~Input() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  // 0 at the end.
  Result<std::size_t> read(char* into, std::size_t size) {
    for (;;) {
      const ssize_t got = ::read(fd_, into, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return ioFailed("cannot read " + inputName(path_) + " (" + std::strerror(errno) + ")");
    }
  }

 private:
  Input(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

}  // namespace

std::string inputName(const std::string& path) { return path == "-" ? "standard input" : path; }

Status forEachLine(const std::string& path, std::size_t most, const std::function<Status(const InputLine&)>& visit) {
  WITAN_TRY(input, Input::open(path));
  const auto buffer = std::make_unique<char[]>(kChunk);
  std::string held;
  std::size_t passedOver = 0;  // of a line that is too long
  InputLine line;
  for (;;) {
    WITAN_TRY(got, input.read(buffer.get(), kChunk));
    if (got == 0) break;
    std::string_view rest(buffer.get(), got);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      line.overlong = line.overlong || held.size() + end > most;
      if (line.overlong) {
        held.clear();
        if ((passedOver += end) > kEndlessLine)
          return invalid(inputName(path) + ": line " + std::to_string(line.number) + " does not end");
      } else {
        held += rest.substr(0, end);
      }
      if (end == rest.size()) break;
      line.text = held;
      WITAN_DO(visit(line));
      held.clear();
      line = {line.number + 1, {}, false};
      passedOver = 0;
      rest.remove_prefix(end + 1);
    }
  }
  line.text = held;
  return held.empty() && !line.overlong ? okStatus() : visit(line);
}

Result<std::string> readInput(const std::string& path, std::size_t most) {
  if (path != "-") {
    WITAN_TRY(text, readSmallFile(path, most));
    if (!text) return ioFailed("cannot open " + path + " (" + std::strerror(ENOENT) + ")", "give a file, or -");
    return *std::move(text);
  }
  WITAN_TRY(input, Input::open(path));
  const auto buffer = std::make_unique<char[]>(kChunk);
  std::string text;
  while (text.size() <= most) {
    WITAN_TRY(got, input.read(buffer.get(), kChunk));
    if (got == 0) break;
    text.append(buffer.get(), got);
  }
  if (text.size() > most) return invalid(inputName(path) + " is longer than " + std::to_string(most) + " bytes");
  return text;
}

}  // namespace witan::node
