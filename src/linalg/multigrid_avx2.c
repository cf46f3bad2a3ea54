// The loops of multigrid_kernel.h for AVX2.

#include "linalg/multigrid_parts.h"

#if defined(__AVX2__)

#include "linalg/multigrid_kernel.h"

const snwMultigridKernels* snwMultigrid_KernelsAvx2(void)
{
    return &s_kernels;
}

#else

const snwMultigridKernels* snwMultigrid_KernelsAvx2(void)
{
    return NULL;
}

#endif
