// The runs of one graph: router and scheduler as one class without clock, thread, socket or chance.
//
// Events and the time go in; entries and work come out (take()). The caller makes the entries durable, then starts the
// work. At one instant the caller calls, in this order: finish(), fail() for each completion by (time, order of start),
// expire(), the events from outside, dispatch(). Every change of the state goes through apply(): a Runtime that applies
// the same entries has the same state.
// What is known for the sake of duplicates is forgotten a horizon later; some 24 bytes remain of each (ingress,
// external id). Ended runs are too in a script; else when forgetRun() says so, so that a later fold of the same entries
// still knows a run that was sent again in between. What waits for people keeps no body in memory, only its
// digest: most open runs are idle. What waits for a body that is not here holds up its lane alone. Belongs to one
// thread. The monitor must outlive it and be a pure function; `bodies`, too.
#pragma once

#include <boost/container/flat_map.hpp>
#include <boost/container/flat_set.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <deque>
#include <functional>
#include <limits>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "kernel/graph/digest.h"
#include "kernel/graph/function.h"
#include "kernel/graph/line.h"

namespace witan::graph {

// Milliseconds that never come: later times are not told apart.
inline constexpr std::int64_t kNever = 1'000'000'000'000'000;

// Of the canonical form of a message: what a node makes of it (an activation, a list) fits into a record, too.
inline constexpr std::size_t kMostMessageBytes = 640 << 10;
inline constexpr std::size_t kMostLaneKeyBytes = 4'096;
inline constexpr std::size_t kMostCauseBytes = 512;
// Open messages of one run: the entry of its end names them all.
inline constexpr std::size_t kMostOpenMessages = 16'384;

struct Decision {
  std::string verdict = "deny";  // allow, deny, redact, require-human
  std::string token = "out_of_scope";
  json::value body;  // of redact: what may cross
};
using Monitor = std::function<Decision(const Crossing&, const json::value& body)>;

// Where bodies are kept, by their digests.
class Bodies {
 public:
  virtual ~Bodies() = default;
  virtual Body find(const std::string& digest) = 0;  // null: it is not here
  virtual bool has(const std::string& digest) = 0;   // without reading it
};

struct Work {
  std::string span;  // the operation id of an effect
  std::int64_t attempt = 0;
  std::string run;
  std::shared_ptr<const Document> document;
  std::string node;
  std::string type;
  Body body;
  bool resumed = false;
  std::uint64_t hops = 0;  // of the run
};

struct Undo {
  std::string operation;
  std::string tool;
  std::string span;  // whose effect it is
};

struct Taken {
  std::vector<Entry> entries;
  std::vector<Line> notices;  // refusals and duplicates at a door: counted and logged, never an entry
  std::vector<Work> work;
  std::vector<Undo> undos;
};

// Of the run that the first message under this external id begins; of the n-th after a horizon: "EXTERNAL#n".
inline std::string runIdOf(std::string_view graph, std::string_view ingress, std::string_view external) {
  return identityOf(concat("v1|graph-run|", graph, "|", ingress, "|", external));
}

// What a node has before it.
struct NodeLoad {
  std::string node;
  std::int64_t queued = 0, running = 0, asking = 0, backoff = 0;
};

struct RunView {
  std::string run;
  std::string external;
  std::string status;
  std::int64_t version = 0;
  std::int64_t deliveries = 0;
  std::int64_t dead = 0;
  std::int64_t queued = 0;
  std::int64_t open = 0;  // spans
};

class Runtime {
 public:
  // Without a monitor nothing crosses a boundary. `watch`, if given, sees each entry when the state holds it. With
  // `bodies` neither redeliver() nor cancel() is called, and what they look up is not kept; without, it is a script.
  explicit Runtime(Monitor monitor, std::function<void(const Entry&)> watch = {}, Bodies* bodies = nullptr)
      : monitor_(std::move(monitor)), watch_(std::move(watch)), bodies_(bodies), scripted_(bodies == nullptr) {}
  Runtime(const Runtime&) = delete;

