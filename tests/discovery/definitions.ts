/**
 * Definitions of Envoy's messages outside of the server's descriptors, from an npm package of the tests.
 *
 * Permissions: read (`node_modules`).
 * @module
 */
import protobuf from "protobufjs";

/** The messages of a file and of its imports, with the field names of the files. */
export async function definitions(file: string): Promise<protobuf.Root> {
  const modules = new URL("../../node_modules/", import.meta.url).pathname;
  const root = new protobuf.Root();
  const roots = ["envoy-api", "xds", "googleapis", "protoc-gen-validate"].map((name) =>
    `@grpc/grpc-js-xds/deps/${name}`
  );
  root.resolvePath = (_, path) =>
    [...roots, "protobufjs"].map((one) => `${modules}${one}/${path}`).find((one) => exists(one)) ?? path;
  return await root.load(file, { keepCase: true });
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
