#include "replication/vector_clock.h"

#include <algorithm>

namespace witan::replication {

namespace {

auto lowerBound(auto& entries, std::string_view host) {
  return std::ranges::lower_bound(entries, host, {}, [](const auto& e) { return std::string_view(e.first); });
}

}  // namespace

const char* toString(CausalOrder order) {
  switch (order) {
    case CausalOrder::equal: return "equal";
    case CausalOrder::before: return "before";
    case CausalOrder::after: return "after";
    case CausalOrder::concurrent: return "concurrent";
  }
  return "?";
}

VectorClock::VectorClock(std::initializer_list<Entry> entries) {
  for (const Entry& e : entries) raise(e.first, e.second);
}

std::uint64_t VectorClock::at(std::string_view host) const {
  const auto at = lowerBound(entries_, host);
  return at != entries_.end() && at->first == host ? at->second : 0;
}

void VectorClock::set(std::string_view host, std::uint64_t counter) {
  if (counter > 0 && (entries_.empty() || entries_.back().first < host)) {
    entries_.emplace_back(host, counter);
    return;
  }
  const auto at = lowerBound(entries_, host);
  const bool there = at != entries_.end() && at->first == host;
  if (counter == 0) {
    if (there) entries_.erase(at);
  } else if (there) {
    at->second = counter;
  } else {
    entries_.insert(at, {std::string(host), counter});
  }
}

void VectorClock::raise(std::string_view host, std::uint64_t counter) {
  if (counter > at(host)) set(host, counter);
}

void VectorClock::join(const VectorClock& other) {
  std::vector<Entry> joined;
  joined.reserve(entries_.size() + other.entries_.size());
  auto a = entries_.begin();
  auto b = other.entries_.begin();
  while (a != entries_.end() || b != other.entries_.end()) {
    if (b == other.entries_.end() || (a != entries_.end() && a->first < b->first)) {
      joined.push_back(std::move(*a++));
    } else if (a == entries_.end() || b->first < a->first) {
      joined.push_back(*b++);
    } else {
      joined.push_back({std::move(a->first), std::max(a->second, b->second)});
      ++a, ++b;
    }
  }
  entries_ = std::move(joined);
}

bool le(const VectorClock& a, const VectorClock& b) {
  auto at = b.entries().begin();
  for (const auto& [host, counter] : a.entries()) {
    while (at != b.entries().end() && at->first < host) ++at;
    if (at == b.entries().end() || at->first != host || at->second < counter) return false;
  }
  return true;
}

bool lt(const VectorClock& a, const VectorClock& b) { return le(a, b) && !le(b, a); }

bool concurrent(const VectorClock& a, const VectorClock& b) { return !le(a, b) && !le(b, a); }

CausalOrder compare(const VectorClock& a, const VectorClock& b) {
  const bool below = le(a, b), above = le(b, a);
  if (below && above) return CausalOrder::equal;
  if (below) return CausalOrder::before;
  return above ? CausalOrder::after : CausalOrder::concurrent;
}

}  // namespace witan::replication
