/**
 * Staged rollouts as text.
 *
 * @module
 */
import { formatDuration } from "../../lib/kernel/time/duration.ts";
import type { ShownRollout } from "./rollout_answer.ts";

/** Most names of proxies in a line. */
const MAX_NAMES = 10;

/** The table's cells with the heading. @param now Milliseconds since the epoch. */
export function rolloutCells(rollouts: readonly ShownRollout[], now: number): string[][] {
  return [
    ["OBJECT", "STATE", "STAGE", "SHARE", "CHOSEN", "ACKED", "REJECTED", "SINCE", "WAITS FOR"],
    ...rollouts.map((one) => [
      ...[one.object, stateText(one), `${one.stage} of ${one.stages.length}`, shareText(one)],
      ...[`${one.chosen} of ${one.proxies}`, String(one.live), String(one.rejected)],
      ...[ageText(now - Date.parse(one.since)), waitText(one, now)],
    ]),
  ];
}

/** Everything about a rollout. @param now Milliseconds since the epoch. */
export function detailLines(one: ShownRollout, now: number): string[] {
  const { object, stage, stages, proxies, chosen, live, rejected, chosenHere, rejections, hash, settled } = one;
  const plan = stages.map(({ percent, soak }) => `${percent}% for ${soak}`).join(", ");
  const of = one.decides ? "all servers" : "this server; another server decides";
  return [
    `${object}: ${stateText(one)} at stage ${stage} of ${stages.length} (${shareText(one)}) for ${
      ageText(now - Date.parse(one.since))
    }`,
    `Plan: ${plan}`,
    `Proxies: ${chosen} chosen of ${proxies}, ${live} acknowledged, ${rejected} rejected (${of})`,
    ...chosenHere.length === 0 ? [] : [`Chosen at this server: ${namesText(chosenHere.map(nameOf))}`],
    ...rejections.map((words) => `Rejected: ${words}`),
    `${one.phase === "taken-back" ? "Stopped" : "Waits"}: ${waitText(one, now)}`,
    `Versions: ${hash} at the chosen proxies, ${settled ?? "none"} at the other proxies`,
    `Written in: ${one.written.place}`,
    "A deletion of the object is not staged: it takes effect at all proxies at once.",
  ];
}

function stateText({ phase, problem }: ShownRollout): string {
  if (phase === "taken-back") return "taken back";
  return problem === "" ? phase : "stands still";
}

function shareText({ stages, stage }: ShownRollout): string {
  return `${stages[stage - 1]?.percent ?? 0}%`;
}

/** What the rollout waits for, or why it was taken back. */
function waitText({ phase, reason, problem, proxies, chosen, live, until }: ShownRollout, now: number): string {
  if (phase === "taken-back") return reason;
  if (problem !== "") return problem;
  if (proxies === 0) return "a proxy that the object concerns";
  if (live < chosen) return `${chosen - live} of ${chosen} proxies to acknowledge`;
  if (phase === "spreading" || until === undefined) return "the next look of the server";
  const left = Date.parse(until) - now;
  return left > 0 ? `the end of the soak time in ${ageText(left)}` : "the next look of the server";
}

/** The name of a proxy in its node id, `sidecar~10.0.0.1~cart.shop~shop.svc.cluster.local`. */
function nameOf(node: string): string {
  return node.split("~")[2] ?? node;
}

function namesText(names: readonly string[]): string {
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : "";
  return `${names.slice(0, MAX_NAMES).join(", ")}${more}`;
}

function ageText(ms: number): string {
  return formatDuration(Math.max(0, Math.floor(ms / 1000)) * 1000);
}
