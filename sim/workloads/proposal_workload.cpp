// Entities, proposals about them, their repetition and misuse, and the decisions of counselors.
#include "sim/workloads/workload.h"

namespace witan::sim {

namespace {

// The plans that a run may have.
Hash planOf(std::uint64_t n) { return sha256(concat("plan ", n)); }

class ProposalWorkload final : public Workload {
 public:
  ProposalWorkload(Cluster& cluster, Clients& clients) : Workload(cluster, clients) {}
  // Every entity begins; the device that asks owns it or does not.
  void onFounded() override {
    for (const kernel::DomainModule* module : clients_.domains())
      for (std::int64_t n = 0; n < c_.plan().options.cluster.entities; ++n) {
        const auto index = static_cast<std::uint32_t>(n);
        Seat& by = c_.seat(copierOf(c_.plan().options.cluster) == index % c_.founders() ? 0 : index);
        SeededRandom random(c_.plan().options.seed ^ static_cast<std::uint64_t>(n + 1) * 0x2545f4914f6cdd1du);
        node::Request request;
        request.kind = node::RequestKind::init;
        request.domain = module->signature().domain;
        request.entity = clients_.entityName(*module, static_cast<std::uint64_t>(n));
        request.operationId = "init-" + request.entity;
        request.text = module->sampleInit(random, by.device->now(0).wall);
        clients_.submit(by, std::move(request), true);
      }
  }

  // The last answers that reached a device, as frames: they may come again, when something else has their id.
  void onFrame(Seat& at, std::uint32_t peer, std::string_view frame) override {
    constexpr auto kAnswer = static_cast<std::uint8_t>(node::AdjudicationFrame::answer);
    if (frame.size() <= replication::kFrameHeaderBytes || static_cast<std::uint8_t>(frame[4]) != kAnswer) return;
    std::deque<Heard>& heard = heard_[at];
    heard.push_back({peer, std::string(frame)});
    if (heard.size() > kHeard) heard.pop_front();
  }

  void onStopped(Seat& at) override { deadlines_[at].clear(); }

  // Decides at the very moment at which a counselor's time is over.
  void beforeDrain(Seat& at) override {
    for (const Deadline& one : std::exchange(deadlines_[at], {})) {
      if (c_.settling()) return;
      if (at.device->now(c_.agenda().now()).wall < one.at) {
        deadlines_[at].push_back(one);
        continue;
      }
      c_.probe("counselor at the time limit");
      clients_.submit(at, one.request, false);
    }
  }

  void onEvent(Seat& at, const Event& event) override {
    switch (event.kind) {
      case EventKind::propose: return propose(at, event);
      case EventKind::repeat: return proposeAgain(at, event);
      case EventKind::misuse: return misuse(at, event);
      case EventKind::decide: return decidePending(at, event);
      default: return;
    }
  }

 private:
  void propose(Seat& at, const Event& event) {
    if (clients_.domains().empty()) return;
    const kernel::DomainModule& module = *clients_.domainOf(event.m);
    const std::string entity =
        clients_.entityName(module, event.n % static_cast<std::uint64_t>(c_.plan().options.cluster.entities));
    const kernel::Partition* copy = clients_.someCopy(at, module, entity);
    if (copy == nullptr) return;
    SeededRandom random(event.seed);
    const kernel::ActionPtr action =
        module.sample(*copy->state(entity), random, at.device->now(c_.agenda().now()).wall);
    if (!action) return;
    const kernel::ProcessInfo& process = module.signature().processes[action->process];
    node::Request request{.domain = module.signature().domain,
                          .entity = entity,
                          .role = process.role,
                          .operationId = "op-" + hexDigest(event.seed),
                          .agent = concat("taint-ledger-", at.index(), "-", hexDigest(event.seed)),
                          .actionType = process.name};
    const std::string bytes = module.encodeAction(*action);
    request.action.assign(bytes.begin(), bytes.end());
    if (random.below(3) == 0) {  // a run's, about one entity; now and then two devices have planned one wake
      request.runKey = sha256(concat("run ", random.below(6), " ", entity));
      request.planDigest = planOf(random.below(4) / 3);
    }
    clients_.submit(at, std::move(request), true);
  }

