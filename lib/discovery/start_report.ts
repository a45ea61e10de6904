/**
 * The log lines of a server that begins to serve: its identity, the addresses of its pages, its objects, and the number
 * of findings.
 *
 * @module
 */
import type { Finding } from "../finding/finding.ts";
import type { ConfigStore } from "../config/store.ts";
import { KINDS } from "../config/kinds/kinds.ts";
import { buildInfo } from "../kernel/program/build_info.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { PortOptions, ServerPorts } from "./ports.ts";

/** The contents of the report. */
export interface StartReport {
  readonly options: PortOptions;
  readonly ports: ServerPorts;
  readonly store: ConfigStore;
  /** Whether the debug pages are served. */
  readonly debug: boolean;
  /** Resolves when {@link findings} covers everything that exists at the start. */
  readonly settled: () => Promise<void>;
  readonly findings: () => Iterable<Finding>;
}

/** Logs the version and that the server serves. After the analysis of the mesh, logs the number of findings. */
export function reportStart(report: StartReport, kernel: Pick<Kernel, "log" | "clock" | "drain">): void {
  const log = kernel.log.scope("default");
  const { version, revision, runtime } = buildInfo();
  const pages = pageUrls(report);
  log.info("serving", {
    ...report.ports,
    version,
    ...(revision === "unknown" ? {} : { revision: revision.slice(0, 12) }),
    runtime,
    objects: report.store.size,
    kinds: objectsByKind(report.store),
    seconds: Math.round(kernel.clock.monotonic()) / 1000,
  });
  log.info("pages", { ...pages });
  const said = () => {
    if (kernel.drain.started) return;
    const { errors, warnings } = countFindings(report.findings());
    const see = pages.debug === undefined || errors + warnings === 0 ? {} : { see: `${pages.debug}/problemz` };
    const level = errors + warnings > 0 ? "warn" : "info";
    log[level]("findings", { errors, warnings, ...see });
  };
  void report.settled().then(said).catch((error) => log.error("findings could not be counted", { error }));
}

/** Number of objects by kind. Kinds without objects are left out. */
function objectsByKind(store: Pick<ConfigStore, "list">): Readonly<Record<string, number>> {
  const counts = KINDS.map((kind) => [kind, store.list(kind).length] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** Findings by severity. */
function countFindings(findings: Iterable<Finding>): { readonly errors: number; readonly warnings: number } {
  let errors = 0;
  let warnings = 0;
  for (const { severity } of findings) {
    if (severity === "error") errors += 1;
    else if (severity === "warning") warnings += 1;
  }
  return { errors, warnings };
}

/** URLs of the pages for a browser on this machine. */
export function pageUrls({ options, ports, debug }: Pick<StartReport, "options" | "ports" | "debug">) {
  const http = pageUrl(options.http, ports.http);
  return {
    ready: `${http}/ready`,
    ...(debug ? { debug: `${http}/debug` } : {}),
    metrics: `${pageUrl(options.monitoring ?? options.http, ports.monitoring)}/metrics`,
    ...(ports.introspection === undefined || options.introspection === undefined
      ? {}
      : { introspection: pageUrl(options.introspection.address, ports.introspection) }),
  };
}

/** The URL of a listen address. A port on all addresses is reached over the loopback address. */
function pageUrl(address: string, port: number): string {
  const host = address.slice(0, Math.max(0, address.lastIndexOf(":")));
  return `http://${["", "0.0.0.0", "[::]", "*"].includes(host) ? "127.0.0.1" : host}:${port}`;
}
