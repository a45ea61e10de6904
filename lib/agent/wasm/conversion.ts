/**
 * Responses with extension configurations, in which local files replace remote Wasm modules.
 *
 * Field numbers: envoy/service/discovery/v3/discovery.proto.
 *
 * @module
 */
import { MessageWriter } from "../../grpc/message_writer.ts";
import { WireError } from "../../resource/protowire.ts";
import type { RelayVariant } from "../relay/messages.ts";
import { changeFields, lastText, lengthDelimited, mergedField, setField } from "./config/wire_fields.ts";
import { EXTENSION_CONFIG_TYPE } from "./extension_type.ts";
import { type RemoteWasmFilter, remoteWasmFilter } from "./config/wasm_filter.ts";
import { utf8Bytes } from "../../resource/protowire.ts";

/** Field of the resources in a response, and fields of version, type and nonce in both variants. */
const RESPONSE = { version: 1, resources: 2, type: 4, nonce: 5, removed: 6 };

/** One resource of a response. */
export interface ExtensionResource {
  readonly name: string;
  /** The content in the response. */
  readonly content: Uint8Array;
  /** Undefined: the resource has no remote module, or cannot be read. */
  readonly filter: RemoteWasmFilter | undefined;
  /** The resource cannot be read. The proxy reports the fault. */
  readonly isBroken: boolean;
}

/** A response with extension configurations. */
export interface ExtensionResponse {
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly ExtensionResource[];
  readonly removed: readonly string[];
}

/**
 * The version of a stand-in differs from the server's versions, so the server sends the resource again on another
 * stream.
 */
const STAND_IN_VERSION = " stand-in";

/** @throws {WireError} when the bytes are not a response */
export function readExtensionResponse(variant: RelayVariant, bytes: Uint8Array): ExtensionResponse {
  const fields = lengthDelimited(bytes);
  const of = (number: number) => fields.filter((field) => field.number === number).map(({ content }) => content);
  return {
    version: lastText(bytes, RESPONSE.version),
    nonce: lastText(bytes, RESPONSE.nonce),
    resources: of(RESPONSE.resources).map((content) => readExtension(variant, content)),
    removed: variant === "delta" ? of(RESPONSE.removed).map((name) => new TextDecoder().decode(name)) : [],
  };
}

function readExtension(variant: RelayVariant, content: Uint8Array): ExtensionResource {
  try {
    const any = variant === "delta" ? mergedField(content, 2) : content;
    const isExtension = any !== undefined && lastText(any, 1) === EXTENSION_CONFIG_TYPE;
    const config = (isExtension ? mergedField(any, 2) : undefined) ?? new Uint8Array(0);
    const name = variant === "delta" ? lastText(content, 3) : lastText(config, 1);
    return { name, content, filter: remoteWasmFilter(config), isBroken: false };
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { name: "", content, filter: undefined, isBroken: true };
  }
}

/**
 * A resource with another configuration.
 *
 * @param isStandIn the configuration is not the server's
 */
export function withConfig(
  variant: RelayVariant,
  content: Uint8Array,
  config: Uint8Array,
  isStandIn: boolean,
): Uint8Array {
  const any = new MessageWriter().string(1, EXTENSION_CONFIG_TYPE).bytes(2, config).finish();
  if (variant === "sotw") return any;
  const resource = setField(content, 2, any);
  return isStandIn ? setField(resource, 1, utf8Bytes(lastText(content, 1) + STAND_IN_VERSION)) : resource;
}

/** A response with other resources in their order. */
export function withResources(
  variant: RelayVariant,
  bytes: Uint8Array,
  contents: readonly Uint8Array[],
  hasStandIn: boolean,
): Uint8Array {
  let at = 0;
  const changed = changeFields(bytes, RESPONSE.resources, () => contents[at++]);
  if (variant === "delta" || !hasStandIn) return changed;
  return setField(changed, RESPONSE.version, utf8Bytes(lastText(bytes, RESPONSE.version) + STAND_IN_VERSION));
}

/** A response with one resource, sent later than the other resources of the original response. */
export function lateResponse(
  variant: RelayVariant,
  { version, nonce }: Pick<ExtensionResponse, "version" | "nonce">,
  content: Uint8Array,
  hasStandIn: boolean,
): Uint8Array {
  return new MessageWriter()
    .string(RESPONSE.version, variant === "sotw" && hasStandIn ? version + STAND_IN_VERSION : version)
    .bytes(RESPONSE.resources, content)
    .string(RESPONSE.type, EXTENSION_CONFIG_TYPE)
    .string(RESPONSE.nonce, nonce)
    .finish();
}
