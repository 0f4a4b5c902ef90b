// A footprint in an ontology (seed 000, Def. A.3): a set of indices of fields. Like kernel::FieldMask, but of any size:
// an ontology may be read that no compiled domain could hold. A value; operations are linear in the number of fields.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace witan::ontology {

class FieldSet {
 public:
  void insert(std::size_t i) {
    if (i / 64 >= words_.size()) words_.resize(i / 64 + 1);
    words_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
  bool contains(std::size_t i) const { return (word(i / 64) >> (i % 64) & 1) != 0; }
  std::size_t size() const {
    std::size_t n = 0;
    for (std::uint64_t w : words_) n += static_cast<std::size_t>(std::popcount(w));
    return n;
  }
  bool empty() const { return size() == 0; }
  std::vector<std::size_t> members() const {  // ascending
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < words_.size() * 64; ++i)
      if (contains(i)) all.push_back(i);
    return all;
  }

  friend FieldSet operator|(const FieldSet& a, const FieldSet& b) {
    return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x | y; });
  }
  friend FieldSet operator&(const FieldSet& a, const FieldSet& b) {
    return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x & y; });
  }
  friend FieldSet operator-(const FieldSet& a, const FieldSet& b) {
    return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x & ~y; });
  }
  friend bool operator==(const FieldSet& a, const FieldSet& b) { return (a - b).empty() && (b - a).empty(); }
  // |a n b|, without making the set.
  friend std::size_t shared(const FieldSet& a, const FieldSet& b) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < std::min(a.words_.size(), b.words_.size()); ++i)
      n += static_cast<std::size_t>(std::popcount(a.words_[i] & b.words_[i]));
    return n;
  }
  // What kernel/lint.h asks of a footprint.
  friend bool within(const FieldSet& a, const FieldSet& b) { return (a - b).empty(); }
  friend bool meets(const FieldSet& a, const FieldSet& b) { return shared(a, b) > 0; }

 private:
  std::uint64_t word(std::size_t i) const { return i < words_.size() ? words_[i] : 0; }
  template <class Op>
  static FieldSet combine(const FieldSet& a, const FieldSet& b, Op op) {
    FieldSet out;
    out.words_.resize(std::max(a.words_.size(), b.words_.size()));
    for (std::size_t i = 0; i < out.words_.size(); ++i) out.words_[i] = op(a.word(i), b.word(i));
    return out;
  }
  std::vector<std::uint64_t> words_;
};

}  // namespace witan::ontology
