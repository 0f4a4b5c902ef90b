#include "sim/trace_format.h"

#include "base/bytes.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "kernel/proposal_message.h"
#include "sim/duration.h"

namespace witan::sim {

namespace {

using node::AdjudicationFrame;

constexpr std::size_t kMostText = 240;
constexpr std::size_t kMostFrames = 8;  // frames told of one chunk
constexpr std::string_view kSyncFrames[] = {"",      "hello",  "writers",    "segment", "ack",
                                            "retry", "ranges", "range list", "need",    "items",
                                            "acks",  "bye",    "spaces",     "tree",    "live"};
constexpr std::string_view kAdjudicationFrames[] = {"request",  "answer",  "standing", "entries",
                                                    "followed", "askPast", "past",     "askFolded",
                                                    "folded",   "askBase", "base"};

// A name from outside may be anything.
std::string plain(std::string_view text) {
  const auto odd = [](char c) { return c < '!' || c > '~'; };
  return text.size() > 80 || std::ranges::any_of(text, odd) ? inQuotes(text) : std::string(text);
}

template <class T, class Words>
std::string read(std::string_view message, std::string_view name, Words words) {
  T value;
  const Status status = readMessage(message, value, "frame");
  return concat(name, status.ok() ? " " + words(value) : " (unreadable)");
}

std::string adjudication(AdjudicationFrame type, std::string_view name, std::string_view message) {
  switch (type) {
    case AdjudicationFrame::request:
      return read<node::Request>(message, name, [](const node::Request& m) {
        return concat(plain(m.operationId), " (", enumName(m.kind), " ", plain(m.entity), ")");
      });
    case AdjudicationFrame::answer:
      return read<node::Answer>(message, name, [](const node::Answer& m) {
        const std::string said(m.kind == node::AnswerKind::decided ? enumName(m.outcome) : enumName(m.kind));
        return plain(m.operationId) + " " + said + (m.seq > 0 ? concat(" as entry ", m.seq) : "");
      });
    case AdjudicationFrame::standing:
      return read<node::PeerAdvertisement>(message, name, [](const node::PeerAdvertisement& m) {
        return concat("of ", m.claims.size(), " claims, ", m.positions.size(), " positions");
      });
    case AdjudicationFrame::entries:
      return read<node::Entries>(message, name, [](const node::Entries& m) {
        return concat(plain(m.partition), " batch ", m.batch, " of epoch ", m.epochNumber);
      });
    case AdjudicationFrame::followed:
      return read<node::Followed>(message, name, [](const node::Followed& m) {
        return concat(plain(m.partition), " up to batch ", m.batches);
      });
    case AdjudicationFrame::askPast:
      return read<node::AskPast>(message, name, [](const node::AskPast& m) {
        return concat(plain(m.partition), " batches ", m.from, " to ", m.to);
      });
    case AdjudicationFrame::past:
      return read<node::Past>(message, name, [](const node::Past& m) {
        return concat(plain(m.partition), " ", m.batches.size(), " batches from ", m.from, " on");
      });
    case AdjudicationFrame::askFolded:
      return read<node::AskFolded>(message, name, [](const node::AskFolded& m) {
        return concat(plain(m.partition), " after ", m.least, " batches or more");
      });
    case AdjudicationFrame::folded:
      return read<node::Folded>(message, name, [](const node::Folded& m) { return plain(m.partition); });
    case AdjudicationFrame::askBase:
      return read<node::AskBase>(message, name, [](const node::AskBase& m) {
        return concat(plain(m.partition), " of ", m.batches, " batches");
      });
    case AdjudicationFrame::base:
      return read<node::Base>(message, name, [](const node::Base& m) {
        return concat(plain(m.partition), " of ", m.batches, " batches, ", m.rows.size(), " rows");
      });
  }
  return {};
}

std::string oneFrame(std::string_view frame) {
  const auto header = readFrameHeader(frame, node::kMaxAdjudicationFrame);
  if (!header || header->length != frame.size() - kFrameHeaderBytes) return "no frame";
  const std::string_view name = frameName(header->type);
  if (name.empty()) return concat("a frame of the unknown type ", unsigned{header->type});
  if (header->type < node::kFirstAdjudicationFrame) return std::string(name);
  return adjudication(static_cast<AdjudicationFrame>(header->type), name, frame.substr(kFrameHeaderBytes));
}

std::string deviceWord(std::uint32_t index) { return concat("device-", index); }

// The side of a split that is named by bits.
std::string side(std::uint64_t bits) {
  std::string out;
  for (std::uint32_t i = 0; i < 64; ++i)
    if ((bits >> i & 1) != 0) out += (out.empty() ? "" : " ") + deviceWord(i);
  return out;
}

std::string cut(std::string_view text) {
  const std::string_view start = clip(text, kMostText);
  return concat(start, start.size() < text.size() ? "..." : "");
}

// Of a digest as much as tells two apart.
std::string shortHex(std::string_view bytes) { return toHex(asBytes(bytes)).substr(0, 8); }

std::string runWords(std::string_view run, std::string_view plan) {
  return run.empty() ? std::string() : ", run " + shortHex(run) + " by plan " + shortHex(plan);
}

std::string witness(std::string_view invariant, std::string_view message) {
  if (invariant.empty()) return message.empty() ? std::string() : ": " + cut(message);
  return concat(" by ", invariant, ", \"", cut(message), "\"");
}

}  // namespace

std::string_view frameName(std::uint8_t type) {
  if (type < std::size(kSyncFrames)) return kSyncFrames[type];
  const std::size_t place = type - std::size_t{node::kFirstAdjudicationFrame};
  return type >= node::kFirstAdjudicationFrame && place < std::size(kAdjudicationFrames) ? kAdjudicationFrames[place]
                                                                                         : "";
}

std::string frameWords(std::string_view frames) {
  std::string out;
  std::size_t told = 0;
  const std::string_view rest = forEachFrame(frames, [&](std::string_view frame) {
    if (told++ < kMostFrames) out += (out.empty() ? "" : "; ") + oneFrame(frame);
  });
  if (told > kMostFrames) out += concat("; and ", told - kMostFrames, " more");
  if (!rest.empty()) out += out.empty() ? "no frame" : "; a piece of a frame";
  return concat(out, ", ", frames.size(), " bytes");
}

std::string faultWords(const Event& fault) {
  switch (fault.kind) {
    case EventKind::cut:
    case EventKind::flap:
    case EventKind::clog: return deviceWord(fault.device) + " | " + deviceWord(fault.other);
    case EventKind::oneWayCut:
    case EventKind::hostile: return deviceWord(fault.device) + " -> " + deviceWord(fault.other);
    case EventKind::split: return side(fault.n) + " | the others";
    case EventKind::isolate:
    case EventKind::offline: return deviceWord(fault.device) + " | everybody else";
    case EventKind::clockJump:
      return (fault.m == 1 ? "back by " : "on by ") +
             formatDuration(static_cast<Micros>(fault.n % 400'000'000'000'000) * 1'000 % 400'000'000'000'000'000);
    case EventKind::sagaCrash: return concat("at one of the next writes of store ", fault.m % 2);
    case EventKind::writeCrash:
    case EventKind::ioError: return concat("at one of the next writes of store ", fault.m % 3);
    case EventKind::retire: return deviceWord(fault.other);
    default: return {};
  }
}

std::string actionText(const kernel::DomainModule& module, const node::Request& request) {
  kernel::ProposalMessage message{.actionType = request.actionType, .action = request.action};
  auto action = kernel::actionOf(module, message);
  std::string text;
  if (action) module.writeAction(text, **action);
  return text;
}

std::string formatRequest(const node::Request& request, const kernel::DomainModule* module) {
  std::string words = request.operationId + " " + request.entity + ": ";
  switch (request.kind) {
    case node::RequestKind::init: return words + cut(request.text.empty() ? "{}" : request.text);
    case node::RequestKind::propose: {
      const std::string action = module == nullptr ? std::string() : actionText(*module, request);
      words += request.role + " " + (action.empty() ? "no action of the domain" : cut(action));
      return request.runKey == Hash{} ? words : words + runWords(asView(request.runKey), asView(request.planDigest));
    }
    default: break;
  }
  words += request.counselor;
  if (request.escalation != 0) words += concat(" about entry ", request.escalation);
  if (request.kind == node::RequestKind::commit && !request.text.empty()) words += " " + cut(request.text);
  return words + ", \"" + cut(request.reason) + "\"";
}

std::string formatEntry(const kernel::Entry& entry) {
  std::string words = concat("entry ", entry.seq, ", ", entry.operationId, " ", entry.entity, ": ", enumName(entry.tag),
                             witness(entry.invariant, entry.message), "; ");
  if (entry.counselor.empty())
    words += entry.role + " " + cut(entry.action) + runWords(asView(entry.runKey), asView(entry.planDigest));
  else
    words += concat(entry.counselor, " about entry ", entry.escalation,
                    entry.reason.empty() ? "" : ", \"" + cut(entry.reason) + "\"");
  if (entry.tag == kernel::Tag::cCommitted) words += entry.findings.empty() ? ", safe" : ", unsafe";
  return words + " at " + formatTime(entry.time);
}

std::string answerWords(const node::Answer& answer) {
  std::string words = answer.operationId + ": ";
  words += answer.kind == node::AnswerKind::decided ? enumName(answer.outcome) : enumName(answer.kind);
  if (answer.outcome == kernel::Outcome::duplicate) words += concat(" of ", enumName(answer.recorded));
  words += witness(answer.invariant, answer.message);
  return answer.seq == 0 ? words : concat(words, " (entry ", answer.seq, ")");
}

}  // namespace witan::sim
