#include "sim/explore/device_table.h"

#include <algorithm>

#include "domains/registry.h"
#include "replication/records/agent_state.h"
#include "replication/records/agent_view.h"
#include "sim/trace_format.h"

namespace witan::sim {

using namespace replication;

namespace {

constexpr std::int64_t kStartOfTime = 1'774'252'800'000'000;  // 2026-03-23T08:00:00Z
constexpr std::string_view kAgent = "agent", kEntity = "e", kDomain = "budget", kPartition = "budget/0";
constexpr std::size_t kKept = 512;

std::uint8_t typeOf(std::string_view frame) { return static_cast<std::uint8_t>(frame[4]); }

Now at(std::int64_t ms) { return {Time{kStartOfTime + ms * 1000}, ms}; }

}  // namespace

struct DeviceTable::Live {
  std::array<store::MemoryStore, kDisks> stores;
  std::unique_ptr<node::Replica> replica;
  std::uint32_t device = 0, tags = 0;
  std::int64_t ms = 0;
  std::string refused, problem;
};

DeviceTable::DeviceTable(DeviceTableOptions options) : options_(options) {
  auto module = domains::makeDomain(kDomain);
  WITAN_CHECK(module.ok(), "the domain of exploring exists");
  module_ = *std::move(module);
}

DeviceTable::~DeviceTable() = default;

node::Request DeviceTable::proposal(std::uint32_t number) const {
  const std::string type = number % 2 == 0 ? "SpendA" : "SpendB";
  auto json = parseJson(R"({"type":")" + type + R"(","n":60000})");
  WITAN_CHECK(json.ok(), "an action as the domain describes it");
  auto action = module_->parseAction(*json);
  WITAN_CHECK(action.ok(), "an action as the domain describes it");
  const std::string bytes = module_->encodeAction(**action);
  node::Request request{.domain = std::string(kDomain),
                        .entity = std::string(kEntity),
                        .role = number % 2 == 0 ? "A" : "B",
                        .operationId = concat("op-", number),
                        .actionType = type};
  request.action.assign(bytes.begin(), bytes.end());
  return request;
}

std::string DeviceTable::messageName(std::uint32_t number) const {
  std::string name;
  forEachFrame(messages_[number].frames,
               [&](std::string_view frame) { name += concat(name.empty() ? "" : " ", frameName(typeOf(frame))); });
  return name;
}

// --- devices and their disks

std::uint32_t DeviceTable::disksOf(const Live& live) {
  std::string text;
  for (const store::MemoryStore& disk : live.stores) {
    disk.visitBytes([&](std::string_view key, std::string_view value) {
      for (const std::string_view part : {key, value}) text += concat(part.size(), ":", part);
      return true;
    });
    text += "|";
  }
  const std::uint32_t number = diskTexts_(text);
  if (number == disks_.size()) {
    disks_.emplace_back();
    for (std::size_t n = 0; n < kDisks; ++n) disks_.back().images[n] = live.stores[n].image();
  }
  return number;
}

std::unique_ptr<DeviceTable::Live> DeviceTable::start(std::uint32_t device, std::uint32_t disks, std::int64_t ms,
                                                      std::string& problem) {
  auto live = std::make_unique<Live>();
  live->device = device;
  live->ms = ms;
  for (std::size_t n = 0; n < kDisks; ++n) live->stores[n].restoreImage(*disks_[disks].images[n]);
  node::ReplicaConfig config;
  config.replication.cluster = "explored";
  config.replication.clusterKey = "key of the explored cluster";
  config.replication.device = nameOf(device);
  config.replication.trustStore = true;
  config.replication.freshTag = [raw = live.get()] { return raw->device * 1000 + ++raw->tags; };
  config.partitions = 1;
  config.ledgerReplica = options_.ledgers;
  if (options_.ledgers) config.domains = {module_.get()};
  auto opened = node::Replica::open({live->stores[0], live->stores[1], live->stores[2]}, std::move(config), at(ms));
  if (!opened.ok()) {
    problem = "does not start: " + opened.error().message;
    return live;
  }
  live->replica = *std::move(opened);
  node::Effects effects;
  if (Status drained = drain(*live, effects); !drained.ok()) problem = "does not start: " + drained.error().message;
  return live;
}

std::uint32_t DeviceTable::rootFor(std::uint32_t device, std::uint32_t disks, std::int64_t ms) {
  const auto [found, fresh] = roots_.try_emplace({device, disks, ms}, 0);
  if (!fresh) return found->second;
  std::string problem;
  std::unique_ptr<Live> live = start(device, disks, ms, problem);
  Local root{.device = device, .disks = disks, .root = true, .ms = ms};
  live->problem = problem;
  return found->second = add(std::move(root), *live);
}

std::uint32_t DeviceTable::fresh(std::uint32_t device) {
  Live empty;
  const std::uint32_t disks = disksOf(empty);
  if (!options_.ledgers || device != 0) return rootFor(device, disks, 0);
  // The founder: the partition's first epoch, and an entity in it.
  std::string problem;
  std::unique_ptr<Live> live = start(device, disks, 0, problem);
  node::Request request{.kind = node::RequestKind::init,
                        .domain = std::string(kDomain),
                        .entity = std::string(kEntity),
                        .operationId = "init"};
  node::Effects effects;
  const bool founded = problem.empty() && live->replica->bootstrap(at(0)).ok() && drain(*live, effects).ok() &&
                       live->replica->submit(std::move(request), at(0)).ok() && drain(*live, effects).ok();
  WITAN_CHECK(founded, "a partition is founded on empty disks");
  return rootFor(device, disksOf(*live), 0);
}

std::uint32_t DeviceTable::add(Local local, Live& live) {
  local.observed = observe(live);
  locals_.push_back(std::move(local));
  return static_cast<std::uint32_t>(locals_.size() - 1);
}

std::unique_ptr<DeviceTable::Live> DeviceTable::revive(std::uint32_t local) {
  std::vector<std::uint32_t> way;
  std::unique_ptr<Live> live;
  for (std::uint32_t n = local;; n = locals_[n].parent) {
    if (const auto found = kept_.find(n); found != kept_.end()) {
      live = std::move(found->second);
      kept_.erase(found);
      break;
    }
    if (locals_[n].root) {
      std::string problem;
      live = start(locals_[n].device, locals_[n].disks, locals_[n].ms, problem);
      break;
    }
    way.push_back(n);
  }
  for (auto n = way.rbegin(); n != way.rend(); ++n) carryOut(*live, locals_[*n].happening, nullptr);
  return live;
}

// --- what happens

const Reply& DeviceTable::after(std::uint32_t local, const Happening& happening) {
  const auto [found, fresh] = replies_.try_emplace({local, happening});
  Reply& reply = found->second;
  if (!fresh) return reply;
  std::unique_ptr<Live> live = revive(local);
  if (live->replica == nullptr) {  // it did not start: nothing happens to it any more
    reply.to = local;
    return reply;
  }
  if (happening.kind == Happening::Kind::power) {
    for (store::MemoryStore& disk : live->stores) disk.crash();
    reply.to = rootFor(live->device, disksOf(*live), live->ms);
    return reply;
  }
  if (happening.step != 255) {
    live->stores[happening.store].crashAt(happening.step);
    carryOut(*live, happening, nullptr);
    for (store::MemoryStore& disk : live->stores) disk.crash();
    reply.to = rootFor(live->device, disksOf(*live), live->ms);
    return reply;
  }
  carryOut(*live, happening, &reply);
  Local next{.device = live->device, .parent = local, .ms = live->ms, .happening = happening};
  reply.to = add(std::move(next), *live);
  if (kept_.size() >= kKept) kept_.erase(kept_.begin());
  kept_[reply.to] = std::move(live);
  return reply;
}

Status DeviceTable::drain(Live& live, node::Effects& effects) { return live.replica->drain(at(live.ms), effects); }

void DeviceTable::carryOut(Live& live, const Happening& happening, Reply* reply) {
  node::Replica& replica = *live.replica;
  Now now = at(live.ms);
  Status refused = okStatus();
  std::array<std::uint64_t, kDisks> before{};
  for (std::size_t n = 0; n < kDisks; ++n) before[n] = live.stores[n].writeSteps();
  switch (happening.kind) {
    case Happening::Kind::connected: replica.connected(nameOf(happening.value), now); break;
    case Happening::Kind::disconnected: replica.disconnected(nameOf(happening.value)); break;
    case Happening::Kind::frames: {
      const std::string frames = messages_[happening.value].frames;
      forEachFrame(frames, [&](std::string_view frame) { replica.received(nameOf(happening.peer), frame, now); });
      break;
    }
    case Happening::Kind::write: write(live, false, reply); break;
    case Happening::Kind::remove: write(live, true, reply); break;
    case Happening::Kind::propose: refused = replica.submit(proposal(happening.value), now); break;
    case Happening::Kind::move:
      refused = replica.transferOwnership(kPartition, nameOf(happening.value), "", now);
      break;
    case Happening::Kind::seize: refused = replica.forceTakeover(kPartition, "", now); break;
    case Happening::Kind::tick: {
      live.ms = std::max(live.ms + happening.value, replica.nextTickMs());
      now = at(live.ms);
      replica.tick(now);
      break;
    }
    case Happening::Kind::power: break;
  }
  node::Effects effects;
  const Status drained = drain(live, effects);
  if (reply == nullptr) return;
  if (!drained.ok()) live.problem = "a store failed: " + drained.error().message;
  if (!refused.ok()) reply->refused = refused.error().message;
  for (std::size_t n = 0; n < kDisks; ++n)
    reply->writeSteps[n] = static_cast<std::uint8_t>(live.stores[n].writeSteps() - before[n]);
  note(*reply, effects);
}

// Frames of the sync protocol and of adjudication are two messages.
void DeviceTable::note(Reply& reply, const node::Effects& effects) {
  for (const node::Outgoing& out : effects.sends) {
    const std::uint32_t to = static_cast<std::uint32_t>(out.peer[0] - 'a');
    std::array<std::string, 2> parts;
    forEachFrame(out.frames, [&](std::string_view frame) {
      parts[typeOf(frame) < node::kFirstAdjudicationFrame ? 0 : 1] += frame;
    });
    for (std::size_t n = 0; n < 2; ++n) {
      if (parts[n].empty()) continue;
      const std::uint32_t number = messageTexts_(parts[n]);
      if (number == messages_.size()) messages_.push_back({parts[n], n == 0});
      reply.sends.emplace_back(to, number);
    }
    if (out.close) reply.closed.push_back(to);
  }
  for (const node::Answered& answered : effects.answers) {
    const node::Answer& answer = answered.answer;
    // Of a duplicate: what was decided the first time.
    const auto outcome = answer.outcome == kernel::Outcome::duplicate ? answer.recorded : answer.outcome;
    reply.answers.push_back(texts_(concat(answer.operationId, " ", enumName(outcome).data(), " ", answer.seq)));
  }
}

void DeviceTable::write(Live& live, bool removal, Reply* reply) {
  LocalReplica& data = live.replica->data();
  auto space = data.database(DatabaseName::agents).space("main");
  WITAN_CHECK(space.ok(), "there is room for a scope");
  auto versions = (*space)->versions(Kind::agentState, kAgent);
  WITAN_CHECK(versions.ok(), "a space reads what it wrote");
  auto view = viewOf(*versions, nullptr);
  WITAN_CHECK(view.ok(), "bodies that we wrote are readable");
  AgentState state = view->has_value() ? (*view)->state : AgentState{};
  ++state.consecutiveFailureCount;
  const std::string& self = data.writer();
  const Write row{Kind::agentState, std::string(kAgent), removal ? "" : encodeAgentState(state, self), removal};
  auto dot = live.replica->commit(DatabaseName::agents, "main", {&row, 1});
  if (reply != nullptr && dot.ok()) reply->wrote = *dot;
}

// --- what can be seen

Observed DeviceTable::observe(Live& live) {
  Observed out;
  out.problem = live.problem;
  if (live.replica == nullptr || !out.problem.empty()) return out;
  LocalReplica& data = live.replica->data();
  out.writer = data.writer();
  out.quiet = live.replica->quiet();
  out.digest = toString(Digest{});
  if (Space* space = data.findSpace(LocalReplica::spaceId(DatabaseName::agents, "main")); space != nullptr) {
    if (Status sound = space->checkIntegrity(); !sound.ok()) out.problem = sound.error().message;
    out.clock = space->clock();
    out.settled = space->settled();
    out.digest = toString(space->digest());
    auto versions = space->versions(Kind::agentState, kAgent);
    if (!versions.ok()) {
      out.problem = versions.error().message;
      return out;
    }
    for (const Version& version : *versions) out.held.push_back(version.dot);
  }
  if (auto incidents = data.incidents(); incidents.ok())
    for (const Incident& incident : *incidents) {
      out.incidents.push_back(incident.kind + ": " + incident.what);
      out.reported = out.reported || incident.kind == "surplus";
    }
  for (const auto& [id, waiting] : live.replica->outbox().all()) out.waiting.push_back(id);
  observeLog(live, out);
  return out;
}

void DeviceTable::observeLog(Live& live, Observed& out) {
  node::PartitionHost* host = live.replica->host(kPartition);
  if (host == nullptr) return;
  out.lineage = host->lineage();
  out.owns = live.replica->owns(*host);
  for (std::uint64_t n = 0; n < host->ledger().batches(); ++n) {
    auto value = host->ledger().batch(n);
    if (!value.ok()) {
      out.problem = value.error().message;
      return;
    }
    out.batches.push_back(texts_(*value));
  }
  const Status walked = live.stores[2].scan("x/", {}, [&](std::string_view, std::string_view value) {
    out.aside.push_back(texts_(value));
    return true;
  });
  if (!walked.ok()) out.problem = walked.error().message;
}

}  // namespace witan::sim
