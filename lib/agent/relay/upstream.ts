/**
 * The stream of a relay to the discovery server.
 *
 * Permissions: net (the server), read (tokens and certificates).
 *
 * @module
 */
import { ClientCall } from "../../grpc/client/client_call.ts";
import { ClientConnection } from "../../grpc/client/client_connection.ts";
import { dial, type DialTarget } from "../../grpc/client/dial.ts";
import { codeName } from "../../grpc/codes.ts";
import type { RelayVariant } from "./messages.ts";

/** The events of a stream. Nothing comes after `closed`. */
export interface UpstreamListener {
  opened(): void;
  message(bytes: Uint8Array): void;
  /** It could not be opened, or is over. */
  closed(reason: string): void;
}

/** A stream, open or about to be. */
export interface Upstream {
  send(bytes: Uint8Array): void;
  /** Ends it; its listener hears no more. */
  close(): void;
}

/** Opens a stream of a variant. */
export type OpenUpstream = (variant: RelayVariant, listener: UpstreamListener) => Upstream;

/** A server to call, found anew for each connection: tokens and certificates change in files. */
export interface ServerCall {
  readonly target: DialTarget;
  /** Host that the server is asked for. */
  readonly authority: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** How streams are opened. Times in ms. */
export interface UpstreamOptions {
  /** @throws Error saying what is missing */
  readonly server: () => Promise<ServerCall>;
  readonly keepaliveInterval: number;
  readonly keepaliveTimeout: number;
}

/** Time for a connection, its TLS handshake included, ms. */
const DIAL_TIMEOUT = 5000;
/** Largest message: the configuration of very large meshes, whole. */
const MAX_MESSAGE = 512 * 1024 * 1024;

const METHODS: Readonly<Record<RelayVariant, string>> = {
  sotw: "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources",
  delta: "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources",
};

/** Opens streams to the server, each on a connection of its own. */
export function upstreamOpener(options: UpstreamOptions): OpenUpstream {
  return (variant, listener) => new UpstreamStream(variant, listener, options);
}

class UpstreamStream implements Upstream {
  #listener: UpstreamListener | undefined;
  #connection: ClientConnection | undefined;
  #call: ClientCall | undefined;

  constructor(variant: RelayVariant, listener: UpstreamListener, options: UpstreamOptions) {
    this.#listener = listener;
    this.#open(variant, options).catch((error: Error) => this.#closed(error.message));
  }

  async #open(variant: RelayVariant, { server, keepaliveInterval, keepaliveTimeout }: UpstreamOptions): Promise<void> {
    const { target, authority, metadata } = await server();
    const transport = await dial(target, DIAL_TIMEOUT);
    if (this.#listener === undefined) return transport.destroy();
    this.#connection = new ClientConnection(transport, {
      keepaliveInterval,
      keepaliveTimeout,
      onClose: (reason) => this.#closed(`${authority}: ${reason}`),
    });
    const secure = "tls" in target && target.tls !== undefined;
    const call = { authority, path: METHODS[variant], metadata, secure, maxMessageSize: MAX_MESSAGE };
    this.#call = new ClientCall(this.#connection, call, {
      message: (bytes) => this.#listener?.message(bytes),
      end: (status) => {
        const reason = status === undefined ? "ended by the server" : `${codeName(status.code)}: ${status.message}`;
        this.#closed(`${authority}: ${reason}`);
      },
    });
    this.#listener.opened();
  }

  send(bytes: Uint8Array): void {
    this.#call?.send(bytes);
  }

  close(): void {
    this.#listener = undefined;
    this.#call?.cancel();
    this.#connection?.close();
  }

  #closed(reason: string): void {
    const listener = this.#listener;
    this.close();
    listener?.closed(reason);
  }
}
