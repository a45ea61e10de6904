/**
 * The ambient node agent: brings pods of this node into ambient mode and out of it.
 *
 *     plugin ── starting pod ──▶ ┌───────┐ ── rules ──▶ the pod's network namespace
 *     API ──── pods, labels ───▶ │ agent │ ── pod, namespace ──▶ node tunnels (socket process)
 *     sweep ── one pod a second▶ └───────┘ ── address ──▶ the node's exemption for probes
 *                                    └──────── annotation ──▶ API: peers may use the tunnel
 *
 * What counts are the rules in the namespace. The annotation is written last, so that nobody reaches for a tunnel that
 * does not take. A pod that has lost its rules or its tunnel keeps the annotation until the agent takes the pod out:
 * without the annotation, peers would send plain text to the pod.
 *
 * @module
 */
import { identityOf } from "../node/namespace_identity.ts";
import { errorMessage } from "../../kernel/text/error_message.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { canonical } from "../plugin/ownership.ts";
import type { Answers } from "../plugin/questions.ts";
import { isThatPod } from "../plugin/run.ts";
import type { NodeView } from "../pods/node_view.ts";
import type { Pod } from "../pods/pod.ts";
import type { PodSource } from "../pods/source.ts";
import type { HandedOver, ZdsClient } from "../zds/client.ts";
import { enrolment, type EnrolmentRules } from "../enrolment/decide.ts";
import type { HostProbes } from "./host_probes.ts";
import { Lanes } from "./lanes.ts";
import { RuleLooks } from "./looks.ts";
import { type NamespaceFacts, type Namespaces, type NetworkNamespace, pathHere } from "./namespaces.ts";
import type { PluginEvent } from "./plugin_event.ts";
import { type NodeRules, type PodRules, podRules, rulesText } from "./pod_rules.ts";
import { type DialledPod, type PodReport, type Redirection, redirectionChange, redirectionOf } from "./redirection.ts";
import { Retries } from "./retries.ts";

/** Rules in namespaces, by the system's tools. */
export interface PodRuleKeeper {
  /**
   * The differences between the present rules and the wanted rules. None: all is in place.
   * @param read What was read in the namespace just now.
   */
  check(netns: string, rules: PodRules, read?: Answers): Promise<string[]>;
  /**
   * Puts rules in place, and reads them again.
   * @param verify Called with a look into the namespace before any change. Throws for a namespace that is not the pod's.
   */
  apply(netns: string, rules: PodRules, verify: (seen: NamespaceFacts) => void): Promise<string>;
  /** Takes rules away. See {@link apply}. */
  remove(netns: string, rules: PodRules, verify: (seen: NamespaceFacts) => void): Promise<string>;
}

/** Everything the agent works with. */
export interface AgentWorld {
  readonly api: Pick<PodSource, "pod" | "annotate" | "note">;
  readonly node: NodeView;
  readonly keeper: PodRuleKeeper;
  readonly namespaces: Namespaces;
  readonly tunnels: ZdsClient;
  readonly probes: HostProbes;
  /** Dials addresses of a pod as the node's probes do. */
  readonly dial: (addresses: readonly string[]) => Promise<readonly DialledPod[]>;
  readonly rules: EnrolmentRules & NodeRules;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Pods that are worked on at once: each costs some processes. */
const WIDTH = 4;

/** Time between two pods whose rules are looked at although nothing was heard of them, milliseconds. */
const SWEEP_MS = 1000;

/** Longest wait for work under way at the end, milliseconds. */
const STOP_MS = 2000;

/** A pod in the agent's hands. */
interface Captured extends NetworkNamespace {
  readonly pod: Pod;
  /** The tunnel's last word. */
  handed: HandedOver;
}

/** The agent at work. */
export class AmbientAgent {
  readonly #world: AgentWorld;
  readonly #lanes = new Lanes(WIDTH);
  readonly #retries: Retries;
  readonly #looks: RuleLooks;
  readonly #held = new Map<string, Captured>();
  readonly #due = new Set<string>();
  readonly #stopped = new AbortController();
  #sweeping: Promise<void> | undefined;
  #obstacle: string | undefined = "the ambient node agent brings in the pods of this node";

  constructor(world: AgentWorld) {
    this.#world = world;
    this.#retries = new Retries(world.clock, (key) => this.#schedule(key, "update"));
    this.#looks = new RuleLooks(world.clock, (key) => this.#schedule(key, "update"));
  }

