#!/usr/bin/env bash
# Are the tests able to fail? Plants one-line faults in copies of the committed source, one at a time, and sees the
# test that guards each feature turn red. A fault that changes nothing, or that no test notices, is an error, and so is
# a test that is red without its fault.
#
#   tests/faults.sh [--part K/N] [PATTERN]
#
# --part: every N-th fault, beginning with the K-th; PATTERN: only those whose test it matches, a regular expression,
# like '^rig(fit|flat)\.'. Each core has a copy of its own; all objects but those of the changed files come from ccache.
#
# Each fault: the test that must fail @ the file @ a sed expression that changes one line
set -euo pipefail
cd "$(dirname "$0")/.."
part=1 parts=1
if [ "${1:-}" = --part ]; then
    part=${2%/*} parts=${2#*/}
    shift 2
fi
pattern=${1:-}
workers=${JOBS:-$(nproc)}

faults=(
    'guard.aPushBeyondReasonIsAnErrorWithPlaceAndRemedy@src/sim/guard.c@s/speed <= most \* most \&\& sum < INFINITY/isfinite(speed) \&\& sum < INFINITY/'
    'guard.aPinThatJumpsAKilometreIsAnErrorThatNamesIt@src/sim/guard.c@s/    if (!NameMover(sim, message) /    if (!NameMover(sim, \&(snwMessage){0}) /'
    'guard.aBodyThatStartsUnderTheGroundComesOutCalmly@src/contact/gather.c@s/depthBefore - most)/depthBefore - 1e9 * most)/'
    'guard.aColliderThatJumpsIsSetDownAndPushesNothing@src/sim/sim.c@s/mover->transform = mover->start = mover->target;/;/'
    'guard.aBodyThatIsSwallowedLeavesInOnePiece@src/contact/gather.c@s/    if (!way->there || /    if (way != NULL || /'
    'guard.aStepIsSavedByMoreSubstepsWithTheSameBitsForAnyThreadsAndInAReplay@src/sim/sim.c@s/count << sim->retries, message/count, message/'
    'sim.aStepThatDivergesIsBegunAgainWithMoreSubsteps@src/sim/sim.c@s/        memcpy(sim->block, sim->begun, sim->blockSize);/        memcpy(sim->block, sim->backup, sim->blockSize);/'
    'guard.residualsFallWithIterations@src/sim/apd/apd_tell.c@s/snwSim_SetResidual(sim, i, sqrt(most)/snwSim_SetResidual(sim, i, 1.0/'
    'guard.stiffnessThatIsNotThereIsToldOnceWithItsCount@src/sim/constraints/pair.c@s/        yield += element.volume \/ element.kept;/        yield += element.volume;/'
    'guard.stiffnessThatIsNotThereIsToldOnceWithItsCount@src/sim/guard.c@s/    else if (sim->warningKeys\[at\].last == step)/    else if (true)/'
    'guard.energiesAreThoseOfTheLawThatIsSimulated@src/sim/pbcd/pbcd.c@s/return 15.0 \/ 12.0 \* lame.mu/return 15.0 \/ 6.0 * lame.mu/'
    'guard.energiesAreThoseOfTheLawThatIsSimulated@src/sim/rigpbd/rigpbd.c@s/material.young \*= snwPair_Kept(\&def, element);/material.young *= fmax(1.0, snwPair_Kept(\&def, element));/'
    'cli.warningsAreToldOnceWithTheirCount@src/app/perform.c@s/performance->result == snw_ok \&\& performance->report.doubtful/false/'
    'base.hashSeesEveryBitAndTheLength@src/base/hash.c@s/for (int i = 0; i < 4; ++i)$/for (int i = 0; i < 3; ++i)/'
    'tasks.sumsHaveTheSameBitsForAnyThreads@src/base/tasks.c@s/int smallest = ChunkCount(count, snw_maxSumChunks);/int smallest = ChunkCount(count, context->threadCount);/'
    'tasks.phasesRunInOrderForAnyThreads@src/base/tasks.c@s/RunAlone(&phases\[current++\]);/current++;/'
    'tasks.veryManyChunksKeepTheirBorders@src/base/tasks.c@s/ < each ? chunks : (claim/ < each ? chunks + 1 : (claim/'
    'sweep.coloursFollowEachOtherForAnyThreads@src/sim/constraints/blocks.c@s/int begin = colours->starts\[colour\], end/int begin = colours->starts[colour \& ~1], end/'
    'character.everyFailedAllocationIsAnErrorWithoutLeak@src/base/arena.c@s/        snwFree(arena->context, arena->first);/        if (next != NULL) snwFree(arena->context, arena->first);/'
    'rotation.classInverted@src/math/rotation_lanes.h@s/ & (det \* SNW_MAX_CONDITION > trace3));/ );/'
    'rotation.everyInstructionSetGivesTheSameBits@src/math/rotation_lanes.h@s/    snwWide f = -0.5f \/ det;/    snwWide f = -0.5f \/ det * (1.0f + 1e-7f * (SNW_WIDE_LANES == 8));/'
    'elastic.forcesAndEnergyAreThoseOfTheOracle@src/sim/apd/elastic_kernel.h@s/    snwWide one = v->y1 + k2, /    snwWide one = v->y1 - k2, /'
    'elastic.everyInstructionSetGivesTheSameBits@src/sim/apd/elastic_kernel.h@s/    snwWide inverse = 1.0f \/ (j22/    snwWide inverse = (1.0f + 1e-3f * (SNW_WIDE_LANES == 8)) \/ (j22/'
    'elastic.emptyLanesAddNothing@src/sim/apd/elastic_kernel.h@s/    if (!snwWideInt_Any(l->empty))/    if (1)/'
    'elastic.rigidMotionIsNotDamped@src/sim/apd/elastic_kernel.h@s/        C\[i\] = C\[i\] - start\[i\];/        C[i] = C[i] - 0.999f * start[i];/'
    'elastic.dampingIsThatOfGreenStrains@src/sim/apd/elastic_kernel.h@s/        C\[i\] = 0.5f \* (damping \* C\[i\]);/        C[i] = 0.4f * (damping * C[i]);/'
    'elastic.forcesAndEnergyAreThoseOfTheOracle@src/sim/apd/elastic_kernel.h@s/pressure = bulk \* j - mu;/pressure = bulk * j;/'
    'apd.farFromRestEnergyNeverGrows@src/sim/apd/apd_descent.c@s/    if (energy <= most)/    if (energy <= 2 * most)/'
    'apd.stressStatesRecover@src/sim/apd/apd_descent.c@s/double by = i == 0 ? 0.5 :/double by = i == 0 ? 1.0 :/'
    'gltf.meshoptDirectionsAreThoseOfTheLibrary@src/asset/gltf_buffers.c@s/fold = fmin(z, 0.0);/fold = 0.0;/'
    'elastic.smallStrainHasTheModuliOfTheMaterial@src/sim/apd/elastic.c@s/weight.bulk = 3 \* fmax(lambda, 0)/weight.bulk = fmax(lambda, 0)/'
    'elastic.closestVolumeIsThatOfTheOracle@src/sim/apd/elastic.c@s/    if (below \&\& (!whole || .*/    if (below)/'
    'elastic.metricBoundsTheCurvature@src/sim/apd/elastic.c@s/bulk = 2 \* fmax(weight->bulk, 0);/bulk = fmax(weight->bulk, 0);/'
    'geom.skinIsClosedAndOutward@src/geom/mesh.c@s/{{1, 2, 3, -1}, /{{1, 3, 2, -1}, /'
    'flat.fitWithHolesAndCorners@src/geom/fit_triangles.c@s/        x = right ? most - y : y;/        x = y;/'
    'character.hexesHaveSkinMassAndBones@src/geom/mesh.c@s/{{0, 3, 2, 1}, {4, 5, 6, 7}/{{0, 3, 2, 1}, {4, 7, 6, 5}/'
    'character.refusesBadHexesAndBonesThatTouch@src/sim/character.c@s/if (bone >= 0 \&\& \*owner >= 0 \&\& /if (bone > 0 \&\& *owner > 0 \&\& /'
    'winding.closestPointIsThatOfBruteForce@src/geom/winding.c@s/if (visit.distance2 > best.distance2)/if (2.0 * visit.distance2 > best.distance2)/'
    'winding.fastIsNearExactInAnySoup@src/geom/winding.c@s/s \* 7.5 \* third/s * 75.0 * third/'
    'winding.sphereHasAnInside@src/geom/winding.c@s/snwSoup_Winding(soup, point) > 0.5;/snwSoup_Winding(soup, point) < 0.5;/'
    'skeleton.twoBonesByHand@src/rig/skeleton.c@s/snwTransform_Compose(bones\[parent\], bones\[bone\])/snwTransform_Compose(bones[bone], bones[parent])/'
    'skeleton.velocityIsContinuous@src/rig/skeleton.c@s/    w2 = snwQuat_ToRotationVector(rest);/    w2 = snwVec3_Scale(snwQuat_ToRotationVector(rest), 0.9);/'
    'skeleton.excessOfEveryJointType@src/rig/skeleton.c@s/return fmax(fmax(0.0, swing - joint->cone), Beyond(joint, twist));/return fmax(0.0, swing - joint->cone);/'
    'joints.rowsAreDerivativesInAnyPose@src/rig/joint_angle.c@s/return (snwJointAngle){f \* along, snwVec3_MulAdd(g, slope \* along, m)};/return (snwJointAngle){f * along, snwVec3_MulAdd(g, -slope * along, m)};/'
    'joints.motorsPushAsTheirEnergySays@src/rig/joint_rows.c@s/    pull.toStart = LengthAlong(&m->start, m->joint->axis) - now;/    pull.toStart = 0.9 * (LengthAlong(\&m->start, m->joint->axis) - now);/'
    'joints.closedLoopsClose@src/linalg/active.c@s/^static const double s_yield = 1e-10; /static const double s_yield = 0; /'
    'dense.everythingAgreesWithPlainLoops@src/linalg/dense.c@s/        PackPanel(b + (size_t)row/        PackPanel(b + 0 * (size_t)row/'
    'active.factorsServeAgain@src/linalg/active.c@s/    EliminateRight(&w);/    if (!def->again) EliminateRight(\&w);/'
    'active.randomProblemsAreThoseOfBruteForce@src/linalg/active.c@s/        return w->u\[i\] < 0;/        return false;/'
    'linalg.sparseRightSidesGiveTheSameBits@src/linalg/cholesky_solve.c@s/node >= 0 \&\& !reach\[node\]; node = f->parents\[node\])/node >= 0 \&\& !reach[node]; node = -1)/'
    'apd.energyNeverExceedsItsStart@src/sim/apd/apd_descent.c@s/most = body->startEnergy + /most = body->startEnergy + 1e9 + /'
    'apd.accelerationLowersTheObjectiveOfEveryFrame@src/sim/apd/apd_accelerate.c@s/            x -= loop->theta\[k\]/            x += loop->theta[k]/'
    'apd.pinsAreMetExactly@src/sim/apd/apd.c@s/body->pinned\[v\] ? (snwVec3){0, 0, 0} : r);/r);/'
    'apd.limitsStopTheFall@src/sim/apd/apd_bones.c@s/== snw_rowAtLeast \&\& snwSim_Param/== snw_rowAtLeast || snwSim_Param/'
    'apd.dragGoesItsShareOfTheWay@src/sim/apd/apd_contact.c@s/snwVec3_MulAdd(\*force, grip->parts\[i\].share, grip->pull);/snwVec3_MulAdd(*force, -grip->parts[i].share, grip->pull);/'
    'hands.handlesThatLeaveOthersBehindTakeTheirTime@src/sim/rigpbd/rigpbd_handles.c@s/IsLed(handle) ? work->goals\[i\] : handle->target.position/handle->target.position/'
    'grip.nothingJumpsWhenItIsTaken@src/sim/grip.c@s/        grab->vector = snwVec3_Sub(vertex, middle);/        grab->vector = snwVec3_Sub(vertex, vertex);/'
    'grip.middleOfWhatIsHeldGoesToTheHand@src/sim/grip.c@s/damper = 2.0 \* sqrt(spring \* whole)/damper = -0.1 * sqrt(spring * whole)/'
    'grip.stiffnessDoesNotDependOnTheSubstep@src/sim/constraints/hands.c@s/        if (grip->radius > 0.0f)/        if (grip->radius > 10.0f)/'
    'grip.forceNeverExceedsItsLimit@src/sim/grip.c@s/snwVec3_Scale(pull, grip->most \/ length)/snwVec3_Scale(pull, 2 * grip->most \/ length)/'
    'grip.limitIsThatOfTheFleshThatIsHeld@src/sim/grip.c@s/body->materials\[i\].young;/def->materials[i].young;/'
    'grip.pinnedFleshIsLeftOut@src/sim/constraints/hands.c@s/hands->positions\[at\] > 0.0f ? (double)part->bump/hands->positions[at] >= 0.0f ? (double)part->bump/'
    'grip.flatCharactersStayInTheirPlane@src/sim/grip.c@s/^        way.z = 0.0;/        way.z *= 1.0;/'
    'grip.savedInTheMiddleOfAPullGoesOnAlike@src/sim/grip.c@s/^    if (same)$/    if (same || sim->state->step > 10)/'
    'grip.handsBeyondTheRoomHoldAVertex@src/sim/grip.c@s/    snw_gripsPerVertex = 4,/    snw_gripsPerVertex = 5,/'
    'grip.handsWithoutAWordAreATwelfthOfTheSize@src/sim/command.c@s/(1.0 \/ 12.0)/(1.0 \/ 10.0)/'
    'grip.statesOfNonsenseAreRefused@src/sim/sim_save.c@s/(grab->fresh == 0 || grab->fresh == 1)/true/'
    'grip.pullsDrawNoThorns@src/sim/grip.c@s/0\.3  *\/\/ of E V/30.0 \/\/ of E V/'
    'apd.rigidBlocksComeToRest@src/contact/solve.c@s/        row\[1\] += w \* y;/        row[1] -= w * y;/'
    'apdBaselines.literalMatrixIsOurs@src/sim/apd/apd_literal.c@s/% 3 == other ? arm\[other\] : -arm\[other\];/% 3 == other ? arm[other] : arm[other];/'
    'apdBaselines.splitIsOursWithoutFlesh@src/sim/apd/apd_split.c@s/snwVec3_Sub(affine\[b\], t\[b\]));/(snwVec3){0, 0, 0});/'
    'apdBaselines.splitHoldsJointsAndKeepsBonesRigid@src/sim/apd/apd_split.c@s/^    snwApd_SolveBones(sim, index, h);//'
    'apdBaselines.tangentIsThatOfTheEnergyAndNeverNegative@src/sim/apd/apd_constrained.c@s/, -0.5 \* weight->shear);/, -1e9);/'
    'apdBaselines.stiffBonesLockAndRigidOnesTurn@src/sim/apd/apd_system.c@s/^                material.young \*= model->ratio;//'
    'picture.contoursAreFinerThanPixels@src/geom/contour.c@s/    double t = (field->def->level - 0.5 - a) \/ (b - a);/    double t = b > a ? 0.5 : 0.4;/'
    'picture.smoothRingsStayWithinTheTolerance@src/geom/contour.c@s/ring->count, def->tolerance \/ 2, keep);/ring->count, 8 * def->tolerance, keep);/'
    'picture.aDrawnCharacterComesBackFromItsPicture@src/prepare/flat.c@s/p->centre\[1\] - at\[1\] \/ p->pixel/p->centre[1] + at[1] \/ p->pixel/'
    'picture.islandsAreJoinedOrLeftOutAndHolesKept@src/prepare/flat_outline.c@s/ + i\] = 255;/ + i] = 0;/'
    'picture.handlesSitInTheMiddleAndInTheLimbs@src/prepare/flat_handles.c@s/if (away <= near \&\& /if (away <= 0 * near \&\& /'
    'picture.theSidecarNamesHandlesInPixels@src/prepare/flat.h@s/    point\[1\] = (p->centre\[1\] - pixels\[1\])/    point[1] = (pixels[1] - p->centre[1])/'
    'picture.aClearPortraitKeepsColoursAndOpacity@src/view/image.c@s/Encode(light\[k\] \/ share, 0.5f)/Encode(light[k], 0.5f)/'
    'paper.pathsBecomeACommandPerStep@src/scene/gestures.c@s/snwVec3_Add(x->home, /snwVec3_Add((snwVec3){0, 0, 0}, /'
    'paper.locksShakesAndGravityBecomeCommands@src/scene/gestures.c@s/i % 2 == 0 ? 1 : -1/1/'
    'paper.roughHandsAreRepeatable@src/scene/gestures.c@s/{x->def->seed, x->number, step, axis}/{0, x->number, step, axis}/'
    'paper.handlesAreFilledWhereGivenAndHollowWhereFree@src/view/film_handles.c@s/ \&\& command->step < end)/ \&\& command->step < 1 + 0 * end)/'
    'paper.figuresStandBeforeAWallAsTheyArePainted@src/view/film_flat.c@s/            AddRectangle(cut, -far, -far, far, 0);/            AddRectangle(cut, far, far, far, far);/'
    'paper.transparentFramesHaveNothingButTheFigure@src/view/film_draw.c@s/film->def.transparent ? snw_styleClear : snw_styleStudio/snw_styleStudio/'
    'paper.finerSkinsFollowTheHandlesSmoothly@src/asset/fine_skin.c@s/ask.handles = coarse->handleCount > 0;/ask.handles = false;/'
    'paper.filmsShowTheFinerSkin@src/view/film_capture.c@s/        snwFilmSurface_MoveFine(body->surface, \&handles, frame->positions + body->first);//'
    'paper.exportsHaveTheFinerSkin@src/asset/export.c@s/    if (exporter->frames > 0 || times == 0 || /    if (exporter->frames == 0 || times == 0 || /'
    'rivals.arapEqualsPlainCotangents@src/sim/rigpbd/arap.c@s/    return rims->volumes\[element\] \* dot;/    return rims->volumes[element] * fabs(dot) * (a == b ? 1 : -1);/'
    'rivals.arapEqualsPlainTets@src/sim/rigpbd/rims.c@s/            out\[j\] -= inverse/            out[j] += inverse/'
    'rivals.arapLowersEnergyAndFollowsRigidMotion@src/sim/rigpbd/arap.c@s/rims->volumes\[element\] \* arap->deformations/0.4 * rims->volumes[element] * arap->deformations/'
    'rivals.arapTurnsTheRingOfAGivenRotation@src/sim/rigpbd/arap.c@s/            arap->turns\[i\] = given->turns\[i\];/            continue;/'
    'rivals.arapLeavesAloneWhatNothingHolds@src/sim/rigpbd/rims.c@s/    double share = rims->volumes/    double share = -rims->volumes/'
    'rivals.fastMeasuresWhatArapMeasures@src/sim/rigpbd/fast.c@s/AddScaled(fast, from, row, volume \/ arity,/AddScaled(fast, from, row, volume,/'
    'rivals.fastWithAllGivenIsSkinning@src/sim/rigpbd/fast.c@s/pose\[k\].linear, snwVec3_Sub(fast->rest\[i\], fast->origins\[k\]));/pose[k].linear, fast->rest[i]);/'
    'rivals.draggedHandlesAreMetAndFreeOnesFollow@src/sim/rigpbd/rival.c@s/    return (unsigned char)(target->given \& axes);/    return (unsigned char)(target->given \& axes \& 1u);/'
    'rivals.stepsDoNotRemember@src/sim/rigpbd/arap.c@s/    snwTurns_Forget(&arap->search);//'
    'take.skinnedGlbIsWhatWasShown@src/asset/export_glb.c@s/SetRotation(joint, i, snwQuat_FromMat3(snwMat3_Transpose(svd.V)));/SetRotation(joint, i, snwQuat_FromMat3(svd.V));/'
    'take.clipsComeBackAsTheyWere@src/asset/export_take.c@s/    clip.given = snw_dofAll;/    clip.given = snw_dofX;/'
    'take.performancesPlayAgainByTheirClips@src/asset/export_take.c@s/        last = snwTake_Rotation(map.linear, last);/        last = snwQuat_Identity();/'
    'rivals.simsRunWithThem@src/sim/rigpbd/rigpbd_rival.c@s/        work->state.pose, work->state.positions, message);/        work->poses, work->state.positions, message);/'
    'take.wrongFilesOfClipsAreTold@src/scene/clip_file.c@s/    if (json_object_size(clip) != 1)/    if (false)/'
    'skinning.dualQuaternionsAreThoseOfTheOracle@src/rig/skinning_kernel.h@s/        weight = snwWide_MulSign(weight, .*/        (void)x, (void)y, (void)z, (void)w;/'
    'skinning.linearIsThatOfTheOracle@src/rig/skinning_kernel.h@s/    snwWide det = Dot(m->a, u);/    snwWide det = snwWide_Splat(1);/'
    'skinning.posesThatAreNotFiniteAreRefused@src/rig/skinning.c@s/snwVec3_IsWithin(t.position, s_farthest) \&\& length/length/'
    'moments.areThoseOfLiteralSums@src/rig/moments.c@s/snwMat3_Diagonal(trace, trace, trace), snwMat3_Transpose(y))/snwMat3_Diagonal(trace, trace, trace), y)/'
    'complement.isThatOfTheLiteralJacobian@src/rig/handle_sums.c@s/        if (def->held == NULL || def->held\[i\] == 0)/        if (true)/'
    'complement.exactMotionsLeaveNothing@src/rig/complement.c@s/snw_mostPasses = 3/snw_mostPasses = 1/'
    'complement.almostSingularRigsStayCalm@src/linalg/semidefinite.c@s/^static const double s_smallestPivot = 1e-12;/static const double s_smallestPivot = 1e-8;/'
    'complement.proportionalWeightsAreOneHandle@src/linalg/semidefinite.c@s/    return OthersDepend(s);/    return OthersDepend(s) || true;/'
    'complement.sameBitsForAnyThreadsAndInstructionSet@src/rig/handle_sums_kernel.h@s/                \*sum = next + Load/                *sum = (1 + 1e-15 * (SNW_WIDE_LANES == 8)) * next + Load/'
    'rigflat.sumsAreThoseOfLiteralSums@src/rig/flat_pass.c@s/anchor\[0\]\[2\] -= mass/anchor[0][2] += mass/'
    'rigflat.sumsOfPlacesAndMovesAreAboutTheBody@src/rig/flat_pass_kernel.h@s/    float x0 = rows\[0\] + rows\[2\]/    float x0 = 0/'
    'rigflat.movesGetWhatPlacesGet@src/math/simd.h@s/rows + 16, last ? _mm256_unpacklo_pd(none, high)/rows + 16, last ? _mm256_unpacklo_pd(high, high)/'
    'rigflat.solvesAreThoseOfTheGeneralWay@src/rig/rig_flat.c@s/moves ? 0 : -s->forces.u/moves ? 0 : -0.999 * s->forces.u/'
    'rigflat.sameBitsForAnyThreadsAndInstructionSet@src/rig/rig_flat_kernel.h@s/x = x + Load(row)/x = (1 + 1e-15 * (SNW_WIDE_LANES == 8)) * x + Load(row)/'
    'rigflat.sumsAreThoseOfLiteralSums@src/rig/flat_pass_kernel.h@s/numbers == 2 \&\& begin + 1 < end/numbers == 2 \&\& begin + 2 < end/'
    'rigflat.solvesAreThoseOfTheGeneralWay@src/rig/rig_flat_kernel.h@s/(s \* cl - c \* sl) \* Load/(c * sl - s * cl) * Load/'
    'rigsolid.sumsAreThoseOfLiteralSums@src/rig/rig_pass_kernel.h@s/(double)tile->first\[c \/ 4\]/(double)tile->first[0]/'
    'rigsolid.sumsOfPlacesAndMovesAreAboutTheBody@src/rig/rig_pass_kernel.h@s/(places\[d\] - x0\[d\]) + moves\[d\]/(places[d] + moves[d]) - x0[d]/'
    'rigsolid.changesAreThoseOfLiteralMaps@src/rig/rig_pass_kernel.h@s/lane < block->lanes; ++lane/lane < SNW_PASS_LANES; ++lane/'
    'rigsolid.changesAreThoseOfLiteralMaps@src/rig/rig_pass.c@s/order\[straight++\] = i + snwWide_NextRow(lane);/order[straight++] = i + lane;/'
    'rigsolid.sameBitsForAnyThreadsAndInstructionSet@src/rig/rig_pass_kernel.h@s/sums\[d\] = sums\[d\] + w \* ApplyRow/sums[d] = (1 + 1e-6f * (SNW_WIDE_LANES == 8)) * sums[d] + w * ApplyRow/'
    'rigfit.matrixAndRightSideAreThoseOfLiteralSums@src/rig/rig_fit_system.c@s/model->moments.p1Back\[b\], -1, motion/model->moments.p1[b], -1, motion/'
    'rigfit.matrixAndRightSideAreThoseOfLiteralSums@src/rig/rig_fit.c@s/block\[1 + b\]\[0\] = moments->p1Back\[b\]\[at\];/block[1 + b][0] = moments->p1[b][at];/'
    'rigfit.sameBitsForAnyThreadsAndInstructionSet@src/rig/rig_pass_kernel.h@s/    return a + b;$/    return (1 + 1e-15 * (SNW_WIDE_LANES == 8)) * a + b;/'
    'rigfit.aStepIsThatOfTheLiteralSystem@src/rig/rig_fit_system.c@s/\[k \* stride + l\] - sum;/[k * stride + l] - 0.999 * sum;/'
    'rigfit.aStepIsThatOfTheLiteralSystem@src/rig/rig_pass_kernel.h@s/(i == j ? trace : zero) - y\[j\]\[i\])/(i == j ? trace : zero) - y[i][j])/'
    'rigfit.givenDegreesOfFreedomAreExact@src/rig/rig_fit_solve.c@s/pose\[k\].place.y = target->place.y;/pose[k].place.y = 0.999999 * target->place.y;/'
    'rigfit.oneShotIsManySequentialSweeps@src/rig/rig_fit_solve.c@s/(held ? hold->compliance : 0);/0;/'
    'rigfit.nothingGivenMovesNothing@src/rig/rig_fit_solve.c@s/    s->answers = s->rowCount > 0 || .*/    s->answers = true;/'
    'rigfit.answersAreNoLargerThanTheDistance@src/rig/rig_fit_solve.c@s/    snwRigFit_Subtract(model, s->fit->kernels, &rest, &s->forces);//'
    'rigfit.applyAddsTheAnswer@src/rig/rig_pass_kernel.h@s/block->vertex\[lane\]) += changes\[lane\];/block->vertex[lane]) += 0.999f * changes[lane];/'
    'rigfit.chainsKeepTheirLengthsOverManyDrags@src/rig/rig_fit_solve.c@s/        Repair(model, s, hold, pose, report);/        (void)Repair;/'
    'rigfit.limitsOfJointsAreNeverExceeded@src/rig/rig_fit_rows.c@s/    row->atLeast = atLeast;/    row->atLeast = atLeast || true;/'
    'rigfit.chainsAloneHaveNoMomentum@src/rig/rig_fit_solve.c@s/    bool held = IsHeldFromOutside(model, s, hold);/    bool held = IsHeldFromOutside(model, s, hold) || true;/'
    'rigfit.chainsThatCannotReachStayCalm@src/rig/rig_fit_solve.c@s/SolveStep(model, s, pose, &(snwRigPush){0, 0,/SolveStep(model, s, pose, \&(snwRigPush){1, 0,/'
    'rigfit.chainsOutOfReachSettleAtTheLeastEnergy@src/rig/rig_fit_solve.c@s/(snwRigClosing){1 - reach, /(snwRigClosing){1 - 0 * reach, /'
    'rigfit.chainsOutOfReachSettleAtTheLeastEnergy@src/rig/rig_fit_solve.c@s/^static const double s_closing = 0.002; /static const double s_closing = 1e9; /'
    'rigfit.allMayLeaveAtOnce@src/rig/rig_fit_rows.c@s/    return s->rowCount - first < snw_mostLeavingRows;/    return s->rowCount >= first;/'
    'rigfit.whatLeavesIsHeldLessAndLess@src/rig/rig_fit_rows.c@s/.softness = hold->leaving \/ (1 - hold->leaving);/.softness = 1;/'
    'rigfit.scratchIsNoStateUnderStrain@src/rig/rig_fit_solve.c@s/^    s->strained = false;//'
    'rigfit.limitsThatAreExceededAreReachedGently@src/rig/rig_fit_solve.c@s/^static const double s_bent = 1e-4; /static const double s_bent = 1e9; /'
    'hands.whatACommandDoesNotSayStaysWhereItIs@src/scene/commands.c@s/data->command.stay = (placed ? 0 : snw_places)/data->command.stay = (placed ? 0 : 0)/'
    'hands.locksHoldWhereTheHandleIsUnlessToldWhere@src/scene/gestures.c@s/        command.stay |= snw_dofX | snw_dofY | snw_dofZ;/        command.stay |= 0;/'
    'hands.switchingToRivalsAndBackRuinsNothing@src/sim/rigpbd/rigpbd_switch.c@s/if (coupled \&\& (comes || run->affine > now.affine))/if (coupled \&\& run->affine > now.affine)/'
    'hands.affineHandlesComeBackFromClips@src/rig/rig_fit_solve.c@s/Stretched(pose\[k\].linear, target->strain);/Stretched(pose[k].linear, (const double[6]){0});/'
    'take.chainsOfHandlesAreChainsOfNodes@src/asset/export_glb.c@s/snwTransform_Between(PlaceOf(film, frame, parent), pose)/snwTransform_Between(RigidPose(film, frame, parent), pose)/'
    'rigpbd.whatIsLetGoOfIsCarriedAlong@src/sim/rigpbd/rigpbd_handles.c@s/snwVec3 part = {handle->leaving & snw_dofX ? way.x : 0.0,/snwVec3 part = {0.0 * way.x,/'
    'rigfit.swollenFleshDoesNotShakeTheRig@src/rig/rig_fit_solve.c@s/^static const double s_largeTurn = 0.2; /static const double s_largeTurn = 1e9; /'
    'rigfit.rulesAreMet@src/rig/rig_fit_rows.c@/^static void AddRule/,/^}/s/double sum = -value;/double sum = -0.999 * value;/'
    'rigfit.singularRigsStayCalm@src/rig/rig_fit_solve.c@s/^static const double s_mostTurn = 0.5; /static const double s_mostTurn = 1e9; /'
    'rigfit.singularRigsStayCalm@src/rig/rig_fit.c@s/model->leastMass\[k\] = mass < least ? least : 0;/model->leastMass[k] = 0 * least;/'
    'rigfit.sameBitsForAnyThreadsAndInstructionSet@src/rig/rig_pass_kernel.h@s/sums\[i\] = sums\[i\] + factors\[l\]/sums[i] = (1 + 1e-15 * (SNW_WIDE_LANES == 8)) * sums[i] + factors[l]/'
    'rigfit.limitsPushFromAMillionthBeforeThem@src/rig/rig_fit_push.c@s/row->atLeast \&\& push->reach == 0 ? fmin(0, -row->error) : -push->reach \* row->error;/row->atLeast \&\& push->reach == 0 ? (row->error > 1e-9 ? -1 : 0) : -push->reach * row->error;/'
    'rigfit.stepsStopAtFarLimits@src/rig/rig_fit_push.c@s/    } while (ChoosePassed(s, push));/    } while (ChoosePassed(s, push) \&\& false);/'
    'rigfit.keptRowsAreThoseOfAFreshScratch@src/rig/rig_fit_push.c@s/    if (same \&\& pure \&\& kept->version/    if ((same || kept->count > 0) \&\& pure \&\& kept->version/'
    'rigfit.keptRowsAreThoseOfAFreshScratch@src/rig/rig_fit_rows.c@s/k < model->handleCount \&\& made; ++k)/k < 0 \&\& made; ++k)/'
    'rigfit.scratchIsNoState@src/rig/rig_fit_system.c@s/    if (system->sound \&\& snwRigSystem_IsOf(/    if (system->sound || snwRigSystem_IsOf(/'
    'rigfit.momentsOfTreesAreThoseOfTheirHandles@src/rig/rig_tree.c@s/+= own\[b\] \* mass \* other\[c\];/+= own[c] * mass * other[b];/'
    'rigfit.treesMoveAsTheirHandlesDo@src/rig/rig_tree.c@s/\[parent\] \* there\[b\] - linear/[parent] * there[b] + linear/'
    'rigfit.treesAnswerAsRowsOfJointsDo@src/rig/rig_fit_solve.c@s/+= s->force.turns\[i\] - turns\[i\];/-= turns[i];/'
    'rigfit.treesAnswerAsRowsOfJointsDo@src/rig/rig_fit_solve.c@s/        snwRigTree_Place(model, &s->tree, s->tried);/        (void)0;/'
    'rigfit.treesAnswerAsRowsOfJointsDo@src/rig/rig_fit_solve.c@s/        s->joined.eliminated = false;//'
    'rigfit.treesAnswerAsRowsOfJointsDo@src/rig/rig_tree.c@s/\[parent\] += offset\[b\] \* tree->below/[parent] += 0.999 * offset[b] * tree->below/'
    'rigfit.treesComeToTheSamePoseAsRowsOfJoints@src/rig/rig_fit_rows.c@s/AddTurns(m, term, arm, a, factor);/AddTurns(m, term, arm, a, below < 0 ? factor : 0.9 * factor);/'
    'rigfit.treesGiveWayWhenMostIsGiven@src/rig/rig_fit_solve.c@s/rows > snw_mostTreeRows ||/rows >= snw_mostTreeRows ||/'
    'weights.pruningKeepsTheHeaviestAndTheSum@src/rig/weights.c@s/    SortRow(row, count, true);/    SortRow(row, count, false);/'
    'biharmonic.smallProblemsAreThoseOfTheOracle@src/rig/biharmonic.c@s/double bounded = v\[k\] > theta ? v\[k\] - theta : 0;/double bounded = v[k] - theta;/'
    'biharmonic.cagesAreLinearAlongTheirEdges@src/rig/handles.c@s/        holder->held->values\[row + (size_t)ends\[1\]\] = t;/        holder->held->values[row + (size_t)ends[1]] = 1 - t;/'
    'contact.normalIsTheGradientOfTheDistance@src/contact/collider.c@s/if (beyond > fabs(position\[nearest\])/if (beyond < fabs(position[nearest])/'
    'rig.clipPassesThroughItsKeys@src/rig/clip.c@s/wrapped < 0.0 ? wrapped + (last - first) : wrapped/wrapped/'
    'sim.sameHashForAnyThreadsAndInstructionSet@src/sim/constraints/damping.c@s/^    MoveToCentre(def->flat, &whole);/    MoveToCentre(def->flat, \&whole); whole.mass *= 1 + 1e-4 * context->threadCount;/'
    'damping.isThatOfEveryVertexInDouble@src/sim/constraints/damping.c@s/own\[0\] += flat ? c.y \* c.y : 0.0;/own[0] += flat ? 0.5 * c.y * c.y : 0.0;/'
    'damping.isThatOfEveryVertexInDouble@src/sim/constraints/damp_kernel.h@s/out\[3\] = r\[0\] \* mr\[1\], out\[4\]/out[3] = -r[0] * mr[1], out[4]/'
    'damping.isThatOfEveryVertexInDouble@src/sim/constraints/damp_kernel.h@s/((rigid\[c\] - drift\[c\]) - /((rigid[c] - 0.99f * drift[c]) - /'
    'damping.everyInstructionSetGivesTheSameBits@src/sim/constraints/damp_kernel.h@s/snwWide d = snwWide_Splat(change->share) \*/snwWide d = (1.0f + 1e-3f * (SNW_WIDE_LANES == 8)) * snwWide_Splat(change->share) */'
    'sim.restoreAtAnyFrameEqualsTheStraightRun@src/sim/sim.c@s/^        state->scriptNext++;/        state->scriptNext++, sim->changes++;\n        if (sim->changes < 100) state->gravity.x += 1e-3;/'
    'sim.restoreRefusesForeignAndDamagedBlocks@src/sim/sim_save.c@s/header.sceneHash != sim->scene->hash || //'
    'sim.replayOfTheLogEqualsTheOriginal@src/sim/sim.c@s/^        command.step = sim->state->step;/        command.step = sim->state->step + (command.kind == snw_commandParam);/'
    'sim.steadyStepsUseNoHeap@src/sim/pbd/pbd.c@s/^    snwVec3 g = sim->state->gravity;/    snwVec3 g = sim->state->gravity; snwFree(sim->context, snwAlloc(sim->context, 8));/'
    'sim.aNanStopsTheStepAndKeepsTheLastGoodState@src/sim/sim.c@s/^        memcpy(sim->block, sim->backup, sim->blockSize);//'
    'sim.commandsAreAppliedAtTheirStep@src/sim/sim.c@s/sim->pending.data\[at\].step <= sim->state->step/sim->pending.data[at].step < sim->state->step/'
    'sim.resetStartsClipsAgain@src/sim/sim_create.c@s/    state->startTime = state->time;//'
    'sim.aCommandTakesAColliderFromItsClip@src/sim/command.c@s/    mover->byClip = 0;//'
    'sim.pinsMoveEvenlyOverTheSubsteps@src/sim/sim.c@s/        grab->previous = grab->target;//'
    'sim.restoreForgetsWhatHadNotHappenedYet@src/sim/sim_save.c@s/    sim->pending.count = sim->pendingFirst = 0;//'
    'sim.elasticEnergyOfAKnownStrain@src/sim/laws.c@s/    return lame.mu \* shape + 0.5 \* lame.lambda/    return lame.mu * shape + 0.4 * lame.lambda/'
    'implicit.tetsHaveTheirDerivativesInAnyState@src/sim/pbcd/implicit_energy.c@s/ == 1) ? value : -value;/ == 1) ? value : value;/'
    'implicit.semidefiniteHessiansNeverCurveDown@src/sim/pbcd/implicit_energy.c@s/0.5 \* fmax(tet->shear + q \* svd->sigma\[k\], 0)/0.5 * (tet->shear + q * svd->sigma[k])/'
    'implicit.neoHookeanHasYoungAndPoisson@src/sim/pbcd/implicit_energy.c@s/.bulk = lambda + mu, .rest = 1/.bulk = lambda, .rest = 1/'
    'implicit.rowsAreMetAndBearTheRest@src/sim/pbcd/implicit_rows.c@s/double scale = length > s_nothingNew \* start ? 1 \/ length : 0;/double scale = length > 0 ? 1 \/ length : 0;/'
    'implicit.rowsOfARigAreThoseOfTheProjection@src/sim/pbcd/implicit_rig.c@s/            out\[3 + d\] = snwVec3_Cross(axis, arm);/            out[3 + d] = snwVec3_Cross(axis, rig->rest[0]);/'
    'bench.errorsOfTracksAreMeansOverVerticesAndFrames@bench/pbcd_run.c@s/return sum \/ ((double)track->frames \* track->vertices);/return sum \/ track->vertices;/'
    'bench.bundleBecomesACharacter@bench/bundle_character.c@s/snwVec3_Sub(snwTransform_Apply(now, head), head)/snwVec3_Sub(now.position, snwVec3_Scale(head, 0))/'
    'bench.gridSearchFindsTheSpringsStiffness@bench/pbcd_run.c@s/!(error < best->error)/(error < best->error)/'
    'pbd.groundCarriesTheWeight@src/contact/solve.c@s/    row->depth = fmax(row->depth, -gap);/    row->depth = 7.0;/'
    'pbd.materialCommandKeepsToItsRegion@src/sim/pbd/pbd.c@s/        \*inUse = \*inUse == 0.0f ? 0.0f : \*free;/        *inUse = *free;/'
    'pbd.coloursShareNoVertex@src/sim/constraints/blocks.c@s/            taken |= used\[constraints\[arity \* i + k\]\];/            taken = used[constraints[arity * i + k]];/'
    'pbd.volumeProjectionFollowsTheGradient@src/sim/constraints/kernel.h@s/    Cross(u\[2\], u\[0\], g\[2\]);/    Cross(u[0], u[2], g[2]);/'
    'pbd.oscillatorFollowsItsClosedForm@src/sim/pbd/pbd.c@s/(x\[k\] - from\[k\]) \* loop->inverseH/0.99f * (x[k] - from[k]) * loop->inverseH/'
    'pbcd.sweepsEndInTheImplicitStep@src/sim/constraints/soft_kernel.h@s/back\[k\]\[d\] = sum \* g\[k\]\[d\] -/back[k][d] = 0.9f * sum * g[k][d] -/'
    'pbcd.integratorsFollowTheirRecurrences@src/sim/pbcd/pbcd_motion.c@s#e = 2.0 / 3.0 \* h#e = 0.7 * h#'
    'pbcd.stiffFleshIsStill@src/sim/constraints/neo_hookean_kernel.h@s/, most + most + a);/, 0.5f * most + a);/'
    'response.smallBodiesStandOnTheGround@src/sim/sim.c@s/    count \*= CutSubstep(sim, dt \/ count);/    count *= CutSubstep(sim, 0.0);/'
    'pbd.compliantVisitsDoNotTurnATet@src/sim/constraints/neo_hookean_kernel.h@s/            r\[d\]\[k\] = rate \* (/            r[d][k] = (k == 0 ? 0.5f : 1.0f) * rate * (/'
    'pbcd.unfinishedSweepsFeedNoSwing@src/sim/pbcd/pbcd_solve.c@s/bool back = (iterations - i) % 2 == 0;/bool back = false;/'
    'pbcd.aDropNeverGainsEnergy@src/sim/constraints/soft_kernel.h@s/(excess < snwWide_Splat(-0.5f))/(excess < snwWide_Splat(-50.0f))/'
    'pbcd.aDropNeverGainsEnergy@src/sim/pbcd/pbcd_motion.c@s#outer\[k\] + inner / h;#outer[k] + 2.0f * inner / h;#'
    'pbcd.freeFlightKeepsMomentum@src/sim/constraints/soft_kernel.h@s/now\[1\]\[k\] = v->p\[1\]\[k\] - v->p\[1\]\[3\] \*/now[1][k] = v->p[1][k] - 0.99f * v->p[1][3] */'
    'pbcd.blendCarriesFleshAlong@src/sim/pbcd/pbcd_motion.c@s/(float)loop->time->carried \* more/0.9f * (float)loop->time->carried * more/'
    'pbcd.cutsCarryFleshOver@src/sim/pbcd/pbcd_rig.c@s/    TurnRows(state->positions, count, motion, true);//'
    'wobble.frequencyAndSettlingAreSeenAsStated@src/sim/pbcd/pbcd_inertia.c@s/D = 1.0 \/ (2.0 \* r \* cos(t) - r \* r);/D = 1.0 \/ (cos(t) * cos(t));/'
    'wobble.everyRegionSwingsByItself@src/sim/pbcd/pbcd_inertia.c@s/            sum->square += mass \* wish.square;/            sum->square = mass * wish.square;/'
    'wobble.samplesAreJoinedSmoothly@src/sim/vertex_track.c@s/    double rise = u \* u \* (3.0 - 2.0 \* u);/    double rise = u;/'
    'wobble.aVertexMotionLeads@src/sim/pbcd/pbcd_rig.c@s/        loop.track = &motion->vertices;/        loop.track = NULL;/'
    'wobble.teleportsLeaveFleshAlone@src/sim/pbcd/pbcd_rig.c@s/    work->jumpTime = high;/    work->jumpTime = -1.0;/'
    'wobble.loopsWithRootMotionGoOn@src/sim/pbcd/pbcd_rig.c@s/    return floor(start \/ motion->duration) != floor(end \/ motion->duration);/    return floor(start) > end;/'
    'scene.materialsHaveNames@src/scene/fields.c@s/^    field->words->set((char\*)object + field->offset, index);//'
    'shapes.aCacheIsShownAsItIs@src/sim/display.c@s/    position\[0\] += (float)d.x,/    position[0] -= (float)d.x,/'
    'shapes.morphsMoveBodyAndSurface@src/prepare/shapes.c@s/            s->kinds\[i\] = snw_vertexHeld;/            s->kinds[i] = snw_vertexInner;/'
    'pbcd.bonesAreWhereTheArtistPutsThem@src/sim/pbcd/pbcd_rig.c@s/snwTransform_Compose(sim->starts\[body\].transform, pose\[i\])/pose[0]/'
    'pbd.frictionHoldsOnASlopeAndSlipsOnASteepOne@src/contact/solve.c@s/CutFriction(snwVec3_MulAdd(row->drag, -1.0 \/ w, slip), push,/CutFriction(snwVec3_MulAdd(row->drag, -1.0 \/ w, slip), 0.5 * push,/'
    'scene.unknownKeys@src/scene/words.c@s/    if (nearest != NULL)/    if (nearest == word)/'
    'scene.valuesLandInTheirFields@src/scene/tables.c@s/FIELD(T, path friction, "friction", snw_fieldReal, /FIELD(T, path kineticFriction, "friction", snw_fieldReal, /'
    'scene.bodiesNameTheirMotion@src/sim/scene.c@s/^        snwWriteText(writer, def->bodies\[i\].motion);//'
    'log.damageIsAnErrorWithItsLine@src/scene/log_read.c@s/if (checksum != reader->checksum)/if (checksum == reader->checksum + 1)/'
    'log.tamperedCommandIsFound@src/scene/run.c@s/hash != replay->hashes\[run->frame\]/hash == replay->hashes[run->frame] + 1/'
    'frames.everyFlippedByteIsDetected@src/scene/frames_read.c@s/if (memcmp(&commit, &expected, sizeof commit) != 0)/if (commit.size != expected.size)/'
    'frames.forgedNumbersAreRefused@src/scene/frames_read.c@s/if (!AtEnd(&reader) || frame->frame != number)/if (!AtEnd(\&reader) || number < 0)/'
    'frames.toleranceIsKept@src/scene/frames_codec.c@s/floor((double)x \/ tolerance + 0.5)/floor((double)x \/ tolerance + 1.5)/'
    'frames.readerSeesNoPieceOfAChunk@src/scene/frames_read.c@s/    frames->size = (uint64_t)info.st_size;/    frames->size = frames->size > 0 ? frames->size : (uint64_t)info.st_size;/'
    'frames.interruptedAnywhereIsResumed@src/scene/frames_write.c@s/    writer->end = last->start;//'
    'frames.killedAtRandomMomentsIsResumed@src/scene/frames_write.c@s/    timeless.stepMs = 0;//'
    'frames.secondWriterIsRefused@src/scene/frames_write.c@s/    else if (flock(\*file, LOCK_EX | LOCK_NB) != 0)/    else if (*file < 0)/'
    'frames.shortWritesAreGoneOnWith@src/scene/frames_write.c@s/        \*done += put > 0 ? (size_t)put : 0;/        *done += put > 0 ? size : 0;/'
    'gltf_write.passThroughKeepsEverything@src/scene/tree.c@s/        memcpy(buffer + strlen(buffer), ".0", 3);/        memcpy(buffer + strlen(buffer), "", 1);/'
    'gltf_write.morphsAreAppendedAndWhatDrivesThemWidened@src/asset/gltf_write_morph.c@s/        if (users\[2 \* i + 1\] > 0)/        if (users[2 * i + 1] > 1)/'
    'gltf_write.charactersKeepSkinBonesAndMotions@src/asset/gltf_character.c@s/    return parent < 0 ? rest : /    return parent < 1 ? rest : /'
    'gltf_write.aFullDiskLeavesNothing@src/asset/gltf_write_save.c@s/        snwPartFile_Drop(&files->parts\[i\]);/        snwPartFile_Abandon(\&files->parts[i]);/'
    'scan.numbersAreThoseOfStrtod@src/asset/scan.c@s/decimal->digits <= (1ull << 53)/decimal->digits <= (1ull << 58)/'
    'scan.digitsBeyondThe19thCount@src/asset/scan.c@s/more = more || c != .*;/more = false;/'
    'polygon.concaveOnesAreFilledExactly@src/asset/polygon.c@s/else if (Blocks(ring, other, a, corner, c))/else if (other < 0 \&\& Blocks(ring, other, a, corner, c))/'
    'obj.verticesAreThoseOfTheArtist@src/asset/draft.c@s/    if (known < 0)$/    if (known < 0 || value > known)/'
    'ply.bothOrdersOfBytes@src/asset/read_ply.c@s/from\[big ? size - 1 - i : i\]/from[big \&\& size < 8 ? size - 1 - i : i]/'
    'medit.flatMeshesAndMissingLabels@src/asset/read_medit.c@s/    bool labels = count == 0 || HasLabels(\*scan, numbers);/    bool labels = count >= 0 || HasLabels(*scan, numbers);/'
    'tetgen.elementsFindTheirPointsAndFaces@src/asset/read_tetgen.c@s/draft.base = number == 0 ? 0 : 1;/draft.base = number > 2 ? 0 : 1;/'
    'readers.ourObjReadsBack@src/asset/export_obj.c@s/    if ((float)(1 - (double)height) == fromTop)/    if (height >= 0)/'
    'film.bonesAreTheSurfaceOfTheirElements@src/view/film_skeleton.c@s/s_swell = -0.53/s_swell = 0.53/'
    'view.pngRoundTrip@src/view/image.c@s/(size_t)image->width \* (size_t)y);/(size_t)image->width * (size_t)(y ^ 1));/'
    'film.vertexColorsAppear@src/view/film_draw.c@s/def->colors\[body->vertices\[v\]\]/def->colors[v % 2]/'
    'film.turntableGoesRoundAndReturns@src/view/film_draw.c@s/camera.forward = TurnBy(camera.forward, angle);/camera.forward = TurnBy(camera.forward, 0.9f * angle);/'
    'film.inspectorFlagsBadFilms@src/view/inspect.c@s/check->stillFrames += !first \&\& IsStill/check->stillFrames += first \&\& IsStill/'
    'export.mddIsBigEndianAlsoWhenARunEndsEarly@src/asset/export_cache.c@s/cache->expected - cache->frames) : 0;/cache->expected - cache->frames - 1) : 0;/'
    'export.pc2IsZUpInTheOrderOfTheSkin@src/asset/export.c@s/exporter->zUp ? -p\[2\] : p\[1\]/exporter->zUp ? p[2] : p[1]/'
    'export.objReadsBackToTheSameFloats@src/asset/export_text.c@s/digits = 7; digits <= 9; ++digits/digits = 7; digits <= 7; ++digits/'
    'plot.pngHasItsInkWhereTheSvgSays@src/view/plot_png.c@s/(float)(snw_scale \* y), down}/(float)(snw_scale * y) + 5, down}/'
    'compare.variantsAreTheRunsOfSim@src/app/compare.c@s/settings\[options.settingCount++\] = variant->setting;/settings[options.settingCount] = variant->setting;/'
    'bench.rejectsUnknownMetric@bench/bench.c@s/if (snwMetric_Find(row->metric) == NULL)/if (row->metric[0] == 0)/'
    'apdBones.fastChainSettlesInLargeSteps@src/sim/apd/apd_bones.c@s/bool strong = curved \&\& snwMat3_Norm/bool strong = curved \&\& 1e-30 * snwMat3_Norm/'
    'bench.figuresShowThePaperBesideOurs@bench/figures.c@s/others\[def.referenceCount++\] = /others[0] = /'
    'bench.apdPlacesGoOnWhereTheyWereTaken@bench/apd_run.c@s/snwVec3_Sub(to\[a\], from\[a\]), 1 \/ h/snwVec3_Sub(from[a], to[a]), 1 \/ h/'
    'bench.apdMomentBringsOtherSolversToTheSamePlace@bench/apd_run.c@s/SNW_COPY(to.velocities, from.velocities, model->vertexCount);//'
    'bench.lockingAndLettingGoOfRigpbdsHandlesDoesNotJerk@src/rig/rig_fit_solve.c@s/fmin(s_closing, hold->closing + snw_rigGathering)/fmin(s_closing, hold->closing + 1)/'
    'rigfit.limitsThatAreExceededAreReachedGently@src/rig/rig_fit_solve.c@s/s->strained = bent > s_bent || open/s->strained = bent > 1e9 * s_bent || open/'
    'bench.lockingAndLettingGoOfRigpbdsHandlesDoesNotJerk@src/sim/rigpbd/rigpbd.c@s/snwRigpbd_LetsGo(work) ? /false ? /'
    'bench.lockingAndLettingGoOfRigpbdsHandlesDoesNotJerk@src/sim/rigpbd/rigpbd_toggle.c@s/return now->toggles \&\&/return false \&\&/'
    'bench.lockingAndLettingGoOfRigpbdsHandlesDoesNotJerk@src/sim/rigpbd/rigpbd_handles.c@s/= Stops(work, handle)/= Stops(work, handle) \&\& false/'
    'bench.lockingAndLettingGoOfRigpbdsHandlesDoesNotJerk@src/rig/rig_fit_solve.c@s/s_calmTurn = 0.002/s_calmTurn = 0.02/'
    'scene.roundTrip@src/scene/text.c@s/for (int digits = 15; digits <= 17; ++digits)/for (int digits = 15; digits <= 16; ++digits)/'
    'cli.interruptKeepsFinishedFrames@src/scene/run.c@s/return run->def->interrupt != NULL \&\& \*run->def->interrupt;/return run->def->interrupt == NULL;/'
    # ground truths
    'truth.tetDerivativesAreThoseOfItsEnergy@bench/truth_energy.c@s/tet->lambda \* (trace - 3) - 2 \* tet->mu/-2 * tet->mu/'
    'truth.problemDerivativesAreThoseOfItsObjectiveAndRows@bench/truth_problem.c@s/i == j ? 2 \* multipliers\[c\] : multipliers\[c\]/multipliers[c]/'
    'truth.storedCantileversAreMinima@bench/truth.c@s/snwVec3_Add(snwVec3_Add(x, moved), fall)/snwVec3_Add(snwVec3_Sub(x, moved), fall)/'
    'truth.nunchuckKeepsEnergyMomentumAndJoints@bench/truth_nunchuck.c@s/snwVec3_Cross(snwMat3_MulVec(arms.inertia\[k\], spin), spin)/snwVec3_Cross(spin, snwMat3_MulVec(arms.inertia[k], spin))/'
    # any surface
    'mend.aCavityIsNotTurned@src/geom/mend.c@s/PieceWinding(m, piece, point)) > 0.5;/PieceWinding(m, piece, point)) > 5;/'
    'mend.bandsAndShellsThatFaceInwardsAreTurned@src/geom/mend.c@s/if (marks \& snw_markTurned)/if (false)/'
    'inside.overAHoleTheDistanceFallsToZero@src/geom/inside.c@s/distance \*= fmin(1, 2.1 \* fabs(turns));/distance *= 1;/'
    'inside.trianglesWithinTheBodyAreNoSurface@src/geom/inside.c@s/return turns > 0.75/return turns > 1.75/'
    'fill.aFinAsThinAsPaperStays@src/geom/fill.c@s/return attempt->lostArea > SNW_FILL_LOST;/return attempt->lostArea > 1;/;s/attempt->lostArea > SNW_FILL_REFINE/false/'
    'fill.aThinNeckDoesNotTear@src/geom/fill.c@s/attempt->torn = pieces > filler->partCount;/attempt->torn = pieces > 1000;/'
    'pick.tetgenKeepsTheSurfaceAndTheRegions@src/asset/mesher_tetgen.c@s/loop->regions\[i\] = k;/loop->regions[i] = 1;/'
    'pick.aHelperThatHangsIsKilled@src/asset/helper.c@s/kill(helper->pid, SIGKILL);/kill(helper->pid, 0);/'
    'decimate.theEdgeOfLeastCostGoesFirst@src/asset/decimate_angle.c@s/return c->def->angleWeight \* acos(cosine)/return acos(cosine)/'
    # blueprints
    'flesh.conesAreHullsOfTwoBalls@src/geom/flesh.c@s/double t = y - x \* cone->tilt;/double t = y + x * cone->tilt;/'
    'flesh.cutsTakeAwayAndPaintLeavesTheShape@src/geom/flesh.c@s/ball < part->blend - m->group/ball < part->blend/'
    'flesh.theGridLeavesOutNothingThatIsFelt@src/geom/flesh.c@s/double limit = 2 \* reach + 1.6 \* blend;/double limit = 0.2 * reach;/'
    'flesh.bonesOwnTheirRadiusAndTheSkinOfTheirRigidParts@src/geom/flesh.c@s/mine = fmin(mine, nearer);/mine = fmax(mine, nearer);/'
    'blueprint.mirroredItemsGetTwins@src/scene/blueprint_file.c@s/return (snwVec3){axis.x, -axis.y, -axis.z};/return (snwVec3){-axis.x, axis.y, axis.z};/'
    'mesher.bonesOwnWholeTets@src/geom/label.c@s/while (owned < snw_minBoneTets)/while (owned < 1)/'
    'cast.motionsStayWithinTheJoints@src/scene/blueprint_file.c@s/rows\[i\]\[1\] \* SNW_PI \/ 180)/rows[i][1] * SNW_PI \/ 60)/'
    'prepare.restIsTheBindPoseInMetres@src/prepare/rest.c@s/surface->positions\[i\] = snwAffine_Apply(surface->place, mesh->positions\[i\]);/surface->positions[i] = mesh->positions[i];/'
    'prepare.fleshIsBetweenAnyTwoBones@src/prepare/bones.c@s/^    PartBones(&labels);/    if (p->size < 0) PartBones(\&labels);/'
    'prepare.jointsFollowTheRulesOrTheSidecar@src/prepare/joints.c@s/extent.off > 2 \* s_degree/extent.off < 2 * s_degree/'
    'prepare.weightsOfTheBodyAreThoseOfTheSurface@src/prepare/weights.c@s/int vertex = p->fleshTriangles\[closest.triangle\]\[k\];/int vertex = p->fleshTriangles[closest.triangle][0];/'
    'prepare.motionsAreThoseOfTheFile@src/prepare/motions.c@s/snwTransform_Compose(snwTransform_Inverse(bones\[parent\]), bones\[bone\])/bones[bone]/'
    'prepare.surfacesFollowTheBody@src/sim/display.c@s/display->points + 3 \* (size_t)points\[i\]/display->points + 3 * (size_t)points[0]/'
    'prepare.smallClosedPiecesAndWhatHangsOnJointsAreRigid@src/prepare/kinds.c@s/!pieces\[i\].open \&\&/pieces[i].open \&\&/'
    'prepare.paintedRegionsKeepTheirNumbers@src/prepare/materials.c@s/    return 2 \* same > count;/    return 2 * same > 9 * count;/'
    # bake
    'linalg.eigenvectorsOfSymmetricMatricesRebuildThem@src/linalg/symmetric.c@s/            TurnColumns(a, n, p, q, turn);/            TurnColumns(a, n, q, p, turn);/'
    'outputs.fewTargetsKeepEveryVertexWithinTheTolerance@src/bake/morph_fit.c@s/ > SNW_WITHIN \* f->def->tolerance/ > 1.5 * f->def->tolerance/'
    'outputs.tooFewTargetsSayWhatTheyReach@src/bake/morph_fit.c@s/    fit->error = Measure(f, fit);/    fit->error = 0.5 * Measure(f, fit);/'
    'outputs.aGlbKeepsItsSkinAndPlaysTheFrames@src/bake/bind.c@s/        \*offset = snwMat3_MulVec(inverse, moved);/        *offset = moved;/'
    'outputs.weightsOfTargetsStayFromZeroToOne@src/bake/morph_fit.c@s/^                1, fmax(0, sign/                1, fmax(-9, sign/'
    'outputs.whatWasNotBakedComesOutUnchanged@src/bake/out_gltf.c@s/(const float(\*)\[3\])fit->targets\[t\].offsets, NULL, 0}/(const float(*)[3])fit->targets[t].offsets, NULL, 0.5}/'
    'outputs.morphsAreKeyFramesWithoutSkin@src/bake/out_gltf.c@s/if (result >= 0 \&\& job->keys)/if (result > 0 \&\& job->keys)/'
    'outputs.keyFramesKeepTheToleranceOnTheLinesBetweenThem@src/bake/key_fit.c@s/SetWeight(fit, frame, targets\[key\], 1 - t);/SetWeight(fit, frame, targets[key], t);/'
    'outputs.helperJointsFollowTheFlesh@src/bake/joint_fit.c@s/snwVec3 shift = snwVec3_Sub(to, snwQuat_Rotate(q, from));/snwVec3 shift = snwVec3_Sub(to, from);/'
    'outputs.helperJointsAndInfluencesAreNoMoreThanAsked@src/bake/out_joints.c@s/w->def->most > 0 ? w->def->most : snw_usualHelpers/snw_usualHelpers/'
    'jointChoice.aSmallWeightFromAfarStays@src/bake/joint_choice.c@s/a->worth\[i\] < a->worth\[best\]/a->values[i] < a->values[best]/'
    'jointChoice.weightsAreTheBestThereAre@src/bake/joint_choice.c@s/slope > most)/slope > most + 0.5)/'
    'jointFit.verticesOfFourBonesKeepTheTolerance@src/bake/joint_fit.c@s/if (IsOff(f) \&\& result >= 0)/if (IsOff(f) \&\& result > 0)/'
    'jointFit.verticesOfFourBonesKeepTheTolerance@src/bake/joint_weights.c@s/c->count < snw_mostOwn ? c->count++ : snw_mostOwn/c->count < 3 ? c->count++ : snw_mostOwn/'
    'outputs.cachesHoldTheFramesInTheSpaceOfTheirObject@src/bake/out_cache.c@s/    if (!track->skinned \&\& /    if (track->skinned \&\& /'
    'outputs.cachesAreInTheArtistsOrderWhereTheFileTellsIt@src/bake/out_cache.c@s/            if (vertices\[number\] < 0)/            if (1)/'
    'outputs.sourcesWithoutADocumentGetOne@src/bake/document.c@s/skeleton->pivots\[bone\]), now.rotation};/skeleton->pivots[bone]), snwQuat_Conjugate(now.rotation)};/'
    'bake.fleshIsAddedToWhatTheFileMakesOfItsSurfaces@src/bake/flesh.c@s/(\&x.x)\[c\] += (double)flesh->offsets\[at + (size_t)c\];/(\&x.x)[c] = (double)work->simulated->positions[at + (size_t)c];/'
    'bake.fleshIsAddedToWhatTheFileMakesOfItsSurfaces@src/prepare/surfaces.c@s/1.0 \/ (count > 0 ? count : 1)), bone);/1.0 \/ (count > 0 ? count : 1)), -1);/'
    'bake.reportsTellWhereFleshIsWorst@src/bake/measure.c@s/            report->lagPlace = .*/            report->lagPlace = (snwVec3){0};/'
    'bake.filmsShowWhatIsWritten@src/view/film_prepared.c@s/        vertex -= (skins++)->vertexCount;/        vertex -= skins->vertexCount;/'
    'bake.filmsShowWhatIsWritten@src/view/film_capture.c@s/        if (given)$/        if (false)/'
    'bake.twistsKeepTheirVolumeAndWaist@src/sim/constraints/rest_kernel.h@s/Clamp((one - Dot(f\[0\], s))/Clamp((0.4f - Dot(f[0], s))/'
    'pick.coarseBodiesHaveNoMoreElementsThanWanted@src/asset/mesher.c@s/    if (def->coarse)/    if (false)/'
    'bake.clipsWithoutANameAreFoundByNumber@src/bake/plan.c@s/clips\[bake->plan.motion\] : -1;/clips[0] : -1;/'
    'bake.clipsWithoutANameAreFoundByNumber@src/sim/prepared_block.c@s/    loader->def.info.clips = clips;/    (void)clips;/'
    'bake.handsAreFirmerThanTheRest@src/bake/thickness.c@s/(thickness->bony\[bone\] ? SNW_BONY : 1)/1/'
    'bake.handsAreFirmerThanTheRest@src/bake/materials.c@s/touch->asked\[i\] ? 0 :/false ? 0 :/'
    'bake.whatIsWrittenIsHeldAgainstItsSource@src/bake/against.c@s/        if (!(over > SNW_TORN_GAP/        if (!(over > 1e9 + SNW_TORN_GAP/'
    'bake.aBakeThatIsWrongFailsAndKeepsItsFrames@src/bake/against.c@s/            total += mesh->weights.values\[k\];/            total += 0;/'
    'bake.aBakeThatIsWrongFailsAndKeepsItsFrames@src/bake/gate.c@s/        result = snwAgainst_Judge(/        (void)snwAgainst_Judge(/'
    'prepare.restIsThatOfTheJointsThatCarryWeights@src/prepare/rest.c@s/        if (weights\[i\] > 0 \&\& sum < least)/        if (sum <= least)/'
    'prepare.unitsThatMakeGiantsAreGuessed@src/prepare/rest.c@s/said > SNW_SHORTEST \&\& said < SNW_LONGEST/said > 0/'
    'bake.clipAndRangeDecideTheFrames@src/bake/frames.c@s/f->clipTime = plan->start +/f->clipTime = 0 * plan->start +/'
    'bake.prerollSettlesTheFirstFrame@src/sim/sim.c@s/fmax(time - def->motionWait, 0.0)/time/'
    'bake.clipsThatBeginInFullSwingBeginWithoutAWhip@src/sim/pbcd/pbcd_rig.c@s/state->velocities\[k\] += more;//'
    'bake.loopsCloseWithoutASeam@src/bake/frames.c@s/plan->firstFrame + frame - plan->cycleFrames, fade/plan->firstFrame + frame - 1, fade/'
    'bake.interruptedBakesGoOnWithTheSameBits@src/bake/run.c@s/sceneHash == snwScene_Hash(bake->scene.scene)/frameCount > 0/'
    'bake.wordsWinOverTheSidecar@src/bake/settings.c@s/json_object_update_recursive(merged, (json_t\*)words);//'
    'bake.onlyWhatIsAskedForIsTouched@src/bake/frames.c@s/(mask != NULL ? mask\[i\] : 1)/1/'
    'bake.regionsOfBonesHaveMaterialsOfTheirOwn@src/bake/materials.c@s/touch->regions\[i\] += before;/touch->regions[i] += 0;/'
    'prepared.whatIsCutShortOrDamagedIsRefused@src/sim/prepared_block.c@s/tag) != checksum)/tag) != checksum \&\& tag == 0)/'
    'rigpbd.softElementsMoveByTheGradientOfTheirEnergy@src/sim/constraints/pair.c@s/element.b = 1.0 - 2.0/element.b = 1.0 - 1.0/'
    'rigpbd.nothingGivenStaysStillForTenThousandSubsteps@src/sim/constraints/pair_kernel.h@s/det - snwWide_Splat(1.0f)/det - snwWide_Splat(1.01f)/'
    'rigpbd.dampingTakesNoMomentum@src/sim/rigpbd/rigpbd.c@s/exp(-snwSim_Param(sim, snw_rigpbdDrag)/exp(-snwSim_Param(sim, snw_rigpbdDamping)/'
    'rigpbd.givenDegreesOfFreedomAreMetEveryFrame@src/sim/rigpbd/rigpbd_handles.c@s/place = target.position;/place = handle->start.position;/'
    'rigpbd.chainsOutOfReachDoNotShakeTheFlesh@src/rig/rig_tree.c@s/double left = widest > 0 ? 1 - /double left = widest < 0 ? 1 - /'
    'rigpbd.aMovingHandleThatIsLetGoOfGoesOn@src/sim/rigpbd/rigpbd_handles.c@s/start.position, dt \* t, handle->velocity);/start.position, 0 * dt * t, handle->velocity);/'
    'rigpbd.flatFleshLandsOnTheFloorAndStaysInItsPlane@src/sim/rigpbd/rigpbd.c@s/sim->def->colliderCount + sim->def->propCount > 0/sim->def->colliderCount < 0/'
    'rigpbd.fleshThatNothingTouchesMovesAsWithAllPasses@src/sim/rigpbd/rigpbd_plane.c@s/            \*v = snwRigpbd_LimitVelocity/            (void)snwRigpbd_LimitVelocity/'
    'rigpbd.fleshThatNothingTouchesMovesAsWithAllPasses@src/sim/rigpbd/rigpbd_solid.c@s/LimitVelocity((\*v + d \* rate) \* keep/LimitVelocity(*v + d * rate * keep/'
    'conformance.propFollowsTheHand@src/sim/touch.c@s/grab->value \* motion->mass.mass/grab->value/'
    'rigpbd.constraintsOfAFileHoldInEveryFrame@src/scene/constraints_file.c@s/    term->coefficient = data.coefficient;/    term->coefficient = 1;/'
    'rigpbd.constraintCommandsSwitchAndSetThem@src/sim/rigpbd/rigpbd_handles.c@s/work->rules\[i\] = (snwRigRule){value, rule->on != 0};/work->rules[i] = (snwRigRule){value, true};/'
    'rigpbd.constraintsAreWrittenWithTheirScene@src/scene/characters.c@s/    if (use->constraints != NULL)/    if (use->constraints != NULL \&\& use->fine > 0)/'
    'rigpbd.mistakesInConstraintsAreNamed@src/scene/constraints_file.c@s/    if (cage \&\& dof >= snw_dofRotationX)/    if (cage \&\& dof > snw_dofRotationZ)/'
    'rigpbd.lockedHandlesStayUnderAHardHand@src/rig/rig_fit_solve.c@s/        s->turns\[k\] = !given \&\& /        s->turns[k] = (!given || k > 3) \&\& /'
    'rigpbd.compliantFleshFollowsAsADampedSpring@src/sim/rigpbd/rigpbd.c@s/    hold->kept = 1.0 - 1.0 \/ g;/    hold->kept = 0.9 - 0.9 \/ g;/'
    'rigpbd.whatIsShownIsTheRig@src/sim/rigpbd/rigpbd_show.c@s/vertices->positions = work->shown;/(void)work->shown;/'
    'session.values@src/studio/record.c@s/        result = KeepValues(session, &kept, message);/        (void)KeepValues;/'
    'session.seeksAndGoesOn@src/studio/timeline.c@s/        result = PushRecorded(session, at, &next, message);/        (void)PushRecorded, (void)next;/'
    'session.dragsAHandle@src/studio/grabs.c@s/    command.mask = keep ? given : hand->givenBefore;/    command.mask = keep ? given : given;/'
    'session.dragsFleshAndLeaves@src/studio/grabs.c@s/        if (session->hands\[i\].client == client)/        if (session->hands[i].client != client)/'
    'session.exportsWhatWasShown@src/studio/folder.c@s/    if (number < 2)/    if (number < 20)/'
    'session.sidecarsAreWhatBakeReads@src/studio/exports_bake.c@s/        -job->gravity.y, "method"/        job->gravity.y, "method"/'
    'session.staysInItsFolder@src/studio/folder.c@s/if (lstat(path, &info) != 0 || !S_ISREG/if (stat(path, \&info) != 0 || !S_ISREG/'
    'session.survivesDivergence@src/studio/session.c@s/        Diverge(session, message);/        (void)Diverge;/'
    'server.gateKnowsNamesExactly@src/studio/gate.c@s/if (strlen(gate->hosts\[i\]) == size \&\& memcmp/if (memcmp/'
    'server.strangersAreRefused@src/studio/server_http.c@s/    if (lws_hdr_total_length(link, WSI_TOKEN_ORIGIN) == 0)/    if (true)/'
    'server.tokenIsNeeded@src/studio/gate.c@s/    return difference == 0;/    return true;/'
    'server.pathsStayInTheFolder@src/studio/transfer.c@s/O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK/O_RDONLY | O_CLOEXEC | O_NONBLOCK/'
    'server.uploadsArriveWholeAndReplaceNothing@src/studio/transfer.c@s/    if (number == 1)/    if (number >= 1)/'
    'server.uploadsThatAreNoGoodLeaveNothing@src/studio/transfer.c@s/    unlinkat(upload->folder, upload->part, 0);$/(void)upload->part;/'
    'server.malformedMessagesCloseTheirSocket@src/studio/server_socket.c@s/    if (lws_frame_is_binary(link))/    if (false)/'
    'server.framesFollowTheirModelWithinCredit@src/studio/viewer.h@s/    snw_frameCredit = 2,/    snw_frameCredit = 3,/'
    'server.clientThatNeverReadsIsCutOff@src/studio/viewer.c@s/        viewer->overflowed = true;/        viewer->overflowed = false;/'
    'server.slowHandshakesHoldNobodyUp@src/studio/server.c@s/        .timeout_secs_ah_idle = (unsigned)server->def.handshakeSeconds,/        .timeout_secs_ah_idle = 60,/'
    'fleshbench.stormsNeitherDivergeNorLeaveFleshInsideOut@src/sim/constraints/neo_hookean.c@s/(float)(1.0 - 2.0 \* nu);/(float)(2.0 * nu - 1.0);/'
    'fleshbench.methodsWithoutHandlesSaySo@src/sim/command.c@s/\[snw_commandHandle\] = snw_featureHandles/[snw_commandHandle] = snw_featureDrag/'
    'fleshbench.stressStatesRecover@src/sim/apd/elastic_kernel.h@s/l->stress\[i\] = shear \* d;/l->stress[i] = 0.02f * shear * d;/'
    'fleshbench.dropsGainNoEnergy@src/sim/measures.c@s/        m->potential -= masses\[i\] \*/        m->potential -= 0.5 * masses[i] */'
    'fleshbench.motionsLeaveFleshWhole@src/sim/constraints/neo_hookean.c@s/(float)(1.0 - 2.0 \* nu);/(float)(2.0 * nu - 1.0);/'
    'fleshbench.barsSagByTheirModulus@src/sim/pbcd/implicit_energy.c@s/.bulk = lambda + mu, .rest = 1/.bulk = lambda, .rest = 1/'
    'fleshbench.fallsAndFlightsAreExactAnywhere@src/math/vec.h@s/    return (double)rounded;/    return x;/'
    'fleshbench.sizesMoveAlike@src/contact/collider.c@s/return (snwTouch){-p.y, {0, 1, 0}};/return (snwTouch){1e-3 - p.y, {0, 1, 0}};/'
    'fleshbench.shippedScenesEndRightSideOut@src/sim/measures.c@s/fmin(m->minVolumeRatio, volume \/ /fmin(m->minVolumeRatio, -volume \/ /'
    'fleshbench.everyShippedSceneIsWatched@bench/flesh_scenes.c@/{"wall", 1, 0, "pbcd"/d'
    'golden.apd.default@src/sim/apd/elastic_kernel.h@s/        l->stress\[i\] = mu \* l->F/        l->stress[i] = 1.0000001f * mu * l->F/'
    'golden.apd.law=volume@src/sim/apd/elastic_kernel.h@s/        gap\[i\] = bulk \* gap\[i\];/        gap[i] = 1.0000001f * bulk * gap[i];/'
    'golden.apd.limits=false@src/sim/apd/apd_bones.c@s/atan(length) \/ length) : w;/1.0000000000000002 * atan(length) \/ length) : w;/'
    'golden.apd.law=corotated@src/sim/apd/elastic_kernel.h@s/    snwWide pressure = snwWide_Load/    snwWide pressure = 1.0000001f * snwWide_Load/'
    'golden.pbd.default@src/sim/constraints/kernel.h@s/    snwWide error = length - /    snwWide error = 1.0000001f * length - /'
    'golden.pbcd.default@src/sim/constraints/neo_hookean_kernel.h@s/            step\[k\] = relaxation \* (r/            step[k] = 1.0000001f * relaxation * (r/'
    'golden.pbcd.law=edges@src/sim/constraints/soft_kernel.h@s/    v->length = snwWide_Sqrt/    v->length = 1.0000001f * snwWide_Sqrt/'
    'golden.pbcd.skinning=dual_quaternion@src/rig/skinning_kernel.h@s/        snwWide weight = snwWide_Load/        snwWide weight = 1.0000001f * snwWide_Load/'
    'golden.pbcd.integrator=bdf2@src/sim/pbcd/pbcd_inertia.c@s/    return bdf2 ? time->e \* rate/    return bdf2 ? 1.0000001 * time->e * rate/'
    'golden.rigpbd.default@src/sim/constraints/pair_kernel.h@s/    \*p = (m11 /    *p = 1.0000001f * (m11 /'
    'golden.rigpbd.chain@src/rig/rig_pass_kernel.h@s/sums\[d\] = sums\[d\] + w \* ApplyRow/sums[d] = sums[d] + 1.0000001f * w * ApplyRow/'
    'golden.scene.rig-worm@src/rig/flat_pass_kernel.h@s/        x = m \* x, y = m \* y;/        x = 1.0000001f * m * x, y = m * y;/'
    'golden.apd.things@src/contact/solve.c@s/        row\[1\] += w \* y;/        row[1] += 1.0000001f * w * y;/'
    'golden.pbd.default@src/contact/solve.c@s/snwVec3_Scale(wanted, friction.kinetic \* push/snwVec3_Scale(wanted, 1.0000001 * friction.kinetic * push/'
    'golden.scene.push@src/sim/constraints/damping.c@s/        .share = (float)-expm1/        .share = 1.0000001f * (float)-expm1/'
    'golden.prep.cow@src/geom/cut.c@s/cut->positions\[edge->outside\], edge->t);/cut->positions[edge->outside], edge->t * (1 + 1e-15));/'
    'golden.prep.ghost@src/geom/fit_triangles.c@s/out\[made\]\[0\] = a\[0\] + t \*/out[made][0] = a[0] + (1 + 1e-12) * t */'
    'golden.prep.biped@src/rig/biharmonic.c@s/            x\[k\] = b\[k\] + penalty \*/            x[k] = b[k] + (1 + 1e-15) * penalty */'
    'golden.bake.glb@src/bake/out_gltf.c@s/"flesh %d %c", target->mode/"flesh-%d %c", target->mode/'
    'golden.bake.morphs@src/bake/out_gltf.c@s/"frame %d", target->mode);/"frame-%d", target->mode);/'
    'golden.bake.joints@src/bake/out_joints.c@s/"flesh %d", h + 1);/"flesh-%d", h + 1);/'
    'golden.bake.pc2@src/asset/export_cache.c@s/    const float start = 0, step = 1;/    const float start = 1, step = 1;/'
    'golden.bake.mdd@src/asset/export_cache.c@s/(float)(i \/ cache->rate)/(float)((i + 1) \/ cache->rate)/'
    'golden.bake.obj@src/bake/out_cache.c@s/"%s-%05d.obj", track->path/"%s-%06d.obj", track->path/'
    'golden.export.obj@src/asset/export_obj.c@s/"# sinew\\no "/"# sinew\\ng "/'
    'golden.export.ply@src/asset/export_ply.c@s/property uchar red/property uchar Red/'
    'golden.export.pc2@src/asset/export_cache.c@s/    const float start = 0, step = 1;/    const float start = 1, step = 1;/'
    'golden.export.mdd@src/asset/export_cache.c@s/(float)(i \/ cache->rate)/(float)((i + 1) \/ cache->rate)/'
    'golden.export.medit@src/asset/export_medit.c@s/"MeshVersionFormatted 2/"MeshVersionFormatted 1/'
    'golden.export.clips@src/asset/export_take.c@s/snwText_Key(text, "clips");/snwText_Key(text, "clip");/'
    'golden.export.glb@src/asset/export_glb.c@s/.name = "take", .channels/.name = "takes", .channels/'
    'golden.export.json@src/scene/measures_file.c@s/snwText_Key(text, "rows");/snwText_Key(text, "row");/'
    'golden.run.log@src/scene/log_write.c@s/snwText_Key(&text, "sinew_log");/snwText_Key(\&text, "sinew_logs");/'
    'golden.run.cache@src/scene/frames_header.c@s/"%d.%d.%d", version.major/"%d.%d.%d.", version.major/'
    'golden.run.report@src/app/perform.c@s/"energy_max", snwJsonReal/"energy_most", snwJsonReal/'
    'golden.run.plots@src/view/plot_svg.c@s/stroke-width=/stroke-Width=/'
    'golden.text.schema@src/scene/scene_schema.c@s/draft\/2020-12\/schema"/draft\/2019-09\/schema"/'
    'golden.text.man@src/app/help.c@s/"Sinew manual/"The manual/'
    'golden.studio.chain@src/studio/state.c@s/    Bool(text, "playing", session->playing);/    Bool(text, "plays", session->playing);/'
    'golden.studio.puppet@src/studio/frame.c@s/        float scale = square > 0 ? 32767 /        float scale = square > 0 ? 32766 /'
    'golden.picture.film-skin@src/view/render.c@s/int count = Min(bandRows, height - row);/int count = Min(bandRows, height - row - 1);/'
    'golden.picture.still-flesh@src/view/render.c@s/int count = Min(bandRows, height - row);/int count = Min(bandRows, height - row - 1);/'
    'golden.picture.plot-energy@src/view/plot_png.c@s/            float cover = radius + 0.5f - Distance/            float cover = radius - 0.5f - Distance/'
    'golden.complete@src/app/perform.h@s/"skin strain speed/"skin stress speed/'
)

