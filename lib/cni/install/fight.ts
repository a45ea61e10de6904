/**
 * Notices another program that repeatedly undoes the installer's changes. The installer then slows down, instead of
 * rewriting files as fast as the other program.
 *
 * @module
 */
import type { PluginPlacement } from "./record.ts";

/** Number of the installer's changes within {@link FIGHT_MS} that show a fight, and this time, ms. */
const FIGHT_COUNT = 10;
const FIGHT_MS = 10_000;

/** Wait before each change during a fight, ms. */
export const FIGHT_PAUSE_MS = 500;

/** The changes of an installer. */
export class FightWatch {
  readonly #changes: number[] = [];
  #reported = false;
  /** Another installer that made the last change. */
  rival: string | undefined;

  /** The installer changed something. */
  changed(now: number): void {
    this.#changes.push(now);
  }

  /** Whether a fight goes on. */
  isOn(now: number): boolean {
    while ((this.#changes[0] ?? now) < now - FIGHT_MS) this.#changes.shift();
    if (this.#changes.length >= FIGHT_COUNT) return true;
    this.#reported = false;
    return false;
  }

  /** Calls `report` once for each fight, with the other side and a way to end the fight. */
  reportOnce(
    placement: PluginPlacement | undefined,
    report: (text: string, fields: Record<string, unknown>) => void,
  ): void {
    if (this.#reported) return;
    this.#reported = true;
    report(this.#text(placement), { rewrites: this.#changes.length, withinMs: FIGHT_MS });
  }

  #text(placement: PluginPlacement | undefined): string {
    if (this.rival !== undefined) {
      return `another installer, ${this.rival}, is at work on this node with other options; one of the two has to go`;
    }
    const cure = placement === "owned"
      ? "configure it to share the folder (Cilium: cni.exclusive=false)"
      : "MESH_OWNED_CNI_CONFIG=true ends that fight";
    return `another program rewrites the network configuration again and again; ${cure}`;
  }
}