  void proposeAgain(Seat& at, const Event& event) {
    // Where copies are ahead of their logs also what another device asks: two that run one wake derive one id.
    const Seat& from = c_.etcd() && event.seed % 3 == 0 ? c_.seat(static_cast<std::uint32_t>(event.seed >> 8)) : at;
    const std::vector<node::Request>& recent = clients_.recent(from);
    if (recent.empty()) return;
    const node::Request* decision = event.seed % 5 == 1 ? latestCommit(recent) : nullptr;
    node::Request request = decision != nullptr ? *decision : recent[recent.size() - 1 - event.n % recent.size()];
    c_.probe(&from == &at ? "request repeated" : "request repeated elsewhere");
    if (request.runKey != Hash{} && event.seed % 2 == 0) {  // an action that two plans share, and its operation id
      request.planDigest = planOf(event.seed / 2 % 2);
      c_.probe("one operation of two plans");
    }
    clients_.submit(at, request, false);
  }

  // What a buggy agent would send. Each must be answered with a refusal or a rejection that says why.
  void misuse(Seat& at, const Event& event) {
    const std::vector<node::Request>& recent = clients_.recent(at);
    if (recent.empty()) return;
    if (event.n % 12 == 4 && anotherAct(at, recent)) return;
    if (event.n % 12 == 5 && anotherDecision(at, recent)) return;
    node::Request request = recent[event.seed % recent.size()];
    switch (event.n % 6) {
      case 0: request.entity = "nobody-" + hexDigest(event.seed); break;
      case 1: request.role = "NoSuchRole"; break;
      case 2: request.action.assign(16, 7); break;
      case 3: request.actionType = "NoSuchProcess"; break;
      default:  // one name for two acts
        request.reason += " other";
        request.role = "NoSuchRole";
        return clients_.submit(at, std::move(request), false);
    }
    request.operationId = "bad-" + hexDigest(event.seed);
    clients_.submit(at, std::move(request), false);
  }

  // One name for two acts, and the answer to the first comes once more while the second waits for its own.
  bool anotherAct(Seat& at, const std::vector<node::Request>& recent) {
    for (auto heard = heard_[at].rbegin(); heard != heard_[at].rend(); ++heard) {
      node::Answer answer;
      const bool read =
          readMessage(std::string_view(heard->frame).substr(replication::kFrameHeaderBytes), answer, "frame").ok();
      if (!read || answer.seq == 0 || !c_.network().connected(heard->peer, at.index())) continue;
      for (const node::Request& request : recent) {
        if (request.operationId != answer.operationId || request.kind != node::RequestKind::propose) continue;
        node::Request other = request;
        other.reason += " other";
        clients_.submit(at, std::move(other), false);
        c_.network().forge(heard->peer, at.index(), heard->frame);
        c_.probe("answer of another act");
        return true;
      }
    }
    return false;
  }

  // One name for two decisions: a commit of the proposal, and one of what stands without it.
  bool anotherDecision(Seat& at, const std::vector<node::Request>& recent) {
    const node::Request* decision = latestCommit(recent);
    if (decision == nullptr) return false;
    node::Request other = *decision;
    other.base =
        other.base == kernel::CommitBase::candidate ? kernel::CommitBase::current : kernel::CommitBase::candidate;
    clients_.submit(at, std::move(other), false);
    c_.probe("another decision under its name");
    return true;
  }

  static const node::Request* latestCommit(const std::vector<node::Request>& recent) {
    const auto at = std::ranges::find(recent.rbegin(), recent.rend(), node::RequestKind::commit, &node::Request::kind);
    return at == recent.rend() ? nullptr : &*at;
  }