  /**
   * Brings in all pods of the node that should be in, and then lets tunnels connect: a tunnel drops the pods that the
   * agent does not name at once.
   */
  async start(): Promise<void> {
    const { node, tunnels, probes, log } = this.#world;
    await node.start({
      pod: (type, pod) => this.#schedule(keyOf(pod), type),
      namespace: (name) => {
        for (const pod of node.pods()) if (pod.namespace === name) this.#schedule(keyOf(pod), "update");
      },
      troubled: (why) => {
        if (this.#obstacle !== undefined) this.#obstacle = `pods and namespaces cannot be watched: ${why}`;
        log.warn("pods cannot be watched; the agent tries again", { why });
      },
    });
    this.#expectProbed();
    await this.#untilProbesPass();
    for (const pod of node.pods()) this.#schedule(keyOf(pod), "add");
    await this.#lanes.settled();
    await probes.keepOnly(new Set([...this.#held.values()].map(({ pod }) => pod.uid)));
    this.#obstacle = "the socket of node tunnels is not there yet";
    await tunnels.serve();
    this.#obstacle = undefined;
    this.#sweeping = this.#sweep();
  }

  /** Why starting pods cannot be taken yet; undefined: they can. */
  get notReady(): string | undefined {
    return this.#obstacle;
  }

  /** Ends the agent. The pods stay as they are. */
  async stop(): Promise<void> {
    this.#stopped.abort(new Error("stopped"));
    this.#retries.stop();
    this.#looks.stop();
    await Promise.all([this.#world.node.stop(), this.#sweeping]);
    // What is under way only brings a pod nearer to its state. The next agent does the rest.
    await Promise.race([this.#lanes.settled(), this.#world.clock.sleep(STOP_MS)]);
    await this.#world.tunnels.stop();
  }

  /**
   * Brings a starting pod in, for the plugin.
   * @throws {Error} When the pod is not captured and acknowledged: then it must get no network.
   */
  async started(event: PluginEvent): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#lanes.run(`${event.namespace}/${event.name}`, async () => {
      const pod = await this.#take(event);
      // The runtime goes on. Peers do not know the pod's address yet.
      resolve();
      await this.#tell(pod, "enabled").catch((error) => this.#retryLater(keyOf(pod), error));
    }, true).catch(reject);
    await promise;
  }

  /** Rules first. The tunnel and the probes follow together. */
  async #take(event: PluginEvent): Promise<Pod> {
    const { keeper, tunnels, probes } = this.#world;
    if (tunnels.connected === 0) throw new Error("no node tunnel took the pod: no tunnel");
    const pod = await this.#podOf(event);
    const key = keyOf(pod);
    const netns = pathHere(event.netns);
    const identity = identityOf(netns);
    if (identity === undefined) throw new Error(`network namespace ${netns} cannot be seen`);
    const rules = this.#rulesOf(pod, this.#world.rules);
    await keeper.apply(netns, rules, (seen) => verify(seen, netns, event.addresses));
    if (identityOf(netns) !== identity) throw new Error(`${netns} became another network namespace`);
    const [handed] = await Promise.all([this.#hand(pod, { netns, identity }), probes.put(pod.uid, event.addresses)]);
    if (handed.outcome !== "acked") {
      await this.#forget(key);
      throw new Error(`no node tunnel took the pod: ${handed.outcome}${handed.why && `: ${handed.why}`}`);
    }
    this.#looks.areRight(key, pod, { netns, identity }, rules);
    return pod;
  }

  /** @throws {Error} When there is no such pod, or the runtime speaks of another pod of that name. */
  async #podOf(event: PluginEvent): Promise<Pod> {
    const { node, api } = this.#world;
    const known = node.pod(event.namespace, event.name);
    if (known !== undefined && known.uid === event.uid) return known;
    const pod = await api.pod(event.namespace, event.name);
    if (pod === undefined) throw new Error("there is no such pod");
    if (!isThatPod(pod, event)) throw new Error(`the pod of that name has uid ${pod.uid}, not ${event.uid}`);
    return pod;
  }

  /** A tunnel said something about a pod without being asked. */
  answered(uid: string, handed: HandedOver): void {
    const [key, held] = [...this.#held].find(([, { pod }]) => pod.uid === uid) ?? [];
    if (key === undefined || held === undefined) return;
    held.handed = handed;
    if (handed.outcome === "lost") this.#held.delete(key);
    this.#schedule(key, "update");
  }

  /** What the agent knows and sees about a pod; undefined: there is no such pod on this node. */
  async report(namespace: string, name: string): Promise<PodReport | undefined> {
    const { node, rules, keeper, namespaces, tunnels, probes } = this.#world;
    const pod = node.pod(namespace, name);
    if (pod === undefined) return undefined;
    const { isIn, why } = enrolment(pod, node.namespaceLabels(namespace) ?? {}, rules);
    const wanted = podRules(pod, rules);
    const addresses = probes.ofFamilies(pod.addresses);
    const known = {
      ...{ isIn, why, redirection: redirectionOf(pod), tunnel: this.#held.get(keyOf(pod))?.handed },
      ...{ tunnels: tunnels.connected, probes: await probes.exempted(pod.uid) },
      ...{ addresses, rules: rulesText(wanted), dialled: isIn ? await this.#world.dial(addresses) : [] },
    };
    if (pod.hostNetwork) return { ...known, differences: [] };
    try {
      const { netns } = await namespaces.find(pod.addresses);
      return { ...known, netns, differences: await keeper.check(netns, wanted) };
    } catch (error) {
      return { ...known, differences: [errorMessage(error)] };
    }
  }

  /**
   * Pods of an earlier agent keep their exemption while this agent comes to them, and those to be brought in share a
   * write.
   */
  #expectProbed(): void {
    const { node, probes, rules } = this.#world;
    for (const pod of node.pods()) {
      const { isIn } = enrolment(pod, node.namespaceLabels(pod.namespace) ?? {}, rules);
      if (isIn) probes.expect(pod.uid, pod.addresses.map(canonical));
    }
  }

  /** The probes of a node that cannot exempt them would fail, so that nothing starts until it can. */
  async #untilProbesPass(): Promise<void> {
    const { probes, clock, log } = this.#world;
    for (let wait = SWEEP_MS; !this.#stopped.signal.aborted; wait = Math.min(2 * wait, 30 * SWEEP_MS)) {
      try {
        await probes.reconcile();
        return;
      } catch (error) {
        this.#obstacle = `probes cannot be exempted: ${errorMessage(error)}`;
        log.error("the node's probes cannot be exempted; the agent tries again", { error });
        await clock.sleep(wait, this.#stopped.signal).catch(() => {});
      }
    }
  }

  #schedule(key: string, type: "add" | "update" | "delete"): void {
    this.#world.metrics.counter("nodeagent_reconcile_events_total").inc({ type });
    if (this.#due.has(key) || this.#stopped.signal.aborted) return;
    this.#due.add(key);
    this.#lanes.run(key, async () => {
      this.#due.delete(key);
      if (this.#stopped.signal.aborted) return;
      await this.#reconcile(key);
      this.#retries.done(key);
    }).catch((error) => this.#retryLater(key, error));
  }

  #retryLater(key: string, error: unknown): void {
    const message = errorMessage(error);
    const [namespace = "", name = ""] = key.split("/");
    const pod = this.#world.node.pod(namespace, name);
    const { isFirst, wait } = this.#retries.later(key, message);
    if (!isFirst) return;
    this.#world.log.warn("a pod could not be brought to its state; the agent tries again", { pod: key, message, wait });
    if (pod === undefined) return;
    this.#world.api.note(pod, { reason: "AmbientRedirection", message }).catch(() => {});
  }

  /** From the present state of a pod to the wanted state. */
  async #reconcile(key: string): Promise<void> {
    const [namespace = "", name = ""] = key.split("/");
    const { node, rules } = this.#world;
    const pod = node.pod(namespace, name);
    const held = this.#held.get(key);
    if (held !== undefined && (pod === undefined || pod.uid !== held.pod.uid || pod.hasEnded)) {
      await this.#forget(key);
    }
    if (pod === undefined || pod.hasEnded) return;
    const { isIn } = enrolment(pod, node.namespaceLabels(namespace) ?? {}, rules);
    if (isIn) await this.#bringIn(pod);
    else if (this.#held.has(key) || redirectionOf(pod) !== undefined) await this.#takeOut(pod);
  }

  async #bringIn(pod: Pod): Promise<void> {
    // The plugin brings a pod that has no network yet.
    if (pod.addresses.length === 0) return;
    const { keeper, namespaces, rules, log } = this.#world;
    const wanted = this.#rulesOf(pod, rules);
    const place = await namespaces.find(pod.addresses).catch((error) => {
      // The namespace of a pod that ends goes before the pod.
      if (!pod.ending) throw error;
    });
    if (place === undefined) return;
    const isDue = this.#looks.isDue(keyOf(pod), pod, place, wanted);
    const differences = isDue ? await keeper.check(place.netns, wanted, place.answers) : [];
    if (differences.length > 0) {
      const wereRight = this.#looks.wereRight(keyOf(pod), place, wanted);
      this.#looks.ask(keyOf(pod));
      await keeper.apply(place.netns, wanted, (seen) => verify(seen, place.netns, pod.addresses));
      const found = { pod: keyOf(pod), differences: differences.length, first: differences[0] };
      if (wereRight) log.warn("the rules of a pod were changed by others, and are restored", found);
      else log.info("rules of a pod set up", found);
    }
    if (isDue) this.#looks.areRight(keyOf(pod), pod, place, wanted);
    const [handed] = await Promise.all([
      this.#hand(pod, place),
      this.#world.probes.put(pod.uid, pod.addresses.map(canonical)),
    ]);
    if (handed.outcome === "lost") throw new Error(`network namespace ${place.netns} is gone`);
    // A tunnel that is away for a moment keeps its pods, and finds them again.
    const isEnabled = handed.outcome === "acked" || redirectionOf(pod) === "enabled";
    await this.#tell(pod, isEnabled ? "enabled" : "pending");
    if (handed.outcome === "refused") throw new Error(`the node tunnel could not take the pod yet: ${handed.why}`);
  }

  /** Rules first, annotation last. */
  async #takeOut(pod: Pod): Promise<void> {
    const { keeper, namespaces, rules } = this.#world;
    if (pod.addresses.length > 0 && !pod.hostNetwork) {
      const { netns } = await namespaces.find(pod.addresses);
      const wanted = this.#rulesOf(pod, rules);
      await keeper.remove(netns, wanted, (seen) => verify(seen, netns, pod.addresses));
    }
    await this.#forget(keyOf(pod), pod.uid);
    await this.#tell(pod, undefined);
    this.#world.log.info("pod taken out of ambient mode", { pod: keyOf(pod) });
  }

  /** Hands a pod to a tunnel, unless a tunnel has acknowledged this very namespace. */
  async #hand(pod: Pod, { netns, identity: inode }: NetworkNamespace): Promise<HandedOver> {
    // Without what was read there, which would be kept as long as the pod.
    const place: NetworkNamespace = { netns, identity: inode };
    const before = this.#held.get(keyOf(pod));
    const isSame = before?.pod.uid === pod.uid && before.identity === place.identity && before.netns === place.netns;
    if (isSame && before.handed.outcome === "acked") return before.handed;
    const { uid, name, namespace, serviceAccount } = pod;
    const held: Captured = { pod, ...place, handed: { outcome: "no tunnel", why: "" } };
    this.#held.set(keyOf(pod), held);
    const identity = { uid, name, namespace, serviceAccount: serviceAccount || "default" };
    held.handed = await this.#world.tunnels.hold({ ...identity, ...place });
    return held.handed;
  }

  /** Ends everything outside of the pod's namespace. */
  async #forget(key: string, uid = this.#held.get(key)?.pod.uid): Promise<void> {
    this.#held.delete(key);
    this.#looks.forget(key);
    if (uid === undefined) return;
    await this.#world.probes.drop(uid);
    await this.#world.tunnels.release(uid);
  }

  #rulesOf(pod: Pod, node: NodeRules): PodRules {
    const rules = podRules(pod, node);
    for (const warning of rules.warnings) this.#world.log.warn(warning, { pod: keyOf(pod) });
    return rules;
  }

  /** Writes the annotation if the pod's differs. */
  async #tell(pod: Pod, state: Redirection | undefined): Promise<void> {
    const { node, api } = this.#world;
    const change = redirectionChange(node.pod(pod.namespace, pod.name) ?? pod, state);
    if (change !== undefined) await api.annotate(pod, change);
  }

