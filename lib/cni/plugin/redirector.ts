/**
 * Rules in a pod's network namespace, as the plugin sees them.
 *
 * @module
 */
import type { PodRedirection } from "./redirection.ts";
import type { AnyConfig } from "../../iptables/wanted.ts";

/** The wanted rules of a pod. */
export interface WantedRules {
  readonly config: AnyConfig;
  /** Both families get rules, with or without addresses. */
  readonly dualStack: boolean;
}

/** A network namespace from inside. */
export interface NamespaceView {
  /** The namespace's addresses, in the output of `ip -o addr show`. */
  readonly addresses: string;
  /** True for the node's own namespace, which must never get a pod's rules. */
  readonly isNode: boolean;
}

/** Looks at a network namespace and changes its rules. */
export interface Redirector<Wanted extends WantedRules = PodRedirection> {
  /**
   * Looks at the namespace before any change.
   * @throws {Error} When the namespace cannot be entered.
   */
  look(netns: string): Promise<NamespaceView>;
  /**
   * Puts the rules in place: all rules of a table, or none. Present rules stay, and different rules are replaced.
   * @returns The actions, for people.
   * @throws {Error} When the rules cannot be put in place.
   */
  apply(netns: string, wanted: Wanted): Promise<string>;
  /** Differences between the present rules and the wanted rules, a line each. */
  check(netns: string, wanted: Wanted): Promise<string[]>;
  /** The faults that keep this node from setting up any redirection. The check changes nothing. */
  obstacles(): Promise<string[]>;
  /** Ends the processes of these calls. */
  end(): Promise<void>;
}

/** A redirector for rules of either sort that can also take rules away. */
export interface RuleKeeper extends Redirector<WantedRules> {
  /** Takes all rules of ours away, and the routing beside them. Throws as {@link Redirector.apply}. */
  remove(netns: string, wanted: WantedRules): Promise<string>;
}
