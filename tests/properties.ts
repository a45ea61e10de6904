/**
 * How many random values properties (fast-check) take, and which. Where a run looks for faults (`MESH_PROPERTY_RUNS`),
 * properties take more values than usual, and new ones. No test reads the variable, so pure groups need no permission.
 * @module
 */
import fc from "fast-check";

/** The runs of a property. @param usual Where no run looks for faults. */
export function runs(usual: number): number {
  return Math.max(usual, fc.readConfigureGlobal()?.numRuns ?? usual);
}

/** The seed of a property whose values are known to be good, or of a sample. @param usual Where no run looks for faults. */
export function seedOr(usual: number): number {
  const { numRuns, seed } = fc.readConfigureGlobal() ?? {};
  return numRuns === undefined ? usual : seed ?? usual;
}
