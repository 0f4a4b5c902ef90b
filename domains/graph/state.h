// Graph: the ledger of a graph of episodes (docs/graphs.md). The entity is a graph, each entry one step of one of its
// runs: digests, ids and keys, never bodies. What is open is in the state; what has ended is in the ledger alone, so
// rows of runs and messages are used again and the state stays as large as what is open. There are many runs, and most
// are idle: rows have no names of members, digests 32 bytes.
#pragma once

#include <string>
#include <vector>

#include "kernel/domain.h"
#include "kernel/domain_module.h"
#include "kernel/graph/digest.h"

namespace witan::domains::graph {

using namespace kernel;
using ::witan::graph::Digest;

struct Policy {
  static constexpr std::size_t required = 0;
  std::int64_t mostKeyBytes = 4'096;
  std::int64_t mostLetters = 1'000;   // of one run, that may be sent again
  std::int64_t mostOutputs = 10'000;  // of one run, that are shown and given to an outer run
  WITAN_MEMBERS(Policy, mostKeyBytes, mostLetters, mostOutputs)
};

struct Bound {
  static constexpr bool asTuple = true;
  std::string edge;
  std::int64_t most = 0;
  WITAN_MEMBERS(Bound, edge, most)
};
// A node that needs a verdict, or, with `who`, an answer.
struct Gate {
  static constexpr bool asTuple = true;
  std::string node;
  std::vector<std::string> who;
  WITAN_MEMBERS(Gate, node, who)
};
struct Version {
  std::int64_t number = 0;
  std::string digest;
  std::int64_t deliveries = 0;  // at most, of one run
  std::vector<Bound> bounds;
  std::vector<Gate> gates;
  std::int64_t horizonMs = 0;
  WITAN_MEMBERS(Version, number, digest, deliveries, bounds, gates, horizonMs)
};

struct Measure {
  static constexpr bool asTuple = true;
  std::string edge;
  std::int64_t value = 0;
  WITAN_MEMBERS(Measure, edge, value)
};
struct Passes {
  static constexpr bool asTuple = true;
  std::string edge;
  std::int64_t count = 0;
  WITAN_MEMBERS(Passes, edge, count)
};
struct Output {
  static constexpr bool asTuple = true;
  std::string node, digest;
  WITAN_MEMBERS(Output, node, digest)
};
struct Applied {
  static constexpr bool asTuple = true;
  Digest span;
  std::string node;
  bool undone = false;
  WITAN_MEMBERS(Applied, span, node, undone)
};

struct Message {
  static constexpr bool asTuple = true;
  Digest id, run, digest;
  std::string node, key, edge;
  std::int64_t sequence = 0;
  std::vector<Measure> measures;
  WITAN_MEMBERS(Message, id, run, digest, node, key, edge, sequence, measures)
};
// A message that died and may be sent again.
struct Letter {
  static constexpr bool asTuple = true;
  Message message;
  std::string reason;
  WITAN_MEMBERS(Letter, message, reason)
};

WITAN_ENUM(SpanState, running, asking, backoff)
struct Span {
  static constexpr bool asTuple = true;
  Digest id;
  std::int64_t attempt = 0;
  SpanState state = SpanState::running;
  bool passed = false;   // a verdict lets it cross
  bool mustAsk = false;  // if a person approves
  bool effect = false;
  bool approved = false;
  Digest asked;    // what a person is asked, if that is not the message
  std::string by;  // who answered
  WITAN_MEMBERS(Span, id, attempt, state, passed, mustAsk, effect, approved, asked, by)
};

struct Run {
  static constexpr bool asTuple = true;
  Digest id;
  std::string node, external, status;
  std::int64_t version = 0, deliveries = 0, dead = 0, open = 0;  // open: messages
  std::int64_t outputs = 0, letters = 0;                         // that are kept
  std::string cancelled;                                         // why; empty: it was not
  std::int64_t endedMs = 0;                                      // while it has ended
  WITAN_MEMBERS(Run, id, node, external, status, version, deliveries, dead, open, outputs, letters, cancelled, endedMs)
};

struct Kept {
  static constexpr bool asTuple = true;
  Digest run;
  std::int64_t number = 0;  // later ones have higher numbers
  WITAN_MEMBERS(Kept, run, number)
};

struct VersionRow {
  Cell<Version> at;
};
struct RunRow {
  Cell<Run> at;
  Cell<std::vector<Passes>> passes;
  Cell<std::int64_t> next;  // the next free row; 0: none
};
// One output, effect or letter of a run. Each has a row, so a run that makes many of them writes each once.
struct KeptRow {
  Cell<Kept> at;
  Cell<Output> output;
  Cell<Applied> effect;
  Cell<Letter> letter;
  Cell<std::int64_t> next;
};
struct MessageRow {
  Cell<Message> at;
  Cell<Span> span;
  Cell<std::int64_t> next;
};

// What a step would break: never in a state that stands.
struct Breach {
  std::string law, why;
  WITAN_MEMBERS(Breach, law, why)
};
// Rows of a table so far, how often one was taken, and the first free one.
struct Rows {
  static constexpr bool asTuple = true;
  std::int64_t made = 0, taken = 0, free = 0;
  WITAN_MEMBERS(Rows, made, taken, free)
};

// As kernel::Key, of the bytes of a digest.
template <auto CellPointer, auto DigestMember>
struct DigestKey {
  struct Bytes {
    const Digest* of;
    bool operator!=(std::nullptr_t) const { return of != nullptr; }
    std::string_view operator*() const { return of->bytes(); }
  };
  static constexpr auto cell = CellPointer;
  template <class Row>
  static Bytes of(const Row& row) {
    const auto& value = row.*CellPointer;
    return {value ? &((*value).*DigestMember) : nullptr};
  }
};

using RunById = HashIndex<DigestKey<&RunRow::at, &Run::id>>;
using KeptByRun = HashIndex<DigestKey<&KeptRow::at, &Kept::run>>;
using KeptBySpan = HashIndex<DigestKey<&KeptRow::effect, &Applied::span>>;
using MessageById = HashIndex<DigestKey<&MessageRow::at, &Message::id>>;
using MessageBySpan = HashIndex<DigestKey<&MessageRow::span, &Span::id>>;
using Lane = HashIndex<Key<&MessageRow::at, &Message::node>, Key<&MessageRow::at, &Message::key>>;

struct State {
  using Policy = graph::Policy;
  Table<VersionRow> versions;
  Table<RunRow, RunById> runs;
  Table<MessageRow, MessageById, MessageBySpan, Lane> messages;
  Table<KeptRow, KeptByRun, KeptBySpan> kept;
  std::int64_t version = 0;
  std::int64_t sequence = 0;
  Rows runRows, messageRows, keptRows;
  Breach breach;
};

inline constexpr auto kVersions = &State::versions;
inline constexpr auto kRuns = &State::runs;
inline constexpr auto kMessages = &State::messages;
inline constexpr auto kKept = &State::kept;

struct VersionAt : Column<"version.at", kVersions, &VersionRow::at> {};
struct RunAt : Column<"run.at", kRuns, &RunRow::at> {};
struct RunPasses : Column<"run.passes", kRuns, &RunRow::passes> {};
struct RunNext : Column<"run.next", kRuns, &RunRow::next> {};
struct MessageAt : Column<"message.at", kMessages, &MessageRow::at> {};
struct MessageSpan : Column<"message.span", kMessages, &MessageRow::span> {};
struct MessageNext : Column<"message.next", kMessages, &MessageRow::next> {};
struct KeptAt : Column<"kept.at", kKept, &KeptRow::at> {};
struct KeptOutput : Column<"kept.output", kKept, &KeptRow::output> {};
struct KeptEffect : Column<"kept.effect", kKept, &KeptRow::effect> {};
struct KeptLetter : Column<"kept.letter", kKept, &KeptRow::letter> {};
struct KeptNext : Column<"kept.next", kKept, &KeptRow::next> {};
struct CurrentVersion : Scalar<"version", &State::version> {};
struct Sequence : Scalar<"sequence", &State::sequence> {};
struct RunRows : Scalar<"runRows", &State::runRows> {};
struct MessageRows : Scalar<"messageRows", &State::messageRows> {};
struct KeptRows : Scalar<"keptRows", &State::keptRows> {};
struct BreachOf : Scalar<"breach", &State::breach> {};

// Of an entity of this domain; nothing: it has no such run.
std::optional<Run> runIn(const EntityState* entity, const Digest& run);
std::vector<Output> outputsIn(const EntityState* entity, const Digest& run);
std::vector<Letter> lettersIn(const EntityState* entity, const Digest& run);
std::vector<Run> runsIn(const EntityState* entity);  // in the order of their begin, as far as rows are not used again
std::optional<Version> deployedIn(const EntityState* entity);
std::optional<Version> versionIn(const EntityState* entity, std::int64_t number);
// What people are asked.
struct Question {
  std::string run, node, span, key, digest;
  std::vector<std::string> who;  // empty: whoever may answer
};
std::vector<Question> questionsIn(const EntityState* entity);
// The digest of what the span asks, and whether it is answered; nothing: it asks nothing.
struct Asked {
  Digest digest;
  bool answered = false;
};
std::optional<Asked> askedIn(const EntityState* entity, const Digest& span);

using Fields =
    FieldList<VersionAt, RunAt, RunPasses, RunNext, MessageAt, MessageSpan, MessageNext, KeptAt, KeptOutput, KeptEffect,
              KeptLetter, KeptNext, CurrentVersion, Sequence, RunRows, MessageRows, KeptRows, BreachOf>;
using All =
    Footprint<VersionAt, RunAt, RunPasses, RunNext, MessageAt, MessageSpan, MessageNext, KeptAt, KeptOutput, KeptEffect,
              KeptLetter, KeptNext, CurrentVersion, Sequence, RunRows, MessageRows, KeptRows, BreachOf>;

}  // namespace witan::domains::graph
