/**
 * Configurations of filters with Wasm modules, and responses with such configurations, field by field.
 * @module
 */
import { MessageWriter } from "../../../lib/grpc/message_writer.ts";

/** Type of extension configurations. */
export const EXTENSION = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
const HTTP_FILTER = "type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm";
const NETWORK_FILTER = "type.googleapis.com/envoy.extensions.filters.network.wasm.v3.Wasm";

/** A filter. */
export interface TestWasmFilter {
  readonly name: string;
  /** Address of the module; absent: a file. */
  readonly url?: string;
  readonly sha256?: string;
  readonly network?: boolean;
  /** `fail_open`. */
  readonly failOpen?: boolean;
  /** Number of the `failure_policy`. */
  readonly failurePolicy?: number;
  /** Seconds. */
  readonly timeout?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly file?: string;
}

const message = () => new MessageWriter();

/** `TypedExtensionConfig`. */
export function extensionOf(filter: TestWasmFilter): Uint8Array {
  const type = filter.network ? NETWORK_FILTER : HTTP_FILTER;
  return extension(filter.name, type, wasmFilter(filter));
}

export function extension(name: string, type: string, value: Uint8Array): Uint8Array {
  return message().string(1, name).bytes(2, message().string(1, type).bytes(2, value).finish()).finish();
}

function wasmFilter(filter: TestWasmFilter): Uint8Array {
  const { url, sha256 = "nil", timeout = 30, env = {}, file = "/nowhere.wasm" } = filter;
  const uri = message().string(1, url ?? "").string(2, "modules").bytes(3, message().varint(1, timeout).finish());
  const remote = message().bytes(1, uri.finish()).string(2, sha256).finish();
  const local = message().string(1, file).finish();
  const code = url === undefined ? message().bytes(1, local) : message().bytes(2, remote);
  const entries = Object.entries(env).map(([key, value]) => message().string(1, key).string(2, value).finish());
  const variables = entries.reduce((out, entry) => out.bytes(2, entry), message().string(1, "HOME"));
  const vm = message().string(1, "vm").string(2, "envoy.wasm.runtime.v8").bytes(3, code.finish()).bytes(
    7,
    variables.finish(),
  );
  const plugin = message().string(1, `plugin of ${filter.name}`).bytes(3, vm.finish()).varint(
    5,
    filter.failOpen ? 1 : 0,
  )
    .varint(7, filter.failurePolicy ?? 0);
  return message().bytes(1, plugin.finish()).finish();
}

/** A response in the form of one variant, with resources. */
export function response(
  variant: "sotw" | "delta",
  { version, nonce, type = EXTENSION, removed = [] }: {
    version: string;
    nonce: string;
    type?: string;
    removed?: string[];
  },
  resources: readonly { readonly name: string; readonly config: Uint8Array }[],
): Uint8Array {
  const out = message().string(1, version);
  for (const { name, config } of resources) {
    const any = message().string(1, type).bytes(2, config).finish();
    out.bytes(2, variant === "sotw" ? any : message().string(1, version).bytes(2, any).string(3, name).finish());
  }
  out.string(4, type).string(5, nonce);
  for (const name of variant === "delta" ? removed : []) out.string(6, name);
  return out.finish();
}
