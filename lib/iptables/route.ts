/**
 * Adds and removes routing by the tool `ip`.
 *
 * Permissions: those of the {@link Run} that is passed in.
 *
 * @module
 */
import { ApplyError, type Reporter } from "./outcome.ts";
import {
  addRouting,
  formerMarks,
  type ListedRouting,
  listRouting,
  removeFormer,
  removeRouting,
  type Routing,
} from "./routing.ts";
import { failureOf, type Run } from "./run.ts";

/** Adds what is missing. */
export async function addRoutes(wanted: Routing, run: Run, report: Reporter): Promise<void> {
  await carryOut(() => list(wanted, run), (listed) => addRouting(wanted, listed), run, report);
}

/** Removes what is there. */
export async function removeRoutes(unwanted: Routing, run: Run, report: Reporter): Promise<void> {
  await carryOut(() => list(unwanted, run), (listed) => removeRouting(unwanted, listed), run, report);
}

/** Removes routing of marks that a former run used and this one does not. */
export async function removeFormerRoutes(
  marks: readonly number[],
  wanted: Routing,
  run: Run,
  report: Reporter,
): Promise<void> {
  if (marks.length === 0) return;
  const { family } = wanted;
  const listed = await run("ip", [`-${family}`, "rule", "show"]);
  if (listed.code !== 0) throw new ApplyError(`ip -${family} rule show: ${failureOf(listed)}`);
  for (const marked of formerMarks(marks, wanted, listed.stdout)) {
    const former: Routing = { family, marked, address: undefined };
    await carryOut(() => list(former, run), (found) => removeFormer(former, wanted, found), run, report);
  }
}

/** Runs the commands that a list asks for. One that fails is no failure if a new list no longer asks for it. */
async function carryOut(
  look: () => Promise<ListedRouting>,
  commandsFor: (listed: ListedRouting) => string[][],
  run: Run,
  report: Reporter,
): Promise<void> {
  for (const args of commandsFor(await look())) {
    const text = `ip ${args.join(" ")}`;
    const result = await run("ip", args);
    if (result.code === 0) {
      report.info(text);
      continue;
    }
    const still = commandsFor(await look()).some((words) => words.join(" ") === args.join(" "));
    if (still) throw new ApplyError(`${text}: ${failureOf(result)}`);
  }
}

async function list(routing: Routing, run: Run): Promise<ListedRouting> {
  const commands = listRouting(routing);
  // A table that does not exist yet is an error of `ip`, and an empty list.
  const ask = async (args: string[] | undefined) => args === undefined ? "" : (await run("ip", args)).stdout;
  const asked = [ask(commands.rules), ask(commands.routes), ask(commands.addresses)] as const;
  const [rules, routes, addresses] = await Promise.all(asked);
  return { rules, routes, addresses };
}
