/**
 * The logger of an extension provider in Telemetries or default providers.
 *
 * @module
 */
import { logFormatProblem } from "../../config/mesh/log_format.ts";
import type { ExtensionProvider, MeshConfig } from "../../config/mesh/types.ts";
import { providerCluster } from "../destination/provider_service.ts";
import type { Reader } from "../reader/reader.ts";
import { DEFAULT_TEXT_FORMAT, jsonFormat, type LogFormat, meshFormat, textFormat } from "./log_format.ts";
import { type AccessLogger, fileLog, grpcLog, LOG_NAME, openTelemetryLog } from "./loggers.ts";
import { extensionProvider, isUnusable, type UnusableProvider } from "./provider.ts";

type FileSettings = NonNullable<ExtensionProvider["proxyFileAccessLog"]>;
type OpenTelemetrySettings = NonNullable<ExtensionProvider["proxyOtelAls"]>;

/** The provider of file logs in every mesh. Its default format comes from the mesh's own fields. */
const BUILT_IN = "envoy";

const STDOUT = "/dev/stdout";

/** The logger of a provider, by name. */
export function logProvider(read: Reader, name: string): AccessLogger | UnusableProvider {
  const mesh = read.mesh();
  const provider = extensionProvider(mesh, name, "accessLogging");
  if (isUnusable(provider)) return provider;
  const { proxyFileAccessLog: file, proxyHttpAls: http, proxyTcpAls: tcp, proxyOtelAls: openTelemetry } = provider;
  if (file) return fileLogger(mesh, provider.name, file);
  const unreadable = formatProblem(openTelemetry?.logFormat);
  if (unreadable) return unreadable;
  const settings = http ?? tcp ?? openTelemetry;
  if (!settings) return { why: "has no access logs" };
  const to = providerCluster(read, settings);
  if (isUnusable(to)) return to;
  if (openTelemetry) return openTelemetryLog(to, openTelemetrySettings(openTelemetry));
  return http ? grpcLog("http", to, http) : grpcLog("tcp", to, tcp ?? {});
}

/** File loggers by mesh configuration and provider, their only inputs. All listeners share the loggers. */
const fileLoggers = new WeakMap<MeshConfig, Map<string, AccessLogger | UnusableProvider>>();

function fileLogger(mesh: MeshConfig, name: string, settings: FileSettings): AccessLogger | UnusableProvider {
  let ofMesh = fileLoggers.get(mesh);
  if (ofMesh === undefined) fileLoggers.set(mesh, ofMesh = new Map());
  let logger = ofMesh.get(name);
  if (logger === undefined) {
    logger = formatProblem(settings.logFormat) ??
      fileLog(settings.path || STDOUT, fileFormat(mesh, name, settings));
    ofMesh.set(name, logger);
  }
  return logger;
}

function formatProblem(format: FileSettings["logFormat"]): UnusableProvider | undefined {
  const problem = format && logFormatProblem(format);
  return problem === undefined ? undefined : { why: `has a logFormat that the proxy cannot read: ${problem}` };
}

function fileFormat(mesh: MeshConfig, name: string, { logFormat, omitEmptyValues }: FileSettings): LogFormat {
  if (name === BUILT_IN && logFormat === undefined && !omitEmptyValues) return meshFormat(mesh);
  const format = logFormat?.labels === undefined ? textFormat(logFormat?.text) : jsonFormat(logFormat.labels);
  return { ...format, ...(omitEmptyValues ? { omit_empty_values: true } : {}) };
}

function openTelemetrySettings({ logName, logFormat = {} }: OpenTelemetrySettings) {
  return {
    logName: logName || LOG_NAME.openTelemetry,
    text: logFormat.text || DEFAULT_TEXT_FORMAT,
    attributes: logFormat.labels ?? {},
  };
}
