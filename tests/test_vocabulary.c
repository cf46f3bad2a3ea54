// Words of kinds: each is found again as what it names, nothing else is.

#include "sinew/sinew.h"
#include "test.h"

TEST(vocabulary, kindsAreFoundByTheirNames)
{
    for (int kind = 0; kind < snw_colliderKindCount; ++kind)
        CHECK(snwColliderKind_Find(snwColliderKind_Name((snwColliderKind)kind)) == kind);
    for (int kind = 0; kind < snw_commandKindCount; ++kind)
        CHECK(snwCommandKind_Find(snwCommandKind_Name((snwCommandKind)kind)) == kind);
    for (int type = snw_jointBall; type <= snw_jointFree; ++type)
        CHECK(snwJointType_Find(snwJointType_Name((snwJointType)type)) == type);
    for (int kind = snw_handlePoint; kind <= snw_handleBone; ++kind)
        CHECK(snwHandleKind_Find(snwHandleKind_Name((snwHandleKind)kind)) == kind);

    // What is none has no place, and no memory behind the list is read.
    CHECK(snwColliderKind_Find("?") == -1);
    CHECK(snwCommandKind_Find(NULL) == -1);
    CHECK(strcmp(snwJointType_Name((snwJointType)99), "?") == 0);
    CHECK(strcmp(snwHandleKind_Name((snwHandleKind)-1), "?") == 0);
}
