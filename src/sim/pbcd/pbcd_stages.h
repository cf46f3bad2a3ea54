// The timed stages of pbcd.

#pragma once

enum
{
    snw_stageRig,
    snw_stagePredict,
    snw_stageDetect,
    snw_stageDistance,
    snw_stageVolume,
    snw_stageContact,
    snw_stageComplement,
    snw_stageVelocity,
    snw_stageCount,
};
