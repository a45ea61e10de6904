/**
 * The command `bug-report`: one archive about a mesh, without credentials, for people who help.
 *
 * Permissions: net (the server, the API of the cluster), read (files of access), env (the program's variables), write
 * (the archive).
 *
 * @module
 */
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { progressOn } from "../../lib/cli/terminal/progress.ts";
import { safeText } from "../../lib/cli/terminal/style.ts";
import { buildInfo } from "../../lib/kernel/program/build_info.ts";
import { settingEntries } from "../../lib/kernel/settings/catalogue.ts";
import { type ArchivePart, writeArchive } from "../../lib/offline/report/archive.ts";
import { withoutServiceTokens } from "../../lib/offline/report/service_tokens.ts";
import { serverOfFlag } from "./ask_server.ts";
import { type ClusterClient, clusterClient } from "./cluster_client.ts";
import type { bugReportFlags } from "./cluster_flags.ts";
import { clusterParts } from "./report_cluster.ts";
import { ReportScope } from "./report_scope.ts";
import { serverParts } from "./report_server.ts";

/** Longest part, in bytes. */
const MAX_PART = 64 * 1024 * 1024;

type BugReportFlags = Invocation<typeof bugReportFlags>["flags"];

/** Writes the archive. Resolves with 0, or with 1 if parts are missing. */
export async function runBugReport({ flags, output }: Invocation<typeof bugReportFlags>): Promise<number> {
  const server = serverOfFlag(flags.server);
  const monitoring = new URL(`http://${server.hostname}:${flags["monitoring-port"]}`);
  const introspection = new URL(`http://${server.hostname}:${flags["ctrlz-port"]}`);
  const reported = { server, monitoring, introspection };
  if (flags.timeout <= 0) throw new UsageError(`flag --timeout: got ${flags.timeout / 1000}s, expected more than 0s`);
  const scope = new ReportScope({
    ...{ include: flags.include, exclude: flags.exclude, maxProxies: flags["max-proxies"], time: flags.timeout },
    ...{ known: new Set<string>(settingEntries().map(([name]) => name)), now: () => performance.now() },
  });
  using cluster = await orMissing(flags, scope);
  const progress = progressOn(output);
  const collected = { parts: 0 };
  async function* parts(): AsyncGenerator<ArchivePart> {
    const sources = [
      ...flags.server === "" ? [] : [fromServer(serverParts(reported, scope), scope)],
      ...cluster === undefined ? [] : [clusterParts(cluster.client, flags.namespace, scope)],
    ];
    for (const source of sources) {
      for await (const part of source) {
        progress.show(`collected ${part.path}`);
        collected.parts++;
        yield { ...part, text: await withoutServiceTokens(part.text) };
      }
    }
  }
  const now = new Date();
  try {
    const path = flags.archive === ""
      ? `/tmp/bug-report-${now.toISOString().replaceAll(/[-:]|\.\d+/g, "")}.tar.gz`
      : flags.archive;
    const to = await openArchive(path);
    const counts = await writeArchive(
      parts(),
      ({ leftOut }) => reportPart(flags, scope, leftOut, now),
      to,
      { part: MAX_PART, all: flags["max-megabytes"] * 1024 * 1024 },
      now,
    );
    progress.end();
    for (const { part, why } of scope.missing) output.err(safeText(`not in the report: ${part}: ${why}\n`));
    for (const path of counts.leftOut) output.err(safeText(`not in the report: ${path}: --max-megabytes is reached\n`));
    if (collected.parts === 0) throw new UsageError("bug-report: neither a server nor a cluster answered");
    if (path !== "-") output.out(`${path}: ${counts.files} files, ${counts.bytes} bytes\n`);
    return scope.missing.length + counts.leftOut.length > 0 ? 1 : 0;
  } finally {
    progress.end();
  }
}

/** The client of the cluster; undefined: there is no access, which is noted. */
async function orMissing(flags: BugReportFlags, scope: ReportScope): Promise<ClusterClient | undefined> {
  if (!flags.cluster) return undefined;
  try {
    return await clusterClient(flags);
  } catch (error) {
    if (!(error instanceof UsageError) || flags.orchconfig !== "" || flags.context !== "") throw error;
    scope.failed("cluster", error.message);
    return undefined;
  }
}

/** A server that does not answer leaves the rest of the report. */
async function* fromServer(source: AsyncIterable<ArchivePart>, scope: ReportScope): AsyncGenerator<ArchivePart> {
  try {
    yield* source;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    scope.failed("server", error.message);
  }
}

/** What is in the archive, and what is not. */
function reportPart(flags: BugReportFlags, scope: ReportScope, leftOut: readonly string[], now: Date): ArchivePart {
  const report = {
    ...{ time: now.toISOString(), build: buildInfo() },
    flags: { server: flags.server, include: flags.include, exclude: flags.exclude, namespace: flags.namespace },
    missing: [...scope.missing, ...leftOut.map((part) => ({ part, why: "--max-megabytes is reached" }))],
  };
  return { path: "report.json", text: `${JSON.stringify(report, undefined, 1)}\n` };
}

async function openArchive(path: string): Promise<WritableStream<Uint8Array>> {
  if (path === "-") return Deno.stdout.writable;
  try {
    // Only a new file: a link at the path could lead to a file of somebody else.
    const file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
    return file.writable;
  } catch (error) {
    const why = error instanceof Deno.errors.AlreadyExists
      ? "the file exists, expected the path of a new file"
      : error instanceof Deno.errors.NotCapable
      ? "the program may write only below /tmp; - and a redirection write anywhere"
      : error instanceof Error
      ? error.message
      : String(error);
    throw new UsageError(`flag --archive: ${path}: ${why}`);
  }
}
