/**
 * The command `size`: what a mesh of some size needs, by measured rows.
 *
 * @module
 */
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { columns, wrap } from "../../lib/cli/terminal/layout.ts";
import { styleOf } from "../../lib/cli/terminal/style.ts";
import { NO_TERMINAL, type Terminal } from "../../lib/cli/terminal/terminal.ts";
import { MOST_PROXIES, type SizeAnswer, sizeAnswer, type SizeQuestion } from "../../lib/sizing/answer.ts";
import type { Estimate } from "../../lib/sizing/interpolate.ts";
import { MEASURED } from "../../lib/sizing/measured.ts";
import { type Resources, suggestedResources } from "../../lib/sizing/resources.ts";
import { AGENT, BASE_SERVICES, MOST_SERVICES } from "../../lib/sizing/series.ts";
import type { sizeFlags } from "./offline_flags.ts";

/** Services behind the last measured row of an agent. */
const MOST_OF_AGENT = AGENT.at(-1)!.at;

type SizeFlags = Invocation<typeof sizeFlags>["flags"];

/** Prints the answer; resolves with 0. */
export function runSize({ flags, output }: Invocation<typeof sizeFlags>): Promise<number> {
  const question = questionOf(flags);
  const answer = sizeAnswer(MEASURED, question);
  const resources = suggestedResources(answer);
  if (flags.output === "json") {
    const { machine } = MEASURED;
    output.out(`${JSON.stringify({ question, ...answer, resources, measuredOn: machine }, undefined, 2)}\n`);
  } else output.out(sizeText(question, answer, resources, output.terminals?.out ?? NO_TERMINAL));
  return Promise.resolve(0);
}

function questionOf(flags: SizeFlags): SizeQuestion {
  const problems = [
    ...atLeast(flags, "services", 1),
    ...atLeast(flags, "proxies", 1),
    ...atLeast(flags, "changes-per-minute", 0),
    ...atLeast(flags, "replicas", 0),
  ];
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  const { services, proxies, replicas } = flags;
  return {
    ...{ services, proxies, changesPerMinute: flags["changes-per-minute"] },
    replicas: replicas === 0 ? undefined : replicas,
  };
}

function atLeast(flags: SizeFlags, name: "services" | "proxies" | "changes-per-minute" | "replicas", least: number) {
  return flags[name] >= least ? [] : [`flag --${name}: got ${flags[name]}, expected ${least} or more`];
}

function sizeText(
  { services, proxies }: SizeQuestion,
  { replicas, proxiesOfReplica, lines, rows }: SizeAnswer,
  resources: Resources,
  terminal: Terminal,
): string {
  const style = styleOf(terminal);
  const { processor = "", date = "" } = MEASURED.machine;
  const says = (text: string) => wrap(text, terminal.width);
  const assumptions = new Set(lines.map(({ estimate }) => estimate.assumes).filter((text) => text !== ""));
  const isBeyond = lines.some(({ estimate }) => estimate.bound === "at least");
  return [
    says(`For ${services} services and ${proxies} proxies: ${replicasText(replicas, proxiesOfReplica)}`),
    "",
    ...columns(lines.map(({ what, estimate }) => [boundedText(estimate), what])),
    "",
    resourcesText(resources, says),
    "",
    ...(isBeyond
      ? [
        says(
          `"At least": the size is beyond what was measured (${MOST_PROXIES} proxies a replica, ${MOST_SERVICES} services; agents: ${MOST_OF_AGENT} services). The figure is that of the last measured row.`,
        ),
      ]
      : []),
    ...[...assumptions].map((text) => says(`Assumed: ${text}.`)),
    says(
      `Not measured: the memory that Envoy needs for requests, and the CPU of Envoy, which depends on requests. A measured mesh has at least ${BASE_SERVICES} services, each with 10 endpoints; each proxy gets all of them, unless a Sidecar object chooses.`,
    ),
    "",
    style("strong", `Rests on docs/benchmarks.md (${processor}, ${date}):`),
    ...columns(rows.map(({ value, unit, work, figure }) => [`  ${value} ${unit}`, `${work}; ${figure}`])),
    "",
  ].join("\n");
}

function replicasText(replicas: number, proxiesOfReplica: number): string {
  if (replicas === 1) {
    return "1 replica of meshd. While it is away, proxies keep their configuration and get no changes.";
  }
  return `${replicas} replicas of meshd. While one is away, each other replica serves up to ${proxiesOfReplica} proxies; the figures of a replica are for that moment.`;
}

function boundedText({ bound, value, unit }: Estimate): string {
  return `${bound} ${numberText(value)} ${unit}`;
}

/** Two significant digits for small figures, whole numbers for large figures. */
function numberText(value: number): string {
  return value >= 10 || value === 0 ? value.toFixed(0) : String(Number(value.toPrecision(2)));
}

function resourcesText({ request, limit }: Resources, says: (text: string) => string): string {
  const wished = `resources of meshd: {requests: {cpu: 500m, memory: ${request}Mi}`;
  return limit === undefined
    ? says(`${wished}}, and no limit of memory: a limit for this size was not measured.`)
    : says(`${wished}, limits: {memory: ${limit}Mi}}`);
}
