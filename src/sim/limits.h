// Ranges of what comes from outside, in SI units. The engine checks them and the scene reader's tables are made of
// them, so that whatever the engine accepts can be written to a scene or log and read back.
//
// They keep every number far inside the range of float, in which positions, velocities and inverse masses live.

#pragma once

#define SNW_MAX_POSITION     1e6 // m, per axis
#define SNW_MIN_SIZE         1e-6
#define SNW_MAX_SIZE         1e5  // m
#define SNW_MAX_SPEED        1e5  // m/s, rad/s
#define SNW_MAX_ACCELERATION 1e4  // m/s^2
#define SNW_MAX_FORCE        1e12 // N
#define SNW_MAX_SECONDS      1e9
#define SNW_MIN_DENSITY      1e-3 // kg/m^3
#define SNW_MAX_DENSITY      1e6
#define SNW_MIN_YOUNG        1e-3 // Pa
#define SNW_MAX_YOUNG        1e13
#define SNW_MAX_DAMPING      1e6       // 1/s
#define SNW_MAX_FREQUENCY    1e4       // Hz
#define SNW_MAX_SETTLING     1e4       // s
#define SNW_MAX_SAMPLES      (1 << 28) // offsets of a track of vertices
#define SNW_MAX_STRETCH      1e3       // of an affine handle
#define SNW_MAX_FRICTION     100.0
#define SNW_DEFAULT_FRICTION 0.5
#define SNW_MIN_MASS         1e-24 // kg, of a vertex: a micrometre of flesh
#define SNW_MAX_MASS         1e24
#define SNW_MAX_STAIRS       1000      // steps of a flight
#define SNW_MAX_HEIGHTS      (1 << 20) // of a heightfield
#define SNW_MAX_MESH         1000000   // vertices or triangles of a collider
#define SNW_MAX_NAME         127       // bytes
#define SNW_MAX_TEXTURE      8192      // pixels each way
#define SNW_MAX_MOTION       1e5       // s: a day of animation
#define SNW_MIN_KEY_GAP      1e-6      // s, between the keys of a motion