  /** Looks at pod after pod, whether anything was heard of them or not: rules can be flushed by hand. */
  async #sweep(): Promise<void> {
    const { signal } = this.#stopped;
    const { clock, probes, log } = this.#world;
    for (;;) {
      const keys = [...this.#held.keys()];
      for (const key of keys.length > 0 ? keys : [undefined]) {
        await clock.sleep(SWEEP_MS, signal).catch(() => {});
        if (signal.aborted) return;
        if (key === undefined || !this.#held.has(key)) continue;
        this.#looks.ask(key);
        this.#schedule(key, "update");
      }
      const restored = await probes.reconcile().catch((error) => log.warn("probes cannot be exempted", { error }));
      if (restored === true) log.warn("the exemption of probes was changed by others, and is restored");
    }
  }
}

function keyOf({ namespace, name }: Pod): string {
  return `${namespace}/${name}`;
}

/** @throws {Error} When the namespace is the node's, or lacks an address of the pod. */
function verify(seen: NamespaceFacts, netns: string, addresses: readonly string[]): void {
  if (seen.isNode) throw new Error(`network namespace ${netns} is the node's own`);
  const missing = addresses.map(canonical).filter((address) => !seen.addresses.has(address));
  if (missing.length > 0) {
    throw new Error(`network namespace ${netns} lacks ${missing.join(", ")}: it is not the pod's`);
  }
  if (addresses.length === 0) throw new Error("the runtime gave no address by which the namespace could be verified");
}
