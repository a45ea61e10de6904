/**
 * Problems that an injected proxy's agent would report at its start. Variables and flags are read here with the agent's
 * own code, so that an admitted pod starts. Mistakes of a user are refused when the pod is created, with the name of
 * the variable or flag.
 *
 * @module
 */
import { readAppProbers } from "../../config/agent_texts/app_probers.ts";
import { readApplicationScrape } from "../../config/agent_texts/application_scrape.ts";
import { portClashes } from "../../config/agent_texts/own_ports.ts";
import { readProxyConfig } from "../../config/agent_texts/proxy_config.ts";
import { LogOptionError, parseScopeLevels } from "../../kernel/log/level.ts";
import { readProxyLevels } from "../../kernel/log/proxy_levels.ts";
import { scopes } from "../../kernel/log/scopes.ts";
import { inOurSpelling } from "../../kernel/settings/border.ts";
import type { SettingsOf } from "../../kernel/settings/catalogue.ts";
import { readSettings, SettingsError } from "../../kernel/settings/read.ts";
import type { PodContainer } from "../pod.ts";
import { isProxy } from "../sidecar/input.ts";

/** Problems of the proxies among some containers, a line each. */
export function agentProblems(containers: readonly PodContainer[]): string[] {
  return containers.filter(isProxy).flatMap((proxy) =>
    [...variableProblems(proxy), ...flagProblems(proxy)].map((line) => `container ${proxy.name}: ${line}`)
  );
}

function variableProblems({ env = [] }: PodContainer): string[] {
  const texts = Object.fromEntries(env.flatMap(({ name, value }) => value === undefined ? [] : [[name, value]]));
  const own = settingsOf(texts);
  if ("problems" in own) return own.problems;
  const { proxy, errors } = readProxyConfig({
    ...{ mesh: "", meshFile: "", variable: own.settings.PROXY_CONFIG, annotations: {} },
  });
  if (proxy === undefined) return errors.map((line) => line.slice(0, 500));
  // The settings of a proxy may hold variables too. Variables of the container have precedence.
  const read = settingsOf({ ...inOurSpelling(proxy.proxyMetadata).env, ...inOurSpelling(texts).env });
  if ("problems" in read) return read.problems;
  const { MESH_ORCH_APP_PROBERS, MESH_METRICS_ANNOTATIONS } = read.settings;
  const written = [
    readAppProbers(MESH_ORCH_APP_PROBERS),
    readApplicationScrape(MESH_METRICS_ANNOTATIONS, proxy.statusPort),
  ];
  return [
    ...portClashes({ proxy, settings: read.settings }),
    ...written.flatMap((one) => "faults" in one ? one.faults : []),
  ];
}

function settingsOf(
  variables: Readonly<Record<string, string>>,
): { readonly settings: SettingsOf<"pilot-agent"> } | { readonly problems: string[] } {
  try {
    return { settings: readSettings("pilot-agent", variables) };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const problems = error.problems.map(({ name, value, expected }) =>
      `variable ${name}: got ${JSON.stringify(value.slice(0, 120))}, expected ${expected}`
    );
    return { problems };
  }
}

/** Problems of flags from annotations and values. */
function flagProblems({ args = [] }: PodContainer): string[] {
  if (args[0] !== "proxy") return [];
  const problems: string[] = [];
  const read = (flag: string, text: string, problemsOf: (text: string) => readonly string[]) => {
    problems.push(...problemsOf(text).map((line) => `flag --${flag}: ${line}`));
  };
  for (const [flag, text] of flagsOf(args)) {
    if (flag === "proxyLogLevel") read(flag, text, (one) => readProxyLevels(one).problems);
    else if (flag === "proxyComponentLogLevel") read(flag, text, (one) => readProxyLevels(one, true).problems);
    else if (flag === "log_output_level") {
      try {
        parseScopeLevels(flag, text, scopes["pilot-agent"]);
      } catch (error) {
        if (!(error instanceof LogOptionError)) throw error;
        problems.push(...error.message.split("\n").map((line) => line.slice(0, 500)));
      }
    }
  }
  return problems;
}

/** Flags with values, in both forms (`--a=b`, `--a b`). */
function flagsOf(args: readonly string[]): (readonly [flag: string, text: string])[] {
  return args.flatMap((arg, index) => {
    if (!arg.startsWith("--")) return [];
    const at = arg.indexOf("=");
    return [at < 0 ? [arg.slice(2), args[index + 1] ?? ""] as const : [arg.slice(2, at), arg.slice(at + 1)] as const];
  });
}
