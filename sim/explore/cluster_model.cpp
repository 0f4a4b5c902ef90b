#include "sim/explore/cluster_model.h"

#include <algorithm>
#include <set>

#include "sim/check/ledger_rules.h"

namespace witan::sim {

namespace {

std::string letter(std::uint32_t device) { return DeviceTable::nameOf(device); }

}  // namespace

ClusterModel::ClusterModel(const ClusterBounds& bounds) : bounds_(bounds), table_({bounds.devices, bounds.ledgers}) {
  numberOf({});
  problems_("");
}

// --- states as numbers

ClusterModel::Cluster ClusterModel::parse(const Explored& state, const ClusterBounds& bounds) {
  Cluster cluster;
  auto next = state.begin();
  for (std::uint32_t i = 0; i < bounds.devices; ++i) cluster.local.push_back(*next++);
  for (std::uint32_t& used : cluster.used) used = *next++;
  cluster.promises = *next++;
  cluster.broken = *next++;
  for (std::uint32_t n = 0; n < bounds.devices * (bounds.devices - 1) / 2; ++n) {
    Line line;
    const std::uint32_t word = *next++;
    line.alive = (word & 1) != 0;
    line.up = {(word & 2) != 0, (word & 4) != 0};
    line.made = word >> 3;
    for (auto& queue : line.towards) {
      const std::uint32_t size = *next++;
      queue.assign(next, next + size);
      next += size;
    }
    cluster.lines.push_back(std::move(line));
  }
  return cluster;
}

Explored ClusterModel::numbers(const Cluster& cluster) {
  Explored state = cluster.local;
  state.insert(state.end(), cluster.used.begin(), cluster.used.end());
  state.push_back(cluster.promises);
  state.push_back(cluster.broken);
  for (const Line& line : cluster.lines) {
    state.push_back(line.made << 3 | (line.up[1] ? 4u : 0) | (line.up[0] ? 2u : 0) | (line.alive ? 1u : 0));
    for (const auto& queue : line.towards) {
      state.push_back(static_cast<std::uint32_t>(queue.size()));
      state.insert(state.end(), queue.begin(), queue.end());
    }
  }
  return state;
}

// The lines in the order ab, ac, bc.
ClusterModel::Line& ClusterModel::line(Cluster& cluster, std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t low = std::min(a, b), high = std::max(a, b);
  return cluster.lines[low == 0 ? high - 1 : bounds_.devices - 1 + high - 2];
}

// With ledgers: everybody has met, and holds the founder's log.
Explored ClusterModel::start() {
  if (!start_.empty()) return start_;
  Cluster cluster;
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) cluster.local.push_back(table_.fresh(i));
  cluster.lines.resize(bounds_.devices * (bounds_.devices - 1) / 2);
  if (bounds_.ledgers) {
    for (std::uint32_t b = 1; b < bounds_.devices; ++b)
      for (std::uint32_t a = 0; a < b; ++a) connect(cluster, a, b);
    settle(cluster);
  }
  return start_ = numbers(cluster);
}

// --- what may happen

void ClusterModel::steps(const Explored& from, const Visit& visit) {
  Cluster cluster = parse(from, bounds_);
  if (cluster.broken != 0) return;
  walk(cluster, [&](const Step& step) { visit(numbers(after(cluster, step))); });
}

void ClusterModel::walk(Cluster& from, const std::function<void(const Step&)>& visit) {
  for (std::uint32_t a = 0; a < bounds_.devices; ++a) walkDevice(from, a, visit);
  for (std::uint32_t b = 1; b < bounds_.devices; ++b)
    for (std::uint32_t a = 0; a < b; ++a) walkLine(from, a, b, visit);
}

