/**
 * The protocol between the runner and the load generator: a JSON object per line, with an answer to each command.
 *
 * @module
 */
import type { Shape } from "../configuration.ts";

/** Certificates of simulated proxies, as PEM texts. */
export interface LoadTls {
  /** The root of the server's certificate. */
  readonly root: string;
  /** One per namespace of the mesh, in order. */
  readonly clients: readonly { readonly certificate: string; readonly key: string }[];
}

/** How the simulated proxies are. */
export interface LoadOptions {
  /** `host:port` of the server, or the path of its socket. */
  readonly target: string;
  readonly proxies: number;
  /** Incremental, or state of the world. */
  readonly delta: boolean;
  /** Whether the proxies offer gzip. Envoy does not. */
  readonly gzip: boolean;
  /** A proxy counts as reached when the server has received its ACK. Default: when the message has arrived. */
  readonly untilAcknowledged?: boolean;
  /** The agents answer DNS, so they also request the table of names. */
  readonly names?: boolean;
  /** The proxies connect over mutual TLS. Default: in plain text. */
  readonly tls?: LoadTls;
  /** Proxy i is the first endpoint of service i of this mesh. */
  readonly shape: Shape;
  /** The proxies ask for what they call, and each calls some services (`./calls.ts`). Default: they get everything. */
  readonly onDemand?: boolean;
}

/** A command of the runner. */
export type LoadCommand =
  /**
   * All proxies connect, with the state from before. Answered when each proxy has an answer to every request. `atOnce`:
   * number of proxies that connect at a time. Default: all.
   */
  | { readonly do: "connect"; readonly atOnce?: number }
  /** All connections are closed, and the proxies keep their state. */
  | { readonly do: "disconnect" }
  /**
   * From now on messages with the text are noted, and counting restarts. `by`: number of proxies that get the text.
   * Default: all.
   */
  | { readonly do: "expect"; readonly marker: string; readonly by?: number }
  /** Answered when every expected proxy has the marker. */
  | { readonly do: "seen" }
  /** Answered when nothing has come for a while. */
  | { readonly do: "quiet"; readonly ms: number };

/** The received messages since the last `connect` or `expect`. */
export interface Counters {
  /** Bytes on the connections, both ways. */
  readonly wireBytes: number;
  /** Bytes of unpacked messages to the proxies. */
  readonly plainBytes: number;
  /** Messages and resources by the last part of the type URL. */
  readonly messages: Readonly<Record<string, number>>;
  readonly resources: Readonly<Record<string, number>>;
  /** Streams that ended or failed unexpectedly. */
  readonly errors: readonly string[];
}

/** The answer to any command. */
export interface LoadAnswer extends Counters {
  /** Epoch milliseconds, one per proxy that has everything (`connect`) or the marker (`seen`). */
  readonly times: readonly number[];
  /** Epoch milliseconds of the last message. */
  readonly lastAt: number;
}
