// A trace as text: one line an event, aligned, the time first, so that grep and less do the rest.
//
//   00:01:02.345678 device-3  work   commits          agents/main device-3@7f:12 agent-4
//
// Pure functions and values.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/run.h"

namespace witan::sim {

// Without a line end; control characters and what is no UTF-8 as '?'.
std::string traceText(const TraceLine& line);

// "00:01:02.345678"; hours grow beyond two digits.
std::string traceTime(Micros at);
// "device-3" or "cluster".
std::string traceTrack(std::uint32_t device);

// Which lines are told.
struct TraceFilter {
  std::set<std::uint32_t> devices;   // empty: all; kNobody: the cluster's own
  std::set<std::string> categories;  // empty: all
  Micros from = 0, to = std::numeric_limits<Micros>::max();
  bool frames = true;  // the lines about single frames
  bool lets(const TraceLine& line) const;
};

// "device-3,ledger,cluster": devices and categories. Errors name the word and what there is.
Status readOnly(std::string_view words, TraceFilter& filter);

// The names in a failure's reason that lines can be searched for: ids of operations, versions, entities, partitions.
std::vector<std::string> namesIn(std::string_view reason);

// A trace in the Trace Event format (JSON), which ui.perfetto.dev and chrome://tracing open: one process a run, a track
// a device and one of the cluster, faults with a length as slices on tracks of their own below their device, arrows
// from where frames are sent to where they arrive.
//
// Streamed: memory is O(devices). The text is complete after begin() + any number of add() + end(), and most viewers
// also open one without its end. Used by one thread.
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
  void event(const TraceLine& line, std::uint64_t thread, bool isSlice);
  void flow(const TraceLine& line, std::uint64_t thread);

  Write write_;
  // By device: when the last slice on each of its tracks for faults ends.
  std::map<std::uint32_t, std::vector<Micros>> lanes_;
  std::set<std::uint64_t> named_;
};

}  // namespace witan::sim
