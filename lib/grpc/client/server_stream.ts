/**
 * A long call to a server on a connection of its own: messages both ways until one end closes the call.
 *
 * Permissions: net (the server), and the permissions to find the server.
 *
 * @module
 */
import { codeName } from "../codes.ts";
import { ClientCall } from "./client_call.ts";
import { ClientConnection } from "./client_connection.ts";
import { dial, type DialTarget } from "./dial.ts";

/** The events of a stream. Nothing comes after `closed`. */
export interface ServerStreamListener {
  opened(): void;
  message(bytes: Uint8Array): void;
  /** The stream could not be opened, or is over. */
  closed(reason: string): void;
}

/** A server to call, found anew for each connection: tokens and certificates change in files. */
export interface ServerCall {
  readonly target: DialTarget;
  /** The requested host. */
  readonly authority: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** How streams are opened. Times in ms. */
export interface ServerStreamOptions {
  /** @throws Error with the missing part */
  readonly server: () => Promise<ServerCall>;
  readonly keepaliveInterval: number;
  readonly keepaliveTimeout: number;
}

/** Time for a connection with its TLS handshake, ms. */
const DIAL_TIMEOUT = 5000;
/** Largest message: the configuration of very large meshes, whole. */
const MAX_MESSAGE = 512 * 1024 * 1024;

/** A stream, open or about to be. */
export class ServerStream {
  #listener: ServerStreamListener | undefined;
  #connection: ClientConnection | undefined;
  #call: ClientCall | undefined;

  /** @param path `/package.Service/Method` */
  constructor(path: string, listener: ServerStreamListener, options: ServerStreamOptions) {
    this.#listener = listener;
    this.#open(path, options).catch((error: Error) => this.#closed(error.message));
  }

  async #open(path: string, { server, keepaliveInterval, keepaliveTimeout }: ServerStreamOptions): Promise<void> {
    const { target, authority, metadata } = await server();
    const transport = await dial(target, DIAL_TIMEOUT);
    if (this.#listener === undefined) return transport.destroy();
    this.#connection = new ClientConnection(transport, {
      keepaliveInterval,
      keepaliveTimeout,
      onClose: (reason) => this.#closed(`${authority}: ${reason}`),
    });
    const secure = "tls" in target && target.tls !== undefined;
    const call = { authority, path, metadata, secure, maxMessageSize: MAX_MESSAGE };
    this.#call = new ClientCall(this.#connection, call, {
      message: (bytes) => this.#listener?.message(bytes),
      end: (status) => {
        const reason = status === undefined ? "ended by the server" : `${codeName(status.code)}: ${status.message}`;
        this.#closed(`${authority}: ${reason}`);
      },
    });
    this.#listener.opened();
  }

  /** Sends a message; the bytes must not change. */
  send(bytes: Uint8Array): void {
    this.#call?.send(bytes);
  }

  /** Ends the stream. The listener hears nothing more. */
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
