/**
 * Durations in users' spelling: Go syntax (`5s`, `1h30m`, `0.25s`), which contains protobuf's JSON form.
 *
 * @module
 */
export { parseDuration } from "../../kernel/time/duration.ts";
