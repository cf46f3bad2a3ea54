// Geometric multigrid for elastic bodies: symmetric matrices of 3 x 3 blocks, one block per pair of vertices that share
// an element, whose pattern stays and whose values change in every step.
//
//   snwGridLevelsDef def = snwDefaultGridLevelsDef();
//   def.vertexCount = n, def.rest = rest, def.elementCount = m, def.elements = tets;
//   snwGridLevels* levels;  snwGridLevels_Create(context, &def, &levels, message);                // once per shape
//   snwMultigrid* grid;     snwMultigrid_Create(context, levels, &gridDef, &grid, message);       // once per body
//   snwMultigrid_Hold(grid, held, snw_holdMask);         // any vertices, whenever they change
//   ... write snwMultigrid_Matrix(grid) ...              // off the diagonal floats, on it doubles
//   snwMultigrid_Refresh(grid, positions);               // coarse matrices for these values and places
//   snwMultigrid_Solve(grid, &solveDef, f, u);           // conjugate gradients, one V cycle in each iteration
//
// Levels. Coarse vertices lie on lattices over the rest shape, twice as wide from level to level; a vertex follows the
// corners of the lattice tetrahedron around it (four at most; weights below a tenth are dropped). A mesh that is a
// lattice itself gets nested levels, anything else a first lattice of 2.5 mean edges. A lattice point has one coarse
// vertex for each connected piece of the vertices that follow it, so limbs that only pass near each other are not
// glued.
//
// A coarse vertex moves and turns (six unknowns):
//     u_i = sum_c w_ic (u_c + r_c x (x_i - X_c)),   r_i = sum_c w_ic r_c,   x and X as they are now
// Three unknowns (it only moves) are the published space; linear tetrahedra of that kind cannot bend.
//
// Held vertices stay in the pattern, in the sums of rows and in all levels. They are masked: the inverse of their
// diagonal block and their rows of the interpolation are zero, so any set may be held or let go at any time, without
// memory. Coarse vertices may then lose their children: motions that no free vertex feels are left out where a diagonal
// block is inverted (pivoted Cholesky, small pivots dropped). No diagonal is shifted: that would cost iterations.
//
// Bits: the same for any number of threads and on every instruction set. No heap after Create.
//
// Rows are in visiting order (rowOf), not in the order of vertices; vectors of Solve are in the order of vertices.

#pragma once

#include "base/context.h"

// ---------------------------------------------------------------------------------------------------------------------
// Levels: what follows from the rest shape alone. Immutable, shared by all bodies of that shape

typedef struct snwGridLevels snwGridLevels;

typedef struct snwGridLevelsDef
{
    int vertexCount;
    const snwVec3* rest; // [vertexCount], finite
    int elementCount;
    const int* elements; // [4 elementCount]: the corners of an element are neighbours
    int unknowns;        // of a coarse vertex: 6 or 3
    int most;            // levels; 0: until few vertices are left
} snwGridLevelsDef;

snwGridLevelsDef snwDefaultGridLevelsDef(void);

// Copies what it needs. Vertices without an element are rows of their own.
snwResult snwGridLevels_Create(
    snwContext* context, const snwGridLevelsDef* def, snwGridLevels** out, snwMessage* message);
void snwGridLevels_Destroy(snwGridLevels* levels); // NULL allowed

// Rows in the order in which a sweep visits them. A sweep is a sequence of phases; clusters of a phase do not touch
// each other and run at the same time; rows of a cluster follow each other. So what lies below the diagonal was visited
// earlier, in any number of threads.
typedef struct snwBlockGraph
{
    int rows;
    int *lowStarts, *lowColumns;  // [rows + 1] and their columns, rising: blocks below the diagonal, row by row
    int *upStarts, *upColumns;    // above
    int* mirrors;                 // [upStarts[rows]]: the block below the diagonal that mirrors an upper one
    int phaseCount, *phaseStarts; // [phaseCount + 1] clusters
    int* clusterStarts;           // rows
} snwBlockGraph;

const snwBlockGraph* snwGridLevels_Graph(const snwGridLevels* levels); // of the finest matrix
const int* snwGridLevels_RowOf(const snwGridLevels* levels);           // [vertex]

// ---------------------------------------------------------------------------------------------------------------------
// Numbers

