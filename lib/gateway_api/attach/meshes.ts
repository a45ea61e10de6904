/**
 * XMeshes: which of them are ours, and whether they are accepted.
 *
 * @module
 */
import type { XMeshSpec } from "../../config/kinds/kinds.ts";
import type { AttachOptions, ConditionVerdict } from "./types.ts";
import { fails, holds } from "./verdicts.ts";

/** The verdict on a mesh; undefined: the mesh of another implementation. */
export function meshVerdict(
  { controllerName, parametersRef }: XMeshSpec,
  { controllers, experimental }: Pick<AttachOptions, "controllers" | "experimental">,
): ConditionVerdict | undefined {
  if (!experimental || !isOwnMesh(controllerName, controllers)) return undefined;
  if (parametersRef === undefined) return holds("Accepted", "this mesh serves routes at services");
  const message =
    `parametersRef: ${parametersRef.kind} ${parametersRef.name}, expected no parameters: the settings of ` +
    "the mesh are in its mesh configuration";
  return fails("InvalidParameters", message);
}

/** Whether a controller is the controller of the mesh: the controller of its Gateways. */
function isOwnMesh(controllerName: string, controllers: AttachOptions["controllers"]): boolean {
  return Object.hasOwn(controllers, controllerName) && controllers[controllerName] === "gateway";
}
