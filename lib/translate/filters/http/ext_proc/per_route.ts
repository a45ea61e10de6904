/**
 * The endpoint picker of a route or of a weighted destination.
 *
 * @module
 */
import type { EndpointPicker } from "../../../../config/kinds/virtual_service/internal.ts";
import { any } from "../../../../pb/codec.ts";
import { wrap } from "../../../../pb/wellknown.ts";
import type { google } from "../../../../../proto/gen/types.ts";
import { providerCluster } from "../../../destination/provider_service.ts";
import type { Reader } from "../../../reader/reader.ts";
import { canPick, CHOICE_FILTER, PICKED_HEADER, PICKER_FILTER, SEES_ALL } from "./filter.ts";

/** Filter settings of requests to a pool, or why nobody can be asked. */
export type PickerSettings =
  | { readonly perFilter: Readonly<Record<string, google.protobuf.Any>>; readonly why?: undefined }
  | { readonly perFilter?: undefined; readonly why: string };

/** The filter settings that ask a picker. */
export function endpointPicker(read: Reader, { host, port, failOpen }: EndpointPicker): PickerSettings {
  if (!canPick(read)) {
    return { why: `the proxy has no envoy.filters.http.ext_proc, and cannot ask the endpoint picker ${host}` };
  }
  const found = providerCluster(read, { service: host, port });
  if ("why" in found) return { why: `the endpoint picker ${found.why}` };
  return {
    perFilter: {
      [CHOICE_FILTER]: withoutChoice(),
      [PICKER_FILTER]: any("envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute", {
        overrides: {
          processing_mode: SEES_ALL,
          grpc_service: { envoy_grpc: { cluster_name: found.cluster, authority: `${found.hostname}:${port}` } },
          failure_mode_allow: wrap(failOpen),
        },
      }),
    },
  };
}

/** A client must not pick the endpoint itself, not even while the picker is away. */
function withoutChoice(): google.protobuf.Any {
  return any("envoy.extensions.filters.http.header_mutation.v3.HeaderMutationPerRoute", {
    mutations: { request_mutations: [{ remove: PICKED_HEADER }] },
  });
}
