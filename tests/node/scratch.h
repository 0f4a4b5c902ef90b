// A fresh folder for one test, removed at its end.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace witan::node::test {

class Scratch {
 public:
  Scratch() {
    static std::atomic<int> next{0};
    path_ = std::filesystem::path(::testing::TempDir()) /
            ("witan-node-" + std::to_string(getpid()) + "-" + std::to_string(next++));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace witan::node::test
