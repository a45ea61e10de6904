/**
 * Brings the kernel from the present rules to the wanted rules, or back to none.
 *
 * Each family is looked at first, and nothing is changed if a family cannot be set up. Then follows, per family, the
 * routing, and then the rules, in a step per table that the kernel takes as a whole. At the end the list is read again
 * and must be the wanted list.
 *
 * Permissions: the permissions of the given {@link Run}.
 *
 * @module
 */
import { ApplyError, type Reporter } from "./outcome.ts";
import { type Backend, findBackend, type Found, relist, restore } from "./backend.ts";
import { differences, type Step, steps } from "./change.ts";
import { families, type Family } from "./model/names.ts";
import { addRoutes, removeFormerRoutes, removeOwnAddress } from "./route.ts";
import { loopbackAddress, noRouting } from "./routing.ts";
import type { Ruleset } from "./model/rule.ts";
import { noRules } from "./rules/build.ts";
import { type AnyConfig, routingOf, rulesOf } from "./wanted.ts";
import { failureOf, type Run } from "./run.ts";
import { hasOwnPart, routedMarks } from "./state.ts";

export interface Task {
  readonly config: AnyConfig;
  /** Both families must be set up, with or without addresses. */
  readonly dualStack: boolean;
  /** Replaces different rules, instead of refusing. */
  readonly reconcile: boolean;
  /** Apply even when nothing differs. */
  readonly force: boolean;
  /** Take everything away. */
  readonly cleanup: boolean;
}

/** The result for a family. */
export type Outcome = "applied" | "unchanged" | "replaced" | "cleaned" | "skipped";

/** Attempts for a family while other processes change the rules. Of simultaneous runs, one succeeds. */
const ATTEMPTS = 8;

/** The plan for a family. */
interface Plan {
  readonly family: Family;
  readonly wanted: Ruleset;
  readonly found: Found;
  readonly outcome: Outcome;
}

/**
 * Does the task in both families.
 * @returns The result for each family.
 * @throws {ApplyError} When a family with addresses cannot be set up, or has different rules of ours that must not be
 * replaced.
 */
export async function applyRedirection(task: Task, run: Run, report: Reporter): Promise<Record<Family, Outcome>> {
  const addressed = await addressedFamilies(run);
  const looked = await Promise.all(
    families.map((family) => planFamily(task, family, task.dualStack || addressed.has(family), run, report)),
  );
  const problems = looked.filter((plan) => typeof plan === "string");
  if (problems.length > 0) throw new ApplyError(problems.join("\n"));
  const plans = looked.filter((plan) => typeof plan !== "string");
  if (plans.every(({ outcome }) => outcome === "skipped")) {
    throw new ApplyError(plans.map(({ family, found }) => noBackEndText(family, found)).join("\n"));
  }
  const outcomes = { 4: "skipped", 6: "skipped" } as Record<Family, Outcome>;
  // The families share nothing that changes, so no family waits for the other. Each family is finished.
  const settled = await Promise.allSettled(plans.map(async (plan) => {
    await carryOut(plan, task, run, task.dualStack || addressed.has(plan.family), report);
    outcomes[plan.family] = plan.outcome;
    report.info(`IPv${plan.family}: ${outcomeText[plan.outcome]}`);
  }));
  for (const ended of settled) if (ended.status === "rejected") throw ended.reason;
  return outcomes;
}

const outcomeText: Readonly<Record<Outcome, string>> = {
  applied: "rules applied and found in the kernel's list",
  unchanged: "the rules are in place already; nothing done",
  replaced: "rules replaced and found in the kernel's list",
  cleaned: "no rules of ours are left",
  skipped: "left alone",
};

/** Families with an address that other machines can reach. */
export async function addressedFamilies(run: Run): Promise<Set<Family>> {
  const listed = await run("ip", ["-o", "addr", "show", "scope", "global"]);
  if (listed.code !== 0) throw new ApplyError(`ip addr show: ${failureOf(listed)}`);
  const found = new Set<Family>();
  if (/\binet \d/.test(listed.stdout)) found.add(4);
  // Other machines cannot reach the address that redirection adds.
  if (/\binet6 (?!::6\/128)[0-9a-f]/.test(listed.stdout)) found.add(6);
  return found;
}

