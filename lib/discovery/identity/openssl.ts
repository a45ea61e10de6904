/**
 * OpenSSL as the signer for the server's authority, where the machine has it and the program may use it.
 *
 * Permissions: ffi, where it is granted.
 *
 * @module
 */
import { KeyInForce } from "../../authority/key_in_force.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { openOpenssl, type OpensslLibrary } from "../../pki/openssl/library.ts";
import { opensslSigner } from "../../pki/openssl/signer.ts";

/** The library; undefined: the log says why not. */
export function findOpenssl(kernel: Pick<Kernel, "log">): OpensslLibrary | undefined {
  const log = kernel.log.scope("pkica");
  const found = openOpenssl();
  if ("reason" in found) {
    log.info("the runtime signs certificates", { openssl: found.reason });
    return undefined;
  }
  log.info("OpenSSL signs certificates", { path: found.path, version: found.version });
  return found;
}

/** Gives it the key of the authority while that is in force. */
export function startSigner({ functions }: OpensslLibrary, kernel: Pick<Kernel, "log" | "stopper">): KeyInForce {
  const keyInForce = new KeyInForce((key) => opensslSigner(functions, key), kernel.log.scope("pkica"));
  kernel.stopper.add("key of the authority", () => keyInForce.take(undefined));
  return keyInForce;
}
