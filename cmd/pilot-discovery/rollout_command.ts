/**
 * The command `rollout`: the staged rollouts of a server, and the edit that pauses, resumes, aborts or promotes a
 * rollout. The command prints the edit, and writes nothing.
 *
 * Permissions: net (the address of the server).
 *
 * @module
 */
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { columns, wrap } from "../../lib/cli/terminal/layout.ts";
import { safeText } from "../../lib/cli/terminal/style.ts";
import { NO_TERMINAL } from "../../lib/cli/terminal/terminal.ts";
import { serverOfFlag } from "./ask_server.ts";
import { objectAt, type ShownRollout, shownRollouts } from "./rollout_answer.ts";
import { editText, isRolloutAction, ROLLOUT_ACTIONS } from "./rollout_edit.ts";
import { detailLines, rolloutCells } from "./rollout_text.ts";
import type { rolloutFlags } from "./server_flags.ts";

/** Prints rollouts. Resolves with 0, or with 1 if a shown rollout was taken back. */
export async function runRollout({ flags, args, output }: Invocation<typeof rolloutFlags>): Promise<number> {
  const server = serverOfFlag(flags.server);
  const [action, named] = actionOf(args);
  const asked = named === undefined ? undefined : await objectAt(server, named);
  const key = asked?.key;
  const all = await shownRollouts(server);
  const shown = key === undefined ? all : all.filter(({ object }) => object === key);
  if (asked?.exists === false && shown.length === 0) throw new UsageError(`${server.host} has no ${key}`);
  const isText = flags.output === "text";
  if (action !== undefined) {
    const [rollout] = shown;
    if (rollout === undefined) {
      throw new UsageError(`${key} has no rollout at ${server.host}: there is nothing to ${action}`);
    }
    output.out(safeText(editText(action, rollout)));
    return 0;
  }
  if (!isText) output.out(`${JSON.stringify({ rollouts: shown.map(forPrograms) }, undefined, 2)}\n`);
  else if (shown.length === 0) output.out(`${key ?? "no object"} has ${key === undefined ? "a" : "no"} rollout\n`);
  else {
    const width = (output.terminals?.out ?? NO_TERMINAL).width;
    const now = Date.now();
    const lines = key === undefined
      ? columns(rolloutCells(shown, now), width)
      : shown.flatMap((one) => detailLines(one, now)).map((line) => wrap(line, width, "", "  "));
    output.out(safeText([...lines, ""].join("\n")));
  }
  return shown.some(({ phase }) => phase === "taken-back") ? 1 : 0;
}

function actionOf(
  args: readonly string[],
): readonly [(typeof ROLLOUT_ACTIONS)[number] | undefined, string | undefined] {
  const [first, second] = args;
  if (first === undefined) return [undefined, undefined];
  if (!isRolloutAction(first)) {
    if (second === undefined) return [undefined, first];
    throw new UsageError(`got ${JSON.stringify(first)}, expected one of ${ROLLOUT_ACTIONS.join(", ")}`);
  }
  if (second === undefined) throw new UsageError(`${first}: got no object, expected kind/namespace/name`);
  return [first, second];
}

function forPrograms({ settledObject: _settledObject, ...shown }: ShownRollout): object {
  return shown;
}
