/**
 * The protocol between a container runtime and a network plugin (CNI): commands, errors, answers.
 *
 * @module
 */
import type { NetworkJson } from "../config/network.ts";

/** Commands of the protocol. */
export const commands = ["ADD", "CHECK", "DEL", "GC", "STATUS", "VERSION"] as const;

export type CniCommand = typeof commands[number];

/** Version answered to a call that names none. */
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
  /** CHECK found rules other than those expected. */
  drift: 103,
} as const;

/** A refusal, which the runtime reads as an object and shows to users. */
export class CniError extends Error {
  override readonly name = "CniError";
  /**
   * @param code One of {@link codes}.
   * @param message The mistake, in a line.
   * @param details The circumstances, as far as they help.
   */
  constructor(readonly code: number, message: string, readonly details: string = "") {
    super(message);
  }
}

/** The error as the runtime reads it. */
export function errorText(error: CniError, version: string): string {
  const { code, message, details } = error;
  return JSON.stringify({ cniVersion: version, code, msg: message, ...(details === "" ? {} : { details }) }) + "\n";
}

/** The result of those before us, passed on as it is; or an empty one for a call without. */
export function resultText(previous: NetworkJson | undefined, version: string): string {
  return JSON.stringify({ ...(previous ?? {}), cniVersion: version }) + "\n";
}
