/**
 * What the runner and the load generator say to each other: one JSON object a line, one answer to each command.
 *
 * @module
 */
import type { Shape } from "../configuration.ts";

/** Certificates of simulated proxies, as PEM texts. */
export interface LoadTls {
  /** The root of the server's certificate. */
  readonly root: string;
  /** One for each namespace of the mesh, in their order. */
  readonly clients: readonly { readonly certificate: string; readonly key: string }[];
}

/** How the simulated proxies are. */
export interface LoadOptions {
  /** `host:port` of the server, or the path of its socket. */
  readonly target: string;
  readonly proxies: number;
  /** Incremental, or state of the world. */
  readonly delta: boolean;
  /** Whether they offer gzip; Envoy does not. */
  readonly gzip: boolean;
  /** A proxy counts as reached only when the server has taken its ACK. Default: when the message has come. */
  readonly untilAcknowledged?: boolean;
  /** Their agents answer DNS, so that they ask for the table of names as well. */
  readonly names?: boolean;
  /** They connect over mutual TLS. Default: in plain text. */
  readonly tls?: LoadTls;
  /** Proxy i is the first endpoint of service i of this mesh. */
  readonly shape: Shape;
}

/** A command of the runner. */
export type LoadCommand =
  /**
   * All proxies connect, with what they had before; answered when each has an answer to all that it asked for.
   * `atOnce`: one more whenever one of so many has all; default: all at once.
   */
  | { readonly do: "connect"; readonly atOnce?: number }
  /** All connections are closed; what the proxies have is kept. */
  | { readonly do: "disconnect" }
  /** From here on messages that contain a text are noted, and counting begins anew. `by`: so many get it; default: all. */
  | { readonly do: "expect"; readonly marker: string; readonly by?: number }
  /** Answered when every proxy that is to get it has got the marker. */
  | { readonly do: "seen" }
  /** Answered when nothing has come for a while. */
  | { readonly do: "quiet"; readonly ms: number };

/** What was received since the last `connect` or `expect`. */
export interface Counters {
  /** Bytes that crossed the connections, both ways. */
  readonly wireBytes: number;
  /** Bytes of unpacked messages to the proxies. */
  readonly plainBytes: number;
  /** Messages and resources by the last part of their type URL. */
  readonly messages: Readonly<Record<string, number>>;
  readonly resources: Readonly<Record<string, number>>;
  /** Streams that ended or failed by themselves. */
  readonly errors: readonly string[];
}

/** The answer to any command. */
export interface LoadAnswer extends Counters {
  /** Epoch milliseconds, one of each proxy that has all (`connect`) or has the marker (`seen`). */
  readonly times: readonly number[];
  /** Epoch milliseconds of the last message. */
  readonly lastAt: number;
}
