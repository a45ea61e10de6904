/**
 * Takes an encoded route configuration apart without decoding the whole. A configuration may hold thousands of virtual
 * hosts, and a page needs a few.
 *
 * @module
 */
import protobuf from "protobufjs/minimal.js";
import type { envoy } from "../../proto/gen/types.ts";
import { decode } from "../pb/reflect.ts";

const ROUTES = "envoy.config.route.v3.RouteConfiguration";
const HOST = "envoy.config.route.v3.VirtualHost";

/** `RouteConfiguration.virtual_hosts`, and of a virtual host the name and the domains. */
const FIELD = { virtualHosts: 2, name: 1, domains: 2 } as const;

/** Length-delimited, the wire type of texts and messages. */
const DELIMITED = 2;

/** A virtual host. Its routes are decoded on demand. */
export interface HostPart {
  readonly name: string;
  readonly domains: readonly string[];
  message(): envoy.config.route.v3.VirtualHost;
}

/** A route configuration in parts. */
export interface RouteParts {
  /** Everything but the virtual hosts. */
  readonly head: envoy.config.route.v3.RouteConfiguration;
  readonly hosts: readonly HostPart[];
}

/** Whether the bytes between two positions are a wanted domain. */
export type IsDomain = (bytes: Uint8Array, from: number, to: number) => boolean;

/**
 * Takes an encoded route configuration apart, with the virtual hosts of the wanted domains. Default: all virtual hosts.
 */
export function routeParts(bytes: Uint8Array, isDomain?: IsDomain): RouteParts {
  const { head, hosts } = splitRoutes(bytes);
  const wanted = isDomain === undefined ? hosts : hosts.filter((host) => hasDomain(host, isDomain));
  return { head: decode(ROUTES, head), hosts: wanted.map(hostPart) };
}

/** An encoded route configuration without its virtual hosts, and the virtual hosts. */
export function splitRoutes(bytes: Uint8Array): { readonly head: Uint8Array; readonly hosts: readonly Uint8Array[] } {
  const reader = protobuf.Reader.create(bytes);
  const hosts: Uint8Array[] = [];
  const rest: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const tag = reader.uint32();
    if (tag === (FIELD.virtualHosts << 3 | DELIMITED)) hosts.push(reader.bytes());
    else {
      reader.skipType(tag & 7);
      rest.push(bytes.subarray(start, reader.pos));
    }
  }
  return { head: joined(rest), hosts };
}

function hostPart(bytes: Uint8Array): HostPart {
  const reader = protobuf.Reader.create(bytes);
  const domains: string[] = [];
  let name = "";
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === (FIELD.name << 3 | DELIMITED)) name = reader.string();
    else if (tag === (FIELD.domains << 3 | DELIMITED)) domains.push(reader.string());
    else reader.skipType(tag & 7);
  }
  return { name, domains, message: () => decode(HOST, bytes) };
}

/** Whether an encoded virtual host has a wanted domain. */
export function hasDomain(bytes: Uint8Array, isDomain: IsDomain): boolean {
  const reader = protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag !== (FIELD.domains << 3 | DELIMITED)) reader.skipType(tag & 7);
    else {
      const length = reader.uint32();
      if (isDomain(bytes, reader.pos, reader.pos + length)) return true;
      reader.skip(length);
    }
  }
  return false;
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
