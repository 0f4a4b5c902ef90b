// What the desks of the market have in common: letters between organisations, and what a desk asks of its host.
//
// A desk is sans I/O: events and the time in, an Out back. Its host restores it from its rows, in the order of their
// keys, and stores `rows` before it carries out the rest. Everything a desk asks may be asked again after a restart,
// under the same id: each id is derived from contract, call and step, so a repetition changes nothing. So most rows
// only say how far a call has come: a loss of power may take the newest of them away, and asking brings them back. An
// Out that is `firm` has something that asking could not bring back (an order, a bundle, a signature, a person's word):
// the host makes it durable before anything of it leaves but questions. One thread; no clock, no randomness.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/market/evidence.h"

namespace witan::market {

// From one organisation to another. The host authenticates `from`; each desk first asks trim() about what came.
struct Letter {
  std::string from, to;
  std::string id;    // of a request; its answer carries the same
  std::string kind;  // "open", "act", "view", "propose", "order", "evidence", "cancel"; "answer"
  json::object body;
};

struct Row {
  std::string key, value;
};

// A proposal to the holder's own domain `escrow`; without a role the beginning of the entity, with `fields` of the
// action.
struct EscrowAct {
  std::string entity, role, operationId;
  json::object action;
  std::string asker, letter;  // who is answered, and which letter; empty: the desk itself asked
};

// A run of the seller's graph, made once for each external id.
struct RunRequest {
  std::string externalId;  // "{contract digest}/{call}"
  Capability capability;
  std::vector<std::string> disclosures;
  Natural price = 0;  // of a run that completes
  std::string policyEpoch;
  Budget budget;  // of the order: the run may take no more
  Words locales;  // and work nowhere else
};

// The statement goes into the seller's own ledger under this operation id.
struct RecordRequest {
  std::string externalId, operationId, statement;
};

// What a person must see, with the texts that prove it.
struct MarketIncident {
  std::string kind;  // "equivocation", "flood", "wider", "evidence", "silent"
  std::string org, what;
  std::vector<std::string> proof;
};

struct Out {
  bool firm = false;  // with an incident, too
  std::vector<Row> rows;
  std::vector<Letter> letters;
  std::vector<EscrowAct> acts;
  std::vector<RunRequest> runs;
  std::vector<RecordRequest> records;
  std::vector<MarketIncident> incidents;
};

// JSON that was written here, or null.
json::value valueOf(const std::string& text);

// ---- rows, which are read under the limits that they were written under

// Rows of contracts; they come before those of calls, so that rows in the order of their keys restore a desk.
inline constexpr const char* kAgreed = "agreed/";
// A bundle as a text, and what stands beside it.
inline constexpr JsonLimits kRowLimits{.bytes = 4 * kBundleLimits.bytes, .depth = kBundleLimits.depth + 2};

// A bundle's text; others of a row have kTextMax.
struct LongText : std::string {
  using std::string::string;
  LongText() = default;
  LongText(std::string text) : std::string(std::move(text)) {}  // NOLINT: implicit by design
};

template <class T>
Result<T> fromRow(const Row& row) {
  WITAN_TRY(parsed, parseJson(row.value, kRowLimits));
  T value;
  WITAN_DO(readJson(parsed, value, row.key));
  return value;
}
// Asked before anything is kept that somebody else or a person has made: what cannot be read back is not written.
template <class T>
Status mayKeep(const T& value) {
  const auto read = fromRow<T>({"it", toJson(value)});
  return read.ok() ? okStatus() : invalid("it cannot be kept: " + read.error().message);
}

inline Letter answerTo(const Letter& letter, json::object body) {
  return {letter.to, letter.from, letter.id, "answer", std::move(body)};
}

// A text of a letter's or an answer's body; empty: it is not there, or no text.
std::string textOf(const json::object& body, std::string_view member);
// A number of it; none: it is not there, or none below 2^63.
std::optional<std::int64_t> numberOf(const json::object& body, std::string_view member);

// ---- limits that each desk keeps to, whatever its partner does

inline constexpr std::size_t kMostLetterBytes = 2 << 20;           // of each kind but evidence
inline constexpr std::size_t kMostReasonBytes = 200;               // of what a partner says to people
inline constexpr std::size_t kCallsOfAView = 128;                  // that one question names
inline constexpr std::int64_t kMostMoney = 1'000'000'000'000'000;  // of a contract and of a call

// The one place that says how large a partner's letter may be. Of an answer, texts are cut to what people read of
// them; why a letter is refused, or nothing.
std::string trim(Letter& letter);
// To a letter that is refused.
Letter refusalOf(const Letter& letter, const std::string& why);

inline constexpr std::size_t kMostCallBytes = 100;         // so that CONTRACT/CALL/STEP/N is an id
inline constexpr std::size_t kMostInputBytes = 256 << 10;  // of the disclosures of an order, each of kTextMax
inline constexpr std::int64_t kMostSeconds = 315'360'000;  // ten years: for deliveries and disputes
inline constexpr std::int64_t kLeastWindowSeconds = 10;    // in which a buyer can find out what was delivered

// Why no organisation, contract or call (`what`) can be named so; empty: it can. Names stand in ids, as names of files
// and on command lines.
std::string nameFlaw(std::string_view what, std::string_view name);
inline std::string callNameFlaw(std::string_view call) { return nameFlaw("a call's name", call); }
// Why nobody should sign or hold money for such times; empty: they will do.
std::string timesFlaw(Natural deliverWithinSeconds, Natural disputeWindowSeconds);
// Why nobody should sign such a contract or hold money for it at `now`; empty: it will do.
std::string termsFlaw(const Contract& contract, Moment now);
// Why these are no disclosures of an order; empty: they are.
std::string disclosuresFlaw(const std::vector<std::string>& disclosures);
// The members that are disclosed. Requires: no flaw.
json::object membersOf(const std::vector<std::string>& disclosures);

std::string externalId(std::string_view contract, std::string_view call);
// CONTRACT/CALL of the id of a letter about a call: CONTRACT/CALL/STEP.
std::string externalIdOf(std::string_view letterId);
// After `attempt` refusals, each of which stands under its own id.
std::string stepId(std::string_view externalId, std::string_view step, std::uint64_t attempt);

// When something is tried again: after 1 s, then doubling, at most each minute or `most`; at once if the clock was set
// back since.
class Retry {
 public:
  bool due(Moment now) const { return now >= next_ || now < last_; }
  void tried(Moment now, std::int64_t most = 60);
  void reset() { *this = {}; }
  // The other side has come back: it is tried at once, and the time to wait goes on from where it was.
  void hurry() { next_ = {}; }

