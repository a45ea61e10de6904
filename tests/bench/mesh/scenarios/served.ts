/**
 * A server of this tree in the process of the benchmarks, with files of its own.
 *
 * Permissions: net (loopback), read, write (a temporary folder), env.
 *
 * @module
 */
import { startServer } from "../../../../mod.ts";

/** A running server and the folder of its files. */
export interface Served {
  readonly folder: string;
  /** Port of gRPC in plain text. */
  readonly grpc: number;
}

/** Runs a server until `use` ends. @param files Names and texts of the configuration. @param mesh The mesh configuration. */
export async function withServed<T>(
  files: Iterable<readonly [string, string]>,
  mesh: object,
  use: (served: Served) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-bench-" });
  try {
    await Deno.mkdir(`${folder}/config`);
    for (const [name, text] of files) await Deno.writeTextFile(`${folder}/config/${name}`, text);
    await Deno.writeTextFile(`${folder}/mesh.json`, JSON.stringify(mesh));
    const server = await startServer({
      configDir: `${folder}/config`,
      meshConfig: `${folder}/mesh.json`,
      // What an earlier run has called is not handed to the Envoys of this run.
      settings: { MESH_CALLS_DIR: "" },
    });
    try {
      return await use({ folder, grpc: server.ports.grpc });
    } finally {
      await server.stop();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