typedef struct snwMultigrid snwMultigrid;

typedef struct snwMultigridDef
{
    int before, after; // sweeps on the way down and up: V(1, 1)
    int visits[2];     // of the first coarse level, and of each further one by the level above it. {1, 1}: a V cycle,
                       // {2, 2}: W. Further levels are small and pay for two: 35 iterations instead of 51 on a dragon
} snwMultigridDef;

snwMultigridDef snwDefaultMultigridDef(void);

// levels: have to live as long.
snwResult snwMultigrid_Create(snwContext* context, const snwGridLevels* levels, const snwMultigridDef* def,
    snwMultigrid** out, snwMessage* message);
void snwMultigrid_Destroy(snwMultigrid* grid); // NULL allowed

// Blocks are column by column. The diagonal is double: each block minus the sum of its row's others (and what holds the
// vertex besides, as mass does). In float, or summed on its own, it would be wrong by per cents on slender bodies.
typedef struct snwBlockMatrix
{
    float *low, *up;  // [9 blocks], with room for one float more
    double* diagonal; // [9 rows], symmetric
} snwBlockMatrix;

snwBlockMatrix snwMultigrid_Matrix(snwMultigrid* grid);

// How holding goes on to coarse vertices.
typedef enum snwHoldRule
{
    snw_holdMask, // it does not: motions that nobody feels are left out where blocks are inverted. For 6 and 3 unknowns
    snw_holdGreedy, // as published: a coarse vertex takes the free child that follows it most and that no other has
                    // taken; one that finds none is held. Does not ensure full rank
    snw_holdPeel    // a coarse vertex is free once one of its children has all its other parents settled; if there is
                    // none, the coarse vertex with the fewest free children is held. Triangular, hence of full rank
} snwHoldRule;

// held[vertex] is not 0: it does not move. NULL: none. Before Refresh.
void snwMultigrid_Hold(snwMultigrid* grid, const unsigned char* held, snwHoldRule rule);

// After the matrix has new values: all coarse ones. positions: of the vertices, now.
void snwMultigrid_Refresh(snwMultigrid* grid, const snwVec3* positions);

// ---------------------------------------------------------------------------------------------------------------------
// Solving

typedef enum snwGridSolver
{
    snw_gridGradients, // conjugate gradients with a cycle as preconditioner
    snw_gridCycles,    // cycles alone
    snw_gridJacobi     // conjugate gradients with the diagonal alone: what multigrid is measured against
} snwGridSolver;

typedef struct snwGridSolveDef
{
    snwGridSolver solver;
    double tolerance; // of |r| / |f|
    int most;         // iterations or cycles
} snwGridSolveDef;

typedef struct snwGridReport
{
    int iterations;
    double residual; // |r| / |f| over free vertices, as the iteration has it
    bool finite;     // false: a number overflowed, and u is what was there before
} snwGridReport;

// u = A^-1 f on free vertices, from zero; u of held ones is zero (move what they pull into f). Returns what it reached;
// whether that is enough is for the caller to say.
snwGridReport snwMultigrid_Solve(snwMultigrid* grid, const snwGridSolveDef* def, const snwVec3* f, snwVec3* u);

// Parts of a larger system: y = A x, and u = what one cycle makes of f, near A^-1 f and symmetric. Held vertices count
// and give zero. size: about that of f, so that floats stay in range.
void snwMultigrid_Multiply(snwMultigrid* grid, const snwVec3* x, snwVec3* y);
void snwMultigrid_Guess(snwMultigrid* grid, double size, const snwVec3* f, snwVec3* u);

// One cycle on what the last solution left, for measuring: its result goes nowhere.
void snwMultigrid_Cycle(snwMultigrid* grid);

// ---------------------------------------------------------------------------------------------------------------------
// What there is

typedef struct snwMultigridStats
{
    int levels;
    int vertices[16];
    int64_t blocks[16];   // both halves and the diagonal
    int clusters, phases; // of the finest level
    double cycleBytes;    // that a cycle has to read at least
    int64_t memory;       // of both parts
    int dropped;          // unknowns of coarse vertices that no free vertex feels, in the last Refresh
} snwMultigridStats;

snwMultigridStats snwMultigrid_Stats(const snwMultigrid* grid);
