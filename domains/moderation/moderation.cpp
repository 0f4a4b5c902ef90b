#include "domains/moderation/moderation.h"

#include "domains/registry.h"
#include "kernel/typed_module.h"

WITAN_DEFINE_DOMAIN(moderation, moderation::Moderation)
