/**
 * Encodes load assignments without reflection. This is the hottest encoding of the control plane, several times faster
 * than the general encoder, with byte-for-byte equal output.
 *
 * Messages are written from end to beginning, so the length of each part is known before its head is written.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { LocalityParts } from "./locality.ts";

/**
 * Exactly the fields that {@linkcode LoadAssignmentEncoder} writes. The compiler rejects a builder with other fields.
 */
export interface LeanAssignment {
  cluster_name: string;
  endpoints?: LeanLocality[];
}

/** Endpoints of a locality. */
export interface LeanLocality {
  locality?: LocalityParts;
  lb_endpoints: LeanEndpoint[];
  load_balancing_weight: { value: number };
  priority?: number;
}

export interface LeanEndpoint {
  endpoint: { address: LeanAddress; additional_addresses?: { address: LeanAddress }[] };
  health_status?: envoy.config.core.v3.HealthStatus;
  metadata?: LeanMetadata;
  load_balancing_weight?: { value: number };
}

/** Metadata of telemetry, the mark of mutual TLS or HBONE, and the address inside of HBONE. */
export interface LeanMetadata {
  filter_metadata: {
    istio?: { fields: { workload: { stringValue: string } } };
    "envoy.transport_socket_match"?: {
      fields:
        | { tlsMode: { stringValue: string }; tunnel?: never }
        | { tunnel: { stringValue: string }; tlsMode?: never };
    };
    "envoy.filters.listener.original_dst"?: { fields: DialledFields };
  };
}

/** The address inside of HBONE, and the pod of a waypoint before it; or a service behind the gateway of a network. */
type DialledFields =
  | { local: { stringValue: string }; waypoint?: { stringValue: string } }
  | { gateway: { stringValue: string }; service: { stringValue: string } };

/** An address with a port, a Unix socket, or an internal listener. */
export type LeanAddress =
  | { socket_address: { address: string; port_value: number }; pipe?: never; envoy_internal_address?: never }
  | { pipe: { path: string }; socket_address?: never; envoy_internal_address?: never }
  | {
    envoy_internal_address: { server_listener_name: string; endpoint_id: string };
    socket_address?: never;
    pipe?: never;
  };

const MARKS = "envoy.transport_socket_match";
const DIALLED = "envoy.filters.listener.original_dst";

/** Wire type 2 of protobuf: length and content follow. */
const DELIMITED = 2;

/** Upper bound on the bytes of heads and numbers that one part (group, endpoint, address) adds to its strings. */
const ROOM = 64;

/** Encodes load assignments, reusing one buffer. */
export class LoadAssignmentEncoder {
  #buffer = new Uint8Array(4096);
  /** Bytes written so far, at the end of the buffer. */
  #written = 0;
  readonly #utf8 = new TextEncoder();

  /** The bytes of an `envoy.config.endpoint.v3.ClusterLoadAssignment`. */
  encode(message: LeanAssignment): Uint8Array {
    this.#written = 0;
    const groups = message.endpoints ?? [];
    for (let i = groups.length - 1; i >= 0; i--) this.#group(groups[i]!);
    this.#text(1, message.cluster_name);
    return this.#buffer.slice(this.#buffer.length - this.#written);
  }

