/**
 * When the rules of a pod are read again. They are read whenever nothing is known of them, when asked for, and after
 * each change of the pod, but not twice in a second: a starting pod has several changes. The agent's own annotation is no
 * change.
 *
 * @module
 */
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import type { Pod } from "../pods/pod.ts";
import type { NetworkNamespace } from "./namespaces.ts";
import type { PodRules } from "./pod_rules.ts";
import { withoutRedirection } from "./redirection.ts";

/** Least time between two looks at a pod whose rules were in place, milliseconds. */
const AGAIN_MS = 1000;

/** Rules that were found in place. */
interface Look {
  readonly at: number;
  /** The namespace and the rules. */
  readonly what: string;
  /** The pod of the time. */
  readonly pod: string;
}

/** Looks at the rules of pods, by the pod's key. */
export class RuleLooks {
  readonly #right = new Map<string, Look>();
  readonly #asked = new Set<string>();
  readonly #later = new Map<string, Cancel>();
  readonly #clock: Clock;
  readonly #again: (key: string) => void;

  /** @param again Called when it is time for a look that was put off. */
  constructor(clock: Clock, again: (key: string) => void) {
    this.#clock = clock;
    this.#again = again;
  }

  /** The next look is made in any case. */
  ask(key: string): void {
    this.#asked.add(key);
  }

  /** Whether the rules must be read now. */
  isDue(key: string, pod: Pod, place: NetworkNamespace, rules: PodRules): boolean {
    const before = this.#right.get(key);
    if (before === undefined || before.what !== whatOf(place, rules) || this.#asked.has(key)) return true;
    if (before.pod === textOf(pod)) return false;
    const wait = before.at + AGAIN_MS - this.#clock.monotonic();
    if (wait <= 0) return true;
    if (!this.#later.has(key)) {
      this.#later.set(
        key,
        this.#clock.after(wait, () => {
          this.#later.delete(key);
          this.ask(key);
          this.#again(key);
        }),
      );
    }
    return false;
  }

  /** Whether these rules were once found in place in this namespace: differences are the work of others. */
  wereRight(key: string, place: NetworkNamespace, rules: PodRules): boolean {
    return this.#right.get(key)?.what === whatOf(place, rules);
  }

  /** The rules were read, and are in place. */
  areRight(key: string, pod: Pod, place: NetworkNamespace, rules: PodRules): void {
    this.forget(key);
    this.#right.set(key, { at: this.#clock.monotonic(), what: whatOf(place, rules), pod: textOf(pod) });
  }

  /** Nothing is known of the rules any more. */
  forget(key: string): void {
    this.#right.delete(key);
    this.#asked.delete(key);
    this.#later.get(key)?.();
    this.#later.delete(key);
  }

  /** Ends all waits. */
  stop(): void {
    for (const cancel of this.#later.values()) cancel();
    this.#later.clear();
  }
}

function whatOf({ netns, identity }: NetworkNamespace, { config }: PodRules): string {
  return JSON.stringify([netns, identity, config]);
}

/** A pod without what the agent writes, and without the number that counts writes. */
function textOf(pod: Pod): string {
  return JSON.stringify({ ...pod, annotations: withoutRedirection(pod), resourceVersion: "" });
}
