// All metrics, in one place. A new one needs a row here, then `sinew bench --metrics-doc > docs/bench.md`.

#include "bench.h"

#include <string.h>

const snwMetric snwMetrics[] = {
    {"polar_ns", "ns", "lower", "gather a tetrahedron, form its deformation gradient and extract its rotation; warm"},
    {"polar_svd_ns", "ns", "lower", "the same and the signed singular value decomposition"},
    {"polar_speedup", "x", "higher", "plain scalar double version over the wide one, from the same runs"},
    {"polar_err_rad", "rad", "lower",
        "largest angle to the reference in double, over what the matrix's condition grants"},
    {"local_ns", "ns", "lower",
        "local step of a tetrahedron: gather, rotation from the last frame's, stress, energy, forces added"},
    {"read_bandwidth", "GB/s", "higher", "reading memory with one thread"},
    {"factor_s", "s", "lower", "analysing and factoring a sparse matrix"},
    {"refactor_s", "s", "lower", "factoring it again with other values"},
    {"factor_entries", "", "lower", "numbers of the factor, with the zeros that blocks bring"},
    {"solve_ms", "ms", "lower", "forward and backward sweep for three right sides"},
    {"solve_one_ms", "ms", "lower", "the same for one right side"},
    {"solve_residual", "", "lower", "|A x - b| / |b| after a solve without refinement"},
    {"solve_vs_bandwidth", "x", "lower",
        "fastest solve of three in a turn over the time of reading the factor twice at the turn's fastest rate"},
    {"solve_vs_cholmod", "x", "higher", "CHOLMOD's solve of three (double, one thread) over ours, from the same turns"},
    {"grid_iterations", "", "lower",
        "`skelfem`: iterations of conjugate gradients with a multigrid cycle each, to 1e-6 of the forces, of the "
        "matrix in "
        "double"},
    {"grid_ms", "ms", "lower",
        "rotations, matrix, coarse matrices and that solution; processor time of one thread, the least of its turns"},
    {"energy_ms", "ms", "lower",
        "until a millionth of the error is left, in the norm of its energy; all that depends on the matrix included"},
    {"stiffness_ratio", "", "equal", "largest part of a diagonal block that is stiffness over its inertia 4 m / h^2"},
    {"grid_vs_jacobi", "x", "higher",
        "conjugate gradients with the diagonal alone over grid_ms, set-up of both included"},
    {"grid_vs_cholmod", "x", "higher", "CHOLMOD, factored again and solved, over grid_ms"},
    {"grid_vs_gamg_kept", "x", "higher",
        "PETSc's GAMG, with rigid motions known and its interpolation kept from another moment, over grid_ms"},
    {"grid_vs_gamg", "x", "higher", "the same with its interpolation made anew"},
    {"grid_vs_hypre", "x", "higher", "hypre's BoomerAMG over grid_ms"},
    {"grid_cycle_vs_bandwidth", "x", "lower", "a cycle over the time of reading its bytes at the speed of memory"},
    {"grid_factor", "", "lower",
        "what a cycle leaves of the error, in the norm of its energy, once the first four are over"},
    {"elimination_loss", "", "lower", "grid_factor with held vertices eliminated less that with adapted equations"},
    {"grid_mb", "MB", "lower", "matrix and hierarchy; 1 MB is 10^6 bytes"},
    {"euler_order", "", "higher",
        "`skelfem`: slope of the error over the step, from three runs with steps halved, of backward Euler"},
    {"bdf2_order", "", "higher", "the same of bdf2"},
    {"newmark_order", "", "higher", "the same of implicit Newmark"},
    {"tumble_growth", "x", "lower",
        "energy of a free body that tumbles and wobbles: what a step makes of it, in the mean of the last 75 of 150"},
    {"free_fall_err", "", "lower", "largest difference of a vertex's velocity to g t, relative"},
    {"held_weight_err", "", "lower", "what a bar at rest pulls at the end that is held against its weight, relative"},
    {"patch_err", "", "lower",
        "largest force on an inner vertex of an evenly stretched uneven mesh, of the largest on its outside"},
    {"beam_tip_err", "", "lower",
        "sag of a bar's end, extrapolated from two meshes, against Timoshenko's beam, relative"},
    {"beam_frequency_err", "", "lower", "likewise the frequency of its first bending"},
    {"step_ms", "ms", "lower", "one step of the whole scene"},
    {"steps_per_s", "1/s", "higher", "steps of the whole scene per second"},
    {"projection_ns", "ns", "lower", "one projection of one constraint: step time over all projections of the step"},
    {"distance_ns", "ns", "lower",
        "one projection of an edge's length in the simulation: time of the stage over all of them"},
    {"volume_ns", "ns", "lower", "one projection of a tet's volume, likewise"},
    {"bullet_ratio", "x", "higher",
        "a projection of a link in Bullet's btSoftBody over one of an edge in ours, same mesh, from the same turns; "
        "`skelfem`: an implicit step of Bullet's deformable finite elements over one of ours, processor time"},
    {"frame_ms", "ms", "lower", "one frame of an animated character, one thread"},
    {"artist_ms", "ms", "lower", "its share for where the motion puts bones and flesh"},
    {"physics_ms", "ms", "lower", "its share for inertia and constraints"},
    {"overhead_ms", "ms", "lower", "its share for all else: what joins bones and flesh, looking for contacts"},
    {"complement_residual", "", "lower",
        "largest in any frame of |J^T M u|, relative: what is left in the flesh's motion of what the rig can do"},
    {"flesh_energy_ratio", "x", "higher",
        "kinetic energy of the flesh's own motion, all frames together, over that of complementary dynamics"},
    {"cd_distance", "", "lower",
        "root of the mean square distance of vertices to complementary dynamics' in the worst frame, of the size"},
    {"speedup_2t", "x", "higher", "one thread over two threads, from the same runs"},
    {"speedup_limit", "x", "higher",
        "what this machine grants: two sims of one thread at once over one after the other, from the same runs"},
    {"simd_speedup", "x", "higher", "scalar kernels over the widest ones of this machine, from the same runs"},
    {"allocations_per_step", "", "lower", "calls of the allocator in a steady step"},
    {"hash_equal", "", "equal", "1 if all thread counts and instruction sets end in the same state, else 0"},
    {"create_ms", "ms", "lower", "making a sim"},
    {"create_bytes", "B", "lower", "memory taken by making a sim"},
    {"model_share_ratio", "x", "higher", "memory of the first sim of a character over that of a later one"},
    {"create_share_ratio", "x", "higher", "time of the first sim of a character over that of a later one"},
    {"tets", "", "equal", "tetrahedra of the mesh"},
    {"hexes", "", "equal", "hexahedra of the mesh"},
    {"triangles", "", "equal", "triangles of a flat mesh"},
    {"vertices", "", "equal", "vertices of the mesh"},
    {"skin_vertices", "", "equal", "vertices of its skin"},
    {"elastic_vertices", "", "equal", "vertices that no bone owns"},
    {"bones", "", "equal", "bones of the character"},
    {"joints", "", "equal", "joints of the character"},
    {"joint_freedom", "", "equal", "degrees of freedom of its joints"},
    {"min_bone_tets", "", "higher", "tetrahedra (or hexahedra) of the bone that has the fewest"},
    {"min_dihedral", "degrees", "higher", "smallest dihedral angle of a flesh tetrahedron"},
    {"max_dihedral", "degrees", "lower", "largest dihedral angle of a flesh tetrahedron"},
    {"min_angle", "degrees", "higher", "smallest angle of a triangle of a flat mesh"},
    {"inverted", "", "lower", "elements whose volume is not positive"},
    {"volume_err_rel", "", "lower", "volume of the mesh against that of the surface it was made from, relative"},
    {"mesh_s", "s", "lower",
        "from the blueprint or the surface to the finished mesh, the search for its spacing included"},
    {"weights_s", "s", "lower", "smooth weights of a mesh for all its handles, from mesh to sparse rows"},
    {"unity_err", "", "lower", "how far the weights of a vertex are from a sum of one, at worst"},
    {"bound_violation", "", "lower",
        "how far a weight is outside 0..1, from one on its own handle or from zero on another, at worst"},
    {"skin_ns", "ns", "lower", "skin one vertex and its normal by four handles, the conversion of the pose included"},
    {"skin_scalar_ns", "ns", "lower", "the same in a plain loop over floats, compiled like everything else"},
    {"skin_speedup", "x", "higher", "the plain loop over the wide kernels, from the same runs"},
    {"load_ms", "ms", "lower", "from a glTF or prepared file on disk to all that it holds, checked, in memory"},
    {"prep_s", "s", "lower", "from an artist's file to the prepared character on disk"},
    {"peak_rss", "MB", "lower",
        "memory of the process at its peak, beyond what it had before; of a bake: all of it. 1 MB is 10^6 bytes"},
    {"embedding_error", "", "lower",
        "how far a vertex of the artist's surfaces is from its place at rest, as a share of the size"},
    {"baked", "", "equal", "1 if a bake ended well and what it wrote was held against its source"},
    {"gate_err", "", "lower",
        "farthest that a vertex of the written file is from the source's without flesh, all clips, of the size"},
    {"gate_err_held", "", "lower", "the same of a run whose flesh is held to its skin"},
    {"ride", "", "lower",
        "farthest that a surface is from the body that is simulated in any frame, in the mean of its vertices, of the "
        "size"},
    {"torn_edges", "", "equal", "edges of the written file that are torn and not in the source, in the worst frame"},
    {"neighbour_flesh", "", "lower",
        "how far flesh of a limb that is still moves beside one that moves; share of the size"},
    {"folded_edges", "", "equal",
        "edges of the written file at which the surface doubles back and that of the source does not, in the worst "
        "frame"},
    {"bake_err", "mm", "lower",
        "largest distance of a vertex in any frame of the written file, played by its own skin and morphs, to the "
        "bake"},
    {"blender_err", "", "lower", "the same as Blender shows the file, of the size of the character"},
    {"three_err", "", "lower", "the same as three.js shows it"},
    {"bake_s", "s", "lower", "a whole bake by the program, from its start to its end, the gate included"},
    {"interrupt_ms", "ms", "lower", "from SIGTERM to the end of a bake, the worst over moments of all its phases"},
    {"loop_seam", "x", "lower",
        "change across the seam of a loop, of places or velocities, over the median change from frame to frame"},
    {"trajectory_drift", "", "lower",
        "farthest that the flesh of a bone is off the artist's motion in the mean over a clip, of the size"},
    {"targets", "", "lower", "morph targets or helper joints that were added to it"},
    {"size_ratio", "x", "lower", "bytes of the written file over those of its source"},
    {"targets_per_frame", "", "lower", "morph targets that were added to it, over the frames that they carry"},
    {"validator_errors", "", "equal",
        "errors that Khronos' gltf-validator finds in a file that we wrote, beyond those of the file it was made of"},
    {"write_mb_s", "MB/s", "higher", "frames into a cache on disk, every chunk synced; 1 MB is 10^6 bytes of the file"},
    {"read_mb_s", "MB/s", "higher", "all frames of a cache, in order, checked and decoded; of bytes of the file"},
    {"bytes_per_vertex", "B", "lower", "of the file, for each vertex and frame in it: state and all else included"},
    {"render_ms", "ms", "lower", "one frame of a film, 768 x 432 with 4 rays per pixel"},
    {"resume_identical", "", "equal",
        "1 if a run stopped anywhere and resumed leaves the bytes of a straight one, else 0"},
    {"detect_ns_per_vertex", "ns", "lower",
        "finding all overlaps of soft bodies once, for each vertex of their meshes"},
    {"growth_exponent", "", "lower",
        "slope of log time over log size: 1 k to 100 k vertices, to 1 M tets, or 100 k to 1 M triangles; "
        "`skelfem`: 197 k to 1.6 M tets"},
    {"missed_vs_brute", "", "equal", "overlaps that trying every vertex with every element and triangle finds beside"},
    {"incline_slip", "m", "lower", "what a block at 0.99 of the friction angle slips in 2 s; resting contact rests"},
    {"incline_accel_err", "", "lower",
        "acceleration at 1.01 of the friction angle against g (sin a - mu cos a), relative"},
    {"stack_drift", "m", "lower",
        "how far any of ten soft boxes on each other is from where it was 56 s before; `softcontact`: hard ones, at "
        "first"},
    {"max_penetration", "m", "lower",
        "deepest vertex of a soft ball inside the stairs or the ground, at the end of any frame"},
    {"end_penetration", "m", "lower", "the same when it has come down"},
    {"overlap_shared", "", "equal",
        "share of the left one of two equal balls in what both give way when pressed together"},
    {"separated", "m", "higher", "gap between the two when they are let go"},
    {"self_crossing", "", "lower", "skin vertices of a folded bar that are inside another part of it"},
    {"tunnelled", "", "lower", "vertices of a ball at 100 m/s that ever were behind the front of a wall of 1 cm"},
    {"sink_err", "", "lower",
        "how deep a plate sinks into a column of flesh against the closed form, relative; `softcontact`: a box into "
        "its sole"},
    {"rest_speed", "m/s", "lower", "fastest prop on flesh when it has settled"},
    {"ms_per_iteration", "ms", "lower",
        "one iteration of the solve: local step, right side, sweeps, bones; one thread"},
    {"ratio_to_pd", "x", "lower",
        "the same over that of plain projective dynamics on the whole mesh, from the same turns"},
    {"ratio_to_pd_pinned", "x", "lower", "and over that on the flesh alone, with every vertex of a bone pinned"},
    {"speedup_vs_literal", "x", "higher",
        "Eq. 17 as printed, with 6 right sides per bone in every iteration, over ours"},
    {"diff_vs_literal", "", "lower", "largest distance between the two after one step, of the size of the body"},
    {"pd_vs_roofline", "x", "lower",
        "plain projective dynamics over 20 ns per tet and reading its factor twice at the speed of memory"},
    {"stage_ms.local", "ms", "lower", "local step of an iteration: forces and rotations of all elements"},
    {"stage_ms.bones", "ms", "lower", "the small problem of bones and joints in an iteration"},
    {"stage_ms.columns", "ms", "lower", "right sides of all bones in an iteration; only the literal path has them"},
    {"stage_ms.sweeps", "ms", "lower", "forward and backward sweep of an iteration"},
    {"stage_ms.other", "ms", "lower", "right side and moving the vertices in an iteration"},
    {"joint_gap", "", "lower", "largest gap of a joint in any frame, of the size of the body"},
    {"bone_rigidity", "", "lower", "largest change of a distance within a bone in any frame, of the size of the body"},
    {"loop_gap_60s", "", "lower", "largest gap of a joint of a closed loop within a minute, of the size of the body"},
    {"rel_error@10", "", "lower", "Eq. 18: what 10 iterations leave of the distance to IPOPT's solution of one step"},
    {"rel_error@100", "", "lower", "the same after 100 iterations"},
    {"rel_error@1000", "", "lower", "the same after 1000 iterations"},
    {"nunchuck_err@1", "", "lower", "distance of a rigid chain from Runge-Kutta over its first second, of its size"},
    {"nunchuck_err@10", "", "lower", "the same with 10 substeps"},
    {"nunchuck_err@100", "", "lower", "the same with 100 substeps"},
    {"energy_max_over_start", "", "lower",
        "highest energy of a falling cantilever, a dropped or a tumbling body, 1 being that of its start"},
    {"locking_angle", "degrees", "higher", "how far a bone in a bar turns freely"},
    {"bones_outside", "", "lower", "vertices of bones outside the skin in the worst frame"},
    {"swing_reach", "m", "higher", "how far the centre of mass swings from the axis"},
    {"shell_rotation", "degrees", "higher", "how far the snail's shell has turned after its fall"},
    {"shell_rigidity", "", "lower", "largest change of a distance within the shell, of the size of the body"},
    {"stable_frames", "", "higher", "frames until an edge is ten times as long as at rest or a step fails"},
    {"stable", "", "equal", "1 if all frames are done, joints stay closed and energy stays within 1 % of its start"},
    {"ni", "", "lower", "sweeps of a frame until no vertex moves by more than the tolerance in one"},
    {"ci", "ms", "lower", "time of a frame over its sweeps"},
    {"ae", "m", "lower",
        "mean distance of all vertices from the truth over all frames (Eq. 3.28): analytic, or Newton with the same "
        "step"},
    {"ae_fine", "m", "lower", "the same against a run of fine steps"},
    {"gs_beats_all", "", "equal", "1 if SMPBD with Gauss-Seidel has the least `ae`, else 0"},
    {"sag_change", "", "lower", "how much the sag of a beam at rest changes from 200 to 2000 sweeps a step, relative"},
    {"rest_drift", "", "lower", "how far any vertex of a body at rest moves in 10,000 substeps, of its size"},
    {"momentum_err", "", "lower",
        "change of momentum in a second of free flight, wobbling and turning, over the sum of all vertices' momenta; "
        "`skelfem`: the largest in 150 steps, over the momentum; `softcontact`: the largest in ten seconds under "
        "random "
        "torques, or what a figure that tumbles for ten seconds has lost of its angular one"},
    {"scale_err", "", "lower",
        "largest difference between shapes of a bar at two sizes, of their size: 10 cm and 10 m, gravity and step "
        "scaled "
        "too; `flesh`: at any and at 1 m, gravity and stiffness scaled too"},
    {"recover", "", "lower",
        "what is left of a stress state: largest distance of a vertex from rest up to rigid motion, of the size"},
    {"finite_at_half", "", "equal",
        "1 if a bar with Poisson's ratio 0.5 bends, stays finite and keeps its volume to 2 %"},
    {"t_pbd_us", "us", "lower",
        "a substep of rigpbd without its rig: prediction, elastic constraints, contacts, velocities; one thread"},
    {"t_rig_us", "us", "lower", "what the rig adds to a substep: fit, skinning, complementary step; one thread"},
    {"rig_over_pbd", "x", "lower", "t_rig_us over t_pbd_us, from the same runs"},
    {"ns_per_constraint", "ns", "lower",
        "a visit of one of the two constraints (volume, shape) of an element: time of the elastic sweep over all"},
    {"fps", "1/s", "higher", "frames per second of 15 substeps each, one thread, nothing drawn"},
    {"fps_damped", "1/s", "higher", "the same with all damping on: rigpbd.damping and rigpbd.settle are 2"},
    {"handles", "", "equal", "handles of the character, or bones that serve as such"},
    {"flipped", "", "lower", "elements that are inside out in the worst frame of a drag, as they are shown"},
    {"smoothness@1", "", "lower",
        "mean square of the second differences of free handles' paths under a rough hand with compliance 1, over that "
        "with 0"},
    {"smoothness@10", "", "lower", "the same with compliance 10"},
    {"smoothness@100", "", "lower", "the same with compliance 100"},
    {"smoothness@1000", "", "lower", "the same with compliance 1000"},
    {"moment_err", "", "lower", "J^T M J of a rig from constant moments against sums over all vertices, relative"},
    {"oneshot_err", "", "lower",
        "complementary step at once against sweeps of one constraint after the other, of the largest move"},
    {"given_dof_err", "", "lower", "how far a given handle is from where it shall be in any frame, of the size"},
    {"locked_dof_err", "", "lower",
        "the same of a handle that is locked and one that is torn about by a third of the size a frame; turns in rad"},
    {"toggle_jump", "x", "lower",
        "change of a vertex' velocity in the substep that locks or frees a handle, of what velocities changed by in "
        "the 10 substeps before, together"},
    {"toggle_kick", "x", "lower", "the same, of the largest change in one of these substeps"},
    {"toggle_after", "x", "lower",
        "the most in any substep of the step that locks or frees and of the next, of what velocities changed by in "
        "the 10 substeps before, together"},
    {"recover_s", "s", "lower",
        "after a handle was 10 sizes away within a frame and is let go, in air that stops the spin: until the flesh is "
        "within 1 % of the size of its rest again"},
    {"frames_received_per_s", "1/s", "higher", "frames of the studio that a client gets while it drags; 60 are made"},
    {"frame_age_max", "", "lower", "frames that the studio has made since, when one arrives at a client: the most"},
    {"latency_ms_median", "ms", "lower",
        "from a client's move of what it holds to the arrival of the frame that has it: the median of a drag"},
    {"slow_client_step_ratio", "x", "lower",
        "time of a step while another client never reads what the studio sends it, over that without it"},
    {"bundle_gzip_kb", "kB", "lower", "all files of the studio's page, compressed by gzip; 1 kB is 1000 bytes"},
    {"rss_over_character_mb", "MB", "lower",
        "memory of a studio after some seconds beyond the peak of a run of the same scene; 1 MB is 10^6 bytes"},
    {"storm_diverged", "", "equal",
        "runs in which a step fails, or an edge is a thousand times as long as at rest, while a hand pulls at random, "
        "lets "
        "go and pulls again; or while a motion is played"},
    {"storm_inverted_at_rest", "", "equal", "runs that end with an inverted element after two seconds of rest"},
    {"storm_stretch_most", "", "lower", "largest relative change of an edge in any frame of runs that do not diverge"},
    {"inverted_at_rest", "", "equal", "1 if an element is inverted in the last frame of a shipped scene, else 0"},
    {"inverted_frames", "", "lower", "frames of a shipped scene with an inverted element"},
    {"stress_recovered", "", "higher",
        "of 12 stress states, six with bones and without, those that leave no stretch of more than 1e-3 of the size"},
    {"stress_diverged", "", "equal", "and those that end in a step that fails"},
    {"sag_err", "", "lower", "sag of a bar under its own weight against the converged one on the same mesh, relative"},
    {"fall_err", "", "lower",
        "distance of a fall of 20 m against g t (t + h) / 2, relative; the worst over numbers of substeps"},
    {"height_err", "", "lower", "height of a small block that was dropped and lies, against its own at rest, relative"},
    {"absurd", "", "equal", "1 if a run ends `ok` and without a warning though a person would not agree, else 0"},
    {"dofs", "", "equal", "`softcontact`: degrees of freedom with all points awake"},
    {"active_dofs", "", "lower", "the same of those awake, in the mean of all steps"},
    {"contacts", "", "higher", "contacts in a problem, in the mean of all steps that have any"},
    {"realtime_factor", "x", "higher", "time that is simulated over the time that it takes, one thread"},
    {"lcp_share", "%", "lower", "part of that time for making and solving contact problems"},
    {"lcp_ms", "ms", "lower", "making and solving one contact problem, the least of three times; median or worst"},
    {"lcp_residual", "", "lower", "|l - P(l - w / W_ii)|max / |l|max of a contact problem; median or worst"},
    {"lcp_failures", "", "lower", "part of the contact problems whose residual stays above 1e-9"},
    {"siconos_diff", "", "lower",
        "largest difference of an impulse to that of a solver of Siconos, of the problem's largest; the median, or the "
        "worst, of those that it solves to 1e-10"},
    {"siconos_solved", "", "higher", "part of the problems that it solves"},
    {"dart_ratio", "x", "higher",
        "a step of DART's soft box over one of ours, medians of the same phase, time of the processor, from the same "
        "turns"},
    {"bounce_height", "", "lower",
        "how high the lowest point of a dropped body comes after its first contact, of its fall"},
    {"stable_step", "ms", "higher", "longest step at which a dropped soft box comes to lie still"},
    {"pendulum_energy_order", "", "higher", "of the error of a double pendulum's energy by the step"},
    {"asymmetry", "", "lower",
        "largest difference of what two contacts do to each other, of the most that any does to itself"},
    {"soften_jump", "", "lower", "largest change of energy and momentum as points wake, relative"},
    {"incline_spread", "", "lower",
        "largest difference of the ways that blocks slide down slopes which fall in other directions, relative"},
    {"penetration", "", "lower", "deepest point in the ground, of the size of the body"},
    {"lcp_start_spread", "", "lower",
        "largest difference of contact forces when a problem is started from other impulses, of the largest force"},
    {"ns_per_tet", "ns", "lower", "local step of a tetrahedron in apd, with damping"},
    {"step_ratio_to_pd", "x", "lower",
        "a whole step of apd, all stages and contact included, over that of plain projective dynamics, from the same "
        "turns"},
    {0},
};

