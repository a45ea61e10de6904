/**
 * Whether a network namespace is the pod's. The namespace must have the addresses that earlier plugins gave to the pod.
 * The rules of one pod in another pod's namespace would lend the other pod's identity to it.
 *
 * @module
 */
import { bracketed } from "../../kernel/text/host.ts";
import { isObject, type NetworkJson } from "../config/network.ts";

/** Addresses of the pod in the earlier plugins' result, without prefix lengths. */
export function podAddresses(previous: NetworkJson | undefined): string[] {
  const interfaces = Array.isArray(previous?.["interfaces"]) ? previous["interfaces"] : [];
  const ips = Array.isArray(previous?.["ips"]) ? previous["ips"] : [];
  return ips.filter(isObject).flatMap((ip) => {
    const device: unknown = typeof ip["interface"] === "number" ? interfaces[ip["interface"]] : undefined;
    // An address of a device without a sandbox is the node's end of the pod's cable.
    if (isObject(device) && (device["sandbox"] ?? "") === "") return [];
    return typeof ip["address"] === "string" ? [canonical(ip["address"].replace(/\/\d+$/, ""))] : [];
  });
}

/** Addresses in the output of `ip -o addr show`. */
export function listedAddresses(output: string): Set<string> {
  return new Set([...output.matchAll(/\binet6? ([0-9a-f.:]+)/g)].map((match) => canonical(match[1] ?? "")));
}

/** Addresses of the pod that a namespace lacks. */
export function missingAddresses(previous: NetworkJson | undefined, output: string): string[] {
  const listed = listedAddresses(output);
  return podAddresses(previous).filter((address) => !listed.has(address));
}

/** One spelling for each address, without a prefix length: a URL's host is canonical in both families. */
export function canonical(address: string): string {
  return URL.parse(`http://${bracketed(address)}/`)?.hostname ?? address;
}
