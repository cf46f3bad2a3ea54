// Choice of the kernels, and the slow way for lanes that they decline.

#include "math/rotation.h"

#include "math/cpu.h"
#include "math/eigen.h"

const snwRotationKernels* snwRotation_Kernels(snwSimd simd)
{
    const snwRotationKernels* kernels = NULL;
    switch (snwSimd_Resolve(simd))
    {
        case snw_simdAvx2:
            kernels = snwRotation_KernelsAvx2();
            break;
        case snw_simdBase:
            kernels = snwRotation_KernelsBase();
            break;
        default:
            break;
    }
    return kernels != NULL ? kernels : snwRotation_KernelsScalar();
}

// tr(R^T F) = q^T K q for a unit quaternion q = (x, y, z, w) (Davenport 1968; Horn 1987). The eigenvalues of K are
// s1+s2+s3, s1-s2-s3, -s1+s2-s3 and -s1-s2+s3, so the gap below the largest is 2 (s2 + s3).
static void FillDavenport(double K[4][4], const float f[9])
{
    double xx = f[0], xy = f[1], xz = f[2], yx = f[3], yy = f[4], yz = f[5], zx = f[6], zy = f[7], zz = f[8];
    K[0][0] = xx - yy - zz;
    K[1][1] = yy - xx - zz;
    K[2][2] = zz - xx - yy;
    K[3][3] = xx + yy + zz;
    K[0][1] = K[1][0] = xy + yx;
    K[0][2] = K[2][0] = xz + zx;
    K[1][2] = K[2][1] = yz + zy;
    K[0][3] = K[3][0] = zy - yz;
    K[1][3] = K[3][1] = xz - zx;
    K[2][3] = K[3][2] = yx - xy;
}

// The guess projected on the eigenvectors that share the largest eigenvalue: alone it is that eigenvector with the
// sign of the guess, and where the rotation is not unique it is the maximiser next to the guess.
void snwRotation_Robust(const float F[9], const float guess[4], float q[4])
{
    double K[4][4], sum[4] = {0, 0, 0, 0}, length = 0;
    FillDavenport(K, F);
    snwEigen4 eigen = snwEigen4_Symmetric((const double(*)[4])K);

    // Equal to within what float can tell.
    double limit = eigen.values[0] - 0x1p-21 * fabs(eigen.values[0]);
    for (int i = 0; i < 4 && eigen.values[i] >= limit; i++)
    {
        const double* v = eigen.vectors[i];
        double along = v[0] * guess[0] + v[1] * guess[1] + v[2] * guess[2] + v[3] * guess[3];
        for (int k = 0; k < 4; k++)
            sum[k] += along * v[k];
    }

    for (int k = 0; k < 4; k++)
        length += sum[k] * sum[k];
    length = sqrt(length);

    // The guess is at a right angle to all of them, half a turn away: any one will do.
    bool lost = !(length > 1e-6);
    for (int k = 0; k < 4; k++)
        q[k] = (float)(lost ? eigen.vectors[0][k] : sum[k] / length);
}
