// The runs of one graph: router and scheduler as one class without clock, thread, socket or chance.
//
// Events and the time go in; entries and work come out (take()). The caller makes the entries durable, then starts the
// work. At one instant the caller calls, in this order: finish(), fail() for each completion by (time, order of start),
// expire(), the events from outside, dispatch(). Every change of the state goes through apply(): a Runtime that applies
// the same entries has the same state.
// Belongs to one thread. The monitor must outlive it and be a pure function.
#pragma once

#include <functional>
#include <limits>
#include <set>

#include "kernel/graph/function.h"
#include "kernel/graph/line.h"

namespace witan::graph {

struct Decision {
  std::string verdict = "deny";  // allow, deny, redact, require-human
  std::string token = "out_of_scope";
  json::value body;  // of redact: what may cross
};
using Monitor = std::function<Decision(const Crossing&, const json::value& body)>;

struct Work {
  std::string span;  // the operation id of an effect
  std::int64_t attempt = 0;
  std::string run;
  std::shared_ptr<const Document> document;
  std::string node;
  std::string type;
  Body body;
  bool resumed = false;
};

struct Undo {
  std::string operation;
  std::string tool;
};

struct Taken {
  std::vector<Entry> entries;
  std::vector<Line> notices;  // refusals and duplicates at a door: counted and logged, never an entry
  std::vector<Work> work;
  std::vector<Undo> undos;
};

struct RunView {
  std::string run;
  std::string external;
  std::string status;
  std::int64_t version;
  std::int64_t deliveries;
  std::int64_t dead;
};

class Runtime {
 public:
  // Without a monitor nothing crosses a boundary. `watch`, if given, sees each entry when the state holds it.
  explicit Runtime(Monitor monitor, std::function<void(const Entry&)> watch = {})
      : monitor_(std::move(monitor)), watch_(std::move(watch)) {}

  // For runs that begin from now on; the others keep their document. Errors: invalid; another graph, a lower version,
  // or another digest of the present version. Requires: the document passed the checks.
  Status deploy(std::shared_ptr<const Document> document, std::int64_t now);
  void admit(const std::string& ingress, const std::string& external, const json::value& body, std::int64_t now);
  // An answer to the question of a lane; `digest`, if given, is that of the body that the person saw.
  void answer(const std::string& node, const std::string& key, const std::string& by, bool approve,
              const std::optional<std::string>& digest, std::int64_t now);
  void cancel(const std::string& external, std::int64_t now);
  // Errors: notFound; no such message, or its run ended more than a horizon ago.
  Status redeliver(const std::string& message, std::int64_t now);

  // Results of work. A result of another attempt than the running one is ignored.
  bool isRunning(const std::string& span, std::int64_t attempt) const;
  void finish(const std::string& span, std::int64_t attempt, std::vector<Output> outputs, std::int64_t now);
  void finishEffect(const std::string& span, std::int64_t attempt, bool found, std::int64_t now);
  void fail(const std::string& span, std::int64_t attempt, const std::string& why, bool terminal, std::int64_t now);

  void expire(std::int64_t now);
  // Starts what can start, at most `most` spans. Returns whether it stopped at `most`: call again.
  bool dispatch(std::int64_t now, std::size_t most = std::numeric_limits<std::size_t>::max());
  // After a crash: what ran begins again as the same attempt.
  void recover(std::int64_t now);
  // The next time at which expire() or dispatch() has something to do.
  std::optional<std::int64_t> due() const;

  void apply(const Entry& entry);
  Taken take();

  std::vector<RunView> runs() const;            // in the order of their begin
  std::vector<std::string> waitingFor() const;  // "node|key" of each open question, in order
  std::string fingerprint() const;              // equal for equal states

 private:
  using Lane = std::pair<std::string, std::string>;  // node, key