wanted=() number=0
for fault in "${faults[@]}"; do
    [[ ${fault%%@*} =~ $pattern ]] || continue
    if [ $((number % parts)) -eq $((part - 1)) ]; then
        wanted+=("$fault")
    fi
    number=$((number + 1))
done

# prepare COPY: the committed source, file by file, so that a second run rebuilds only what changed; and its build.
prepare()
{
    mkdir -p "$1"
    (cd "$1" && find . -path ./build -prune -o -type f -print | sed 's|^\./||') | sort > "$1.there"
    git ls-files | sort | comm -23 "$1.there" - | while read -r file; do rm "$1/$file"; done
    git ls-files -z | rsync -a --checksum --from0 --files-from=- . "$1/"
    cmake -S "$1" -B "$1/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSNW_TEST_TIMEOUT=60 > /dev/null
    cmake --build "$1/build" -j 1 > /dev/null
}

# passes BUILD TEST: in a session of its own, so that what a fault leaves running ends with it.
passes()
{
    local session status=0
    SINEW_PATIENCE=15 setsid ctest --test-dir "$1" -R "^${2//./\\.}\$" --no-tests=error > "$1/log" 2>&1 &
    session=$!
    wait "$session" || status=$?
    pkill -KILL -s "$session" || true
    return "$status"
}

