/**
 * Where a Sidecar ingress sends its traffic: the `defaultEndpoint` in the Sidecar.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { envoy } from "../../../proto/gen/types.ts";
import { address } from "../endpoint/lb_endpoint.ts";
import type { InboundTarget } from "../inbound/target.ts";
import type { Reader } from "../reader/reader.ts";

/** An address at the workload. */
export interface WorkloadAddress {
  readonly address: envoy.config.core.v3.Address;
  /** Whether the address is loopback or a Unix socket, which needs no source address of the mesh. */
  readonly local: boolean;
}

const form = /^(?:\[([^\]]+)\]|([^:]+)):(\d+)$/;

/**
 * The fixed address of a target. Undefined: the address that the client dialled.
 *
 * - `unix:///path`: a Unix socket.
 * - `127.0.0.1:PORT`, `[::1]:PORT`: loopback. A proxy with one IP version uses loopback of that version.
 * - `0.0.0.0:PORT`, `[::]:PORT`: the workload's own address of that IP version, or else loopback.
 * - nothing written, and nothing captured (`NONE`): loopback with the same port, because no dialled address is known.
 */
export function fixedAddress(read: Reader, target: InboundTarget): WorkloadAddress | undefined {
  const written = target.defaultEndpoint;
  if (written === undefined) {
    return captured(read, target) ? undefined : loopback(read, target.port);
  }
  if (written.startsWith("unix://")) return { address: address(written, 0), local: true };
  const parts = form.exec(written);
  if (parts === null) return undefined;
  const host = parts[1] ?? parts[2] ?? "";
  const port = Number(parts[3]);
  switch (host) {
    case "127.0.0.1":
      return loopback(read, port);
    case "::1":
      return loopback(read, port, true);
    case "0.0.0.0":
      return own(target, "ipv4", port) ?? at("127.0.0.1", port);
    case "::":
      return own(target, "ipv6", port) ?? at("::1", port);
    default:
      return undefined;
  }
}

function captured(read: Reader, target: InboundTarget): boolean {
  if (target.captureMode !== "DEFAULT") return target.captureMode === "IPTABLES";
  return read.property("interceptionMode") !== "NONE";
}

/** The loopback address with a port, in the wanted IP version if the proxy has both. */
export function loopback(read: Reader, port: number, preferIpv6 = false): WorkloadAddress {
  const useIpv6 = preferIpv6 ? read.property("ipv6") : !read.property("ipv4") && read.property("ipv6");
  return at(useIpv6 ? "::1" : "127.0.0.1", port);
}

function at(host: string, port: number): WorkloadAddress {
  return { address: address(host, port), local: true };
}

function own(target: InboundTarget, kind: "ipv4" | "ipv6", port: number): WorkloadAddress | undefined {
  const host = target.workloadAddresses?.find((a) => ipaddr.isValid(a) && ipaddr.parse(a).kind() === kind);
  return host === undefined ? undefined : { address: address(host, port), local: false };
}
