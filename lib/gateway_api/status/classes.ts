/**
 * Status of GatewayClasses of our controllers.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import type { AttachOptions } from "../attach/types.ts";
import { holds } from "../attach/verdicts.ts";
import { GATEWAY_FEATURES } from "../features.ts";
import { changedStatus } from "./change.ts";
import { isJudgedLater, mergedConditions, type StatusJson } from "./conditions.ts";

/** The class and the definition of its kind. */
export interface ClassReport {
  readonly object: ConfigObject<"GatewayClass">;
  /** Whether the definition has the field `supportedFeatures`. Older definitions drop the field after each write. */
  readonly hasFeatures: boolean;
}

/**
 * The new status of a GatewayClass; undefined: nothing to write, or the class of another implementation.
 *
 * @param present The status as it was read.
 */
export function classStatus(
  { object: { meta, spec }, hasFeatures }: ClassReport,
  { controllers }: Pick<AttachOptions, "controllers">,
  present: StatusJson,
  now: string,
): StatusJson | undefined {
  if (!Object.hasOwn(controllers, spec.controllerName)) return undefined;
  const moment = { generation: meta.generation ?? 0, now };
  if (isJudgedLater(present["conditions"], ["Accepted"], moment.generation)) return undefined;
  const wanted = { Accepted: holds("Accepted", "this mesh serves Gateways of the class") };
  const isGateway = controllers[spec.controllerName] === "gateway";
  return changedStatus(present, {
    conditions: mergedConditions(present["conditions"], wanted, moment),
    ...(hasFeatures && isGateway && { supportedFeatures: GATEWAY_FEATURES.map((name) => ({ name })) }),
  });
}
