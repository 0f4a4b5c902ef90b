// journal-summariser: keeps one digest a day of the notes in the journal: how many, and how each begins.
//
// It wakes on notes and rewrites the digest of the day it is; "more" says that there were too many to be read at once.
// A note is any entry of type "note"; its text is the payload itself, or the payload's "text" or "title".
#include "agents/builtin/builtin.h"
#include "agents/entry_agent.h"
#include "base/time.h"
#include "base/utf8.h"

namespace witan::agents {

namespace {

constexpr std::size_t kMostLines = 50;
constexpr std::size_t kLineBytes = 80;
constexpr std::string_view kFolder = "digest/";

// The first line of a text, cut at a character's edge.
std::string firstLine(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  const std::string_view head = clip(text, kLineBytes);
  return concat(head, head.size() < text.size() ? "..." : "");
}

std::string lineOf(const json::value& payload) {
  if (payload.is_string()) return firstLine(payload.get_string());
  if (payload.is_object())
    for (const char* member : {"title", "text"})
      if (const json::value* text = payload.get_object().if_contains(member); text != nullptr && text->is_string())
        return firstLine(text->get_string());
  return firstLine(canonicalJson(payload));
}

class JournalSummariser final : public Agent {
 public:
  const AgentSpec& spec() const override {
    static const AgentSpec kSpec{
        .id = "journal-summariser",
        .version = "1",
        .what = "keeps a digest of each day's notes",
        .category = "journal",
        .subscriptions = {onEntries("note")},
        .capabilities = {{"journal.list"}, {"journal.put", 1, {"digest/"}, {}}},
        .settles = true,
    };
    return kSpec;
  }

  Turn step(const json::value& sigma, const Input& input) const override {
    if (input.kind == InputKind::wake) return onWake(input.content);
    if (input.kind == InputKind::observation) return onNotes(sigma, input.content);
    return {nullptr, {}, Finish{"the digest is up to date", {}, {}, {}, false}};
  }

 private:
  static Turn onWake(const json::value& wake) {
    std::string day = formatDate(dateOf(Time{integerOf(wake, "nowMs").value_or(0) * 1000}));
    const json::value* conflict = wake.is_object() ? wake.get_object().if_contains("conflict") : nullptr;
    if (conflict != nullptr && conflict->is_object())  // a digest was made on several devices at once: anew
      day = stringOf(conflict->get_object(), "id").substr(kFolder.size());
    return {json::object{{"day", day}}, {}, Looks{{"journal.list", {{"type", "note"}, {"day", day}}, 0}}};
  }

  static Turn onNotes(const json::value& sigma, const json::value& seen) {
    const json::array* notes = entriesIn(seen, 0);
    const std::string day(sigma.is_object() ? stringOf(sigma.get_object(), "day") : std::string_view());
    if (notes == nullptr || day.empty()) return {nullptr, {}, Finish{"the notes could not be read", {}, {}, {}, true}};
    json::array lines;
    for (const json::value& note : *notes)
      if (lines.size() < kMostLines && note.is_object() && note.get_object().contains("payload"))
        lines.emplace_back(lineOf(note.get_object().at("payload")));
    json::object digest{{"day", day}, {"notes", notes->size()}, {"lines", std::move(lines)}};
    if (moreIn(seen, 0)) digest["more"] = true;
    return {nullptr,
            {},
            Actions{action("journal.put", {{"id", "digest/" + day}, {"type", "digest"}, {"payload", std::move(digest)}},
                           {"digest/" + day})}};
  }
};

}  // namespace

const Agent& journalSummariser() {
  static const JournalSummariser agent;
  return agent;
}

}  // namespace witan::agents
