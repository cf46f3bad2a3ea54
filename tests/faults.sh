#!/usr/bin/env bash
# Are the tests able to fail? Plants one-line faults in a copy of the committed source, one at a time, and sees the
# test that guards each feature turn red. A fault that changes nothing, or that no test notices, is an error.
#
# Each fault: the test that must fail @ the file @ a sed expression that changes one line
set -euo pipefail
cd "$(dirname "$0")/.."
copy=build-faults/source
build=build-faults/build

faults=(
    'base.hashSeesEveryBitAndTheLength@src/base/hash.c@s/for (int i = 0; i < 4; ++i)$/for (int i = 0; i < 3; ++i)/'
    'tasks.sumsHaveTheSameBitsForAnyThreads@src/base/tasks.c@s/int smallest = ChunkCount(count, snw_maxSumChunks);/int smallest = ChunkCount(count, context->threadCount);/'
    'tasks.phasesRunInOrderForAnyThreads@src/base/tasks.c@s/RunAlone(&phases\[current++\]);/current++;/'
    'tasks.veryManyChunksKeepTheirBorders@src/base/tasks.c@s/ < each ? chunks : (claim/ < each ? chunks + 1 : (claim/'
    'sweep.coloursFollowEachOtherForAnyThreads@src/sim/constraints/blocks.c@s/begin = colours->starts\[first + i\], end/begin = colours->starts[i \& ~1], end/'
    'character.everyFailedAllocationIsAnErrorWithoutLeak@src/base/arena.c@s/        snwFree(arena->context, arena->first);/        if (next != NULL) snwFree(arena->context, arena->first);/'
    'rotation.classInverted@src/math/rotation_lanes.h@s/ & (det \* SNW_MAX_CONDITION > trace3));/ );/'
    'rotation.everyInstructionSetGivesTheSameBits@src/math/rotation_lanes.h@s/    snwWide f = -0.5f \/ det;/    snwWide f = -0.5f \/ det * (1.0f + 1e-7f * (SNW_WIDE_LANES == 8));/'
    'elastic.forcesAndEnergyAreThoseOfTheOracle@src/sim/apd/elastic_kernel.h@s/    snwWide one = v->y1 + k2, /    snwWide one = v->y1 - k2, /'
    'elastic.everyInstructionSetGivesTheSameBits@src/sim/apd/elastic_kernel.h@s/    snwWide inverse = 1.0f \/ (j22/    snwWide inverse = (1.0f + 1e-3f * (SNW_WIDE_LANES == 8)) \/ (j22/'
    'elastic.emptyLanesAddNothing@src/sim/apd/elastic_kernel.h@s/    if (!snwWideInt_Any(l->empty))/    if (1)/'
    'elastic.rigidMotionIsNotDamped@src/sim/apd/elastic_kernel.h@s/    S\[0\] = xx + (0.5f \* /    S[0] = xx + (0.0f * /'
    'elastic.smallStrainHasTheModuliOfTheMaterial@src/sim/apd/elastic.c@s/weight.bulk = 3 \* fmax(lambda, 0)/weight.bulk = fmax(lambda, 0)/'
    'elastic.closestVolumeIsThatOfTheOracle@src/sim/apd/elastic.c@s/    if (below \&\& (!whole || .*/    if (below)/'
    'elastic.metricBoundsTheCurvature@src/sim/apd/elastic.c@s/bulk = 2 \* fmax(weight->bulk, 0);/bulk = fmax(weight->bulk, 0);/'
    'geom.skinIsClosedAndOutward@src/geom/mesh.c@s/{{1, 2, 3, -1}, /{{1, 3, 2, -1}, /'
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
    'active.randomProblemsAreThoseOfBruteForce@src/linalg/active.c@s/        return w->u\[i\] < 0;/        return false;/'
    'linalg.sparseRightSidesGiveTheSameBits@src/linalg/cholesky_solve.c@s/node >= 0 \&\& !reach\[node\]; node = f->parents\[node\])/node >= 0 \&\& !reach[node]; node = -1)/'
    'apd.energyNeverExceedsItsStart@src/sim/apd/apd.c@s/(sim, index, h) >= ahead))/(sim, index, h) >= ahead - 1e9))/'
    'apd.accelerationLowersTheObjectiveOfEveryFrame@src/sim/apd/apd_accelerate.c@s/            x -= loop->theta\[k\]/            x += loop->theta[k]/'
    'apd.pinsAreMetExactly@src/sim/apd/apd.c@s/body->pinned\[v\] ? (snwVec3){0, 0, 0} : r);/r);/'
    'apd.limitsStopTheFall@src/sim/apd/apd_bones.c@s/== snw_rowAtLeast \&\& snwSim_Param/== snw_rowAtLeast || snwSim_Param/'
    'apd.dragGoesItsShareOfTheWay@src/sim/apd/apd_contact.c@s/    body->dragForces\[slot\] = snwVec3_Add(pull, change);/    body->dragForces[slot] = snwVec3_MulAdd(pull, 0.0, change);/'
    'apd.rigidBlocksComeToRest@src/contact/solve.c@s/        row\[1\] += w \* y;/        row[1] -= w * y;/'
    'apdBaselines.literalMatrixIsOurs@src/sim/apd/apd_literal.c@s/% 3 == other ? arm\[other\] : -arm\[other\];/% 3 == other ? arm[other] : arm[other];/'
    'apdBaselines.splitIsOursWithoutFlesh@src/sim/apd/apd_split.c@s/snwVec3_Sub(affine\[b\], t\[b\]));/(snwVec3){0, 0, 0});/'
    'apdBaselines.splitHoldsJointsAndKeepsBonesRigid@src/sim/apd/apd_split.c@s/^    snwApd_SolveBones(sim, index, h);//'
    'apdBaselines.tangentIsThatOfTheEnergyAndNeverNegative@src/sim/apd/apd_constrained.c@s/, -0.5 \* weight->shear);/, -1e9);/'
    'apdBaselines.stiffBonesLockAndRigidOnesTurn@src/sim/apd/apd_system.c@s/^                material.young \*= model->ratio;//'
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
    'weights.pruningKeepsTheHeaviestAndTheSum@src/rig/weights.c@s/    SortRow(row, count, true);/    SortRow(row, count, false);/'
    'biharmonic.smallProblemsAreThoseOfTheOracle@src/rig/biharmonic.c@s/double bounded = v\[k\] > theta ? v\[k\] - theta : 0;/double bounded = v[k] - theta;/'
    'biharmonic.cagesAreLinearAlongTheirEdges@src/rig/handles.c@s/        holder->held->values\[row + (size_t)ends\[1\]\] = t;/        holder->held->values[row + (size_t)ends[1]] = 1 - t;/'
    'contact.normalIsTheGradientOfTheDistance@src/contact/collider.c@s/if (beyond > fabs(position\[nearest\])/if (beyond < fabs(position[nearest])/'
    'rig.clipPassesThroughItsKeys@src/rig/clip.c@s/wrapped < 0.0 ? wrapped + (last - first) : wrapped/wrapped/'
    'sim.sameHashForAnyThreadsAndInstructionSet@src/sim/constraints/damping.c@s/    loop.spin = Spin(sums);/    loop.spin = Spin(sums); loop.spin.x += 1e-4 * context->threadCount;/'
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
    'sim.elasticEnergyOfAKnownStrain@src/sim/measures.c@s/    return mu \* shape + 0.5 \* lambda/    return mu * shape + 0.4 * lambda/'
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
    'pbcd.stiffFleshIsStill@src/sim/constraints/neo_hookean_kernel.h@s/        w\[n\] = w\[n\] + w\[n\];/        w[n] = w[n];/'
    'pbcd.freeFlightKeepsMomentum@src/sim/constraints/soft_kernel.h@s/now\[1\]\[k\] = v->p\[1\]\[k\] - v->p\[1\]\[3\] \*/now[1][k] = v->p[1][k] - 0.99f * v->p[1][3] */'
    'pbcd.blendCarriesFleshAlong@src/sim/pbcd/pbcd_motion.c@s/(float)loop->time->carried \* more/0.9f * (float)loop->time->carried * more/'
    'pbcd.cutsCarryFleshOver@src/sim/pbcd/pbcd_rig.c@s/    TurnRows(state->positions, count, motion, true);//'
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
    'gltf_write.passThroughKeepsEverything@src/scene/tree.c@s/        memcpy(buffer + strlen(buffer), ".0", 3);/        memcpy(buffer + strlen(buffer), "", 1);/'
    'gltf_write.morphsAreAppendedAndWhatDrivesThemWidened@src/asset/gltf_write_morph.c@s/        if (users\[2 \* i + 1\] > 0)/        if (users[2 * i + 1] > 1)/'
    'gltf_write.charactersKeepSkinBonesAndMotions@src/asset/gltf_character.c@s/    return parent < 0 ? rest : /    return parent < 1 ? rest : /'
    'gltf_write.aFullDiskLeavesNothing@src/asset/gltf_write_save.c@s/        snwPartFile_Drop(&files->parts\[i\]);/        snwPartFile_Abandon(\&files->parts[i]);/'
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
    'prepared.whatIsCutShortOrDamagedIsRefused@src/sim/prepared_block.c@s/tag) != checksum)/tag) != checksum \&\& tag == 0)/'
)

# Copied file by file, so that a second run rebuilds only what changed.
mkdir -p "$copy"
git ls-files -z | rsync -a --checksum --from0 --files-from=- . "$copy/"
cmake -S "$copy" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release > /dev/null
cmake --build "$build" > /dev/null

caught=0 missed=0
for fault in "${faults[@]}"; do
    IFS='@' read -r test file edit <<< "$fault"
    cp "$copy/$file" "$build/kept"
    sed -i "$edit" "$copy/$file"
    if cmp -s "$copy/$file" "$build/kept"; then
        verdict="NOTHING TO CHANGE"
    elif ! cmake --build "$build" > "$build/log" 2>&1; then
        verdict="DOES NOT BUILD"
    elif ctest --test-dir "$build" -R "^${test//./\\.}\$" --no-tests=error > "$build/log" 2>&1; then
        verdict="NOT NOTICED"
    else
        verdict=caught
    fi
    cp "$build/kept" "$copy/$file"
    [ "$verdict" = caught ] && caught=$((caught + 1)) || missed=$((missed + 1))
    printf '%-18s %-55s %s\n' "$verdict" "$test" "$file"
done
cmake --build "$build" > /dev/null
echo "$caught passed, $missed failed"
[ "$missed" -eq 0 ]
