// Exact signs on the integer grid: which side of a line, inside a circle or not, and distances. Coordinates are small
// enough that 128 bits hold every product.

#include "geom/predicates.h"

__extension__ typedef __int128 Wide;

int64_t snwOrient(snwGridPoint a, snwGridPoint b, snwGridPoint c)
{
    int64_t ux = (int64_t)b.x - a.x, uy = (int64_t)b.y - a.y;
    int64_t vx = (int64_t)c.x - a.x, vy = (int64_t)c.y - a.y;
    return ux * vy - uy * vx;
}

// The lifted determinant: rows (x, y, x^2 + y^2) of a, b, c seen from d.
int snwInCircle(snwGridPoint a, snwGridPoint b, snwGridPoint c, snwGridPoint d)
{
    int64_t ax = (int64_t)a.x - d.x, ay = (int64_t)a.y - d.y;
    int64_t bx = (int64_t)b.x - d.x, by = (int64_t)b.y - d.y;
    int64_t cx = (int64_t)c.x - d.x, cy = (int64_t)c.y - d.y;
    Wide sum = (Wide)(ax * ax + ay * ay) * (bx * cy - by * cx);
    sum += (Wide)(bx * bx + by * by) * (cx * ay - cy * ax);
    sum += (Wide)(cx * cx + cy * cy) * (ax * by - ay * bx);
    return (sum > 0) - (sum < 0);
}

int64_t snwGridDot(snwGridPoint o, snwGridPoint a, snwGridPoint b)
{
    return ((int64_t)a.x - o.x) * ((int64_t)b.x - o.x) + ((int64_t)a.y - o.y) * ((int64_t)b.y - o.y);
}

int64_t snwGridDistance2(snwGridPoint a, snwGridPoint b)
{
    return snwGridDot(a, b, b);
}
