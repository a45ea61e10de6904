/**
 * The pods of the node, and the node tunnels that are connected. New pods go to the tunnel that greeted last, as in an
 * upgrade; ends of pods go to all tunnels. Pure.
 *
 * @module
 */
import { type HeldPod, type SessionLink, type TunnelAnswer, TunnelSession } from "./session.ts";

/** How the handing over of a pod ended. */
export type Handed = TunnelAnswer | { readonly is: "no tunnel" };

/** Listeners of a hub. */
export interface HubListeners {
  /** A pod was handed over without a call of {@link TunnelHub.hold}: in a snapshot, or after another tunnel's end. */
  answered(uid: string, answer: TunnelAnswer): void;
  /** The number of tunnels that have greeted has changed. */
  connected(count: number): void;
}

/** A pod that a tunnel was given. */
interface Given {
  readonly netns: string;
  readonly identity: string;
  /** Undefined: the tunnel has not answered yet. */
  answer: TunnelAnswer | undefined;
  /** Who waits for the answer. */
  readonly waiting: ((answer: TunnelAnswer) => void)[];
}

/** Pods and tunnels. */
export class TunnelHub {
  readonly #pods = new Map<string, HeldPod>();
  /** Tunnels in the order of their greetings, each with the pods that it was given. */
  readonly #tunnels = new Map<TunnelSession, Map<string, Given>>();
  readonly #listeners: HubListeners;

  constructor(listeners: HubListeners) {
    this.#listeners = listeners;
  }

  /** A session for a new connection. Without a greeting it takes no part. */
  session(link: SessionLink): TunnelSession {
    return new TunnelSession(link);
  }

  /** Takes a packet of a tunnel. */
  packet(session: TunnelSession, bytes: Uint8Array): void {
    if (session.packet(bytes)) this.#greeted(session);
    if (!session.isOpen) this.ended(session);
  }

  /** A deadline of a session has passed. */
  late(session: TunnelSession): void {
    session.late();
    this.ended(session);
  }

  /** The connection of a session has ended. Pods that only this tunnel was given go to the newest of the others. */
  ended(session: TunnelSession, why = "the tunnel closed the connection"): void {
    session.close(why);
    if (!this.#tunnels.delete(session)) return;
    this.#listeners.connected(this.#tunnels.size);
    const [newest, given] = this.#newest() ?? [];
    if (newest === undefined) return;
    for (const pod of this.#pods.values()) {
      if (!given?.has(pod.uid)) this.#give(newest, pod, (answer) => this.#listeners.answered(pod.uid, answer));
    }
  }

  /**
   * Keeps a pod for tunnels to come, and hands it to the newest tunnel. A tunnel that has the pod, or is about to answer
   * about it, is not given the pod again.
   */
  hold(pod: HeldPod, done: (handed: Handed) => void): void {
    this.#pods.set(pod.uid, pod);
    const [newest] = this.#newest() ?? [];
    if (newest === undefined) return done({ is: "no tunnel" });
    this.#give(newest, pod, done);
  }

  /** Forgets a pod, and tells all tunnels. Done when each tunnel has answered or ended. */
  release(uid: string, done: () => void): void {
    this.#pods.delete(uid);
    let left = this.#tunnels.size;
    if (left === 0) return done();
    for (const [session, given] of this.#tunnels) {
      given.delete(uid);
      session.del(uid, () => {
        if (--left === 0) done();
      });
    }
  }

  #newest(): [TunnelSession, Map<string, Given>] | undefined {
    return [...this.#tunnels].findLast(([session]) => session.isOpen);
  }

  #greeted(session: TunnelSession): void {
    const pods = [...this.#pods.values()];
    const given = new Map(pods.map((pod) => [pod.uid, givenOf(pod)]));
    this.#tunnels.set(session, given);
    this.#listeners.connected(this.#tunnels.size);
    session.snapshot(pods, (pod, answer) => {
      settle(given.get(pod.uid), pod, answer);
      this.#listeners.answered(pod.uid, answer);
    });
  }

  #give(session: TunnelSession, pod: HeldPod, done: (answer: TunnelAnswer) => void): void {
    const given = this.#tunnels.get(session);
    const before = given?.get(pod.uid);
    if (before !== undefined && isSame(before, pod)) {
      if (before.answer === undefined) return void before.waiting.push(done);
      if (before.answer.is === "acked") return done(before.answer);
    }
    const now = givenOf(pod);
    given?.set(pod.uid, now);
    session.add(pod, (answer) => {
      settle(now, pod, answer);
      done(answer);
    });
  }
}

function givenOf({ netns, identity }: HeldPod): Given {
  return { netns, identity, answer: undefined, waiting: [] };
}

/** Whether a tunnel was given the pod with this very namespace. */
function isSame(given: Given, { netns, identity }: HeldPod): boolean {
  return given.netns === netns && given.identity === identity;
}

/** Takes a tunnel's answer. An answer about an earlier namespace of the pod says nothing. */
function settle(given: Given | undefined, pod: HeldPod, answer: TunnelAnswer): void {
  if (given === undefined || !isSame(given, pod)) return;
  given.answer = answer;
  for (const done of given.waiting.splice(0)) done(answer);
}
