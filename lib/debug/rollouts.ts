/**
 * `/debug/rollouts`: objects of which only some proxies have the newest version.
 *
 * @module
 */
import { writtenForm } from "../config/kinds/written.ts";
import { spelledKey } from "../config/spelling/istio.ts";
import { apiVersionOfKind } from "../config/spelling/spelling.ts";
import { describeOrigin, writtenKind } from "../finding/origin.ts";
import { readableDuration } from "../kernel/time/duration.ts";
import { objectUrl } from "./links.ts";
import type { DescribedList, StateWord } from "./list_page.ts";
import type { RolloutView } from "./view.ts";

export const ROLLOUTS: DescribedList<RolloutView, void> = {
  title: "Rollouts",
  noun: "rollout",
  none: "Every object is at all its proxies.",
  rows: (view) => view.rollouts(),
  json: (rollouts) => rollouts.map(asJson),
  look: () => undefined,
  columns: [
    { title: "Object", cell: ({ key }) => ({ text: key, link: objectUrl(key) }) },
    { title: "State", cell: stateWord },
    { title: "Stage", cell: stageText },
    { title: "Proxies", isNumber: true, cell: ({ facts: { live, chosen } }) => `${live} of ${chosen}` },
    { title: "Since (UTC)", cell: ({ since }) => ({ time: since }) },
    { title: "Why", cell: ({ reason, problem }) => reason || problem },
  ],
};

/** Most names of proxies of a rollout in an answer. */
const MAX_NAMES = 100;

function asJson(rollout: RolloutView): object {
  const { key, object, settled, plan, stage, phase, since, reason, problem, facts, proxies, decides } = rollout;
  const stages = plan.stages.map(({ percent, soakMs }) => ({ percent, soak: readableDuration(soakMs) }));
  const soak = phase === "soaking" ? plan.stages[stage]?.soakMs : undefined;
  const { origin, kind } = object;
  const written = (origin.from === "derived" ? undefined : origin.written) ??
    { apiVersion: apiVersionOfKind(kind), kind: writtenKind(origin, kind) };
  return {
    object: key,
    ...{ phase, stage: stage + 1, stages, since: new Date(since).toISOString() },
    ...soak === undefined ? {} : { until: new Date(since + soak).toISOString() },
    ...{ hash: object.hash, settled: settled?.hash ?? null },
    ...{ proxies: facts.total, chosen: facts.chosen, live: facts.live, rejected: facts.refused },
    ...{ chosenHere: [...proxies].sort().slice(0, MAX_NAMES), rejections: facts.words },
    ...{ reason, problem, decides },
    written: { ...written, from: origin.from, place: describeOrigin(origin) },
    annotation: spelledKey(origin, PLAN),
    settledObject: settled === undefined ? null : writtenForm({ kind, meta: settled.meta, spec: settled.spec, origin }),
  };
}

/** The annotation with the plan. */
const PLAN = "mesh.io/rollout";

function stateWord({ phase, problem }: RolloutView): StateWord {
  if (phase === "taken-back") return { tone: "bad", word: "taken back" };
  return { tone: problem === "" ? "good" : "warn", word: problem === "" ? phase : "stands still" };
}

/** A stage as people read it: `stage 1 of 3 (10%)`. */
function stageText({ plan: { stages }, stage }: Pick<RolloutView, "plan" | "stage">): string {
  return `${stage + 1} of ${stages.length} (${stages[stage]?.percent ?? 0}%)`;
}

/** Why the newest version of an object is not at all proxies yet. */
export function rolloutWords(rollout: RolloutView): string {
  const { problem, facts: { live, chosen, total } } = rollout;
  const stands = problem === "" ? "" : `; ${problem}`;
  return `the rollout is at stage ${
    stageText(rollout)
  }: ${live} of ${chosen} chosen proxies have acknowledged the newest version, of ${total} concerned proxies${stands}`;
}
