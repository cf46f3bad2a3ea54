// Smoothing: inner points move towards the centroid of their surroundings, then edges are flipped back to Delaunay.
//
// A careful move is made only if the smallest angle around the point does not shrink, or stays above a goal that is at
// least the smallest angle of the whole; flips to Delaunay never shrink the smallest angle of a pair. So no pass
// worsens the mesh. The other moves only keep triangles from turning over: they spread points that were thrown in.

#include "geom/triangulate_parts.h"

#include <math.h>

enum
{
    snw_maxStar = 64 // neighbours of a point that is moved; more are rare and stay
};

typedef struct Star
{
    snwGridPoint ring[snw_maxStar]; // counter-clockwise
    int count;
} Star;

double snwGridMinSine(snwGridPoint a, snwGridPoint b, snwGridPoint c)
{
    double area2 = (double)snwOrient(a, b, c);
    double u = (double)snwGridDistance2(a, b), v = (double)snwGridDistance2(b, c), w = (double)snwGridDistance2(c, a);
    // the smallest angle lies between the two longest sides
    double most = fmax(fmax(u * v, v * w), w * u);
    return area2 / sqrt(most);
}

// False for points on the outline.
static bool Surround(const snwPlanar* planar, int point, Star* star)
{
    int first = planar->leaving.data[point], e = first;
    star->count = 0;
    do
    {
        if (star->count == snw_maxStar || planar->segment.data[e] >= 0)
            return false;
        star->ring[star->count++] = snwPlanar_Start(planar, snwNextEdge(e));
        e = snwPlanar_TurnLeft(planar, e);
    } while (e >= 0 && e != first);
    return e == first;
}

static double StarSine(const Star* star, snwGridPoint centre)
{
    double least = 1;
    for (int i = 0; i < star->count; ++i)
        least = fmin(least, snwGridMinSine(centre, star->ring[i], star->ring[(i + 1) % star->count]));
    return least;
}

// Centroid of the star, half-way mixed with the mean of the neighbours: the first evens out areas, the second angles.
static snwGridPoint Target(const Star* star, snwGridPoint centre)
{
    double x = 0, y = 0, total = 0, meanX = 0, meanY = 0;
    for (int i = 0; i < star->count; ++i)
    {
        snwGridPoint a = star->ring[i], b = star->ring[(i + 1) % star->count];
        double area = (double)snwOrient(centre, a, b);
        x += area * ((double)centre.x + a.x + b.x) / 3;
        y += area * ((double)centre.y + a.y + b.y) / 3;
        total += area;
        meanX += a.x, meanY += a.y;
    }
    return (snwGridPoint){
        (int32_t)lrint((x / total + meanX / star->count) / 2), (int32_t)lrint((y / total + meanY / star->count) / 2)};
}

static void MovePoint(snwPlanar* planar, int point, bool careful, double goal)
{
    Star star;
    if (planar->leaving.data[point] < 0 || !Surround(planar, point, &star))
        return;
    snwGridPoint from = planar->points.data[point], to = Target(&star, from);
    double before = StarSine(&star, from), least = careful ? fmin(before, goal) : fmin(before, 0.1);
    for (int half = 0; half < 3; ++half)
    {
        if (StarSine(&star, to) >= least)
        {
            planar->points.data[point] = to;
            return;
        }
        to = (snwGridPoint){from.x + (to.x - from.x) / 2, from.y + (to.y - from.y) / 2};
    }
}

static double LeastSine(const snwPlanar* planar)
{
    double least = 1;
    for (int e = 0; e < planar->vertex.count; e += 3)
        least = fmin(least,
            snwGridMinSine(snwPlanar_Start(planar, e), snwPlanar_Start(planar, e + 1), snwPlanar_Start(planar, e + 2)));
    return least;
}

snwResult snwFlatWork_Relax(snwFlatWork* work, int passes, bool careful)
{
    snwPlanar* planar = &work->planar;
    double goal = fmax(LeastSine(planar), 0.6); // 37 degrees
    for (int pass = 0; pass < passes && !planar->failed; ++pass)
    {
        for (int i = work->inputCount; i < planar->points.count; ++i)
            if (planar->home.data[i] < 0)
                MovePoint(planar, i, careful, goal);
        snwPlanar_LegalizeAll(planar);
    }
    return planar->failed ? snwFailMemory(work->message) : snw_ok;
}
