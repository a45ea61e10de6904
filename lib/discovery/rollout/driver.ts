/**
 * Drives rollouts: chooses the proxies of a stage, counts their acknowledgements and rejections, and keeps the state.
 *
 *     changed object ──> kept ──> proxies chosen ──> push ──> acknowledged? ──> next stage, or taken back
 *
 * Nothing is done, and no timer runs, while there is no rollout.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import type { AnyConfigObject } from "../../config/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { MAX_ROLLOUTS } from "../../rollout/line.ts";
import type { StageFacts } from "../../rollout/machine.ts";
import { placesOf } from "../../rollout/choice.ts";
import type { ServerShare } from "../../rollout/share.ts";
import type { RunningRollout, StagedRecord } from "../../rollout/staged.ts";
import type { StagedObjects } from "../../rollout/staged_objects.ts";
import type { PushProgress } from "../../xds/progress.ts";
import type { XdsServer } from "../../xds/server.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import type { TrafficSource } from "../../graph/traffic.ts";
import { type ErrorLook, lookAtErrors } from "./error_watch.ts";
import { concernedNodes } from "./concerned.ts";
import { LONE_SERVER, type RolloutServers } from "./servers.ts";
import type { RolloutShelf, UnkeptRollouts } from "./shelf.ts";

/** Time between two looks at running rollouts, milliseconds. */
const INTERVAL = 1000;
/** Most rollouts in a report: further rollouts are not next in line. */
const MOST_REPORTED = 32;
/** Most places in a report that has more rollouts than necessary: a config map holds 1 MiB. */
const MOST_PLACES = 100_000;
/** Time for proxies to come back, after their own restart or the server's, milliseconds. */
const RETURN_TIME = 60_000;

export interface RolloutDriverParts {
  readonly staged: StagedObjects;
  readonly pipeline: Pipeline;
  readonly xds: Pick<XdsServer, "ledger" | "streams">;
  readonly shelf: RolloutShelf;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time for proxies to come back. Default: a minute. */
  readonly returnTime?: number;
  /** Time between two looks. Default: a second. */
  readonly interval?: number;
  /** Measures errors. Default: nobody does, and acknowledgements alone decide. */
  readonly traffic?: TrafficSource | undefined;
  /** The servers that share the rollouts. Default: this server is alone, and decides. */
  readonly servers?: RolloutServers;
  /** Called at the end of a rollout. */
  readonly ended?: (outcome: "settled" | "taken_back") => void;
}

/** A rollout as pages show it. */
export interface RolloutProgress extends RunningRollout {
  /** Whether this server decides. */
  readonly decides: boolean;
  readonly facts: StageFacts;
  /** Why the rollout does not go on, beside missing acknowledgements; empty: it goes on. */
  readonly problem: string;
}

export class RolloutDriver {
  readonly #parts: RolloutDriverParts;
  readonly #started: number;
  readonly #servers: RolloutServers;
  readonly #quiet: () => void;
  /** By object and node: the last time that a concerned proxy was connected. */
  readonly #seen = new Map<string, Map<string, number>>();
  /** The last look at errors, by object. */
  readonly #errors = new Map<string, ErrorLook>();
  /** By object: since when proxies have the candidate, as far as this server has seen as the one that decides. */
  readonly #chosen = new Map<string, number>();
  #cancel: Cancel | undefined;
  #looking: Promise<void> | undefined;
  #kept = -1;
  #problem = "";
  /** Why single rollouts are not kept, by object. */
  #unkept: UnkeptRollouts = new Map();
  /** The last report about proxies has failed. */
  #isSilent = false;
  #stopped = false;

  constructor(parts: RolloutDriverParts) {
    this.#parts = parts;
    this.#started = parts.clock.monotonic();
    this.#servers = parts.servers ?? LONE_SERVER;
    this.#servers.onTurn(() => this.#turn());
    this.#quiet = parts.pipeline.onPush(() => this.#wake());
    this.#wake();
  }

