#include "node/api/inbox_watch.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace witan::node::api {

namespace {

constexpr std::int64_t kInboxLookMs = 1'000, kInboxSoonMs = 50;
constexpr std::size_t kMostOnTheWay = 512 * 1024;  // to one reader; less than a connection holds for it
constexpr std::size_t kMostItemBytes = 256 * 1024;
constexpr std::size_t kPart = 200;     // of what a reader is told at its beginning
constexpr std::size_t kCompared = 20;  // of those that wait for long

std::string textOf(const InboxItem& item) {
  InboxChange change;
  change.item = item;
  std::string text = toJson(change);
  if (text.size() <= kMostItemBytes) return text;
  change.item->detail = nullptr;  // the list has it
  return toJson(change);
}

// What a commit would write has the time of the moment in it.
std::uint64_t fingerprintOf(InboxItem item) {
  if (item.kind == InboxKind::proposal)
    for (InboxChoice& choice : item.choices) choice.effect.clear();
  return std::hash<std::string>()(toJson(item));
}

}  // namespace

void InboxWatch::add(std::shared_ptr<net::HttpStream> stream) {
  stream->onGone([self = shared_from_this()] {});
  readers_.push_back({std::move(stream)});
  if (!looking_) lookLater(0);
}

void InboxWatch::lookLater(std::int64_t ms) {
  daemon_.later(ms, [self = weak_from_this(), turn = ++turn_] {
    const auto watch = self.lock();
    if (watch && watch->turn_ == turn && !watch->looking_) watch->look();
  });
}

void InboxWatch::look() {
  readers_.remove_if([](const Reader& reader) { return !reader.stream->open(); });
  if (readers_.empty()) return;
  looking_ = true;
  InboxRequest request;
  request.limit = 0;
  chooseItems(daemon_, request, [self = shared_from_this()](const auto& listing) {
    if (!listing.ok()) return self->fail();
    const auto index = self->daemon_.inbox();
    if (!index.ok()) return self->fail();
    self->compare(**listing, **index);
    self->choose(**listing);
    showItems(self->daemon_, self->claims_, *listing, [self, places = (*listing)->places](const Result<Inbox>& inbox) {
      if (!inbox.ok()) return self->fail();
      self->tellItems(*inbox, places);
      self->looking_ = false;
      const bool more = !self->fresh_.empty() ||
                        std::ranges::any_of(self->readers_, [](const Reader& reader) { return !reader.whole; });
      self->lookLater(more ? kInboxSoonMs : kInboxLookMs);
    });
  });
}

// They come again, and are told why.
void InboxWatch::fail() {
  for (const Reader& reader : std::exchange(readers_, {})) reader.stream->close();
  looking_ = false;
}

// What has come and gone since the last look. O(items).
void InboxWatch::compare(const Listing& listing, const InboxIndex& index) {
  std::set<std::string> came;
  std::vector<InboxPlace> left;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    const std::set<InboxPlace>& now = listing.of(static_cast<InboxKind>(i), index);
    std::vector<InboxPlace> come, gone;
    std::set_difference(now.begin(), now.end(), known_[i].begin(), known_[i].end(), std::back_inserter(come));
    std::set_difference(known_[i].begin(), known_[i].end(), now.begin(), now.end(), std::back_inserter(gone));
    for (InboxPlace& place : gone) known_[i].erase(place), fresh_.erase(place), left.push_back(std::move(place));
    for (InboxPlace& place : come) came.insert(place.id), fresh_.insert(place), known_[i].insert(std::move(place));
  }
  for (const InboxPlace& place : left) {
    told_.erase(place.id);
    if (came.contains(place.id)) continue;  // it has another time now
    InboxChange change;
    change.gone = place.id;
    const std::string text = toJson(change);
    for (Reader& reader : readers_) tell(reader, text);
  }
  InboxChange beginning;
  beginning.waiting = listing.waiting;
  for (Reader& reader : readers_)
    if (!reader.begun && reader.stream->waiting() == 0) reader.begun = true, tell(reader, toJson(beginning));
}

// What this look tells: what is fresh, the next part of readers that have not been told all, and some of the others.
void InboxWatch::choose(Listing& listing) {
  std::set<InboxPlace> chosen;
  for (std::size_t n = 0; n < kPart && !fresh_.empty(); ++n) chosen.insert(fresh_.extract(fresh_.begin()).value());
  const auto add = [&](std::optional<InboxPlace> from, std::size_t most) {
    for (std::size_t n = 0; n < most; ++n) {
      const InboxPlace* next = behind(from);
      if (next == nullptr) return std::optional<InboxPlace>();
      chosen.insert(*next);
      from = *next;
    }
    return from;
  };
  for (const Reader& reader : readers_)
    if (reader.begun && !reader.whole) add(reader.upTo, kPart);
  looked_ = add(looked_, kCompared);
  listing.places.assign(chosen.begin(), chosen.end());
}

void InboxWatch::tellItems(const Inbox& inbox, const std::vector<InboxPlace>& places) {
  std::map<std::string, std::string> texts;
  std::set<std::string> changed;
  for (const InboxItem& item : inbox.items) {
    texts[item.id] = textOf(item);
    const std::uint64_t print = fingerprintOf(item);
    if (std::exchange(told_[item.id], print) != print) changed.insert(item.id);
  }
  for (const InboxPlace& place : places)
    for (Reader& reader : readers_)
      if (changed.contains(place.id) && (reader.whole || (reader.upTo && !(*reader.upTo < place))))
        tell(reader, texts.at(place.id));
  for (Reader& reader : readers_) {
    if (!reader.begun || reader.whole) continue;
    const InboxPlace* next = behind(reader.upTo);
    for (; next != nullptr && std::ranges::binary_search(places, *next, std::less<>()); next = behind(reader.upTo)) {
      const auto text = texts.find(next->id);
      if (text != texts.end() && !fits(reader, text->second)) break;
      if (text != texts.end()) tell(reader, text->second);
      reader.upTo = *next;
    }
    reader.whole = next == nullptr;
  }
}

bool InboxWatch::fits(const Reader& reader, const std::string& text) {
  return reader.stream->waiting() + text.size() <= kMostOnTheWay;
}

// One that takes too little begins anew when it has taken all.
void InboxWatch::tell(Reader& reader, const std::string& text) {
  if (!reader.begun) return;
  if (fits(reader, text))
    reader.stream->send("inbox", text);
  else
    reader.begun = reader.whole = false, reader.upTo.reset();
}

const InboxPlace* InboxWatch::behind(const std::optional<InboxPlace>& place) const {
  const InboxPlace* first = nullptr;
  for (const std::set<InboxPlace>& places : known_) {
    const auto at = place ? places.upper_bound(*place) : places.begin();
    if (at != places.end() && (first == nullptr || *at < *first)) first = &*at;
  }
  return first;
}

}  // namespace witan::node::api
