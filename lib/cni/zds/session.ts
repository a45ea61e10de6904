/**
 * One connection of a node tunnel: greeting, snapshot, then changes. Requests go out one at a time; each waits for its
 * acknowledgement and for nothing else. Pure: packets, deadlines and descriptors belong to the {@link SessionLink}.
 *
 * @module
 */
import {
  addMessage,
  delMessage,
  keepMessage,
  MessageError,
  readHello,
  readResponse,
  snapshotSentMessage,
  type TunnelPod,
} from "./messages.ts";

/** A pod in the agent's hands, with its network namespace. */
export interface HeldPod extends TunnelPod {
  /** Path of the namespace. */
  readonly netns: string;
  /** Device and inode of the namespace, `device:inode`: a path may be used again for another namespace. */
  readonly identity: string;
}

/** The connection below a session. */
export interface SessionLink {
  /**
   * Sends a packet, with the namespace's descriptor of a pod if one is given.
   * @returns `no namespace` when the pod's namespace cannot be opened any more, and nothing was sent.
   */
  send(packet: Uint8Array, pod?: HeldPod): "sent" | "no namespace" | "broken";
  /** Asks for a call of {@link TunnelSession.late} after some milliseconds, or for none. */
  setDeadline(ms: number | undefined): void;
  close(why: string): void;
}

/** How a request ended. */
export type TunnelAnswer =
  | { readonly is: "acked" }
  /** The tunnel took the request and has not succeeded yet. */
  | { readonly is: "refused"; readonly why: string }
  /** The pod's network namespace is gone. */
  | { readonly is: "lost" }
  /** The connection ended before the answer. */
  | { readonly is: "ended"; readonly why: string };

/** Longest wait for the tunnel's word, milliseconds. */
export const ANSWER_MS = 5000;

interface Request {
  readonly kind: "add" | "keep" | "del" | "snapshot";
  readonly uid: string;
  readonly pod?: HeldPod;
  readonly done: (answer: TunnelAnswer) => void;
}

const ACKED: TunnelAnswer = { is: "acked" };

/** A connection's state. */
export class TunnelSession {
  #state: "greeting" | "snapshot" | "live" | "closed" = "greeting";
  readonly #queue: Request[] = [];
  #waiting: Request | undefined;
  readonly #link: SessionLink;

  /** @param link The connection, on which no packet has come yet. */
  constructor(link: SessionLink) {
    this.#link = link;
    link.setDeadline(ANSWER_MS);
  }

  get isOpen(): boolean {
    return this.#state !== "closed";
  }

  /**
   * Takes a packet of the tunnel.
   * @returns True for the greeting: the caller begins the snapshot.
   */
  packet(bytes: Uint8Array): boolean {
    if (this.#state === "closed") return false;
    try {
      if (this.#state === "greeting") {
        readHello(bytes);
        this.#link.setDeadline(undefined);
        this.#state = "snapshot";
        return true;
      }
      const request = this.#waiting;
      if (request === undefined) throw new MessageError("got a message, expected none without a request");
      const error = readResponse(bytes);
      this.#waiting = undefined;
      this.#link.setDeadline(undefined);
      if (request.kind === "snapshot") this.#state = "live";
      request.done(error === "" ? ACKED : { is: "refused", why: error.slice(0, 500) });
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      this.close(error.message);
      return false;
    }
    this.#next();
    return false;
  }

  /** The tunnel did not answer in time. Answers are matched by order, so the connection cannot go on. */
  late(): void {
    this.close(`no answer within ${ANSWER_MS} ms`);
  }

  /** Begins with the pods of the moment, each with a listener for its answer. */
  snapshot(pods: readonly HeldPod[], done: (pod: HeldPod, answer: TunnelAnswer) => void): void {
    for (const pod of pods) this.#queue.push({ kind: "add", uid: pod.uid, pod, done: (answer) => done(pod, answer) });
    this.#queue.push({ kind: "snapshot", uid: "", done: () => {} });
    this.#next();
  }

  /** Adds a pod. During the snapshot a new pod goes before the pods that wait there: an application waits for it. */
  add(pod: HeldPod, done: (answer: TunnelAnswer) => void): void {
    const request: Request = { kind: "add", uid: pod.uid, pod, done };
    const isFirst = this.#inSnapshot() && !this.#queue.some(({ uid }) => uid === pod.uid);
    if (isFirst) this.#queue.unshift(request);
    else this.#queue.push(request);
    this.#next();
  }

  /** Removes a pod. An add that has not been sent is taken back instead. */
  del(uid: string, done: (answer: TunnelAnswer) => void): void {
    const unsent = this.#queue.filter((request) => request.kind === "add" && request.uid === uid);
    for (const request of unsent) {
      this.#queue.splice(this.#queue.indexOf(request), 1);
      request.done({ is: "lost" });
    }
    // What a snapshot does not name is dropped by the tunnel.
    if (unsent.length > 0 && this.#inSnapshot() && this.#waiting?.uid !== uid) return done(ACKED);
    this.#queue.push({ kind: "del", uid, done });
    this.#next();
  }

  /** Ends the session; every request that waits is answered. */
  close(why: string): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#link.setDeadline(undefined);
    this.#link.close(why);
    const left = [...this.#waiting === undefined ? [] : [this.#waiting], ...this.#queue.splice(0)];
    this.#waiting = undefined;
    for (const request of left) request.done({ is: "ended", why });
  }

  #inSnapshot(): boolean {
    return this.#queue.some(({ kind }) => kind === "snapshot");
  }

  #next(): void {
    while (this.#waiting === undefined && this.isOpen) {
      const request = this.#queue.shift();
      if (request === undefined) return;
      const sent = this.#link.send(packetOf(request), request.pod);
      if (sent === "no namespace") {
        // The tunnel may know the pod by an earlier connection, and must not drop the pod because of a path.
        if (this.#inSnapshot()) this.#queue.unshift({ kind: "keep", uid: request.uid, done: () => {} });
        request.done({ is: "lost" });
        continue;
      }
      this.#waiting = request;
      if (sent === "broken") return this.close("the connection is broken");
      this.#link.setDeadline(ANSWER_MS);
    }
  }
}

function packetOf({ kind, uid, pod }: Request): Uint8Array {
  if (kind === "snapshot") return snapshotSentMessage();
  if (kind === "del") return delMessage(uid);
  return kind === "add" && pod !== undefined ? addMessage(pod) : keepMessage(uid);
}
