/**
 * The edits that steer a rollout: the annotations of the object, or the version that all proxies had. A server has no
 * right to change these objects, so people write, with their own rights and their own review.
 *
 * @module
 */
import { stringify } from "yaml";
import { pluralOfKind } from "../../lib/config/spelling/spelling.ts";
import type { ShownRollout } from "./rollout_answer.ts";

/** What may be done with a rollout. */
export const ROLLOUT_ACTIONS = ["pause", "resume", "abort", "promote"] as const;

type RolloutAction = typeof ROLLOUT_ACTIONS[number];

export function isRolloutAction(text: string): text is RolloutAction {
  return ROLLOUT_ACTIONS.some((one) => one === text);
}

/** The command for a shell, the object for a file or for `kubectl apply -f -`, or what to write in a file. */
export function editText(action: RolloutAction, rollout: ShownRollout): string {
  const { annotation } = rollout;
  switch (action) {
    case "pause":
      return annotated(rollout, { [`${annotation}-paused`]: "true" });
    case "resume":
      return annotated(rollout, { [`${annotation}-paused`]: "false" });
    case "promote":
      // Rejections and errors still stop the rollout.
      return annotated(rollout, { [annotation]: "100%:0s", [`${annotation}-paused`]: "false" });
    case "abort":
      return aborted(rollout);
  }
}

function annotated({ object, written }: ShownRollout, annotations: Readonly<Record<string, string>>): string {
  if (written.from === "api") {
    const all = Object.entries(annotations).map(([key, value]) => `${key}=${value}`).join(" ");
    return `kubectl ${targetOf(object, written, "annotate")} --overwrite ${all}\n`;
  }
  const lines = Object.entries(annotations).map(([key, value]) => `    ${key}: ${JSON.stringify(value)}\n`).join("");
  return `# in ${written.place}\nmetadata:\n  annotations:\n${lines}`;
}

/** A kubectl command about an object. */
function targetOf(object: string, { apiVersion, kind }: ShownRollout["written"], verb: string): string {
  const [, namespace = "", name = ""] = object.split("/");
  return `-n ${namespace} ${verb} ${pluralOfKind(kind)}.${apiVersion.split("/")[0]} ${name}`;
}

function aborted({ object, written, settledObject }: ShownRollout): string {
  if (settledObject !== null) {
    const how = written.from === "api" ? "for kubectl apply -f -" : `for ${written.place}`;
    return `# the version that all proxies had, ${how}\n${stringify(settledObject)}`;
  }
  if (written.from === "api") return `kubectl ${targetOf(object, written, "delete")}\n`;
  return `# all proxies had no version: remove the object from ${written.place}\n`;
}
