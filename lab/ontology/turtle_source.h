// The bytes of a Turtle text on their way to serd, one at a time: how far it has read, how deep brackets are nested,
// and where a token stands. Used by lab/ontology/turtle.cpp only; borrows the text.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "lab/ontology/diagnostic.h"

namespace witan::ontology {

// Counts [ and ( outside of comments, IRIs and strings, as far as the text is Turtle; serd stops where it is not.
class Nesting {
 public:
  void take(char c);
  std::size_t depth() const { return depth_; }

 private:
  enum class In : std::uint8_t { text, comment, iri, string, longString };
  void takeText(char c);
  void takeString(char c);
  In in_ = In::text;
  char quote_ = 0;
  std::size_t quotes_ = 0;  // in a row, where they may open or close a long string
  bool escaped_ = false;
  bool opening_ = false;  // the quotes counted are those that open
  std::size_t depth_ = 0;
};

class TurtleSource {
 public:
  TurtleSource(std::string_view text, std::size_t maxDepth);

  // The next byte; nothing at the end, and nothing more when brackets are nested too deep.
  std::optional<char> next();
  bool tooDeep() const { return nesting_.depth() > maxDepth_; }
  // Bytes handed out. The last one may be one that serd only looked at.
  std::size_t taken() const { return taken_; }

  Place placeOf(std::size_t offset) const;  // O(log lines + length of the line)
  // Where `token` stands last before `end`, whole; looks back a few KiB.
  std::optional<std::size_t> findLast(std::string_view token, std::size_t end) const;

 private:
  std::string_view text_;
  std::size_t maxDepth_;
  std::size_t taken_ = 0;
  Nesting nesting_;
  std::vector<std::size_t> lines_;  // where each begins
};

}  // namespace witan::ontology
