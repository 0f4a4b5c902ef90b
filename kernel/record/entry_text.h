// Whether a text is an entry as JSON, word for word, without making that text: a verifier compares millions of them.
//
// Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/record/entry.h"

namespace witan::kernel {

// The two forms that this program gives an entry: entryJson(), and the same with its members in order of their names,
// as canonicalJson() gives what a node tells.
enum class EntryForm : std::uint8_t { written, sorted };

// Requires: the entry's own JSON (action, writes, decision, genesis) is canonical.
bool isEntryText(std::string_view text, const EntryView& entry, const std::vector<std::string>& invariantIds,
                 EntryForm form);

}  // namespace witan::kernel
