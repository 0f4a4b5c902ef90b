// Histories of a few devices as lists of plain operations: made from a seed, printed for people, and made shorter while
// they still fail. Any sub-list is a history too, since operands are taken modulo what exists.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/seams.h"

namespace witan::replication::test {

enum class Act {
  write,       // a: device, b: agent, n: which change
  several,     // a: device, n: which records, in one commit
  journal,     // a: device, b: entity
  message,     // a: device
  remove,      // a: device, b: agent or entity
  cutSession,  // a, b: devices, n: frames that arrive, m: size of segments
  session,     // a, b: devices, m: size of segments
  open,        // a, b: devices, m: size of segments; a live session
  move,        // a: which live session, n: frames, m: in which directions
  close,       // a: which live session
  crash,       // a: device
  stabilise,   // a: device; 0: all
  lose,        // a: device, for good
  admit,       // a: device that joins, by b
  role,        // a: device that loses the scope or gains it again, as b hears first
};

struct Op {
  Act act = Act::write;
  unsigned a = 0, b = 0, n = 0, m = 0;
};

struct Plot {
  std::uint64_t seed = 0;
  unsigned devices = 2;
  unsigned agents = 1;
  unsigned founders = 0;  // how many the first device admits at the start; 0: no membership at all
  std::vector<Op> ops;
};

inline std::string toString(const Op& op) {
  const auto device = [](unsigned d) { return std::string(1, static_cast<char>('a' + d)); };
  const std::string a = device(op.a), b = device(op.b), n = std::to_string(op.n), m = std::to_string(op.m);
  switch (op.act) {
    case Act::write: return a + " writes agent " + std::to_string(op.b) + ", change " + n;
    case Act::several: return a + " commits several records, choice " + n;
    case Act::journal: return a + " writes journal entity " + std::to_string(op.b);
    case Act::message: return a + " writes a message";
    case Act::remove: return a + " removes record " + std::to_string(op.b);
    case Act::cutSession: return a + " and " + b + " in session, cut after " + n + " frames; segments " + m;
    case Act::session: return a + " and " + b + " in a whole session; segments " + m;
    case Act::open: return a + " and " + b + " open a live session; segments " + m;
    case Act::move: return "live session " + a + " carries " + n + " frames, directions " + m;
    case Act::close: return "live session " + a + " breaks";
    case Act::crash: return a + " crashes";
    case Act::stabilise: return op.a == 0 ? "all stabilise" : device(op.a - 1) + " stabilises";
    case Act::lose: return a + " is lost for good";
    case Act::admit: return b + " admits " + a;
    case Act::role: return a + " loses the scope or has it again, as " + b + " hears first";
  }
  return "?";
}

inline std::string toString(const Plot& plot) {
  std::string text = std::to_string(plot.devices) + " devices, " + std::to_string(plot.agents) + " agents, " +
                     (plot.founders == 0 ? "no membership" : std::to_string(plot.founders) + " founders") + "\n";
  for (const Op& op : plot.ops) text += "  " + toString(op) + "\n";
  return text;
}

using Shares = std::span<const std::pair<Act, unsigned>>;  // of 100

inline Op makeOp(Random& random, Shares shares, const Plot& plot, bool relays = false) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random.below(n)); };
  static constexpr unsigned kSizes[] = {1, 1, 100, 1u << 18};
  Op op;
  unsigned share = below(100);
  for (const auto& [act, of] : shares) {
    op.act = act;
    if (share < of) break;
    share -= of;
  }
  op.a = below(plot.devices);
  op.b = below(plot.devices);
  op.n = below(op.act == Act::cutSession ? 12 : 8);
  op.m = relays ? 1 : kSizes[below(4)];
  if (op.act == Act::write || op.act == Act::remove || op.act == Act::journal) op.b = below(plot.agents);
  if (op.act == Act::move) op.m = below(256);
  if (op.act == Act::stabilise) op.a = below(2) == 0 ? 0 : 1 + op.a;
  return op;
}

// Members that tidy up, and some of which may not have the scope for a while.
inline Plot makeRolePlot(std::uint64_t seed) {
  SeededRandom random(seed);
  static constexpr std::pair<Act, unsigned> kShares[] = {
      {Act::write, 22}, {Act::journal, 4}, {Act::remove, 12},    {Act::cutSession, 8}, {Act::session, 22},
      {Act::open, 3},   {Act::move, 8},    {Act::stabilise, 12}, {Act::crash, 2},      {Act::role, 7}};
  Plot plot{seed, 3 + static_cast<unsigned>(random.below(2)), 1, 0, {}};
  plot.founders = plot.devices;
  for (std::uint64_t steps = 10 + random.below(40); steps > 0; --steps)
    plot.ops.push_back(makeOp(random, kShares, plot));
  return plot;
}

inline Plot makePlot(std::uint64_t seed) {
  SeededRandom random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random.below(n)); };
  Plot plot;
  plot.seed = seed;
  plot.devices = 2 + below(4);
  plot.agents = 1 + below(3);
  plot.founders = below(4) == 0 ? 0 : below(3) == 0 ? 1 + below(plot.devices) : plot.devices;
  static constexpr std::pair<Act, unsigned> kShares[] = {
      {Act::write, 22},      {Act::several, 6},   {Act::journal, 5}, {Act::message, 3}, {Act::remove, 6},
      {Act::cutSession, 13}, {Act::session, 11},  {Act::open, 6},    {Act::move, 12},   {Act::close, 2},
      {Act::crash, 4},       {Act::stabilise, 7}, {Act::lose, 1},    {Act::admit, 2}};
  // Three kinds of histories: everything; little but relaying, in sessions that die and live ones, over many devices;
  // and one agent of three members that tidy up while frames are under way.
  static constexpr std::pair<Act, unsigned> kRelays[] = {{Act::write, 24}, {Act::cutSession, 32}, {Act::session, 6},
                                                         {Act::open, 8},   {Act::move, 26},       {Act::crash, 4}};
  static constexpr std::pair<Act, unsigned> kTidying[] = {{Act::write, 26}, {Act::cutSession, 8}, {Act::session, 26},
                                                          {Act::open, 6},   {Act::move, 12},      {Act::stabilise, 18},
                                                          {Act::admit, 4}};
  Shares shares = kShares;
  const unsigned kind = below(3);
  const bool relays = kind == 1;
  if (relays) {
    plot.devices = 4 + below(2);
    plot.agents = 2 + below(2);
    plot.founders = 0;
    shares = kRelays;
  } else if (kind == 2) {
    plot.devices = 3 + below(2);
    plot.agents = 1;
    plot.founders = 3;
    shares = kTidying;
  }
  for (unsigned steps = 6 + below(28); steps > 0; --steps) plot.ops.push_back(makeOp(random, shares, plot, relays));
  return plot;
}

// A shortest list found by leaving out operations one by one while `fails` stays true.
inline Plot shrink(Plot plot, const std::function<bool(const Plot&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = plot.ops.size(); i-- > 0;) {
      Plot shorter = plot;
      shorter.ops.erase(shorter.ops.begin() + static_cast<std::ptrdiff_t>(i));
      if (!fails(shorter)) continue;
      plot = std::move(shorter);
      smaller = true;
    }
  }
  return plot;
}

}  // namespace witan::replication::test
