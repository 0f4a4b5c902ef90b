// JSON Schemas of reflected structs.
#include "base/message.h"

#include <gtest/gtest.h>

namespace witan::json_schema_test {
namespace {

WITAN_ENUM(Size, small, large)

WITAN_STRUCT(Part, (std::string, name, "Name of the part", 1), (Omittable<std::uint64_t>, count, "How many"),
             (std::optional<Date>, day, "Day of delivery"))

struct Whole {
  std::vector<Part> parts;
  Size size = Size::small;
  std::map<std::string, std::int64_t> prices;
  WITAN_MEMBERS(Whole, parts, size, prices)
};

TEST(JsonSchema, DescribesMembersAndRefersToNamedStructs) {
  JsonSchemas schemas;
  EXPECT_EQ(canonicalJson(schemas.of<Whole>(JsonSchemas::Unknown::refused)),
            R"({"additionalProperties":false,"properties":{"parts":{"items":{"$ref":"#/components/schemas/Part"},)"
            R"("type":"array"},"prices":{"additionalProperties":{"format":"int64","type":"integer"},"type":"object"},)"
            R"("size":{"enum":["small","large"],"type":"string"}},"required":["parts","size","prices"],)"
            R"("type":"object"})");
  EXPECT_EQ(canonicalJson(schemas.take().at("Part")),
            R"({"additionalProperties":false,"properties":{"count":{"description":"How many","minimum":0,)"
            R"("type":"integer"},"day":{"anyOf":[{"format":"date","type":"string"},{"type":"null"}],)"
            R"("description":"Day of delivery"},"name":{"description":"Name of the part","minLength":1,)"
            R"("type":"string"}},"required":["name","day"],"type":"object"})");
}

TEST(JsonSchema, ATextThatIsTooShortIsRefusedWithItsPlace) {
  EXPECT_TRUE(checkNotes(Part{"x", {}, {}}, "part").ok());
  EXPECT_EQ(checkNotes(Part{}, "part").error().message, "part.name: must not be empty");
}

}  // namespace
}  // namespace witan::json_schema_test