  // For runs that begin from now on; the others keep their document. Errors: invalid; another graph, a lower version,
  // or another digest of the present version. Requires: the document passed the checks.
  Status deploy(std::shared_ptr<const Document> document, std::int64_t now);
  // Requires, as the next ones: a document is deployed.
  // "" if a run begins, else why not; "duplicate"; "loop": more runs caused each other than may. `hops`: runs behind
  // it.
  std::string_view admit(const std::string& ingress, const std::string& external, const json::value& body,
                         std::int64_t now, std::uint64_t hops = 0);
  // An answer to the question of a lane; `digest`, if given, is that of the body that the person saw.
  void answer(const std::string& node, const std::string& key, const std::string& by, bool approve,
              const std::optional<std::string>& digest, std::int64_t now);
  void cancel(const std::string& external, std::int64_t now);
  // As answer() and cancel(), of what somebody else has checked; nothing if it is not open. An answer needs the body
  // that was asked about: wake() first.
  void answerSpan(const std::string& span, const std::string& by, bool approve, std::int64_t now);
  void cancelRun(const std::string& run, std::int64_t now);
  // Errors: notFound; no such message, or its run ended and a horizon has passed.
  Status redeliver(const std::string& run, const std::string& message, std::int64_t now);
  // A dead message again, as `again`. Errors: notFound; no such dead letter within the horizon. Needs its body, too.
  Status redrive(const std::string& run, const std::string& message, const std::string& again, std::int64_t now);
  // An ended run; nothing if there is none, or it goes on.
  void forgetRun(const std::string& run);
  // Its time ends by then at the latest. As apply(), to be said again after a fold; nothing if there is no such run.
  void endBy(const std::string& run, std::int64_t deadline);

  // Results of work. A result of another attempt than the running one is ignored.
  bool isRunning(const std::string& span, std::int64_t attempt) const;
  void finish(const std::string& span, std::int64_t attempt, std::vector<Output> outputs, std::int64_t now);
  void finishEffect(const std::string& span, std::int64_t attempt, bool found, std::int64_t now);
  void fail(const std::string& span, std::int64_t attempt, const std::string& why, bool terminal, std::int64_t now);

  // Its attempt waits for something outside that takes its time: the timeout begins anew.
  void extend(const std::string& span, std::int64_t now);
  // `answered`: of a question whose time is over, whether an answer is on its way here all the same.
  void expire(std::int64_t now, const std::function<bool(const Digest& span)>& answered = {});
  // Starts what can start, at most `most` spans. Returns whether it stopped at `most`: call again.
  bool dispatch(std::int64_t now, std::size_t most = std::numeric_limits<std::size_t>::max());
  // After a crash: what ran begins again as the same attempt.
  void recover(std::int64_t now);
  // The next time at which expire() or dispatch() has something to do.
  std::optional<std::int64_t> due() const;

  void apply(const Entry& entry);
  Taken take();

  // Null: no such run is kept.
  std::shared_ptr<const Document> documentOf(const std::string& run) const;
  std::shared_ptr<const Document> deployed() const { return document_; }
  bool isAsking(const std::string& span) const;
  // Since when it asks and until when, by its clock. None: it asks nothing.
  struct Asking {
    std::int64_t sinceMs = 0, untilMs = 0;
  };
  std::optional<Asking> asking(const std::string& span) const;
  std::int64_t horizonMs() const { return horizonMs_; }
  // Of a message that waits. None: none such does.
  std::optional<std::string> keyOf(const std::string& message) const;
  // A message whose body is not here.
  struct Lacking {
    std::string run, node, message, digest;
    friend bool operator==(const Lacking&, const Lacking&) = default;
  };
  // A fold names bodies by digest (unread()); afterwards fill() reads those that work needs. Returns what of the open
  // ones is not here, those of questions among them, which it does not read.
  static Body unread(const std::string& digest);
  std::vector<Lacking> fill();
  // After recover(): bodies have come. What lacked them goes on. O(state).
  void goOn(const std::set<std::string>& digests, std::int64_t now);
  bool isOpen(const Lacking& message) const;
  // Reads the body of a question (its span) or of a dead letter (the message). None: it is here, or there is no such.
  std::optional<Lacking> wake(const std::string& spanOrLetter);

