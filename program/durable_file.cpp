#include "program/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace witan::node {

namespace fs = std::filesystem;

namespace {

Error osError(const std::string& what, const fs::path& path) {
  return ioFailed(what + " " + path.string() + " (" + std::strerror(errno) + ")");
}

Error irregular(const fs::path& path, mode_t mode) {
  const char* const kind = S_ISDIR(mode)    ? "a folder"
                           : S_ISFIFO(mode) ? "a pipe"
                           : S_ISSOCK(mode) ? "a socket"
                                            : "a device";
  return invalid(path.string() + " is " + kind + " and no regular file", "give a file");
}

// What a shell or a parent handed over: <(...) of bash and zsh, standard input.
bool isHanded(const fs::path& path) {
  const std::string name = path.string();
  return name == "/dev/stdin" || name.starts_with("/dev/fd/") || name.starts_with("/proc/self/fd/");
}

// Why a file was not opened; a socket's refusal (ENXIO) says nothing of sockets.
Error notOpened(const fs::path& path) {
  const int why = errno;
  const Error failure = osError("cannot read", path);
  struct stat about {};
  if (why == ENXIO && ::stat(path.c_str(), &about) == 0 && S_ISSOCK(about.st_mode))
    return irregular(path, about.st_mode);
  return failure;
}

// As a disk gets full, a part is written without an error: the next part has its reason.
bool writeAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

}  // namespace

Status replaceFile(const fs::path& path, std::string_view text, mode_t mode) {
  const fs::path beside = path.string() + ".new";
  // Whatever stands there, a link of somebody else's too, is neither followed nor written to.
  ::unlink(beside.c_str());
  const int fd = ::open(beside.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode);
  if (fd < 0) return osError("cannot write", beside);
  bool ok = writeAll(fd, text) && ::fsync(fd) == 0;
  ok = ::close(fd) == 0 && ok;
  return ok ? renameFile(beside, path) : Status(osError("cannot write", path));
}

Status renameFile(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return osError("cannot write", to);
  const fs::path folder = to.has_parent_path() ? to.parent_path() : fs::path(".");
  const int dir = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (dir < 0) return osError("cannot open the folder of", to);
  bool ok = ::fsync(dir) == 0;
  ok = ::close(dir) == 0 && ok;
  return ok ? okStatus() : Status(osError("cannot sync the folder of", to));
}

Result<std::optional<int>> openToRead(const fs::path& path) {
  // A pipe that nobody writes into would be waited for. One that was handed over has a writer.
  const bool handed = isHanded(path);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | (handed ? 0 : O_NONBLOCK));
  if (fd < 0 && errno == ENOENT) return std::optional<int>();
  if (fd < 0) return notOpened(path);
  struct stat about {};
  if (::fstat(fd, &about) != 0 || !(S_ISREG(about.st_mode) || (handed && S_ISFIFO(about.st_mode)))) {
    ::close(fd);
    return irregular(path, about.st_mode);
  }
  return std::optional(fd);
}

Result<std::optional<std::string>> readSmallFile(const fs::path& path, std::size_t limit) {
  WITAN_TRY(opened, openToRead(path));
  if (!opened) return std::optional<std::string>();
  const int fd = *opened;
  std::string text;
  char piece[64 * 1024];
  ssize_t got = 0;
  while (text.size() <= limit && ((got = ::read(fd, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR)))
    text.append(piece, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const Error failure = osError("cannot read", path);
  ::close(fd);
  if (got < 0) return failure;
  if (text.size() > limit) return invalid(concat(path.string(), " is longer than ", limit, " bytes"));
  return std::optional(std::move(text));
}

std::string_view chomped(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace witan::node
