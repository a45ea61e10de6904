/**
 * XMeshes that are not accepted.
 *
 * @module
 */
import { meshVerdict } from "../../gateway_api/attach/meshes.ts";
import type { Analyzer } from "../analyzer.ts";

export const MESHES: Analyzer<"XMesh"> = {
  kind: "XMesh",
  reports: ["refused-mesh-parameters"],
  analyze: ({ spec }, { gatewayApi }, report) => {
    if (gatewayApi === undefined || meshVerdict(spec, gatewayApi.options)?.status !== "False") return;
    report("warning", "refused-mesh-parameters", {
      field: "spec.parametersRef",
      value: spec.parametersRef?.name,
      expected: "no parameters",
    });
  },
};
