#include "lab/conformance/running_host.h"

#include "agents/episode/transcript.h"
#include "base/json_codec.h"
#include "replication/records/record_schemas.h"
#include "replication/records/record_views.h"
#include "replication/records/record_write.h"
#include "replication/sync_session.h"

namespace witan::agents::conformance {

using namespace replication;

namespace {

std::vector<episode::ToolInfo> toolsOfToys() {
  const Capability all{"*", 0, {}, {}};
  return toyTools().coveredBy({&all, 1});
}

}  // namespace

RunningHost::RunningHost(std::string device, const Agent& agent, const episode::Gate& gate, std::uint64_t worldSeed,
                         ToyDisk& disk, bool honours)
    : device_(std::move(device)),
      agent_(agent),
      gate_(gate),
      worldSeed_(worldSeed),
      honours_(honours),
      history_(disk) {}

RunningHost::~RunningHost() = default;

Status RunningHost::open() {
  host_.reset();
  replica_.reset();
  ReplicaOptions options;
  options.cluster = "laboratory";
  options.clusterKey = "key";
  options.device = device_;
  options.trustStore = true;
  options.freshTag = [this] { return tag_++; };
  WITAN_SET(replica_, LocalReplica::open(*journal_, *agents_, recordSchemas(), std::move(options)));
  HostOptions host;
  host.tools = toolsOfToys();
  host.wake.graceMs = 1'000;
  host_ = std::make_unique<AgentHost>(*replica_, gate_, std::move(host));
  const Agent* agents[] = {&agent_};
  WITAN_DO(host_->load(agents, now()));
  host_->setDevices({device_}, {}, now());
  return note();
}

Status RunningHost::turn(std::uint64_t number) {
  const auto run = host_->userTurn(agent_.spec().id, "session", std::to_string(number), "go on", now());
  return run.ok() ? okStatus() : Status(run.error());
}

Status RunningHost::activate(const std::string& span, const episode::Grant& grant) {
  const std::string& id = agent_.spec().id;
  WITAN_TRY(key, graphRunKey(id, span, 1));
  json::object wake{{"graph", "g"}, {"version", 1}, {"run", span}, {"node", "a"}, {"span", span}, {"type", "T"}};
  wake["body"] = json::object();
  WITAN_SET(wake["grant"], parseJson(toJson(grant)));
  const ActivationBody body{id, "g", span, 1, canonicalJson(json::object{{"graph", std::move(wake)}})};
  WITAN_TRY(write, recordWrite(key.hex(), body));
  auto dot = replica_->commit(DatabaseName::agents, "main", {&write, 1});
  return dot.ok() ? okStatus() : Status(dot.error());
}

Status RunningHost::round() {
  WITAN_DO(host_->work(now()));
  WITAN_DO(replica_->database(DatabaseName::journal).flush());
  host_->journalDurable(now());
  WITAN_DO(replica_->database(DatabaseName::agents).flush());
  HostEffects out;
  WITAN_DO(host_->agentsDurable(now(), out));
  WITAN_DO(note());
  for (const ToolCall& call : out.calls) WITAN_DO(answer(call));
  return answerPeople();
}

Status RunningHost::settle() {
  for (const std::int64_t until = ms_ + 3'600'000;;) {
    WITAN_DO(round());
    const auto next = host_->nextMs(now());
    if (host_->quiet() || !next || *next > until) return okStatus();
    ms_ = std::max(ms_, *next);
  }
}

void RunningHost::powerBack() {
  host_.reset();
  replica_.reset();
  journal_->crash();
  agents_->crash();
  history_.history.push_back({StepKind::crashed, device_, 0, {}});
}

void RunningHost::wipe() {
  host_.reset();
  replica_.reset();
  journal_->wipe();
  agents_->wipe();
}

// What has become durable since.
Status RunningHost::note() {
  Space& records = space(DatabaseName::agents);
  for (const std::string& key : records.keys(Kind::wakeRun)) {
    const auto run = RunKey::parse(key);
    if (!run.ok()) continue;
    if (records.table().find(Kind::plan, key) != nullptr && planned_.insert(key).second)
      history_.history.push_back({StepKind::planWritten, device_, 0, {}});
    WITAN_TRY(rows, episode::readTranscript(records, *run, device_));
    std::vector<std::string>& transcript = history_.transcripts[device_];
    for (std::size_t i = transcript.size(); i < rows.size(); ++i) {
      transcript.push_back(rows[i].message.content);
      history_.history.push_back({StepKind::entryWritten, device_, i, {}});
    }
  }
  return okStatus();
}

Status RunningHost::answer(const ToolCall& call) {
  const std::uint64_t world = mix(worldSeed_, concat(call.span, calls_++));
  if (!call.operation) {
    history_.history.push_back({StepKind::looked, device_, 0, call.span});
    if (world % 5 == 0) return host_->observed(call.run, call.span, {false, {}, "tool-error: it is down", 0, 0});
    return host_->observed(call.run, call.span,
                           {true,
                            json::object{{"seen", world % 100}},
                            {},
                            static_cast<std::int64_t>(world % 7),
                            static_cast<std::int64_t>(world % 4)});
  }
  if (!honours_ || !history_.applied.contains(*call.operation)) {
    ++history_.mutations[*call.operation];
    history_.applied.emplace(*call.operation, world % 100);
    history_.history.push_back({StepKind::acted, device_, 0, call.operation->hex()});
  }
  host_->answered(*call.operation,
                  {OperationOutcome::applied, canonicalJson({{"made", history_.applied.at(*call.operation)}})}, now());
  return okStatus();
}

Status RunningHost::answerPeople() {
  Space& records = space(DatabaseName::agents);
  for (const std::string& key : records.keys(Kind::approval)) {
    const auto operation = OperationId::parse(key);
    WITAN_TRY(versions, records.versions(Kind::approval, key));
    const ApprovalView view = approvalViewOf(*operation, versions);
    if (!view.shown || view.shown->body.verdict != ApprovalVerdict::waiting) continue;
    const bool yes = mix(worldSeed_, key) % 3 != 0;
    WITAN_TRY(body,
              replication::answerTo(view, view.shown->body.digest,
                                    yes ? ApprovalVerdict::approved : ApprovalVerdict::denied, "person-1", "", ms_));
    WITAN_TRY(bytes, encodeRecord(body));
    const Write write{Kind::approval, key, std::move(bytes), false};
    WITAN_DO(replica_->commit(DatabaseName::agents, "main", {&write, 1}));
  }
  return okStatus();
}

Status RunningHost::meet(RunningHost& a, RunningHost& b, bool live) {
  const auto reach = [&](RunningHost& one, const RunningHost& other) {
    one.host().setDevices({a.device_, b.device_}, live ? std::set{other.device_} : std::set<std::string>{}, one.now());
  };
  reach(a, b);
  reach(b, a);
  if (!live) return okStatus();
  SyncSession ofA(a.replica(), {}, 0), ofB(b.replica(), {}, 0);
  const auto say = [](SyncSession& from, RunningHost& device, SyncSession& to, bool& any) -> Status {
    std::string out;
    from.produce(out, std::size_t{1} << 30, 0);
    WITAN_DO(device.replica().flush());
    for (std::string_view bytes = out; !bytes.empty(); any = true) {
      WITAN_TRY(header, readFrameHeader(bytes, kMaxFrameBytes));
      const std::size_t size = kFrameHeaderBytes + header.length;
      WITAN_DO(to.receive(bytes.substr(0, size), 0));
      bytes.remove_prefix(size);
    }
    return okStatus();
  };
  for (bool any = true; any;) {
    any = false;
    WITAN_DO(say(ofA, a, ofB, any));
    WITAN_DO(say(ofB, b, ofA, any));
  }
  return okStatus();
}

Status liveThrough(RunningHost& host, std::uint64_t number, const Death* death, bool& died) {
  died = false;
  WITAN_DO(host.open());
  WITAN_DO(host.round());
  if (death != nullptr) host.disk(death->database).crashAt(death->step, death->moment);
  Status status = host.turn(number);
  if (status.ok()) status = host.settle();
  if (status.ok() || death == nullptr) return status;
  died = true;
  host.powerBack();
  WITAN_DO(host.open());
  WITAN_DO(host.turn(number));  // the person was not told that it is durable, and says it again
  return host.settle();
}

}  // namespace witan::agents::conformance
