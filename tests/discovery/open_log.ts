/**
 * A log whose lines a test can read.
 * @module
 */
import { createLog, defaultLogOptions, type Log } from "../../lib/kernel/log/log.ts";
import { scopes } from "../../lib/kernel/log/scopes.ts";

/** A log with its lines in order, parsed from JSON. */
export interface OpenLog {
  readonly log: Log;
  readonly lines: Record<string, unknown>[];
}

/** Makes an open log with the server's scopes. */
export function openLog(): OpenLog {
  const lines: Record<string, unknown>[] = [];
  const text = new TextDecoder();
  const target = {
    write: (bytes: Uint8Array) => void lines.push(JSON.parse(text.decode(bytes))),
    close() {},
  };
  const log = createLog(scopes["pilot-discovery"], { ...defaultLogOptions, json: true, targets: ["test"] }, {
    open: () => target,
  });
  return { log, lines };
}