void ClusterModel::walkDevice(Cluster& from, std::uint32_t device, const std::function<void(const Step&)>& visit) {
  using Kind = Happening::Kind;
  const auto offer = [&](Kind kind, Use use, std::uint32_t bound, std::uint32_t value = 0) {
    if (from.used[use] >= bound) return;
    withPower(from, {Step::Kind::happening, device, 0, 0, {kind, 0, 255, value, 0}, use}, visit);
  };
  std::uint32_t own = 0;
  for (const Written& written : promises_[from.promises].writes)
    own += written.dot.host[0] == letter(device)[0] ? 1 : 0;
  if (own < bounds_.writesEach) {
    offer(Kind::write, writes, bounds_.writes);
    if (!table_.observed(from.local[device]).held.empty()) offer(Kind::remove, removals, bounds_.removals);
  }
  if (bounds_.ledgers) {
    offer(Kind::propose, proposals, bounds_.proposals, from.used[proposals]);
    for (std::uint32_t to = 0; to < bounds_.devices; ++to)
      if (to != device) offer(Kind::move, moves, bounds_.moves, to);
    offer(Kind::seize, seizures, bounds_.seizures);
  }
  offer(Kind::tick, ticks, bounds_.ticks);
  if (from.used[crashes] < bounds_.crashes)
    visit({Step::Kind::happening, device, 0, 0, {Kind::power, 0, 255, 0, 0}, crashes});
}

void ClusterModel::walkLine(Cluster& from, std::uint32_t a, std::uint32_t b,
                            const std::function<void(const Step&)>& visit) {
  const Line& between = line(from, a, b);
  if (!between.up[0] && !between.up[1] && between.made < bounds_.connections && (!bounds_.chain || b == a + 1))
    visit({Step::Kind::connect, a, b, 0, {}, std::nullopt});
  if (between.alive && from.used[cuts] < bounds_.cuts) visit({Step::Kind::cut, a, b, 0, {}, cuts});
  for (const auto& [device, peer] : {std::pair(a, b), std::pair(b, a)}) {
    if (!between.alive && between.up[side(device, peer)])
      withPower(from, {Step::Kind::notice, device, peer, 0, {}, std::nullopt}, visit);
    const auto queue = between.towards[side(device, peer)];
    if (queue.empty()) continue;
    withPower(from, {Step::Kind::deliver, device, peer, 0, {}, std::nullopt}, visit);
    if (!bounds_.ledgers) continue;
    if (from.used[losses] < bounds_.losses) visit({Step::Kind::lose, device, peer, 0, {}, losses});
    if (from.used[repetitions] < bounds_.repetitions) visit({Step::Kind::repeat, device, peer, 0, {}, repetitions});
    if (from.used[overtakings] < bounds_.overtakings)
      for (std::uint32_t place = 1; place < queue.size(); ++place)
        visit({Step::Kind::deliver, device, peer, place, {}, overtakings});
  }
}

Happening ClusterModel::happeningOf(Cluster& from, const Step& step) const {
  Happening happening = step.happening;
  if (step.kind == Step::Kind::notice) {
    happening.kind = Happening::Kind::disconnected;
    happening.value = step.peer;
  } else if (step.kind == Step::Kind::deliver || step.kind == Step::Kind::repeat) {
    happening.kind = Happening::Kind::frames;
    happening.value = line(from, step.device, step.peer).towards[side(step.device, step.peer)][step.place];
    happening.peer = step.peer;
  }
  return happening;
}

// The step, and the step with the power going before each of its writes.
void ClusterModel::withPower(Cluster& from, Step step, const std::function<void(const Step&)>& visit) {
  visit(step);
  if (!bounds_.midWrite || from.used[crashes] >= bounds_.crashes) return;
  const auto writeSteps = table_.after(from.local[step.device], happeningOf(from, step)).writeSteps;
  for (std::uint8_t store = 0; store < writeSteps.size(); ++store)
    for (std::uint8_t n = 0; n < writeSteps[store]; ++n) {
      step.happening.store = store;
      step.happening.step = n;
      visit(step);
    }
}

// --- what comes of it

ClusterModel::Cluster ClusterModel::after(const Cluster& from, const Step& step) {
  Cluster to = from;
  if (step.use) ++to.used[*step.use];
  const Happening happening = happeningOf(to, step);
  Line& between = step.kind == Step::Kind::happening ? to.lines[0] : line(to, step.device, step.peer);
  const std::size_t here = side(step.device, step.peer);
  switch (step.kind) {
    case Step::Kind::happening: break;
    case Step::Kind::connect:
      connect(to, step.device, step.peer);
      handOver(to);
      return to;
    case Step::Kind::cut:
      between.alive = false;
      for (auto& queue : between.towards) queue.clear();
      return to;
    case Step::Kind::lose: between.towards[here].erase(between.towards[here].begin()); return to;
    case Step::Kind::notice: between.up[here] = false; break;
    case Step::Kind::deliver: between.towards[here].erase(between.towards[here].begin() + step.place); break;
    case Step::Kind::repeat: break;
  }
  if (happening.step != 255) ++to.used[crashes];
  happen(to, step.device, happening);
  handOver(to);
  return to;
}