  std::vector<RunView> runs() const;                   // in the order of their begin; without those that are forgotten
  std::vector<std::string> waitingFor() const;         // "node|key" of each open question, in order
  std::vector<NodeLoad> loads() const;                 // in the order of the file. O(nodes + backoffs)
  std::int64_t running() const;                        // runs. O(versions)
  std::int64_t asking() const;                         // open questions. O(nodes)
  std::size_t nodes() const { return nodes_.size(); }  // whose state is kept
  std::string fingerprint() const;                     // equal for equal states. O(state)

 private:
  struct Run;
  struct Span;
  struct NodeState;
  using Lane = std::pair<std::string, std::string>;  // node, key
  using LaneView = std::pair<std::string_view, std::string_view>;

  struct Message {
    Digest id;
    Run* run = nullptr;
    const Node* node = nullptr;  // of the run's document
    NodeState* state = nullptr;  // of the node
    const Edge* edge = nullptr;  // likewise; of what an ingress was given: none
    std::string key;
    mutable Body body;      // null: it is not read; a verdict may leave out parts of it
    mutable Digest digest;  // of a body that is not read
    Measures measures;
    std::int64_t sequence = 0;

    LaneView lane() const { return {node->id, key}; }
    const std::string& type() const { return edge == nullptr ? node->out[0] : edge->as; }
    const std::string& edgeName() const {
      static const std::string none;
      return edge == nullptr ? none : edge->name;
    }
    void setBody(Body given) const {
      digest = given != nullptr && given->is_string() ? Digest(std::string(given->get_string())) : Digest();
      body = digest.isNone() ? std::move(given) : nullptr;
    }
    std::string bodyDigest() const { return body == nullptr ? digest.hex() : digestOf(*body); }
  };
  using MessagePtr = std::shared_ptr<const Message>;
  // Spans by the lanes of their messages.
  struct ByLane {
    using is_transparent = void;
    bool operator()(const Message* a, const Message* b) const { return a->lane() < b->lane(); }
    bool operator()(const Message* a, const LaneView& b) const { return a->lane() < b; }
    bool operator()(const LaneView& a, const Message* b) const { return a < b->lane(); }
  };

  enum class SpanState { running, asking, backoff };
  struct Span {
    MessagePtr message;
    Digest id;
    SpanState state = SpanState::running;
    std::int64_t attempt = 0;
    std::int64_t number = 0;     // of its start
    std::int64_t timeoutAt = 0;  // while it runs or asks
    std::int64_t readyAt = 0;    // of a backoff
    bool passed = false;
  };
  struct EffectDone {
    std::string span;
    std::string node;
    std::string undo;
  };
  struct SentMessage {
    std::string node;
    std::string key;
    std::int64_t atMs = 0;
  };
  // What few runs have: most are idle, and there are many.
  struct Rare {
    std::map<std::string, std::int64_t> passes;  // of guarded edges
    std::vector<EffectDone> effects;
    std::set<Lane> poisoned;
    std::vector<std::pair<Lane, std::vector<MessagePtr>>> collected;
    std::vector<MessagePtr> letters;  // that died
    std::unordered_map<std::string, SentMessage> sent;
  };
  struct Run {
    Digest id;
    std::string external;
    std::string_view status = "running";  // else of names_
    std::shared_ptr<const Document> document;
    std::int64_t ordinal = 0;
    std::int64_t deadline = 0;
    std::int64_t deliveries = 0;
    std::int64_t dead = 0;
    std::uint64_t hops = 0;
    boost::container::flat_map<std::int64_t, MessagePtr> queued;
    boost::container::flat_set<Span*> spans;  // open ones

