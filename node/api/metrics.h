// Metrics in Prometheus' text format (0.0.4): names with base units, no label whose values strangers choose.
#pragma once

#include <string>

namespace witan::node {

class Daemon;

// A scrape. O(partitions + devices).
std::string metricsText(Daemon& daemon);

}  // namespace witan::node