void ClusterModel::happen(Cluster& cluster, std::uint32_t device, const Happening& happening) {
  const std::uint32_t before = cluster.local[device];
  const Reply& reply = table_.after(before, happening);
  cluster.local[device] = reply.to;
  if (happening.kind == Happening::Kind::power || happening.step != 255) losePower(cluster, device);
  for (const auto& [peer, message] : reply.sends) {
    Line& between = line(cluster, device, peer);
    if (between.alive) between.towards[side(peer, device)].push_back(message);
  }
  for (const std::uint32_t peer : reply.closed) {
    Line& between = line(cluster, device, peer);
    if (between.alive) cluster.broken = problems_(letter(device) + " ends its conversation with " + letter(peer));
    between.alive = false;
  }
  const bool writing = happening.kind == Happening::Kind::write || happening.kind == Happening::Kind::remove;
  if (writing) {
    // If the power went, the write is durable or it is not; nobody was told.
    const Observed &old = table_.observed(before), &now = table_.observed(reply.to);
    const replication::Dot dot{old.writer, old.clock.at(old.writer) + 1};
    if (now.clock.covers(dot)) promiseWrite(cluster, device, dot, happening.kind == Happening::Kind::remove, old);
  }
  for (const std::uint32_t answer : reply.answers) promiseAnswer(cluster, table_.text(answer));
}

void ClusterModel::losePower(Cluster& cluster, std::uint32_t device) {
  for (std::uint32_t peer = 0; peer < bounds_.devices; ++peer) {
    if (peer == device) continue;
    Line& between = line(cluster, device, peer);
    between.alive = false;
    between.up[side(device, peer)] = false;
    for (auto& queue : between.towards) queue.clear();
  }
}

void ClusterModel::connect(Cluster& cluster, std::uint32_t a, std::uint32_t b) {
  Line& between = line(cluster, a, b);
  between.alive = true;
  between.up = {true, true};
  ++between.made;
  happen(cluster, a, {Happening::Kind::connected, 0, 255, b, 0});
  happen(cluster, b, {Happening::Kind::connected, 0, 255, a, 0});
}

// What is not explored arrives at once.
void ClusterModel::handOver(Cluster& cluster) {
  for (bool any = true; std::exchange(any, false);)
    for (std::uint32_t a = 0; a < bounds_.devices; ++a)
      for (std::uint32_t b = 0; b < bounds_.devices; ++b) {
        if (a == b) continue;
        auto& queue = line(cluster, a, b).towards[side(b, a)];
        const auto other = [&](std::uint32_t message) { return table_.message(message).sync == bounds_.ledgers; };
        const auto found = std::ranges::find_if(queue, other);
        if (found == queue.end()) continue;
        const std::uint32_t message = *found;
        queue.erase(found);
        happen(cluster, b, {Happening::Kind::frames, 0, 255, message, a});
        any = true;
      }
}

// Delivers everything that is under way, and what is said in return.
void ClusterModel::settle(Cluster& cluster) {
  for (bool any = true; std::exchange(any, false);)
    for (std::uint32_t a = 0; a < bounds_.devices; ++a)
      for (std::uint32_t b = 0; b < bounds_.devices; ++b) {
        if (a == b || cluster.broken != 0) continue;
        auto& queue = line(cluster, a, b).towards[side(b, a)];
        if (queue.empty()) continue;
        const std::uint32_t message = queue.front();
        queue.erase(queue.begin());
        happen(cluster, b, {Happening::Kind::frames, 0, 255, message, a});
        any = true;
      }
}

// --- for people

std::string ClusterModel::nameOf(const Explored& from, std::size_t n) {
  Cluster cluster = parse(from, bounds_);
  std::string name;
  walk(cluster, [&](const Step& step) {
    if (n-- == 0) name = words(cluster, step);
  });
  return name;
}

