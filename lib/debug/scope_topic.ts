/**
 * Log scopes on the introspection port: shown, and changed separately.
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../kernel/json/issues.ts";
import { type Level, levels } from "../kernel/log/level.ts";
import type { Log } from "../kernel/log/log.ts";
import { escapeHtml } from "./html.ts";

/** All scopes, in the words of `/scopej/`. */
export function shownScopes(log: Log) {
  return log.states().map(({ name, level, stackLevel, caller }) => ({
    ...{ name, description: "", output_level: level, stack_trace_level: stackLevel, log_callers: caller },
  }));
}

/** A change of a scope. An absent setting stays unchanged. */
export interface ScopeChange {
  readonly level: Level | undefined;
  readonly stackLevel: Level | undefined;
  readonly caller: boolean | undefined;
}

const LEVEL_EXPECTED = `one of ${levels.join(", ")}`;

/** Clients of this port send an empty text for an unchanged level. */
const LEVEL = z.union([z.enum(levels), z.literal("")], { error: LEVEL_EXPECTED }).optional();

/** The object in a GET's answer, or a part of it. Further fields are read-only. */
const SCOPE_BODY = z.object({
  output_level: LEVEL,
  stack_trace_level: LEVEL,
  log_callers: z.boolean({ error: "true or false" }).optional(),
}, { error: 'a JSON object such as {"output_level": "debug"}' });

/** Reads the body of a PUT. */
export function scopeBody(body: string): ScopeChange | { readonly mistakes: readonly string[] } {
  let tree: unknown;
  try {
    tree = JSON.parse(body);
  } catch {
    return { mistakes: ['body: expected a JSON object such as {"output_level": "debug"}'] };
  }
  const read = SCOPE_BODY.safeParse(tree, { reportInput: true });
  if (!read.success) return { mistakes: issueLines(read.error.issues, "body") };
  const { output_level, stack_trace_level, log_callers } = read.data;
  return { level: output_level || undefined, stackLevel: stack_trace_level || undefined, caller: log_callers };
}

/** Changes a scope. */
export function setScope(log: Log, name: string, { level, stackLevel, caller }: ScopeChange): void {
  if (level !== undefined) log.set(name, level);
  if (stackLevel !== undefined) log.setStackLevel(name, stackLevel);
  if (caller !== undefined) log.setCaller(name, caller);
}

/** The script of the page: a choice changes the scope at once. If the change fails, the page says so. */
export const SCOPE_SCRIPT = `document.querySelector("table").addEventListener("change", async ({ target }) => {
  const value = target.type === "checkbox" ? target.checked : target.value;
  const body = JSON.stringify({ [target.name]: value });
  const answer = await fetch("/scopej/" + target.closest("tr").dataset.scope, { method: "PUT", body });
  if (!answer.ok) alert(await answer.text());
});`;

/** The page: a table with a choice for each level. */
export function scopePage(log: Log): string {
  const choice = (name: string, chosen: string) =>
    `<td><select name="${name}">${
      levels.map((level) => `<option${level === chosen ? " selected" : ""}>${level}</option>`).join("")
    }</select></td>`;
  const rows = shownScopes(log).map(({ name, output_level, stack_trace_level, log_callers }) =>
    `<tr data-scope="${escapeHtml(encodeURIComponent(name))}"><td>${escapeHtml(name)}</td>` +
    choice("output_level", output_level) + choice("stack_trace_level", stack_trace_level) +
    `<td><input type="checkbox" name="log_callers"${log_callers ? " checked" : ""}></td></tr>`
  );
  const head = "<tr><th>scope</th><th>level</th><th>stack from</th><th>caller</th></tr>";
  return `<table>${head}${rows.join("")}</table><script>${SCOPE_SCRIPT}</script>`;
}
