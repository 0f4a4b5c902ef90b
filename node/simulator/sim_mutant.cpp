#include "node/simulator/sim_mutant.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "sim/active_mutant.h"

namespace witan::node {

namespace {

constexpr const char* kProgram = "witan-mutants";

// As the system keeps them.
std::vector<std::string> wordsOfThisProcess() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\0', at), all.size());
    words.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace

Status becomeMutant(const std::string& name) {
  const Status active = sim::activateMutant(name);
  if (active.ok() || active.error().code != ErrorCode::unavailable) return active;
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  std::vector<std::string> words = wordsOfThisProcess();
  if (failure || words.empty()) return ioFailed("cannot find out where this program is", "start witan-mutants itself");
  const std::string program = (self.parent_path() / kProgram).string();
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  return Error{ErrorCode::notFound, "broken variants need the program " + program + " (" + std::strerror(errno) + ")",
               "build it: cmake --build build --target witan-mutants"};
}

}  // namespace witan::node
