/**
 * A simulation in words: a line for each step.
 *
 * @module
 */
import type { NamedCause } from "./decode.ts";
import type { ClusterStep, Simulation, SimulationOutcome, SimulationStep } from "./types.ts";

/** The most endpoints of a cluster listed on a line. */
const MAX_ENDPOINTS = 5;
/** The most configuration objects named on a line. */
const MAX_CAUSES = 3;

/** The steps and the outcome, a line each. */
export function explain({ steps, outcome, onTrial = [] }: Simulation): string {
  return [...steps.map(withCause), ...onTrial.map(trialText), ending(outcome)].join("\n");
}

/** `on trial: would refuse: denied by AuthorizationPolicy shop/cart rules[0]`. */
export function trialText(verdict: string): string {
  return `on trial: ${verdict}`;
}

function withCause(step: SimulationStep): string {
  const { cause, part, causes = [] } = step as NamedCause & { readonly causes?: readonly string[] };
  const names = cause ? [part ? `${cause} ${part}` : cause] : causes;
  const more = names.length > MAX_CAUSES ? ` and ${names.length - MAX_CAUSES} more` : "";
  return line(step) + (names.length > 0 ? `  <- ${names.slice(0, MAX_CAUSES).join(", ")}${more}` : "");
}

function line(step: SimulationStep): string {
  switch (step.step) {
    case "listener":
      return `listener ${step.name}${step.via === undefined ? "" : ` (from ${step.via})`}: ${step.why}`;
    case "detection": {
      const facts = [step.sni && `server name ${step.sni}`, step.applicationProtocols.join(", ")].filter((fact) =>
        fact
      );
      return `first bytes: ${step.transport}${facts.length > 0 ? `, ${facts.join(", ")}` : ""}`;
    }
    case "filterChain": {
      const which = step.index < 0 ? "default" : `#${step.index}`;
      const why = step.matched.length > 0 ? step.matched.join(", ") : "matches what no other chain does";
      return `filter chain ${[which, step.name].filter((part) => part).join(" ")}: ${why}` +
        (step.terminatesTls ? "; ends TLS" : "");
    }
    case "networkFilter":
      return `${step.terminal ? "handled by" : "passes"} ${step.name}`;
    case "routeConfiguration":
      return `route configuration ${step.name} (${step.source})`;
    case "virtualHost":
      return `virtual host ${step.name}: domain ${step.domain}${step.source === "VHDS" ? " (VHDS)" : ""}`;
    case "route":
      return `route #${step.index}${step.name ? ` ${step.name}` : ""}` +
        (step.share === undefined ? "" : `, ${percent(step.share)} of requests`) +
        (step.filters.length > 0 ? `, with ${step.filters.join(", ")}` : "");
    case "noRoute":
      return `none of ${step.passed.length} routes matches`;
    case "action":
      return actionLine(step);
    case "mirror":
      return `mirror, ${percent(step.share)} of requests, ${clusterLine(step.cluster)}`;
    case "cluster":
      return clusterLine(step);
  }
}

function actionLine(step: Extract<SimulationStep, { step: "action" }>): string {
  const facts = [
    step.path === undefined ? "" : `path ${step.path}`,
    step.authority === undefined ? "" : `host ${step.authority}`,
  ].filter((fact) => fact);
  const names = {
    cluster: "one cluster",
    weightedClusters: "clusters by weight",
    redirect: "redirect",
    directResponse: "direct response",
  } as const;
  return `action: ${[names[step.action], ...facts].join(", ")}`;
}

function clusterLine(step: ClusterStep): string {
  if (step.type === "missing") return `cluster ${step.name}: missing`;
  const shown = step.endpoints.slice(0, MAX_ENDPOINTS).map((endpoint) =>
    `${endpoint.address}:${endpoint.port}${endpoint.priority > 0 ? ` (priority ${endpoint.priority})` : ""}` +
    (endpoint.healthy ? "" : " (unhealthy)")
  );
  const more = step.endpoints.length - shown.length;
  const endpoints = shown.length === 0 ? "no endpoints" : shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
  return `cluster ${step.name} (${step.type}, ${step.transport}, weight ${step.weight}): ${endpoints}`;
}

function ending(outcome: SimulationOutcome): string {
  switch (outcome.kind) {
    case "forwarded": {
      const total = outcome.clusters.reduce((sum, cluster) => sum + cluster.weight, 0);
      const shares = outcome.clusters.map((cluster) => `${percent(cluster.weight / total)} ${cluster.name}`);
      return `=> forwarded to ${outcome.clusters.length === 1 ? outcome.clusters[0]!.name : shares.join(", ")}`;
    }
    case "answered":
      return `=> answered ${outcome.status}${outcome.location ? ` to ${outcome.location}` : ""}: ${outcome.why}`;
    case "closed":
      return `=> connection closed: ${outcome.why}`;
    case "unknown":
      return `=> not judged: ${outcome.why}`;
  }
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}
