/**
 * Schema of ProxyConfig.
 *
 * @module
 */
import { map } from "../../schema/containers.ts";
import { type Field, keepZero } from "../../schema/field.ts";
import { message, shape } from "../../schema/message.ts";
import { int32, string } from "../../schema/scalars.ts";
import { ownMetadataKey } from "../../spelling/spelling.ts";
import { workloadSelector } from "../common/schema.ts";
import type { ProxyConfigSpec } from "./types.ts";

/** Schema of {@link ProxyConfigSpec}. */
export const proxyConfig: Field<ProxyConfigSpec> = message<ProxyConfigSpec>({
  selector: workloadSelector,
  concurrency: keepZero(int32()),
  environmentVariables: map(string(), ownMetadataKey),
  image: shape({ imageType: string() }),
});
