/**
 * Lets properties (fast-check) make lists as long as their bound allows. By default a list has about ten elements, however
 * high the bound is. The runner loads this module where a run looks for faults (`MESH_PROPERTY_RUNS`).
 *
 * @module
 */
import fc from "fast-check";

fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