std::string ClusterModel::words(Cluster& from, const Step& step) {
  const std::string who = letter(step.device), other = letter(step.peer);
  const auto message = [&] { return " (" + table_.messageName(happeningOf(from, step).value) + ")"; };
  std::string text;
  switch (step.kind) {
    case Step::Kind::connect: return who + " and " + other + " connect";
    case Step::Kind::cut: return "the connection of " + who + " and " + other + " dies";
    case Step::Kind::lose: return "a message from " + other + " to " + who + " is lost";
    case Step::Kind::notice: text = who + " notices that " + other + " is gone"; break;
    case Step::Kind::repeat: text = who + " receives from " + other + message() + ", to come once more"; break;
    case Step::Kind::deliver:
      text = who + " receives from " + other + message() + (step.place > 0 ? ", which overtook another" : "");
      break;
    case Step::Kind::happening: {
      const Happening& happening = step.happening;
      switch (happening.kind) {
        case Happening::Kind::write: text = who + " writes"; break;
        case Happening::Kind::remove: text = who + " removes the record"; break;
        case Happening::Kind::propose: text = concat(who, " proposes op-", happening.value); break;
        case Happening::Kind::move: text = who + " moves the partition to " + letter(happening.value); break;
        case Happening::Kind::seize: text = who + " seizes the partition"; break;
        case Happening::Kind::tick: text = who + "'s time goes on"; break;
        default: return who + " loses power and starts again"; break;
      }
      const std::string& refused =
          table_.after(from.local[step.device], {happening.kind, 0, 255, happening.value, 0}).refused;
      if (!refused.empty()) text += ": refused, " + refused;
    }
  }
  if (step.happening.step == 255) return text;
  constexpr std::array<const char*, 3> kDisk{"journal", "agents", "ledgers"};
  return concat(text, "; the power goes before write ", step.happening.step + 1, " to the ",
                kDisk[step.happening.store], "' disk, and it starts again");
}

std::string ClusterModel::describe(const Explored& state) {
  Cluster cluster = parse(state, bounds_);
  std::string text;
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    text += (i == 0 ? "" : "\n") + letter(i) + ":";
    if (bounds_.ledgers) {
      text += concat(" log of ", seen.batches.size(), " batches");
      for (const node::EpochMark& mark : seen.lineage.epochs)
        text += concat(", epoch ", mark.number, " of ", mark.owner.substr(0, 1), " from ", mark.start);
      if (seen.owns) text += ", decides";
      if (!seen.aside.empty()) text += concat(", ", seen.aside.size(), " batches aside");
      for (const std::string& id : seen.waiting) text += ", waits for " + id;
    } else {
      text += " covers {";
      for (const auto& [host, counter] : seen.clock.entries())
        text += concat(text.back() == '{' ? "" : " ", host.substr(0, 1), ":", counter);
      text += "}, holds";
      for (const replication::Dot& dot : seen.held) text += concat(" ", dot.host.substr(0, 1), ":", dot.counter);
      if (seen.held.empty()) text += " nothing";
    }
    for (const std::string& incident : seen.incidents) text += "; " + incident;
  }
  for (std::uint32_t b = 1; b < bounds_.devices; ++b)
    for (std::uint32_t a = 0; a < b; ++a) {
      const Line& between = line(cluster, a, b);
      for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)})
        for (const std::uint32_t message : between.towards[side(to, from)])
          text += "\nunder way from " + letter(from) + " to " + letter(to) + ": " + table_.messageName(message);
    }
  return text;
}

// ---- what must hold in every state of a cluster, and what when everything has been told to everybody

namespace {

constexpr int kRounds = 12;  // of telling everything, with time going on in between
constexpr std::uint32_t kRoundMs = 30'000;

std::string dotName(const replication::Dot& dot) { return concat(dot.host.substr(0, 1), ":", dot.counter); }

}  // namespace

// --- promises, which are equal where their texts are

