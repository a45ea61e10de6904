/**
 * Kinds that are read and checked but steer nothing yet, because their translation is not built: whoever writes one must
 * not believe that it is in force. A test shows that every other kind is indexed, and that none of these is. The list
 * shrinks to nothing.
 *
 * @module
 */
import type { Kind } from "../config/types.ts";

/** The kinds, with the part that will translate them. */
export const inertKinds: Readonly<Partial<Record<Kind, string>>> = {
  AuthorizationPolicy: "security",
  PeerAuthentication: "security",
  RequestAuthentication: "security",
  Telemetry: "telemetry",
  WasmPlugin: "extensions",
  ProxyFilter: "extensions",
  WorkloadGroup: "automatic registration",
  ProxyConfig: "the agent",
};

/** What is to be said of an object of a kind; undefined: it has the effect that it should have. */
export function inertText(kind: Kind): string | undefined {
  const part = inertKinds[kind];
  return part && `${kind} objects are read and checked, and have no effect in this version (not built yet: ${part})`;
}
