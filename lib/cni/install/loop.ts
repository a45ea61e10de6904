/**
 * Keeps the plugin installed: watches the node's folders and the installer's credentials, and restores the desired
 * state at once after changes by others. A change of a network configuration is answered without waiting for anything
 * else.
 *
 * Permissions: read and write (the node's folders, as mounted; the service account's folder).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { FolderEvents, mayWatch } from "../../kernel/files/events.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { isConfigName, PLUGIN } from "../config/network.ts";
import type { FileCalls } from "../node/file_calls.ts";
import { whileLocked } from "../node/lock.ts";
import { folderOf } from "../node/replace.ts";
import { LOCK_FILE } from "../node/run_folder.ts";
import { FIGHT_PAUSE_MS, FightWatch } from "./fight.ts";
import {
  currentRecord,
  type DesiredState,
  handOver,
  install,
  InstallError,
  type InstallOutcome,
  type NodeFolders,
  placeConfig,
  uninstall,
} from "./installer.ts";
import { configFolders } from "./links.ts";
import type { PluginPlacement } from "./record.ts";

/** How an installer is started. */
export interface InstallerOptions {
  readonly folders: NodeFolders;
  /** Folder of token and CA; a change there is a change of the desired state. */
  readonly credentials: string;
  /** The desired state, read anew each time. Throws {@link InstallError} when credentials cannot be read. */
  readonly desired: () => DesiredState;
  /** The executable was the node's before us, and stays. */
  readonly keepExecutable: boolean;
  /**
   * Called when the run folder was gone and has been created again. Sockets in the folder must be created again too.
   */
  readonly runFolderMade?: () => void;
  readonly calls: FileCalls;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Wait after a failure, and between looks whether the run folder is there, milliseconds. */
const AGAIN_MS = 1000;

/** Interval of a full look, in case an event was lost, milliseconds. */
const LOOK_MS = 10_000;

/** Wait for more changes of executables or credentials, milliseconds: such changes are rows of events. */
const SETTLE_MS = 50;

/** Longest time for which configurations may lack the plugin's entry, milliseconds. A longer time is a warning. */
const GAP_MS = 50;

/** An installer at work. */
export class Installer {
  readonly #options: InstallerOptions;
  #waiting: string | undefined = "not installed yet";
  readonly #fight = new FightWatch();
  readonly #stopped = new AbortController();
  #running: Promise<void> | undefined;
  #watcher: FolderEvents | undefined;
  /** The watched folders, each with its identity. */
  #watched = "";
  #folders: readonly string[] = [];
  /** Whether executable and orchestrator config are in place, so that a configuration may name the plugin. */
  #placed = false;
  #remarks = "";
  #placement: PluginPlacement | undefined;
  #pending: (() => void) | undefined;
  /** Largest gap seen, milliseconds, for tests and people. */
  largestGap = 0;

  constructor(options: InstallerOptions) {
    this.#options = options;
  }

  /** Why the plugin is not installed. Undefined: the plugin is installed. */
  get notReady(): string | undefined {
    return this.#waiting;
  }

  /** Installs, and restores the installation until a stop. Resolves after the first attempt. */
  start(): void {
    const { folders, calls } = this.#options;
    calls.makeFolder(folders.run, 0o755);
    this.#watch();
    this.#everything("by bytes");
    // Folders that have just been created.
    this.#watch();
    this.#running = this.#lookNowAndThen();
  }

  /** Ends. The node keeps its state; see {@link Installer.leave}. */
  async stop(): Promise<void> {
    this.#stopped.abort(new Error("stopped"));
    this.#pending?.();
    await this.#unwatch();
    await this.#running;
  }

