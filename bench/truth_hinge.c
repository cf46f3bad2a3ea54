#include "truth.h"

#include <math.h>

typedef struct Swing
{
    double angle, rate;
} Swing;

static Swing Slope(const snwDrivenHingeDef* def, double time, Swing at)
{
    double pull = def->stiffness * (def->target + def->speed * time - at.angle) - def->damping * at.rate;
    return (Swing){at.rate, (pull - def->torque * sin(at.angle - def->bottom)) / def->inertia};
}

static Swing Moved(Swing at, double step, Swing slope)
{
    return (Swing){at.angle + step * slope.angle, at.rate + step * slope.rate};
}

static Swing Run(const snwDrivenHingeDef* def, double time, int steps)
{
    Swing at = {def->angle, def->rate};
    double step = time / steps;
    for (int i = 0; i < steps; ++i)
    {
        double t = i * step;
        Swing k1 = Slope(def, t, at);
        Swing k2 = Slope(def, t + step / 2, Moved(at, step / 2, k1));
        Swing k3 = Slope(def, t + step / 2, Moved(at, step / 2, k2));
        Swing k4 = Slope(def, t + step, Moved(at, step, k3));
        at.angle += step / 6 * (k1.angle + 2 * k2.angle + 2 * k3.angle + k4.angle);
        at.rate += step / 6 * (k1.rate + 2 * k2.rate + 2 * k3.rate + k4.rate);
    }
    return at;
}

// Halved until nothing changes, as for the nunchuck. Too large a step of a stiff hinge gives no number: it goes on.
void snwDrivenHinge_Solve(const snwDrivenHingeDef* def, double time, double* angle, double* rate)
{
    const int most = 1 << 22;
    int steps = 64;
    Swing before, now = Run(def, time, steps);
    do
    {
        before = now;
        steps *= 2;
        now = Run(def, time, steps);
    } while (!(fabs(now.angle - before.angle) < 1e-11 && fabs(now.rate - before.rate) < 1e-10) && steps < most);
    *angle = now.angle;
    *rate = now.rate;
}