  /** The rollouts with their progress. */
  progress(): RolloutProgress[] {
    return this.#parts.staged.rollouts().map((rollout) => {
      const paused = rollout.plan.paused ? "it is paused" : "";
      const measured = rollout.phase === "taken-back" ? "" : this.#errors.get(rollout.key)?.problem ?? "";
      const unkept = this.#unkept.get(rollout.key);
      const problem = this.#problem || (unkept ? `its state cannot be kept: ${unkept}` : "") || paused;
      const decides = this.#servers.leadsSince !== undefined;
      return { ...rollout, decides, facts: this.#factsOf(rollout), problem: problem || rollout.waits || measured };
    });
  }

  /** Takes what the deciding server has decided about an object. Undefined: nothing is kept about the object. */
  adopt(key: string, record: StagedRecord | undefined): void {
    const { staged, pipeline } = this.#parts;
    if (this.#servers.leadsSince !== undefined || !staged.adopt(key, record)) return;
    const object = staged.rollout(key)?.object;
    if (object !== undefined) pipeline.rolloutsChanged([object]);
    this.#wake();
  }

  /** This server begins or ceases to decide. */
  #turn(): void {
    if (this.#servers.leadsSince !== undefined) this.#parts.staged.lead();
    this.#chosen.clear();
    this.#kept = -1;
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#quiet();
    this.#cancel?.();
    await this.#looking;
  }

  #wake(): void {
    if (this.#stopped || this.#looking !== undefined) return;
    const { staged } = this.#parts;
    if (!staged.active && staged.revision === this.#kept) return;
    this.#cancel?.();
    this.#cancel = undefined;
    this.#looking = this.#look().catch((error) => {
      this.#parts.log.error("a look at rollouts failed", { error });
    }).finally(() => {
      this.#looking = undefined;
      if (this.#stopped || !staged.active && staged.revision === this.#kept) return;
      this.#cancel = this.#parts.clock.after(this.#parts.interval ?? INTERVAL, () => this.#wake());
    });
  }

  async #look(): Promise<void> {
    const { staged, pipeline } = this.#parts;
    if (this.#servers.leadsSince === undefined) return await this.#follow();
    await this.#measure();
    // An edit during the wait is not kept yet.
    const isKept = await this.#keep() && staged.revision === this.#kept;
    const changed: AnyConfigObject[] = [];
    const present = staged.rollouts();
    for (const rollout of present) if (this.#move(rollout, isKept)) changed.push(rollout.object);
    this.#forgetEnded(present);
    if (changed.length === 0) return await this.#reportShares();
    await this.#keep();
    pipeline.rolloutsChanged(changed);
  }

  /** Chooses proxies as the deciding server says, and reports. */
  async #follow(): Promise<void> {
    const { staged, pipeline } = this.#parts;
    this.#kept = staged.revision;
    const present = staged.rollouts();
    this.#forgetEnded(present);
    const reported = this.#reported();
    const changed: AnyConfigObject[] = [];
    for (const rollout of present) {
      const { key, object, limit, proxies, returns } = rollout;
      if (!reported.has(key) && limit < 0 && proxies.size === 0 && !returns) continue;
      if (staged.follow(key, this.#remembered(key, this.#concerned(rollout)))) changed.push(object);
    }
    if (changed.length > 0) pipeline.rolloutsChanged(changed);
    else await this.#reportShares();
  }

  /** Reports the proxies of this server to the other servers. */
  async #reportShares(): Promise<void> {
    const { staged, log } = this.#parts;
    try {
      await this.#servers.report(() => {
        const reported = this.#reported();
        const shown = staged.rollouts().filter(({ key }) => reported.has(key));
        return new Map(shown.map((rollout) => [rollout.key, this.#shareOf(rollout)]));
      });
      this.#isSilent = false;
    } catch (error) {
      if (!this.#stopped && !this.#isSilent) log.warn("the proxies of rollouts cannot be reported", { error });
      this.#isSilent = true;
    }
  }

  #shareOf(rollout: RunningRollout): ServerShare {
    const { key, candidate, limit } = rollout;
    const { live, failing, refused, words } = this.#ownFacts(rollout);
    const places = [...placesOf(key, this.#seen.get(key)?.keys() ?? []).values()];
    return { ...{ candidate, limit, places }, ...{ live, failing, refused, words } };
  }

  /** Rollouts in a report: those that run, and the next ones. The more proxies there are, the fewer. */
  #reported(): ReadonlySet<string> {
    const { staged, pipeline } = this.#parts;
    let proxies = 0;
    for (const _ of pipeline.translator.proxies()) proxies++;
    const most = Math.max(2 * MAX_ROLLOUTS, Math.min(MOST_REPORTED, Math.floor(MOST_PLACES / Math.max(1, proxies))));
    return new Set(staged.line.slice(0, most));
  }

  #forgetEnded(present: readonly RunningRollout[]): void {
    const keys = new Set(present.map(({ key }) => key));
    for (const known of [this.#seen, this.#errors, this.#chosen]) {
      for (const key of known.keys()) if (!keys.has(key)) known.delete(key);
    }
  }

  #concerned({ settled, object }: RunningRollout): ReadonlySet<string> {
    return concernedNodes(settled === undefined ? [object] : [settled, object], this.#parts.pipeline.translator);
  }

  /** Looks at the errors of all rollouts. The first look at a rollout is the measure for later looks. */
  async #measure(): Promise<void> {
    const { staged, pipeline, traffic } = this.#parts;
    if (traffic === undefined) return;
    for (const rollout of staged.rollouts()) {
      if (rollout.phase === "taken-back" || rollout.waits !== "") continue;
      const look = await lookAtErrors(rollout, traffic, pipeline.translator.mesh);
      // The object may have changed during the wait.
      const now = staged.rollout(rollout.key);
      if (now?.candidate !== rollout.candidate) continue;
      this.#errors.set(rollout.key, look);
      if (now.before === undefined && look.rate !== undefined) staged.noteBefore(rollout.key, look.rate);
    }
  }

  /** Keeps the state. A rollout spreads only when its state is kept. */
  async #keep(): Promise<boolean> {
    const { staged, shelf, log } = this.#parts;
    const { revision } = staged;
    if (revision === this.#kept) return true;
    try {
      this.#unkept = await shelf.write(staged.records(), this.#servers.signal);
      this.#kept = revision;
      this.#problem = "";
      return true;
    } catch (error) {
      const words = errorMessage(error);
      if (this.#problem === "") {
        log.error("the state of rollouts cannot be kept, so they stay at their stages", { error });
      }
      this.#problem = `the state of rollouts cannot be kept: ${words}`;
      return false;
    }
  }

  /** @param areKept Whether the state of the rollouts is kept, apart from rollouts that cannot be kept. */
  #move(rollout: RunningRollout, areKept: boolean): boolean {
    const { staged, pipeline, clock } = this.#parts;
    const { key, waits, phase } = rollout;
    if (phase === "taken-back") return false;
    if (waits !== "") return staged.withdraw(key);
    const isKept = areKept && !this.#unkept.has(key);
    const since = Math.max(this.#started, this.#servers.leadsSince ?? 0);
    const returning = clock.monotonic() - since < (this.#parts.returnTime ?? RETURN_TIME);
    const isMeasured = this.#parts.traffic === undefined || rollout.before !== undefined;
    // Before the first choice each server has seen the object, and has reported.
    const isSeen = rollout.limit >= 0 || clock.now() - rollout.since >= this.#servers.reportTime;
    if (isKept && isMeasured && isSeen) {
      const elsewhere = this.#others(rollout).flatMap(({ places }) => places);
      if (staged.choose(key, this.#remembered(key, this.#concerned(rollout)), returning, elsewhere)) return true;
    }
    if (pipeline.known.isWaiting(key)) return false;
    const facts = this.#factsOf(rollout);
    const isBad = facts.refused > 0 || facts.errors !== "";
    const isCompared = (this.#errors.get(key)?.problem ?? "") === "";
    const isReported = this.#isReported(key);
    const mayGoOn = isKept && isMeasured && isCompared && isReported && !(returning && rollout.returns);
    if (!isBad && !mayGoOn) return false;
    const step = staged.step(key, facts);
    if (step !== "same") this.#report(key, rollout, step === "settled");
    return step !== "same";
  }

  /** Whether the other servers have had the time to report about a rollout that has proxies. */
  #isReported(key: string): boolean {
    if ((this.#parts.staged.rollout(key)?.limit ?? -1) < 0) return !this.#chosen.delete(key);
    const now = this.#parts.clock.monotonic();
    return now - this.#chosen.getOrInsert(key, now) >= this.#servers.reportTime;
  }

  /** The concerned proxies, with those that may come back. */
  #remembered(key: string, now: ReadonlySet<string>): ReadonlySet<string> {
    const time = this.#parts.clock.monotonic();
    const seen = this.#seen.getOrInsertComputed(key, () => new Map());
    for (const node of now) seen.set(node, time);
    for (const [node, at] of seen) if (time - at > (this.#parts.returnTime ?? RETURN_TIME)) seen.delete(node);
    return new Set(seen.keys());
  }

  /** The shares of the other servers that have the same candidate. */
  #others({ key, candidate }: RunningRollout): readonly ServerShare[] {
    return this.#servers.others(key).filter((one) => one.candidate === candidate);
  }

  /** The facts of all servers. A server that has not followed the last choice yet counts as silent. */
  #factsOf(rollout: RunningRollout): StageFacts {
    let facts = this.#ownFacts(rollout);
    const now = this.#parts.staged.rollout(rollout.key) ?? rollout;
    const own = new Set(placesOf(rollout.key, this.#seen.get(rollout.key)?.keys() ?? []).values());
    for (const { limit, places, live, failing, refused, words } of this.#others(rollout)) {
      // All proxies of a server have come to this server, as after the end of a server.
      if (refused === 0 && places.every((place) => own.has(place))) continue;
      facts = {
        ...facts,
        total: facts.total + places.length,
        chosen: facts.chosen + places.filter((place) => place <= now.limit).length,
        live: facts.live + (limit === now.limit ? live : 0),
        failing: facts.failing + failing,
        refused: facts.refused + refused,
        words: [...facts.words, ...words].slice(0, 3),
      };
    }
    return facts;
  }

  #ownFacts({ key, proxies }: RunningRollout): StageFacts {
    const { pipeline, xds } = this.#parts;
    const total = this.#seen.get(key)?.size ?? 0;
    const errors = this.#errors.get(key)?.risen ?? "";
    // Pages show waiting rollouts, too, of which there may be very many.
    if (proxies.size === 0) return { total, chosen: 0, live: 0, failing: 0, refused: 0, words: [], errors };
    const among = new Set<PushProgress>();
    const nodes = new Set<string>();
    for (const { stream, progress } of xds.streams()) {
      if (stream === undefined || progress === undefined || !proxies.has(stream.view.id)) continue;
      among.add(progress);
      nodes.add(stream.view.id);
    }
    const push = pipeline.known.isWaiting(key) ? Infinity : pipeline.known.changedIn(key) ?? xds.ledger.latest;
    const { live: streams, total: all, failing, refused, words } = xds.ledger.reach(key, push, among);
    // A proxy may have several streams. A proxy that has gone counts as silent until others take its place.
    const live = streams === all ? nodes.size : Math.min(streams, nodes.size - 1);
    return { total, chosen: proxies.size, live, failing, refused, words: words.slice(0, 3), errors };
  }

  #report(key: string, before: RunningRollout, isSettled: boolean): void {
    const { staged, log, ended } = this.#parts;
    const now = staged.rollout(key) ?? before;
    const facts = { object: key, stage: now.stage + 1, stages: now.plan.stages.length };
    if (now.phase === "taken-back") {
      log.warn("a rollout was stopped, and its object is taken back", { ...facts, reason: now.reason });
      ended?.("taken_back");
    } else if (isSettled) {
      log.info("a rollout has reached all proxies", facts);
      ended?.("settled");
    } else log.info("a rollout goes on", { ...facts, phase: now.phase });
  }
}
