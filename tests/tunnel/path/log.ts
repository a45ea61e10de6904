/**
 * What the tunnel tells on standard output: a line of JSON for each event.
 *
 * @module
 */

/** A connection's fate, or an event of the program. */
export type TunnelEvent =
  | { readonly event: "ready" | "snapshot" | "mark" }
  | { readonly event: "agent left" | "discovery left" | "certificate"; readonly why: string }
  /** A pod was taken, with device and inode of its network namespace. */
  | { readonly event: "pod"; readonly uid: string; readonly namespace: string }
  | QuestionEvent
  | ConnectionEvent;

/** A question about a name. */
export interface QuestionEvent {
  readonly event: "question";
  readonly uid: string;
  readonly by: "udp" | "tcp";
  /** Absent: the packet had no question. */
  readonly name?: string;
  readonly type?: string;
  /** Addresses of the tunnel's own answer, or who answers instead. */
  readonly answer?: readonly string[] | "a name server";
  /** Why there is no answer. */
  readonly refused?: string;
}

/** A connection that the tunnel took. */
export interface ConnectionEvent {
  readonly event: "connection";
  /** Uid of the tunnel's own pod. */
  readonly uid: string;
  readonly way: "out" | "in";
  /** How the connection came in, or goes on. */
  readonly by: "plain" | "hbone";
  /** Address of the client. */
  readonly peer: string;
  /** Identity of the client, or of the server. */
  readonly identity?: string;
  /** The destination: of a client as dialled, of a tunnel as named in its request. */
  readonly target: string;
  /** Where the connection goes on to. */
  readonly to?: string;
  /** Absent: the connection is carried. */
  readonly refused?: string;
}

/** Writes an event. */
export function say(event: TunnelEvent): void {
  const line = new TextEncoder().encode(JSON.stringify(event) + "\n");
  for (let rest = line; rest.length > 0;) rest = rest.subarray(Deno.stdout.writeSync(rest));
}
