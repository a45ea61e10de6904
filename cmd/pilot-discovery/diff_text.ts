/**
 * The effect of a change on proxies, as text for people.
 *
 * @module
 */
import { keyText } from "../../lib/finding/object_name.ts";
import { columns, shortened, wrap } from "../../lib/cli/terminal/layout.ts";
import { safeText, type Style, styleOf } from "../../lib/cli/terminal/style.ts";
import type { Terminal } from "../../lib/cli/terminal/terminal.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import type { BlastRadius, ChangedProxies, ChangedResource } from "../../lib/offline/diff/diff.ts";
import type { FieldDifference } from "../../lib/offline/diff/json_diff.ts";
import { count } from "./offline.ts";

/** Limits of the text: groups of proxies, proxies of a group, resources of a group, differences of a resource. */
const MAX_GROUPS = 20;
const MAX_NAMED = 5;
const MAX_RESOURCES = 20;
const MAX_SHOWN = 10;

/** Characters of a value. */
const MAX_VALUE = 100;

const WORDS: Readonly<Record<string, string>> = {
  lds: "listener",
  rds: "route configuration",
  vhds: "virtual host",
  cds: "cluster",
  eds: "endpoints",
  sds: "secret",
  ecds: "extension configuration",
};

/** The text; ends with a line break. */
export function blastRadiusText(radius: BlastRadius, terminal: Terminal): string {
  const style = styleOf(terminal);
  const { compared, changed, added, gone } = radius.proxies;
  const lines = [
    style(
      "strong",
      changed === 0
        ? `none of ${compared} proxies changes: all receive 0 bytes`
        : `${changed} of ${compared} proxies ${changed === 1 ? "changes" : "change"}; ${
          compared - changed
        } receive 0 bytes`,
    ),
    ...added.length > 0 ? [`new: ${named(added)}`] : [],
    ...gone.length > 0 ? [`gone: ${named(gone)}`] : [],
    ...radius.groups.slice(0, MAX_GROUPS).flatMap((group) => groupLines(group, style, terminal)),
    ...moreGroups(radius.groups.slice(MAX_GROUPS)),
    ...findingLines(radius, style, terminal),
  ];
  return safeText(lines.join("\n") + "\n");
}

function named(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return names.slice(0, MAX_NAMED).join(", ") + more;
}

function moreGroups(groups: readonly ChangedProxies[]): string[] {
  if (groups.length === 0) return [];
  const proxies = groups.reduce((sum, group) => sum + group.proxies.length, 0);
  return [`and ${count(groups.length, "group")} more, of ${count(proxies, "proxy")}: -o json has them`];
}

function groupLines(group: ChangedProxies, style: Style, terminal: Terminal): string[] {
  const { resources, count: all, bytes } = group;
  const shown = resources.slice(0, MAX_RESOURCES);
  const heads = columns(
    shown.map((one) => [`  ${mark(one, style)}${WORDS[one.type] ?? one.type} ${shortName(one)}`, objectsText(one)]),
  );
  const lines = [
    wrap(
      `${style("strong", named(group.proxies))}: ${count(all, "resource")}, ${sizeText(bytes)}`,
      terminal.width,
      "",
      "  ",
    ),
    ...shown.flatMap((one, at) => [heads[at]!, ...differenceLines(one, style, terminal)]),
  ];
  if (all > shown.length) lines.push(`  and ${count(all - shown.length, "resource")} more`);
  return [...lines, ...endedLines(group, style)];
}

function mark({ change }: ChangedResource, style: Style): string {
  if (change === "changed") return "";
  return change === "new" ? `${style("added", "new")} ` : `${style("removed", "gone")} `;
}

/** Names of virtual hosts begin with their route configuration. */
function shortName({ type, name }: ChangedResource): string {
  return type === "vhds" ? name.slice(name.indexOf("/") + 1) : name;
}

function objectsText({ objects }: ChangedResource): string {
  return named(objects.map(keyText));
}

function differenceLines({ differences }: ChangedResource, style: Style, { width }: Terminal): string[] {
  const room = Math.min(MAX_VALUE, width - 6);
  const lines = differences.slice(0, MAX_SHOWN).flatMap((one) => [
    ...isWeights(one) ? [] : [`      ${style("faint", one.path)}`],
    ...one.before === undefined ? [] : [style("removed", `-     ${valueText(one.before, room)}`)],
    ...one.after === undefined ? [] : [style("added", `+     ${valueText(one.after, room)}`)],
  ]);
  if (differences.length > MAX_SHOWN) lines.push(`      and ${differences.length - MAX_SHOWN} more differences`);
  return lines;
}

/** Weights need no explanation. */
function isWeights({ path, before, after }: FieldDifference): boolean {
  return path.endsWith("weighted_clusters") && typeof before === "string" && typeof after === "string";
}

function valueText(value: unknown, room: number): string {
  return shortened(typeof value === "string" ? value : JSON.stringify(value), room);
}

function endedLines({ ended, resources, count }: ChangedProxies, style: Style): string[] {
  if (ended.length === 0) {
    const unchanged = resources.every(({ type }) => type !== "lds" && type !== "cds");
    const why = unchanged ? ": listeners and clusters unchanged" : ": listeners and clusters are new";
    return [`  ${style("good", "connections kept")}${count > resources.length ? "" : why}`];
  }
  const shown = ended.slice(0, MAX_NAMED).map(({ of, name, which }) =>
    `  ${style("warning", "connections end")}: ${of} ${name}, ${which}`
  );
  if (ended.length > MAX_NAMED) shown.push(`  and those of ${ended.length - MAX_NAMED} more`);
  return shown;
}

/** Decimal units with a digit after the point: `0.9 kB`. */
function sizeText(bytes: number): string {
  if (bytes < 100) return `${bytes} B`;
  return bytes < 100_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function findingLines({ findings: { appeared, resolved } }: BlastRadius, style: Style, { width }: Terminal): string[] {
  if (appeared.length === 0 && resolved.length === 0) return [];
  return [
    `findings: ${appeared.length} new, ${resolved.length} resolved`,
    ...appeared.slice(0, MAX_RESOURCES).map((one) =>
      wrap(style("removed", `+ ${formatFinding(one)}`), width, "", "    ")
    ),
    ...resolved.slice(0, MAX_RESOURCES).map((one) =>
      wrap(style("added", `- ${formatFinding(one)}`), width, "", "    ")
    ),
  ];
}
