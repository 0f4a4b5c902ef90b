#include "store/rocks_diary.h"

#include <cstdarg>
#include <cstdio>
#include <mutex>

namespace witan::store {

namespace {

class Diary final : public rocksdb::Logger {
 public:
  explicit Diary(const std::filesystem::path& path)
      : Logger(rocksdb::WARN_LEVEL), file_(std::fopen(path.c_str(), "we")) {}
  ~Diary() override {
    if (file_ != nullptr) std::fclose(file_);
  }

  using rocksdb::Logger::Logv;
  void Logv(const char* format, std::va_list words) override {
    char line[1024];
    if (std::vsnprintf(line, sizeof line, format, words) < 0) return;
    std::lock_guard lock(mutex_);
    if (file_ == nullptr || std::ftell(file_) > kDiaryBytes) return;
    std::fputs(line, file_);
    std::fputc('\n', file_);
    std::fflush(file_);
  }
  void LogHeader(const char*, std::va_list) override {}

 private:
  std::mutex mutex_;
  std::FILE* file_;  // null when it could not be opened
};

}  // namespace

std::shared_ptr<rocksdb::Logger> openDiary(const std::filesystem::path& dir) {
  std::error_code ignored;
  std::filesystem::rename(dir / "LOG", dir / "LOG.old", ignored);
  return std::make_shared<Diary>(dir / "LOG");
}

}  // namespace witan::store