    const Rare& rare() const {
      static const Rare none;
      return rare_ ? *rare_ : none;
    }
    Rare& rareToChange() {
      if (!rare_) rare_ = std::make_unique<Rare>();
      return *rare_;
    }
    bool isRunning() const { return status == "running"; }

   private:
    std::unique_ptr<Rare> rare_;
  };
  struct NodeState {
    std::size_t position = 0;
    std::map<std::string, std::map<std::int64_t, MessagePtr>> queues;  // of each key, by sequence
    std::map<std::int64_t, MessagePtr> ready;                          // heads of idle lanes
    std::map<std::int64_t, Span*> retries;                             // whose backoff is over
    std::int64_t queued = 0;
    std::int64_t running = 0;
    std::int64_t asking = 0;
  };
  // What was seen, by the first half of a SHA-256 of it, and when; what is older than a horizon goes.
  struct Seen {
    using Mark = std::array<std::uint64_t, 2>;
    struct MarkHash {
      std::size_t operator()(const Mark& mark) const { return mark[0]; }
    };
    boost::unordered_flat_map<Mark, std::int64_t, MarkHash> at;
    std::deque<std::pair<std::int64_t, Mark>> order;

    void see(const Mark& mark, std::int64_t now) {
      const auto [seen, isNew] = at.try_emplace(mark, now);
      if (!isNew && seen->second == now) return;  // each moment of a mark stands in the order once
      seen->second = now;
      order.emplace_back(now, mark);
    }
    bool isFresh(const Mark& mark, std::int64_t now, std::int64_t horizonMs) const {
      const auto found = at.find(mark);
      return found == at.end() || now - found->second > horizonMs;
    }
    void forget(std::int64_t now, std::int64_t horizonMs) {
      for (; !order.empty() && now - order.front().first > horizonMs; order.pop_front())
        if (const auto seen = at.find(order.front().second); seen != at.end() && seen->second == order.front().first)
          at.erase(seen);
    }
  };

  void answered(Span& span, const std::string& by, bool approve);
  void emit(Fact fact);
  void notice(Fact fact);
  void close();

  // The fold (runtime_state.cpp).
  void fold(const Line& line);
  void on(const Deployed& fact);
  void on(const Begun& fact);
  void on(const Sent& fact);
  void on(const Delivered& fact);
  void on(const Resumed& fact);
  void on(const Redriven& fact);
  void on(const Judged& fact);
  void on(const Asked& fact);
  void on(const Answered& fact);
  void on(const Effected& fact);
  void on(const Emitted&) {}
  void on(const Finished& fact);
  void on(const Failed& fact);
  void on(const Dead& fact);
  void on(const Duplicate& fact);
  void on(const DuplicateArrival&) {}
  void on(const Refused&) {}
  void on(const Compensated& fact);
  void on(const Ended& fact);

  template <class Visit>
  void forEachOpen(const Visit& visit) const;
  Span* findSpan(const std::string& id) const {
    const auto at = spanAt_.find(Digest(id));
    return at == spanAt_.end() ? nullptr : *at;
  }
  Run* findRun(const std::string& id) const {
    const auto at = runAt_.find(Digest(id));
    return at == runAt_.end() ? nullptr : *at;
  }
  Run& run(const std::string& id);
  Span& span(const std::string& id);
  static void sleep(const Message& message);
  bool read(const Message& message);  // whether it is here
  static bool isHere(const Message& message);
  template <class Visit>
  void forEachToWork(const Visit& visit) const;  // all that need their bodies sooner or later, questions among them
  void resume(const std::vector<Span*>& spans);
  void enqueue(std::shared_ptr<Message> message);
  MessagePtr unqueue(std::int64_t sequence);
  void refresh(NodeState& node);
  void refreshHead(const std::string& key, NodeState& node, bool idle);
  void setState(Span& span, SpanState state);
  void setTimeout(Span& span);
  void stopTimers(Span& span);
  void release(Span& span);
  void forget();
  void erase(std::int64_t ordinal);
  std::uint32_t recurrencesOf(const std::string& ingress, const std::string& external) const;
  static Seen::Mark arrivalOf(const std::string& ingress, const std::string& external);
  static Seen::Mark valueOf(const std::string& node, const std::string& key, const std::string& value);
  std::string_view named(const std::string& name) { return *names_.insert(name).first; }