  #group(group: LeanLocality): void {
    const end = this.#begin();
    if (group.priority) this.#number(5, group.priority);
    this.#wrapped(3, group.load_balancing_weight.value);
    const members = group.lb_endpoints;
    for (let i = members.length - 1; i >= 0; i--) this.#endpoint(members[i]!);
    if (group.locality !== undefined) this.#locality(group.locality);
    this.#head(2, end);
  }

  #locality({ region, zone, sub_zone }: LocalityParts): void {
    const end = this.#begin();
    this.#text(3, sub_zone);
    this.#text(2, zone);
    this.#text(1, region);
    this.#head(1, end);
  }

  #endpoint(member: LeanEndpoint): void {
    const end = this.#begin();
    if (member.load_balancing_weight !== undefined) this.#wrapped(4, member.load_balancing_weight.value);
    if (member.metadata !== undefined) this.#metadata(member.metadata);
    if (member.health_status) this.#number(2, member.health_status);
    const { address, additional_addresses: others = [] } = member.endpoint;
    const endpointEnd = this.#written;
    for (let i = others.length - 1; i >= 0; i--) {
      const otherEnd = this.#begin();
      this.#address(others[i]!.address);
      this.#head(4, otherEnd);
    }
    this.#address(address);
    this.#head(1, endpointEnd);
    this.#head(2, end);
  }

  #address(address: LeanAddress): void {
    const end = this.#begin();
    if (address.socket_address !== undefined) {
      this.#number(3, address.socket_address.port_value);
      this.#text(2, address.socket_address.address);
      this.#head(1, end);
    } else if (address.pipe !== undefined) {
      this.#text(1, address.pipe.path);
      this.#head(2, end);
    } else {
      this.#text(2, address.envoy_internal_address.endpoint_id);
      this.#string(1, address.envoy_internal_address.server_listener_name);
      this.#head(3, end);
    }
    this.#head(1, end);
  }

  #metadata({ filter_metadata: { istio, [MARKS]: match, [DIALLED]: dialled } }: LeanMetadata): void {
    const end = this.#begin();
    if (dialled) {
      this.#object(DIALLED, Object.entries(dialled.fields));
    }
    if (match?.fields.tunnel) this.#object(MARKS, [["tunnel", match.fields.tunnel]]);
    if (match?.fields.tlsMode) this.#object(MARKS, [["tlsMode", match.fields.tlsMode]]);
    if (istio) this.#object("istio", [["workload", istio.fields.workload]]);
    this.#head(3, end);
  }

  /** Writes an entry of metadata: an object with text fields. */
  #object(name: string, fields: readonly (readonly [field: string, value: { readonly stringValue: string }])[]): void {
    const end = this.#begin();
    for (let i = fields.length - 1; i >= 0; i--) {
      const [field, { stringValue }] = fields[i]!;
      const fieldEnd = this.#begin();
      this.#string(3, stringValue);
      this.#head(2, fieldEnd);
      this.#string(1, field);
      this.#head(1, fieldEnd);
    }
    this.#head(2, end);
    this.#string(1, name);
    this.#head(1, end);
  }

  /** Makes room for the heads and numbers of a part. Returns the number of bytes written so far. */
  #begin(): number {
    if (this.#buffer.length - this.#written < ROOM) this.#grow(ROOM);
    return this.#written;
  }

  /** Writes tag and length in front of the bytes written since `end`. */
  #head(field: number, end: number): void {
    this.#varint(this.#written - end);
    this.#put((field << 3) | DELIMITED);
  }

  #number(field: number, value: number): void {
    this.#varint(value);
    this.#put(field << 3);
  }

  /** Writes a text, unless empty. */
  #text(field: number, text: string | undefined): void {
    if (text !== undefined && text !== "") this.#string(field, text);
  }

  /** A wrapped number (`UInt32Value`). */
  #wrapped(field: number, value: number): void {
    const end = this.#written;
    if (value !== 0) this.#number(1, value);
    this.#head(field, end);
  }

  #varint(value: number): void {
    if (value < 128) {
      this.#put(value);
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) size++;
    this.#written += size;
    let at = this.#buffer.length - this.#written;
    for (; value >= 128; value = Math.floor(value / 128)) this.#buffer[at++] = (value % 128) | 128;
    this.#buffer[at] = value;
  }

  #put(byte: number): void {
    this.#buffer[this.#buffer.length - ++this.#written] = byte;
  }

  #string(field: number, text: string): void {
    const room = text.length * 3 + ROOM;
    if (this.#buffer.length - this.#written < room) this.#grow(room);
    const end = this.#written;
    if (!this.#ascii(text)) this.#utf8Text(text);
    this.#head(field, end);
  }

  /** Writes ASCII text. On any other text, writes nothing and returns false. */
  #ascii(text: string): boolean {
    const buffer = this.#buffer;
    let at = buffer.length - this.#written - text.length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 128) return false;
      buffer[at++] = code;
    }
    this.#written += text.length;
    return true;
  }

  #utf8Text(text: string): void {
    const bytes = this.#utf8.encode(text);
    this.#written += bytes.length;
    this.#buffer.set(bytes, this.#buffer.length - this.#written);
  }

  /** Enlarges the buffer. The written bytes stay at the end. */
  #grow(room: number): void {
    const larger = new Uint8Array(this.#buffer.length * 2 + room);
    larger.set(this.#buffer, larger.length - this.#buffer.length);
    this.#buffer = larger;
  }
}
