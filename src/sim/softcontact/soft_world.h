// Bodies with soft skins, rigid things and what stands around them, in one contact problem per step.
//
// What can be touched are solids: a collider's shape, fixed in the world, moved by hand, or on a link of a body; and
// the surfaces of skins. What touches are probes: every point of every skin, and balls on links (the corners of a rigid
// box, say), these solids alone. A step
//   1. finds the probes that are near a solid, or will be within the step,
//   2. wakes the points of skins near them, and lets those sleep that have nothing to do any more,
//   3. finds how every body would move,
//   4. solves for the impulses of contacts, joint limits and loops (coulomb.h), from those of the step before,
//   5. moves the bodies.
//
// Ties are what hands and pins hold bodies by. They are balls of the problem (coulomb.h), so that what pulls on a skin
// moves bones, what they touch and what holds them in the same step, at any strength.
//
// With J the rows of all contacts and A = L L^T of a body, W = sum over bodies (J L^-T)(J L^-T)^T, plus G between
// points of the same skin. The normal row asks for n . v >= -gap / h: whoever is not there yet may come, and nobody
// goes deeper; of a gap below 0 a part is taken back.

#pragma once

#include "contact/collider.h"
#include "linalg/coulomb.h"
#include "sim/softcontact/skin_touch.h"
#include "sim/softcontact/soft_body.h"

typedef struct snwSoftSolid
{
    snwCollider collider;
    int body, link; // body < 0: of the world
    // On a link: from its point, in the axes of the rest pose. Else in the world, now and a step before.
    snwTransform place, before;
} snwSoftSolid;

typedef struct snwSoftProbe
{
    int body, link;
    int vertex; // of the body's mesh, nearest to it: for whoever reports contacts
    snwVec3 at; // m, from the link's point in the axes of the rest pose
    double radius;
} snwSoftProbe;

// What was pushed, for the next step to start from. Part of the state.
typedef struct snwSoftMemory
{
    int64_t key;
    snwVec3 impulse; // N s
} snwSoftMemory;

// A part of what a tie holds, or of the far side of a contact.
typedef struct snwSoftTiePart
{
    snwSoftTouch touch;
    double share; // those of a tie sum to 1
} snwSoftTiePart;

typedef struct snwSoftContact
{
    int64_t key; // of the probe and the solid
    int probe;   // < 0: a point of a skin
    int body;
    snwSoftTouch touch;
    int solid;     // as many as there are, and more: the skin of that number, all bodies' counted
    int otherBody; // < 0: of the world; may be the same
    int otherCount;
    snwSoftTiePart others[3];           // a place on a link, or corners of a triangle
    snwVec3 normal, tangents[2], drift; // drift: the solid's own velocity there, m/s
    snwVec3 slip;                       // m/s, against the other side when the step began
    double gap, friction;
    bool rigid;
    int row;         // of lambda
    snwVec3 impulse; // N s, on the probe
} snwSoftContact;

// The mean of its parts, v, shall move as asked: v + (yield + give W) lambda = velocity, as far as |lambda| <= most.
typedef struct snwSoftTie
{
    int body;
    int first, count; // parts
    snwVec3 velocity; // m/s
    double yield;     // 1/kg
    double give;      // likewise, of its row's own W
    double most;      // N s; INFINITY: whatever it takes
    int row;          // of lambda, and within its island
    int islandRow;
    snwVec3 impulse; // N s, of the last step
} snwSoftTie;

typedef struct snwSoftSettings
{
    double h; // s
    snwVec3 gravity;
    bool implicit;
    bool literal;      // velocity products of bodies as in Eq. 12, to compare with
    bool rigid;        // skins stay asleep
    bool soft;         // all of them are awake, as far as there is room
    int rings;         // of neighbours that wake with a point that touches
    double rest;       // m: points sleep again whose offset and 50 ms of whose motion is less
    double margin;     // m: what is nearer is looked at
    double recover;    // part of a depth that a step takes back, of soft points
    double leave;      // m/s: it takes back no more than this, however deep
    double compliance; // of rigid contacts, of their row's W
    double stiffness;  // N/m and N s/m of their normal rows, in place of it; 0: none
    double damping;
    // In place of the problem, to compare with: forces max(0, k depth - c speed) on points that are inside, and up to
    // mu times that against their sliding, c times its speed at most. As of the start of the step.
    bool penalty;
    double penaltyStiffness, penaltyDamping; // N/m, N s/m
    snwCoulombShape shape;
    snwCoulombStart start;
    int newtons, sweeps;
    double tolerance;
} snwSoftSettings;

snwSoftSettings snwSoftWorld_DefaultSettings(void);

typedef struct snwSoftWorldDef
{
    int bodyCount, solidCount, probeCount;
    snwSoftBody* bodies; // stay the caller's
    const snwSoftSolid* solids;
    const snwSoftProbe* probes;
    const double* frictions;     // [bodyCount solidCount]; NULL: those of the solids
    const double* skinFrictions; // [bodyCount bodyCount] of skin on skin; NULL: 0.5
    int contactCapacity;         // what is beyond is not felt: the farthest
    int tieCapacity, tiePartCapacity;
} snwSoftWorldDef;

typedef struct snwSoftWorld
{
    snwContext* context;
    snwSoftWorldDef def;
    snwSoftSolid* solids;
    snwSoftProbe* probes;
    double *frictions, *skinFrictions;
    snwSkinSearch search;

    // State, beside that of the bodies.
    int memoryCount;
    snwSoftMemory* memory; // by key

    // What is held in the step to come: the caller's to fill, before each.
    int tieCount, tiePartCount;
    snwSoftTie* ties;
    snwSoftTiePart* tieParts;

    // What the last step has found.
    int contactCount;
    snwSoftContact* contacts;
    snwCoulombReport report;
    long problems, failures, left; // since it was made: problems, those not solved, contacts beyond the capacity
    double problemTime;            // s of the processor, since it was made: making and solving problems

    // Sees each problem just before it is solved, to keep it; NULL: nobody does.
    void (*watch)(void* watcher, const snwCoulombDef* problem);
    void* watcher;

    // The island under way: bodies that touch each other.
    struct
    {
        int first, contacts; // in `order`
        int blocks;          // of three rows: contacts, then ties
        int rows;            // of the islands before
    } island;
    int *order, *islandOf, *jointRows; // contacts by island; by body; rows of joints in lambda, by body
    int rowCount, rowCapacity, blockCount;
    snwCoulombBlock* blocks;
    double *w, *compliance, *q, *lambda, *scratch;
    double *rows, *panels, *gram;          // of one body; behind the rows: one more
    int* index;                            // of its rows among all
    const unsigned char **wakes, **sleeps; // by skin of one body
} snwSoftWorld;

snwResult snwSoftWorld_Create(
    snwContext* context, const snwSoftWorldDef* def, snwSoftWorld* world, snwMessage* message);
void snwSoftWorld_Free(snwSoftWorld* world);

// Bodies are placed before each step (snwSoftBody_Look), solids that move by hand have their place. others: by body,
// what the settings do not say: forces, loads and drives; or NULL.
snwResult snwSoftWorld_Step(
    snwSoftWorld* world, const snwSoftSettings* settings, const snwSoftStep* others, snwMessage* message);