std::uint32_t ClusterModel::numberOf(Promises promises) {
  std::string text;
  for (const Written& written : promises.writes) {
    text += concat("w", written.dot.host, " ", written.dot.counter, " ", written.removal ? "1 " : "0 ");
    for (const auto& [host, counter] : written.context.entries()) text += concat(host, " ", counter, " ");
    text += "\n";
  }
  for (const std::string& answer : promises.answers) text += "a" + answer + "\n";
  const std::uint32_t number = promiseTexts_(text);
  if (number == promises_.size()) promises_.push_back(std::move(promises));
  return number;
}

void ClusterModel::promiseWrite(Cluster& cluster, std::uint32_t, const replication::Dot& dot, bool removal,
                                const Observed& before) {
  Promises promises = promises_[cluster.promises];
  Written written{dot, removal, {}};
  for (const Written& other : promises.writes) {
    if (other.dot == dot) cluster.broken = problems_("the dot " + dotName(dot) + " is given twice");
    if (std::ranges::find(before.held, other.dot) != before.held.end()) written.context.join(other.context);
  }
  written.context.raise(dot.host, dot.counter);
  promises.writes.push_back(std::move(written));
  std::ranges::sort(promises.writes, [](const auto& a, const auto& b) { return a.dot < b.dot; });
  cluster.promises = numberOf(std::move(promises));
}

void ClusterModel::promiseAnswer(Cluster& cluster, const std::string& answer) {
  Promises promises = promises_[cluster.promises];
  if (std::ranges::find(promises.answers, answer) != promises.answers.end()) return;
  promises.answers.push_back(answer);
  std::ranges::sort(promises.answers);
  cluster.promises = numberOf(std::move(promises));
}

// --- every state

std::string ClusterModel::problem(const Explored& state) {
  const Cluster cluster = parse(state, bounds_);
  if (std::string problem = problemOf(cluster); !problem.empty()) return problem;
  return atRest(cluster) ? endingProblem(cluster) : "";
}

std::string ClusterModel::problemOf(const Cluster& cluster) {
  if (cluster.broken != 0) return problems_.text(cluster.broken);
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    const std::string who = DeviceTable::nameOf(i) + ": ";
    if (!seen.problem.empty()) return who + seen.problem;
    for (const std::string& incident : seen.incidents)
      if (!incident.starts_with("surplus")) return who + incident;
  }
  return bounds_.ledgers ? logProblem(cluster) : replicationProblem(cluster, promises_[cluster.promises]);
}

// The promise of the vector (replication/space.h), against contexts that are never shortened; equal vectors, equal
// contents.
std::string ClusterModel::replicationProblem(const Cluster& cluster, const Promises& promises) {
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    const auto holds = [&](const Written& w) { return std::ranges::find(seen.held, w.dot) != seen.held.end(); };
    for (const Written& w : promises.writes) {
      const Written* later = nullptr;
      for (const Written& other : promises.writes)
        if (other.dot != w.dot && other.context.covers(w.dot) && holds(other)) later = &other;
      const std::string what = DeviceTable::nameOf(i) + ": " + dotName(w.dot);
      if (later != nullptr && holds(w))
        return what + " is held beside " + dotName(later->dot) + ", which supersedes it";
      if (later == nullptr && !holds(w) && seen.clock.covers(w.dot)) return what + " is covered, and is lost";
    }
    for (std::uint32_t k = 0; k < i; ++k) {
      const Observed& other = table_.observed(cluster.local[k]);
      if (seen.settled && other.settled && seen.clock == other.clock && seen.digest != other.digest)
        return DeviceTable::nameOf(k) + " and " + DeviceTable::nameOf(i) +
               " have equal vectors and hold different things";
    }
  }
  return {};
}

// No epoch has two histories: logs are equal as far as their epochs are.
std::string ClusterModel::logProblem(const Cluster& cluster) {
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    const std::string who = DeviceTable::nameOf(i);
    if (seen.owns && seen.lineage.last().owner.substr(0, 1) != who)
      return who + " decides in an epoch that is not its own";
    std::uint64_t number = 0;
    for (const node::EpochMark& mark : seen.lineage.epochs) {
      if (mark.number <= number) return concat(who, " has an epoch ", mark.number, " out of order");
      number = mark.number;
    }
    for (std::uint32_t k = 0; k < i; ++k) {
      const Observed& other = table_.observed(cluster.local[k]);
      const std::uint64_t common = node::commonBatches(seen.lineage, other.lineage);
      for (std::uint64_t n = 0; n < common; ++n)
        if (seen.batches[n] != other.batches[n])
          return concat(DeviceTable::nameOf(k), " and ", who, " hold different batches ", n, " of one epoch");
      if (seen.owns && other.owns && seen.lineage.last() == other.lineage.last())
        return DeviceTable::nameOf(k) + " and " + who + " both decide in one epoch";
    }
  }
  return {};
}

