#include "replication/records/wake_run.h"

#include <algorithm>

namespace witan::replication {

namespace {

Result<WakeRunBody> read(const RunKey& runKey, const Version& version) {
  if (version.tombstone) return invalid("a wake run cannot be deleted");
  WITAN_TRY(body, decodeRecord<WakeRunBody>(version.body));
  if (body.runKey != runKey.value) return invalid("it is of the run " + RunKey{body.runKey}.hex());
  return body;
}

}  // namespace

bool isTerminal(WakeStatus status) { return status != WakeStatus::started; }

WakeStatus join(WakeStatus a, WakeStatus b) { return std::max(a, b); }

const WakeRunVersion& join(const WakeRunVersion& a, const WakeRunVersion& b) {
  if (a.body.status != b.body.status) return a.body.status > b.body.status ? a : b;
  return a.dot <= b.dot ? a : b;
}

WakeRunView wakeRunViewOf(const RunKey& runKey, std::span<const Version> versions) {
  WakeRunView view;
  for (const Version* v : versionsByDot(versions)) {
    auto body = read(runKey, *v);
    if (!body.ok()) {
      view.unreadable.push_back({v->dot, body.error().message});
      continue;
    }
    const WakeRunVersion one{v->dot, *std::move(body)};
    view.run = view.run ? join(*view.run, one) : one;
    ++view.attempts;
  }
  return view;
}

Status mayRecord(const WakeRunView& view, const WakeRunBody& next) {
  WITAN_DO(checkRecord(next));
  if (!view.run) return okStatus();
  const WakeRunBody& now = view.run->body;
  if (now.runKey != next.runKey) return invalid("a record of the run " + RunKey{next.runKey}.hex() + " on another run");
  if (!isTerminal(now.status)) return okStatus();
  return Error{ErrorCode::conflict,
               "the run has ended (it is " + std::string(enumName(now.status)) + ", not to become " +
                   std::string(enumName(next.status)) + ")",
               "a run that ended stays as it is"};
}

}  // namespace witan::replication