# plant COPY FAULT: says how it went.
plant()
{
    local copy=$1 build=$1/build start=$SECONDS test file edit verdict
    IFS='@' read -r test file edit <<< "$2"
    cp "$copy/$file" "$build/kept"
    sed -i "$edit" "$copy/$file"
    if grep -qx "[0-9]*:$test" "$build/red"; then
        verdict="RED WITHOUT IT"
    elif cmp -s "$copy/$file" "$build/kept"; then
        verdict="NOTHING TO CHANGE"
    elif ! cmake --build "$build" -j 1 > "$build/log" 2>&1; then
        verdict="DOES NOT BUILD"
    elif passes "$build" "$test"; then
        verdict="NOT NOTICED"
    else
        verdict=caught
    fi
    cp "$build/kept" "$copy/$file"
    printf '%-18s %3d s  %-55s %s\n' "$verdict" $((SECONDS - start)) "$test" "$file"
}

work()
{
    local copy=build-faults/$1 mine=() tests
    for ((i = $1 - 1; i < ${#wanted[@]}; i += workers)); do
        mine+=("${wanted[i]}")
    done
    [ ${#mine[@]} -gt 0 ] || return 0
    prepare "$copy"
    tests=$(printf '%s\n' "${mine[@]%%@*}" | paste -sd '|')
    ctest --test-dir "$copy/build" -R "^(${tests//./\\.})\$" > /dev/null 2>&1 && : > "$copy/build/red" ||
        cp "$copy/build/Testing/Temporary/LastTestsFailed.log" "$copy/build/red"
    for fault in "${mine[@]}"; do
        plant "$copy" "$fault"
    done
}

mkdir -p build-faults
rm -f build-faults/*.verdicts
for ((worker = 1; worker <= workers; ++worker)); do
    work "$worker" > "build-faults/$worker.verdicts" &
done
wait
cat build-faults/*.verdicts
caught=$(cat build-faults/*.verdicts | grep -c '^caught' || true)
echo "$caught passed, $((${#wanted[@]} - caught)) failed"
[ "$caught" -gt 0 ] && [ "$caught" -eq "${#wanted[@]}" ]
