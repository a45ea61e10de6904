/**
 * The wanted rules and the wanted routing of either sort of redirection: to a sidecar, or to the node tunnel.
 *
 * @module
 */
import { type AmbientConfig, answerMark, answerRoute } from "./model/ambient_config.ts";
import type { RedirectionConfig } from "./model/config.ts";
import type { Family } from "./model/names.ts";
import type { Ruleset } from "./model/rule.ts";
import { noRouting, type Routing, wantedRouting } from "./routing.ts";
import { buildAmbientRules } from "./rules/ambient.ts";
import { buildRules } from "./rules/build.ts";

/** A configuration of either sort. */
export type AnyConfig = RedirectionConfig | AmbientConfig;

function isAmbient(config: AnyConfig): config is AmbientConfig {
  return "kind" in config;
}

/** The rules of a family. */
export function rulesOf(config: AnyConfig, family: Family): Ruleset {
  return isAmbient(config) ? buildAmbientRules(config, family) : buildRules(config, family);
}

/** The routing of a family. */
export function routingOf(config: AnyConfig, family: Family): Routing {
  if (!isAmbient(config)) return wantedRouting(config, family);
  if (!config.families.includes(family)) return noRouting(family);
  const { value: mark, mask } = answerMark;
  return { family, marked: { mark, mask, ...answerRoute }, address: undefined };
}
