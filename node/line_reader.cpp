#include "node/line_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace witan::node {

namespace {

constexpr std::size_t kChunk = 64 * 1024;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

Result<File> openInput(const std::string& path) {
  if (path == "-") return File(stdin, [](std::FILE*) { return 0; });
  File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return ioFailed("cannot open " + path + " (" + std::strerror(errno) + ")", "give a file, or -");
  return file;
}

Error unreadable(const std::string& path) {
  return ioFailed("cannot read " + inputName(path) + " (" + std::strerror(errno) + ")");
}

}  // namespace

std::string inputName(const std::string& path) { return path == "-" ? "standard input" : path; }

Status forEachLine(const std::string& path, std::size_t most, const std::function<Status(const InputLine&)>& visit) {
  WITAN_TRY(file, openInput(path));
  const auto buffer = std::make_unique<char[]>(kChunk);
  std::string held;
  InputLine line;
  while (const std::size_t got = std::fread(buffer.get(), 1, kChunk, file.get())) {
    std::string_view rest(buffer.get(), got);
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      line.overlong = line.overlong || held.size() + end > most;
      if (line.overlong)
        held.clear();
      else
        held += rest.substr(0, end);
      if (end == rest.size()) break;
      line.text = held;
      WITAN_DO(visit(line));
      held.clear();
      line = {line.number + 1, {}, false};
      rest.remove_prefix(end + 1);
    }
  }
  if (std::ferror(file.get()) != 0) return unreadable(path);
  line.text = held;
  return held.empty() && !line.overlong ? okStatus() : visit(line);
}

Result<std::string> readInput(const std::string& path, std::size_t most) {
  WITAN_TRY(file, openInput(path));
  std::string text(most + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return unreadable(path);
  if (text.size() > most) return invalid(inputName(path) + " is longer than " + std::to_string(most) + " bytes");
  return text;
}

}  // namespace witan::node
