/**
 * Rules in a pod's network namespace, as the plugin sees them.
 *
 * @module
 */
import type { PodRedirection } from "./redirection.ts";

/** A network namespace from inside. */
export interface NamespaceView {
  /** Its addresses, as `ip -o addr show` prints them. */
  readonly addresses: string;
  /** True for the node's own, in which no pod's rules may ever be. */
  readonly isNode: boolean;
}

/** Looks at a network namespace and changes its rules. */
export interface Redirector {
  /**
   * Looks at the namespace before anything is changed.
   *
   * @throws {Error} when it cannot be entered.
   */
  look(netns: string): Promise<NamespaceView>;
  /**
   * Puts the rules in place, all or none of a table. Rules that are there already are left, those that differ replaced.
   *
   * @returns The actions, for people.
   * @throws {Error} when they cannot be put in place.
   */
  apply(netns: string, wanted: PodRedirection): Promise<string>;
  /** Differences between the rules there and those wanted, a line each. */
  check(netns: string, wanted: PodRedirection): Promise<string[]>;
  /** The faults that keep this node from setting up any redirection; nothing is changed by asking. */
  obstacles(): Promise<string[]>;
  /** Ends the processes that were started for all that. */
  end(): Promise<void>;
}