  /**
   * Leaves the node after the stop: to the next installer with everything in place, or for good with everything as
   * before the installation.
   */
  leave(how: { readonly handOver: string } | "for good"): void {
    const { folders, calls, clock, log, keepExecutable } = this.#options;
    this.#locked(() => {
      if (how === "for good") {
        for (const line of uninstall(folders, calls, keepExecutable)) log.info("removed", { what: line });
      } else {
        handOver(folders, calls, how.handOver, () => clock.now());
        log.info("left in place for the next installer", { reason: how.handOver });
      }
    });
    this.#waiting = "stopped";
    this.#options.metrics.gauge("mesh_cni_install_ready").set(0);
  }

  async #lookNowAndThen(): Promise<void> {
    const { signal } = this.#stopped;
    const { clock, calls, folders } = this.#options;
    for (let last = clock.monotonic(); !signal.aborted;) {
      try {
        await clock.sleep(AGAIN_MS, signal);
      } catch {
        return;
      }
      // The run folder is not watched: every call of the plugin would be an event.
      const gone = calls.stat(folders.run) === undefined;
      if (!gone && this.#waiting === undefined && clock.monotonic() - last < LOOK_MS) continue;
      last = clock.monotonic();
      await this.#watchIfMay();
      this.#everything("by size");
    }
  }

  /** Watches the folders. Starts again when a folder appeared, disappeared or was replaced. */
  #watch(): void {
    const { folders, credentials, calls, log } = this.#options;
    try {
      this.#folders = configFolders(folders.net, calls);
      const there = presentFolders([...this.#folders, folders.bin, credentials]);
      const watched = [...there].join();
      if (watched === this.#watched && this.#watcher !== undefined || there.size === 0) return;
      void this.#unwatch();
      const onEvent = (event: Deno.FsEvent) => this.#hear(event);
      this.#watcher = new FolderEvents({ folders: [...there.keys()], recursive: false, onEvent });
      this.#watched = watched;
    } catch (error) {
      log.error("the node's folders cannot be watched; they are looked at every 10 s", { error });
    }
  }

  async #unwatch(): Promise<void> {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    await watcher?.close();
  }

  async #watchIfMay(): Promise<void> {
    if (await mayWatch() && !this.#stopped.signal.aborted) this.#watch();
  }

  #hear(event: Deno.FsEvent): void {
    const { bin, net } = this.#options.folders;
    if (event.kind === "access") return;
    const [configs, others] = [
      event.paths.filter((path) => this.#folders.includes(folderOf(path))),
      event.paths.filter((path) => !this.#folders.includes(folderOf(path))),
    ];
    // Where links lead, a configuration may have any name.
    if (configs.some((path) => folderOf(path) !== net || isConfigName(path))) this.#configurations();
    if (others.some((path) => folderOf(path) !== bin || path === `${bin}/${PLUGIN}`)) this.#everythingSoon();
  }

  #everythingSoon(): void {
    if (this.#stopped.signal.aborted || this.#pausing(this.#options.clock.monotonic())) return;
    this.#pending ??= this.#options.clock.after(SETTLE_MS, () => {
      this.#pending = undefined;
      this.#everything("by bytes");
      // Folders that have just been created.
      void this.#watchIfMay();
    });
  }

  #everything(executables: "by bytes" | "by size"): void {
    const { folders, desired, calls, clock } = this.#options;
    if (this.#stopped.signal.aborted) return;
    this.#attempt(() => {
      const outcome = this.#locked(() => {
        this.#placed = false;
        const wanted = desired();
        this.#noteRival(wanted);
        return install(folders, wanted, calls, () => clock.now(), executables);
      });
      this.#placed = true;
      if (outcome.changed.length > 0) this.#fight.changed(clock.monotonic());
      return outcome;
    });
  }

  #configurations(): void {
    const { folders, desired, calls, clock, log } = this.#options;
    if (this.#stopped.signal.aborted || this.#pausing(clock.monotonic())) return;
    if (!this.#placed) return this.#everything("by size");
    this.#attempt(() => {
      const outcome = this.#locked(() => {
        const wanted = desired();
        this.#noteRival(wanted);
        return placeConfig(folders, wanted, calls, () => clock.now());
      });
      if (outcome.changed.length > 0) {
        this.#fight.changed(clock.monotonic());
        this.largestGap = Math.max(this.largestGap, outcome.gap ?? 0);
        const level = (outcome.gap ?? 0) > GAP_MS ? "warn" : "info";
        const fields = { changed: outcome.changed, gapMs: outcome.gap };
        log[level]("another program changed a network configuration; our entry is restored", fields);
      }
      return outcome;
    });
  }

  /** Remembers another installer that made the last change. */
  #noteRival({ placement, installer }: DesiredState): void {
    const { folders, calls } = this.#options;
    const record = currentRecord(folders, calls);
    this.#placement = placement;
    // An installer that has ended left the node to this installer.
    if (record === undefined || record.state !== "installed") return;
    if (record.installer !== "" && record.installer !== installer) this.#fight.rival = record.installer;
  }

  /** True while another program fights us: then everything is looked at a little later. */
  #pausing(now: number): boolean {
    if (!this.#fight.isOn(now)) return false;
    const { log, clock } = this.#options;
    this.#fight.reportOnce(this.#placement, (text, fields) => log.warn(text, fields));
    this.#pending ??= clock.after(FIGHT_PAUSE_MS, () => {
      this.#pending = undefined;
      this.#fight.rival = undefined;
      this.#everything("by bytes");
      void this.#watchIfMay();
    });
    return true;
  }

  #attempt(work: () => InstallOutcome): void {
    const { log, metrics } = this.#options;
    try {
      const { changed, waiting, remarks } = work();
      if (waiting === undefined && (changed.length > 0 || this.#waiting !== undefined)) {
        metrics.counter("mesh_cni_installs_total").inc({ result: "SUCCESS" });
      }
      if (remarks.join() !== this.#remarks) { for (const remark of remarks) log.warn(remark); }
      this.#remarks = remarks.join();
      if (changed.length > 0) log.debug("installed", { changed });
      this.#setWaiting(waiting);
    } catch (error) {
      const known = error instanceof InstallError;
      if (known) metrics.counter("mesh_cni_installs_total").inc({ result: error.part });
      this.#setWaiting(errorMessage(error));
      if (!known) log.error("installing failed", { error });
    }
  }

  #setWaiting(waiting: string | undefined): void {
    const { log, metrics } = this.#options;
    if (waiting !== this.#waiting) {
      if (waiting === undefined) log.info("the plugin is installed");
      else log.warn("the plugin is not installed", { why: waiting });
    }
    this.#waiting = waiting;
    metrics.gauge("mesh_cni_install_ready").set(waiting === undefined ? 1 : 0);
  }

  #locked<T>(work: () => T): T {
    const { folders, calls, runFolderMade, log } = this.#options;
    if (calls.stat(folders.run) === undefined) {
      calls.makeFolder(folders.run, 0o755);
      log.warn("the run folder was gone; it is created again", { folder: folders.run });
      runFolderMade?.();
    }
    return whileLocked(`${folders.run}/${LOCK_FILE}`, work);
  }
}

// Existing folders, distinguished from later folders of the same path.

/** The existing folders, each with its identity. */
function presentFolders(paths: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const path of paths) {
    const id = idOf(path);
    if (id !== undefined) found.set(path, id);
  }
  return found;
}

/** Device and inode of a folder; undefined when there is none. */
function idOf(path: string): string | undefined {
  try {
    const { dev, ino } = Deno.statSync(path);
    return `${dev}:${ino}`;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
