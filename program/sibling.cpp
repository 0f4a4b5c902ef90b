#include "program/sibling.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "program/error_report.h"

namespace witan::node {

int runSibling(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) ::execv((own.parent_path() / program).c_str(), argv.data());
  if (error || errno == ENOENT) ::execvp(program.c_str(), argv.data());
  if (errno != ENOENT)
    return reportError(ioFailed("cannot start " + program + " (" + std::strerror(errno) + ")"), false);
  return reportError(
      {ErrorCode::notFound, program + ", which carries this command out, is neither beside witan nor on PATH",
       "build it: cmake --build build --target " + program + "; or install the package witan-sim"},
      false);
}

}  // namespace witan::node
