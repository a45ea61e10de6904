/**
 * The part of a proxy's resources that a request may meet. Of thousands of listeners and virtual hosts only a few are
 * decoded. The bytes of the others are scanned without decoding any text.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import protobuf from "protobufjs/minimal.js";
import type { envoy } from "../../proto/gen/types.ts";
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { decode } from "../pb/reflect.ts";
import { DecodedMap, type EncodedTable, type EncodedTables, resourcesIn } from "./decoded.ts";
import { hasDomain, type IsDomain, routeParts } from "./route_parts.ts";
import type { ProxyResources, SimulatedRequest } from "./types.ts";

type Address = envoy.config.core.v3.Address;
type AdditionalAddress = envoy.config.listener.v3.AdditionalAddress;

/** Fields of `Listener`. */
const FIELD = { name: 1, address: 2, useOriginalDst: 4, internalListener: 27, additionalAddresses: 33 } as const;

/** Names of the listeners for redirected connections. */
const VIRTUAL = /^virtual(?:In|Out)bound$/;

/**
 * Whether a listener may take connections to a port: the port is in one of the listener's addresses, or connections are
 * redirected or handed to the listener.
 */
function mayListen(bytes: Uint8Array, port: number): boolean {
  const reader = protobuf.Reader.create(bytes);
  const isOf = (address: Address | undefined) => (address?.socket_address?.port_value ?? 0) === port;
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    switch (tag >>> 3) {
      case FIELD.name:
        if (VIRTUAL.test(reader.string())) return true;
        break;
      case FIELD.address:
        if (isOf(decode<Address>("envoy.config.core.v3.Address", reader.bytes()))) return true;
        break;
      case FIELD.useOriginalDst:
      case FIELD.internalListener:
        return true;
      case FIELD.additionalAddresses: {
        const more = decode<AdditionalAddress>("envoy.config.listener.v3.AdditionalAddress", reader.bytes());
        if (isOf(more.address)) return true;
        break;
      }
      default:
        reader.skipType(tag & 7);
    }
  }
  return false;
}

const LISTENER = "envoy.config.listener.v3.Listener";
const ROUTES = "envoy.config.route.v3.RouteConfiguration";
const HOST = "envoy.config.route.v3.VirtualHost";

/** The part of a request that decides which resources the request may meet. */
export type MeetingRequest = Pick<SimulatedRequest, "host" | "destination">;

/**
 * The resources that a request may meet: the listeners of the request's port, the listeners of all ports, and the
 * virtual hosts that may match. Every other virtual host has only exact domains of other hosts.
 */
export function resourcesForRequest(tables: EncodedTables, { host = "", destination }: MeetingRequest): ProxyResources {
  const isDomain = domainOf(host);
  const table = (type: string) => tables(`${TYPE_URL_PREFIX}${type}`);
  return {
    ...resourcesIn(tables),
    listeners: new DecodedMap(LISTENER, some(table(LISTENER), (bytes) => mayListen(bytes, destination.port))),
    routes: new RoutesForRequest(table(ROUTES), isDomain),
    virtualHosts: new DecodedMap(HOST, some(table(HOST), (bytes) => hasDomain(bytes, isDomain))),
  };
}

/** A table with only the resources that count. */
function some(all: EncodedTable, counts: (bytes: Uint8Array) => boolean): EncodedTable {
  return {
    get: (name) => all.get(name),
    *names() {
      for (const name of all.names()) if (counts(all.get(name)!.value)) yield name;
    },
  };
}

const ASTERISK = "*".charCodeAt(0);

/** Whether a domain may cover a host: the domain begins or ends with `*`, or with the name of the host. */
function domainOf(host: string): IsDomain {
  const name = Buffer.from(host.toLowerCase().replace(/:\d+$/, ""));
  // Upper and lower case differ in a single bit. Other bytes with a difference in this bit are compared exactly later.
  const begins = (bytes: Uint8Array, at: number) => name.every((byte, i) => (bytes[at + i]! | 0x20) === (byte | 0x20));
  return (bytes, from, to) =>
    bytes[from] === ASTERISK || bytes[to - 1] === ASTERISK ||
    to - from >= name.length && begins(bytes, from);
}

/** Route configurations with the virtual hosts that may match. Each is decoded on demand. */
class RoutesForRequest extends Map<string, envoy.config.route.v3.RouteConfiguration> {
  readonly #encoded: EncodedTable;
  readonly #isDomain: IsDomain;

  constructor(encoded: EncodedTable, isDomain: IsDomain) {
    super();
    this.#encoded = encoded;
    this.#isDomain = isDomain;
  }

  override get(name: string): envoy.config.route.v3.RouteConfiguration | undefined {
    const encoded = this.#encoded.get(name);
    if (encoded === undefined) return undefined;
    const { head, hosts } = routeParts(encoded.value, this.#isDomain);
    return { ...head, virtual_hosts: hosts.map((host) => host.message()) };
  }
}
