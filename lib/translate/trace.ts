/**
 * What a builder asked, and what it was told: the key under which its result may be used again.
 *
 * Questions about the proxy (its traits) are kept apart from questions about the world (services, rules): the first
 * decide which proxies may share, the second whether the result is still true.
 *
 * Permissions: none.
 *
 * @module
 */
import type { ConfigObject } from "../config/types.ts";
import type { EffectiveDestinationRule } from "../mesh/types.ts";
import type { Changed } from "./changed.ts";
import type { ProxyTraits, Reader } from "./reader.ts";

/** A question about the proxy alone, with the answer that was given. */
export interface TraitQuestion {
  readonly compute: (traits: ProxyTraits) => unknown;
  readonly answer: unknown;
}

/** A question about the world, with the answer that was given. */
interface WorldQuestion {
  readonly ask: (reader: BaseReader) => unknown;
  readonly answer: unknown;
}

/** All that one build asked. */
export class Trace {
  readonly traits = new Map<string, TraitQuestion>();
  readonly #world = new Map<string, WorldQuestion>();
  /**
   * What could change an answer: `s/<host>` the service of a host, `e/` its endpoints, `v/` its virtual service,
   * `d/` its destination rule, `g/` the Gateway objects, `g/<gateway>` the virtual services of one.
   */
  readonly dependencies = new Set<string>();

  /** Asks a question about the proxy, and records it. */
  trait<T>(key: string, traits: ProxyTraits, compute: (traits: ProxyTraits) => T): T {
    const known = this.traits.get(key);
    if (known !== undefined) return known.answer as T;
    const answer = compute(traits);
    this.traits.set(key, { compute, answer });
    return answer;
  }

  /**
   * Asks a question about the world, and records it.
   *
   * @param on What could change the answer, a letter each (see {@link dependencies}), of the host or gateway `name`.
   */
  world<T>(kind: string, name: string, on: string, base: BaseReader, ask: (reader: BaseReader) => T): T {
    const key = `${kind}/${name}`;
    const known = this.#world.get(key);
    if (known !== undefined) return known.answer as T;
    const answer = ask(base);
    this.#world.set(key, { ask, answer });
    for (const letter of on) this.dependencies.add(`${letter}/${name}`);
    return answer;
  }

  /** Whether what changed could change an answer. */
  dependsOnAny(changed: Changed): boolean {
    return changed.hasAny(this.dependencies);
  }

  /** Whether a proxy with these traits would have got the same answers. */
  fits(traits: ProxyTraits): boolean {
    for (const { compute, answer } of this.traits.values()) if (compute(traits) !== answer) return false;
    return true;
  }

  /** Whether the reader of another proxy class gives the same answers to every question. */
  holds(reader: BaseReader): boolean {
    if (!this.fits(reader.traits)) return false;
    for (const { ask, answer } of this.#world.values()) if (ask(reader) !== answer) return false;
    return true;
  }
}

/** A reader of one proxy class, with what `tracing` needs beside what builders may ask. */
export interface BaseReader extends Omit<Reader, "destinationRule"> {
  /** The traits of one proxy of the class. */
  readonly traits: ProxyTraits;
  /** The rules in force for a host; more than one only where rules select client workloads by labels. */
  destinationRules(host: string): readonly EffectiveDestinationRule[];
  /** The gateways that a workload with these traits serves; equal lists are the same array. */
  gatewaysOf(traits: ProxyTraits): readonly ConfigObject<"Gateway">[];
}

/**
 * A reader that records. Every method asks the base reader and notes question and answer.
 *
 * @param base The reader of one proxy class.
 * @param trace Where to note.
 */
export function tracing(base: BaseReader, trace: Trace): Reader {
  const { traits } = base;
  const host = <T>(kind: string, name: string, on: string, ask: (reader: BaseReader) => T): T =>
    trace.world(kind, name, on, base, ask);
  const one = <T>(kind: string, ask: (reader: BaseReader) => T): T => trace.world(kind, "", "", base, ask);
  return {
    settings: base.settings,
    trait: (name) => trace.trait(name, traits, (t) => t[name]),
    ask: (key, compute) => trace.trait(key, traits, compute),
    mesh: () => one("mesh", (r) => r.mesh()),
    networks: () => one("networks", (r) => r.networks()),
    service: (name) => host("service", name, "s", (r) => r.service(name)),
    endpoints: (name) => host("endpoints", name, "se", (r) => r.endpoints(name)),
    destinationRule: (name) => destinationRule(base, trace, name),
    virtualService: (name, protocol) => host(protocol, name, "v", (r) => r.virtualService(name, protocol)),
    egressListeners: () => one("egress", (r) => r.egressListeners()),
    egressSees: (egress, name) => host(`sees/${egress.index}`, name, "sv", (r) => r.egressSees(egress, name)),
    outboundTrafficPolicy: () => one("policy", (r) => r.outboundTrafficPolicy()),
    proxyHeaders: () => trace.trait("proxyHeaders", traits, (t) => t.proxyHeaders),
    hasServiceUnder: (pattern) => host("under", pattern, "s", (r) => r.hasServiceUnder(pattern)),
    gateways: () => {
      trace.dependencies.add("g/");
      return trace.trait("gateways", traits, (t) => base.gatewaysOf(t));
    },
    virtualServicesOf: (name) => host("routes", name, "g", (r) => r.virtualServicesOf(name)),
  };
}

/** Rules that select clients come first; which of them applies is a question about the proxy's labels alone. */
function destinationRule(base: BaseReader, trace: Trace, host: string): EffectiveDestinationRule | undefined {
  const rules = trace.world("destinationRules", host, "ds", base, (reader) => reader.destinationRules(host));
  for (const rule of rules) {
    const wanted = Object.entries(rule.spec.workloadSelector?.matchLabels ?? {});
    if (wanted.length === 0) continue;
    const selects = (traits: ProxyTraits) => wanted.every(([key, value]) => traits.labels[key] === value);
    if (trace.trait(`selects/${JSON.stringify(wanted)}`, base.traits, selects)) return rule;
  }
  return rules.find((rule) => Object.keys(rule.spec.workloadSelector?.matchLabels ?? {}).length === 0);
}
