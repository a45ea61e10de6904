/**
 * The address of a waypoint, from the status of its Gateway.
 *
 * @module
 */
import * as z from "zod";
import { isIp } from "../../registry/address.ts";

/** Where clients find a waypoint. */
export type WaypointAddress = { readonly hostname: string } | { readonly ip: string };

/** Most addresses of a Gateway's status that are read. An API server accepts 16. */
const MAX_ADDRESSES = 64;

const statusAddress = z.object({ type: z.string().default("IPAddress"), value: z.string().min(1).max(253) });
const status = z.object({ addresses: z.array(z.unknown()) });

/** The first host name of a Gateway's status, else the first IP address. Undefined: the Gateway is not ready. */
export function waypointAddress(written: unknown): WaypointAddress | undefined {
  const rows = status.safeParse(written).data?.addresses.slice(0, MAX_ADDRESSES) ?? [];
  const addresses = rows.flatMap((row) => statusAddress.safeParse(row).data ?? []);
  const hostname = addresses.find(({ type }) => type === "Hostname")?.value;
  if (hostname !== undefined) return { hostname };
  const ip = addresses.find(({ type, value }) => type === "IPAddress" && isIp(value))?.value;
  return ip === undefined ? undefined : { ip };
}
