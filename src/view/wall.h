// A sheet behind everything, straight before the camera: it looks like the background and carries shadows.

#pragma once

#include "view/camera.h"
#include "view/picture.h"

// distance: m behind the picture's centre. The picture has its centre and radius.
snwResult snwPicture_AddWall(snwPicture* picture, const snwCamera* camera, float distance, snwMessage* message);