  struct Message {
    std::string id;
    std::string run;
    std::string node;
    std::string edge;
    std::string key;
    std::string type;
    Body body;
    Measures measures;
    std::int64_t sequence = 0;
  };
  enum class SpanState { running, asking, backoff };
  struct Span {
    Message message;
    std::string id;
    SpanState state = SpanState::running;
    std::int64_t attempt = 0;
    std::int64_t number = 0;  // of its start
    std::int64_t timeoutAt = 0;
    std::int64_t readyAt = 0;  // of a backoff
    bool passed = false;
  };
  struct EffectDone {
    std::string span;
    std::string node;
    std::string undo;
  };
  struct Run {
    std::string id;
    std::string external;
    std::string status = "running";
    std::shared_ptr<const Document> document;
    std::int64_t begunAt = 0;
    std::int64_t deliveries = 0;
    std::int64_t dead = 0;
    std::map<std::string, std::int64_t> passes;  // of guarded edges
    std::vector<EffectDone> effects;
    std::set<Lane> poisoned;
    std::vector<std::pair<Lane, std::vector<Message>>> collected;
    std::set<std::int64_t> queued;      // sequences
    std::map<std::string, Lane> spans;  // open ones
  };
  struct NodeState {
    std::map<std::string, std::set<std::int64_t>> queues;     // of each key, sequences
    std::set<std::pair<std::int64_t, std::string>> ready;     // heads of idle lanes
    std::set<std::pair<std::int64_t, std::string>> backoffs;  // sequence and key of spans that wait for their time
    std::size_t queued = 0;
    std::int64_t running = 0;
    std::int64_t asking = 0;
  };
  struct Sent {
    std::string run;
    Lane lane;
    std::int64_t atMs;
  };

  void emit(Line line);
  void close();
  void notice(Line line);
  void applyLine(const Line& line);
  void applyDeployed(const Line& line);
  void applyBegun(const Line& line);
  void applySent(const Line& line);
  void applyDelivered(const Line& line);
  void applyDead(const Line& line);
  void applyFinished(const Line& line);
  void applyFailed(const Line& line);

  void enqueue(Message message);
  Message unqueue(std::int64_t sequence);
  void refreshHead(const std::string& node, const std::string& key);
  void setState(Span& span, SpanState state);
  void release(const std::string& spanId);
  Span* find(const std::string& spanId);
  const Span* find(const std::string& spanId) const;

  Run& runOf(const Message& message) { return runs_.at(runAt_.at(message.run)); }
  const Node& nodeOf(const Message& message) { return *runOf(message).document->node(message.node); }
  bool hasRoom(const Message& message, const Node& node);
  bool canStart(const Message& message);
  bool startNext();
  bool startAt(const std::string& nodeId);
  void begin(const Message& message, std::int64_t attempt);
  void work(const std::string& spanId, bool resumed);
  bool passGate(Span& span, const Node& node);
  void complete(const std::string& spanId, std::vector<Output> outputs);
  void completeFunction(const std::string& spanId, const Node& node);
  void send(const Message& cause, const std::string& span, const Edge& edge, const Output& output, std::int64_t count,
            const Measures& measures);
  void failSpan(const std::string& spanId, const std::string& why, bool terminal);
  void bury(const Message& message, const std::string& reason, bool poisons);
  void stop(Run& run, const std::string& status);
  void end(Run& run, const std::string& status);
  void endQuiet();
  Line lineOf(LineKind kind, const Message& message) const;
  bool isFresh(const std::map<std::string, std::int64_t>& seen, const std::string& what,
               const Document& document) const;
  Work workOf(const Span& span, bool resumed);

  Monitor monitor_;
  std::function<void(const Entry&)> watch_;
  std::int64_t now_ = 0;
  std::shared_ptr<const Document> document_;
  std::vector<std::string> order_;
  std::map<std::string, std::size_t> position_;
  std::optional<std::size_t> cursor_;
  std::map<std::string, NodeState> nodes_;
  std::set<std::size_t> active_;  // positions of nodes with a ready lane or a backoff
  std::map<std::int64_t, Run> runs_;
  std::map<std::string, std::int64_t> runAt_;
  std::set<std::int64_t> touched_;
  std::map<std::int64_t, Message> queue_;
  std::map<std::string, std::int64_t> queuedAt_;  // message id
  std::map<Lane, Span> spans_;
  std::map<std::string, Lane> spanAt_;
  std::map<std::string, std::int64_t> edgeQueued_;
  std::map<std::string, std::int64_t> admitted_;  // ingress|external: when
  std::map<std::string, std::int64_t> deduped_;   // node|key|value: when
  std::map<std::string, Sent> sent_;
  std::int64_t sequence_ = 0;
  std::int64_t started_ = 0;
  Entry open_;
  Taken taken_;
};

}  // namespace witan::graph
