#include "sim/event_info.h"

#include "base/check.h"
#include "sim/duration.h"

namespace witan::sim {

namespace {

constexpr EventInfo kEvents[] = {
    {EventKind::agentWrite, "changes one slot of agent n's state", "n, m"},
    {EventKind::journalEdit, "edits journal entity n", "n"},
    {EventKind::message, "says something in the name of agent n", "n"},
    {EventKind::batch, "an edit together with a notification batch", "n, m"},
    {EventKind::record, "a summary, a wake run or a link, by n", "n"},
    {EventKind::removal, "removes agent n's state", "n"},
    {EventKind::scopedWrite, "writes into private scope n, if the device may have it", "n"},
    {EventKind::propose, "proposes a plausible act for entity n of domain m", "n, m"},
    {EventKind::repeat, "the n-th last proposal of this device again, under its operation id", "n"},
    {EventKind::misuse, "what a buggy agent would send: the n-th kind of it", "n"},
    {EventKind::decide, "a counselor decides about the n-th pending proposal", "n"},
    {EventKind::request, "an entry that wakes an agent, often with a proposal for entity n of domain m", "n, m"},
    {EventKind::turn, "something said to an agent of this device", ""},
    {EventKind::agentPause, "agent n is paused everywhere; woken again if m is odd", "n, m"},
    {EventKind::confirm, "a person confirms that the clerk may mail, or takes that back if n is odd", "n"},
    {EventKind::cut, "nothing passes between device and other", "other, lasts"},
    {EventKind::oneWayCut, "nothing passes from device to other; the way back is open", "other, lasts"},
    {EventKind::split, "the devices whose bit is set in n (or the list devices) are cut off from the rest", "n, lasts"},
    {EventKind::isolate, "nothing passes between device and anybody", "lasts"},
    {EventKind::flap, "the link to other goes down and up every m milliseconds", "other, m, lasts"},
    {EventKind::clog, "the link to other holds everything back, then lets it through at once", "other, lasts"},
    {EventKind::offline, "as isolate, for hours, days or months", "lasts"},
    {EventKind::crash, "power loss: what was not synced is lost, or some of it", "lasts"},
    {EventKind::writeCrash, "power loss in the middle of one of the next writes of store m", "n, m, lasts"},
    {EventKind::pause, "frozen with all it holds, then goes on as if nothing had happened", "lasts"},
    {EventKind::loseDisk, "power loss, and the disk is gone: it comes back empty", "lasts"},
    {EventKind::restore, "its disk goes back to the copy; if m is 1, or there is none, makes it", "m, lasts, seed"},
    {EventKind::restoreLedgers, "its store of the ledgers alone goes back to the copy; if m is 1, makes it",
     "m, lasts"},
    {EventKind::ioError, "one of the next writes of store m fails, and the device must start again", "n, m"},
    {EventKind::fullDisk, "every write fails", "lasts"},
    {EventKind::slowDisk, "a sync takes a hundred times as long", "lasts"},
    {EventKind::bitRot, "one bit of one stored record of the ledgers flips", "n, seed"},
    {EventKind::clockJump, "its wall clock jumps by n milliseconds; back if m is 1", "n, m"},
    {EventKind::movePartition, "an operator hands partition n of domain m over to other", "other, n, m"},
    {EventKind::seizePartition, "an operator at device takes partition n of domain m", "n, m"},
    {EventKind::retire, "an operator at device retires other", "other"},
    {EventKind::join, "a new device, admitted by device", ""},
    {EventKind::hostile, "device sends other garbage, repeated and cut frames", "other, lasts"},
    {EventKind::sagaCrash, "power loss at one of the next writes of store m (0, 1) while a saga is under way",
     "n, m, lasts"},
    {EventKind::toolOutage, "no tool outside answers the agents of device", "lasts"},
    {EventKind::engineOutage, "n members of etcd are gone", "n, lasts"},
};
static_assert(std::size(kEvents) == enumNames<EventKind>().size());

std::string device(std::uint32_t index) { return "device-" + std::to_string(index); }

// The side of a split that is named by bits.
std::string side(std::uint64_t bits) {
  std::string out;
  for (std::uint32_t i = 0; i < 64; ++i)
    if ((bits >> i & 1) != 0) out += (out.empty() ? "" : " ") + device(i);
  return out;
}

}  // namespace

std::string faultWords(const Event& fault) {
  switch (fault.kind) {
    case EventKind::cut:
    case EventKind::flap:
    case EventKind::clog: return device(fault.device) + " | " + device(fault.other);
    case EventKind::oneWayCut:
    case EventKind::hostile: return device(fault.device) + " -> " + device(fault.other);
    case EventKind::split: return side(fault.n) + " | the others";
    case EventKind::isolate:
    case EventKind::offline: return device(fault.device) + " | everybody else";
    case EventKind::clockJump:
      return (fault.m == 1 ? "back by " : "on by ") +
             formatDuration(static_cast<Micros>(fault.n % 400'000'000'000'000) * 1'000 % 400'000'000'000'000'000);
    case EventKind::sagaCrash: return "at one of the next writes of store " + std::to_string(fault.m % 2);
    case EventKind::writeCrash:
    case EventKind::ioError: return "at one of the next writes of store " + std::to_string(fault.m % 3);
    case EventKind::retire: return device(fault.other);
    default: return {};
  }
}

const EventInfo& eventInfo(EventKind kind) {
  const EventInfo& info = kEvents[static_cast<std::size_t>(kind)];
  WITAN_CHECK(info.kind == kind, "the list is in the order of EventKind");
  return info;
}

}  // namespace witan::sim
