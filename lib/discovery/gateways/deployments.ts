/**
 * The duty that deploys managed Gateways: account, Deployment and Service of each Gateway, and the autoscaler and budget
 * that overlays ask for (`./gateway_objects.ts` writes these objects).
 *
 *     objects, facts, settings, deployed objects ──changed Gateways──> queue ──> render ──differs──> apply
 *
 * An object is applied only if the apply changes the object, so a server that has just started writes nothing. Edits of
 * rendered fields are undone. An object that was not made for the Gateway is left alone. If a change concerns the pods of
 * many Gateways, the Gateways get new pods one after the other (`./rolls.ts`).
 *
 * Permissions: the permissions of the client. Rights at the API: `get`, `list`, `watch`, `create` and `patch` of the
 * deployed kinds, `delete` of autoscalers and budgets, `list` and `watch` of mutatingwebhookconfigurations.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { type ClassNames, controllerRoles } from "../../gateway_api/built_in_classes.ts";
import { deployedNames } from "../../gateway_api/deploy/names.ts";
import { renderGateway, selectorLabelOf } from "../../gateway_api/deploy/render.ts";
import { deploySource, type DeployWorld } from "../../gateway_api/deploy/source.ts";
import type { DeployedObject } from "../../gateway_api/deploy/types.ts";
import type { InjectionSettings } from "../../injection/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel } from "../../kernel/time/clock.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import { ClusterRevisions } from "../../orch/leader/cluster_revisions.ts";
import { lockOfRevision } from "../../orch/leader/locks.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import { attachedListeners, type ChangeSources, followChanges, gatewayKey } from "./concerned.ts";
import { GatewayObjects, type GatewayWork } from "./gateway_objects.ts";
import { LiveObjects } from "./live_objects.ts";
import { Rolls, stamped } from "./rolls.ts";
import type { DeployedGateways } from "./states.ts";

/** Inputs of the duty. */
export interface GatewayDeploymentParts extends ChangeSources {
  readonly client: ApiClient;
  /** The settings of pods, or why there are none yet. */
  readonly settings: () => InjectionSettings | { readonly problems: readonly string[] };
  /** Calls a listener when the settings may have changed. @returns ends the calls */
  readonly onSettings: (listener: () => void) => () => void;
  readonly classes: ClassNames;
  /** `ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT`. */
  readonly allowsManual: boolean;
  /** `REVISION`; empty: `default`. */
  readonly revision: string;
  /** Limits the duty to a namespace; empty: all namespaces. */
  readonly namespace: string;
  readonly log: Logger;
  /** Milliseconds between two rolls for shared reasons; 0: nothing waits. */
  readonly rollPause: number;
  /** Takes the states for pages. */
  readonly states: DeployedGateways;
  /** Default: the queue is not measured. */
  readonly metrics?: Metrics | undefined;
}

/** Gateways worked on at a time. */
const WORKERS = 5;

/** Milliseconds until a Gateway with foreign objects is looked at again: no watch reports the end of these objects. */
const AGAIN_MS = 5 * 60_000;

export function gatewayDeployments(parts: GatewayDeploymentParts): Duty {
  return {
    lock: lockOfRevision("mesh-gateway-deployment-", parts.revision),
    about: "deployments of managed Gateways",
    run: (signal) => new GatewayDeployments(parts).run(signal),
  };
}

/** One term of leadership. */
class GatewayDeployments {
  readonly #parts: GatewayDeploymentParts;
  readonly #live: LiveObjects;
  readonly #revisions: ClusterRevisions;
  readonly #queue: KeyedQueue;
  readonly #rolls: Rolls;
  readonly #objects: GatewayObjects;
  /** What the log has said about each Gateway. */
  readonly #said = new Map<string, string>();
  /** Names of the Deployments by Gateway. */
  readonly #deployments = new Map<string, string>();
  /** Gateways that are looked at again later, because some of their objects are somebody else's. */
  readonly #again = new Map<string, Cancel>();
  #isReady = false;

