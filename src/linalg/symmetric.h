// Eigenvalues and eigenvectors of dense symmetric matrices of some hundred rows, by Jacobi's rotations: slower than
// tridiagonal methods, and short. Exact to about 1e-15 of the largest eigenvalue. Same bits everywhere.

#pragma once

// a: n x n, row by row, symmetric; destroyed. values: n, descending. vectors: n x n, row i is the unit vector of
// values[i], its largest entry positive.
void snwSymmetric_Eigen(int n, double* a, double* values, double* vectors);
