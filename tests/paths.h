// Where the tests find the sources and the program. Constants, so that every other object is the same in each checkout
// and a compiler cache can serve several.
#pragma once

namespace witan::tests {

extern const char* const kSourceDir;  // of the checkout, without a slash at its end
extern const char* const kProgram;    // the program witan; the others lie beside it

}  // namespace witan::tests
