/**
 * Lets properties (fast-check) look for faults: a new seed, `MESH_PROPERTY_RUNS` runs, and lists as long as their bound
 * allows. By default a list has about ten elements, however high the bound is. The runner loads this module in all groups
 * of a run with that variable.
 *
 * Permissions: env (MESH_PROPERTY_RUNS, MESH_PROPERTY_SEED).
 *
 * @module
 */
import fc from "fast-check";

fc.configureGlobal({
  seed: Number(Deno.env.get("MESH_PROPERTY_SEED")),
  numRuns: Number(Deno.env.get("MESH_PROPERTY_RUNS")),
  defaultSizeToMaxWhenMaxSpecified: true,
});