const snwMetric* snwMetric_Find(const char* name)
{
    for (const snwMetric* metric = snwMetrics; metric->name != NULL; ++metric)
        if (strcmp(metric->name, name) == 0)
            return metric;
    return NULL;
}

static const char s_docHead[] =
    "# Benchmarks\n"
    "\n"
    "<!-- Made by `sinew bench --metrics-doc`; change bench/metrics.c, not this file. -->\n"
    "\n"
    "`sinew bench` runs every benchmark, `sinew bench NAME` one of them, `sinew bench --list` names them.\n"
    "Without `--json` the rows print as a table; with it as one line of JSON per benchmark:\n"
    "\n"
    "    {\"schema\": 1, \"bench\": \"pbd\", \"host\": {...}, \"rows\": [{\"case\": \"block-10k\", \"method\": "
    "\"pbd\",\n"
    "     \"metric\": \"step_ms\", \"value\": 2.1, \"unit\": \"ms\", \"n\": 7, \"spread\": 0.1, \"paper\": null, "
    "\"peer\": null,\n"
    "     \"peer_name\": null, \"target\": null, \"op\": null, \"pass\": null, \"note\": \"\"}]}\n"
    "\n"
    "## How to read a row\n"
    "\n"
    "- `value` is the median of `n` runs and `spread` half their interquartile range. Things that are compared run in\n"
    "  turns, so a slow moment of the machine meets all of them; a ratio is the median of the ratios of each turn.\n"
    "- `paper` is the figure a paper gives for its machine; `peer` is what the program `peer_name` does on this one.\n"
    "- `pass` says whether `value` `op` `target` holds; it is null where there is no target.\n"
    "  The operator `~5%` means that near.\n"
    "- What is missing is null and the `note` says why. No row is left out.\n"
    "\n"
    "## Figures\n"
    "\n"
    "`sinew bench NAME -o DIR` keeps the rows in `DIR/rows.json` and draws the benchmark's figures beside it, each as\n"
    "SVG and PNG, with its points as CSV (curve, x, y): our curves in colour, a paper's or another program's behind\n"
    "them in grey. `skelfem` draws `fig5-BODY-static` and `fig5-BODY-20ms`, `apd` `table1`,\n"
    "`fig1`, `fig6`, `fig7`, `fig8`, `fig10`, `fig11` and `fig14` of its paper, `pbcd` `fig3_7`, `fig3_9` and "
    "`fig3_11`, `rigpbd` `fig7` (a picture) and `fig9`, `softcontact` `fig8` and `fig9`.\n"
    "Without a name every benchmark has a folder of its own in `DIR`. Files that exist stay unless `--force` is "
    "given.\n"
    "\n";

void snwPrintMetricsDoc(FILE* file)
{
    fputs(s_docHead, file);
    fputs("## Benchmarks\n\n| name | what it measures |\n| --- | --- |\n", file);
    for (int i = 0; snwBenches[i] != NULL; ++i)
        fprintf(file, "| `%s` | %s |\n", snwBenches[i]->name, snwBenches[i]->summary);
    fputs("\n## Metrics\n\n| metric | unit | better | meaning |\n| --- | --- | --- | --- |\n", file);
    for (const snwMetric* metric = snwMetrics; metric->name != NULL; ++metric)
        fprintf(file, "| `%s` | %s | %s | %s |\n", metric->name, metric->unit, metric->better, metric->help);
}