  // The scheduler.
  bool hasRoom(const Message& message) const;
  bool canStart(const Message& message) const;
  bool startNext();
  bool startAt(NodeState& node);
  void begin(const MessagePtr& message, std::int64_t attempt);
  void wakeBackoffs();
  void endQuiet();

  struct Sending {
    std::string type;
    Body body;
  };
  void work(Span& span, bool resumed);
  bool passGate(Span& span);
  void complete(Span& span, const std::vector<Sending>& outputs);
  static std::size_t openMessages(const Run& run);
  void completeFunction(Span& span);
  static std::vector<Sending> sendings(std::vector<Output> outputs);
  std::optional<std::string_view> misfit(const Message& cause, const Edge& edge, const Sending& output) const;
  static const std::vector<MessagePtr>& collectedWith(const Message& message);
  void send(const Message& cause, const std::string& span, const Edge& edge, const Sending& output, std::int64_t count,
            const Measures& measures);
  void failSpan(Span& span, const std::string& why, bool terminal, std::string_view cause = "");
  void bury(const Message& message, const std::string& reason, bool poisons);
  void stop(Run& run, const std::string& status);
  void end(Run& run, const std::string& status);

  Monitor monitor_;
  std::function<void(const Entry&)> watch_;
  Bodies* const bodies_;
  const bool scripted_;
  std::int64_t now_ = 0;
  std::shared_ptr<const Document> document_;
  std::int64_t horizonMs_ = 0;  // the longest of all documents

  std::map<std::string, NodeState> nodes_;
  std::vector<std::pair<std::string, NodeState*>> order_;
  std::set<std::size_t> active_;  // positions of nodes with something ready
  std::optional<std::size_t> cursor_;

  std::map<std::int64_t, Run> runs_;
  boost::unordered_flat_set<Run*, ById, SameId> runAt_;
  std::set<std::pair<std::string_view, std::int64_t>> open_;   // external ids and ordinals of running ones, in a script
  std::map<const Document*, std::int64_t> versions_;           // running ones of a document
  std::set<std::pair<std::int64_t, std::int64_t>> deadlines_;  // of running ones, with their ordinals
  std::deque<std::pair<std::int64_t, std::int64_t>> ended_;    // when, ordinal
  std::set<std::string> stalled_;                              // spans that ran before a crash, and lack their bodies
  std::set<std::int64_t> touched_;                             // may have ended
  std::int64_t begun_ = 0;

  std::map<std::int64_t, MessagePtr> queue_;
  boost::unordered_flat_set<const Message*, ById, SameId> queuedAt_;
  std::unordered_map<std::string, std::int64_t> edgeQueued_;  // by name, without those that are empty
  std::map<const Message*, Span, ByLane> spans_;
  boost::unordered_flat_set<Span*, ById, SameId> spanAt_;
  std::set<std::tuple<std::int64_t, std::int64_t, Span*>> timeouts_;  // at, number of start
  std::set<std::tuple<std::int64_t, std::int64_t, Span*>> backoffs_;  // readyAt, number of start

  std::unordered_set<std::string> names_;                                // of ends
  Seen admitted_;                                                        // of ingress and external id
  Seen deduped_;                                                         // node, key, value
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> recurrences_;  // begun of a hash of (ingress, external id)
  std::int64_t sequence_ = 0;
  std::int64_t started_ = 0;
  Entry entry_;
  Taken taken_;
};

}  // namespace witan::graph
