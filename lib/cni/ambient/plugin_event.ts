/**
 * The plugin's message about a starting pod: `POST /cmdadd`.
 *
 * @module
 */
import * as z from "zod";
import { podAddresses } from "../plugin/ownership.ts";

/** A starting pod, as the container runtime sees it. */
export interface PluginEvent {
  readonly namespace: string;
  readonly name: string;
  /** The pod's uid, as the runtime knows it. Empty: the runtime does not say. */
  readonly uid: string;
  /** Path of the network namespace. */
  readonly netns: string;
  /** Addresses that earlier plugins gave to the pod. */
  readonly addresses: readonly string[];
}

const NAME = z.string().min(1).max(253);

const EVENT = z.object({
  Netns: z.string().startsWith("/").max(4096),
  PodName: NAME,
  PodNamespace: NAME,
  PodUID: z.string().max(253).default(""),
  IPs: z.array(z.object({ address: z.string().max(64) })).max(64),
});

/**
 * Reads a message.
 * @throws {Error} With the fields at fault.
 */
export function readPluginEvent(text: string): PluginEvent {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`expected JSON (${(error as Error).message})`);
  }
  const read = EVENT.safeParse(value);
  if (!read.success) {
    throw new Error(read.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
  }
  const { Netns: netns, PodName: name, PodNamespace: namespace, PodUID: uid, IPs } = read.data;
  return { namespace, name, uid, netns, addresses: podAddresses({ ips: IPs }) };
}
