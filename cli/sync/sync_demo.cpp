#include "cli/sync/sync_demo.h"

#include <array>
#include <memory>

#include "base/seams.h"
#include "domains/agents.h"
#include "node/operations/agent.h"
#include "node/operations/journal.h"
#include "node/operations/sync.h"
#include "replication/records/record_schemas.h"
#include "replication/sync_session.h"
#include "store/memory_store.h"

namespace witan::node {

using namespace replication;
using operations::digestHex;
using operations::JournalWriter;
using operations::kDefaultScope;

namespace {

constexpr std::array<const char*, 3> kDevices{"laptop", "phone", "tablet"};
constexpr std::array<const char*, 6> kCrops{"beans", "peas", "leek", "kale", "chard", "sorrel"};
constexpr const char* kAgent = "gardener";
constexpr const char* kPlot = "plot-4";

struct Node {
  store::MemoryStore journal, agents;
  std::unique_ptr<LocalReplica> replica;
};

// Carries frames between two sessions; the stream may die after some.
class Link {
 public:
  Link(LocalReplica& a, LocalReplica& b) : replicas_{&a, &b}, a_(a, {}, 0), b_(b, {}, 0) {}

  // Until both are quiet, or `most` frames were carried. Errors: what ended a session.
  Status carry(std::size_t most) {
    for (bool moved = true; moved && frames_ < most;) {
      moved = false;
      for (const bool fromA : {true, false}) {
        SyncSession& from = fromA ? a_ : b_;
        SyncSession& to = fromA ? b_ : a_;
        std::string out;
        from.produce(out, std::size_t{1} << 30, 0);
        WITAN_DO(replicas_[fromA ? 0 : 1]->flush());
        WITAN_TRY(any, deliver(out, to, most));
        moved = moved || any;
      }
    }
    return okStatus();
  }
  std::size_t frames() const { return frames_; }
  std::size_t bytes() const { return bytes_; }

 private:
  Result<bool> deliver(std::string_view out, SyncSession& to, std::size_t most) {
    const bool any = !out.empty();
    while (!out.empty() && frames_ < most) {
      WITAN_TRY(header, readFrameHeader(out, kMaxFrameBytes));
      const std::size_t size = kFrameHeaderBytes + header.length;
      WITAN_DO(to.receive(out.substr(0, size), 0));
      out.remove_prefix(size);
      ++frames_;
      bytes_ += size;
    }
    return any;
  }