async function planFamily(
  task: Task,
  family: Family,
  required: boolean,
  run: Run,
  report: Reporter,
): Promise<Plan | string> {
  const wanted = task.cleanup ? noRules(family) : rulesOf(task.config, family);
  const found = await findBackend(wanted, run);
  for (const line of found.evidence) report.info(`IPv${family}: ${line}`);
  const plan = (outcome: Outcome): Plan => ({ family, wanted, found, outcome });
  const { chosen } = found;
  if (chosen === undefined) {
    if (required) return noBackEndText(family, found);
    report.warn(
      `IPv${family}: no back end can be used; the family is left alone, because this machine has no address of it`,
    );
    return plan("skipped");
  }
  if (task.cleanup && found.unseen.length > 0) return found.unseen.map((line) => `IPv${family}: ${line}`).join("\n");
  if (task.cleanup) return plan("cleaned");
  const different = [
    ...differences(chosen.listing, wanted),
    ...found.stale.map(({ name }) => `${name} has rules of ours too`),
  ];
  if (!hasOwnPart(chosen.listing) && found.stale.length === 0) return plan("applied");
  if (different.length === 0) return plan(task.force ? "replaced" : "unchanged");
  const text = `IPv${family}: rules of a former run differ from those wanted:\n  ${different.join("\n  ")}`;
  if (task.reconcile || task.force) {
    for (const line of text.split("\n")) report.info(line);
    return plan("replaced");
  }
  return `${text}\n  --reconcile replaces them, without a moment in which traffic goes past the proxy`;
}

function noBackEndText(family: Family, { evidence }: Found): string {
  const rights = evidence.some((line) => /permission denied|not permitted|must be root/i.test(line));
  const hint = rights ? "\n  the command needs NET_ADMIN in the network namespace" : "";
  return `IPv${family}: no back end of the packet filter can be used:\n  ${evidence.join("\n  ")}${hint}`;
}

async function carryOut(plan: Plan, task: Task, run: Run, required: boolean, report: Reporter): Promise<void> {
  const { family, wanted, found, outcome } = plan;
  if (outcome === "skipped") return;
  const marks = [found.chosen, ...found.stale].flatMap((backend) => (backend ? routedMarks(backend.listing) : []));
  const routing = task.cleanup ? noRouting(family) : routingOf(task.config, family);
  if (outcome === "cleaned") {
    for (const backend of [found.chosen, ...found.stale]) {
      if (backend !== undefined && hasOwnPart(backend.listing)) await settle(backend, wanted, false, run);
    }
    await removeOwnAddress({ ...routing, address: loopbackAddress[family] }, run, report);
    await removeFormerRoutes(marks, routing, run, report);
    return;
  }
  // A missing address or route may be the only difference, so routing is checked even if the rules are in place. An
  // unused family may be switched off. Then its rules are a precaution that needs no addresses.
  if (required || family === 4) await addRoutes(routing, run, report);
  if (found.chosen !== undefined && outcome !== "unchanged") {
    await settle(found.chosen, wanted, task.force, run);
    for (const backend of found.stale) await settle(backend, noRules(family), false, run);
  }
  // After the rules: until then packets carry the former mark. Where rules are in place, a run may have ended here.
  if (outcome !== "applied") await removeFormerRoutes(marks, routing, run, report);
}

/** Changes a back end's tables step by step until its list is the wanted list. */
async function settle(backend: Backend, wanted: Ruleset, all: boolean, run: Run): Promise<void> {
  const said: string[] = [];
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const before = await relist(backend, run);
    for (const { table, text } of together(steps(before, wanted, all && attempt === 1), attempt === 1)) {
      const refused = await restore(backend, text, run);
      if (refused !== undefined) said.push(`${backend.name}-restore, table ${table}: ${refused}`);
    }
    const left = differences(await relist(backend, run), wanted);
    if (left.length === 0) return;
    if (attempt === ATTEMPTS) {
      throw new ApplyError([...said, ...left.map((line) => `${backend.name}: ${line}`)].join("\n"));
    }
  }
}

/**
 * The steps as a single text if `all`: the tool applies the text table by table. Single steps cost a process each, and
 * give clearer errors.
 */
function together(todo: readonly Step[], all: boolean): readonly Step[] {
  if (!all || todo.length < 2) return todo;
  return [{ table: todo.map(({ table }) => table).join(", "), text: todo.map(({ text }) => text).join("") }];
}
