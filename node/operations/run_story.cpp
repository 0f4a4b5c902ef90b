#include "node/operations/run_story.h"

#include <set>

#include "agents/episode/transcript.h"
#include "agents/json_members.h"
#include "replication/writer.h"

namespace witan::node::operations {

using namespace replication;
using agents::stringOf;
using agents::episode::EntryKind;

Result<RunStory> runStory(Space& records, const RunKey& key, const WakeRunView& view, const PlanView& plans,
                          const std::string& ownDevice) {
  RunStory story;
  std::set<std::string> devices;
  if (view.run) devices.emplace(deviceOf(view.run->dot.host));
  if (plans.winner) devices.emplace(deviceOf(plans.winner->dot.host));
  devices.insert(ownDevice);
  for (const std::string& device : devices) {
    WITAN_TRY(rows, agents::episode::readTranscript(records, key, device));
    if (rows.empty()) continue;
    story.device = device;
    for (const agents::episode::TranscriptRow& row : rows) {
      const auto entry = agents::episode::parseEntry(row.message.content);
      if (!entry.ok()) break;
      const std::string span(stringOf(entry->body, "span"));
      if (entry->kind == EntryKind::begin) story.beginning = entry->body;
      if (entry->kind == EntryKind::look) story.looks.push_back(entry->body);
      if (entry->kind == EntryKind::observation)
        for (json::object& look : story.looks)
          if (stringOf(look, "span") == span) look["answer"] = entry->body;
      if (entry->kind == EntryKind::intended) story.intended.insert_or_assign(span, entry->body);
    }
    break;
  }
  return story;
}

}  // namespace witan::node::operations