  std::array<LocalReplica*, 2> replicas_;
  SyncSession a_, b_;
  std::size_t frames_ = 0, bytes_ = 0;
};

class Demo {
 public:
  explicit Demo(std::uint64_t seed) : seed_(seed), random_(seed), clock_(Time{1'774'256'400'000'000}) {}

  Result<DemoReport> run() {
    WITAN_DO(open());
    tell(concat("Three devices; ", kDevices[0], " makes an agent and notes what grows on plot 4."));
    WITAN_DO(write(0, kPlot, "empty"));
    WITAN_DO(change(0));
    WITAN_DO(sync(0, 1, kAll));
    WITAN_DO(sync(1, 2, kAll));
    tell("Cut. Each goes on alone:");
    for (std::size_t d = 0; d < kDevices.size(); ++d) WITAN_DO(editAlone(d));
    WITAN_TRY(apart, digests());
    tell("Before the heal:" + apart.words);
    tell(concat("Heal. ", kDevices[0], " and ", kDevices[1], " meet, and the line drops after a few frames:"));
    WITAN_DO(sync(0, 1, 2 + random_.below(4)));
    tell(concat("They try again; then ", kDevices[2], " meets only ", kDevices[1], ", which relays:"));
    WITAN_DO(sync(0, 1, kAll));
    WITAN_DO(sync(1, 2, kAll));
    WITAN_DO(sync(0, 1, kAll));
    WITAN_DO(settle());
    return report();
  }

 private:
  static constexpr std::size_t kAll = ~std::size_t{0};

  struct Digests {
    std::string words, json;
    std::vector<Digest> values;
  };

  void tell(const std::string& line) { story_ += line + "\n"; }

  Status open() {
    for (std::size_t d = 0; d < kDevices.size(); ++d) {
      ReplicaOptions options{.cluster = "demo", .clusterKey = "demo", .device = kDevices[d]};
      options.freshTag = [this] { return static_cast<std::uint32_t>(random_.next()); };
      WITAN_TRY(replica, LocalReplica::open(nodes_[d].journal, nodes_[d].agents, recordSchemas(), std::move(options)));
      nodes_[d].replica = std::move(replica);
      WITAN_DO(nodes_[d].replica->flush());
    }
    return okStatus();
  }

  LocalReplica& at(std::size_t device) { return *nodes_[device].replica; }

  Status write(std::size_t d, const std::string& id, const std::string& text) {
    clock_.advance(kMicrosPerSecond);
    JournalWriter writer(at(d), kDefaultScope, domains::contentSeals());
    WITAN_TRY(dot,
              writer.put({id, "plot", "{\"text\":" + toJson(text) + "}", "", ChangeOrigin::local, ""}, clock_.now()));
    (void)dot;
    return at(d).flush();
  }

  operations::OperationContext contextOf(std::size_t d) {
    return {directory_, at(d), clock_.now(), [this, d] { return at(d).flush(); }};
  }

  Status change(std::size_t d) {
    operations::OperationContext context = contextOf(d);
    operations::AgentSetRequest request{.id = kAgent, .lifecycle = std::string("active")};
    request.consecutiveFailureCount = random_.below(5);
    request.slots = json::object{{"primaryGoal", concat("grow ", kCrops[random_.below(kCrops.size())])}};
    const bool there = operations::showAgent(context, {kAgent}).ok();
    WITAN_DO(there ? operations::setAgent(context, request) : operations::createAgent(context, request));
    return context.flush();
  }

  Status editAlone(std::size_t d) {
    const std::string crop = kCrops[random_.below(kCrops.size())];
    const std::uint64_t changes = 1 + random_.below(5);
    WITAN_DO(write(d, kPlot, crop + ", says " + kDevices[d]));
    WITAN_DO(write(d, concat("plot-of-", kDevices[d]), crop));
    for (std::uint64_t i = 0; i < changes; ++i) WITAN_DO(change(d));
    tell(concat("  ", kDevices[d], ": plot 4 grows ", crop, ", one new plot, the agent changes ", changes,
                changes == 1 ? " time" : " times"));
    return okStatus();
  }

  Status sync(std::size_t a, std::size_t b, std::size_t most) {
    Link link(at(a), at(b));
    WITAN_DO(link.carry(most));
    frames_ += link.frames();
    bytes_ += link.bytes();
    tell(concat("  ", kDevices[a], " - ", kDevices[b], ": ", link.frames(), " frames, ", link.bytes(), " bytes",
                most == kAll ? "" : ", cut"));
    return okStatus();
  }

  // A person settles what was written side by side, on one device; the others learn it.
  Status settle() {
    JournalWriter writer(at(0), kDefaultScope, domains::contentSeals());
    WITAN_TRY(view, writer.view(kPlot));
    tell(concat("Plot 4 has ", view.siblings.size(),
                " versions side by side, on every device the same. A person settles on one."));
    std::vector<Dot> seen;
    for (const Sibling& sibling : view.siblings) seen.push_back(sibling.dot);
    siblings_ = seen.size();
    clock_.advance(kMicrosPerSecond);
    WITAN_TRY(dot,
              writer.resolve({kPlot, "plot", view.siblings[*view.shown].body->payload, "ann", ChangeOrigin::local, ""},
                             seen, clock_.now()));
    (void)dot;
    WITAN_DO(sync(0, 1, kAll));
    return sync(1, 2, kAll);
  }

  Result<Digests> digests() {
    Digests out;
    for (std::size_t d = 0; d < kDevices.size(); ++d) {
      out.json += (d == 0 ? "{" : ",") + toJson(std::string(kDevices[d])) + ":{";
      out.words += concat("\n  ", kDevices[d]);
      for (const std::string& id : at(d).spaceIds()) {
        const Digest digest = at(d).findSpace(id)->digest();
        out.json += (out.json.back() == '{' ? "" : ",") + toJson(id) + ":\"" + digestHex(digest) + "\"";
        if (id.ends_with(kDefaultScope)) out.words += "  " + id + " " + digestHex(digest);
        out.values.push_back(digest);
      }
      out.json += "}";
    }
    out.json += "}";
    return out;
  }

  Result<DemoReport> report() {
    WITAN_TRY(all, digests());
    DemoReport report;
    const std::size_t each = all.values.size() / kDevices.size();
    report.equal = all.values.size() == each * kDevices.size();
    for (std::size_t i = each; report.equal && i < all.values.size(); ++i)
      report.equal = all.values[i] == all.values[i % each];
    std::string views[kDevices.size()];
    for (std::size_t d = 0; d < kDevices.size(); ++d) {
      operations::OperationContext context = contextOf(d);
      WITAN_TRY(agent, operations::showAgent(context, {kAgent}));
      views[d] = toJson(agent);
      report.equal = report.equal && views[d] == views[0];
      if (d == 0)
        tell(concat("The agent as all see it: goal ", canonicalJson(agent.view.slots.at("primaryGoal").value),
                    ", from ", agent.antichain.size(), " concurrent versions."));
    }
    tell("After the heal:" + all.words);
    tell(report.equal ? "EQUAL: digests and views, on all three." : "DIFFERENT: this is a bug.");
    report.story = story_;
    report.json =
        concat("{\"bytes\":", bytes_, ",\"digests\":", all.json, ",\"equal\":", report.equal ? "true" : "false",
               ",\"frames\":", frames_, ",\"seed\":", seed_, ",\"siblings\":", siblings_, "}\n");
    return report;
  }

  const std::uint64_t seed_;
  SeededRandom random_;
  ManualClock clock_;
  const std::filesystem::path directory_;  // none: the replicas are in memory
  std::array<Node, kDevices.size()> nodes_;
  std::string story_;
  std::size_t frames_ = 0, bytes_ = 0, siblings_ = 0;
};

}  // namespace

Result<DemoReport> syncDemo(std::uint64_t seed) { return Demo(seed).run(); }

}  // namespace witan::node
