
#include <algorithm>

#include "base/json.h"
#include "base/utf8.h"
#include "sim/trace_text.h"

namespace witan::sim {

namespace {

// Threads of a device: its own, then its tracks for faults. The cluster comes first.
constexpr std::uint64_t kThreadsEach = 16;

std::uint64_t ownThread(std::uint32_t device) {
  return device == kNobody ? 1 : kThreadsEach * (std::uint64_t{device} + 1);
}

void appendText(std::string& out, std::string_view text) {
  if (isUtf8(text)) return appendJsonString(out, text);
  std::string plain;
  for (const char c : text) plain += c >= ' ' && c <= '~' ? c : '?';
  appendJsonString(out, plain);
}

// {"name":...,"cat":...,"ph":...,"ts":...,"pid":1,"tid":... without the end
std::string head(std::string_view what, std::string_view category, char phase, Micros at, std::uint64_t thread) {
  std::string out = ",\n{\"name\":";
  appendText(out, what);
  out += ",\"cat\":\"";
  out += category;
  out += "\",\"ph\":\"";
  out += phase;
  out += concat("\",\"ts\":", at, ",\"pid\":1,\"tid\":", thread);
  return out;
}

void appendArguments(std::string& out, std::string_view detail) {
  if (detail.empty()) return;
  out += ",\"args\":{\"detail\":";
  appendText(out, detail);
  out += '}';
}

}  // namespace

void PerfettoTrace::begin(std::string_view title) {
  std::string out = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  out += "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,\"tid\":1,\"args\":{\"name\":";
  appendText(out, title);
  write_(out + "}}");
}

void PerfettoTrace::name(std::uint64_t thread, const std::string& text) {
  if (!named_.insert(thread).second) return;
  const std::string where = concat("\"ph\":\"M\",\"pid\":1,\"tid\":", thread);
  std::string out = ",\n{\"name\":\"thread_name\"," + where + ",\"args\":{\"name\":";
  appendText(out, text);
  out += concat("}},\n{\"name\":\"thread_sort_index\",", where, ",\"args\":{\"sort_index\":", thread, "}}");
  write_(out);
}

// What has a length gets a track on which nothing else is at that time: slices of one track may not overlap.
std::uint64_t PerfettoTrace::threadOf(const TraceLine& line) {
  const std::uint64_t own = ownThread(line.device);
  name(own, traceTrack(line.device));
  if (line.lasts <= 0) return own;
  auto& lanes = lanes_[line.device];
  std::size_t lane = 0;
  while (lane < lanes.size() && lanes[lane] > line.at) ++lane;
  if (lane + 1 >= kThreadsEach) return own;
  if (lane == lanes.size()) lanes.push_back(0);
  lanes[lane] = line.at + line.lasts;
  name(own + lane + 1, traceTrack(line.device) + " faults");
  return own + lane + 1;
}

// A slice with a length, or a moment.
void PerfettoTrace::event(const TraceLine& line, std::uint64_t thread, bool isSlice) {
  std::string out = head(line.what, line.category, isSlice ? 'X' : 'i', line.at, thread);
  out += isSlice ? concat(",\"dur\":", std::max<Micros>(line.lasts, 1)) : ",\"s\":\"t\"";
  appendArguments(out, line.detail);
  write_(out + "}");
}

// An arrow's end is bound to the slice in which it stands.
void PerfettoTrace::flow(const TraceLine& line, std::uint64_t thread) {
  event(line, thread, true);
  const bool begins = line.what == kSends;
  std::string out = head("frames", line.category, begins ? 's' : 'f', line.at, thread);
  out += concat(",\"id\":", line.flow);
  write_(out + (begins ? "}" : ",\"bp\":\"e\"}"));
}

void PerfettoTrace::add(const TraceLine& line) {
  const std::uint64_t thread = threadOf(line);
  if (line.flow != 0) return flow(line, thread);
  event(line, thread, line.lasts > 0);
}

}  // namespace witan::sim
