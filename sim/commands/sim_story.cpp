#include "sim/commands/sim_story.h"

#include <sys/mman.h>

#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "sim/jobs.h"
#include "sim/trace_text.h"

namespace witan::node {

namespace {

constexpr std::size_t kAbout = 24, kFaults = 10, kLast = 12;
constexpr std::size_t kLineMost = 400;
constexpr unsigned kSecondsMost = 600;

using Lines = std::map<std::uint64_t, std::string>;  // by their number in the run

// The last lines of a run, in memory that a child process shares with its parent.
class SharedLines {
 public:
  explicit SharedLines(std::size_t count) : count_(count) {
    void* memory = ::mmap(nullptr, count * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    slots_ = memory == MAP_FAILED ? nullptr : static_cast<Slot*>(memory);
  }
  SharedLines(const SharedLines&) = delete;
  ~SharedLines() {
    if (slots_ != nullptr) ::munmap(slots_, count_ * sizeof(Slot));
  }

  void add(std::uint64_t number, std::string_view line) {
    if (slots_ == nullptr) return;
    Slot& slot = slots_[next_++ % count_];
    slot.number = 0;  // not whole
    slot.size = std::min(line.size(), kLineMost);
    std::memcpy(slot.text, line.data(), slot.size);
    slot.number = number;
  }
  void appendTo(Lines& out) const {
    for (std::size_t i = 0; slots_ != nullptr && i < count_; ++i)
      if (slots_[i].number != 0) out[slots_[i].number] = std::string(slots_[i].text, slots_[i].size);
  }

 private:
  struct Slot {
    std::uint64_t number;  // from 1
    std::size_t size;
    char text[kLineMost];
  };
  const std::size_t count_;
  std::size_t next_ = 0;
  Slot* slots_ = nullptr;
};

// "op-1" is not in "op-12".
bool mentions(std::string_view line, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      const bool begins = at == 0 || std::isalnum(static_cast<unsigned char>(line[at - 1])) == 0;
      if (begins && (end == line.size() || std::isalnum(static_cast<unsigned char>(line[end])) == 0)) return true;
    }
  return false;
}

}  // namespace

std::string storyOf(const sim::Plan& plan, const sim::Failure& failure) {
  if (failure.checker == "hang") return {};
  const std::vector<std::string> names = sim::namesIn(failure.reason);
  SharedLines about(kAbout), faults(kFaults), last(kLast);
  sim::RunOptions options;
  std::uint64_t number = 0;
  options.trace = [&](const sim::TraceLine& line) {
    const std::string text = sim::traceText(line);
    const bool named = mentions(text, names);
    if (line.flow != 0 && !named) return;
    ++number;
    if (named) about.add(number, text);
    if (line.category == "fault") faults.add(number, text);
    if (line.flow == 0) last.add(number, text);
  };
  const auto again = sim::runIsolated([&] { return sim::run(plan, options); }, kSecondsMost);
  if (!again.ok()) return {};
  Lines lines;
  for (const SharedLines* kept : {&about, &faults, &last}) kept->appendTo(lines);
  std::string out;
  std::uint64_t before = 0;
  for (const auto& [at, text] : lines) {
    if (at != before + 1) out += kLinesLeftOut;
    out += text + "\n";
    before = at;
  }
  return out;
}

}  // namespace witan::node
