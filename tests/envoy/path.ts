/**
 * The Envoy of tests: from the environment variable `ENVOY`, or else from `.cache/envoy/`.
 *
 * Permissions: env (ENVOY), read.
 *
 * @module
 */
import { envoyBinary } from "../../scripts/envoy.ts";

/** Path of the Envoy binary, or undefined when there is none. */
export function envoyPath(): string | undefined {
  const path = envoyBinary();
  try {
    return Deno.statSync(path).isFile ? path : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
