// A trace in the Trace Event format (JSON), which ui.perfetto.dev and chrome://tracing open: one process a run, a track
// a device and one of the cluster, faults with a length as slices on tracks of their own below their device, arrows
// from where frames are sent to where they arrive.
//
// Streamed: memory is O(devices). The text is complete after begin() + any number of add() + end(), and most viewers
// also open one without its end. Used by one thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run.h"

namespace witan::sim {

class PerfettoTrace {
 public:
  using Write = std::function<void(std::string_view text)>;
  explicit PerfettoTrace(Write write) : write_(std::move(write)) {}

  void begin(std::string_view title);
  void add(const TraceLine& line);
  static std::string_view end() { return "\n]}\n"; }

 private:
  std::uint64_t threadOf(const TraceLine& line);
  void name(std::uint64_t thread, const std::string& text);
  void slice(const TraceLine& line, std::uint64_t thread);
  void instant(const TraceLine& line, std::uint64_t thread);
  void flow(const TraceLine& line, std::uint64_t thread);

  Write write_;
  // By device: when the last slice on each of its tracks for faults ends.
  std::map<std::uint32_t, std::vector<Micros>> lanes_;
  std::set<std::uint64_t> named_;
};

}  // namespace witan::sim
