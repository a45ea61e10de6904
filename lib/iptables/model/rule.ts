/**
 * A rule as data, and the rule's text: exactly the text of `iptables-save`, so that the kernel's list and the wanted
 * list compare.
 *
 * @module
 */
import type { ChainName, Family, Hook } from "./names.ts";

/** Ports `first` to `last`, both included. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** A mark: all bits, or the bits of a mask. */
export type Mark = number | { readonly value: number; readonly mask: number };

/** The match of a rule. All parts must hold; a part left out holds for every packet. */
export interface RuleMatch {
  /** Source range, `address/bits`. */
  readonly source?: string;
  readonly destination?: string;
  readonly notDestination?: string;
  /** Incoming device. `+` at the end stands for any rest. */
  readonly in?: string;
  /** Outgoing device. */
  readonly out?: string;
  readonly notOut?: string;
  readonly protocol?: "tcp" | "udp";
  readonly sourcePort?: number;
  readonly destinationPort?: PortRange;
  /** Excluded ports. */
  readonly notDestinationPorts?: readonly number[];
  /** State of the connection in the kernel's tracking. */
  readonly state?: "INVALID" | "RELATED,ESTABLISHED";
  /** Mark of the packet. */
  readonly mark?: Mark;
  readonly notMark?: Mark;
  /** Mark of the packet's connection. */
  readonly connmark?: Mark;
  /** User of the sending process. */
  readonly uid?: number;
  /** Group of the sending process. */
  readonly gid?: number;
}

/** The target of a rule: the fate of a matching packet. */
export type RuleTarget =
  | { readonly kind: "return" | "accept" | "drop" }
  | { readonly kind: "jump"; readonly to: ChainName }
  | { readonly kind: "redirect"; readonly port: number }
  | { readonly kind: "tproxy"; readonly port: number; readonly mark: number }
  | { readonly kind: "mark"; readonly mark: number }
  /** Copies the packet's mark to its connection, or back. */
  | { readonly kind: "save mark" | "restore mark" }
  /** Marks the packet's connection. */
  | { readonly kind: "set connmark"; readonly mark: Mark }
  /** Tracks the connection in a separate zone. */
  | { readonly kind: "zone"; readonly zone: number };

export interface Rule {
  readonly match: RuleMatch;
  readonly target: RuleTarget;
  /** The reason for the rule, for readers of a dry run. */
  readonly why: string;
}

/** The wanted rules of a table. */
export interface Table {
  /** Ways in: rules at the end of the kernel's own chains. */
  readonly hooks: readonly (Rule & { readonly hook: Hook })[];
  /** Our chains in order; a chain's rules hold from first to last. */
  readonly chains: ReadonlyMap<string, readonly Rule[]>;
}

/** The wanted rules of a family. Tables without rules are left out. */
export interface Ruleset {
  readonly family: Family;
  readonly tables: ReadonlyMap<string, Table>;
}

/** Text of a rule, without its chain. */
export function ruleText({ match, target }: Rule, family: Family): string {
  return [...matchWords(match), ...targetWords(target, family)].join(" ");
}

function matchWords(m: RuleMatch): string[] {
  const words: string[] = [];
  const add = (...more: string[]) => words.push(...more);
  // A range of all addresses is not printed by the kernel's tools.
  if (m.source !== undefined && !m.source.endsWith("/0")) add("-s", m.source);
  if (m.destination !== undefined && !m.destination.endsWith("/0")) add("-d", m.destination);
  if (m.notDestination !== undefined) add("!", "-d", m.notDestination);
  if (m.in !== undefined) add("-i", m.in);
  if (m.out !== undefined) add("-o", m.out);
  if (m.notOut !== undefined) add("!", "-o", m.notOut);
  if (m.protocol !== undefined) add("-p", m.protocol);
  const [one, ...more] = m.notDestinationPorts ?? [];
  if (m.sourcePort !== undefined || m.destinationPort !== undefined || (one !== undefined && more.length === 0)) {
    add("-m", m.protocol ?? "tcp");
    if (m.sourcePort !== undefined) add("--sport", String(m.sourcePort));
    if (m.destinationPort !== undefined) add("--dport", portText(m.destinationPort));
    if (one !== undefined) add("!", "--dport", String(one));
  }
  if (one !== undefined && more.length > 0) add("-m", "multiport", "!", "--dports", [one, ...more].join(","));
  if (m.state !== undefined) add("-m", "conntrack", "--ctstate", m.state);
  if (m.mark !== undefined) add("-m", "mark", "--mark", markText(m.mark));
  if (m.notMark !== undefined) add("-m", "mark", "!", "--mark", markText(m.notMark));
  if (m.connmark !== undefined) add("-m", "connmark", "--mark", markText(m.connmark));
  if (m.uid !== undefined) add("-m", "owner", "--uid-owner", String(m.uid));
  if (m.gid !== undefined) add("-m", "owner", "--gid-owner", String(m.gid));
  return words;
}

function targetWords(target: RuleTarget, family: Family): string[] {
  switch (target.kind) {
    case "return":
    case "accept":
    case "drop":
      return ["-j", target.kind.toUpperCase()];
    case "jump":
      return ["-j", target.to];
    case "redirect":
      return ["-j", "REDIRECT", "--to-ports", String(target.port)];
    case "tproxy":
      return [
        ...["-j", "TPROXY", "--on-port", String(target.port), "--on-ip", family === 4 ? "0.0.0.0" : "::"],
        ...["--tproxy-mark", `${hex(target.mark)}/0xffffffff`],
      ];
    case "mark":
      return ["-j", "MARK", "--set-xmark", `${hex(target.mark)}/0xffffffff`];
    case "save mark":
      return ["-j", "CONNMARK", "--save-mark", "--nfmask", "0xffffffff", "--ctmask", "0xffffffff"];
    case "restore mark":
      return ["-j", "CONNMARK", "--restore-mark", "--nfmask", "0xffffffff", "--ctmask", "0xffffffff"];
    case "set connmark":
      return ["-j", "CONNMARK", "--set-xmark", markText(target.mark)];
    case "zone":
      return ["-j", "CT", "--zone", String(target.zone)];
  }
}

/** `8080`, or `8080:8090`. */
export function portText({ first, last }: PortRange): string {
  return first === last ? String(first) : `${first}:${last}`;
}

function markText(mark: Mark): string {
  return typeof mark === "number" ? hex(mark) : `${hex(mark.value)}/${hex(mark.mask)}`;
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