  void decidePending(Seat& at, const Event& event) {
    std::vector<std::pair<const kernel::DomainModule*, kernel::PendingView>> pending;
    std::vector<const kernel::Partition*> partitions;
    SimDevice* looksAt = at.device->isLedgerReplica() ? at.device.get() : nullptr;
    for (const auto& other : c_.seats())  // a counselor without a copy looks at somebody's
      if (looksAt == nullptr && other->running() && other->device->isLedgerReplica()) looksAt = other->device.get();
    if (looksAt == nullptr) return;
    for (const auto& [id, host] : looksAt->replica().hosts())
      for (kernel::PendingView& view : host->partition().queue()) {
        pending.emplace_back(&host->module(), std::move(view));
        partitions.push_back(&host->partition());
      }
    if (pending.empty()) return;
    const std::size_t which = event.n % pending.size();
    const kernel::DomainModule& module = *pending[which].first;
    const kernel::PendingView& view = pending[which].second;
    if (waitsForLimit(module, view)) return;
    SeededRandom random(event.seed);
    node::Request request{.kind = random.below(2) == 0 ? node::RequestKind::reject : node::RequestKind::commit,
                          .domain = module.signature().domain,
                          .entity = view.entity,
                          .operationId = "counsel-" + hexDigest(event.seed),
                          .agent = concat("taint-ledger-", at.index(), "-", hexDigest(event.seed)),
                          .counselor = module.signature().counselors.front()};
    const bool sameNumber = event.seed % 5 == 0;
    request.reason = "as the simulator decides";
    request.escalation = view.seq;
    request.pendingDigest = view.digest;
    if (sameNumber) {  // what was shown is something else, and has the number of what is pending
      request.pendingDigest[0] ^= 1;
      c_.probe("another digest with the right number");
    }
    if (request.kind == node::RequestKind::commit) {
      auto json = parseJson(view.action);
      auto action = json.ok() ? module.parseAction(*json) : Result<kernel::ActionPtr>(json.error());
      if (!action.ok()) return c_.failed("ledger-rules", "a pending action is unreadable: " + action.error().message);
      request.text =
          module.sampleEdit(*partitions[which]->state(view.entity), **action, module.signature().counselors.front(),
                            random, at.device->now(c_.agenda().now()).wall);
    }
    if (event.seed % 5 == 1 && decideAtLimit(module, view, request)) return;
    if (event.seed % 5 == 2) {  // somebody decides first in whose hands it is not
      node::Request foreign = request;
      foreign.operationId += "-foreign";
      foreign.counselor = "nobody-in-particular";
      c_.probe("decision by no counselor");
      clients_.submit(at, std::move(foreign), false);
    }
    clients_.submit(at, std::move(request), false);
  }

  // Who decides it at the limit must find it pending then.
  bool waitsForLimit(const kernel::DomainModule& module, const kernel::PendingView& view) {
    return std::ranges::any_of(c_.seats(), [&](const auto& at) {
      return std::ranges::any_of(deadlines_[*at], [&](const Deadline& one) {
        return one.request.domain == module.signature().domain && one.request.entity == view.entity &&
               one.request.escalation == view.seq;
      });
    });
  }

  // At the owner, when its clock shows the limit to the microsecond.
  bool decideAtLimit(const kernel::DomainModule& module, const kernel::PendingView& view,
                     const node::Request& request) {
    const Micros ttl = c_.plan().options.cluster.pendingTtlSeconds * kSecond;
    if (ttl <= 0) return false;
    for (Seat* at : c_.members()) {
      if (!at->works()) continue;
      const node::PartitionHost* host =
          at->replica().host(at->replica().partitionFor(module.signature().domain, view.entity));
      if (host == nullptr || !at->replica().owns(*host)) continue;
      const Time limit{view.at.micros + ttl};
      Micros when = c_.agenda().now();
      for (int i = 0; i < 4; ++i) when += limit.micros - at->device->now(when).wall.micros;
      if (when <= c_.agenda().now()) return false;
      deadlines_[*at].push_back({limit, request});
      c_.agenda().add(when, StepKind::alarm, at->index());
      return true;
    }
    return false;
  }

  static constexpr std::size_t kHeard = 16;
  struct Heard {
    std::uint32_t peer = 0;
    std::string frame;
  };
  struct Deadline {
    Time at;
    node::Request request;
  };
  PerDevice<std::deque<Heard>> heard_;
  PerDevice<std::vector<Deadline>> deadlines_;
};

}  // namespace

std::unique_ptr<Workload> makeProposalWorkload(Cluster& cluster, Clients& clients) {
  return std::make_unique<ProposalWorkload>(cluster, clients);
}

}  // namespace witan::sim
