#include "replication/writer.h"

#include <gtest/gtest.h>

namespace witan::replication::writer_test {
namespace {

TEST(Writer, NameAndDeviceBelongTogether) {
  EXPECT_EQ(writerName("phone", 0x0a1b2c3d), "phone@0a1b2c3d");
  EXPECT_EQ(writerName("phone", 0), "phone@00000000");
  EXPECT_EQ(deviceOf("phone@0a1b2c3d"), "phone");
  const std::string longest(kMaxDeviceIdBytes, 'd');
  EXPECT_TRUE(validateWriter("writer", writerName(longest, 0xffffffff)).ok());
  EXPECT_EQ(deviceOf(writerName(longest, 7)), longest);
}

// Tests, tools and imports name hosts as they like.
TEST(Writer, AForeignNameIsItsOwnDevice) {
  for (const char* name : {"A", "host-1", "phone@0A1B2C3D", "phone@123", "phone@0a1b2c3g", "a@b", ""})
    EXPECT_EQ(deviceOf(name), name);
  EXPECT_TRUE(validateWriter("writer", "host-1").ok());
}

TEST(Writer, ErrorsNameTheCause) {
  const auto message = [](const Status& status) { return status.ok() ? std::string("ok") : status.error().message; };
  EXPECT_EQ(message(validateDeviceId("device", "a@b")), "device \"a@b\" has an '@'");
  EXPECT_EQ(message(validateDeviceId("device", "")), "device is empty");
  EXPECT_NE(message(validateDeviceId("device", "a b")), "ok");
  EXPECT_NE(message(validateDeviceId("device", std::string(kMaxDeviceIdBytes + 1, 'd'))).find("248"),
            std::string::npos);
  EXPECT_EQ(message(validateWriter("writer", "a@b")), "writer \"a@b\" is no writer");
  EXPECT_EQ(message(validateWriter("writer", "a@b@00000001")), "writer \"a@b@00000001\" is no writer");
  EXPECT_EQ(message(validateWriter("writer", "@00000001")), "writer \"@00000001\" names no device before the '@'");
}

}  // namespace
}  // namespace witan::replication::writer_test
