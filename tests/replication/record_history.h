// Generated histories for the views of record kinds: devices that write, having seen some of what others wrote.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "replication/vector_clock.h"

namespace witan::replication::test {

// In [low, high). rapidcheck's own ranges begin with the smallest numbers and would make most histories trivial.
template <class T = int>
T uniform(T low, T high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, high));
}

// Runs a property's body on twenty histories a case: two thousand in all.
template <class Body>
void onManyHistories(Body body) {
  for (int i = 0; i < 20; ++i) body();
}

// `body(seen)`: the bytes of a version whose author had seen these. Up to `most` versions of one key by up to five
// devices; each sees, before it writes, all that some devices had seen until then.
inline std::vector<Version> generatedHistory(std::size_t most,
                                             const std::function<std::string(const std::vector<Version>&)>& body) {
  const auto writes = uniform<std::size_t>(1, most + 1);
  const auto devices = uniform<std::size_t>(1, 6);
  std::vector<Version> all;
  std::vector<VectorClock> seen(devices);
  std::vector<std::uint64_t> counters(devices, 0);
  for (std::size_t i = 0; i < writes; ++i) {
    const auto d = uniform<std::size_t>(0, devices);
    for (std::size_t other = 0; other < devices; ++other)
      if (uniform(0, 4) == 0) seen[d].join(seen[other]);
    const std::string host(1, static_cast<char>('A' + d));
    std::vector<Version> known;
    std::copy_if(all.begin(), all.end(), std::back_inserter(known),
                 [&](const Version& v) { return seen[d].covers(v.dot); });
    const std::string bytes = body(known);
    // Not every commit of a device writes this key.
    counters[d] += uniform<std::uint64_t>(1, 4);
    seen[d].set(host, counters[d]);
    all.push_back({{host, counters[d]}, seen[d], bytes, false});
  }
  return all;
}

// The same set in another order, some of it twice.
inline std::vector<Version> shuffled(std::vector<Version> versions) {
  const auto repeated = uniform<std::size_t>(0, versions.size());
  versions.push_back(versions[repeated]);
  for (std::size_t i = versions.size() - 1; i > 0; --i)
    std::swap(versions[i], versions[uniform<std::size_t>(0, i + 1)]);
  return versions;
}

}  // namespace witan::replication::test