 private:
  Moment last_, next_;
  unsigned tries_ = 0;
};

// What one organisation may ask of another.
inline constexpr int kRequestsPerSecond = 20;
inline constexpr std::size_t kOpenCalls = 1'000;
inline constexpr std::size_t kUnpaidContracts = 64;  // of one buyer at a holder, without a deposit and not expired

// What is sent to one organisation in a second, so that none has to say that it is busy, or takes it for a flood.
class Pacing {
 public:
  bool permits(const Letter& letter, Moment now);

 private:
  struct Sent {
    Moment second;
    int views = 0, others = 0;
  };
  std::map<std::string, Sent> sent_;
};

class Allowance {
 public:
  // Whether this request is within the rate. The first one of a minute that is not makes an incident.
  bool admits(const std::string& org, Moment now, Out& out);
  // Whether this is told now: once a minute, however often somebody lies.
  bool tells(const std::string& what, Moment now);

 private:
  struct Count {
    Moment second;
    int requests = 0;
  };
  std::map<std::string, Count> counts_;
  std::map<std::string, Moment> told_;
};

}  // namespace witan::market

template <>
struct witan::JsonCodec<witan::market::LongText> : witan::JsonCodec<std::string> {
  static witan::Status read(const witan::json::value& v, witan::market::LongText& out, std::string_view where);
};
