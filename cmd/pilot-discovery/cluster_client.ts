/**
 * The client of a cluster's API for commands, with the access of the user.
 *
 * Permissions: net (the API), read (files of access), env (the program's variables).
 *
 * @module
 */
import { errorMessage } from "../../lib/kernel/text/error_message.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { readProgramSettings } from "../../lib/cli/startup.ts";
import { silentLog } from "../../lib/kernel/log/log.ts";
import { systemClock } from "../../lib/kernel/time/clock.ts";
import { commaList } from "../../lib/kernel/text/comma_list.ts";
import { FileAccess } from "../../lib/orch/access/file_access.ts";
import { findAccess } from "../../lib/orch/access/find.ts";
import { ApiClient } from "../../lib/orch/client/client.ts";

/** Where a command's access is. Empty texts: not given. */
export interface AccessFlagValues {
  readonly orchconfig: string;
  readonly context: string;
}

/** The client, and the address of the API for people. */
export interface ClusterClient extends Disposable {
  readonly client: ApiClient;
  readonly server: string;
}

/**
 * A client by `--orchconfig`, `KUBECONFIG`, the account of the pod or `~/.kube/config`, and by `--context`, which the
 * account of a pod does not have.
 *
 * @param flags Values of `accessFlags`. Empty: not given.
 * @throws {UsageError} when there is no access, or when its files cannot be used
 */
export async function clusterClient({ orchconfig, context }: AccessFlagValues): Promise<ClusterClient> {
  const settings = readProgramSettings("pilot-discovery");
  const place = findAccess({
    flag: orchconfig === "" ? undefined : orchconfig,
    context: context === "" ? undefined : context,
    variable: settings.KUBECONFIG,
    ...{ host: settings.ORCH_SERVICE_HOST, port: settings.ORCH_SERVICE_PORT, home: settings.HOME },
  });
  if (place === undefined) {
    if (context !== "") {
      const got = JSON.stringify(context);
      throw new UsageError(`flag --context: got ${got}, expected a file by --orchconfig, KUBECONFIG or ~/.kube/config`);
    }
    throw new UsageError(
      "flag --orchconfig: got none, expected a file, or the variable KUBECONFIG, a pod's account or ~/.kube/config",
    );
  }
  const allowed = commaList(settings.PILOT_INSECURE_MULTICLUSTER_ORCHCONFIG_OPTIONS);
  const access = new FileAccess(place, { allowed, log: silentLog().scope("orch"), clock: systemClock });
  try {
    const { server } = await access.current();
    const client = new ApiClient({ access, userAgent: "pilot-discovery" });
    return { client, server, [Symbol.dispose]: () => client.close() };
  } catch (error) {
    throw new UsageError(`${place.by}: ${errorMessage(error)}`);
  }
}
