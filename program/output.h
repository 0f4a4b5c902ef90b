// Where a command's data and words go: the process's own streams.
//
// Names, texts and messages come from other devices and from files, and a terminal obeys some of their bytes. So what
// people read goes through forTerminal(): words by putWords() and putErr(), which also leave JSON what it says.
#pragma once

#include <string>
#include <string_view>

namespace witan::node {

// Controls but line ends and tabs, directions of writing (U+202A to U+202E, U+2066 to U+2069) and bytes that are no
// UTF-8 become \u00XX or \uXXXX; everything else stays. Any thread.
std::string forTerminal(std::string_view text);
// Words of somebody else within a line of ours: their line ends and tabs become \n and \t, so that they write no line
// of their own.
std::string oneLine(std::string_view text);

// Data, byte by byte.
void putOut(std::string_view text);
void putWords(std::string_view text);
void putErr(std::string_view text);

}  // namespace witan::node
