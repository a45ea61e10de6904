/**
 * The pace at which Gateways get new pods for reasons that many Gateways share: another version of the server, other
 * settings of proxies, another overlay of the class.
 *
 *     due ──pause──> turn ──applied──> pause, until the pods are available ──> turn of the next
 *
 * Without a pace, all Gateways of a cluster would replace their pods at once. A change of one Gateway alone does not wait.
 *
 * @module
 */
import { hash as digest } from "node:crypto";
import { changesPods } from "../../gateway_api/deploy/settled.ts";
import { ownInputs } from "../../gateway_api/deploy/source.ts";
import type { DeployedObject, DeploySource } from "../../gateway_api/deploy/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import { metadataOf } from "./resources.ts";

/** Annotation of a Deployment with a hash of the inputs that belong only to the Gateway. */
const OWN = "gateway.mesh.io/own-inputs";
/** Annotation of a Deployment with a hash of the pods as they were rendered. */
const PODS = "gateway.mesh.io/pods";

/** A rendered object. A Deployment gets two hashes, by which the server later finds the reason of a change. */
export function stamped(
  object: DeployedObject,
  source: Omit<DeploySource, "selectorLabel">,
): DeployedObject {
  if (object.kind !== "Deployment") return object;
  const pods = digest("sha256", JSON.stringify(fieldOf(object, "spec")["template"]), "base64url").slice(0, 22);
  const annotations = { ...fieldOf(object.metadata, "annotations"), [OWN]: ownInputs(source), [PODS]: pods };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/**
 * Whether an apply would replace pods for a reason that other Gateways share. An edit of the Deployment by hand and a change
 * of the Gateway are reasons of only one Gateway.
 */
export function isSharedRoll(object: DeployedObject, live: ApiJson, manager: string): boolean {
  if (object.kind !== "Deployment" || !changesPods(object, live, manager)) return false;
  const [next, before] = [fieldOf(object.metadata, "annotations"), metadataOf(live).annotations];
  return before[PODS] !== next[PODS] && (before[OWN] === undefined || before[OWN] === next[OWN]);
}

/** Whether all wanted pods of a Deployment are of its last version, and available. */
export function isAvailable(deployment: ApiJson): boolean {
  const [metadata, spec, status] = [
    ...[fieldOf(deployment, "metadata"), fieldOf(deployment, "spec"), fieldOf(deployment, "status")],
  ] as const;
  const replicas = Number(spec["replicas"] ?? 1);
  const of = (field: string) => Number(status[field] ?? 0);
  return of("observedGeneration") >= Number(metadata["generation"] ?? 0) && of("updatedReplicas") >= replicas &&
    of("availableReplicas") >= replicas && of("replicas") <= of("updatedReplicas");
}

function fieldOf(tree: ApiJson, field: string): ApiJson {
  const value = tree[field];
  return isApiJson(value) ? value : {};
}

/** Inputs of the pace. */
export interface RollsParts {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  /** Milliseconds between two rolls; 0: nothing waits. */
  readonly pause: number;
  readonly log: Logger;
  /** Called when it is a Gateway's turn. Must not throw. */
  readonly roll: (gateway: string) => void;
  /** The Deployment of a Gateway; undefined: it is gone. */
  readonly deployment: (gateway: string) => ApiJson | undefined;
}

/** Time in which Gateways gather before the log names them, milliseconds. */
const GATHER_MS = 1_000;

export class Rolls {
  readonly #parts: RollsParts;
  /** Gateways with a due roll, in their order. */
  readonly #waiting = new Set<string>();
  /** The Gateway whose turn it is. */
  #turn: string | undefined;
  /** The last roll. The next roll waits for its pods if the pods were available before. */
  #last: { readonly gateway: string; readonly at: number; readonly awaited: boolean } | undefined;
  /** When the first of the waiting Gateways began to wait. */
  #since = 0;
  #isHeld = false;
  #timer: Cancel | undefined;
  #gathering: Cancel | undefined;

  constructor(parts: RollsParts) {
    this.#parts = parts;
  }

  /** Gateways with a due roll, in their order. */
  get waiting(): readonly string[] {
    return [...this.#waiting];
  }

  /** Whether a Gateway may roll now. False: `roll` is called at the Gateway's turn. */
  mayRoll(gateway: string): boolean {
    const { pause, clock } = this.#parts;
    if (pause === 0 || this.#turn === gateway) return true;
    if (this.#waiting.size === 0) {
      this.#since = clock.monotonic();
      this.#gathering ??= clock.after(Math.min(GATHER_MS, pause), () => this.#announce());
    }
    this.#waiting.add(gateway);
    this.look();
    return false;
  }

  /** A Gateway's Deployment was applied. @param wasAvailable Whether all pods were available before. */
  began(gateway: string, wasAvailable: boolean): void {
    this.#last = { gateway, at: this.#parts.clock.monotonic(), awaited: wasAvailable };
    this.leave(gateway);
  }

  /** A Gateway does not wait for a roll, or not any longer. */
  leave(gateway: string): void {
    this.#waiting.delete(gateway);
    if (this.#turn === gateway) this.#turn = undefined;
    this.look();
  }

  /** Gives the next Gateway its turn, if the time has come. Call after each change of a Deployment. */
  look(): void {
    const { clock, pause, log, roll, deployment } = this.#parts;
    const [next] = this.#waiting;
    if (next === undefined || this.#turn !== undefined) return;
    const left = Math.max(this.#since, this.#last?.at ?? 0) + pause - clock.monotonic();
    this.#timer?.();
    this.#timer = undefined;
    if (left > 0) {
      this.#timer = clock.after(left, () => this.look());
      return;
    }
    const last = this.#last?.awaited ? deployment(this.#last.gateway) : undefined;
    if (last !== undefined && !isAvailable(last)) {
      if (!this.#isHeld) {
        log.info("Gateways wait until the pods of the last one are available", {
          ...{ last: this.#last?.gateway, waiting: this.#waiting.size },
        });
      }
      this.#isHeld = true;
      return;
    }
    this.#isHeld = false;
    this.#turn = next;
    log.info("a Gateway gets new pods", { gateway: next, left: this.#waiting.size - 1 });
    roll(next);
  }

  stop(): void {
    this.#timer?.();
    this.#gathering?.();
    this.#waiting.clear();
  }

  #announce(): void {
    this.#gathering = undefined;
    if (this.#waiting.size === 0) return;
    const { log, pause } = this.#parts;
    log.info("Gateways will get new pods, one after the other", { gateways: this.waiting, pauseSeconds: pause / 1000 });
  }
}
