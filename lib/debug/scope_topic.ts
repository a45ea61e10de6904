/**
 * Log scopes on the introspection port: looked at, and changed one by one.
 *
 * @module
 */
import { isLevel, type Level, levels } from "../kernel/log/level.ts";
import type { Log } from "../kernel/log/log.ts";
import { escapeHtml } from "./html.ts";

/** All scopes, in the words of `/scopej/`. */
export function shownScopes(log: Log) {
  return log.states().map(({ name, level, stackLevel, caller }) => ({
    ...{ name, description: "", output_level: level, stack_trace_level: stackLevel, log_callers: caller },
  }));
}

/** A change of one scope; what is absent stays as it is. */
export interface ScopeChange {
  readonly level: Level | undefined;
  readonly stackLevel: Level | undefined;
  readonly caller: boolean | undefined;
}

/** Reads what a PUT says: the same object that a GET answers with, or a part of it. */
export function scopeBody(body: string | undefined): ScopeChange | { readonly mistakes: readonly string[] } {
  let tree: unknown;
  try {
    tree = JSON.parse(body ?? "");
  } catch {
    // What is wrong with it is said below, as for any other text that is no object.
  }
  if (typeof tree !== "object" || tree === null) {
    return { mistakes: ['body: expected a JSON object such as {"output_level": "debug"}'] };
  }
  const { output_level, stack_trace_level, log_callers } = tree as Readonly<Record<string, unknown>>;
  const mistakes: string[] = [];
  const level = (field: string, value: unknown): Level | undefined => {
    // Empty is what clients of this field send for what they do not change.
    if (value === undefined || value === "") return undefined;
    if (typeof value === "string" && isLevel(value)) return value;
    mistakes.push(`${field}: got ${JSON.stringify(value)}, expected one of ${levels.join(", ")}`);
    return undefined;
  };
  if (log_callers !== undefined && typeof log_callers !== "boolean") {
    mistakes.push(`log_callers: got ${JSON.stringify(log_callers)}, expected true or false`);
  }
  const change = {
    level: level("output_level", output_level),
    stackLevel: level("stack_trace_level", stack_trace_level),
    caller: typeof log_callers === "boolean" ? log_callers : undefined,
  };
  return mistakes.length > 0 ? { mistakes } : change;
}

/** Changes a scope. */
export function setScope(log: Log, name: string, { level, stackLevel, caller }: ScopeChange): void {
  if (level !== undefined) log.set(name, level);
  if (stackLevel !== undefined) log.setStackLevel(name, stackLevel);
  if (caller !== undefined) log.setCaller(name, caller);
}

/** A choice changes the scope at once; where that fails, the page says so. */
const SCRIPT = `document.querySelector("table").addEventListener("change", async ({ target }) => {
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
  return `<table>${head}${rows.join("")}</table><script>${SCRIPT}</script>`;
}
