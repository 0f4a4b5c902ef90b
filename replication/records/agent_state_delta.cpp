// Field deltas of an agent's state: bodies taken apart and put together as bytes.
#include <array>

#include "replication/records/agent_state_codec.h"
#include "replication/records/agent_state_layout.h"

namespace witan::replication {

using namespace layout;

namespace {

void skipSlot(DenseReader& in) {
  const unsigned head = in.byte();
  if (head >> kVersionShift == kLongVersion) in.varint();
  if ((head & kHostIsSelf) == 0) in.skipIdText(kMaxIdBytes);
  if ((head & kValueMask) == kIdTextValue) in.skipIdText(kMaxSlotBytes - 2);
  if ((head & kValueMask) == kJsonValue) in.text(kMaxSlotBytes);
}

void skipProcessed(DenseReader& in) {
  const std::uint64_t head = in.count(2 * kMaxClockEntries);
  if ((head & 1) != 0) in.varint();
  for (std::uint64_t i = 0; i < head >> 1 && in.ok(); ++i) {
    in.skipIdText(kMaxIdBytes);
    in.varint();
  }
}

void skipField(DenseReader& in, StateField field) {
  switch (field) {
    case StateField::lifecycle: in.byte(); return;
    case StateField::sleepUntil:
    case StateField::nextWakeAt:
    case StateField::firedThrough:
    case StateField::consecutiveFailures: in.varint(); return;
    case StateField::recentHeadMessageId:
    case StateField::latestSummaryMessageId: return in.skipIdText(kMaxIdBytes);
    case StateField::processedCounters: return skipProcessed(in);
    default: return skipSlot(in);
  }
}

// The fields of a body or of a delta, as they stand in it.
struct Parts {
  std::uint32_t mask = 0;
  std::array<std::string_view, kStateFields> fields;

  bool has(unsigned index) const { return (mask & bitOf(fieldAt(index))) != 0; }
  std::string_view orDefault(unsigned index) const { return has(index) ? fields[index] : defaultBytes(fieldAt(index)); }
};

Status takeApart(std::string_view bytes, Parts& parts, std::string_view name) {
  DenseReader in(bytes);
  parts.mask = readMask(in);
  for (unsigned i = 0; i < kStateFields; ++i) {
    if (!parts.has(i)) continue;
    const std::size_t start = in.position();
    skipField(in, fieldAt(i));
    parts.fields[i] = in.from(start);
  }
  return in.finish(name);
}

}  // namespace

std::uint32_t changedFields(std::string_view before, std::string_view after) {
  Parts a, b;
  if (!takeApart(before, a, kName).ok() || !takeApart(after, b, kName).ok()) return 0;
  std::uint32_t changed = a.mask ^ b.mask;
  for (unsigned i = 0; i < kStateFields; ++i)
    if (a.has(i) && b.has(i) && a.fields[i] != b.fields[i]) changed |= bitOf(fieldAt(i));
  return changed;
}

void appendFieldDelta(std::string& out, std::string_view body, std::uint32_t fields) {
  WITAN_CHECK(fields >> kStateFields == 0, "a delta names fields that exist");
  Parts parts;
  WITAN_CHECK(takeApart(body, parts, kName).ok(), "a delta is taken from a body");
  DenseWriter(out).varint(fields);
  for (unsigned i = 0; i < kStateFields; ++i)
    if ((fields & bitOf(fieldAt(i))) != 0) out += parts.orDefault(i);
}

Result<std::string> applyFieldDelta(std::string_view base, std::string_view delta) {
  Parts old, changes;
  WITAN_DO(takeApart(base, old, "base of an agent state delta"));
  WITAN_DO(takeApart(delta, changes, "agent state delta"));
  Parts result = old;
  for (unsigned i = 0; i < kStateFields; ++i) {
    if (!changes.has(i)) continue;
    const std::uint32_t bit = bitOf(fieldAt(i));
    result.fields[i] = changes.fields[i];
    result.mask = changes.fields[i] == defaultBytes(fieldAt(i)) ? result.mask & ~bit : result.mask | bit;
  }
  std::string body;
  body.reserve(base.size() + delta.size());
  DenseWriter(body).varint(result.mask);
  for (unsigned i = 0; i < kStateFields; ++i)
    if (result.has(i)) body += result.fields[i];
  return body;
}

}  // namespace witan::replication