// --- the ending

bool ClusterModel::atRest(const Cluster& cluster) const {
  for (const Line& line : cluster.lines)
    if (!line.towards[0].empty() || !line.towards[1].empty() || (!line.alive && (line.up[0] || line.up[1])))
      return false;
  return true;
}

std::string ClusterModel::endingProblem(const Cluster& from) {
  Cluster cluster = from;
  for (std::uint32_t b = 1; b < bounds_.devices; ++b)
    for (std::uint32_t a = 0; a < b; ++a)
      if (!line(cluster, a, b).alive) connect(cluster, a, b);
  std::string problem;
  for (int round = 0; round < kRounds; ++round) {
    settle(cluster);
    if (problem = problemOf(cluster); !problem.empty()) break;
    if (problem = disagreement(cluster); problem.empty()) return {};
    for (std::uint32_t i = 0; i < bounds_.devices; ++i)
      happen(cluster, i, {Happening::Kind::tick, 0, 255, kRoundMs, 0});
  }
  return "when all is told to everybody: " + problem + "\n" + describe(numbers(cluster));
}

std::string ClusterModel::disagreement(const Cluster& cluster) {
  const Promises& promises = promises_[cluster.promises];
  if (bounds_.ledgers) return ledgerDisagreement(cluster, promises);
  replication::VectorClock everything;
  for (const Written& written : promises.writes) everything.raise(written.dot.host, written.dot.counter);
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    if (!(seen.clock == everything)) return DeviceTable::nameOf(i) + " did not hear of everything";
    if (!promises.writes.empty() && seen.digest != table_.observed(cluster.local[0]).digest)
      return DeviceTable::nameOf(i) + " holds something else than a";
  }
  return {};
}

// One owner; equal logs that keep the rules; nobody waits; and every answer is in the log, or is kept aside and
// reported.
std::string ClusterModel::ledgerDisagreement(const Cluster& cluster, const Promises& promises) {
  std::size_t owners = 0;
  std::vector<PartitionLog> logs;
  std::set<std::string> kept;
  const auto answersOf = [](const PartitionLog& log, std::set<std::string>& out) {
    for (const LedgerLine& line : log.lines)
      out.insert(concat(line.entry.operationId, " ", enumName(line.entry.tag), " ", line.entry.seq));
  };
  const auto logOf = [&](const std::vector<std::uint32_t>& batches) {
    std::vector<std::string> values;
    for (const std::uint32_t n : batches) values.push_back(table_.text(n));
    return readLog(values);
  };
  for (std::uint32_t i = 0; i < bounds_.devices; ++i) {
    const Observed& seen = table_.observed(cluster.local[i]);
    const std::string who = DeviceTable::nameOf(i);
    owners += seen.owns ? 1 : 0;
    if (!seen.waiting.empty()) return who + " still waits for an answer to " + seen.waiting.front();
    if (seen.batches != table_.observed(cluster.local[0]).batches) return who + " has another log than a";
    auto aside = logOf(seen.aside);
    if (!aside.ok()) return who + ", set aside: " + aside.error().message;
    if (!aside->lines.empty() && !seen.reported) return who + " has set entries aside and reports nothing";
    answersOf(*aside, kept);
  }
  if (owners != 1) return concat("the partition has ", owners, " owners");
  auto log = logOf(table_.observed(cluster.local[0]).batches);
  if (!log.ok()) return log.error().message;
  if (std::string broken = checkLedger(table_.module(), log->lines); !broken.empty()) return broken;
  answersOf(*log, kept);
  for (const std::string& answer : promises.answers)
    if (!answer.starts_with("init ") && !kept.contains(answer))
      return "the answer \"" + answer + "\" was given, and is neither in the log nor set aside";
  return {};
}

}  // namespace witan::sim
