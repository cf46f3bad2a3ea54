// The two small solves of rig_fit.h where they are most common and must be fastest: flat rigs of a few handles that
// only move and turn, without joints or rules, whose x and y are given together. All of it takes a microsecond; the
// general way takes three or four, most of them for getting through its many cases.
//
// Numbers of the plane are complex: u + i v is a place, r = c + i s a rotation. With arms p of the handles l and k
//   H_lk = [ P0        p1 ]     P0 = sum m w_l w_k        p1 = sum m w_l w_k p_l
//          [ conj(p1') q  ]     p1' = sum m w_l w_k p_k   q = sum m w_l w_k conj(p_k) p_l
// C = (s, t) - H (u, r), t_k = sum m w_k conj(p_k) x, and the torque about a handle is Im(conj(r_k) t_k). A turn dth
// changes r by i r dth, so that M is H between (du, i r dth).

#pragma once

#include <stdbool.h>

enum
{
    snw_mostFlatHandles = 24, // a multiple of four
    snw_flatMatrixPlanes = 7
};

typedef double snwFlatPlane[snw_mostFlatHandles]; // by handle; a complex number has two, one after the other

typedef struct snwFlatPlanes
{
    _Alignas(32) snwFlatPlane u[2];
    _Alignas(32) snwFlatPlane t[2];
} snwFlatPlanes;

// Rows by columns, all 32-byte aligned; columns are a multiple of four.
typedef struct snwFlatMatrix
{
    int rows, stride;
    const double* numbers; // of H: planes P0, p1, conj(p1'), q for each row, complex ones in two
    const double* other;
    bool conjugate;
    bool still; // of H: no handle turns, and forces on linear parts are not asked for
} snwFlatMatrix;

// The matrix of the turns: rows by columns as above, c and s of each handle, and what comes on top of the diagonal.
typedef struct snwFlatTurns
{
    int rows, stride;
    const double *sums, *differences; // of c_k c_l + s_k s_l and of s_k c_l - c_k s_l
    const double* diagonal;
    const snwFlatPlane* turns;
} snwFlatTurns;

// The inverse of that, and what it is of.
typedef struct snwFlatFactor
{
    int elimination; // of the system; 0: there is none
    _Alignas(32) snwFlatPlane turns[2];
    _Alignas(32) double inverse[snw_mostFlatHandles * snw_mostFlatHandles];
} snwFlatFactor;

typedef struct snwFlatScratch
{
    snwFlatPlanes pose, forces, step;
    _Alignas(32) snwFlatPlane arms[2]; // forces on linear parts, as the system sees them
    _Alignas(32) snwFlatPlane torques, turns;
    snwFlatFactor fit, all;
} snwFlatScratch;
