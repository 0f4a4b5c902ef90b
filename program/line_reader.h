// Lines of a file or of standard input, in bounded memory.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace witan::node {

// Nothing that ends lines has lines like this.
inline constexpr std::size_t kEndlessLine = std::size_t{1} << 30;

struct InputLine {
  std::size_t number = 1;
  std::string_view text;  // without its end; empty if it was too long
  bool overlong = false;
};

// The bytes of a file, or of standard input for "-", as they come: of a pipe what is there, without waiting for more.
class InputFile {
 public:
  // Errors: it cannot be opened; it is a folder.
  static Result<InputFile> open(const std::string& path);
  // A file only, as openToRead (program/durable_file.h) opens it. Errors: its; notFound.
  static Result<InputFile> openFile(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();
  // How many bytes it read; 0 at the end.
  Result<std::size_t> read(std::span<char> into);

 private:
  InputFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

// Cuts bytes into lines; passes over those of more than `most` bytes.
class LineCutter {
 public:
  explicit LineCutter(std::size_t most) : most_(most) {}
  // Takes bytes up to the next line end; the line is good until the next call. None: all bytes were taken, and the line
  // goes on.
  std::optional<InputLine> next(std::string_view& bytes);
  // The line that nothing ended, if it is not empty.
  std::optional<InputLine> last();
  // Of the line at hand.
  std::size_t passedOver() const { return passedOver_; }
  std::size_t number() const { return number_; }

 private:
  const std::size_t most_;
  std::size_t number_ = 1, passedOver_ = 0;
  std::string held_;
  bool overlong_ = false, ended_ = false;
};

// Visits every line of a path, or of standard input for "-"; what follows the last line end counts if it is not empty.
// Lines longer than `most` bytes are passed over and reported as such. Stops at the visitor's first error and returns
// it. Errors: cannot be opened or read; a line goes on for more than kEndlessLine bytes.
Status forEachLine(const std::string& path, std::size_t most, const std::function<Status(const InputLine&)>& visit);

// All of a file, or of standard input for "-". Errors: as above; a path that is no regular file; more than `most`
// bytes.
Result<std::string> readInput(const std::string& path, std::size_t most);

// How messages call it.
std::string inputName(const std::string& path);

}  // namespace witan::node
