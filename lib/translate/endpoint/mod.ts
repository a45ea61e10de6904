/**
 * Endpoints: load assignments of clusters.
 *
 * Permissions: none.
 *
 * @module
 */
export { loadAssignment, loadAssignments } from "./assignment.ts";
export { type LeanAssignment, LoadAssignmentEncoder } from "./encode.ts";
