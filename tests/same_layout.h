// A struct and the Cap'n Proto schema that it stands for are two lists. This holds one against the other as the
// compiler laid it out: every member by name, place and size, none missing on either side.
#pragma once

#include <capnp/schema.h>
#include <gtest/gtest.h>

#include "base/capnp_codec.h"

namespace witan::layout {

inline int sizeOf(const capnp::Type& type) {
  if (type.isBool()) return 0;
  if (type.isUInt8() || type.isInt8()) return 3;
  if (type.isUInt16() || type.isInt16() || type.isEnum()) return 4;
  if (type.isUInt32() || type.isInt32()) return 5;
  if (type.isUInt64() || type.isInt64()) return 6;
  return kPointer;
}

template <class Wire, class Ours>
void expectSameLayout() {
  const capnp::StructSchema schema = capnp::Schema::from<Wire>();
  static constexpr auto layout = capnpLayout<Ours>();
  SCOPED_TRACE(schema.getShortDisplayName().cStr());
  EXPECT_EQ(schema.getProto().getStruct().getDataWordCount(), layout.dataWords);
  EXPECT_EQ(schema.getProto().getStruct().getPointerCount(), layout.pointers);
  ASSERT_EQ(schema.getFields().size(), memberCount<Ours>);
  forEachMember<Ours>([&](auto member, auto index) {
    const capnp::StructSchema::Field field = schema.getFields()[static_cast<unsigned>(decltype(index)::value)];
    EXPECT_EQ(std::string_view(field.getProto().getName().cStr()), member.name);
    const auto slot = layout.slots[decltype(index)::value];
    EXPECT_EQ(field.getProto().getSlot().getOffset(), slot.offset) << member.name;
    EXPECT_EQ(sizeOf(field.getType()), slot.size) << member.name;
  });
}

}  // namespace witan::layout
