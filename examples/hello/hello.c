// A soft ball falls on the floor: from shape to number with the whole library.

#include <sinew/sinew.h>
#include <stdio.h>

int main(void)
{
    snwContextDef contextDef = snwDefaultContextDef();
    snwShapeDef ballDef = snwDefaultShapeDef(snw_shapeBall);
    snwColliderDef floorDef = snwDefaultColliderDef(snw_colliderPlane);
    snwBodyDef bodyDef = snwDefaultBodyDef();
    snwSceneDef sceneDef = snwDefaultSceneDef();
    snwSimDef simDef = snwDefaultSimDef();
    snwContext* context;
    snwSim* sim;
    snwMeasures measures;
    if (snwCreateContext(&contextDef, &context, NULL) || snwCreateShape(context, &ballDef, &bodyDef.character, NULL))
        return 1;
    floorDef.name = "floor";
    bodyDef.name = "ball";
    bodyDef.transform.position.y = 2;
    sceneDef.bodies = &bodyDef;
    sceneDef.bodyCount = 1;
    sceneDef.colliders = &floorDef;
    sceneDef.colliderCount = 1;
    if (snwCreateScene(context, &sceneDef, &simDef.scene, NULL) || snwCreateSim(context, &simDef, &sim, NULL))
        return 1;
    for (int frame = 0; frame < 120 && snwSim_Step(sim, 1.0 / 60, NULL) == snw_ok; ++frame)
        ;
    snwSim_GetMeasures(sim, -1, &measures);
    printf("after %.1f s the ball is %.2f m high\n", snwSim_GetTime(sim), measures.centre.y);
    snwDestroySim(sim);
    snwScene_Release(simDef.scene);
    snwCharacter_Release(bodyDef.character);
    snwDestroyContext(context);
    return 0;
}
