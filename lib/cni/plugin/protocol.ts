/**
 * The protocol between a container runtime and a network plugin (CNI): commands, errors, answers.
 *
 * @module
 */
import type { NetworkJson } from "../config/network.ts";

/** Commands of the protocol. */
export const commands = ["ADD", "CHECK", "DEL", "GC", "STATUS", "VERSION"] as const;

export type CniCommand = typeof commands[number];

/** Version of the answer to a call without a version. */
export const NEWEST = "1.1.0";

/** Codes of errors: below 100 the protocol's, from 100 ours. */
export const codes = {
  incompatibleVersion: 1,
  badEnvironment: 4,
  io: 5,
  badInput: 6,
  badConfig: 7,
  /** The runtime may try again at once. */
  tryAgain: 11,
  /** Code of STATUS: no ADD can be served. */
  notAvailable: 50,
  /** An annotation of the pod has a value of the wrong type. */
  annotation: 100,
  /** The network namespace is not the pod's. */
  wrongNamespace: 101,
  /** Rules could not be put in place, so the pod gets no network. */
  rules: 102,
  /** CHECK found unexpected rules. */
  drift: 103,
} as const;

/** A refusal. The runtime reads the refusal as an object and shows it to users. */
export class CniError extends Error {
  override readonly name = "CniError";
  /**
   * @param code A code of {@link codes}.
   * @param message The mistake, in a line.
   * @param details The circumstances, as far as they help.
   */
  constructor(readonly code: number, message: string, readonly details: string = "") {
    super(message);
  }
}

/** The error in the form for the runtime. */
export function errorText(error: CniError, version: string): string {
  const { code, message, details } = error;
  return JSON.stringify({ cniVersion: version, code, msg: message, ...(details === "" ? {} : { details }) }) + "\n";
}

/** The earlier plugins' result, unchanged. Empty for a call without a result. */
export function resultText(previous: NetworkJson | undefined, version: string): string {
  return JSON.stringify({ ...(previous ?? {}), cniVersion: version }) + "\n";
}
