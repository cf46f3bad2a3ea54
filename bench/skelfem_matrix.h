// The matrix of a stage as others take it: single numbers in rows.

#pragma once

#include "peer_petsc.h"
#include "skelfem_stage.h"

#include "linalg/sparse.h"

// Free rows of the grid's matrix in double, the weight, and where vertices are. The second values are those of a body
// that has bent a little further. The body is then bent so. False: no memory; the caller frees it anyway.
bool snwFemMatrix_Make(snwFemMatrix* out, snwFemStage* stage, double h);
void snwFemMatrix_Free(snwFemMatrix* matrix);

// Its lower triangle with the second values. False: no memory; the caller frees its three arrays anyway.
bool snwFemMatrix_MakeLower(const snwFemMatrix* matrix, snwSparse* lower);
