/**
 * Gives all properties (fast-check) one seed, so that a run of the tests ends the same whenever it runs. The runner loads
 * this module before the tests. `MESH_PROPERTY_RUNS=1000` looks for faults instead, with a new seed.
 *
 * @module
 */
import fc from "fast-check";

fc.configureGlobal({ seed: 1 });
