/**
 * The command `proxy-config log`: the log levels of a proxy.
 *
 * Permissions: net (the address of the proxy's admin port).
 *
 * @module
 */
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { safeText } from "../../lib/cli/terminal/style.ts";
import { addressOfFlag, askText } from "./ask_server.ts";
import type { proxyLogFlags } from "./server_flags.ts";

/** Envoy's level at the start. */
const START_LEVEL = "warning";
const LEVELS = ["trace", "debug", "info", "warning", "error", "critical", "off"];
/** Longest time for an answer, ms. */
const TIMEOUT = 30_000;

/** Prints the levels after the change; resolves with 0. */
export async function runProxyLog({ flags, output }: Invocation<typeof proxyLogFlags>): Promise<number> {
  const admin = addressOfFlag("--admin", flags.admin);
  const changes = flags.reset ? [["level", START_LEVEL] as const] : changesOf(flags.level);
  let answer = "";
  for (const change of changes.length === 0 ? [undefined] : changes) answer = await exchange(admin, change);
  output.out(safeText(answer.endsWith("\n") ? answer : `${answer}\n`));
  return 0;
}

/** Reads `debug` or `http:debug,redis:info`. @throws {UsageError} With every mistake. */
function changesOf(text: string): (readonly [logger: string, level: string])[] {
  const changes = text.split(",").filter((part) => part !== "").map((part) => {
    const [level = "", logger] = part.split(":").reverse();
    // Envoy's name for all loggers. Its own name is without `warn`.
    return [
      logger === undefined || logger === "all" ? "level" : logger,
      level === "warn" ? START_LEVEL : level,
    ] as const;
  });
  const problems = changes.filter(([logger, level]) => !LEVELS.includes(level) || !/^[a-z0-9_]+$/.test(logger)).map((
    [logger, level],
  ) =>
    `flag --level: got ${JSON.stringify(`${logger}:${level}`)}, expected logger:level with a level of ${
      LEVELS.join(", ")
    }`
  );
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return changes;
}

async function exchange(admin: URL, change: readonly [string, string] | undefined): Promise<string> {
  const url = new URL("/logging", admin);
  if (change !== undefined) url.searchParams.set(...change);
  return await askText("POST", url, { asked: "proxy", timeout: TIMEOUT });
}
