/**
 * Adds and removes routing by the tool `ip`.
 *
 * Permissions: the permissions of the given {@link Run}.
 *
 * @module
 */
import { ApplyError, type Reporter } from "./outcome.ts";
import {
  addRouting,
  formerMarks,
  hasRoute,
  type ListedRouting,
  listRoutes,
  listRouting,
  listRules,
  removeAddress,
  removeFormer,
  type Routing,
  withoutProtocol,
} from "./routing.ts";
import { failureOf, type Run } from "./run.ts";

/** Adds the missing parts. */
export async function addRoutes(wanted: Routing, run: Run, report: Reporter): Promise<void> {
  await carryOut(() => list(wanted, run), (listed) => addRouting(wanted, listed), run, report);
}

/** The missing parts, each as the command that would add the part. */
export async function missingRoutes(wanted: Routing, run: Run): Promise<string[]> {
  return addRouting(wanted, await list(wanted, run)).map((args) => `ip ${args.join(" ")}`);
}

/** Removes the address, if it exists. */
export async function removeOwnAddress(unwanted: Routing, run: Run, report: Reporter): Promise<void> {
  await carryOut(() => list(unwanted, run), (listed) => removeAddress(unwanted, listed), run, report);
}

/**
 * Removes routing by marks of earlier runs, complete or not, that is not wanted.
 * @param marks Marks of our earlier chains, for rules of kernels that do not keep the origin.
 */
export async function removeFormerRoutes(
  marks: readonly number[],
  wanted: Routing,
  run: Run,
  report: Reporter,
): Promise<void> {
  const { family } = wanted;
  for (const former of formerMarks(marks, wanted, await rulesOf(family, run))) {
    const look = async (): Promise<ListedRouting> => {
      const [rules, routes] = await Promise.all([rulesOf(family, run), run("ip", listRoutes(family, former.table))]);
      return { rules, routes: routes.stdout, addresses: "" };
    };
    // Another program may own the table: a rule without an origin is ours only together with our route.
    if (!former.ours && !hasRoute(await look())) continue;
    await carryOut(look, (now) => removeFormer(former, wanted, now), run, report);
  }
}

/** Runs the commands for a list: all together, or one by one where that fails. A failed command does not matter if a new list no longer needs it. */
async function carryOut(
  look: () => Promise<ListedRouting>,
  commandsFor: (listed: ListedRouting) => string[][],
  run: Run,
  report: Reporter,
): Promise<void> {
  const commands = commandsFor(await look());
  if (await carriedOutTogether(commands, run)) {
    for (const args of commands) report.info(`ip ${args.join(" ")}`);
    return;
  }
  for (const args of commands.length > 1 ? commandsFor(await look()) : commands) {
    const result = await run("ip", args);
    let text = `ip ${args.join(" ")}`;
    if (result.code !== 0) {
      const still = commandsFor(await look()).some((words) => words.join(" ") === args.join(" "));
      const plain = withoutProtocol(args);
      const again = still && plain.length < args.length ? await run("ip", plain) : undefined;
      if (still && again?.code !== 0) throw new ApplyError(`${text}: ${failureOf(result)}`);
      if (again === undefined) continue;
      text = `ip ${plain.join(" ")}`;
    }
    report.info(text);
  }
}

/**
 * Runs several commands by one process, which ends at the first failure.
 * @returns False: there is a single command, or one failed, or the tool has no such option.
 */
async function carriedOutTogether(commands: readonly (readonly string[])[], run: Run): Promise<boolean> {
  const [family, ...more] = new Set(commands.map(([option]) => option));
  if (commands.length < 2 || family === undefined || more.length > 0) return false;
  const lines = commands.map(([, ...words]) => `${words.join(" ")}\n`);
  return (await run("ip", [family, "-batch", "-"], lines.join(""))).code === 0;
}

async function list(routing: Routing, run: Run): Promise<ListedRouting> {
  const commands = listRouting(routing);
  // For a table that does not exist yet, `ip` reports an error and prints an empty list.
  const ask = async (args: string[] | undefined) => args === undefined ? "" : (await run("ip", args)).stdout;
  const rules = commands.rules === undefined ? "" : rulesOf(routing.family, run);
  const asked = [rules, ask(commands.routes), ask(commands.addresses)] as const;
  const [listedRules, routes, addresses] = await Promise.all(asked);
  return { rules: listedRules, routes, addresses };
}

/** Output of `ip rule show`. Tools without an option for numbers print numbers where no names are defined. */
async function rulesOf(family: Routing["family"], run: Run): Promise<string> {
  const args = listRules(family);
  let listed = await run("ip", args);
  if (listed.code !== 0) listed = await run("ip", args.slice(1));
  // A kernel without the family has no routing for the family.
  if (/address family not supported/i.test(listed.stderr)) return "";
  if (listed.code !== 0) throw new ApplyError(`ip -${family} rule show: ${failureOf(listed)}`);
  return listed.stdout;
}
