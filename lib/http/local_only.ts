/**
 * Refuses clients of other machines.
 *
 * @module
 */
import { isLocalPeer, textResponse } from "./message.ts";
import type { Guard } from "./route.ts";

/** 403 for a client that did not come over a loopback address or a Unix socket. */
export const localOnly: Guard = ({ peer }) =>
  isLocalPeer(peer) ? undefined : textResponse(403, "only from this machine\n");
