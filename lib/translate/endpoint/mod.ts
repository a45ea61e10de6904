/**
 * Endpoints: load assignments of clusters.
 *
 * @module
 */
export { loadAssignment, loadAssignments } from "./assignment.ts";
export { type LeanAssignment, LoadAssignmentEncoder } from "./encode.ts";