  constructor(parts: GatewayDeploymentParts) {
    this.#parts = parts;
    const { client, namespace, log, metrics, revision, rollPause: pause, classes } = parts;
    const managers = new Set(Object.keys(controllerRoles(classes)));
    this.#live = new LiveObjects({
      ...{ client, namespace, managers, log },
      changed: (namespace, gateway) => {
        this.#add(`${namespace}/${gateway}`);
        this.#rolls.look();
      },
    });
    this.#revisions = new ClusterRevisions(client, revision, () => this.#all(), log);
    this.#queue = new KeyedQueue({
      ...{ id: "gateway deployments", workers: WORKERS, clock: client.clock, metrics, outage: { client, log } },
      work: (key, stop) => this.#deploy(key, stop),
      failed: (gateway, error, said) =>
        said || log.warn("a Gateway cannot be deployed; the server tries again", { gateway, error }),
    });
    this.#rolls = new Rolls({
      ...{ clock: client.clock, pause, log, roll: (gateway) => this.#add(gateway) },
      deployment: (gateway) =>
        this.#live.known("Deployment", gateway.split("/")[0]!, this.#deployments.get(gateway) ?? ""),
    });
    this.#objects = new GatewayObjects({ client, log, live: this.#live, rolls: this.#rolls });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, onSettings, states } = this.#parts;
    const ended = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const first = Promise.withResolvers<void>();
    const concerned = (key: string) => {
      first.resolve();
      this.#add(key);
    };
    states.begin(() => this.#rolls.waiting);
    const ends = [followChanges(this.#parts, concerned), onSettings(() => this.#all())];
    // A cluster without Gateways costs no watches.
    if (store.list("ApiGateway").length === 0) await Promise.race([first.promise, ended]);
    // All existing objects are known before the first decision, so that a restart applies nothing.
    if (!signal.aborted) await Promise.race([Promise.all([this.#live.start(), this.#revisions.start()]), ended]);
    this.#isReady = !signal.aborted;
    this.#all();
    await ended;
    for (const end of ends) end();
    this.#rolls.stop();
    for (const cancel of this.#again.values()) cancel();
    states.end();
    await Promise.all([this.#queue.stop(), this.#live.stop(), this.#revisions.stop()]);
  }

  #add(key: string): void {
    if (this.#isReady) this.#queue.add(key);
  }

  #all(): void {
    for (const gateway of this.#parts.store.list("ApiGateway")) this.#add(gatewayKey(gateway));
  }

  async #deploy(key: string, signal: AbortSignal): Promise<void> {
    const { store, log, states, settings: settingsNow } = this.#parts;
    const [namespace = "", name = ""] = key.split("/");
    const gateway = store.get("ApiGateway", namespace, name);
    const settings = settingsNow();
    // A change of the settings queues all Gateways.
    if (gateway === undefined || "problems" in settings) return this.#leave(key);
    const source = deploySource(gateway, this.#world(settings));
    if (typeof source === "string") return this.#leave(key);
    const { deployment } = deployedNames(gateway, source.role);
    const before = await this.#live.find("Deployment", namespace, deployment, signal);
    const rendering = renderGateway({ ...source, selectorLabel: selectorLabelOf(before) });
    if ("objects" in rendering) {
      this.#deployments.set(key, deployment);
      const { controller, objects } = { ...source, objects: rendering.objects.map((one) => stamped(one, source)) };
      return await this.#keep({ gateway, key, manager: controller, deployment, signal }, objects);
    }
    this.#rolls.leave(key);
    const reasons = "problems" in rendering ? rendering.problems : [rendering.invalidParameters];
    states.take(key, { deployment, state: "refused", reasons });
    this.#say(key, reasons, () => log.warn("a Gateway is not deployed", { gateway: key, reasons }));
  }

  /** Forgets a Gateway that this server does not deploy. Its objects stay. */
  #leave(key: string): void {
    this.#said.delete(key);
    this.#deployments.delete(key);
    this.#parts.states.take(key, undefined);
    this.#rolls.leave(key);
  }

  #world(settings: InjectionSettings): DeployWorld {
    const { store, facts, verdicts, classes, allowsManual, systemNamespace } = this.#parts;
    return {
      ...{ store, facts, classes, allowsManual, systemNamespace, settings, revisions: this.#revisions.known },
      attached: ({ key }) => attachedListeners(key, verdicts),
    };
  }

  async #keep(work: GatewayWork, objects: readonly DeployedObject[]): Promise<void> {
    const { log, states } = this.#parts;
    const { key, deployment } = work;
    const kept = await this.#objects.keep(work, objects);
    if (kept === undefined) return this.#leave(key);
    const { foreign, errors, isWaiting } = kept;
    const state = errors.length > 0 ? "failed" : foreign.length > 0 ? "foreign" : isWaiting ? "waiting" : "applied";
    if (foreign.length > 0) this.#lookAgain(key);
    const failures = errors.map((error) => errorMessage(error));
    states.take(key, { deployment, state, reasons: [...failures, ...foreign] });
    this.#say(
      key,
      foreign,
      () =>
        log.warn("objects of a Gateway's deployment are somebody else's, and stay as they are", {
          gateway: key,
          objects: foreign,
        }),
    );
    await this.#objects.removeUnwanted(work, objects);
    if (errors.length > 0) throw errors[0];
  }

  #lookAgain(key: string): void {
    this.#again.get(key)?.();
    this.#again.set(key, this.#parts.client.clock.after(AGAIN_MS, () => this.#add(key)));
  }

  /** Logs lines about a Gateway once. */
  #say(key: string, lines: readonly string[], log: () => void): void {
    const text = JSON.stringify(lines);
    if ((this.#said.get(key) ?? "[]") === text) return;
    this.#said.set(key, text);
    if (lines.length > 0) log();
  }
}
